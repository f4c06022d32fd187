"""Values of every runner on the device, against its reference."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import TYPE_CHECKING

from gpu_check.items import FAILED, NOT_RUN, OK, Item, NotRunError, Status

if TYPE_CHECKING:
    from gpu_check.session import Session

#: Time that is left for what follows.
_RESERVED_S = 450.0
_LEAST_S = 120.0
#: The seconds of a runner that is compiled.
_LIMIT_OF_RUNNER_S = 100


def run(session: Session) -> Iterator[Item]:
    """Yields an item for each runner."""
    if session.emulated:
        yield Item(name="all", status=NOT_RUN, reason="the device is emulated")
        return
    output = session.path("verification.json")
    names = session.options.runners
    chosen = (*names,) if names else ("--group", "all")
    words = ("verify", *chosen, "--device", "cuda", "--timeout", str(_LIMIT_OF_RUNNER_S))
    limit_s = max(_LEAST_S, session.left_s - _RESERVED_S)
    try:
        ended = session.fastrnns("verification", *words, "--json", "--output", str(output), limit_s=limit_s)
    except NotRunError as error:
        yield Item(name="all", status=NOT_RUN, reason=str(error))
        return
    rows = json.loads(output.read_text(encoding="utf-8"))["results"] if output.exists() else []
    statuses: dict[str, Status] = {"ok": OK, "skipped": NOT_RUN, "interrupted": NOT_RUN}
    for row in rows:
        figures = {"checks": len(row["checks"])}
        status = statuses.get(row["status"], FAILED)
        yield Item(name=row["runner"], status=status, reason=row["reason"], figures=figures)
    if not rows:
        status = NOT_RUN if ended.status is None else FAILED
        yield Item(name="all", status=status, reason=ended.reason, seconds=ended.seconds, log=ended.excerpt)
