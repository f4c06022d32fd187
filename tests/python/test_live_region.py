"""Region of lines at the bottom of a terminal: drawn in place, below other lines, and removed at the end."""

from __future__ import annotations

import io
import re

import pytest

from fastrnns_rs.views import live_region
from fastrnns_rs.views.live_region import LiveRegion
from fastrnns_rs.views.progress import Progress

CODE = re.compile(r"\x1b\[\??(\d+)([A-Za-z])|\r|\n|[^\x1b\r\n]+")


class Terminal(io.StringIO):
    """Terminal that applies what it receives."""

    def isatty(self) -> bool:
        return True

    def rows(self) -> list[str]:
        """Rows of the screen; movements as a terminal makes them."""
        rows, row, column = [""], 0, 0
        for found in CODE.finditer(self.getvalue()):
            number, letter = found[1], found[2]
            if letter == "A":
                row -= int(number)
            elif letter == "K":
                rows[row] = ""
            elif found[0] == "\r":
                column = 0
            elif found[0] == "\n":
                row, column = row + 1, 0
                rows += [""] * (row + 1 - len(rows))
            elif letter is None:
                rows[row] = rows[row][:column].ljust(column) + found[0]
                column += len(found[0])
        return rows


@pytest.fixture
def terminal(monkeypatch: pytest.MonkeyPatch) -> Terminal:
    for name in ("COLUMNS", "LINES", "TERM"):
        monkeypatch.delenv(name, raising=False)
    # Drawn only when a test draws.
    monkeypatch.setattr(live_region, "_INTERVAL_S", 1000.0)
    return Terminal()


def test_lines_are_written_above_a_region_that_shrinks_and_disappears(terminal: Terminal) -> None:
    frames = iter(["a\nb\nbar 0\n", "a\nbar 1\n"])
    region = LiveRegion(terminal, lambda *_: next(frames))
    region.start()
    assert terminal.rows() == ["a", "b", "bar 0"]
    region.write("a note\nof two lines")
    assert [row for row in terminal.rows() if row] == ["a note", "of two lines", "a", "bar 1"]
    region.stop()
    assert [row for row in terminal.rows() if row] == ["a note", "of two lines"]
    assert "\x1b[?25l" not in terminal.getvalue(), "Ctrl-Z would leave the terminal without a cursor"


def test_an_echo_of_ctrl_c_does_not_move_the_region(terminal: Terminal) -> None:
    region = LiveRegion(terminal, lambda *_: "a\nbar of the whole width")
    region.start()
    terminal.write("^C")
    assert terminal.rows()[1].startswith("^C"), "the echo begins no row of its own"
    region.stop()
    assert not any(terminal.rows())


def test_a_region_fits_the_terminal(terminal: Terminal, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "33")
    monkeypatch.setenv("LINES", "2")
    region = LiveRegion(terminal, lambda columns, rows: f"{columns} columns\n{rows} rows\ntoo many\n")
    region.start()
    assert terminal.rows() == ["33 columns", "2 rows"]


def test_nothing_is_drawn_after_the_end(terminal: Terminal) -> None:
    region = LiveRegion(terminal, lambda *_: "bar")
    region.start()
    region.stop()
    before = terminal.getvalue()
    region.write("late")
    assert terminal.getvalue() == before


def test_a_terminal_without_movements_gets_lines(terminal: Terminal, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TERM", "dumb")
    with Progress("bench", "1 runner", total=1, stream=terminal) as progress:
        progress.write("a line")
    assert terminal.getvalue() == "bench: 1 runner\na line\n"
