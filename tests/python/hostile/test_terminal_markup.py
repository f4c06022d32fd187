"""Names, labels and reasons on a terminal: rich shows them as they are, and reads none as markup."""

from __future__ import annotations

import ast
import io
from pathlib import Path

import pytest
from pretended_processes import command
from terminals import on_terminal, printed

import fastrnns_rs
from fastrnns_rs.views.progress import Progress
from fastrnns_rs.views.screen import Line

PACKAGE = Path(fastrnns_rs.__file__).parent
#: All that the package uses of rich. None reads its text as markup with the keywords of `PLAIN`.
KNOWN = {
    *("rich.cells.cell_len", "rich.console.Console", "rich.live.Live", "rich.text.Text"),
}
#: Calls that take text, by the name of what is called, and the keywords that each must have.
PLAIN = {
    "Console": {"markup", "emoji", "highlight"},
    "console.print": {"markup", "emoji", "highlight"},
}
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
from fastrnns_rs import runner

def forge(_problem):
    for descriptor in range(3, 30):
        try:
            os.write(descriptor, b'{"kind": "phase", "name": "[/green]\\u001b[31m:tada:"}\n')
            os.write(descriptor, b'{"kind": "result", "status": "failed", "reason": "[/blue] :smile: \\u001b[5m"}\n')
        except OSError:
            continue
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


def test_every_use_of_rich_takes_text_as_it_is() -> None:
    """A new class of rich, or a call without these keywords, is looked at by a person first."""
    used: set[str] = set()
    for path in PACKAGE.rglob("*.py"):
        tree = ast.parse(path.read_text(encoding="utf-8"))
        found = {
            f"{node.module}.{alias.name}"
            for node in ast.walk(tree)
            if isinstance(node, ast.ImportFrom) and (node.module or "").partition(".")[0] == "rich"
            for alias in node.names
        }
        plain = [alias.name for node in ast.walk(tree) if isinstance(node, ast.Import) for alias in node.names]
        assert not [name for name in plain if name.partition(".")[0] == "rich"], path
        used |= found
        for call in (node for node in ast.walk(tree) if isinstance(node, ast.Call)):
            called = ast.unparse(call.func)
            needed = {"Text.from_markup": None}.get(called, set())
            for name, keywords in PLAIN.items() if found or "console" in called else ():
                if called == name or called.endswith(f".{name}"):
                    needed = keywords
            assert needed is not None, f"{path}: {called}"
            off = {one.arg for one in call.keywords if isinstance(one.value, ast.Constant) and one.value.value is False}
            assert needed <= off, f"{path}:{call.lineno}: {called} needs {needed} to be False"
    assert used == KNOWN
