"""Tests that are marked `gpu`, a process for each file: a device error of one file does not reach the others."""

from __future__ import annotations

import importlib.util
import re
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING
from xml.etree import ElementTree as ET

from gpu_check.items import FAILED, NOT_RUN, OK, Item, NotRunError
from gpu_check.session import TESTS

if TYPE_CHECKING:
    from gpu_check.children import Ended
    from gpu_check.session import Session

_LIMIT_S = 300.0
_NO_TESTS = 5
#: Failed tests that the page names; pytest's own report has all.
_NAMED = 5
#: Every runner on every device: after the others, which take seconds.
_LAST = "test_models"
#: The mark at the start of a line: the text of a test may contain it too.
_MARK = re.compile(r"^(@|pytestmark.*)pytest\.mark\.gpu", re.MULTILINE)
#: Packages that tests/python/conftest.py imports.
_NEEDED = ("pytest", "hypothesis")


def run(session: Session) -> Iterator[Item]:
    """Yields an item for each file, and one for each part of its long tests."""
    missing = [name for name in _NEEDED if importlib.util.find_spec(name) is None]
    if missing:
        yield Item(name="all", status=NOT_RUN, reason=f"missing: {', '.join(missing)}; install fastrnns-rs[test]")
        return
    # Quick tests of all files come before the long ones.
    for file in _files(session):
        yield from _tests(session, file, None)
    for file in _files(session):
        for part in _parts(file):
            yield from _tests(session, file, part)


def _files(session: Session) -> list[Path]:
    names = session.options.test_names
    files = sorted((TESTS / "python").rglob("test_*.py"))
    marked = [one for one in files if _MARK.search(one.read_text(encoding="utf-8"))]
    chosen = [one for one in marked if not names or one.stem in names]
    return sorted(chosen, key=lambda one: one.stem == _LAST)


def _parts(file: Path) -> list[str]:
    """Returns the parts that long tests of a file belong to: see tests/python/parts.py."""
    from parts import PARTS

    text = file.read_text(encoding="utf-8")
    return [part for part in PARTS if f'"{part}"' in text]


def _tests(session: Session, file: Path, part: str | None) -> Iterator[Item]:
    name = file.stem if part is None else f"{file.stem}, long tests: {part}"
    result = session.path("tests", f"{file.stem}{part or ''}.xml")
    # Options of pyproject.toml that the tests rely on are given here: the file may be missing.
    settings = ("-p", "no:cacheprovider", "--override-ini", f"pythonpath={TESTS}", "--rootdir", str(TESTS.parent))
    words = ("-m", "pytest", "-m", "gpu", "--junitxml", str(result), "--tb", "short", *settings)
    selected = () if part is None else ("--part", part)
    try:
        ended = session.python(f"tests-{name}".replace(" ", "-"), *words, *selected, str(file), limit_s=_LIMIT_S)
    except NotRunError as error:
        yield Item(name=name, status=NOT_RUN, reason=str(error))
        return
    if ended.status != _NO_TESTS:
        yield _item(name, ended, result)


def _item(name: str, ended: Ended, result: Path) -> Item:
    """The item of a file, from pytest's own report where it wrote one."""
    cases = [*ET.parse(result).iter("testcase")] if result.exists() else []
    problems = [one for one in cases if one.find("failure") is not None or one.find("error") is not None]
    skipped = [one for one in cases if one.find("skipped") is not None]
    passed = len(cases) - len(problems) - len(skipped)
    figures = {"passed": passed, "failed": len(problems), "skipped": len(skipped)}
    if ended.status != 0:
        more = len(problems) - _NAMED
        named = [*map(_told, problems[:_NAMED]), *([f"and {more} more"] if more > 0 else [])]
        reason = "; ".join(named) or ended.reason
        return Item(name=name, status=FAILED, reason=reason, seconds=ended.seconds, figures=figures, log=ended.excerpt)
    if not passed:
        reason = "; ".join({_told(one) for one in skipped}) or "no test ran"
        return Item(name=name, status=NOT_RUN, reason=reason, seconds=ended.seconds, figures=figures)
    return Item(name=name, status=OK, seconds=ended.seconds, figures=figures)


def _told(case: ET.Element) -> str:
    """Returns a test's name and the first line of its message."""
    found = next(one for kind in ("failure", "error", "skipped") if (one := case.find(kind)) is not None)
    message = (found.get("message") or "").splitlines()
    return f"{case.get('name')}: {message[0] if message else found.tag}"
