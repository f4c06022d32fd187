"""Output formats of runs and comparisons, by their `--format` names."""

from __future__ import annotations

RUN = ("table", "json", "csv", "markdown", "html", "fastrnns", "oss", "pep")
COMPARISON = ("table", "json", "markdown", "html", "junit")
