"""Values that no build writes into a document: every reader refuses them by their path."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from commands import run_cli
from conftest import ROOT
from run_files import exactly, process, restated, result, run, write
from summary_documents import example, fit_history, fit_noise_floor, inductor_of, sound_summary

from fastrnns_rs import compare
from fastrnns_rs.documents.capture_manifest import Capture
from fastrnns_rs.documents.comparison import Comparison
from fastrnns_rs.documents.diagnosis import Diagnosis
from fastrnns_rs.documents.document import Document
from fastrnns_rs.documents.history import History
from fastrnns_rs.documents.inductor_report import InductorReport
from fastrnns_rs.documents.listing import Catalogue
from fastrnns_rs.documents.noise_floor import NoiseFloorDocument
from fastrnns_rs.documents.run_file import Run
from fastrnns_rs.documents.summary import SummaryDocument
from fastrnns_rs.documents.verification import Verification
from fastrnns_rs.errors import UsageError

CENTURY = 1 << 62
#: Sums over GPUs may be centuries.
SUMS = {"span_ns", "idle_ns", "in_stream_ns", "total_ns"}
#: Statistics of samples, in the order of their values.
ORDERED = ("min_ns", "q1_ns", "median_ns", "q3_ns", "p95_ns", "p99_ns", "max_ns")
KINDS: list[type[Document]] = [
    *(Capture, Comparison, Diagnosis, History, InductorReport, Catalogue, NoiseFloorDocument, Run, SummaryDocument),
    Verification,
]


def made() -> dict[str, Any]:
    """A run file of two runners with three processes each."""
    return run([result("cudnn", processes=3), result("jit", processes=3)]).to_dict()


def changed(change: Callable[[Any], object]) -> dict[str, Any]:
    plain = json.loads(json.dumps(made()))
    change(plain["results"][0])
    return plain


def at(*keys: Any) -> Callable[[Any], Callable[[Any], None]]:
    """A change of what stands under these keys of a result."""

    def with_value(value: Any) -> Callable[[Any], None]:
        def change(one: Any) -> None:
            for key in keys[:-1]:
                one = one[key]
            one[keys[-1]] = value(one[keys[-1]]) if callable(value) else value

        return change

    return with_value


PROCESSES = at("processes")
FIRST = ("processes", 0)
TIME = "a time from 0 to 2⁶² ns"
REFUSED: dict[str, tuple[Callable[[Any], Any], str]] = {
    "processes, repeated": (PROCESSES(lambda found: found * 6), "processes[3].order"),
    "one order": (at("processes", 2, "order")(1), "processes[2].order"),
    "one index": (at("processes", 2, "index")(0), "processes[2].index"),
    "one rank": (
        PROCESSES(lambda found: [{**one, "index": 0, "rank": 1} for one in found]),
        "processes[1].index",
    ),
    "a negative sample": (at(*FIRST, "forward_ns", 7)(-1), f"processes[0].forward_ns[7] is -1, not {TIME}"),
    "a sample of a century": (
        at(*FIRST, "backward_ns", 3)(CENTURY),
        f"processes[0].backward_ns[3] is {CENTURY}, not {TIME}",
    ),
    "10³⁰ ns": (at(*FIRST, "forward_ns", 0)(10**30), f"processes[0].forward_ns[0] is {10**30}, not {TIME}"),
    "many digits": (at(*FIRST, "forward_ns", 0)(10**400), "processes[0].forward_ns[0] is 1000"),
    "other lengths": (
        at(*FIRST, "backward_ns")(lambda found: found[1:]),
        "processes[0].backward_ns has 16 samples, and forward_ns has 17",
    ),
    "steady beyond the end": (at(*FIRST, "steady_from")(17), "processes[0].steady_from is 17, and forward_ns has 17"),
    "steady before the start": (at(*FIRST, "steady_from")(-1), "processes[0].steady_from is -1, and forward_ns"),
    "never steady": (at(*FIRST, "steady_from")(None), "processes[0].steady_from is None, and forward_ns has 17"),
    "no sample": (
        lambda found: found["processes"][0].update(forward_ns=[], backward_ns=[], steady_from=0),
        "processes[0].steady_from is 0, and forward_ns has 0 samples",
    ),
    "interrupted before the start": (
        lambda found: found["processes"][0].update(status="interrupted", steady_from=-1),
        "processes[0].steady_from is -1, and forward_ns has 17 samples",
    ),
    "a negative size": (at("problem", "hidden_size")(-8), "problem.hidden_size is -8, not a size above 0"),
    "no batch": (at("problem", "mini_batch")(0), "problem.mini_batch is 0, not a size above 0"),
    "a negative size of a point": (
        at("point")({"dtype": "float64", "hidden-size": -8}),
        "point.hidden-size is -8, not a size above 0",
    ),
    "negative bytes": (at("peak_memory_bytes")(-1), "peak_memory_bytes is -1, not a count"),
    "a negative count": (
        at(*FIRST, "compile", "recompilations")(-1),
        "processes[0].compile.recompilations is -1, not a count",
    ),
    "a long first call": (
        at(*FIRST, "first_call", "forward_ns")(CENTURY),
        f"processes[0].first_call.forward_ns is {CENTURY}, not {TIME}",
    ),
    "a first call that ends before it begins": (
        at(*FIRST, "first_call", "backward_ns")(-1),
        f"processes[0].first_call.backward_ns is -1, not {TIME}",
    ),
    "a loop that ends before it begins": (
        at(*FIRST, "timed_loop_ns")(-1),
        f"processes[0].timed_loop_ns is -1, not {TIME}",
    ),
    "a peak of no process": (
        lambda found: (found["processes"][0].update(peak_memory_bytes=8), found.update(peak_memory_bytes=9)),
        "peak_memory_bytes is 9, and the largest peak of the processes is 8",
    ),
    "a peak of the other kind": (
        lambda found: (found["processes"][0].update(peak_memory_bytes=8), found.update(peak_reserved_bytes=8)),
        "peak_reserved_bytes is 8, and the largest peak of the processes is None",
    ),
    "a peak of another process": (
        lambda found: [one.update(peak_memory_bytes=8 + at) for at, one in enumerate([found, *found["processes"]])],
        "peak_memory_bytes is 8, and the largest peak of the processes is 11",
    ),
    "a point of another problem": (
        at("point")({"seq-length": 3}),
        "point.seq-length is 3, and that of the problem is ",
    ),
    "a skipped result with processes": (at("status")("skipped"), "status is skipped, and the result has processes"),
    "a failed result of good processes": (at("status")("failed"), "status is failed, and every process is ok"),
    "statistics of a failed result": (
        lambda found: (found["processes"][0].update(status="failed"), found.update(status="failed")),
        "forward has an estimate, and the status of the result is failed",
    ),
    "a failed process of a good result": (
        at(*FIRST, "status")("timed_out"),
        "status is ok, and a process is timed_out",
    ),
    "no statistics of forward": (at("forward")(None), "forward is null, and the status of the result is ok"),
    "no statistics of backward": (at("backward")(None), "backward is null, and the status of the result is ok"),
    "another class of the warm-up": (
        at("warmup_class")("no_steady_state"),
        "warmup_class is 'no_steady_state', and that of the processes is 'warmup'",
    ),
    "one class of several": (
        at(*FIRST, "warmup_class")("flat"),
        "warmup_class is 'warmup', and that of the processes is 'inconsistent'",
    ),
    "the range of three processes": (
        at("forward", "ci_method")("range"),
        "forward.ci_method is 'range', not that of several processes",
    ),
    "the range of two processes, called certain": (
        lambda found: (
            found.update(restated({**found, "processes": found["processes"][:2]}))
            or found["forward"].update(confidence_level=0.95)
        ),
        "forward.confidence_level is 0.95, and that of the samples is 0.5",
    ),
    "repeated turns": (at(*FIRST, "slices")([0, 9, 9]), "processes[0].slices is [0, 9, 9], and forward_ns has 17"),
    "turns without the first iteration": (
        at(*FIRST, "slices")([2, 9]),
        "processes[0].slices is [2, 9], and forward_ns has 17 samples",
    ),
    "a cut within a turn": (
        lambda found: found["processes"][0].update(slices=[0, 4, 9], timed_from=2),
        "processes[0].timed_from is 2, and the turns after the warm-up begin at 4",
    ),
    "a wide seed": (at("problem", "seed")(1 << 64), f"problem.seed is {1 << 64}, not a number of at most 64 bits"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_no_bench_writes_is_refused_by_its_path(name: str) -> None:
    change, message = REFUSED[name]
    with pytest.raises(UsageError) as raised:
        Run.from_dict(changed(change))
    assert f"results[0].{message}" in raised.value.message


def test_a_result_that_is_there_twice_is_refused() -> None:
    plain = made()
    plain["results"].append(plain["results"][1])
    with pytest.raises(UsageError, match=r"duplicate .*results\[2\]$"):
        Run.from_dict(plain)


def test_an_interrupted_run_has_its_status() -> None:
    """Comparisons warn by the status."""
    plain = made()
    plain["plan"]["stopped_by"] = "interrupt"
    with pytest.raises(UsageError, match=r"^status is complete, and plan\.stopped_by is interrupt$"):
        Run.from_dict(plain)
    assert Run.from_dict({**plain, "status": "interrupted"})


@pytest.mark.parametrize("key", ["load_average_1m"])
@pytest.mark.parametrize("value", [float("nan"), float("inf"), 10**400])
def test_what_is_no_number_is_refused(key: str, value: float) -> None:
    plain = made()
    plain["environment"][key] = value
    with pytest.raises(UsageError, match=f"^environment.{key} is .*, not a number of at most 64 bits"):
        Run.from_dict(plain)


SOUND: dict[str, Callable[[Any], Any]] = {
    "ranks": PROCESSES(
        lambda found: [
            {**one, "index": place // 2, "rank": place % 2, "order": place} for place, one in enumerate(found)
        ]
    ),
    "a process that was cut short": lambda found: found["processes"][1].update(status="interrupted", steady_from=99),
    "a process without samples": lambda found: found["processes"][1].update(
        status="interrupted", forward_ns=[], backward_ns=None, steady_from=None
    ),
    "samples of 0": at(*FIRST, "forward_ns")([0] * 17),
    "long samples": lambda found: found["processes"][0].update(forward_ns=[CENTURY - 1] * 17, status="interrupted"),
    "a seed below 0": at("problem", "seed")(-1),
}


@pytest.mark.parametrize("name", SOUND)
def test_what_a_bench_may_write_is_read(name: str) -> None:
    plain = changed(SOUND[name])
    plain["results"][0] = restated(plain["results"][0])
    assert Run.from_dict(plain).to_dict() == plain


def test_every_reader_refuses_it(tmp_path: Path) -> None:
    """Six times each process would make any difference sure."""
    paths = [write(tmp_path / f"{level}.json", run([exactly([level, level + 9, level + 4])])) for level in (100, 102)]
    assert compare(*paths).rows[0].verdict == "inconclusive"
    for path in map(Path, paths):
        plain = json.loads(path.read_text())
        plain["results"][0]["processes"] *= 6
        path.write_text(json.dumps(plain))
    fault = "results[0].processes[3].order"
    for read in (Run.load, lambda path: compare(path, path)):
        with pytest.raises(UsageError) as raised:
            read(paths[0])
        assert f"'{paths[0]}'" in raised.value.message
        assert raised.value.message.endswith(fault)
    for words, place in (
        (["show"], "FILE"),
        (["compare", paths[0]], "BASELINE"),
        (["compare"], "BASELINE"),
        (["bench", "--resume"], "--resume"),
    ):
        done = run_cli(*words, paths[0])
        assert (done.status, done.stdout) == (2, "")
        error, hint = done.stderr.splitlines()
        assert f"'{paths[0]}' ({place}): " in error
        assert error.endswith(fault)
        assert hint.startswith("hint: ")


def places(value: Any, path: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    """Where the numbers of a document are."""
    items = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    inner = [place for key, item in items for place in places(item, (*path, key))]
    return [path] if type(value) in {int, float} else inner


def add_up(comparison: dict[str, Any]) -> None:
    """Makes numbers of an example of a comparison consistent."""
    levels = ([1000, 1010, 990], [1001, 1015, 985])
    sides = (run([exactly(times, name, peak_memory_bytes=64) for name in ("cudnn", "jit")]) for times in levels)
    found = compare(*sides, history=False).to_dict()
    # So small an error between sessions changes no time. More processes do not replace sessions.
    of_history = {"session_stddev": 0.0, "session_stderr": 1e-9, "session_degrees_of_freedom": 4.0}
    of_history |= {"history_sessions": 4, "additional_processes": None, "required_processes": None}
    found["rows"][1] |= {"basis": "history", **of_history}
    # A mean that leaves out a row, which the document does not name, is not computed again.
    found["method"]["forced"] = True
    found["geometric_mean"]["n"] = 1
    keys = ("rows", "method", "geometric_mean", "counts", "conditional_counts", "exit_code")
    comparison |= {key: found[key] for key in keys}
    comparison["basis"] = "per_capture"
    # Environments do not have the seeds of rows.
    comparison["environment_differences"][0]["key"] = "problem.seed"
    for change in (*comparison["kernels"], *comparison["categories"], comparison["device_time"]):
        change["baseline"]["total_ns"], change["candidate"]["total_ns"] = 4, 2
        for name in ("baseline", "candidate"):
            change[name]["launches"] = change[name]["count"] / comparison[name]["captures"]
        change |= {"delta_ns": -2, "ratio": 0.5, "contribution": 1.0, "p_value": 0.01, "p_value_adjusted": 0.01}
        change |= {"delta_ci_low_ns": -2.0, "delta_ci_high_ns": -2.0}
    for name in ("baseline", "candidate"):
        comparison[name]["sessions"] = 2
        [idle] = comparison[name]["idle_times"]
        comparison[name] |= {"idle_ns": idle["total_ns"], "span_ns": 2 * idle["total_ns"]}
        comparison[name]["files"] *= comparison[name]["captures"]
        idle["span_fraction"] = 0.5


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.__name__)
def test_every_number_of_every_document_has_bounds(kind: type[Document]) -> None:
    """Nothing that is called a time may be a century, and nothing may be without end."""
    made = sound_summary("x") if kind is SummaryDocument else example(kind, lambda: "x")
    made = inductor_of(lambda: "x") if kind is InductorReport else made
    plain = made | {"schema_version": "1.99"}
    if kind is Run:
        process = plain["results"][0]["processes"][0]
        process |= {
            "steady_from": 1,
            "timed_from": 1,
            "slices": [0],
            "forward_change_points": [1],
            "backward_change_points": [2],
        }
        for phase in ("forward", "backward"):
            process[f"{phase}_ns"] = process[f"{phase}_ns"][:1] * len(process[f"{phase}_ns"])
            equal = ("estimate_ns", "ci_low_ns", "ci_high_ns", "mean_ns", *ORDERED)
            plain["results"][0][phase] |= dict.fromkeys(equal, process[f"{phase}_ns"][0])
            plain["results"][0][phase] |= {"n_processes": 1, "n_samples": 2, "stddev_ns": 0, "mad_ns": 0}
            plain["results"][0][phase] |= {"n_effective": 2, "host_ns": 4.0, "launch_bound": True}
        plain["results"][0]["point"] = {}
        plain["sweep"]["growth"][0]["reason"] = None
    if kind is Comparison:
        add_up(plain)
    if kind in {Diagnosis, NoiseFloorDocument}:
        fit_noise_floor(plain["noise_floor"])
    if kind is Capture:
        plain["profiled_over_unprofiled_ci"] *= 2
    if kind is History:
        fit_history(plain)
    kind.from_dict(plain)
    found = places(plain)
    assert found or kind == Catalogue
    for path in found:
        timed = any(str(key).endswith(("_ns", "_ms")) for key in path)
        values = (CENTURY, float("nan"), float("-inf"), 1 << 64, 10**400) if timed else (float("inf"), 10**400)
        for value in values[path[-1] in SUMS :]:
            broken = json.loads(json.dumps(plain))
            parent = broken
            for key in path[:-1]:
                parent = parent[key]
            parent[path[-1]] = value
            with pytest.raises(UsageError) as raised:
                kind.from_dict(broken)
            shown = "".join(f"[{key}]" if isinstance(key, int) else f".{key}" for key in path).removeprefix(".")
            assert raised.value.message.startswith((f"{shown} is ", f"{path[-1]} is ")), raised.value.message


@pytest.mark.parametrize(("key", "value"), [("first_call_ns", -1), ("upstream_ms", -0.5), ("upstream_ms", 1e308)])
def test_a_time_of_a_generated_module_is_a_length(key: str, value: float) -> None:
    plain = inductor_of(lambda: "x")
    InductorReport.from_dict(plain)
    plain["modules"][0][key] = value
    with pytest.raises(UsageError, match=rf"^modules\[0\]\.{key} is .*, not a time from 0 to 2⁶² ns$"):
        InductorReport.from_dict(plain)


def test_unknown_keys_of_a_newer_build_are_kept_unread() -> None:
    plain = made() | {"schema_version": "1.99", "novel": {"past_ns": -(1 << 70), "again": [[]]}}
    with pytest.warns(Warning, match="novel"):
        assert Run.from_dict(plain).to_dict() == plain
    deep: Any = 1
    for _ in range(200):
        deep = [deep]
    with pytest.raises(UsageError, match=r"nested too deeply.* tool\.novel$"):
        Run.from_dict({**plain, "tool": {**plain["tool"], "novel": deep}})


@pytest.mark.parametrize("path", sorted((ROOT / "tests" / "data" / "views").glob("*.json")), ids=lambda path: path.stem)
def test_documents_of_other_tests_are_sound(path: Path) -> None:
    kind = Run if path.stem == "run" else Comparison
    assert kind.load(path).to_json()


def test_a_run_that_python_changed_is_looked_at() -> None:
    sound = run([result(processes=2)])
    sound.check()
    broken = replace(sound, results=[result(processes=0, problem=replace(sound.results[0].problem, mini_batch=0))])
    with pytest.raises(UsageError, match=r"results\[0\].problem.mini_batch is 0"):
        broken.check()
    again = replace(sound.results[0], processes=[process(0, [5, 6], None), process(0, [5, 6], None)])
    with pytest.raises(UsageError, match=r"duplicate .*results\[0\]\.processes\[1\]\.order$"):
        replace(sound, results=[again]).check()


def test_a_key_of_any_length_is_cut_in_a_message() -> None:
    for plain in (made() | {"x" * 10**6: 1}, changed(at("point")({"x" * 10**6 + "_ns": CENTURY}))):
        with pytest.raises(UsageError) as raised:
            Run.from_dict(plain)
        assert len(raised.value.message) < 300
