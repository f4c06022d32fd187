"""Rows of a comparison that contradict their basis, and an exit code without its cause."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest
from run_files import SESSION, both, exactly, failed, result, run

from fastrnns_rs import compare
from fastrnns_rs.documents.comparison import Comparison
from fastrnns_rs.documents.run_file import Run
from fastrnns_rs.errors import UsageError

BASELINE = [1_000_000, 1_003_000, 998_000, 1_001_000, 1_004_500, 997_000]
SLOWER = [time + 50_000 for time in BASELINE]


def in_session(times: list[int], name: str) -> Run:
    """A run of one session."""
    one = exactly(times)
    processes = [replace(process, session=name) for process in one.processes]
    return replace(
        run([replace(one, processes=processes)]), sessions=[replace(SESSION, session_id=name)], run_id=f"run {name}"
    )


def two_sessions() -> dict[str, Any]:
    """One session per side."""
    return compare(in_session(BASELINE, "a"), in_session(SLOWER, "b"), history=False).to_dict()


def interleaved() -> dict[str, Any]:
    """One session of both sides."""
    return compare(in_session(BASELINE, "a"), replace(in_session(SLOWER, "a"), run_id="b"), history=False).to_dict()


def sessions() -> dict[str, Any]:
    """Three sessions of two processes per side."""
    sides = [
        [in_session(times[at : at + 2], f"{name}{at}") for at in (0, 2, 4)]
        for name, times in (("a", BASELINE), ("b", SLOWER))
    ]
    return compare(*sides, history=False).to_dict()


def call_sessions(plain: dict[str, Any], count: int, basis: str = "sessions") -> None:
    """Changes a comparison of two sessions so that its verdict has no condition."""
    plain["warnings"] = []
    plain["baseline"]["sessions"] = plain["candidate"]["sessions"] = count
    [row] = plain["rows"]
    row |= {"basis": basis, "verdict": row["conditional_verdict"], "conditional_verdict": None}
    plain["counts"], plain["conditional_counts"] = plain["conditional_counts"], plain["counts"]


def name_sessions(plain: dict[str, Any]) -> None:
    for side in ("baseline", "candidate"):
        plain["rows"][0][side]["process_sessions"] = [*range(6)]


def call_unlabelled(plain: dict[str, Any]) -> None:
    call_sessions(plain, 6)
    plain["rows"][0]["label"] = None


def call_past(plain: dict[str, Any]) -> None:
    """Gives the row a history without the error of the ratio, so that the interval could be any."""
    call_sessions(plain, 1, "history")
    plain["rows"][0] |= {"label": None, "session_stddev": 1e-6, "history_sessions": 8}


@pytest.mark.parametrize(
    ("make", "change", "message"),
    [
        (
            two_sessions,
            lambda plain: call_sessions(plain, 6) or name_sessions(plain),
            "rows[0].label contains 'conditional on these two sessions', and the basis is 'sessions'",
        ),
        (
            two_sessions,
            lambda plain: call_sessions(plain, 5, "interleaved"),
            "rows[0].label contains 'conditional on these two sessions', and the basis is 'interleaved'",
        ),
        (
            two_sessions,
            call_unlabelled,
            "rows[0].basis is sessions, and baseline has 0 of 6 sessions",
        ),
        (two_sessions, call_past, "rows[0].basis is a history, and session_stderr is missing"),
        (
            sessions,
            lambda plain: plain["rows"][0].update(additional_processes=7, required_processes=13),
            "rows[0].additional_processes is 7, and its basis is sessions",
        ),
        (
            two_sessions,
            lambda plain: [plain[side].update(sessions=6) for side in ("baseline", "candidate")],
            "baseline.sessions is 6, and the basis of the rows is two_sessions",
        ),
        (
            interleaved,
            lambda plain: plain["candidate"].update(sessions=6),
            "baseline.sessions is 1, and candidate.sessions 6, of rows of the same sessions",
        ),
    ],
)
def test_a_row_is_not_of_more_sessions_than_it_has(
    make: Callable[[], dict[str, Any]], change: Callable[[dict[str, Any]], object], message: str
) -> None:
    plain = make()
    assert Comparison.from_dict(plain).rows[0].basis == make.__name__
    change(plain)
    with pytest.raises(UsageError) as raised:
        Comparison.from_dict(plain)
    assert raised.value.message == message


def test_a_candidate_that_failed_has_its_exit_code() -> None:
    found = compare(run([result(), result("jit")]), run([result(seed=1), failed("jit")]))
    plain = Comparison.from_dict(found.to_dict()).to_dict()
    assert plain["exit_code"] == 1
    for other in (0, 4):
        with pytest.raises(UsageError, match=rf"^exit_code is {other}, and rows\[\d\] failed$"):
            Comparison.from_dict({**plain, "exit_code": other})


def test_both_sides_of_an_ab_that_failed_have_the_exit_code() -> None:
    """It was free where the first side failed."""
    for run_of_ab in (both(failed("cudnn"), result("jit", seed=1)), both(result(), failed("jit"))):
        plain = compare(run_of_ab).to_dict()
        assert Comparison.from_dict(plain).exit_code == 1
        with pytest.raises(UsageError, match=r"^exit_code is 0, and rows\[0\] failed$"):
            Comparison.from_dict({**plain, "exit_code": 0})


def test_a_baseline_of_its_own_that_failed_is_no_cause() -> None:
    plain = compare(run([result(), failed("jit")]), run([result(seed=1), result("jit")])).to_dict()
    assert Comparison.from_dict(plain).exit_code == 0
    with pytest.raises(UsageError, match=r"^exit_code is 1, and no row is the cause$"):
        Comparison.from_dict({**plain, "exit_code": 1})
    rows = plain["rows"]
    [number] = [number for number, row in enumerate(rows) if row["baseline"] is None and row["phase"] == "forward"]
    for key, value in (("ratio", 7.0), ("cliffs_delta", 0.5), ("additional_processes", 3)):
        changed = [{**row, key: value} if place == number else row for place, row in enumerate(rows)]
        with pytest.raises(UsageError, match=rf"^rows\[{number}\]\.{key} is "):
            Comparison.from_dict({**plain, "rows": changed})
