"""The live region of a bench: the rows that are not complete, above the progress line."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from rich.progress import (
    MofNCompleteColumn,
    Progress,
    SpinnerColumn,
    TextColumn,
    TimeElapsedColumn,
    TimeRemainingColumn,
)
from rich.text import Text

if TYPE_CHECKING:
    from rich.console import Console, RenderableType


class LiveRows(Progress):
    """A progress line below rows that change until their last process.

    Args:
        console: The terminal.

    Attributes:
        rows: The text of each row, by its label.
    """

    def __init__(self, console: Console) -> None:
        self.rows: dict[str, str] = {}
        # Progress asks for what it shows before it knows its console.
        self._terminal = console
        super().__init__(
            SpinnerColumn(),
            MofNCompleteColumn(),
            TimeElapsedColumn(),
            TextColumn("left", markup=False),
            TimeRemainingColumn(),
            # Names and reasons may hold brackets, which are text and no markup.
            TextColumn("{task.description}", markup=False),
            console=console,
            transient=True,
            # Drawing the rows takes a few milliseconds of a core that a worker may be measured on.
            refresh_per_second=2,
        )

    def get_renderables(self) -> Iterable[RenderableType]:
        """The rows that fit above the progress line, those that changed last."""
        fitting = max(0, self._terminal.height - 2)
        rows = [*self.rows.values()][-fitting:] if fitting else []
        yield from (Text(row, style="dim", no_wrap=True, overflow="ellipsis") for row in rows)
        yield from super().get_renderables()
