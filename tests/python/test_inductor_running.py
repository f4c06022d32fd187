"""From what processes tell of modules to the report: with pretended workers."""

from __future__ import annotations

import errno
import json
import re
import tempfile
from collections.abc import Callable, Sequence
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any
from unittest.mock import Mock

import numpy as np
import pytest
from conftest import FACTS
from jsonschema import Draft202012Validator
from test_inductor_finding import module

from fastrnns_rs import InductorReport
from fastrnns_rs.documents import file_names
from fastrnns_rs.documents.json_schema import json_schema
from fastrnns_rs.errors import MissingError, UsageError
from fastrnns_rs.machine import environment
from fastrnns_rs.problem.problem import Problem
from fastrnns_rs.processes.launcher import Start
from fastrnns_rs.processes.listener import Answer
from fastrnns_rs.verbs.inductor import module_runs
from fastrnns_rs.verbs.inductor.module_files import find
from fastrnns_rs.verbs.inductor.output_files import Places, reserve_places
from fastrnns_rs.verbs.inductor.request import InductorOptions
from fastrnns_rs.views.inductor_report import lines

Worker = Callable[[dict[str, Any], Callable[[dict[str, Any]], None]], Answer]
Measure = Callable[..., tuple[InductorReport, list[dict[str, Any]]]]
DONE = Answer({"status": "ok"}, "answered", None, "")
SAMPLES = [1000, 1010, 990, 1005, 1200, 995, 1001, 1002, 1003, 998]
KERNEL = {
    "name": "triton_poi_fused_add_0",
    "key": "cabcdefghijklmnop",
    "category": "pointwise",
    "timing_mode": "cuda_events_cold_l2",
    "samples_ns": [2000, 2000, 4000],
    "num_gb": 0.001,
    "device_gb_per_s": 1000.0,
    "registers": 16,
    "spills": 0,
    "shared_memory_bytes": 0,
    "config": "XBLOCK: 128, num_warps: 4",
    "chosen": True,
    "reason": None,
}

OPERATION = {"name": "add", "category": "operator", "count": 1, "total_ns": 1}


def timed(job: dict[str, Any], on_part: Callable[[dict[str, Any]], None]) -> Answer:
    """What a worker tells that only times."""
    on_part({})
    on_part({"first_call_ns": 5_000_000})
    on_part({"timing_mode": "cpu_wall_per_call", "samples_ns": SAMPLES, "peak_memory_bytes": 7_000_000})
    if job["upstream"]:
        on_part({"upstream_ms": 0.001})
    return DONE


def saying(*parts: dict[str, Any], answer: Answer = DONE, of: str = "") -> Worker:
    """A worker that times and tells these parts too, of modules whose names end so."""

    def worker(job: dict[str, Any], on_part: Callable[[dict[str, Any]], None]) -> Answer:
        timed(job, on_part)
        for part in parts if job["path"].endswith(of) else ():
            on_part({**part})
        return answer

    return worker


@pytest.fixture
def measure(monkeypatch: pytest.MonkeyPatch) -> Measure:
    """A report by a pretended worker, and what each of its processes was told."""

    def measured(
        paths: Sequence[Path], worker: Worker = timed, gpus: int = 0, **asked: Any
    ) -> tuple[InductorReport, list[dict[str, Any]]]:
        given: list[dict[str, Any]] = []

        def launch(start: Start) -> Answer:
            given.append(start.job)
            return worker(start.job, start.terms.on_part)

        monkeypatch.setattr(module_runs, "launch", launch)
        facts = replace(FACTS, cuda_device_count=gpus, no_cuda_reason=None if gpus else FACTS.no_cuda_reason)
        monkeypatch.setattr(environment, "probe", lambda *_, **__: facts)
        return module_runs.measure(find(paths), InductorOptions(**asked)), given

    return measured


def test_a_row_describes_its_samples(measure: Measure, tmp_path: Path) -> None:
    report, [job] = measure([module(tmp_path / "x.py", "['3_backward']")], times=3, repeat=10)
    [row] = report.modules
    assert (row.path, row.graph, row.device, row.status) == (str(tmp_path / "x.py"), "backward", "cpu", "ok")
    assert (row.times, row.repeat, row.samples_ns, row.first_call_ns) == (3, 10, [SAMPLES], 5_000_000)
    wall = row.wall
    assert wall.median_ns == np.median(SAMPLES)
    assert (wall.n_samples, wall.n_processes) == (10, 1)
    assert wall.ci_low_ns < wall.estimate_ns < wall.ci_high_ns
    assert (row.upstream_ms, row.peak_memory_bytes) == (0.001, 7_000_000)
    assert (job["times"], job["repeat"], job["kernels"], job["trace_path"]) == (3, 10, False, None)
    assert [one.code for one in report.warnings] == ["one_process"]
    text = "\n".join(one.text for one in lines(report, 200))
    [heads, shown] = text.splitlines()
    assert " ".join(heads.split()) == "module graph device µs 95 % CI upstream µs first ms peak MiB samples"
    assert " ".join(shown.split()) == "x 3 backward cpu 1.00 - 1.00 5.00 6.68 10 of 3 calls"
    plain = report.to_dict()
    named = InductorReport.from_dict({**plain, "modules": [{**plain["modules"][0], "runner": "r"}]})
    assert [line.split()[0] for line in named.render().splitlines()] == ["runner", "r"]


def test_modules_of_a_runner_are_measured_with_its_problem(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    problem = Problem(mini_batch=2, deterministic=True)
    of_runner = [replace(one, problem=problem) for one in find([module(tmp_path / "x.py")])]
    jobs: list[dict[str, Any]] = []
    monkeypatch.setattr(module_runs, "launch", lambda start: jobs.append(start.job) or DONE)
    for modules in (of_runner, find([tmp_path / "x.py"])):
        module_runs.measure(modules, InductorOptions(), facts=FACTS)
    assert [job["problem"] for job in jobs] == [asdict(problem), None]


def test_the_document_is_what_its_schema_says(measure: Measure, tmp_path: Path) -> None:
    spills = {**KERNEL, "samples_ns": [], "chosen": None, "reason": "it spills", "num_gb": None}
    worker = saying({"kernel": {**KERNEL}}, {"kernel": spills})
    report, [job] = measure([module(tmp_path / "x.py")], worker, all_configs=True)
    assert job["all_configs"]
    plain = json.loads(report.render("json"))
    Draft202012Validator(json_schema(InductorReport, "x")).validate(plain)
    assert InductorReport.from_dict(plain) == report
    kernel, without = report.modules[0].kernels
    assert kernel.time.median_ns == 2000
    # 0.001 GB, which are a million bytes, in 2 µs: 500 GB/s, half of what the memory can do.
    assert kernel.bandwidth_gb_per_s == pytest.approx(500)
    assert kernel.bandwidth_fraction == pytest.approx(0.5)
    assert (without.time, without.bandwidth_gb_per_s, without.reason) == (None, None, "it spills")
    assert all(part in report.render() for part in (KERNEL["name"], "* XBLOCK: 128", "50.0 %", "it spills"))
    with pytest.raises(UsageError, match="'tabel' \\(format\\)"):
        report.render("tabel")
    with pytest.raises(UsageError, match="schema_version"):
        InductorReport.from_dict({**plain, "schema_version": "2.0"})


def test_several_processes_give_the_interval_between_them(measure: Measure, tmp_path: Path) -> None:
    levels = iter([1000, 1100, 900, 1050, 950])

    def worker(job: dict[str, Any], on_part: Callable[[dict[str, Any]], None]) -> Answer:
        level = next(levels)
        on_part({"samples_ns": [level] * 10, "timing_mode": "x"} | ({"upstream_ms": 1.0} if job["upstream"] else {}))
        return DONE

    report, jobs = measure([module(tmp_path / "x.py")], worker, processes=5, kernels=True, all_configs=True)
    wall = report.modules[0].wall
    assert (wall.n_processes, wall.n_samples) == (5, 50)
    assert wall.ci_low_ns < 1000 < wall.estimate_ns * 1.2
    assert report.warnings == []
    assert [(job["upstream"], job["kernels"], job["all_configs"]) for job in jobs] == [(True,) * 3] + [(False,) * 3] * 4


@pytest.mark.parametrize(
    ("answer", "status"),
    [
        (Answer({"status": "failed", "reason": "boom"}, "answered", "boom", ""), "failed"),
        (Answer({}, "died", "the process was killed by signal 11 (SIGSEGV)", ""), "failed"),
        (Answer({"status": "interrupted"}, "timed_out", "no result after 1 s", ""), "timed_out"),
    ],
)
def test_what_fails_costs_its_row_and_keeps_what_was_measured(
    answer: Answer, status: str, measure: Measure, tmp_path: Path
) -> None:
    def worker(job: dict[str, Any], on_part: Callable[[dict[str, Any]], None]) -> Answer:
        if job["path"].endswith("good.py"):
            return timed(job, on_part)
        if job["path"].endswith("late.py"):
            timed(job, on_part)
        return answer

    paths = [module(tmp_path / f"{name}.py") for name in ("bad", "late", "good")]
    report, _ = measure(paths, worker)
    bad, late, good = report.modules
    assert not report.ok
    assert (bad.status, late.status, good.status) == (status, status, "ok")
    assert bad.reason == late.reason == answer.reason
    assert (bad.wall, bad.samples_ns) == (None, [])
    assert late.wall == good.wall
    assert f"{status.replace('_', ' ')}: {answer.reason}" in report.render()

    def fails_later(job: dict[str, Any], on_part: Callable[[dict[str, Any]], None]) -> Answer:
        return timed(job, on_part) if job["upstream"] else answer

    report, jobs = measure(paths[:1], fails_later, processes=3)
    assert len(jobs) == 2
    [row] = report.modules
    assert (row.status, row.reason, row.samples_ns) == (status, f"process 2: {answer.reason}", [SAMPLES])


def test_a_module_that_changes_between_processes_fails(measure: Measure, tmp_path: Path) -> None:
    def worker(job: dict[str, Any], on_part: Callable[[dict[str, Any]], None]) -> Answer:
        if not job["upstream"]:
            Path(job["path"]).write_text("x = 1")
        return timed(job, on_part)

    [row] = measure([module(tmp_path / "x.py")], worker, processes=3)[0].modules
    assert (row.reason, row.samples_ns) == ("process 2: x.py changed during the measurement", [SAMPLES])


@pytest.mark.parametrize(
    "answer",
    [Answer({}, "interrupted", "interrupted", ""), KeyboardInterrupt()],
    ids=["ctrl-c in an answer", "ctrl-c before an answer"],
)
def test_a_stop_keeps_what_was_measured_and_leaves_no_empty_file(
    answer: Answer | BaseException, measure: Measure, tmp_path: Path
) -> None:
    def worker(job: dict[str, Any], on_part: Callable[[dict[str, Any]], None]) -> Answer:
        timed(job, on_part)
        if job["path"].endswith("a.py"):
            return DONE
        if isinstance(answer, BaseException):
            raise answer
        return answer

    paths = [module(tmp_path / f"{name}.py") for name in "abc"]
    with pytest.raises(module_runs.Interrupted) as raised:
        measure(paths, worker, profile=True, output_dir=tmp_path / "out")
    rows = [(one.status, one.samples_ns) for one in raised.value.report.modules]
    assert rows == [("ok", [SAMPLES]), ("interrupted", [SAMPLES])]
    assert list((tmp_path / "out").iterdir()) == []


def test_a_killed_process_leaves_no_part_of_a_trace(measure: Measure, tmp_path: Path) -> None:
    def worker(job: dict[str, Any], _on_part: Callable[[dict[str, Any]], None]) -> Answer:
        trace = Path(job["trace_path"])
        folder = Path(tempfile.mkdtemp(prefix=file_names.unfinished(trace.name), dir=trace.parent))
        (folder / "trace.json").write_text("{")
        return Answer({}, "interrupted", "interrupted", "")

    with pytest.raises(module_runs.Interrupted):
        measure([module(tmp_path / "a.py")], worker, profile=True, output_dir=tmp_path / "out")
    assert list((tmp_path / "out").iterdir()) == []


def test_a_process_that_cannot_be_started_costs_its_own_row(measure: Measure, tmp_path: Path) -> None:
    """The command ended without the rows before, which may have taken hours."""
    refused = ["b.py"]

    def worker(job: dict[str, Any], on_part: Callable[[dict[str, Any]], None]) -> Answer:
        if job["path"].endswith(tuple(refused)):
            raise OSError(errno.EAGAIN, "Resource temporarily unavailable")
        return timed(job, on_part)

    paths = [module(tmp_path / f"{name}.py") for name in "abc"]
    asked = {"profile": True, "output_dir": tmp_path / "out"}
    report, _ = measure(paths, worker, **asked)
    assert [one.status for one in report.modules] == ["ok", "failed", "ok"]
    assert "Resource temporarily unavailable" in str(report.modules[1].reason)
    assert list((tmp_path / "out").iterdir()) == []
    refused.append("a.py")
    with pytest.raises(OSError, match="unavailable"):
        measure(paths, worker, **asked)


def test_ctrl_c_between_two_steps_loses_no_row(
    measure: Measure, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module_runs, "reserve_places", Mock(side_effect=[Places(), KeyboardInterrupt]))
    with pytest.raises(module_runs.Interrupted) as raised:
        measure([module(tmp_path / f"{name}.py") for name in "abc"])
    assert [one.status for one in raised.value.report.modules] == ["ok", "interrupted"]


@pytest.mark.parametrize(
    "said",
    [
        *({"samples_ns": "x"}, {"samples_ns": [1, "x"]}, {"samples_ns": 5}, {"first_call_ns": "abc"}),
        *({"timing_mode": 7}, {"upstream_ms": float("nan")}, {"upstream_ms": -1.0}, {"peak_memory_bytes": [1]}),
        *({"kernel": {"name": "x"}}, {"kernel": {**KERNEL, "samples_ns": "x"}}, {"kernel": {}}),
        *({"peak_memory_bytes": -7}, {"upstream_ms": json.loads("[" * 600 + "]" * 600)}),
        *({"top": 7}, {"top": [], "runs": 0}, {"top": [], "runs": "x", "operations": [{}]}),
        {"top": [], "runs": -3, "operations": [OPERATION]},
        {"top": [], "runs": 1, "operations": [{**OPERATION, "name": 5}]},
        {"top": [], "runs": 1, "operations": [{**OPERATION, "total_ns": float("nan")}]},
    ],
)
def test_what_a_module_writes_to_our_pipe_costs_its_own_row(
    said: dict[str, Any], measure: Measure, tmp_path: Path
) -> None:
    paths = [module(tmp_path / f"{name}.py") for name in ("bad", "good")]
    worker = saying({"kernels": 7}, said, of="bad.py")
    report, _ = measure(paths, worker, profile="top" in said, output_dir=tmp_path / "out")
    bad, good = report.modules
    assert (good.status, good.samples_ns) == ("ok", [SAMPLES])
    assert (bad.status, bad.reason) == ("failed", "what its process told cannot be understood")
    assert [one.name for one in bad.kernels if one.time is not None] == []
    Draft202012Validator(json_schema(InductorReport, "x")).validate(json.loads(report.render("json")))
    assert "top" not in said or list((tmp_path / "out").iterdir()) == []


def test_keys_without_end_give_a_module_no_more_time(measure: Measure, tmp_path: Path) -> None:
    new: list[Any] = []

    def worker(job: dict[str, Any], on_part: Callable[[dict[str, Any]], None]) -> Answer:
        new.extend(on_part({f"{place}": 0}) for place in range(1000))  # type: ignore[func-returns-value]
        return timed(job, on_part)

    report, _ = measure([module(tmp_path / "x.py")], worker)
    assert (len(new), sum(new), new[-1]) == (1000, sum(new[:100]), False)
    assert len(report.modules) == 1


@pytest.mark.parametrize("written", [True, False])
def test_a_snapshot_is_named_or_leaves_no_file(measure: Measure, tmp_path: Path, *, written: bool) -> None:
    def worker(job: dict[str, Any], on_part: Callable[[dict[str, Any]], None]) -> Answer:
        path = Path(job["memory_snapshot_path"])
        assert path.stat().st_size == 0
        if not written:
            return Answer({}, "died", "out of memory", "")
        path.write_bytes(b"pickle")
        on_part({"memory_snapshot": True})
        return timed(job, on_part)

    paths = [module(tmp_path / "m.py", "['0_backward']", device="cuda:1")]
    report, [job] = measure(paths, worker, gpus=2, memory_snapshot=True, output_dir=tmp_path / "out")
    [row], left = report.modules, list((tmp_path / "out").iterdir())
    assert job["device"] == row.device == "cuda:1"
    assert [str(path) for path in left] == [row.memory_snapshot_path] * written
    assert (row.status, row.reason) == (("ok", None) if written else ("failed", "out of memory"))
    if written:
        assert re.fullmatch(r"m_backward_2.*Z\.memory\.pickle", left[0].name)
        assert str(left[0]) in report.render().replace("\n  ", "")


def test_a_name_that_is_taken_is_not_written_over(tmp_path: Path) -> None:
    stem = "é" * 90 + "\x1b\n" + "x" * 90
    [one] = find([module(tmp_path / "module.py")])
    named = replace(one, path=tmp_path / f"{stem}.py")
    asked = InductorOptions(profile=True, memory_snapshot=True, output_dir=tmp_path / "out")
    found = [reserve_places(named, asked) for _ in range(3)]
    traces = {places.trace for places in found}
    assert len(traces) == 3
    assert all(path is not None and path.name.isprintable() and len(path.name.encode()) < 255 for path in traces)
    for places in found:
        places.drop_empty()
    assert list((tmp_path / "out").iterdir()) == []


@pytest.mark.parametrize(
    ("device", "gpus", "message"),
    [
        ("cuda:0", 0, "no NVIDIA GPU was found"),
        ("cuda", 0, "no NVIDIA GPU was found"),
        ("cuda:2", 2, "this machine has 2 CUDA devices"),
        ("xpu:0", 1, r"\bxpu:0\b"),
    ],
)
def test_a_device_that_is_not_there_is_refused_before_anything_runs(
    device: str, gpus: int, message: str, measure: Measure, tmp_path: Path
) -> None:
    paths = [module(tmp_path / name, device=device) for name in ("a.py", "b.py")]
    with pytest.raises(MissingError, match=message) as raised:
        measure(paths, lambda *_: pytest.fail("it ran"), gpus=gpus)
    assert str(tmp_path / "a.py") in raised.value.message
    report, [job] = measure([*paths, module(tmp_path / "c.py")], gpus=gpus)
    assert job["path"] == str(tmp_path / "c.py")
    assert [one.status for one in report.modules] == ["failed", "failed", "ok"]
    assert re.search(message, report.modules[1].reason)
    assert report.modules[1].reason.count(str(tmp_path / "b.py")) == 1


def test_hostile_names_do_not_reach_the_terminal(measure: Measure, tmp_path: Path) -> None:
    worker = saying(
        {"kernel": {**KERNEL, "name": "triton_\x1b[2J\n", "config": "\x1b]0;x\x07"}},
        {"kernel": {**KERNEL, "samples_ns": [], "reason": "\x1b[2J"}},
        {"memory_snapshot": True},
        answer=Answer({"status": "failed"}, "answered", "\x1b[2J", ""),
    )
    path = module(tmp_path / "a\x1b[31m.py", device="cuda:0")
    report, _ = measure([path], worker, gpus=1, kernels=True, memory_snapshot=True, output_dir=tmp_path / "o\x1b[2J")
    shown = report.render()
    assert "\x1b" not in shown
    assert "\\x1b[2J\\n" in shown
