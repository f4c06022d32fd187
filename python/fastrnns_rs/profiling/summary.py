"""The first look at a capture, as the profiler itself tells it."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from fastrnns_rs._core import run_command

if TYPE_CHECKING:
    from fastrnns_rs._core import Profiler
    from fastrnns_rs.profiling.record import Capture

#: Reports of nsys under the names of today and those before 2023: ranges, kernels.
_REPORTS = (("nvtx_sum", "nvtxsum"), ("cuda_gpu_kern_sum", "gpukernsum"))
_TIMEOUT_S = 120.0
_ROWS = 30


def first_summary(capture: Capture, tool: Profiler) -> str:
    """A table or two; empty where the profiler has none."""
    files = {artefact.kind: Path(artefact.path) for artefact in capture.artefacts}
    if tool.name == "nsys" and "nsys_sqlite" in files:
        return _nsys(tool, files["nsys_sqlite"], kernels=any(check.id == "kernels" for check in capture.checks))
    if "nvprof_gpu_summary" in files:
        return files["nvprof_gpu_summary"].read_text(encoding="utf-8", errors="replace")
    tables = [Path(artefact.path) for artefact in capture.artefacts if artefact.kind == "torch_table"]
    return "\n".join(f"{_title(path)}\n{path.read_text(encoding='utf-8')}" for path in tables)


def _title(path: Path) -> str:
    *_, runner, cycle, _suffix = path.name.split(".")
    return f"{runner}, cycle {cycle}"


def _nsys(tool: Profiler, path: Path, *, kernels: bool) -> str:
    known = run_command([str(tool.path), "stats", "--help-reports"], timeout=_TIMEOUT_S).stdout_tail
    wanted = _REPORTS if kernels else _REPORTS[:1]
    names = [new if new in known else old for new, old in wanted]
    command = [str(tool.path), "stats", "--force-export=false", f"--report={','.join(names)}", "--format=table"]
    done = run_command([*command, str(path)], timeout=_TIMEOUT_S)
    if done.exit_status != 0:
        return ""
    lines = [line.rstrip() for line in done.stdout_tail.splitlines()]
    # Its own progress stands among the tables.
    shown = [line for line in lines if line and not line.startswith(("Processing", "Using", "Generating", "SKIPPED"))]
    more = len(shown) - _ROWS
    return "\n".join([*shown[:_ROWS], *([f"… and {more} more"] if more > 0 else [])]) + "\n"
