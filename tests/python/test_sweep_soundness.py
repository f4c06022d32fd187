"""Sweeps and rows of a run file that contradict their processes, problems or results."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from run_files import SESSION, exactly, run

from fastrnns_rs.documents.codec import to_plain
from fastrnns_rs.documents.run_file import Run, RunSide
from fastrnns_rs.documents.sweep import SweepAxis, SweepGrowth
from fastrnns_rs.documents.sweep_findings import summarize_sweep
from fastrnns_rs.errors import UsageError
from fastrnns_rs.verbs.bench.phase_summary import summary


def summarized() -> dict[str, Any]:
    """A run of one runner, with three processes and their statistics."""
    forward = summary([[[one - 1, one, one + 2]] for one in (1000, 1100, 1200)])
    return run([exactly([1000, 1100, 1200], forward=forward)]).to_dict()


def test_failed_processes_have_no_estimate() -> None:
    plain = summarized()
    plain["results"][0] |= {"status": "failed"}
    for one in plain["results"][0]["processes"]:
        one |= {"status": "failed", "reason": "it fails"}
    with pytest.raises(UsageError, match=r"^results\[0\]\.forward has an estimate, and no process is ok$"):
        Run.from_dict(plain)


@pytest.mark.parametrize(
    ("status", "message"),
    [
        ("ok", r"^results\[0\]\.processes is empty, and the status of the result is ok$"),
        ("failed", r"^results\[0\]\.forward has an estimate, and no process is ok$"),
    ],
)
def test_a_result_without_processes_has_no_estimate(status: str, message: str) -> None:
    plain = summarized()
    plain["results"][0] |= {"processes": [], "status": status, "reason": None if status == "ok" else "interrupted"}
    with pytest.raises(UsageError, match=message):
        Run.from_dict(plain)
    # Older builds wrote this where a run was interrupted.
    plain["results"][0] |= {"status": "failed", "reason": "interrupted", "forward": None, "warmup_class": None}
    Run.from_dict(plain)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"time_ns": 500.0}, "time_ns is 500, and that of the result is "),
        ({"samples_per_second": 1.0}, "samples_per_second is 1, and that of mini_batch and time_ns is "),
        ({"steps_per_second": 1.0}, "steps_per_second is 1, and that of seq_length and samples_per_second is "),
    ],
)
def test_a_sweep_does_not_contradict_its_results(changes: dict[str, float], message: str) -> None:
    plain = summarized()
    [one] = plain["results"]
    one["point"] = {"seq-length": one["problem"]["seq_length"]}
    forward = Run.from_dict(plain).results[0].forward
    assert forward is not None
    rate = one["problem"]["mini_batch"] / forward.estimate_ns * 1e9
    cell = {"runner": one["runner"], "point": one["point"], "phase": "iteration", "time_ns": forward.estimate_ns}
    cell |= {"steps_per_second": None, "samples_per_second": rate}
    plain["sweep"] = {"axes": [], "cells": [cell], "growth": []}
    assert Run.from_dict(plain).sweep is not None
    plain["sweep"]["cells"] = [cell | changes]
    with pytest.raises(UsageError, match=rf"^sweep\.cells\[0\]\.{message}"):
        Run.from_dict(plain)


def test_a_sweep_has_few_axes() -> None:
    plain = summarized()
    plain["plan"]["axes"] = [{"name": f"axis-{number}", "values": [1]} for number in range(32)]
    assert len(Run.from_dict(plain).plan.axes) == 32
    plain["plan"]["axes"] *= 2
    with pytest.raises(UsageError, match=r"^plan\.axes has length 64, and a sweep supports 32 axes$"):
        Run.from_dict(plain)


def test_an_exponent_is_within_its_interval() -> None:
    plain = summarized()
    known = {"runner": "cudnn", "phase": "forward", "axis": "hidden-size", "at": {}, "n_points": 3, "exponent": 1.0}
    growth = Run.from_dict({**plain, "sweep": {"axes": [], "cells": [], "growth": [grown(known)]}}).sweep
    assert growth is not None
    plain["sweep"] = {"axes": [], "cells": [], "growth": [grown(known), grown(known | {"exponent": 2.0})]}
    message = r"^sweep\.growth\[1\]\.exponent is 2, outside of its interval from 0\.75 to 1\.25$"
    with pytest.raises(UsageError, match=message):
        Run.from_dict(plain)


def test_an_exponent_is_between_those_of_neighbours() -> None:
    """Without an interval, nothing else shows that its sign was changed."""
    plain = summarized()
    known = {"runner": "cudnn", "phase": "forward", "axis": "hidden-size", "at": {}, "n_points": 3}
    laws = [SweepGrowth(**known, exponent=one, local_exponents=[0.5, 1.5]) for one in (1.0, -1.0)]
    plain["sweep"] = {"axes": [], "cells": [], "growth": [to_plain(laws[0])]}
    Run.from_dict(plain)
    plain["sweep"]["growth"].append(to_plain(laws[1]))
    message = r"^sweep\.growth\[1\]\.exponent is -1, outside of its local exponents from 0\.5 to 1\.5$"
    with pytest.raises(UsageError, match=message):
        Run.from_dict(plain)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"reason": "the clock is too coarse"}, " has both exponent and reason"),
        ({"exponent": None}, " has neither exponent nor reason"),
        ({"straight": False}, r"\.straight is false, and largest_deviation is 0\.01"),
        ({"largest_deviation": 0.5, "lack_of_fit_p": 0.01}, r"\.straight is true, and largest_deviation is 0\.5"),
        ({"largest_deviation": 0.5}, r"\.straight is true, and largest_deviation is 0\.5"),
    ],
)
def test_words_of_a_growth_are_those_of_its_numbers(changes: dict[str, Any], message: str) -> None:
    plain = summarized()
    known = {"runner": "cudnn", "phase": "forward", "axis": "hidden-size", "at": {}, "n_points": 3, "exponent": 1.0}
    growth = to_plain(SweepGrowth(**known, largest_deviation=0.01, straight=True))
    for sound in ({}, {"largest_deviation": 0.5, "lack_of_fit_p": 0.05}, {"straight": False, "largest_deviation": 0.5}):
        plain["sweep"] = {"axes": [], "cells": [], "growth": [growth | sound]}
        Run.from_dict(plain)
    plain["sweep"]["growth"] = [growth | changes]
    with pytest.raises(UsageError, match=rf"^sweep\.growth\[0\]{message}$"):
        Run.from_dict(plain)


def test_sessions_have_processes() -> None:
    plain = summarized()
    plain["plan"] |= {"sessions": 2, "processes": 6}
    Run.from_dict(plain)
    for sessions in (0, 7):
        plain["plan"]["sessions"] = sessions
        with pytest.raises(UsageError, match=rf"^plan\.sessions is {sessions}, and plan\.processes is 6$"):
            Run.from_dict(plain)


def test_processes_name_a_session() -> None:
    """A process without one was a session of its own, which made verdicts more certain."""
    forward = summary([[[one - 1, one, one + 2]] for one in (1000, 1100, 1200)])
    found = exactly([1000, 1100, 1200], forward=forward)
    started = "2026-01-01T00:01:00Z"
    processes = [replace(one, session="5e5510", started_utc=started) for one in found.processes]
    plain = run([replace(found, processes=processes)], sessions=[SESSION]).to_dict()
    Run.from_dict(plain)
    first, *_, last = plain["results"][0]["processes"]
    first["session"] = None
    message = r"^results\[0\]\.processes\[0\]\.session is None, which is not in sessions$"
    with pytest.raises(UsageError, match=message):
        Run.from_dict(plain)
    # Older builds recorded neither, and their runs are resumed.
    first["started_utc"] = None
    Run.from_dict(plain)
    first["session"], last["session"], last["started_utc"] = "5e5510", None, None
    with pytest.raises(UsageError, match="has a process before the last of session None$"):
        Run.from_dict(plain)


@pytest.mark.parametrize("processes", [2, 3])
def test_a_line_is_straight_by_three_processes(processes: int) -> None:
    times = {size: [size * 100 + one for one in range(processes)] for size in (1, 2, 4)}
    rows = [
        replace(
            exactly(medians, forward=summary([[[one - 1, one, one + 2]] for one in medians])),
            point={"hidden-size": size},
        )
        for size, medians in times.items()
    ]
    rows = [replace(one, problem=replace(one.problem, hidden_size=int(one.point["hidden-size"]))) for one in rows]
    axes = [SweepAxis(name="hidden-size", values=[1, 2, 4])]
    found = run(rows)
    plain = replace(found, plan=replace(found.plan, axes=axes), sweep=summarize_sweep(axes, rows)).to_dict()
    law = plain["sweep"]["growth"][0]
    assert law["straight"] == (True if processes > 2 else None)
    Run.from_dict(plain)
    law["straight"] = None if processes > 2 else True
    with pytest.raises(UsageError, match=r"^sweep\.growth\[0\]\.straight is .*, and by the results it is "):
        Run.from_dict(plain)


def grown(known: dict[str, Any]) -> dict[str, Any]:
    """The growth of times along an axis, with an interval."""
    law = SweepGrowth(**known, ci_low=0.75, ci_high=1.25, confidence_level=0.95, ci_method="t")
    plain: dict[str, Any] = to_plain(law)
    return plain


@pytest.mark.parametrize(("host_ns", "launch_bound"), [(None, True), (100.0, True), (2000.0, False)])
def test_a_phase_waits_for_launches_by_its_time_on_the_host(host_ns: float | None, launch_bound: bool) -> None:
    plain = summarized()
    forward = plain["results"][0]["forward"]
    for sound in ({"host_ns": 100.0, "launch_bound": False}, {"host_ns": 2000.0, "launch_bound": True}):
        forward |= sound
        Run.from_dict(plain)
    forward |= {"host_ns": host_ns, "launch_bound": launch_bound}
    message = (
        rf"^results\[0\]\.forward\.launch_bound is {str(launch_bound).lower()}, and host_ns is {host_ns} and median_ns"
    )
    with pytest.raises(UsageError, match=message):
        Run.from_dict(plain)


def test_the_time_on_the_host_is_that_of_its_samples() -> None:
    plain = summarized()
    [one] = plain["results"]
    for process in one["processes"]:
        process["forward_host_ns"] = [2000] * len(process["forward_ns"])
    one["forward"] |= {"host_ns": 2000.0, "launch_bound": True}
    Run.from_dict(plain)
    for changes, message in (
        ({"host_ns": 1.0, "launch_bound": False}, "host_ns is 1, and that of the samples is 2000"),
        ({"host_ns": None, "launch_bound": None}, "host_ns is null, and that of the samples is 2000"),
        ({"host_ns": 2000.0, "launch_bound": None}, "launch_bound is null, and host_ns is 2000.0 and median_ns "),
    ):
        one["forward"] |= changes
        with pytest.raises(UsageError, match=rf"^results\[0\]\.forward\.{message}"):
            Run.from_dict(plain)


def test_the_first_side_is_the_baseline() -> None:
    made = run([exactly([1000, 1100, 1200])])
    sides = [RunSide(name=name, label=name, runner="cudnn", environment=made.environment) for name in ("a", "b")]
    plain = replace(made, sides=sides).to_dict()
    Run.from_dict(plain)
    plain["sides"].reverse()
    with pytest.raises(UsageError, match=r"^sides is b, a, not a, b$"):
        Run.from_dict(plain)
