"""Triton kernels of a compiled runner: time, registers and bandwidth of each."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from gpu_check.items import FAILED, NOT_RUN, OK, Item, NotRunError

if TYPE_CHECKING:
    from gpu_check.session import Session

_LIMIT_S = 240.0
#: Architectures whose figures come from the assembler, whatever the device is.
_ARCHITECTURES = ("sm_80", "sm_90", "sm_100")
_KEYS = ("registers", "spills", "shared_memory_bytes", "bandwidth_gb_per_s", "bandwidth_fraction")


def run(session: Session) -> Iterator[Item]:
    """Yields an item for each kernel."""
    output = session.path("kernels.json")
    words = ("inductor", "--runner", "compile_cell", "--quick", "--device", "cuda", "-k", "--arch", *_ARCHITECTURES)
    try:
        ended = session.fastrnns("kernels", *words, "--json", "--output", str(output), limit_s=_LIMIT_S, least_s=60)
    except NotRunError as error:
        yield Item(name="all", status=NOT_RUN, reason=str(error))
        return
    modules = json.loads(output.read_text(encoding="utf-8"))["modules"] if output.exists() else []
    for module in modules:
        yield from (_item(module["graph"], one) for one in module["kernels"])
    problems = [f"{one['graph']}: {one['reason']}" for one in modules if one["status"] != "ok"]
    if ended.status != 0 or not modules:
        reason = "; ".join(problems) or ended.reason
        yield Item(name="inductor", status=FAILED, reason=reason, seconds=ended.seconds, log=ended.excerpt)
    else:
        yield Item(name="inductor", status=OK, seconds=ended.seconds, figures={"modules": len(modules)})


def _item(graph: str, kernel: dict[str, Any]) -> Item:
    time = kernel["time"]
    figures = {} if time is None else {"median ns": time["median_ns"], "samples": time["n_samples"]}
    figures |= {key: kernel[key] for key in _KEYS if kernel[key] is not None}
    for one in kernel["assembled"]:
        spills = f"{one['spill_store_bytes']} + {one['spill_load_bytes']} B"
        figures[one["architecture"]] = one["reason"] or f"{one['registers']} registers, {spills} of spills"
    status = OK if kernel["reason"] is None else FAILED
    return Item(name=f"{graph}: {kernel['name']}", status=status, reason=kernel["reason"], figures=figures)
