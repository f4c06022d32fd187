"""What `import fastrnns_rs` offers."""

from fastrnns_rs._core import Completed, run_command
from fastrnns_rs.api.capture import profile
from fastrnns_rs.api.comparison import compare
from fastrnns_rs.api.measurement import bench
from fastrnns_rs.api.modules import benchmark_modules
from fastrnns_rs.api.upstream import BenchResult, trainbench
from fastrnns_rs.api.verification import verify
from fastrnns_rs.documents.capture_manifest import Capture
from fastrnns_rs.documents.comparison import Comparison
from fastrnns_rs.documents.inductor_report import InductorReport
from fastrnns_rs.documents.run_file import Run
from fastrnns_rs.documents.verification import Verification
from fastrnns_rs.errors import FastrnnsError, MissingError, UsageError
from fastrnns_rs.problem.problem import Problem
from fastrnns_rs.problem.profiler_schedule import Schedule
from fastrnns_rs.runners.registry import runner
from fastrnns_rs.verbs.report.capture_reader import read
from fastrnns_rs.verbs.report.capture_summary import Summary

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
