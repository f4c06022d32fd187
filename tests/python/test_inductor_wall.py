"""What the child process does around each call, in order: with a made-up module, clock, device and allocator."""

from __future__ import annotations

import gc
import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import asdict
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

import pytest
import torch
from generated_modules import calls_of, planted

from fastrnns_rs.problem.problem import Problem
from fastrnns_rs.worker.channel import Progress
from fastrnns_rs.worker.inductor import kernel_times, loader, memory_snapshot, profiled_calls, triton_kernels, wall_time
from fastrnns_rs.worker.inductor.loader import Loaded
from fastrnns_rs.worker.jobs import inductor


class Device:
    """Notes what is asked of the device and of the module, each in a word."""

    def __init__(self, patch: pytest.MonkeyPatch) -> None:
        self.log: list[str] = []
        self.benchmarked: list[dict[str, Any]] = []
        patch.setattr(torch.cuda, "synchronize", lambda device: self.log.append(f"wait {device}"))
        patch.setattr(torch.cuda, "reset_peak_memory_stats", lambda device: self.log.append(f"reset {device}"))
        patch.setattr(torch, "manual_seed", lambda seed: self.log.append(f"seed {seed}"))
        patch.setattr(wall_time.memory, "peak", lambda device: {"peak_memory_bytes": 7, "device": device})
        patch.setattr(wall_time, "CpuWallClock", self.clock)

    def clock(self, iterations: int, edges: int) -> Any:
        self.log.append(f"clock of {iterations} with {edges} edges")
        return SimpleNamespace(
            mark=lambda: self.log.append("mark"),
            end_iteration=lambda: None,
            durations_ns=lambda *_edges: [(one + 1) * 1000 for one in range(iterations)],
        )

    def module(self) -> Loaded:
        def call(args: list[Any]) -> tuple[Any, ...]:
            args.clear()
            self.log.append(f"call{' collecting' if gc.isenabled() else ''}")
            return (1,)

        def benchmark(args: Any, **counts: int) -> float:
            self.benchmarked.append({"args": args, **counts})
            return 0.002

        module: Any = ModuleType("made_up")
        module.call, module.benchmark_compiled_module = call, benchmark
        return Loaded(module, torch.device("cuda:1"), ["a", "b"])


@pytest.fixture
def device(monkeypatch: pytest.MonkeyPatch) -> Device:
    return Device(monkeypatch)


def test_each_call_is_waited_for_inside_of_its_sample(device: Device) -> None:
    """After the first call and a repeat; the module's own benchmark is asked for the same."""
    [(name, took)] = wall_time.warm_up(device.module(), 2).items()
    assert (name, took > 0) == ("first_call_ns", True)
    each = ["seed 1337", "wait cuda:1", "mark", *["call", "wait cuda:1"] * 2, "mark"]
    assert device.log == ["call collecting", "wait cuda:1", "clock of 1 with 2 edges", *each]
    device.log.clear()
    found = wall_time.measure(device.module(), 2, 3)
    assert device.log == ["reset cuda:1", "clock of 3 with 2 edges", *each, *each, *each]
    assert gc.isenabled()
    # Each sample is the time of its two calls, halved.
    assert found == {"timing_mode": "cpu_wall_per_call", "samples_ns": [500, 1000, 1500], "peak_memory_bytes": 7}
    assert wall_time.by_upstream(device.module(), 2, 3) == {"upstream_ms": 2.0}
    assert device.benchmarked == [{"args": ["a", "b"], "times": 2, "repeat": 3}]


@pytest.mark.parametrize("wanted", [(False, False), (True, False), (False, True), (True, True)])
def test_what_is_asked_for_is_done_and_kernels_come_last(
    wanted: tuple[bool, bool], device: Device, monkeypatch: pytest.MonkeyPatch
) -> None:
    done: list[Any] = []

    def noting(*what: Any, result: Any = None) -> Callable[..., Any]:
        return lambda *given, **named: done.append((*what, *given[-3:], *named.values())) or result

    @contextmanager
    def current(where: torch.device) -> Iterator[None]:
        done.append(f"{where} is current")
        yield
        done.append("no more")

    monkeypatch.setattr(inductor, "load", noting("load", result=device.module()))
    monkeypatch.setattr(kernel_times, "measure", noting("kernels", result=iter([{"name": "k"}])))
    monkeypatch.setattr(triton_kernels, "compile_here", noting("compile here"))
    monkeypatch.setattr(profiled_calls, "profile", noting("profile", result={"top": []}))
    monkeypatch.setattr(memory_snapshot, "write", lambda _loaded, path: noting("snapshot", result={})(path))
    monkeypatch.setattr(torch, "set_num_threads", noting("threads"))
    monkeypatch.setattr(torch.cuda, "device", current)
    parts: list[dict[str, Any]] = []
    phases: list[str] = []
    channel: Any = SimpleNamespace(part=parts.append, phase=phases.append)
    job = {"path": "x.py", "device": "cuda:1", "problem": None, "times": 2, "repeat": 3, "threads": 5, "upstream": True}
    job |= {"kernels": wanted[0], "all_configs": wanted[1], "architectures": ["sm_80"]}
    job |= {"trace_path": "t", "memory_snapshot_path": "s"}
    assert inductor.answer(job, channel, Progress()) == {"status": "ok"}
    some = any(wanted)
    assert done == [
        ("threads", 5),
        *[("compile here",)] * some,
        ("load", "x.py", "cuda:1"),
        "cuda:1 is current",
        ("profile", 2, 3, "t"),
        ("snapshot", "s"),
        *[("kernels", torch.device("cuda:1"), wanted[1], ["sm_80"])] * some,
        "no more",
    ]
    assert phases == ["load", "time", "profile", "memory snapshot", *["kernels"] * some]
    assert [*parts[1]] == ["first_call_ns"]
    assert {"upstream_ms": 2.0} in parts
    assert ({"kernel": {"name": "k"}} in parts) is some


@pytest.mark.parametrize("deterministic", [True, False])
def test_torch_has_the_settings_of_a_runner_while_its_module_is_measured(
    deterministic: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CUBLAS_WORKSPACE_CONFIG", "")
    monkeypatch.delenv("CUBLAS_WORKSPACE_CONFIG")
    statement = "import torch; assert torch.are_deterministic_algorithms_enabled()"
    path = planted(tmp_path, statement if deterministic else statement.replace("assert", "assert not"))
    job = dict.fromkeys(("threads", "trace_path", "memory_snapshot_path", "kernels", "all_configs", "upstream"))
    job |= {"path": str(path), "device": "cpu", "times": 1, "repeat": 1}
    job |= {"problem": asdict(Problem(mini_batch=2, deterministic=deterministic))}
    channel: Any = SimpleNamespace(part=lambda _part: None, phase=lambda _name: None)
    assert inductor.answer(job, channel, Progress()) == {"status": "ok"}
    assert os.environ.get("CUBLAS_WORKSPACE_CONFIG") == (":4096:8" if deterministic else None)
    assert not torch.are_deterministic_algorithms_enabled()
    assert calls_of(path) > 0


def test_the_inputs_are_the_same_each_time(device: Device, tmp_path: Path) -> None:
    (tmp_path / "x.py").write_text("def call(args):\n    pass\n\ndef get_args():\n    return (1, 2)\n")
    assert loader.load(str(tmp_path / "x.py"), "cpu").arguments == [1, 2]
    assert device.log == ["seed 1337"]


@pytest.mark.parametrize(
    "failure", [None, OSError("No space left on device"), KeyboardInterrupt(), RuntimeError("boom")]
)
def test_ten_calls_are_recorded_and_written_when_the_device_is_idle(
    failure: BaseException | None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each step is noted with how often the module had been called by then. One of the failures is the module's own."""
    is_own = isinstance(failure, RuntimeError)
    module = planted(tmp_path, "raise RuntimeError('boom')" if is_own else "pass", device="cuda:0")
    path = tmp_path / "a.memory.pickle"
    found: list[tuple[Any, ...]] = []

    def record(enabled: str | None = "all", max_entries: int | None = None) -> None:
        found.append((enabled, max_entries, calls_of(module)))

    def dump(place: str) -> None:
        found.append(("dump", calls_of(module)))
        Path(place).write_bytes(b"pickle")
        if failure is not None:
            raise failure

    monkeypatch.setattr(torch.cuda.memory, "_record_memory_history", record)
    monkeypatch.setattr(torch.cuda.memory, "_dump_snapshot", dump)
    monkeypatch.setattr(torch.cuda, "synchronize", lambda _device: found.append(("wait", calls_of(module))))
    loaded = loader.load(str(module), "cuda:0")
    if failure is None:
        assert memory_snapshot.write(loaded, str(path)) == {"memory_snapshot": True}
    else:
        with pytest.raises(type(failure)):
            memory_snapshot.write(loaded, str(path))
    whole = [("wait", 10), ("dump", 10), (None, None, 10)]
    assert found == [("all", 100_000, 0), *([(None, None, 1)] if is_own else whole)]
    assert path.exists() is (failure is None)
