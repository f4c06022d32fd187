"""A machine's own noise: how often it calls equal sides different, and how small a difference it can show.

The names below are those that other parts of the package use.
"""

from fastrnns_rs.noise.floor import NoiseFloor
from fastrnns_rs.noise.of_run import floor_of
from fastrnns_rs.noise.relabelling import LEAST_PROCESSES, measure_floor
from fastrnns_rs.noise.storage import kept, store, stored
from fastrnns_rs.noise.wording import sentence

__all__ = ["LEAST_PROCESSES", "NoiseFloor", "floor_of", "kept", "measure_floor", "sentence", "store", "stored"]
