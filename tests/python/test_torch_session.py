"""What torch's profiler leaves of a tiny model: traces, tables, timelines, and errors that are told."""

from __future__ import annotations

import gzip
import json
import resource
import sys
import warnings
from collections import Counter
from dataclasses import asdict
from pathlib import Path
from typing import Any
from unittest.mock import Mock

import pytest
import torch
import torch.profiler
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from test_torch_schedule import SCHEDULES

from fastrnns_rs.errors import FastrnnsError, MissingError
from fastrnns_rs.problem.profiler_schedule import Schedule
from fastrnns_rs.problem.torch_profiler import TorchOptions
from fastrnns_rs.worker.profile.torch_session import Cycle, TorchSession


def iterate(session: TorchSession, runner: str, iterations: int, *, fails_at: int | None = None) -> None:
    """What the loop of a child process does with a session."""
    device = session._device
    model = torch.nn.Linear(8, 4, device=device)
    x = torch.randn(3, 8, device=device)
    with session.profile(runner) as run:
        for index in range(iterations):
            with run.phase("forward"):
                y = model(x).sum()
                if index == fails_at:
                    raise KeyError(runner)
            with run.phase("backward"):
                y.backward()
            run.step()


def profiled(folder: Path, iterations: int | None = None, runner: str = "tiny", **given: Any) -> TorchSession:
    options = TorchOptions(**given)
    session = TorchSession(options, "cpu", folder, "stem")
    iterate(session, runner, options.schedule.needed if iterations is None else iterations)
    assert is_at_rest()
    return session


def is_at_rest() -> bool:
    return not torch._C._autograd._profiler_enabled()


def path_of(cycle: Cycle, kind: str = "kineto") -> Path:
    (path,) = [path for path, of in cycle.files if of == kind]
    return Path(path)


def trace(path: Path) -> dict[str, Any]:
    content = path.read_bytes()
    found: dict[str, Any] = json.loads(gzip.decompress(content) if path.suffix == ".gz" else content)
    return found


def annotations(path: Path) -> Counter[str]:
    return Counter(event["name"] for event in trace(path)["traceEvents"] if event.get("cat") == "user_annotation")


def recorded(cycle: Cycle) -> dict[str, int]:
    """What the trace of a cycle is annotated with."""
    phases = dict.fromkeys(["## forward ##", "## backward ##"], len(cycle.iterations))
    return phases | {f"ProfilerStep#{iteration}": 1 for iteration in cycle.iterations}


def names(table: str) -> list[str]:
    """The operators of a table, in its order."""
    rule, _, body = table.partition("\n")
    rows = body.split(rule)[1].strip("\n").splitlines()
    width = len(rule.split()[0])
    return [row[:width].strip() for row in rows]


@settings(max_examples=30, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(schedule=SCHEDULES, iterations=st.integers(1, 15))
def test_traces_hold_the_recorded_iterations_and_no_others(schedule: Schedule, iterations: int, tmp_path: Path) -> None:
    session = profiled(tmp_path, iterations, schedule=schedule)
    assert [cycle.iterations for cycle in session.results] == schedule.cycles(iterations)
    for cycle in session.results:
        path = tmp_path / f"stem.tiny.{cycle.index}.json.gz"
        assert path_of(cycle) == path
        assert Path(trace(path)["traceName"]).name == path.with_suffix("").name
        assert annotations(path) == recorded(cycle)


@pytest.mark.parametrize("handler", [None, "tensorboard"])
def test_a_trace_is_written_to_a_folder_whatever_its_name(handler: str | None, tmp_path: Path) -> None:
    """Torch writes the name into the trace as it is."""
    folder = tmp_path / 'a "quoted" and a back\\slash'
    folder.mkdir()
    (cycle,) = profiled(folder, on_trace_ready=handler and f"{handler}:{folder}").results
    assert path_of(cycle).parent == folder
    assert annotations(path_of(cycle)) == recorded(cycle)


@pytest.mark.parametrize("key", [None, "cpu_time_total", "count", "self_cpu_memory_usage", "flops"])
def test_tables_are_sorted_and_cut_as_asked(key: str | None, tmp_path: Path) -> None:
    """By the CPU's own time without asking."""

    def cycle(limit: int) -> Cycle:
        return profiled(tmp_path, sort_by=key, profile_memory=True, with_flops=True, row_limit=limit).results[0]

    whole = cycle(-1)
    values = [row[key or "self_cpu_time_total"] for row in whole.averages]
    assert values == sorted(values, reverse=True)
    assert any(values)
    shown = [name.removesuffix("...") for name in names(whole.table)]
    assert all(row["name"].startswith(name) for row, name in zip(whole.averages, shown, strict=True))
    assert len(names(cycle(5).table)) == len(cycle(5).averages) == 5 < len(values)


def test_options_add_columns_and_events(tmp_path: Path) -> None:
    (plain,) = profiled(tmp_path, row_limit=-1).results
    counts = {row["name"]: row["count"] for row in plain.averages}
    assert {row["device"] for row in plain.averages} == {"cpu"}
    assert counts["## forward ##"] == counts["aten::addmm"] == 3
    assert json.loads(json.dumps(asdict(plain)))["averages"] == plain.averages
    given = {"with_flops": True, "profile_memory": True, "group_by_stack": 4, "group_by_input_shape": True}
    (full,) = profiled(tmp_path, row_limit=-1, **given).results
    columns = ("FLOPs", "Self CPU Mem", "CPU Mem", "Input Shapes", "Source Location")
    assert [(column in plain.table, column in full.table) for column in columns] == [(False, True)] * 5
    assert len(full.averages) > len(plain.averages)
    (product,) = [row for row in full.averages if row["name"] == "aten::addmm"]
    assert product["input_shapes"][1] == [3, 8]
    assert any("linear.py" in call for call in product["stack"])
    assert len(product["stack"]) == 4
    events = trace(path_of(full))["traceEvents"]
    assert {"[memory]", "nn.Module: Linear_0"} <= {event["name"] for event in events}
    assert [[4], [3, 8], [8, 4], [], []] in [event.get("args", {}).get("Input Dims") for event in events]


def test_the_memory_timeline_is_written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    session = profiled(tmp_path, memory_timeline=True, schedule=Schedule(active=2, repeat=2))
    for cycle in session.results:
        assert path_of(cycle, "memory_timeline") == tmp_path / f"stem.tiny.{cycle.index}.memory.json"
        times, sizes = json.loads(path_of(cycle, "memory_timeline").read_text())
        assert len(times) == len(sizes) > 0
        assert times == sorted(times)
        assert max(map(sum, sizes)) > 0
        assert annotations(path_of(cycle))["## forward ##"] == 2
    assert not any("export_memory_timeline" in text for text in session.warnings)
    monkeypatch.delattr(torch.profiler._KinetoProfile, "export_memory_timeline")
    with pytest.raises(MissingError, match="memory_timeline"):
        TorchSession(TorchOptions(memory_timeline=True), "cpu", tmp_path, "stem")


def test_chrome_traces_go_where_they_are_sent(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    (cycle,) = profiled(tmp_path / "own", on_trace_ready="chrome:~/new/traces", memory_timeline=True).results
    assert path_of(cycle) == tmp_path / "new" / "traces" / "stem.tiny.0.json.gz"
    assert path_of(cycle, "memory_timeline").parent == tmp_path / "own"
    assert annotations(path_of(cycle))["## forward ##"] == 3


def test_tensorboard_finds_traces_by_runner_and_cycle(tmp_path: Path) -> None:
    handler = f"tensorboard:{tmp_path}/logs[1]"
    for _ in range(2):
        session = profiled(tmp_path, schedule=Schedule(repeat=2), on_trace_ready=handler, runner="a[b]")
    assert len(list((tmp_path / "logs[1]").iterdir())) == 4, "an older trace is left alone"
    for cycle in session.results:
        path = path_of(cycle)
        assert path.name.startswith("stem.a_b_~")
        assert f".{cycle.index}.1" in path.name
        assert path.name.endswith(".pt.trace.json")
        assert annotations(path) == recorded(cycle)


@pytest.fixture
def module(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    path = tmp_path / "users" / "users_module.py"
    path.parent.mkdir()
    path.write_text("""
import sys, warnings
SEEN = []
def keeps(profiler):
    warnings.warn("mine")
    SEEN.append(profiler.key_averages())
    profiler.export_chrome_trace(f"{profiler.step_num}.json")
def raises(profiler): raise ValueError("it is\\nso")
def leaves(profiler): sys.exit("bye")
def is_stopped(profiler): raise KeyboardInterrupt
class Handlers:
    @staticmethod
    def keeps(profiler): SEEN.append(profiler)
""")
    monkeypatch.syspath_prepend(path.parent)
    monkeypatch.delitem(sys.modules, "users_module", raising=False)
    monkeypatch.chdir(path.parent)
    return path


def test_a_function_takes_the_trace(module: Path, tmp_path: Path) -> None:
    name = "users_module:keeps"
    session = profiled(tmp_path, schedule=Schedule(repeat=2), on_trace_ready=name, memory_timeline=True)
    for cycle in session.results:
        assert cycle.handed_to == name
        assert [kind for _, kind in cycle.files] == ["memory_timeline"]
        assert names(cycle.table)
    assert session.warnings.count("mine") == 1
    found = [annotations(path)["## forward ##"] for path in module.parent.glob("*.json")]
    assert found == [3, 3]
    assert profiled(tmp_path, on_trace_ready="users_module:Handlers.keeps").results[0].handed_to


@pytest.mark.parametrize("warmup", [0, 1])
@pytest.mark.parametrize(
    ("name", "error", "reason"),
    [
        ("raises", FastrnnsError, "^users_module:raises failed: ValueError: it is"),
        ("leaves", FastrnnsError, "^users_module:leaves failed: SystemExit: bye"),
        ("is_stopped", KeyboardInterrupt, "^$"),
    ],
)
def test_a_function_that_fails_is_told(
    name: str, error: type[BaseException], reason: str, warmup: int, module: Path, tmp_path: Path
) -> None:
    schedule = Schedule(wait=0, warmup=warmup, active=1, repeat=2)
    with pytest.raises(error, match=reason) as caught:
        profiled(tmp_path, on_trace_ready=f"users_module:{name}", schedule=schedule)
    assert "\n" not in str(caught.value)
    assert is_at_rest()
    profiled(tmp_path)


@pytest.mark.parametrize("handler", [None, "chrome:{}/traces", "tensorboard:{}/traces"])
def test_a_folder_that_cannot_be_made_is_told_first(handler: str | None, tmp_path: Path) -> None:
    file = tmp_path / "file"
    file.touch()
    options = TorchOptions(on_trace_ready=None if handler is None else handler.format(file))
    with pytest.raises(FastrnnsError, match=r"cannot write .*file.*: Not a directory"):
        TorchSession(options, "cpu", tmp_path if handler else file / "own", "stem")


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({}, "torch could not write the trace"),
        ({"on_trace_ready": "tensorboard:{}/logs"}, "torch could not write the trace"),
        ({"memory_timeline": True}, "cannot write .*: File too large"),
    ],
)
def test_a_full_disk_is_told(given: dict[str, Any], message: str, tmp_path: Path) -> None:
    given = {key: value.format(tmp_path) if isinstance(value, str) else value for key, value in given.items()}
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    # No file may grow any larger; Python ignores the signal that comes with it.
    resource.setrlimit(resource.RLIMIT_FSIZE, (512, hard))
    try:
        with pytest.raises(FastrnnsError, match=message) as caught:
            profiled(tmp_path, **given)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
    assert "\n" not in str(caught.value)
    assert is_at_rest()
    profiled(tmp_path)


def test_a_trace_that_cannot_be_compressed_leaves_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("shutil.copyfileobj", Mock(side_effect=OSError(28, "No space left on device")))
    with pytest.raises(FastrnnsError, match="No space left on device"):
        profiled(tmp_path)
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("fails_at", [0, 1, 2, 4])
def test_a_runner_that_fails_is_told_and_leaves_torch_as_it_was(fails_at: int, tmp_path: Path) -> None:
    session = TorchSession(TorchOptions(schedule=Schedule(wait=0, active=2, repeat=0)), "cpu", tmp_path, "stem")
    with pytest.raises(KeyError, match="broken"):
        iterate(session, "broken", 9, fails_at=fails_at)
    assert is_at_rest()
    assert [cycle.iterations for cycle in session.results] == [[1, 2]] * (fails_at > 3), "only what is whole"
    iterate(session, "sound", 3)
    assert session.results[-1].iterations == [1, 2]
    assert annotations(path_of(session.results[-1]))["## forward ##"] == 2


def test_names_of_runners_do_not_collide(tmp_path: Path) -> None:
    session = TorchSession(TorchOptions(schedule=Schedule(wait=0, warmup=1, active=1)), "cpu", tmp_path, "stem")
    runners = ["a/b", "a b", "a_b", "a\tb", "..", ".", "../a", "模型", "模", "x" * 300, "x" * 301, "a.0", "a", "-"]
    for runner in runners:
        iterate(session, runner, 2)
    paths = {path_of(cycle) for cycle in session.results}
    # One that comes twice keeps both.
    iterate(session, "-", 2)
    assert [(cycle.index, cycle.iterations) for cycle in session.results[-2:]] == [(0, [1]), (1, [1])]
    paths.add(path_of(session.results[-1]))
    assert len(paths) == len(runners) + 1 == len(list(tmp_path.iterdir()))
    assert all(path.parent == tmp_path and path.is_file() for path in paths)
    # Legible names stay as they are; the dot of `a.0` could be that of a cycle, so it goes.
    names = {path.name for path in paths}
    assert {"stem.a_b.0.json.gz", "stem.a.0.json.gz"} < names
    assert "stem.a.0.0.json.gz" not in names


def test_warnings_are_kept_and_not_printed(tmp_path: Path, recwarn: pytest.WarningsRecorder) -> None:
    session = profiled(tmp_path, schedule=Schedule(warmup=0, repeat=2), with_modules=True)
    assert not recwarn.list
    assert [text for text in session.warnings if "won't be using warmup" in text]
    assert sum("with_modules is deprecated" in text for text in session.warnings) <= 1
    assert not [text for text in session.warnings if "clears events" in text]
    # Those of the runner are its own.
    with session.profile("tiny") as run, run.phase("forward"), pytest.warns(UserWarning, match="the runner's"):
        warnings.warn("the runner's", stacklevel=1)
    assert "the runner's" not in session.warnings


def test_a_device_that_stops_by_itself_ends_its_cycle(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    if not hasattr(torch.autograd, "_is_kineto_stopped"):
        pytest.skip(f"torch {torch.__version__} does not look whether a device has stopped")
    session = TorchSession(TorchOptions(schedule=Schedule(repeat=2)), "cpu", tmp_path, "stem")
    stopped = {"now": False}
    monkeypatch.setattr(torch.autograd, "_is_kineto_stopped", lambda: stopped["now"])
    with session.profile("tiny") as run:
        # torch looks only where a device is traced.
        run._profiler.use_device = "cuda"
        for index in range(10):
            stopped["now"] = index == 2
            with run.phase("forward"):
                torch.ones(3).sum()
            run.step()
    assert [cycle.iterations for cycle in session.results] == [[], [7, 8, 9]]
    assert any("stopped early" in text for text in session.warnings)
    assert is_at_rest()


def test_the_allocators_history_is_written_and_ended(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    calls: list[Any] = []
    monkeypatch.setattr("torch.cuda.memory._record_memory_history", lambda enabled, **_: calls.append(enabled))

    def dump(path: str) -> None:
        calls.append("dump")
        Path(path).touch()

    monkeypatch.setattr("torch.cuda.memory._dump_snapshot", dump)
    options = TorchOptions(activities=("cpu",), memory_snapshot=True, schedule=Schedule(repeat=2))
    session = TorchSession(options, "cuda", tmp_path, "stem")
    monkeypatch.setattr(session, "_device", "cpu")
    iterate(session, "a/b", 10)
    assert calls == ["all", "dump", None]
    assert [len(cycle.files) for cycle in session.results] == [1, 2]
    assert path_of(session.results[-1], "memory_snapshot").name.endswith(".snapshot.pickle")
    calls.clear()
    with pytest.raises(KeyError):
        iterate(session, "broken", 10, fails_at=3)
    assert calls == ["all", None]


@pytest.mark.gpu(emulated="quick")
def test_kernels_are_traced(tmp_path: Path) -> None:
    session = TorchSession(TorchOptions(schedule=Schedule(repeat=2)), "cuda", tmp_path, "stem")
    iterate(session, "tiny", 10)
    for cycle in session.results:
        assert annotations(path_of(cycle))["## backward ##"] == 3
        assert "Self CUDA time total" in cycle.table
        assert cycle.averages[0]["self_device_time_total"] > 0
        assert {row["device"] for row in cycle.averages} == {"cpu", "cuda"}
    alone = TorchSession(TorchOptions(activities=("cuda",)), "cuda:0", tmp_path, "alone")
    iterate(alone, "tiny", 5)
    for cycle, with_host in ((session.results[0], True), (alone.results[0], False)):
        kinds = Counter(event.get("cat") for event in trace(path_of(cycle))["traceEvents"])
        assert kinds["kernel"] >= 3
        assert bool(kinds["cpu_op"]) is with_host


@pytest.mark.gpu(emulated="quick")
@pytest.mark.parametrize("device", ["cuda", "cuda:0"])
def test_memory_of_the_device_is_written(device: str, tmp_path: Path) -> None:
    import pickle

    session = TorchSession(TorchOptions(memory_timeline=True, memory_snapshot=True), device, tmp_path, "stem")
    iterate(session, "tiny", 5)
    (cycle,) = session.results
    times, sizes = json.loads(path_of(cycle, "memory_timeline").read_text())
    assert len(times) == len(sizes) > 0
    assert max(map(sum, sizes)) > 0
    snapshot = pickle.loads(path_of(cycle, "memory_snapshot").read_bytes())
    actions = [entry["action"] for entries in snapshot["device_traces"] for entry in entries]
    assert "alloc" in actions
    entries = len(torch.cuda.memory._snapshot()["device_traces"][0])
    torch.empty(1 << 20, device=device)
    assert len(torch.cuda.memory._snapshot()["device_traces"][0]) <= entries, "the history is off"
