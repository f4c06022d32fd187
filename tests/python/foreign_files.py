"""Files that other tools wrote, and what the importers make of them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from conftest import ROOT

from fastrnns_rs.verbs.compare.importers import read_foreign
from fastrnns_rs.verbs.compare.side import Series, Side

FOLDER = ROOT / "tests" / "data" / "foreign"
NAMES = sorted(path.name for path in FOLDER.glob("*.json"))


def plain(name: str) -> Any:
    return json.loads((FOLDER / name).read_text(encoding="utf-8"))


def imported(document: Any, path: str | Path = "some.json") -> Side:
    side = read_foreign(str(path), document)
    assert side is not None
    return side


def by_name(side: Side) -> dict[str, Series]:
    assert len({series.runner for series in side.series}) == len(side.series)
    return {series.runner: series for series in side.series}


def codes(side: Side) -> list[str]:
    return [warning.code for warning in side.warnings]
