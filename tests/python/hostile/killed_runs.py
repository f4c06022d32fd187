"""Commands that are killed at a random moment, and what must hold afterwards.

The commands are processes of their own, with workers that do not import torch and profilers that are fakes: a run takes
a second. What a seed chooses is always the same; where in the run that moment lies depends on the machine.
"""

from __future__ import annotations

import contextlib
import os
import random
import shutil
import signal
import subprocess
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

import fake_tools
import pretended_processes
from processes import children, left_of
from supervised import listening, supervisors

from fastrnns_rs.documents.capture_manifest import Capture
from fastrnns_rs.documents.run_file import Run

VERBS = ("bench", "bench", "bench", "resume", "resume", "ab", "profile")
TARGETS = ("parent", "worker", "supervisor", "group")
SIGNALS = (signal.SIGKILL, signal.SIGTERM, signal.SIGHUP, signal.SIGINT, signal.SIGSTOP)
#: Reasons of processes that were killed, or whose supervisor was.
REASONS = ("was killed by signal", "its supervisor was killed", "KeyboardInterrupt", "exited with status 1")
#: Names of temporary files that a command which cannot notice its end may leave.
OURS = (".fastrnns-rs-", "fastrnns-rs-", ".run.json.lock")
#: A command that takes longer hangs; no worker may take so long either.
LONGEST_S = 100.0
_RUNNERS = (
    "--rnns",
    "cudnn",
    "py",
    "compile_scan",
    "--group",
    "rnns",
    "--device",
    "cpu",
    "--nloops",
    "3",
    "--timeout",
    "200",
)
_BENCH = ("bench", *_RUNNERS, "--processes", "2")
_AB = ("ab", "cudnn", "compile_scan", "--device", "cpu", "--nloops", "3", "--processes", "2", "--timeout", "200")
_PROFILE = (
    "profile",
    "--nsys",
    "--rnns",
    "compile_scan",
    "--quick",
    "--no-unprofiled",
    "--nloops",
    "2",
    "--warmup",
    "0",
)


@dataclass(frozen=True)
class Killing:
    """A kill as a seed chooses it: of what, by which signal, after which part of the run's usual time."""

    seed: int
    verb: str
    target: str
    number: signal.Signals
    moment: float
    pause_s: float

    @classmethod
    def of(cls, seed: int) -> Killing:
        chance = random.Random(seed)
        return cls(
            seed=seed,
            verb=chance.choice(VERBS),
            target=chance.choice(TARGETS),
            number=chance.choice(SIGNALS),
            moment=chance.random(),
            pause_s=chance.uniform(0.02, 0.3),
        )

    @property
    def is_noticed(self) -> bool:
        """True if the command itself goes on, or ends by itself."""
        return self.number != signal.SIGKILL or self.target in {"worker", "supervisor"}

    @property
    def interrupts(self) -> bool:
        """True if the signal asks the command to end."""
        return self.number != signal.SIGSTOP and self.target in {"parent", "group"}


class Laboratory:
    """Parts that all kills share, made once: how long each command takes, an interrupted run and a profiler.

    Args:
        folder: A new folder.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._nsys = fake_tools.nsys(
            folder / "bin" / "nsys",
            profile="import subprocess; subprocess.call(['sleep', '0.2']); call.pretend(); call.report()",
        )
        self.interrupted = self._interrupted_run()
        self._seconds = {verb: self._time(verb) for verb in dict.fromkeys(VERBS)}

    def attempt(self, seed: int) -> list[str]:
        """Runs a command, kills it as the seed says, and lists what does not hold; nothing is left of either."""
        killing = Killing.of(seed)
        place = Place(self._folder / f"seed{seed}", f"kill{os.getpid()}x{seed}")
        if killing.verb == "resume":
            shutil.copyfile(self.interrupted, place.run_file)
        troubles = _killed(
            killing, place, self._words(killing.verb, place), killing.moment * self._seconds[killing.verb]
        )
        if not troubles:
            place.remove()
        return [f"{killing} in {place.folder}: {one}" for one in troubles]

    def _words(self, verb: str, place: Place) -> list[str]:
        if verb == "profile":
            return [*_PROFILE, "--nsys-path", str(self._nsys), "--output-dir", str(place.captures)]
        if verb == "resume":
            return [*_BENCH, "--resume", str(place.run_file)]
        return [*(_AB if verb == "ab" else _BENCH), "--output", str(place.run_file)]

    def _time(self, verb: str) -> float:
        """Seconds that a command takes which nothing disturbs."""
        place = Place(self._folder / verb, f"kill{os.getpid()}x{verb}")
        if verb == "resume":
            shutil.copyfile(self.interrupted, place.run_file)
        begin = time.monotonic()
        with place.started(self._words(verb, place)) as process:
            _, errors = process.communicate(timeout=LONGEST_S)
        assert process.returncode == 0, errors
        return time.monotonic() - begin

    def _interrupted_run(self) -> Path:
        place = Place(self._folder / "interrupted", f"kill{os.getpid()}xinterrupted")
        with place.started(self._words("bench", place)) as process:
            while not place.run_file.exists() or not Run.load(place.run_file).results:
                assert process.poll() is None
                time.sleep(0.01)
            process.send_signal(signal.SIGINT)
            process.communicate(timeout=LONGEST_S)
        assert Run.load(place.run_file).status == "interrupted"
        return place.run_file


class Place:
    """The folders of one command, which are its own, and a mark that all of its processes have."""

    def __init__(self, folder: Path, mark: str) -> None:
        self.folder = folder
        self.mark = mark
        self.temporary = folder / "temporary"
        self.results = folder / "results"
        self.captures = folder / "captures"
        for path in (self.temporary, self.results, folder / "home"):
            path.mkdir(parents=True)
        self.run_file = self.results / "run.json"

    def started(self, words: Sequence[str]) -> subprocess.Popen[str]:
        home = str(self.folder / "home")
        given = {"TMPDIR": str(self.temporary), "HOME": home, "XDG_STATE_HOME": home, "FASTRNNS_TEST_MARK": self.mark}
        return subprocess.Popen(
            pretended_processes.command(*words),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            cwd=self.folder,
            env={**os.environ, **given, pretended_processes.SECONDS: "0.05"},
            start_new_session=True,
            preexec_fn=listening,
        )

    def left(self) -> list[str]:
        """Temporary files, and files beside the results."""
        beside = [path.name for path in self.results.iterdir() if path != self.run_file]
        # torch's own cache is made before others make it, and stays.
        temporary = (path.name for path in self.temporary.iterdir() if not path.match("torchinductor_*"))
        return [*temporary, *beside]

    def remove(self) -> None:
        shutil.rmtree(self.folder)


def _killed(killing: Killing, place: Place, words: list[str], after_s: float) -> list[str]:
    """Kills a command after so many seconds, and lists what does not hold then."""
    before = Run.load(place.run_file) if killing.verb == "resume" else None
    with place.started(words) as process:
        with contextlib.suppress(subprocess.TimeoutExpired):
            process.wait(after_s)
        _send(killing, process)
        try:
            _, errors = process.communicate(timeout=LONGEST_S)
        except subprocess.TimeoutExpired:
            process.kill()
            return ["it hangs"]
    troubles = _ended(killing, process.returncode, errors)
    if survivors := left_of(f"FASTRNNS_TEST_MARK={place.mark}"):
        troubles.append(f"survivors: {survivors}")
    left = [name for name in place.left() if killing.is_noticed or not name.startswith(OURS)]
    if left:
        troubles.append(f"temporary files: {left}")
    if killing.verb == "profile":
        return troubles + _captured(killing, place)
    return troubles + _saved(killing, place, before)


def _send(killing: Killing, process: subprocess.Popen[str]) -> None:
    """Sends the signal to the target, which may have to be waited for, or may not come any more."""
    targets: list[int] = []
    deadline = time.monotonic() + 1
    while process.poll() is None and not targets and time.monotonic() < deadline:
        targets = _targets(killing.target, process.pid)
    send: Callable[[int, int], None] = os.killpg if killing.target == "group" else os.kill
    for number in (killing.number, signal.SIGCONT) if killing.number == signal.SIGSTOP else (killing.number,):
        for target in targets:
            with contextlib.suppress(ProcessLookupError):
                send(target, number)
        if number == signal.SIGSTOP:
            time.sleep(killing.pause_s)


def _targets(target: str, parent: int) -> list[int]:
    if target in {"parent", "group"}:
        return [parent]
    with contextlib.suppress(OSError):
        above = supervisors(parent)
        return above if target == "supervisor" else [pid for one in above for pid in children(one)]
    # One of them has ended meanwhile.
    return []


def _ended(killing: Killing, status: int, errors: str) -> list[str]:
    """Faults in the end of the command."""
    expected = {0}
    if killing.target in {"worker", "supervisor"} and killing.number != signal.SIGSTOP:
        # A profiler that is killed when it is asked for its version does not work.
        expected |= {1, 5} if "profiler fails: 'nsys'" in errors else {1}
    if killing.interrupts:
        # As a program ends that has not begun to handle signals, Python itself included.
        expected |= {130, -killing.number, *([1] if "KeyboardInterrupt" in errors else [])}
    found = [] if status in expected else [f"exit status {status}: {errors[-600:]}"]
    # Python complains where it is interrupted before we are asked, and so does a fake profiler.
    has_traceback = (
        "Traceback" in errors and "KeyboardInterrupt" not in errors and "profiler fails: 'nsys'" not in errors
    )
    if has_traceback or "fault of fastrnns-rs" in errors:
        found.append(f"it has complained: {errors[-600:]}")
    return found


def _captured(killing: Killing, place: Place) -> list[str]:
    """Faults in the files that a profile has left."""
    troubles = []
    for path in place.captures.glob("*.json") if place.captures.exists() else ():
        if path.name.endswith(".answer.json"):
            troubles += [f"{path.name} was left"] if killing.is_noticed else []
        else:
            Capture.load(path)
    return troubles


def _saved(killing: Killing, place: Place, before: Run | None) -> list[str]:
    """Faults in the run file, and in the run that resumes it."""
    if not place.run_file.exists():
        return [] if killing.interrupts else ["there is no run file"]
    run = Run.load(place.run_file)
    troubles = [] if before is None else _lost(before, run)
    failed = [one for result in run.results for one in result.processes if one.status not in {"ok", "interrupted"}]
    for one in failed:
        if killing.target in {"parent", "group"} or not any(reason in str(one.reason) for reason in REASONS):
            troubles.append(f"a process failed: {one.reason}")
    if killing.verb == "ab" or run.status != "interrupted":
        return troubles if killing.verb == "ab" or failed else troubles + _complete(run)
    if not killing.interrupts:
        troubles.append("the run was interrupted")
    with place.started([*_BENCH, "--resume", str(place.run_file)]) as process:
        _, errors = process.communicate(timeout=LONGEST_S)
    if process.returncode != 0:
        return [*troubles, f"resumed: exit status {process.returncode}: {errors[-600:]}"]
    resumed = Run.load(place.run_file)
    if left := [name for name in place.left() if killing.is_noticed or not name.startswith(OURS)]:
        troubles.append(f"temporary files of the resumed run: {left}")
    if survivors := left_of(f"FASTRNNS_TEST_MARK={place.mark}"):
        troubles.append(f"survivors of the resumed run: {survivors}")
    return troubles + _lost(run, resumed) + _complete(resumed)


def _lost(before: Run, after: Run) -> list[str]:
    """Samples that were measured before and are missing now."""
    found = {one.runner: one.processes for one in after.results}
    return [
        f"{one.runner} has lost processes that were measured"
        for one in before.results
        if found.get(one.runner, [])[: len(one.processes)] != one.processes
    ]


def _complete(run: Run) -> list[str]:
    counts = {one.runner: sum(process.status == "ok" for process in one.processes) for one in run.results}
    wanted = {one.runner: 2 for one in run.plan.runners}
    return [] if run.status == "complete" and counts == wanted else [f"{run.status} with {counts}"]
