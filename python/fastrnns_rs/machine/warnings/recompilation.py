"""Warnings about recompilation during timing, and about graph breaks."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from fastrnns_rs.machine.warnings.timed_samples import name_of
from fastrnns_rs.machine.warnings.warning import of_found

if TYPE_CHECKING:
    from fastrnns_rs.documents.codec import Notice
    from fastrnns_rs.documents.run_file import Compile, Result


def cautions(results: list[Result]) -> list[Notice]:
    """Returns warnings about runners that recompiled or have graph breaks."""
    return [
        *of_found(
            "recompiled",
            "compiled again inside the loop: some samples hold the compiler",
            _most(results, lambda fact: fact.recompilations),
            "TORCH_LOGS=recompiles says which guard failed; keep shapes and dtypes as they are",
        ),
        *of_found(
            "graph_breaks",
            "not compiled whole: Python runs between the parts",
            _most(results, lambda fact: fact.graph_breaks),
            "TORCH_LOGS=graph_breaks says where; torch.compile(fullgraph=True) makes it an error",
        ),
    ]


def _most(results: list[Result], count: Callable[[Compile], int | None]) -> list[str]:
    """Returns the runners with a count above 0, and their largest count.

    Only successful processes are counted.
    """
    named = []
    for result in results:
        most = max((count(one.compile) or 0 for one in result.processes if one.status == "ok"), default=0)
        if most:
            named.append(f"{name_of(result)}: {most}")
    return named
