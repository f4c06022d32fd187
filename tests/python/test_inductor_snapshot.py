"""`inductor --cuda-memory-snapshot`: what is recorded, and that recording ends. Torch's allocator is a fake."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from commands import run_with_facts
from conftest import FACTS
from generated_modules import calls_of, planted

from fastrnns_rs.documents.inductor_report import InductorReport
from fastrnns_rs.errors import ExitCode, MissingError
from fastrnns_rs.machine import environment
from fastrnns_rs.processes.launcher import Start
from fastrnns_rs.processes.listener import Answer
from fastrnns_rs.verbs.inductor import module_runs
from fastrnns_rs.verbs.inductor.module_files import Generated
from fastrnns_rs.verbs.inductor.request import InductorOptions

torch = pytest.importorskip("torch")
loading = pytest.importorskip("fastrnns_rs.worker.inductor.loader")
snapshot = pytest.importorskip("fastrnns_rs.worker.inductor.memory_snapshot")


class Allocator:
    """Stands in for torch's: tells what was asked of it, and how often the module had been called by then."""

    def __init__(self, module: Path, patch: pytest.MonkeyPatch) -> None:
        self.module = module
        self.seen: list[tuple[Any, ...]] = []
        self.error: BaseException | None = None
        patch.setattr(torch.cuda.memory, "_record_memory_history", self.record)
        patch.setattr(torch.cuda.memory, "_dump_snapshot", self.dump)
        patch.setattr(torch.cuda, "synchronize", lambda _device: self.seen.append(("wait", calls_of(module))))

    def record(self, enabled: str | None = "all", max_entries: int | None = None) -> None:
        self.seen.append((enabled, max_entries, calls_of(self.module)))

    def dump(self, path: str) -> None:
        self.seen.append(("dump", calls_of(self.module)))
        Path(path).write_bytes(b"pickle")
        if self.error is not None:
            raise self.error


@pytest.fixture
def allocator(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Allocator:
    return Allocator(planted(tmp_path, device="cuda:0"), monkeypatch)


def test_ten_calls_are_recorded_and_written_when_the_device_is_idle(allocator: Allocator, tmp_path: Path) -> None:
    path = tmp_path / "a.memory.pickle"
    found = snapshot.write(loading.load(str(allocator.module), "cuda:0"), str(path))
    assert found == {"memory_snapshot": True}
    assert allocator.seen == [("all", 100_000, 0), ("wait", 10), ("dump", 10), (None, None, 10)]
    assert path.read_bytes() == b"pickle"


@pytest.mark.parametrize("error", [OSError("No space left on device"), KeyboardInterrupt()])
def test_what_could_not_be_written_whole_is_not_there(
    allocator: Allocator, tmp_path: Path, error: BaseException
) -> None:
    path = tmp_path / "a.memory.pickle"
    allocator.error = error
    with pytest.raises(type(error)):
        snapshot.write(loading.load(str(allocator.module), "cuda:0"), str(path))
    assert allocator.seen[-1] == (None, None, 10)
    assert not path.exists()


def test_recording_ends_when_a_call_fails(allocator: Allocator, tmp_path: Path) -> None:
    planted(tmp_path, "raise RuntimeError('out of memory')", device="cuda:0")
    with pytest.raises(RuntimeError, match="out of memory"):
        snapshot.write(loading.load(str(allocator.module), "cuda:0"), str(tmp_path / "a"))
    assert allocator.seen == [("all", 100_000, 0), (None, None, 1)]
    assert not (tmp_path / "a").exists()


def test_a_module_for_the_cpu_is_refused_before_anything_runs(tmp_path: Path) -> None:
    module = planted(tmp_path)
    done = run_with_facts("inductor", module, "--cuda-memory-snapshot")
    assert (done.status, done.stdout) == (ExitCode.MISSING, "")
    assert done.stderr.splitlines() == [
        f"error: --cuda-memory-snapshot needs a CUDA device, and {module} was generated for the CPU",
        "hint: leave it out",
    ]
    assert calls_of(module) == 0


class Verb:
    """The verb, whose child process tells what a test says that it does."""

    def __init__(self, folder: Path, patch: pytest.MonkeyPatch, *, written: bool) -> None:
        self.folder, self.written = folder, written
        patch.setattr(environment, "probe", lambda *_, **__: FACTS)
        # The fakes' machine has no GPU.
        patch.setattr(module_runs.requirements, "check", lambda *_: None)
        patch.setattr(module_runs, "launch", self._launch)

    def _launch(self, start: Start) -> Answer:
        path = Path(start.job["memory_snapshot_path"])
        assert path.stat().st_size == 0
        if not self.written:
            return Answer({}, "died", "out of memory", "")
        path.write_bytes(b"pickle")
        start.terms.on_part({"memory_snapshot": True})
        return Answer({"status": "ok"}, "answered", None, "")

    def measure(self) -> InductorReport:
        module = Generated(path=self.folder / "m.py", graph="backward", device="cuda:0", compilation=None)
        return module_runs.measure([module], InductorOptions(memory_snapshot=True, output_dir=self.folder / "output"))


def test_the_row_says_where_it_is_by_a_name_of_module_and_time(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    report = Verb(tmp_path, monkeypatch, written=True).measure()
    (path,) = (tmp_path / "output").iterdir()
    assert report.modules[0].memory_snapshot_path == str(path)
    assert path.name.startswith("m_backward_2")
    assert path.name.endswith("Z.memory.pickle")
    assert str(path) in report.render()


def test_what_was_not_written_leaves_no_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (row,) = Verb(tmp_path, monkeypatch, written=False).measure().modules
    assert (row.status, row.reason, row.memory_snapshot_path) == ("failed", "out of memory", None)
    assert [*(tmp_path / "output").iterdir()] == []


def test_a_gpu_that_is_not_there_is_told_and_not_passed_over(tmp_path: Path) -> None:
    with pytest.raises(MissingError, match="there is none: no NVIDIA GPU was found"):
        module_runs.requirements.check(
            [Generated(path=tmp_path / "m.py", graph="forward", device="cuda:0", compilation=None)],
            FACTS,
            InductorOptions(memory_snapshot=True),
        )
