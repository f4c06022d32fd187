"""Output formats of runs and comparisons, by their `--format` names."""

from __future__ import annotations

RUN = ("table", "json", "csv", "markdown", "fastrnns", "oss", "pep")
COMPARISON = ("table", "json", "markdown", "junit")
