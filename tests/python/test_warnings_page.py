"""The page of warnings has every code, and no others."""

from __future__ import annotations

import re
from typing import get_args

from conftest import ROOT

from fastrnns_rs.machine.warnings.warning import Code

PACKAGE = ROOT / "python" / "fastrnns_rs"
PAGE = (ROOT / "docs" / "warnings.md").read_text()
#: Warnings of a capture and of a report have pages of their own.
OTHER_PAGES = ("verbs/profile", "verbs/report", "machine/warnings")


def test_every_code_has_a_row_and_every_row_a_code() -> None:
    rows = re.findall(r"^\| `(\w+)` \|", PAGE, flags=re.MULTILINE)
    assert len(rows) == len(set(rows))
    elsewhere = {
        code
        for path in PACKAGE.rglob("*.py")
        if not path.relative_to(PACKAGE).as_posix().startswith(OTHER_PAGES)
        for code in re.findall(r'\bNotice\(\s*code="(\w+)"', path.read_text())
    }
    assert set(rows) == set(get_args(Code)) | elsewhere


def test_every_code_is_used() -> None:
    files = (PACKAGE / "machine" / "warnings").glob("*.py")
    source = "".join(path.read_text() for path in files if path.name != "warning.py")
    assert {code for code in get_args(Code) if f'"{code}"' not in source} == set()


def test_every_row_says_what_it_means_what_is_seen_and_what_to_do() -> None:
    for row in re.findall(r"^\| `\w+` \|.*$", PAGE, flags=re.MULTILINE):
        cells = [cell.strip() for cell in row.strip("|").split("|")]
        assert len(cells) == 4, row
        assert all(cells), row
