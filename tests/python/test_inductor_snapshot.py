"""`inductor --cuda-memory-snapshot`: what is recorded, and that recording ends. Torch's allocator is a fake."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from generated_modules import calls_of, planted

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
