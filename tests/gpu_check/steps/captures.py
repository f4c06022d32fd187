"""Captures of one runner under each profiler that is here."""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from gpu_check.items import FAILED, NOT_RUN, OK, Item, NotRunError

if TYPE_CHECKING:
    from gpu_check.session import Session

_LIMIT_S = 120.0
#: The first compute capability that nvprof does not support.
_TOO_NEW_FOR_NVPROF = (8, 0)
_OPTIONS = ("--rnns", "cudnn", "--quick", "--device", "cuda", "--sleep-between-seconds", "0", "--no-report")


def run(session: Session) -> Iterator[Item]:
    """Yields an item for nsys, nvprof, torch and ncu."""
    for name, capture in (("torch", _profile), ("nsys", _profile), ("nvprof", _profile), ("ncu", _ncu)):
        try:
            _check(session, name)
            yield capture(session, name)
        except NotRunError as error:
            yield Item(name=name, status=NOT_RUN, reason=str(error))


def _check(session: Session, name: str) -> None:
    """Refuses a profiler that cannot work here.

    Raises:
        NotRunError: It cannot.
    """
    if name == "torch":
        return
    if session.emulated:
        raise NotRunError("the device is emulated")
    if shutil.which(name) is None:
        raise NotRunError(f"{name} is not on the path")
    capability = session.facts["devices"][0]["capability"]
    if name == "nvprof" and tuple(map(int, capability.split("."))) >= _TOO_NEW_FOR_NVPROF:
        raise NotRunError(f"nvprof supports compute capability 7.5 and lower; the device has {capability}")


def _profile(session: Session, name: str) -> Item:
    manifest = session.path("captures", f"{name}.json")
    folder = session.path("captures", name, "capture").parent
    files = ("--output-dir", str(folder), "--output", str(manifest), "--json")
    ended = session.fastrnns(f"capture-{name}", "profile", f"--{name}", *_OPTIONS, *files, limit_s=_LIMIT_S)
    found: dict[str, Any] = json.loads(manifest.read_text(encoding="utf-8")) if manifest.exists() else {}
    checks = found.get("checks", [])
    failed = [f"{one['id']}: {one['found']}, expected {one['expected']}" for one in checks if not one["ok"]]
    figures: dict[str, Any] = {one["id"]: one["found"] for one in checks}
    if found:
        figures |= {"tool": f"{found['tool']['name']} {found['tool']['version'] or ''}".strip()}
        figures |= {"profiled over unprofiled": found["profiled_over_unprofiled"]}
        figures |= {"warnings": [one["code"] for one in found["warnings"]]}
    if ended.status != 0:
        reason = "; ".join(failed) or ended.reason
        return Item(name=name, status=FAILED, reason=reason, seconds=ended.seconds, figures=figures, log=ended.excerpt)
    return Item(name=name, status=OK, seconds=ended.seconds, figures={**figures, **_summary(session, name, manifest)})


def _summary(session: Session, name: str, manifest: Any) -> dict[str, Any]:
    """Returns the main figures of the report of a capture."""
    output = session.path("captures", f"{name}.report.json")
    words = ("report", str(manifest), "--json", "--output", str(output))
    session.fastrnns(f"report-{name}", *words, limit_s=_LIMIT_S)
    if not output.exists():
        return {"report": "none was written"}
    found = json.loads(output.read_text(encoding="utf-8"))
    kernels = found.get("kernels", [])
    names = ("span_ns", "busy_ns")
    totals = found.get("totals") or {}
    return {"kernel names": len(kernels), **{key: totals[key] for key in names if key in totals}}


def _ncu(session: Session, name: str) -> Item:
    folder = session.path("captures", name, "report").parent
    output = session.path("captures", f"{name}.json")
    # One kernel, one metric: ncu repeats each kernel for each set of counters.
    few = ("--times", "1", "--repeat", "1", "--ncu-metrics", "gpu__time_duration.sum")
    words = ("inductor", "--runner", "compile_cell", "--quick", "--device", "cuda", "--ncu", *few)
    files = ("--output-dir", str(folder), "--output", str(output), "--json")
    ended = session.fastrnns("capture-ncu", *words, *files, limit_s=_LIMIT_S, least_s=45)
    modules = json.loads(output.read_text(encoding="utf-8"))["modules"] if output.exists() else []
    problems = [one["reason"] for one in modules if one["status"] != "ok"]
    figures = {"modules": len(modules), "reports": sum(one["ncu_report_path"] is not None for one in modules)}
    reason = None if ended.status == 0 else "; ".join(problems) or ended.reason
    log = ended.excerpt if reason else None
    status = FAILED if reason else OK
    return Item(name=name, status=status, reason=reason, seconds=ended.seconds, figures=figures, log=log)
