"""The loop leaves nothing behind: with the collector off, 200 iterations use no more memory than a few."""

from __future__ import annotations

import gc
import resource
import sys
from itertools import pairwise

import pytest
from models_under_test import QUICK, problem_of
from parts import few

from fastrnns_rs.runners.registry import find
from fastrnns_rs.worker import timed_loop
from fastrnns_rs.worker.torch_settings import torchscript_warnings_silenced

MEBIBYTE = 1 << 20


def resident_bytes() -> int:
    with open("/proc/self/statm") as file:
        return int(file.read().split()[1]) * resource.getpagesize()


@pytest.mark.parametrize(
    "name", few(["cudnn", "jit", "py", "vl_jit"], [name for name in QUICK if not name.startswith("resnet50")], "models")
)
def test_two_hundred_iterations_do_not_grow(name: str) -> None:
    with torchscript_warnings_silenced():
        model = find(name).creator(problem_of(name, mini_batch=2))
        has_backward = model.backward is not None
        # Compiling takes a few calls, and allocators a few more until they have what they need.
        timed_loop.run_exactly(model, timed_loop.stopwatch("cpu", 30, has_backward=has_backward), 30)
        watches = [timed_loop.stopwatch("cpu", 50, has_backward=has_backward) for _ in range(4)]
        gc.collect()
        blocks, resident = sys.getallocatedblocks(), [resident_bytes()]
        for watch in watches:
            timed_loop.run_exactly(model, watch, 50)
            resident.append(resident_bytes())
    gc.disable()
    try:
        # A leak is in every fifty iterations; an allocator may take one more block in some of them.
        growth = [after - before for before, after in pairwise(resident)]
        assert min(growth) < 2 * MEBIBYTE, growth
        # This also empties the interpreter's own lists of free objects, which torch's backward fills up to a limit.
        assert gc.collect() < 200, "an iteration leaves a cycle behind"
        assert sys.getallocatedblocks() - blocks < 200, "an iteration leaves an object behind"
    finally:
        gc.enable()
