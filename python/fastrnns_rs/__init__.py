"""Times PyTorch's recurrent and convolutional models on CUDA and CPU, with sound statistics.

Names are loaded when they are first used: importing this package loads neither torch nor numpy. What `read` needs loads
next to nothing of Python's own library either, which would take longer than a small capture.
"""

from __future__ import annotations

import importlib

from fastrnns_rs import _core
from fastrnns_rs._core import BUILD_PROFILE, __version__

TYPE_CHECKING = False  # as type checkers know it: typing takes longer to load than all that is here
if TYPE_CHECKING:
    from typing import Any

    from fastrnns_rs._core import Completed, run_command
    from fastrnns_rs.api.capture import profile
    from fastrnns_rs.api.comparison import compare
    from fastrnns_rs.api.interleaved import ab
    from fastrnns_rs.api.measurement import bench
    from fastrnns_rs.api.modules import benchmark_modules, inductor
    from fastrnns_rs.api.stored_results import load
    from fastrnns_rs.api.upstream import BenchResult, trainbench
    from fastrnns_rs.api.verification import verify
    from fastrnns_rs.documents.capture_manifest import Capture
    from fastrnns_rs.documents.comparison import Comparison
    from fastrnns_rs.documents.inductor_report import InductorReport
    from fastrnns_rs.documents.run_file import Run
    from fastrnns_rs.documents.sweep import Sweep
    from fastrnns_rs.documents.verification import Verification
    from fastrnns_rs.errors import DocumentWarning, FastrnnsError, MissingError, RunnerError, UsageError
    from fastrnns_rs.models.definition import ModelDef
    from fastrnns_rs.problem.problem import Problem
    from fastrnns_rs.problem.profiler_schedule import Schedule
    from fastrnns_rs.runners.registry import runner
    from fastrnns_rs.verbs.profile.capture_run import CaptureError
    from fastrnns_rs.verbs.report.capture_reader import Inductor, read
    from fastrnns_rs.verbs.report.capture_summary import Summary

__all__ = [
    "BenchResult",
    "Capture",
    "CaptureError",
    "Comparison",
    "Completed",
    "DocumentWarning",
    "FastrnnsError",
    "Inductor",
    "InductorReport",
    "MissingError",
    "ModelDef",
    "Problem",
    "Run",
    "RunnerError",
    "Schedule",
    "Summary",
    "Sweep",
    "UsageError",
    "Verification",
    "__version__",
    "ab",
    "bench",
    "benchmark_modules",
    "compare",
    "inductor",
    "load",
    "models",
    "profile",
    "read",
    "run_command",
    "runner",
    "stats",
    "trainbench",
    "verify",
]

#: The module of each name.
_HOME = {
    "BenchResult": "api.upstream",
    "Capture": "documents.capture_manifest",
    "CaptureError": "verbs.profile.capture_run",
    "Comparison": "documents.comparison",
    "Completed": "_core",
    "DocumentWarning": "errors",
    "FastrnnsError": "errors",
    "Inductor": "verbs.report.capture_reader",
    "InductorReport": "documents.inductor_report",
    "MissingError": "errors",
    "ModelDef": "models.definition",
    "Problem": "problem.problem",
    "Run": "documents.run_file",
    "RunnerError": "errors",
    "Schedule": "problem.profiler_schedule",
    "Summary": "verbs.report.capture_summary",
    "Sweep": "documents.sweep",
    "UsageError": "errors",
    "Verification": "documents.verification",
    "ab": "api.interleaved",
    "bench": "api.measurement",
    "benchmark_modules": "api.modules",
    "compare": "api.comparison",
    "inductor": "api.modules",
    "load": "api.stored_results",
    "profile": "api.capture",
    "read": "verbs.report.capture_reader",
    "run_command": "_core",
    "runner": "runners.registry",
    "trainbench": "api.upstream",
    "verify": "api.verification",
}

if BUILD_PROFILE != "release":
    import warnings

    warnings.warn(
        "fastrnns_rs was built without optimisation, so its overheads mean nothing; pip install . builds it with",
        RuntimeWarning,
        stacklevel=2,
    )


# The package has other classes of these names, and Python finds the class of a pickled object by its name.
for _name in ("Comparison", "Summary"):
    if _kind := getattr(_core, _name, None):
        _kind.__name__ = _kind.__qualname__ = f"Sample{_name}"
del _name, _kind


#: Public modules.
_MODULES = ("models", "stats")
#: Names that are commands, each with what to use instead.
_COMMANDS = {
    "report": "fastrnns_rs.read(path).render()",
    "show": "fastrnns_rs.load(name).render()",
    "explain": "the command fastrnns-rs explain",
    "history": "fastrnns_rs.load for a run, and the command fastrnns-rs history for the list",
    "list": "the command fastrnns-rs list",
    "runners": "the command fastrnns-rs list",
    "doctor": "the command fastrnns-rs doctor",
}


def __getattr__(name: str) -> Any:
    if name in _MODULES:
        return importlib.import_module(f"fastrnns_rs.{name}")
    if name not in _HOME:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}{_suggestion(name)}")
    value = getattr(importlib.import_module(f"fastrnns_rs.{_HOME[name]}"), name)
    globals()[name] = value
    return value


def _suggestion(name: str) -> str:
    # Python and its tools look for names that begin like this, and expect no answer.
    if name.startswith("_"):
        return ""
    if name in _COMMANDS:
        return f"; use {_COMMANDS[name]}"
    from fastrnns_rs.errors import closest

    meant = closest(name, __all__)
    return "" if meant is None else f"; did you mean {meant!r}?"


def __dir__() -> list[str]:
    return sorted(__all__)
