"""Which iterations a schedule records, held against torch's own, and what is asked of torch's profiler."""

from __future__ import annotations

import warnings
from dataclasses import fields
from typing import Any

import pytest
import torch.profiler
from hypothesis import given
from hypothesis import strategies as st
from torch.profiler import ProfilerAction

from fastrnns_rs.errors import UsageError
from fastrnns_rs.problem.profiler_schedule import Schedule
from fastrnns_rs.problem.torch_profiler import (
    SORT_KEYS,
    TorchOptions,
    check_for_device,
    resolve_activities,
    resolve_sort_by,
)

SCHEDULES = st.builds(
    Schedule,
    wait=st.integers(0, 4),
    warmup=st.integers(0, 4),
    active=st.integers(1, 4),
    repeat=st.integers(0, 3),
    skip_first=st.integers(0, 4),
)


def torchs_cycles(schedule: Schedule, iterations: int) -> list[list[int]]:
    """What torch's profiler records in so many steps; it saves at the end of a cycle and when it stops."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        action = torch.profiler.schedule(**{field.name: getattr(schedule, field.name) for field in fields(schedule)})
    cycles: list[list[int]] = []
    recording = False
    for step in range(iterations):
        if action(step) in {ProfilerAction.RECORD, ProfilerAction.RECORD_AND_SAVE}:
            if not recording:
                cycles.append([])
            cycles[-1].append(step)
        recording = action(step) is ProfilerAction.RECORD
    return cycles


@given(SCHEDULES, st.integers(0, 60))
def test_cycles_are_torchs(schedule: Schedule, iterations: int) -> None:
    cycles = torchs_cycles(schedule, iterations)
    assert schedule.cycles(iterations) == cycles
    assert [schedule.cycle(index, iterations) for index in range(len(cycles))] == cycles
    assert schedule.recorded(iterations) == sum(map(len, cycles))


def test_recorded_iterations_of_any_number_are_counted_at_once() -> None:
    """A manifest may claim any number."""
    assert Schedule(skip_first=1, wait=1, warmup=0, active=2, repeat=0).recorded(1 + 3 * 10**15) == 2 * 10**15


@given(SCHEDULES)
def test_what_is_needed_is_enough_and_no_more(schedule: Schedule) -> None:
    whole = schedule.cycles(schedule.needed)
    assert len(whole) == max(schedule.repeat, 1)
    assert all(len(cycle) == schedule.active for cycle in whole)
    assert schedule.cycles(schedule.needed - 1) != whole
    schedule.check(schedule.needed)
    with pytest.raises(UsageError, match=f"needs {schedule.needed} iterations"):
        schedule.check(schedule.needed - 1)


def test_no_schedule_records_more_than_a_trace_can_hold() -> None:
    schedule = Schedule(wait=1, warmup=0, active=1, repeat=0)
    schedule.check(200_001)
    with pytest.raises(UsageError, match="records 100001 iterations"):
        schedule.check(200_002)
    with pytest.raises(UsageError, match=f"records {10**15} iterations"):
        schedule.check(2 * 10**15)


@given(SCHEDULES)
def test_a_schedule_is_read_as_it_is_written(schedule: Schedule) -> None:
    assert Schedule.parse(str(schedule)) == schedule
    assert Schedule.parse(",".join(reversed(str(schedule).split(",")))) == schedule
    spoken = str(schedule).replace("skip-first", " skip_first").replace("=", " = ")
    assert Schedule.parse(spoken) == schedule


@pytest.mark.parametrize(
    ("text", "message"),
    [
        *((text, "pairs such as") for text in ("", "wait", "wait=1,")),
        ("actve=1", "'actve'"),
        ("skip-frist=1", "'skip-frist'"),
        ("wait=1,wait=2", "wait"),
        ("skip-first=1,skip_first=1", "skip.first"),
        ("wait=one", "'one'"),
        ("wait=1.5", "'1.5'"),
        ("wait=٣", "'٣'"),
        ("wait=-1", "-1"),
        ("active=0", "at least 1"),
        ("repeat=99999999999", "at most"),
    ],
)
def test_no_other_schedule_is_read(text: str, message: str) -> None:
    with pytest.raises(UsageError, match=message.replace("?", r"\?")):
        Schedule.parse(text)


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"activities": ("gpu",)}, "'gpu'"),
        ({"activities": ()}, "activities"),
        ({"activities": ("cpu", "cpu")}, "cpu cpu"),
        ({"row_limit": 0}, "0 .row_limit."),
        ({"row_limit": -2}, "-2 .row_limit."),
        ({"group_by_stack": -1}, "-1 .group_by_stack."),
        ({"sort_by": "self_cpu_time"}, "'self_cpu_time_total'"),
        ({"sort_by": "self_cuda_time_totl"}, "'self_cuda_time_totl'"),
        ({"sort_by": "cpu_memory_usage"}, "profile_memory=True"),
        ({"sort_by": "flops"}, "with_flops=True"),
        ({"on_trace_ready": "chrome"}, "chrome:DIR"),
        ({"on_trace_ready": "tensorboard:"}, "tensorboard:DIR"),
        *(({"on_trace_ready": one}, "module:function") for one in ("", "package.module", "some/path:function")),
    ],
)
def test_what_makes_no_sense_is_refused(given: dict[str, Any], message: str) -> None:
    with pytest.raises(UsageError, match=message.replace("?", r"\?")):
        TorchOptions(**given)


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"activities": ("cpu", "cuda")}, "the device is cpu"),
        ({"sort_by": "self_cuda_time_total"}, "Use self_cpu_time_total"),
        ({"sort_by": "self_device_time_total"}, "CUDA is not traced"),
        ({"memory_snapshot": True}, "memory_timeline=True"),
    ],
)
def test_a_cpu_refuses_what_only_cuda_can_do(given: dict[str, Any], message: str) -> None:
    options = TorchOptions(**given)
    check_for_device(options, "cuda:1")
    with pytest.raises(UsageError, match=message):
        check_for_device(options, "cpu")


@pytest.mark.parametrize(
    ("asked", "device", "activities", "sort_by"),
    [
        (None, "cpu", ("cpu",), "self_cpu_time_total"),
        (None, "cuda:0", ("cpu", "cuda"), "self_device_time_total"),
        (("cuda",), "cuda", ("cuda",), "self_device_time_total"),
        (("cpu",), "cuda", ("cpu",), "self_cpu_time_total"),
    ],
)
def test_what_is_traced_follows_the_device(
    asked: tuple[str, ...] | None, device: str, activities: tuple[str, ...], sort_by: str
) -> None:
    options = TorchOptions(activities=asked)
    assert (resolve_activities(options, device), resolve_sort_by(options, device)) == (activities, sort_by)


def test_both_spellings_of_a_key_are_one() -> None:
    for key in SORT_KEYS:
        for spelling in (key, key.replace("device", "cuda")):
            options = TorchOptions(sort_by=spelling, profile_memory=True, with_flops=True)
            assert resolve_sort_by(options, "cuda") == key


def test_options_bring_what_they_cannot_do_without() -> None:
    def brought(**given: Any) -> set[str]:
        return {name for name, on in TorchOptions(**given).flags().items() if on}

    assert brought() == set()
    assert brought(with_flops=True) == {"with_flops", "record_shapes"}
    assert brought(group_by_input_shape=True) == {"record_shapes"}
    assert brought(group_by_stack=1) == {"with_stack"}
    assert brought(memory_timeline=True) == {"record_shapes", "profile_memory", "with_stack"}
