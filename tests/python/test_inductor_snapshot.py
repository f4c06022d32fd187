"""`inductor --cuda-memory-snapshot`: what is recorded, and that recording ends. Torch's allocator is a fake."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from generated_modules import calls_of, planted

torch = pytest.importorskip("torch")
loading = pytest.importorskip("fastrnns_rs.worker.inductor.loader")
snapshot = pytest.importorskip("fastrnns_rs.worker.inductor.memory_snapshot")


@pytest.mark.parametrize(
    ("statement", "error", "seen"),
    [
        ("pass", None, [("wait", 10), ("dump", 10), (None, None, 10)]),
        # What could not be written whole is not there, and recording ends.
        ("pass", OSError("No space left on device"), [("wait", 10), ("dump", 10), (None, None, 10)]),
        ("pass", KeyboardInterrupt(), [("wait", 10), ("dump", 10), (None, None, 10)]),
        ("raise RuntimeError('out of memory')", RuntimeError("out of memory"), [(None, None, 1)]),
    ],
)
def test_ten_calls_are_recorded_and_written_when_the_device_is_idle(
    statement: str,
    error: BaseException | None,
    seen: list[tuple[Any, ...]],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Each step is noted with how often the module had been called by then."""
    module, path = planted(tmp_path, statement, device="cuda:0"), tmp_path / "a.memory.pickle"
    found: list[tuple[Any, ...]] = []

    def record(enabled: str | None = "all", max_entries: int | None = None) -> None:
        found.append((enabled, max_entries, calls_of(module)))

    def dump(place: str) -> None:
        found.append(("dump", calls_of(module)))
        Path(place).write_bytes(b"pickle")
        if error is not None:
            raise error

    monkeypatch.setattr(torch.cuda.memory, "_record_memory_history", record)
    monkeypatch.setattr(torch.cuda.memory, "_dump_snapshot", dump)
    monkeypatch.setattr(torch.cuda, "synchronize", lambda _device: found.append(("wait", calls_of(module))))
    loaded = loading.load(str(module), "cuda:0")
    if error is None:
        assert snapshot.write(loaded, str(path)) == {"memory_snapshot": True}
    else:
        with pytest.raises(type(error)):
            snapshot.write(loaded, str(path))
    assert found == [("all", 100_000, 0), *seen]
    assert path.exists() is (error is None)
