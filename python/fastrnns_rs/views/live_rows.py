"""Live region of `bench`: incomplete rows above a progress line."""

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
    """Progress line below rows that change until their last process.

    Args:
        console: The terminal.

    Attributes:
        rows: Text of each row, by label.
    """

    def __init__(self, console: Console) -> None:
        self.rows: dict[str, str] = {}
        # `Progress` requests renderables before its own console is set.
        self._terminal = console
        super().__init__(
            SpinnerColumn(),
            MofNCompleteColumn(),
            TimeElapsedColumn(),
            TextColumn("left", markup=False),
            TimeRemainingColumn(),
            # Brackets in names and reasons are text, not markup.
            TextColumn("{task.description}", markup=False),
            console=console,
            transient=True,
            # Drawing the rows takes a few milliseconds of a core, which a worker may be using for a measurement.
            refresh_per_second=2,
        )

    def get_renderables(self) -> Iterable[RenderableType]:
        """Yields the rows that changed last and fit, then the progress line."""
        fitting = max(0, self._terminal.height - 2)
        rows = [*self.rows.values()][-fitting:] if fitting else []
        yield from (Text(row, style="dim", no_wrap=True, overflow="ellipsis") for row in rows)
        yield from super().get_renderables()
