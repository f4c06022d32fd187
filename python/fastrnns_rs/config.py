"""Options from `[tool.fastrnns-rs.VERB]` in the nearest `pyproject.toml`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from fastrnns_rs.errors import UsageError

if TYPE_CHECKING:
    from pathlib import Path

TABLE = "tool.fastrnns-rs"


def find(start: Path) -> Path | None:
    """The `pyproject.toml` of `start` or of the nearest folder above it."""
    for folder in (start, *start.parents):
        if (folder / "pyproject.toml").is_file():
            return folder / "pyproject.toml"
    return None


def load(path: Path) -> dict[str, dict[str, Any]]:
    """The table of each verb.

    Raises:
        UsageError: The file is not TOML, or our part of it is no table of tables.
    """
    import tomllib  # most folders have no such file

    try:
        document = tomllib.loads(path.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        raise UsageError(f"{path} cannot be read: {error}", "mend the file") from error
    tool = document.get("tool", {})
    tables = tool.get("fastrnns-rs", {}) if isinstance(tool, dict) else {}
    if not isinstance(tables, dict):
        raise UsageError(f"[{TABLE}] in {path} is not a table", f"write options under [{TABLE}.bench]")
    for verb, options in tables.items():
        if not isinstance(options, dict):
            raise UsageError(f"{verb} in [{TABLE}] of {path} is not a table", f"write it under [{TABLE}.bench]")
    return tables
