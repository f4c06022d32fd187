"""What simulations find, as tables that tests hold against their limits and that the documentation shows."""

from __future__ import annotations

import os
import re
from dataclasses import dataclass
from pathlib import Path

PAGE = Path(__file__).resolve().parents[2] / "docs" / "explanation" / "validation.md"


def is_long() -> bool:
    """Whether this is `make validate`, with many trials, which also writes the tables of the documentation anew."""
    return os.environ.get("FASTRNNS_VALIDATE") == "long"


def trials(short: int, long: int) -> int:
    """Returns the number of trials, which is smaller unless `is_long`."""
    return long if is_long() else short


@dataclass(frozen=True)
class Table:
    """Figures: the first column names a row."""

    title: str
    columns: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]

    def markdown(self) -> str:
        """The table as the documentation has it."""
        lines = [self.columns, ("---", *("---:" for _ in self.columns[1:])), *self.rows]
        return "\n".join("| " + " | ".join(cells) + " |" for cells in lines)

    def publish(self, name: str) -> None:
        """Puts the table in its place in the documentation, if it comes from many trials."""
        page = PAGE.read_text()
        place = re.compile(rf"(<!-- {name} -->\n).*?(<!-- end -->)", flags=re.DOTALL)
        assert len(place.findall(page)) == 1, f"{PAGE.name} has no place for {name}"
        if is_long():
            PAGE.write_text(place.sub(lambda at: f"{at[1]}{self.title}:\n\n{self.markdown()}\n{at[2]}", page))
