"""Names, labels and reasons on a terminal: shown as they are, none read as markup."""

from __future__ import annotations

import io
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest
from conftest import run_cli
from kineto_traces import copy, kernel, write
from nsys_exports import Export, thread
from pretended_processes import command
from terminals import on_terminal, printed

from fastrnns_rs.views.progress import Progress
from fastrnns_rs.views.screen import Line

ODD = ("[/red]", ":smile:", "[bold]x[/bold]", "a{task.total}b", "[link=http://x]y")


class Screen(io.StringIO):
    """A terminal without a screen."""

    def isatty(self) -> bool:
        return True


@pytest.fixture
def odd_runners(tmp_path: Path) -> Path:
    path = tmp_path / "odd.py"
    made = [f"runner({name!r}, note=lambda _problem: 'see [/blue] :tada:')(lambda problem: None)" for name in ODD]
    path.write_text("from fastrnns_rs import runner\n" + "\n".join(made))
    return path


def test_odd_names_and_labels_are_shown_as_they_are(odd_runners: Path) -> None:
    words = command("bench", "--group", "rnns", "--runner-file", odd_runners, "--device", "cpu", "--processes", "2")
    words += ["--nloops", "2", "--axis", "hidden-size=8,16", *(f"--rnns={name}" for name in ODD)]
    status, received = on_terminal(words)
    text = printed(received)
    assert status == 0, text
    assert "fault of fastrnns-rs" not in text
    for name in ODD:
        for label in (f"{name}[hidden-size=8]", f"{name}[hidden-size=16]"):
            assert f"{label} " in text
    assert "😄" not in text


@pytest.mark.parametrize("name", ODD)
def test_odd_names_are_shown_while_they_are_measured(name: str) -> None:
    stream = Screen()
    with Progress("bench", "1 runner", total=2, above=lambda _: [Line(f"{name} so far")], stream=stream) as progress:
        progress.step(f"{name}: measuring")
    text = printed(stream.getvalue())
    assert f"{name} so far" in text
    assert f"{name}: measuring" in progress.frame(120, 24)


#: A runner that finds the pipe of its worker, and writes a phase and a result of its own to it.
FORGER = r"""
import os
import time
from fastrnns_rs import runner

def forge(_problem):
    for descriptor in range(3, 30):
        try:
            os.write(descriptor, b'{"kind": "phase", "name": "[/green]\\u001b[31m\\ud800:tada:"}\n')
            os.write(descriptor, b'{"kind": "result", "status": "failed", "reason": "[/blue] :smile: \\u001b[5m"}\n')
        except OSError:
            continue
    # The phase is shown when the screen is drawn again.
    time.sleep(1.5)
    os._exit(0)

runner("[/red]")(forge)
"""


def test_odd_reasons_and_phases_are_shown_as_they_are(tmp_path: Path) -> None:
    path = tmp_path / "odd.py"
    path.write_text(FORGER)
    words = command("bench", "--group", "rnns", "--runner-file", path, "--device", "cpu", "--processes", "1")
    status, received = on_terminal([*words, "--nloops", "2", "--rnns=[/red]"])
    text = printed(received)
    assert status == 1, text
    assert "failed: [/blue] :smile:" in text
    assert "[/red]: [/green]" in text
    assert "\x1b[5m" not in received
    assert "\x1b[31m" not in received


#: It would name the window of the terminal, and turn the direction of the text.
ACTING = "\x1b]0;x\x07\u202e"
SHOWN = r"\x1b]0;x\x07\u{202e}"


def test_the_first_screen_of_a_report_shows_texts_of_the_capture(tmp_path: Path) -> None:
    path, main = tmp_path / "x.sqlite", thread(1, 1)
    export = Export(path)
    export.call(1, 5, main, 1)
    export.kernel(10, 20, main, 1)
    with closing(sqlite3.connect(export.written())) as database, database:
        database.execute("CREATE TABLE META_DATA_EXPORT (name TEXT, value TEXT)")
        database.execute("INSERT INTO META_DATA_EXPORT VALUES ('EXPORT_PRODUCT_VERSION', ?)", (f"2024{ACTING}.1",))
    done = run_cli("report", path)
    assert f"nsys 2024{SHOWN}.1 export" in done.stdout
    assert ACTING not in done.stdout
    # A kind of copy is the answer.
    event = copy("HtoD", 0, 1000, size=10**9)
    event["name"] = f"Memcpy {ACTING} (x)"
    done = run_cli("report", write(tmp_path / "x.json", [event, kernel("k", 1000, 1)]))
    assert f"{SHOWN}: 1e+03 GB/s" in done.stdout.replace("\n  ", " ")
    assert ACTING not in done.stdout


def test_commands_to_copy_show_names_of_files(tmp_path: Path) -> None:
    sides = [tmp_path / f"{ACTING}{place}.json" for place in range(2)]
    for place, path in enumerate(sides):
        # An event without times, a name that cannot be read, and text that is not counted: a warning for each.
        plain = write(path, [kernel("k", 0, 5 + place), {"ph": "X", "cat": "kernel"}]).read_bytes()
        path.write_bytes(plain.replace(b'"name": "k"', b'"name": "k\xff"') + b" x")
    done = run_cli("compare", *sides)
    assert "more warnings: fastrnns-rs compare" in done.stderr
    assert ACTING not in done.stdout + done.stderr
