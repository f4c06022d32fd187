"""Makes a capture: under a profiler, in a form that can be read, and looked at.

Whatever happens, the log and the record of it stay.
"""

from __future__ import annotations

import contextlib
import shlex
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

from fastrnns_rs.documents import file_names
from fastrnns_rs.documents.codec import Notice
from fastrnns_rs.errors import ExitCode, FastrnnsError
from fastrnns_rs.processes.temporary_folder import compiler_folder, variables_for
from fastrnns_rs.verbs.profile import assessment, capture_storage, tools
from fastrnns_rs.verbs.profile.attempt import Attempt, Entry
from fastrnns_rs.verbs.profile.baseline import Baseline
from fastrnns_rs.verbs.profile.child_command import child_command

if TYPE_CHECKING:
    from fastrnns_rs._core import Profiler
    from fastrnns_rs.documents.capture_manifest import Capture, CheckEntry
    from fastrnns_rs.runners.profile_request import ProfileRequest
    from fastrnns_rs.verbs.profile.capture_plan import Prepared


#: How often nsys is started until it finds its agent. On a busy machine one start in ten may fail.
_STARTS = 3


class CaptureError(FastrnnsError):
    """There is no capture, or not the one that was asked for.

    Attributes:
        capture: The record of what there is.
        log: The file with every command that was run, and what it printed.
    """

    def __init__(self, message: str, hint: str, capture: Capture, log: Path) -> None:
        super().__init__(message, hint)
        self.capture = capture
        self.log = log
        if capture.timed_out:
            self.exit_code = ExitCode.TIMED_OUT


@dataclass(frozen=True, slots=True, kw_only=True)
class Place:
    """Where a capture goes and what becomes of its parts.

    Attributes:
        folder: Its folder.
        keep: Files that were only a step on the way to others stay.
        redact: What nobody else should read is taken out, and files that it cannot be taken out of are removed.
        baseline: The runners also run without the profiler, to know how much slower it makes them.
    """

    folder: Path
    keep: bool = False
    redact: bool = False
    baseline: bool = True


def capture(prepared: Prepared, place: Place, say: Callable[[str], None] = lambda _line: None) -> tuple[Capture, Path]:
    """Makes a capture.

    Args:
        prepared: What to capture.
        place: Where it goes.
        say: Called with a line for a person before each step.

    Returns:
        The record, and the path of the capture's files without their suffixes.

    Raises:
        CaptureError: A runner, the profiler or a check failed; the record is in it.
        FastrnnsError: The folder cannot be written to.
        KeyboardInterrupt: Ctrl-C; what there is until then stays.
    """
    plan, tool = prepared.plan, prepared.tool
    stem = file_names.reserve(place.folder, _names(prepared), plan.tasks[0].problem)
    attempt = Attempt(stem, prepared.request.options.timeout, redact=place.redact)

    def keep(found: list[CheckEntry]) -> Capture:
        return capture_storage.keep(plan, tool, attempt, found, intermediate=place.keep)

    try:
        with _compiler_files(prepared) as attempt.variables:
            _make(prepared, attempt, say, baseline=place.baseline)
        found = assessment.check(prepared.request, plan, tool, attempt)
        record = keep(found)
    except BaseException as error:
        attempt.log.append(Entry(f"# {type(error).__name__}: {error}"))
        # Whoever was interrupted has not looked at it yet.
        attempt.answer = attempt.answer or attempt.said()
        # What went wrong matters more than that nothing can be written any more.
        with contextlib.suppress(OSError, FastrnnsError):
            kept = keep([]).artefacts
            say(f"what there is of the capture: {', '.join(one.path for one in kept) or 'nothing'}")
        if isinstance(error, OSError):
            message = f"{error.filename or place.folder} cannot be written: {error.strerror}"
            raise FastrnnsError(message, "make room, or give --output-dir on another disk") from error
        raise
    reason = assessment.failure(tool, attempt, record)
    if reason is not None:
        raise CaptureError(*reason, record, attempt.log_path)
    return record, stem


def dry_run(prepared: Prepared, place: Place) -> str:
    """The command that would be run, quoted for a shell."""
    plan = prepared.plan
    stem = place.folder.absolute() / file_names.name(_names(prepared), plan.tasks[0].problem, datetime.now(UTC))
    cuda = assessment.uses_cuda(plan)
    child = child_command(prepared.request, plan, stem, None)
    return shlex.join(prepared.tool.wrap(child, stem, cuda=cuda, capture_range=cuda))


@contextlib.contextmanager
def _compiler_files(prepared: Prepared) -> Iterator[dict[str, str]]:
    """The variables of a folder for what runners compile: what an earlier run left would be another program's."""
    if not any(task.runner.compiles for task in prepared.plan.tasks):
        yield {}
        return
    with compiler_folder() as folder:
        yield variables_for(folder)


def _names(prepared: Prepared) -> list[str]:
    return [task.runner.name for task in prepared.plan.tasks]


def _make(prepared: Prepared, attempt: Attempt, say: Callable[[str], None], *, baseline: bool) -> None:
    plan, tool = prepared.plan, prepared.tool
    unprofiled = _run_baseline(prepared, attempt, say) if baseline else None
    if unprofiled is not None and unprofiled.all_failed:
        # They would fail in the same way, only later.
        attempt.answer = unprofiled.answer
        return
    say(f"running under {tool.name}")
    cuda = assessment.uses_cuda(plan)
    _profile(prepared, attempt, say, capture_range=cuda)
    _read(tool, attempt, say)
    may_fall_back = cuda and tool.name in tools.PROGRAMS and attempt.phases and not attempt.ran_out_of_time
    if may_fall_back and assessment.holds_no_range(tool, attempt):
        message = f"{tool.name} saw none of the iterations in the range that it was given: everything is captured"
        evidence = shlex.join(attempt.command)
        attempt.warnings.append(Notice(code="range_yielded_nothing", message=message, evidence=evidence))
        say(message)
        _forget_files(prepared, attempt)
        _profile(prepared, attempt, say, capture_range=False)
        _read(tool, attempt, say)
    if unprofiled is not None:
        _compare(prepared, attempt, unprofiled)


def _run_baseline(prepared: Prepared, attempt: Attempt, say: Callable[[str], None]) -> Baseline:
    """Runs the runners without the profiler. Should that fail, there is still a capture to make."""
    say("running without the profiler")
    # Without a tool: torch's profiler is inside the command, whatever stands before it.
    command = _child(prepared, attempt, replace(prepared.request, tool=None))
    found = Baseline(*attempt.run_and_listen(command, "without the profiler"))
    attempt.ran_out_of_time = False
    attempt.unprofiled_ns = found.iteration_ns(prepared.request.captured(prepared.plan.nloops))
    trouble = found.trouble(attempt.where_printed)
    if trouble is not None:
        attempt.warnings.append(trouble)
        say(trouble.message)
    return found


def _compare(prepared: Prepared, attempt: Attempt, unprofiled: Baseline) -> None:
    """Notes how much longer the captured iterations took, or why nobody knows."""
    captured = prepared.request.captured(prepared.plan.nloops)
    attempt.ratio, differing = unprofiled.ratio(captured, attempt.answer)
    attempt.ratio_interval = unprofiled.interval(captured, attempt.answer)
    attempt.warnings += [] if differing is None else [differing]
    attempt.log += [Entry(line) for line in unprofiled.described(captured, attempt.answer)]


def _profile(prepared: Prepared, attempt: Attempt, say: Callable[[str], None], *, capture_range: bool) -> None:
    """Runs the profiler; again, within the same time, where nsys misses its agent before anything has run."""
    child = _child(prepared, attempt, prepared.request)
    cuda = assessment.uses_cuda(prepared.plan)
    attempt.command = prepared.tool.wrap(child, attempt.stem, cuda=cuda, capture_range=capture_range)
    deadline = time.monotonic() + attempt.timeout
    left = attempt.timeout
    for start in range(1, _STARTS + 1):
        attempt.completed, attempt.answer = attempt.run_and_listen(attempt.command, "under the profiler", left)
        missed = assessment.missed_agent(prepared.tool, attempt)
        left = deadline - time.monotonic()
        if missed is None or start == _STARTS or left <= 0:
            return
        message = f"nsys missed its own agent and ran nothing: it is started again ({start + 1} of {_STARTS})"
        attempt.warnings.append(Notice(code="profiler_restarted", message=message, evidence=missed))
        say(message)
        _forget_files(prepared, attempt)


def _forget_files(prepared: Prepared, attempt: Attempt) -> None:
    """Removes what the profiler has written: it would be taken for the next capture."""
    for path, _, _ in prepared.tool.artefacts(attempt.stem):
        path.unlink(missing_ok=True)


def _child(prepared: Prepared, attempt: Attempt, request: ProfileRequest) -> list[str]:
    return child_command(request, prepared.plan, attempt.stem, str(attempt.answer_path))


def _read(tool: Profiler, attempt: Attempt, say: Callable[[str], None]) -> None:
    """Brings what the profiler wrote into a form that can be read."""
    done: list[str] = []
    while (step := tool.finish(attempt.stem)) is not None and step != done:
        say(f"running {Path(step[0]).name}")
        attempt.run(step, "to read the capture")
        # The same again would fail again.
        done = step
