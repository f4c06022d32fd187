"""Commands that wait for a file system that does not answer, which no signal ends."""

from __future__ import annotations

import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from faulty_files import Mounted, why_not
from processes import AT_ONCE_S, left_of, marked

from fastrnns_rs._core import run_command

pytestmark = [
    pytest.mark.skipif(why_not() is not None, reason=str(why_not())),
    # Each holds how soon something has ended.
    pytest.mark.alone,
]

#: Longer than any of these tests.
HANGS_S = 120.0


@pytest.fixture
def held(tmp_path: Path) -> Iterator[str]:
    """A file whose readers are held until the server ends."""
    with Mounted(tmp_path, hang_in="open", hang_s=HANGS_S) as files:
        (files.server / "held").write_text("never read")
        path = str(files.folder / "held")
        yield path
        files.stop()
        assert not left_of(path)


def test_a_command_that_is_held_is_left(held: str) -> None:
    begin = time.monotonic()
    done = run_command(["cat", held], timeout=0.5, grace=0.1)
    assert (done.timed_out, done.exit_status, done.stdout_tail) == (True, None, "")
    assert time.monotonic() - begin < AT_ONCE_S
    # It is the command that is held, and not the file that is missing.
    assert marked(held)
    assert run_command(["echo", "said"]).stdout_tail == "said\n"


def test_a_process_that_a_command_leaves_and_that_is_held_is_left(held: str) -> None:
    begin = time.monotonic()
    done = run_command(["sh", "-c", f"cat {held} & sleep 0.3; echo said"])
    assert (done.timed_out, done.exit_status, done.stdout_tail) == (False, 0, "said\n")
    assert time.monotonic() - begin < AT_ONCE_S
    assert marked(held)
