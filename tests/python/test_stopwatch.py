"""Unjoined work and the time of asking for it, without a device."""

from __future__ import annotations

from typing import Any

import pytest

from fastrnns_rs.worker.stopwatch import CudaEvents

COST = 60_000
WORK = 5_000_000


class Device:
    """Device for a stopwatch. After each iteration it needs the time of its unjoined work, then the time of asking."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.watch: Any = object.__new__(CudaEvents)
        self.watch._idle_ns, self.watch._longest_ns = COST // 4, 0
        self.watch._stream = self
        self.left = 0
        monkeypatch.setattr(CudaEvents, "_until_idle_ns", lambda _watch: self.left + COST)
        monkeypatch.setattr(CudaEvents, "_wait", lambda _watch, least: setattr(self, "left", max(0, self.left - least)))

    def synchronize(self) -> None:
        """Waits for no work of another stream."""

    def iterations(self, *left: int) -> int:
        for number, one in enumerate(left):
            self.left = one
            (self.watch.ask_when_idle if number % 2 else self.watch.find_unjoined)()
        found: int = self.watch.unjoined_ns
        return found


@pytest.mark.parametrize("count", [1, 2, 3, 10])
def test_an_idle_device_has_nothing_left(count: int, monkeypatch: pytest.MonkeyPatch) -> None:
    # Without a second iteration only the cost on a device that is asked again and again is known.
    assert Device(monkeypatch).iterations(*[0] * count) <= (COST if count == 1 else 0)


@pytest.mark.parametrize(
    "left", [(WORK,), (WORK, WORK), (WORK, WORK, 3 * WORK), (0, WORK, WORK, 0, WORK), (0, 0, 0, WORK), (0, WORK)]
)
def test_work_that_is_left_is_found_whichever_iteration_leaves_it(
    left: tuple[int, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    assert Device(monkeypatch).iterations(*left) == pytest.approx(max(left), abs=COST)
