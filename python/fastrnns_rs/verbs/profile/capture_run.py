"""Creation of a capture: profiled run, conversion to readable files, and checks.

The log and the capture manifest are kept in every case.
"""

from __future__ import annotations

import contextlib
import errno
import os
import shlex
import time
from collections.abc import Iterator
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

from fastrnns_rs.documents import file_names
from fastrnns_rs.documents.warning import make_warning
from fastrnns_rs.errors import FastrnnsError
from fastrnns_rs.processes.folder_removal import remove_folders
from fastrnns_rs.processes.temporary_folder import compiler_folder, variables_for
from fastrnns_rs.runners.source_hash import find_change
from fastrnns_rs.verbs.profile import assessment, capture_storage, tools
from fastrnns_rs.verbs.profile.attempt import Attempt, Entry, child_environment
from fastrnns_rs.verbs.profile.baseline import Baseline
from fastrnns_rs.verbs.profile.capture_observer import Silent
from fastrnns_rs.verbs.profile.child_command import child_command
from fastrnns_rs.verbs.profile.private_folder import PrivateFolder, private_folder, profiler_variables

if TYPE_CHECKING:
    from fastrnns_rs._core import Profiler
    from fastrnns_rs.documents.capture_manifest import Capture, CheckEntry
    from fastrnns_rs.runners.plan import Task
    from fastrnns_rs.runners.profile_request import ProfileRequest
    from fastrnns_rs.verbs.profile.attempt import Ended
    from fastrnns_rs.verbs.profile.capture_observer import Observer
    from fastrnns_rs.verbs.profile.capture_plan import Prepared


#: Maximum number of starts until nsys finds its agent. On a busy machine one start in ten may fail.
_STARTS = 3
#: Maximum number of files that a message names.
_MOST_NAMED = 8


class CaptureError(FastrnnsError):
    """Missing or invalid capture.

    >>> import fastrnns_rs
    >>> issubclass(fastrnns_rs.CaptureError, fastrnns_rs.FastrnnsError)
    True

    Attributes:
        capture: Capture manifest.
        log: Path of the file with all commands and their output.
    """

    def __init__(self, message: str, hint: str, capture: Capture, log: Path) -> None:
        super().__init__(message, hint)
        self.capture = capture
        self.log = log
        if capture.timed_out:
            self.is_timeout = True


def concerns_one(error: FastrnnsError) -> bool:
    """Returns False for files that cannot be written: other captures would fail too.

    A folder that a runner removed is made again.
    """
    cause = error.__cause__
    return isinstance(error, CaptureError) or isinstance(cause, FileNotFoundError) or not isinstance(cause, OSError)


@dataclass(frozen=True, slots=True, kw_only=True)
class Place:
    """Output options of a capture.

    Attributes:
        folder: Output folder.
        keep: Keep intermediate files.
        redact: Remove private data, and files from which it cannot be removed.
        baseline: Also run the runners without the profiler, to measure the slowdown.
    """

    folder: Path
    keep: bool = False
    redact: bool = False
    baseline: bool = True


def capture(prepared: Prepared, place: Place, observer: Observer | None = None) -> tuple[Capture, Path]:
    """Makes a capture.

    Args:
        prepared: Plan of the capture.
        place: Output options.
        observer: Observer of the progress; None for no observer.

    Returns:
        The capture manifest, and the path of the capture's files without suffixes.

    Raises:
        CaptureError: If a runner, the profiler or a check failed; the exception contains the manifest.
        FastrnnsError: If the folder cannot be written to.
        KeyboardInterrupt: If Ctrl-C was pressed; the files so far are kept.
    """
    observer = observer or Silent()
    if not place.redact:
        return _capture(prepared, place, observer, None)
    with private_folder(place.folder, prepared.request) as private:
        return _capture(replace(prepared, request=private.adapt(prepared.request)), place, observer, private)


def _capture(
    prepared: Prepared, place: Place, observer: Observer, private: PrivateFolder | None
) -> tuple[Capture, Path]:
    plan, tool = prepared.plan, prepared.tool
    folder = prepared.request.torch.trace_folder
    stem = file_names.reserve(place.folder, _names(prepared), plan.tasks[0].problem, shares_traces=folder is not None)
    attempt = Attempt(
        stem, prepared.request.options.timeout, redact=place.redact, iterations=plan.nloops, private=private
    )
    if folder is not None:
        # A tilde that does not name a user's home is kept, and no error is raised.
        attempt.traces = Path(os.path.expanduser(folder))  # noqa: PTH111

    def keep(found: list[CheckEntry]) -> Capture:
        return capture_storage.keep(plan, tool, attempt, found, intermediate=place.keep)

    try:
        with _compiler_files(prepared) as attempt.variables:
            _make(prepared, attempt, observer, baseline=place.baseline)
        observer.reads(None)
        found = assessment.check(prepared.request, plan, tool, attempt)
        manifest = keep(found)
    except BaseException as error:
        attempt.log.append(Entry(f"# {type(error).__name__}: {error}"))
        # After an interrupt, the report was not read yet.
        attempt.answer = attempt.answer or attempt.said()
        # The original error is more important than a failed write.
        with contextlib.suppress(OSError, FastrnnsError):
            observer.note(f"files of the incomplete capture: {_list_files(keep([]))}")
        if isinstance(error, OSError):
            # An error of a move has two names, of which the second is the written file.
            file = error.filename2 or error.filename or place.folder
            message = f"cannot write file: {str(file)!r}"
            is_full = error.errno in {errno.ENOSPC, errno.EDQUOT}
            is_temporary = private is not None and str(file).startswith(str(private.path))
            other = "use another `TMPDIR`." if is_temporary else "use another `output_dir`."
            hint = f"Free disk space, or {other}" if is_full else f"U{other[1:]}"
            why = error.strerror or str(error)
            raise FastrnnsError(message, hint, reason=why) from error
        raise
    reason = assessment.failure(tool, attempt, manifest)
    if reason is not None:
        raise CaptureError(*reason, manifest, attempt.log_path)
    return manifest, stem


def dry_run(prepared: Prepared, place: Place) -> str:
    """Returns the command that would be run, quoted for a shell."""
    plan = prepared.plan
    stem = place.folder.absolute() / file_names.name(_names(prepared), plan.tasks[0].problem, datetime.now(UTC))
    cuda = assessment.uses_cuda(plan)
    child = child_command(prepared.request, plan, stem, None)
    return shlex.join(prepared.tool.wrap(child, stem, cuda=cuda, capture_range=cuda))


@contextlib.contextmanager
def _compiler_files(prepared: Prepared) -> Iterator[dict[str, str]]:
    """Yields the variables of a fresh compiler cache folder.

    Files of an earlier run would belong to another program.
    """
    if not any(task.runner.compiles for task in prepared.plan.tasks):
        yield {}
        return
    with compiler_folder() as folder:
        yield variables_for(folder)


def _list_files(manifest: Capture) -> str:
    """Returns the files of a capture, or their number and folders if there are many."""
    paths = [Path(one.path) for one in manifest.artefacts]
    if len(paths) > _MOST_NAMED:
        return f"{len(paths):,} in {', '.join(dict.fromkeys(str(one.parent) for one in paths))}"
    return ", ".join(map(str, paths)) or "none"


def _names(prepared: Prepared) -> list[str]:
    return [task.runner.name for task in prepared.plan.tasks]


def _make(prepared: Prepared, attempt: Attempt, observer: Observer, *, baseline: bool) -> None:
    tool = prepared.tool
    unprofiled = _run_baseline(prepared, attempt, observer) if baseline else None
    if unprofiled is not None and unprofiled.all_failed:
        # All runners would fail in the same way under the profiler.
        attempt.answer = unprofiled.answer
        return
    with profiler_variables(tool.name, child_environment().get("TMPDIR")) as variables:
        attempt.variables |= variables
        _make_files(prepared, attempt, observer)
    if unprofiled is not None:
        _compare(prepared, attempt, unprofiled)


def _make_files(prepared: Prepared, attempt: Attempt, observer: Observer) -> None:
    """Runs the profiler, again if its range held nothing, and converts its files."""
    tool, cuda = prepared.tool, assessment.uses_cuda(prepared.plan)
    _profile(prepared, attempt, observer, capture_range=cuda)
    _read(tool, attempt, observer)
    may_fall_back = cuda and tool.name in tools.PROGRAMS and attempt.phases and not attempt.ran_out_of_time
    if may_fall_back and assessment.holds_no_range(tool, attempt):
        attempt.warnings.append(
            make_warning("range_yielded_nothing", evidence=shlex.join(map(attempt.final_text, attempt.command)))
        )
        observer.note(f"no iteration in the range of {tool.name}: capturing the whole program")
        _forget_files(prepared, attempt)
        _profile(prepared, attempt, observer, capture_range=False)
        _read(tool, attempt, observer)


def _run_baseline(prepared: Prepared, attempt: Attempt, observer: Observer) -> Baseline:
    """Runs the runners without the profiler; a failure does not prevent the capture."""
    attempt.forget_answer()
    observer.process_begins(None, attempt.read_progress)
    # Without a tool: torch's profiler is inside the command, not a prefix of it.
    command = _child(prepared, attempt, replace(prepared.request, tool=None))
    found = Baseline(*attempt.run_and_listen(command, "without the profiler"))
    if _leave_out(prepared, attempt, observer, found.completed, found.answer):
        return _run_baseline(prepared, attempt, observer)
    _fail_changed(prepared, attempt, found.answer)
    attempt.ran_out_of_time = False
    attempt.unprofiled_ns = found.iteration_ns(prepared.request.captured(prepared.plan.nloops))
    failed = found.failure(None if attempt.redact else attempt.log_path)
    if failed is not None:
        attempt.warnings.append(failed)
        observer.note(f"{failed.message}: {failed.evidence}")
    return found


def _leave_out(
    prepared: Prepared, attempt: Attempt, observer: Observer, completed: Ended, answer: dict[str, Any]
) -> bool:
    """Leaves out a runner that ended its process before any iteration.

    Returns:
        True if the process must be started again, for the other runners.
    """
    fallen = assessment.find_fallen(completed, answer)
    names = [task.runner.name for task in _tasks(prepared, attempt)]
    # A runner can write any name to the report.
    if fallen is None or fallen["name"] not in names or len(names) == 1:
        return False
    attempt.left_out.append(fallen)
    text = f"the process ended while the runner {fallen['name']} was built: starting it again without the runner"
    attempt.log.append(Entry(f"# {text}"))
    observer.note(text)
    return True


def _tasks(prepared: Prepared, attempt: Attempt) -> list[Task]:
    """Returns the tasks of the runners that are not left out."""
    names = {one["name"] for one in attempt.left_out}
    return [task for task in prepared.plan.tasks if task.runner.name not in names]


def _fail_changed(prepared: Prepared, attempt: Attempt, answer: dict[str, Any]) -> None:
    """Fails the runners in an answer whose code has changed since the plan."""
    changes = {
        task.runner.name: find_change(task.runner.source, prepared.sources.get(task.runner.name))
        for task in prepared.plan.tasks
    }
    for one in answer.get("runners", []):
        reason = changes.get(one["name"])
        if one["status"] == "ok" and reason is not None:
            hint = "leave the code of the runner as it is until the end of the command"
            one.update(status="failed", reason=reason, hint=hint)
            attempt.log.append(Entry(f"# the runner {one['name']} failed: {reason}"))


def _compare(prepared: Prepared, attempt: Attempt, unprofiled: Baseline) -> None:
    """Records the slowdown of the captured iterations, or why it is unknown."""
    captured = prepared.request.captured(prepared.plan.nloops)
    attempt.ratio, differing = unprofiled.ratio(captured, attempt.answer)
    attempt.ratio_interval = unprofiled.interval(captured, attempt.answer)
    attempt.warnings += [] if differing is None else [differing]
    attempt.log += [Entry(line) for line in unprofiled.described(captured, attempt.answer)]


def _profile(prepared: Prepared, attempt: Attempt, observer: Observer, *, capture_range: bool) -> None:
    """Runs the profiler.

    It is repeated if nsys misses its agent, or a runner ends the process, before anything ran.

    All starts share one time limit.
    """
    cuda = assessment.uses_cuda(prepared.plan)
    stem = attempt.raw_stem.absolute()
    directory = tools.start_folder(prepared.tool.name)
    deadline = time.monotonic() + attempt.timeout
    left = attempt.timeout
    start = 1
    while True:
        child = _child(prepared, attempt, prepared.request)
        attempt.command = prepared.tool.wrap(child, stem, cuda=cuda, capture_range=capture_range)
        attempt.forget_answer()
        observer.process_begins(prepared.tool.name, attempt.read_progress)
        try:
            attempt.completed, attempt.answer = attempt.run_and_listen(
                attempt.command, "under the profiler", left, directory=directory
            )
        finally:
            _remove_unfinished(attempt)
        left = deadline - time.monotonic()
        if left > 0 and _leave_out(prepared, attempt, observer, attempt.completed, attempt.answer):
            _forget_files(prepared, attempt)
            continue
        _fail_changed(prepared, attempt, attempt.answer)
        missed = assessment.missed_agent(prepared.tool, attempt)
        if missed is None or start == _STARTS or left <= 0:
            return
        attempt.warnings.append(
            make_warning("profiler_restarted", evidence=f"start {start + 1} of {_STARTS}, after: {missed}")
        )
        observer.note(f"nsys did not start the command: starting nsys again ({start + 1} of {_STARTS})")
        _forget_files(prepared, attempt)
        start += 1


def _forget_files(prepared: Prepared, attempt: Attempt) -> None:
    """Removes the profiler's files, which would be mistaken for the next capture."""
    for path, _, _ in prepared.tool.artefacts(attempt.raw_stem):
        path.unlink(missing_ok=True)


def _remove_unfinished(attempt: Attempt) -> None:
    """Removes a trace that torch was writing when its process was killed.

    The process cannot: torch writes a trace without leaving time for a signal's handler.
    """
    remove_folders(attempt.trace_folder, file_names.unfinished(attempt.raw_stem.name))


def _child(prepared: Prepared, attempt: Attempt, request: ProfileRequest) -> list[str]:
    plan = replace(prepared.plan, tasks=_tasks(prepared, attempt))
    return child_command(request, plan, attempt.raw_stem, str(attempt.answer_path))


def _read(tool: Profiler, attempt: Attempt, observer: Observer) -> None:
    """Converts the files of the profiler to a readable format."""
    done: list[list[str]] = []
    stem = attempt.raw_stem.absolute()
    while (step := tool.finish(stem)) is not None and step not in done:
        observer.reads(Path(step[0]).name)
        attempt.run(step, "to read the capture")
        # A repeated step would fail again, also after another one.
        done.append(step)
