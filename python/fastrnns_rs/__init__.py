"""Times PyTorch's recurrent and convolutional models on CUDA and CPU, with sound statistics.

Names are loaded when they are first used: importing this package loads neither torch nor numpy. What `read` needs loads
next to nothing of Python's own library either, which would take longer than a small capture.
"""

from __future__ import annotations

import importlib

from fastrnns_rs._core import BUILD_PROFILE, __version__

TYPE_CHECKING = False  # as type checkers know it: typing takes longer to load than all that is here
if TYPE_CHECKING:
    from typing import Any

    from fastrnns_rs.api import (
        BenchResult,
        Capture,
        Comparison,
        Completed,
        FastrnnsError,
        InductorReport,
        MissingError,
        Problem,
        Run,
        Schedule,
        Summary,
        UsageError,
        Verification,
        bench,
        benchmark_modules,
        compare,
        profile,
        read,
        run_command,
        runner,
        trainbench,
        verify,
    )
    from fastrnns_rs.models.definition import ModelDef

__all__ = [
    "BenchResult",
    "Capture",
    "Comparison",
    "Completed",
    "FastrnnsError",
    "InductorReport",
    "MissingError",
    "ModelDef",
    "Problem",
    "Run",
    "Schedule",
    "Summary",
    "UsageError",
    "Verification",
    "__version__",
    "bench",
    "benchmark_modules",
    "compare",
    "profile",
    "read",
    "run_command",
    "runner",
    "stats",
    "trainbench",
    "verify",
]

#: What is not looked up in `fastrnns_rs.api`; reading captures needs nothing of what runs models.
_HOME = {
    "Comparison": "fastrnns_rs.documents.comparison",
    "ModelDef": "fastrnns_rs.models.definition",
    "Summary": "fastrnns_rs.verbs.report.capture_summary",
    "read": "fastrnns_rs.verbs.report.capture_reader",
}

if BUILD_PROFILE != "release":
    import warnings

    warnings.warn(
        "fastrnns_rs was built without optimisation, so its overheads mean nothing; pip install . builds it with",
        RuntimeWarning,
        stacklevel=2,
    )


def __getattr__(name: str) -> Any:
    if name == "stats":
        return importlib.import_module("fastrnns_rs.stats")
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = getattr(importlib.import_module(_HOME.get(name, "fastrnns_rs.api")), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted(__all__)
