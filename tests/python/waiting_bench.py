"""`fastrnns-rs` as a process of its own with pretended workers, each of which waits for a line on standard input."""

from __future__ import annotations

import contextlib
import os
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from types import TracebackType
from typing import Any, Self

import pretended_workers
from commands import Done

from fastrnns_rs import cli
from fastrnns_rs.processes.listener import Answer

_READY = "measuring\n"
#: Six processes that measure nothing.
BENCH = ("bench", "--group", "rnns", "--rnns", "cudnn", "py", "--processes", "3", "--nloops", "4", "--device", "cpu")


def command(*arguments: object) -> list[str]:
    """The command line; where standard input is empty nothing is waited for."""
    return [sys.executable, __file__, *map(str, arguments)]


class WaitingBench:
    """Such a process, which is gone at the end of the block."""

    def __init__(self, *arguments: object, cwd: Path | None = None, variables: Mapping[str, str] | None = None) -> None:
        pipe = subprocess.PIPE
        self.process = subprocess.Popen(
            command(*arguments),
            stdin=pipe,
            stdout=pipe,
            stderr=pipe,
            text=True,
            cwd=cwd,
            env={**os.environ, **(variables or {})},
        )
        self._said = ""

    def __enter__(self) -> Self:
        self.wait_until_measuring()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.process.kill()
        self.process.communicate()

    def wait_until_measuring(self) -> None:
        assert self.process.stderr is not None
        while (line := self.process.stderr.readline()) != _READY:
            assert line, self._said
            self._said += line

    def measure(self, processes: int) -> None:
        """Lets so many processes measure; the next one has begun then."""
        assert self.process.stdin is not None
        for _ in range(processes):
            self.process.stdin.write("\n")
            self.process.stdin.flush()
            self.wait_until_measuring()

    def end(self) -> Done:
        """Lets all others measure too."""
        out, err = self.process.communicate(timeout=60)
        return Done(self.process.returncode, out, self._said + err.replace(_READY, ""))


def _waiting(job: dict[str, Any]) -> Answer:
    with contextlib.suppress(OSError):
        print(_READY, end="", file=sys.stderr, flush=True)
    sys.stdin.readline()
    return pretended_workers.rising(job)


if __name__ == "__main__":
    cli.main(sys.argv[1:], executor=pretended_workers.each(_waiting))
