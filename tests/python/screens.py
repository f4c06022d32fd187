"""Golden screens: tests/data/screens.txt has a block of text for each name."""

from __future__ import annotations

from pathlib import Path
from typing import Any

_FILE = Path(__file__).parents[1] / "data" / "screens.txt"


def screen(name: str) -> str:
    """The text below the line `=== name`, without empty lines at its end."""
    blocks = _FILE.read_text(encoding="utf-8").split("=== ")[1:]
    found = {block.partition("\n")[0]: block.partition("\n")[2].rstrip("\n") + "\n" for block in blocks}
    return found[name]


def transcript(name: str, names: dict[str, Any]) -> str:
    """The same session of a Python prompt with the results of this build, without tracebacks.

    Args:
        name: Name of the screen, whose lines after `>>> ` are run.
        names: Names that the session knows.
    """
    found = []
    for line in screen(name).splitlines():
        if line.startswith(">>> "):
            found.append(line)
            found += _answer(line.removeprefix(">>> "), names)
    return "".join(f"{line}\n" for line in found)


def _answer(source: str, names: dict[str, Any]) -> list[str]:
    try:
        code = compile(source, "<prompt>", "eval")
    except SyntaxError:
        exec(source, names)
        return []
    try:
        return repr(eval(code, names)).splitlines()
    except KeyError as error:
        return [f"KeyError: {error}"]
