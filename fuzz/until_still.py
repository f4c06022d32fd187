"""Runs a fuzzing program until its coverage has stood still: `fuzz/until_still.py MINUTES PROGRAM [ARGUMENT...]`.

MINUTES are of the program's own CPU time since the last new edge, so that a busy machine only takes longer. Its output
goes to standard output, its exit code is ours, and each new edge makes a line on standard error.
"""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

#: A line of libFuzzer's: `#512	NEW    cov: 1312 ft: 2800 corp: 40/3Kb ...`.
_PROGRESS = re.compile(rb"^#(\d+)\s.*?cov: (\d+) ft: (\d+) corp: (\d+)")
_TICKS_PER_MINUTE = 60 * os.sysconf("SC_CLK_TCK")


def main() -> int:
    """Passes the program's output on, and asks it to end once nothing new is found."""
    minutes, *command = sys.argv[1:]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT) as program:
        watch = Watch(program, float(minutes))
        threading.Thread(target=watch.end_when_still, daemon=True).start()
        for line in program.stdout or ():
            sys.stdout.buffer.write(line)
            watch.see(line)
    print(f"  ended after {watch.cpu_minutes:.1f} CPU min", file=sys.stderr)
    return program.returncode


class Watch:
    """Coverage of a program, and its CPU time at the last new edge."""

    def __init__(self, program: subprocess.Popen[bytes], still: float) -> None:
        self._program, self._still = program, still
        self._covered, self._since = 0, 0.0
        #: As last seen, since an ended program has none to ask for.
        self.cpu_minutes = 0.0

    def see(self, line: bytes) -> None:
        """Notes a line of progress."""
        found = _PROGRESS.match(line)
        if found is None:
            return
        runs, covered, features, kept = map(int, found.groups())
        if covered > self._covered:
            self._look_at_clock()
            self._covered, self._since = covered, self.cpu_minutes
            told = f"  {self._since:.1f} CPU min, {runs} runs: cov {covered}, ft {features}, corpus {kept}"
            print(told, file=sys.stderr, flush=True)

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
