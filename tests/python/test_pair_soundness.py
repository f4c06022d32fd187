"""Runs of `ab` whose pairs, sides or turns were made up: comparisons judge them."""

from __future__ import annotations

import copy
from collections.abc import Callable
from typing import Any

import pytest
from run_files import both, exactly, restated, result, run

from fastrnns_rs import compare, stats
from fastrnns_rs.documents.comparison import Comparison
from fastrnns_rs.documents.run_file import Run
from fastrnns_rs.errors import UsageError

TIMES = [1000, 1010, 1030, 1060]


def ab() -> Any:
    return both(exactly(TIMES), exactly([2 * one for one in TIMES], "jit")).to_dict()


def swap_sides(plain: Any) -> None:
    for row, side in zip(plain["results"], "ba", strict=True):
        row["side"] = side


def pair_anew(plain: Any) -> None:
    for process, index in zip(plain["results"][1]["processes"], (1, 0, 3, 2), strict=True):
        process["index"] = index


def part_all(plain: Any) -> None:
    for process in plain["results"][1]["processes"]:
        process["index"] += 100


def drop_partner(plain: Any) -> None:
    """Gives the last process of a side an index that the other side does not have."""
    plain["results"][1]["processes"][-1]["index"] += 1


def exchange_problems(plain: Any) -> None:
    """Exchanges the sides of one runner with two sizes."""
    for row, side in zip(plain["results"], "ab", strict=True):
        row["runner"] = plain["sides"]["ab".index(side)]["runner"] = "cudnn"
        row["problem"]["hidden_size"] = 64 if side == "a" else 96
        planned = {"runner": "cudnn", "side": side, "source": "here", "problem": dict(row["problem"])}
        plain["plan"]["runners"].append(planned)
    Run.from_dict(copy.deepcopy(plain))
    swap_sides(plain)


def take_turns(plain: Any) -> None:
    plain["results"][0]["processes"][2]["slices"] = [0, 1]


def pair_other_problems(plain: Any) -> None:
    plain["results"][1]["problem"]["seed"] = 1
    pair_anew(plain)


REFUSED: dict[Callable[[Any], None], str] = {
    swap_sides: "results[0].side is 'b', and 'cudnn' is the runner of 'a'",
    pair_anew: "results[1].processes and those of results[0] have an index that contradicts their order",
    part_all: "results[1].processes has other values of index than results[0], and the run is complete",
    drop_partner: "results[1].processes has other values of index than results[0], and the run is complete",
    exchange_problems: "results[0].side is 'b', and plan.runners has it on the other side",
    take_turns: "results[0].processes[2].slices has 2 turns, and plan.turns is None",
}


@pytest.mark.parametrize("change", REFUSED, ids=lambda one: one.__name__)
def test_a_run_that_contradicts_its_order_is_refused(change: Callable[[Any], None]) -> None:
    """A regression became an improvement, or had no verdict."""
    plain = ab()
    Run.from_dict(copy.deepcopy(plain))
    change(plain)
    with pytest.raises(UsageError) as raised:
        Run.from_dict(plain)
    assert REFUSED[change] in raised.value.message


@pytest.mark.parametrize("change", [pair_anew, part_all, pair_other_problems])
def test_processes_that_ran_apart_are_no_pairs(change: Callable[[Any], None]) -> None:
    """Pairs made at will gave a narrower interval, and none at all no verdict.

    A run of which a runner failed may lack partners.
    """
    plain = ab() | {"status": "failed"}
    paired = compare(Run.from_dict(copy.deepcopy(plain)))
    change(plain)
    apart = compare(Run.from_dict(plain))
    assert (paired.method.name, apart.method.name) == ("paired_t_log_process_medians", "welch_log_process_medians")
    expected = stats.compare_samples(TIMES, [2 * one for one in TIMES])
    assert apart.rows[0].ratio_ci_low == pytest.approx(expected.ratio_ci_low)
    assert apart.rows[0].verdict == "slower"


@pytest.mark.parametrize("change", [pair_anew, part_all, drop_partner])
def test_pairs_of_a_run_with_a_precision_are_looked_at(change: Callable[[Any], None]) -> None:
    """One word of the plan turned this check off; only the number of processes may differ."""
    plain = ab()
    plain["plan"]["stop"]["rule"] = "precision"
    fewer = copy.deepcopy(plain)
    del fewer["results"][1]["processes"][-1]
    fewer["results"][1] = restated(fewer["results"][1])
    Run.from_dict(fewer)
    change(plain)
    with pytest.raises(UsageError) as raised:
        Run.from_dict(plain)
    assert REFUSED[change] in raised.value.message


def test_only_a_live_pair_has_turns() -> None:
    """Turns at will gave its processes other times than the table."""
    plain = ab()
    plain["plan"]["turns"] = 2
    take_turns(plain)
    with pytest.raises(UsageError, match=r"^plan\.turns is 2, and plan\.stop\.rule is count$"):
        Run.from_dict(plain)
    plain["plan"]["stop"]["rule"] = "time"
    Run.from_dict(copy.deepcopy(plain))
    # Between two turns, the time is that of the other side.
    plain["results"][0]["processes"][2]["timed_loop_ns"] = 4000
    with pytest.raises(UsageError, match=r"\.timed_loop_ns is 4000, and slices has 2 turns$"):
        Run.from_dict(copy.deepcopy(plain))
    plain["results"][0]["processes"][2]["timed_loop_ns"] = None
    with pytest.raises(UsageError, match=r"^plan\.turns is 2, and the run has no sides$"):
        Run.from_dict({**plain, "sides": []})


def compared(words: str = "") -> dict[str, Any]:
    """A comparison of `ab` with the labels that the command writes."""
    plain = ab()
    for side in plain["sides"]:
        side["label"] = side["runner"] + words
    return compare(Run.from_dict(plain)).to_dict()


@pytest.mark.parametrize("words", ["", " --threads 1"])
def test_exchanged_sides_of_a_comparison_are_refused(words: str) -> None:
    """Tables said of the slower runner that it was the faster one."""
    plain = compared(words)
    assert Comparison.from_dict(plain).rows[0].runner == "cudnn / jit"
    plain["baseline"], plain["candidate"] = plain["candidate"], plain["baseline"]
    with pytest.raises(UsageError) as raised:
        Comparison.from_dict(plain)
    assert raised.value.message == f"rows[0].runner is 'cudnn / jit', and the baseline is 'jit{words}'"


@pytest.mark.parametrize(
    ("words", "label"),
    [
        ({"variables": {"FOO": "1"}}, "cudnn FOO=1"),
        ({"options": ["--threads", "1"]}, "cudnn --threads 1"),
        ({"python": "/p"}, "cudnn python=/p"),
    ],
)
def test_exchanged_labels_of_one_runner_are_refused(words: dict[str, Any], label: str) -> None:
    """Headings said that the other side was slower."""
    plain = both(exactly(TIMES), exactly([2 * one for one in TIMES])).to_dict()
    first, second = plain["sides"]
    first.update(label="cudnn", python=None)
    second.update({"label": label, "python": None, **words})
    made = compare(Run.from_dict(copy.deepcopy(plain))).to_dict()
    assert Comparison.from_dict(copy.deepcopy(made)).candidate.label == label
    first["label"], second["label"] = label, "cudnn"
    with pytest.raises(UsageError, match=rf"^side a has the label of the other side, '{label}'$"):
        Run.from_dict(plain)
    made["baseline"]["label"], made["candidate"]["label"] = label, "cudnn"
    with pytest.raises(UsageError, match=rf"^baseline\.label is '{label}', and '.*' is of the other side$"):
        Comparison.from_dict(made)


def test_an_exit_code_for_a_failed_runner_needs_one() -> None:
    plain = compared()
    plain["exit_code"] = 1
    with pytest.raises(UsageError, match=r"^exit_code is 1, and no row is the cause$"):
        Comparison.from_dict(plain)
    run = ab()
    run["results"][1] |= {"processes": [], "status": "failed", "reason": "out of memory"}
    run["results"][1] = restated(run["results"][1])
    failed = compare(Run.from_dict(run))
    assert failed.exit_code == 1
    assert Comparison.from_dict(failed.to_dict()) == failed


def test_pairs_of_sorted_results_remain_pairs() -> None:
    """`show --sort` orders each side by its times: a side may have another order of runners."""
    runs = [both(exactly(times), exactly(times[::-1])) for times in (TIMES, [*range(1_900, 1_906)])]
    plain, other = (one.to_dict() for one in runs)
    plain["plan"]["stop"]["rule"] = "decided"
    for row in other["results"]:
        row["runner"] = "jit"
        for process in row["processes"]:
            process["order"] += 10
    for side in plain["sides"]:
        side["runner"] = "cudnn"
    plain["results"] += other["results"]
    expected = compare(Run.from_dict(copy.deepcopy(plain)))
    plain["results"] = [plain["results"][place] for place in (0, 2, 3, 1)]
    found = compare(Run.from_dict(plain))
    assert (found.method, found.rows) == (expected.method, expected.rows)


def test_a_backward_of_some_processes_is_refused() -> None:
    """`compare` took the others, and a regression became equivalent."""
    plain = run([result(processes=4, count=4)]).to_dict()
    plain["results"][0]["backward"] = plain["results"][0]["processes"][2]["backward_ns"] = None
    with pytest.raises(UsageError, match=r"^results\[0\]\.processes have backward_ns in part$"):
        Run.from_dict(plain)


def test_processes_exchanged_between_sessions_are_refused() -> None:
    """Sessions are the replicates, and the spread between them was that of other processes."""
    made = run([result(processes=6, count=4, backward=False)]).to_dict()
    first = made["sessions"][0]
    made["sessions"] = [{**first, "session_id": f"{number}"} for number in range(2)]
    for place, process in enumerate(made["results"][0]["processes"]):
        process["session"] = f"{place // 3}"
    Run.from_dict(copy.deepcopy(made))
    one, other = (made["results"][0]["processes"][place] for place in (0, 5))
    one["session"], other["session"] = other["session"], one["session"]
    with pytest.raises(UsageError, match=r"^session '1' has a process before the last of session '0'$"):
        Run.from_dict(made)
