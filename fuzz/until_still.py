"""Runs a fuzzing program until its coverage has stood still: `until_still.py MINUTES PROGRAM [ARGUMENT...]`.

MINUTES are of the program's own CPU time since it last reached something new, so that a busy machine only takes longer.
Its output goes to standard output, its exit code is ours, and whatever is new makes a line on standard error.

New is an edge; with `-print_pcs=1`, a line of `src/`. The compiler makes up to two hundred copies of a generic or
inlined function, whose edges would be found for days. It also puts code of libraries into the middle of ours: sorting,
hash maps. Code that it derives is at the lines of a declaration, and two keys that differ in their last field alone
reach one: such lines are not new.

libFuzzer does not list the edges of inputs that it begins with. With `-print_pcs=1` it begins with none, and the folder
that is the last argument appears a moment later.
"""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
import threading
import time
from contextlib import ExitStack
from functools import cache, cached_property
from pathlib import Path
from tempfile import TemporaryDirectory

#: A line of libFuzzer's: `#512	NEW    cov: 1312 ft: 2800 corp: 40/3Kb ...`.
_PROGRESS = re.compile(rb"^#(\d+)\s.*?cov: (\d+) ft: (\d+) corp: (\d+)")
#: A line for a new edge, before that: `	NEW_PC: 0x55ca2cbc5a50`.
_EDGE = re.compile(rb"^\s+NEW_PC: (0x[0-9a-f]+)")
_DECLARATION = re.compile(r"(\s*)(?:pub(?:\([^)]*\))? )?(?:struct|enum) [\w$]+")
_OWN = str(Path(__file__).resolve().parents[1] / "src") + os.sep
#: Most new lines that are named.
_SHOWN = 20
_TICKS_PER_MINUTE = 60 * os.sysconf("SC_CLK_TCK")


def main() -> int:
    """Passes the program's output on, and asks it to end once nothing new is found."""
    minutes, *command = sys.argv[1:]
    with ExitStack() as stack:
        late = None
        if "-print_pcs=1" in command:
            late = LateFolder(Path(command[-1]), Path(stack.enter_context(TemporaryDirectory())))
            command[-1] = str(late.path)
        program = stack.enter_context(subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT))
        places = Places(command[0], program.pid) if late is not None else None
        watch = Watch(program, float(minutes), places)
        threading.Thread(target=watch.end_when_still, daemon=True).start()
        for line in program.stdout or ():
            sys.stdout.buffer.write(line)
            watch.see(line)
            if late is not None and b"INITED" in line:
                late.appear()
    print(f"  ended after {watch.cpu_minutes:.1f} CPU min", file=sys.stderr)
    return program.returncode


class LateFolder:
    """A folder that is empty at first."""

    def __init__(self, folder: Path, scratch: Path) -> None:
        self._folder, self._next, self.path = folder.resolve(), scratch / "next", scratch / "corpus"
        nothing = scratch / "nothing"
        nothing.mkdir()
        # libFuzzer looks for files that are newer than the folder was at first.
        os.utime(nothing, (0, 0))
        self.path.symlink_to(nothing)

    def appear(self) -> None:
        """Shows what is in it."""
        self._next.symlink_to(self._folder)
        self._next.replace(self.path)


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
        path, _, line = innermost.rpartition(":")
        is_own = path.startswith(_OWN) and not (line.isdecimal() and int(line) in declarations(path))
        return innermost.removeprefix(_OWN) if is_own else None

    @cached_property
    def _base(self) -> int:
        """Address at which the program is loaded: that of its first mapping."""
        return int(Path(f"/proc/{self._pid}/maps").read_text(encoding="utf-8").partition("-")[0], 16)


@cache
def declarations(path: str) -> set[int]:
    """Returns the numbers of lines in a source file that derive, or that are part of a struct or an enumeration."""
    found, end = set(), None
    for number, line in enumerate(Path(path).read_text(encoding="utf-8").splitlines(), 1):
        start = _DECLARATION.match(line) if end is None else None
        if start is not None:
            end = start[1]
        if end is not None or line.lstrip().startswith("#[derive("):
            found.add(number)
        if end is not None and (line in {f"{end}}}", f"{end});"} or (start is not None and line.endswith((";", "}")))):
            end = None
    return found


class Watch:
    """Coverage of a program, and its CPU time when it last reached something new."""

    def __init__(self, program: subprocess.Popen[bytes], still: float, places: Places | None) -> None:
        self._program, self._still, self._places = program, still, places
        self._covered, self._since = 0, 0.0
        self._lines: set[str] = set()
        self._new: list[str] = []
        #: As last seen, since an ended program has none to ask for.
        self.cpu_minutes = 0.0

    def see(self, line: bytes) -> None:
        """Notes a new edge, or a line of progress."""
        edge = _EDGE.match(line)
        if edge is not None and self._places is not None:
            place = self._places.find_own(edge[1])
            if place is not None and place not in self._lines:
                self._lines.add(place)
                self._new.append(place)
        found = _PROGRESS.match(line)
        if found is None:
            return
        runs, covered, features, kept = map(int, found.groups())
        if self._new or (self._places is None and covered > self._covered):
            self._covered = covered
            self._look_at_clock()
            self._since = self.cpu_minutes
            found_by_now = f"  {self._since:.1f} CPU min, {runs} runs: cov {covered}, ft {features}, corpus {kept}"
            found_by_now += f", lines {len(self._lines)}" if self._lines else ""
            # Those of a whole corpus are too many to read.
            print(" ".join([found_by_now, *self._new[:_SHOWN]]), file=sys.stderr, flush=True)
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
