"""Programs in the place of an interpreter that hang, print without end, or leave processes behind."""

from __future__ import annotations

import time
from pathlib import Path

import pytest
from processes import AT_ONCE_S, left_of
from supervised import alone

from fastrnns_rs.errors import UsageError
from fastrnns_rs.verbs.bench.interleaved import interleaved_plan
from fastrnns_rs.verbs.bench.interleaved.interleaved_plan import check_interpreter

#: A process in a session of its own that ignores the request to end.
DEAF = "(trap '' TERM HUP INT; exec setsid sleep {mark}) &"
#: Checks a program in a process of its own, and prints the error and the KiB added to the peak of memory.
FLOODED = """
from fastrnns_rs.errors import UsageError
from fastrnns_rs.verbs.bench.interleaved import interleaved_plan
interleaved_plan._TIMEOUT_S = 1.0
def peak():
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
before = peak()
try:
    interleaved_plan.check_interpreter(sys.argv[1])
except UsageError as error:
    print(error.message)
print(peak() - before)
"""
MOST_KIB = 64 << 10


def program(path: Path, *lines: str) -> str:
    path.write_text("\n".join(["#!/bin/sh", *lines, ""]))
    path.chmod(0o755)
    return str(path)


@pytest.mark.parametrize("then", ["exec sleep {mark}", "trap '' TERM; sleep {mark}; sleep {mark}"])
def test_a_program_that_hangs_is_ended_with_its_children(
    then: str, tmp_path: Path, mark: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(interleaved_plan, "_TIMEOUT_S", 0.5)
    hanging = program(tmp_path / "python", DEAF.format(mark=mark), then.format(mark=mark))
    begin = time.monotonic()
    with pytest.raises(UsageError, match=r"cannot run program: '.*python': timed out after 0\.5 s"):
        check_interpreter(hanging)
    assert time.monotonic() - begin < AT_ONCE_S
    assert not left_of(mark, within=0)


def test_nothing_is_left_of_a_program_that_ends(tmp_path: Path, mark: str) -> None:
    begin = time.monotonic()
    with pytest.raises(UsageError, match="is Python 3.10"):
        check_interpreter(program(tmp_path / "python", DEAF.format(mark=mark), "echo fastrnns-rs asks: 3 10"))
    assert time.monotonic() - begin < AT_ONCE_S
    assert not left_of(mark, within=0)


@pytest.mark.parametrize("stream", ["", " >&2"])
def test_output_without_end_takes_little_memory(stream: str, tmp_path: Path) -> None:
    printing = program(tmp_path / "python", f"exec yes aaaa{stream}")
    begin = time.monotonic()
    message, added = alone(FLOODED, printing)
    assert time.monotonic() - begin < AT_ONCE_S
    assert message == f"cannot run program: {printing!r}: timed out after 1 s"
    assert int(added) < MOST_KIB
