"""The long tests, by the part of scripts/test that runs them."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import pytest

#: CONTRIBUTING.md says what each holds.
PARTS = (
    "bench",
    "docs",
    "emulated",
    "inductor",
    "kills",
    "models",
    "mutants",
    "pages",
    "profilers",
    "reading",
    "setup",
    "simulations",
)

#: Files whose tests take longest, which start first: a long file that starts last keeps one process busy alone.
FIRST = (
    "test_acceptance.py",
    "test_verify_runners.py",
    "test_pages_browser.py",
    "test_profile_failures.py",
    "test_upstream_faults_measuring.py",
    "test_profile_refusals.py",
    "test_models_variants.py",
    "test_report_faults.py",
    "test_profilers.py",
    "test_bench_cli.py",
    "test_structure.py",
    "test_report_refusals.py",
    "test_validation_intervals.py",
    "test_bench_failures.py",
    "test_warnings_drift.py",
    "test_profile_output.py",
    "test_validation_verdicts.py",
    "test_noise_floor.py",
    "test_api.py",
    "test_stats_bindings.py",
    "test_profile_report.py",
    "test_stats_changepoints.py",
    "test_models.py",
    "test_validation_series.py",
    "test_report_sources.py",
    "test_api_arguments.py",
    "test_doctor.py",
    "test_plugins.py",
    "test_profile_conversion.py",
    "test_upstream_faults_profile.py",
    "test_warnings_modes.py",
    "test_report_command.py",
    "test_upstream_faults_models.py",
    "test_redaction.py",
    "test_verify_mutants.py",
)


def few(kept: Iterable[Any], values: Iterable[Any], part: str) -> list[Any]:
    """Values of a parameter, of which every change is tested with those in `kept`; the others belong to a part."""
    kept = [*kept]
    values = [*values]
    assert all(one in values for one in kept), kept
    mark = pytest.mark.long(part)
    return [
        one if one in kept else pytest.param(*(one if isinstance(one, tuple) else (one,)), marks=mark) for one in values
    ]
