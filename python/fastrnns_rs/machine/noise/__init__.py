"""Noise of the machine: false alarm rate and minimum detectable effect.

The names below are the interface for other packages.
"""

from fastrnns_rs.machine.noise.floor import LEAST_PROCESSES, compute_run_floor, measure_floor
from fastrnns_rs.machine.noise.storage import hints, kept, store, stored

__all__ = ["LEAST_PROCESSES", "compute_run_floor", "hints", "kept", "measure_floor", "store", "stored"]
