"""Writes the page of warning codes from their table. A test compares both."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from fastrnns_rs.documents.warning import make_warning
from fastrnns_rs.documents.warning_table import TOPICS
from fastrnns_rs.views.prose import warning_lines

if TYPE_CHECKING:
    from collections.abc import Iterator

    from fastrnns_rs.documents.warning_table.row import WarningRow

PAGE = Path(__file__).resolve().parents[1] / "docs" / "reference" / "warnings.md"
EXAMPLE = make_warning("coarse_clock", evidence="cudnn/forward: tick 10 µs, time 500 µs, 2.0 %")
HEAD = f"""\
# Warnings

A warning names its code, its effect on the result, the evidence and a next step:

```
{chr(10).join(warning_lines(EXAMPLE.code, EXAMPLE.message, EXAMPLE.evidence, EXAMPLE.hint, 80))}
```

`fastrnns-rs explain CODE` prints the entry of a code, and `fastrnns-rs explain` lists all codes. Documents contain
their warnings under `warnings`. A warning of several runners names the first few. No warning changes a number or a
verdict. Words in capitals, such as RUNNER, are placeholders.

`fastrnns-rs show`, `compare`, `ab` and `report` repeat the warnings of the runs and captures that they read.
"""


def text() -> str:
    """Returns the text of the page."""
    return "\n".join(_lines()) + "\n"


def _lines() -> Iterator[str]:
    yield HEAD.rstrip()
    for topic in TOPICS:
        yield from ("", f"## {topic.title}")
        if topic.about:
            yield from ("", topic.about)
        for row in topic.rows:
            yield from ("", *_entry(row))


def _entry(row: WarningRow) -> Iterator[str]:
    """Yields the entry of a code; its heading is the target of links."""
    yield from (f"### {row.code}", "", f"Effect: {row.effect}.")
    if row.details:
        yield from ("", row.details)
    commands = ", ".join(f"`{verb}`" for verb in row.verbs)
    yield from ("", f"- Evidence: {row.evidence}.", f"- Hint: {_hint(row)}", f"- Commands: {commands}.")


def _hint(row: WarningRow) -> str:
    """Returns the hint; its last part is a command, if it has two parts."""
    sentence, colon, command = row.hint.rpartition(": ")
    return f"{sentence}: `{command}`" if colon else f"{row.hint}."


if __name__ == "__main__":
    PAGE.write_text(text())
