"""Golden screens: tests/data/screens.txt has a block of text for each name."""

from __future__ import annotations

from pathlib import Path

_FILE = Path(__file__).parents[1] / "data" / "screens.txt"


def screen(name: str) -> str:
    """The text below the line `=== name`, without empty lines at its end."""
    blocks = _FILE.read_text(encoding="utf-8").split("=== ")[1:]
    found = {block.partition("\n")[0]: block.partition("\n")[2].rstrip("\n") + "\n" for block in blocks}
    return found[name]
