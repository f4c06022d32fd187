"""Names, labels and reasons on a terminal: shown as they are, none read as markup."""

from __future__ import annotations

import io
from pathlib import Path

import pytest
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
            os.write(descriptor, b'{"kind": "phase", "name": "[/green]\\u001b[31m:tada:"}\n')
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
