"""Runs a fuzzing program until its coverage has stood still: `fuzz/until_still.py MINUTES PROGRAM [ARGUMENT...]`.

MINUTES are of the program's own CPU time since the last new edge, so that a busy machine only takes longer. Its output
goes to standard output, its exit code is ours, and each new edge makes a line on standard error.

With `-print_pcs=1`, only edges of lines in `src/` count. The compiler copies code of libraries into ours, also into the
middle of our functions: sorting, hash maps, comparing. Most of what is found after half an hour is there.
"""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
import threading
import time
from functools import cached_property
from pathlib import Path

#: A line of libFuzzer's: `#512	NEW    cov: 1312 ft: 2800 corp: 40/3Kb ...`.
_PROGRESS = re.compile(rb"^#(\d+)\s.*?cov: (\d+) ft: (\d+) corp: (\d+)")
#: A line for a new edge, before that: `	NEW_PC: 0x55ca2cbc5a50`.
_EDGE = re.compile(rb"^\s+NEW_PC: (0x[0-9a-f]+)")
_OWN = str(Path(__file__).resolve().parents[1] / "src") + os.sep
_TICKS_PER_MINUTE = 60 * os.sysconf("SC_CLK_TCK")


def main() -> int:
    """Passes the program's output on, and asks it to end once nothing new is found."""
    minutes, *command = sys.argv[1:]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT) as program:
        places = Places(command[0], program.pid) if "-print_pcs=1" in command else None
        watch = Watch(program, float(minutes), places)
        threading.Thread(target=watch.end_when_still, daemon=True).start()
        for line in program.stdout or ():
            sys.stdout.buffer.write(line)
            watch.see(line)
    print(f"  ended after {watch.cpu_minutes:.1f} CPU min", file=sys.stderr)
    return program.returncode


class Places:
    """Places in the source of the addresses of a process."""

    def __init__(self, program: str, pid: int) -> None:
        self._pid = pid
        command = ["addr2line", "--addresses", "--inlines", f"--exe={program}"]
        self._process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE)

    def find_own(self, address: bytes) -> str | None:
        """Returns the line of an edge, as `trace/escape.rs:17`; None for lines outside `src/`."""
        asked, answers = self._process.stdin, self._process.stdout
        assert asked is not None  # noqa: S101  # it is a pipe
        assert answers is not None  # noqa: S101  # it is a pipe
        # The second address marks the end of the first one's places.
        asked.write(b"%x\n0\n" % (int(address, 16) - self._base))
        asked.flush()
        places = []
        for line in answers:
            if line.startswith(b"0x") and not int(line, 16):
                answers.readline()
                break
            places.append(os.fsdecode(line.strip()))
        # The address comes first, then the innermost of the functions inlined there; nothing if it is unknown.
        innermost = places[1] if places[1:] else ""
        return innermost.removeprefix(_OWN) if innermost.startswith(_OWN) else None

    @cached_property
    def _base(self) -> int:
        """Address at which the program is loaded: that of its first mapping."""
        return int(Path(f"/proc/{self._pid}/maps").read_text(encoding="utf-8").partition("-")[0], 16)


class Watch:
    """Coverage of a program, and its CPU time at the last new edge."""

    def __init__(self, program: subprocess.Popen[bytes], still: float, places: Places | None) -> None:
        self._program, self._still, self._places = program, still, places
        self._covered, self._since = 0, 0.0
        self._new: list[str] = []
        #: As last seen, since an ended program has none to ask for.
        self.cpu_minutes = 0.0

    def see(self, line: bytes) -> None:
        """Notes a new edge, or a line of progress."""
        edge = _EDGE.match(line)
        if edge is not None and self._places is not None:
            place = self._places.find_own(edge[1])
            self._new += [] if place is None else [place]
        found = _PROGRESS.match(line)
        if found is None:
            return
        runs, covered, features, kept = map(int, found.groups())
        # Edges of the corpus are not listed.
        if self._new or b"INITED" in line or (self._places is None and covered > self._covered):
            self._covered = covered
            self._look_at_clock()
            self._since = self.cpu_minutes
            found_by_now = f"  {self._since:.1f} CPU min, {runs} runs: cov {covered}, ft {features}, corpus {kept}"
            print(" ".join([found_by_now, *dict.fromkeys(self._new)]), file=sys.stderr, flush=True)
            self._new.clear()

    def end_when_still(self) -> None:
        """Asks it to end after the input at hand, with its figures and exit code 0."""
        while self._program.poll() is None:
            self._look_at_clock()
            if self.cpu_minutes - self._since > self._still:
                self._program.send_signal(signal.SIGUSR1)
                return
            time.sleep(1)

    def _look_at_clock(self) -> None:
        """User and system time of all threads."""
        try:
            fields = Path(f"/proc/{self._program.pid}/stat").read_text(encoding="utf-8").rpartition(")")[2].split()
        except OSError:
            # It has just ended.
            return
        self.cpu_minutes = (int(fields[11]) + int(fields[12])) / _TICKS_PER_MINUTE


if __name__ == "__main__":
    sys.exit(main())
