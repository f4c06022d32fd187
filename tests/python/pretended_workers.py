"""Workers that only pretend, in place of `launch_together`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from fastrnns_rs.launching import Start
    from fastrnns_rs.listening import Answer


def each(worker: Callable[[dict[str, Any]], Answer]) -> Callable[[Sequence[Start]], list[Answer]]:
    """Has a function from a job to its answer be every worker."""
    return lambda starts: [worker(start.job) for start in starts]
