"""`scripts/gpu-check`: the command line, and the steps one after the other."""

from __future__ import annotations

import argparse
import sys
import time
import traceback
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

from fastrnns_rs.escaping import visible
from gpu_check import page
from gpu_check.items import FAILED, NOT_RUN, Item, Section, Step
from gpu_check.session import Options, Session
from gpu_check.steps import STEPS

_BUDGET_MIN = 15.0
_INTERRUPTED = 130


def main(words: Sequence[str] | None = None) -> int:
    """Runs the check.

    Returns:
        0 if nothing failed, 1 if something failed, 130 after Ctrl-C.
    """
    names = [one.name for one in STEPS]
    parser = argparse.ArgumentParser(prog="gpu-check", description="Runs everything that needs a GPU; writes one page.")
    parser.add_argument("--output", type=Path, default=Path("gpu-check"), metavar="FOLDER", help="Folder of the page.")
    parser.add_argument("--minutes", type=float, default=_BUDGET_MIN, help="Time budget. Default: %(default)g.")
    parser.add_argument("--steps", nargs="+", choices=names, default=names, help="Steps. Default: all.")
    parser.add_argument("--quick", action="store_true", help="Small sizes in the acceptance table.")
    parser.add_argument("--runners", nargs="+", default=(), help="Runners of the acceptance table. Default: all.")
    parser.add_argument("--nloops", type=int, default=10, help="Timed iterations of a runner. Default: %(default)d.")
    parser.add_argument("--tests", nargs="+", default=(), help="Test files, without suffix. Default: all.")
    parser.add_argument("--models", nargs="+", default=(), help="Models of the comparison. Default: all.")
    given = parser.parse_args(words)
    options = Options(
        budget_s=given.minutes * 60,
        folder=given.output.resolve(),
        quick=given.quick,
        runners=given.runners,
        nloops=given.nloops,
        test_names=given.tests,
        models=given.models,
    )
    # Without the first step nothing is known of the device.
    return check(options, [one for one in STEPS if one.name in given.steps or not one.needs_device])


def check(options: Options, steps: Iterable[Step]) -> int:
    """Runs some steps, and writes the page after each of them."""
    begin = time.monotonic()
    session = Session(options)
    sections: list[Section] = []
    interrupted = False
    for step in steps:
        started, items = time.monotonic(), []
        print(f"gpu-check: {step.title}", file=sys.stderr)
        try:
            for item in _items(step, session, interrupted=interrupted):
                items.append(item)
                line = f"{item.status}: {item.name}{f': {item.reason}' * bool(item.reason)}"
                print(f"  {visible(line)}", file=sys.stderr)
        except KeyboardInterrupt:
            interrupted = True
            items.append(Item(name="rest", status=NOT_RUN, reason="interrupted"))
        sections.append(Section(title=step.title, seconds=time.monotonic() - started, items=items))
        _write(session, sections, time.monotonic() - begin)
    print(session.path("gpu-check.md"))
    if interrupted:
        return _INTERRUPTED
    return int(any(one.status == FAILED for one in sections))


def _items(step: Step, session: Session, *, interrupted: bool) -> Iterator[Item]:
    """Yields the items of a step. A step that fails does not stop the others."""
    if interrupted:
        yield Item(name="all", status=NOT_RUN, reason="interrupted")
        return
    if step.needs_device and not session.facts.get("devices"):
        yield Item(name="all", status=NOT_RUN, reason="no CUDA device that works")
        return
    try:
        yield from step.run(session)
    except Exception as error:  # noqa: BLE001  # whatever it is: the page reports it
        reason = f"the check itself failed: {type(error).__name__}: {error}"
        yield Item(name="rest", status=FAILED, reason=reason, log=traceback.format_exc())


def _write(session: Session, sections: Sequence[Section], seconds: float) -> None:
    for name, made in (("gpu-check.md", page.markdown), ("gpu-check.json", page.figures)):
        text = made(sections, session.facts, emulated=session.emulated, seconds=seconds)
        session.path(name).write_text(text, encoding="utf-8")
