"""Checks of a bench on emulated devices, by its times and by the log of its calls.

Each check raises an AssertionError that names the fault. test_planted_faults.py shows that each check can fail.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from itertools import pairwise
from statistics import median
from typing import Any

import pytest
from emulated_cuda.machine import Call, CallLog

ONE_NS = 1000
#: Events of an iteration after forward's kernel was launched: the ends of both phases, and the begin of backward.
_MARKS_LEFT = 3
#: Forward of `sleeping` begins on an idle device, so that the host's millisecond counts. Backward's is hidden behind
#: forward's kernel.
SLEEPING_NS = {"forward_ns": 4e6, "backward_ns": 5e6}
#: With a synchronisation after each phase both begin on an idle device.
SLEEPING_BY_PHASE_NS = {"forward_ns": 4e6, "backward_ns": 6e6}


def check_measured(row: Mapping[str, Any]) -> None:
    """A runner has samples, and no reason not to have any."""
    assert row["status"] == "ok", f"not measured: {row['reason']}"


def check_times(process: Mapping[str, Any], expected: Mapping[str, float]) -> None:
    """Phases take as long as their kernels, in each timed iteration."""
    for name, time in expected.items():
        # The first iterations call more: they allocate.
        timed = process[name][process["steady_from"] :]
        found = median(timed)
        assert found == pytest.approx(time, rel=0.01), f"{name} is {found:.0f}, not {time:.0f}"
        # Threads may make some more calls, of a tenth of a microsecond each.
        assert max(timed) - min(timed) < 10 * ONE_NS, f"{name} varies: {timed}"


def check_marks(log: CallLog) -> None:
    """An iteration has four events, all on the stream of the kernels."""
    spins = log.kernels("spin_kernel")
    streams = {one.stream for one in log.marks()}, {one.stream for one in spins}
    assert streams[0] == streams[1], f"events on streams {streams[0]}, kernels on {streams[1]}"
    for functions in _functions(log):
        count = functions.count("cudaEventRecord")
        assert count == 4, f"{count} events in an iteration"


def check_synchronisations(log: CallLog, expected: int = 1) -> None:
    """An iteration waits for its stream, as often as it says, and for nothing else."""
    for functions in _functions(log):
        count = functions.count("cudaStreamSynchronize")
        assert count == expected, f"{count} synchronisations in an iteration"
        assert "cudaDeviceSynchronize" not in functions, "an iteration waits for the whole device"


def check_reads(log: CallLog) -> None:
    """Times of events are read after the loop, not in an iteration."""
    for functions in _functions(log):
        assert "cudaEventElapsedTime" not in functions, "events are read in an iteration"


def check_zeroed(log: CallLog) -> None:
    """Each iteration sets gradients to zero between the last event and the synchronisation."""
    for calls in _iterations(log):
        ends = [at for at, one in enumerate(calls) if one.function == "cudaEventRecord"]
        after = calls[ends[_MARKS_LEFT - 1] :]
        waits = [at for at, one in enumerate(after) if one.function == "cudaStreamSynchronize"]
        launched = [one for one in after[: min(waits, default=None)] if one.launches]
        assert launched, "gradients are not set to zero in an iteration"


def check_joined(process: Mapping[str, Any]) -> None:
    """When an iteration ends, no stream has work left."""
    assert process["unjoined_ns"] < 2 * ONE_NS, f"{process['unjoined_ns']} ns of work are left"


def check_devices(logs: Iterable[CallLog], expected: list[list[int]]) -> None:
    """Each process that gives a device work uses the devices that it should, and no other."""
    used = [{call.device for call in one.calls if call.launches} for one in logs]
    found = sorted(map(sorted, filter(None, used)))
    assert found == expected, f"processes use the devices {found}, not {expected}"


def _iterations(log: CallLog) -> list[list[Call]]:
    """Calls of some iterations, from forward's kernel on.

    Neither the iteration before them is checked, and so read back, nor the last ones.
    """
    spins = log.kernels("spin_kernel")[::2]
    pairs = list(pairwise(spins))[2:4]
    return [[one for one in log.calls if begin.at_ns < one.at_ns < end.at_ns] for begin, end in pairs]


def _functions(log: CallLog) -> list[list[str]]:
    return [[one.function for one in calls] for calls in _iterations(log)]
