"""A machine's own noise: how often it calls equal sides different, and how small a difference it can show.

The names below are those that other parts of the package use.
"""

from fastrnns_rs.machine.noise.floor import LEAST_PROCESSES, floor_of, measure_floor
from fastrnns_rs.machine.noise.storage import kept, store, stored

__all__ = ["LEAST_PROCESSES", "floor_of", "kept", "measure_floor", "store", "stored"]
