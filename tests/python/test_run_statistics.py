"""Statistics of a run that contradict its samples or each other: they are refused by their path."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from run_files import SESSION, exactly, run
from test_soundness import ORDERED

from fastrnns_rs.documents.run_file import Run
from fastrnns_rs.errors import UsageError
from fastrnns_rs.verbs.bench.phase_summary import summary


def summarized() -> dict[str, Any]:
    """A run of one runner, with three processes and their statistics."""
    forward = summary([[[one - 1, one, one + 2]] for one in (1000, 1100, 1200)])
    return run([exactly([1000, 1100, 1200], forward=forward)]).to_dict()


@pytest.mark.parametrize("name", ["estimate_ns", "mean_ns", "stddev_ns", "mad_ns", *ORDERED])
def test_statistics_of_a_run_do_not_contradict_its_samples(name: str) -> None:
    """Tables show the statistics, and comparisons use the samples."""
    plain = summarized()
    forward = plain["results"][0]["forward"]
    for value in (998.9, forward[name] + 0.01, 1202.1):
        plain["results"][0]["forward"] = forward | {"ci_low_ns": None, "ci_high_ns": None, name: value}
        with pytest.raises(UsageError, match=r"^results\[0\]\.forward\.\w+ is "):
            Run.from_dict(plain)


@pytest.mark.parametrize("sessions", [1, 3])
def test_an_interval_of_a_run_is_that_of_its_processes(sessions: int) -> None:
    """`show` and trends have the interval, and `compare` computes its own."""
    medians = [1000, 1100, 1200, 1150, 1050, 1250]
    names = [f"session {place * sessions // len(medians)}" for place in range(len(medians))]
    made = exactly(medians, forward=summary([[[one - 1, one, one + 2]] for one in medians], names))
    timed = [replace(one, session=name, steady_from=2) for one, name in zip(made.processes, names, strict=True)]
    listed = [replace(SESSION, session_id=name) for name in dict.fromkeys(names)]
    plain = run([replace(made, processes=timed)], sessions=listed).to_dict()
    forward = plain["results"][0]["forward"]
    assert forward["ci_method"] == ("t_log_sessions" if sessions > 2 else "t_log_process_medians")
    Run.from_dict(plain)
    for name, value in (("ci_low_ns", forward["estimate_ns"] - 0.1), ("ci_high_ns", forward["estimate_ns"] + 0.1)):
        plain["results"][0]["forward"] = forward | {name: value}
        with pytest.raises(UsageError, match=rf"^results\[0\]\.forward\.{name} is .*, and that of the samples is "):
            Run.from_dict(plain)
    plain["results"][0]["forward"] = forward | {"confidence_level": 0.999}
    with pytest.raises(UsageError, match=r"\.confidence_level is 0\.999, and that of the samples is 0\.95$"):
        Run.from_dict(plain)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"q1_ns": 1150.0}, "q1_ns is 1150, above median_ns, 1100"),
        ({"max_ns": 1100.0}, "p99_ns is 1201.84, above max_ns, 1100"),
        ({"ci_low_ns": 1190.0}, "estimate_ns is 1096.96131, outside of its interval from 1190 to 1375.85867"),
        ({"stddev_ns": 204.0}, "stddev_ns is 204, and the range of the samples is 203"),
        ({"mad_ns": -1.0}, "mad_ns is -1, and the range of the samples is 203"),
        ({"n_processes": 50}, "n_processes is 50, and the result has 3"),
        ({"n_processes": 0}, "n_processes is 0, and the result has 3"),
        ({"n_samples": 10_000}, "n_samples is 10000, and the result has 9"),
        ({"n_effective": 9.5}, "n_effective is 9.5, and n_samples is 9"),
        ({"n_effective": 0.5}, "n_effective is 0.5, and n_samples is 9"),
        # Their statistics would be those of a part of what comparisons use.
        ({"n_samples": 8}, "n_samples is 8, and the result has 9"),
        ({"n_processes": 2, "n_samples": 6}, "n_processes is 2, and the result has 3"),
    ],
    ids=lambda one: next(iter(one)) if isinstance(one, dict) else "",
)
def test_statistics_of_a_run_do_not_contradict_each_other(changes: dict[str, float], message: str) -> None:
    plain = summarized()
    Run.from_dict(plain)
    plain["results"][0]["forward"] |= changes
    with pytest.raises(UsageError) as raised:
        Run.from_dict(plain)
    assert f"results[0].forward.{message}" in raised.value.message


@pytest.mark.parametrize(("medians", "low", "known"), [([1000, 1100], 999.0, 1000.0), ([1000], 998.0, 999.0)])
def test_few_processes_have_the_interval_of_their_samples(medians: list[int], low: float, known: float) -> None:
    """Two have the range of their medians; that of one lies within its samples."""
    forward = summary([[[one - 1, one, one + 2]] for one in medians])
    plain = run([exactly(medians, forward=forward)]).to_dict()
    Run.from_dict(plain)
    plain["results"][0]["forward"]["ci_low_ns"] = low
    plain["results"][0]["forward"]["ci_high_ns"] = 1102.0
    with pytest.raises(UsageError, match=rf"^results\[0\]\.forward\.ci_low_ns is .*{known:g}"):
        Run.from_dict(plain)


@pytest.mark.parametrize("method", ["foo", None, "t_log_sessions"])
def test_an_interval_of_several_processes_has_their_method(method: str | None) -> None:
    """That of another method could be any interval."""
    plain = summarized()
    plain["results"][0]["forward"] |= {"ci_low_ns": 1096.0, "ci_high_ns": 1098.0, "ci_method": method}
    with pytest.raises(UsageError, match=r"forward\.ci_method is .*, not that of several processes$"):
        Run.from_dict(plain)


def test_an_estimate_without_an_interval_is_that_of_its_processes() -> None:
    plain = summarized()
    plain["results"][0]["forward"] |= {"ci_low_ns": None, "ci_high_ns": None, "ci_method": None}
    Run.from_dict(plain)
    plain["results"][0]["forward"]["estimate_ns"] = 1180.0
    with pytest.raises(UsageError, match=r"estimate_ns is 1180, and that of the samples is 1096\.96131$"):
        Run.from_dict(plain)


def test_a_phase_with_an_estimate_was_measured_by_every_process() -> None:
    plain = summarized()
    plain["results"][0]["backward"] = plain["results"][0]["forward"]
    for process in plain["results"][0]["processes"][:2]:
        process["backward_ns"] = process["forward_ns"]
    with pytest.raises(UsageError, match=r"backward has an estimate, and a process has no samples of it$"):
        Run.from_dict(plain)


def test_ranks_of_an_interrupted_replicate_do_not_count() -> None:
    """One rank may have measured to its end before the others were interrupted."""
    made = exactly([1000, 1010, 1100, 1110], forward=summary([[[999, 1000, 1002], [1009, 1010, 1012]]]))
    ranks = [replace(one, index=place // 2, rank=place % 2) for place, one in enumerate(made.processes)]
    ranks[3] = replace(ranks[3], status="interrupted")
    Run.from_dict(run([replace(made, processes=ranks)]).to_dict())
    ranks[3] = replace(ranks[3], status="ok")
    with pytest.raises(UsageError, match=r"forward\.n_processes is 1, and the result has 2$"):
        Run.from_dict(run([replace(made, processes=ranks)]).to_dict())


@pytest.mark.parametrize("value", [-3.0, 1e300])
def test_the_precision_of_a_run_is_a_width(value: float) -> None:
    """Three processes of 10 µs, 10 µs and 200 ms have a width of 1.5 million: their run could not be read."""
    plain = summarized()
    plain["plan"]["precision"] = 1_474_390.5
    Run.from_dict(plain)
    plain["plan"]["precision"] = value
    with pytest.raises(UsageError, match=r"plan\.precision is .*, not a number from 0 to 1e200"):
        Run.from_dict(plain)


def test_a_label_is_that_of_the_result() -> None:
    """Tables show the label in place of the runner."""
    plain = run([exactly([1000, 1100, 1200], point={"hidden-size": 64})]).to_dict()
    (result,) = plain["results"]
    for label in (None, "cudnn[hidden-size=64]", f"cudnn[hidden-size=64] on {result['problem']['device']}"):
        result["label"] = label
        Run.from_dict(plain)
    for label in ("cudnn", "py[hidden-size=64]", "cudnn[hidden-size=4096]", "cudnn[hidden-size=64] on cuda:7"):
        result["label"] = label
        with pytest.raises(
            UsageError, match=r"^results\[0\]\.label is '.*', and the result is 'cudnn\[hidden-size=64\]'$"
        ):
            Run.from_dict(plain)


def test_inference_has_no_backward() -> None:
    """Tables said that the mode is inference, beside backward times."""
    plain = summarized()
    (result,) = plain["results"]
    # The problems of 1.0 have no mode.
    result["mode"] = "inference"
    Run.from_dict(plain)
    result["problem"]["mode"] = "inference"
    Run.from_dict(plain)
    result["mode"] = "train"
    with pytest.raises(UsageError, match=r"^results\[0\]\.mode is train, and that of the problem is inference$"):
        Run.from_dict(plain)
    result["mode"] = "inference"
    result["processes"][1]["backward_ns"] = result["processes"][1]["forward_ns"]
    with pytest.raises(UsageError, match=r"^results\[0\]\.mode is inference, and processes\[1\] has a backward$"):
        Run.from_dict(plain)
