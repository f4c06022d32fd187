"""What `import fastrnns_rs` offers."""

from fastrnns_rs._core import Completed, run_command
from fastrnns_rs.api.capture import profile
from fastrnns_rs.api.comparison import compare
from fastrnns_rs.api.measurement import bench
from fastrnns_rs.api.modules import benchmark_modules
from fastrnns_rs.api.upstream import BenchResult, trainbench
from fastrnns_rs.api.verification import verify
from fastrnns_rs.comparing.document import Comparison
from fastrnns_rs.errors import FastrnnsError, MissingError, UsageError
from fastrnns_rs.inductor.document import InductorReport
from fastrnns_rs.problem import Problem
from fastrnns_rs.profiling.record import Capture
from fastrnns_rs.profiling.schedule import Schedule
from fastrnns_rs.registry import runner
from fastrnns_rs.reporting.reading import read
from fastrnns_rs.reporting.summary import Summary
from fastrnns_rs.results import Run
from fastrnns_rs.verifying.document import Verification

__all__ = [
    "BenchResult",
    "Capture",
    "Comparison",
    "Completed",
    "FastrnnsError",
    "InductorReport",
    "MissingError",
    "Problem",
    "Run",
    "Schedule",
    "Summary",
    "UsageError",
    "Verification",
    "bench",
    "benchmark_modules",
    "compare",
    "profile",
    "read",
    "run_command",
    "runner",
    "trainbench",
    "verify",
]
