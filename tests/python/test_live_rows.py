"""Rows of a bench before they are complete: in place on a terminal, one line per runner elsewhere."""

from __future__ import annotations

import io
import sys
from typing import Any

import pytest
from pretended_workers import each, rising
from rich.console import Console
from test_bench_execution import begin

from fastrnns_rs.verbs.bench.execution import execute
from fastrnns_rs.views.bench_terminal import Terminal
from fastrnns_rs.views.live_rows import LiveRows


class _Screen(io.StringIO):
    def isatty(self) -> bool:
        return True


def shown(stream: io.StringIO, monkeypatch: pytest.MonkeyPatch, **effort: Any) -> str:
    monkeypatch.setattr(sys, "stderr", stream)
    monkeypatch.setenv("TERM", "xterm")
    terminal = Terminal(" ")
    execute(*begin(["cudnn", "py"], **effort), observer=terminal, executor=each(rising))
    terminal.close()
    return stream.getvalue()


def test_elsewhere_the_first_process_of_each_runner_has_a_line(monkeypatch: pytest.MonkeyPatch) -> None:
    lines = [line for line in shown(io.StringIO(), monkeypatch, processes=3).splitlines() if "process 1:" in line]
    assert sorted(lines) == [
        "cudnn, process 1: forward 0.001 ms, backward 0.00201 ms",
        "py, process 1: forward 0.001 ms, backward 0.00201 ms",
    ]


def test_one_process_has_its_row_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    assert "process 1:" not in shown(io.StringIO(), monkeypatch, processes=1)


def test_a_terminal_has_no_such_lines_and_keeps_complete_rows(monkeypatch: pytest.MonkeyPatch) -> None:
    text = shown(_Screen(), monkeypatch, processes=3)
    assert "process 1:" not in text
    assert " cudnn " in text
    assert " py " in text


def test_rows_that_changed_last_stay_where_the_terminal_is_low() -> None:
    out = io.StringIO()
    live = LiveRows(Console(file=out, height=5, width=80))
    live.rows.update({f"r{index}": f"row {index}" for index in range(9)})
    rows = [str(one) for one in live.get_renderables()][:-1]
    assert rows == ["row 6", "row 7", "row 8"]
