"""Assessment of an attempt: valid capture, or cause of the failure."""

from __future__ import annotations

import contextlib
import re
import shutil
import signal
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Any

from fastrnns_rs.documents.capture_manifest import CheckEntry
from fastrnns_rs.documents.warning import make_warning
from fastrnns_rs.errors import MissingError, UsageError
from fastrnns_rs.problem.torch_profiler import resolve_activities
from fastrnns_rs.verbs.profile import capture_checks, tool_messages
from fastrnns_rs.verbs.profile.attempt import describe_end

if TYPE_CHECKING:
    from fastrnns_rs._core import Profiler
    from fastrnns_rs.documents.capture_manifest import Capture
    from fastrnns_rs.documents.codec import RunWarning
    from fastrnns_rs.runners.plan import Plan
    from fastrnns_rs.runners.profile_request import ProfileRequest
    from fastrnns_rs.verbs.profile.attempt import Attempt, Ended


#: A disk with no more room than this is full: a trace of the smallest model takes more.
_LITTLE_BYTES = 16 * 1024


def uses_cuda(plan: Plan) -> bool:
    """Returns True if the plan runs on a CUDA device, so that kernels are expected."""
    return plan.tasks[0].problem.device.startswith("cuda")


def check(request: ProfileRequest, plan: Plan, tool: Profiler, attempt: Attempt) -> list[CheckEntry]:
    """Compares the files of an attempt with the request."""
    asked, well = len(plan.tasks), len(attempt.phases)
    runners = CheckEntry(id="runners", expected=f"{asked} runners", found=f"{well} ended well", ok=well == asked)
    # If no runner ended well, there are no files to check.
    return [runners, *(_check_files(request, plan, tool, attempt) if well else [])]


def _check_files(request: ProfileRequest, plan: Plan, tool: Profiler, attempt: Attempt) -> list[CheckEntry]:
    if tool.name == "torch":
        return _check_torch(request, plan, attempt)
    expected = capture_checks.expected_ranges(attempt.phases, request.captured(plan.nloops))
    failed = {one["name"] for one in attempt.runners} - attempt.phases.keys()
    final = [(path, kind) for path, kind, intermediate in tool.artefacts(attempt.raw_stem) if not intermediate]
    # A report has one of two names; only existing files count.
    found = [capture_checks.written(path) for path, kind in final if kind != "nsys_report" or path.exists()]
    for path, kind in final:
        if path.is_file() and path.stat().st_size:
            if kind == "nsys_sqlite":
                found += capture_checks.nsys_sqlite(path, expected, cuda=uses_cuda(plan), failed=failed)
                attempt.warnings += _harmless_losses(found)
            elif kind == "nvprof_profile":
                found += capture_checks.nvprof_profile(path, expected, failed=failed)
    return found


def _harmless_losses(found: list[CheckEntry]) -> list[RunWarning]:
    """Returns a warning for losses that void no capture."""
    losses = [one for one in found if one.id == "event_loss" and one.ok and one.found != capture_checks.NO_LOSS]
    return [make_warning("events_lost", evidence=one.found) for one in losses]


def _check_torch(request: ProfileRequest, plan: Plan, attempt: Attempt) -> list[CheckEntry]:
    expected = len(attempt.phases) * request.captured_cycles(plan.nloops)
    cycles = [cycle for cycle in attempt.cycles if cycle["runner"] in attempt.phases]
    found = [CheckEntry(id="cycles", expected=str(expected), found=str(len(cycles)), ok=len(cycles) == expected)]
    # Annotations are CPU events.
    has_marks = "cpu" in resolve_activities(request.torch, plan.tasks[0].problem.device)
    for cycle in cycles:
        marks = capture_checks.expected_marks(attempt.phases[cycle["runner"]], len(cycle["iterations"]))
        for name, kind in cycle["files"]:
            written = capture_checks.written(Path(name))
            found.append(written)
            if kind == "kineto" and written.ok and has_marks:
                found += capture_checks.kineto(Path(name), marks)
    return found


def holds_no_range(tool: Profiler, attempt: Attempt) -> bool:
    """Returns True if the profiler wrote no files, or no ranges of runners.

    Such a profiler never saw the iterations. The function expects files that were already converted to a readable
    format. A file that cannot be read has another problem, and does not count.
    """
    made = [(path, kind) for path, kind, _ in tool.artefacts(attempt.raw_stem) if path.is_file()]
    none: Counter[str] = Counter()
    found = [
        *(
            one
            for path, kind in made
            if kind == "nsys_sqlite"
            for one in capture_checks.nsys_sqlite(path, none, cuda=False)
        ),
        *(one for path, kind in made if kind == "nvprof_profile" for one in capture_checks.nvprof_profile(path, none)),
    ]
    return not made or any(one.id == "ranges" and one.ok for one in found)


def missed_agent(tool: Profiler, attempt: Attempt) -> str | None:
    """Returns the message of an nsys that did not start the command; None otherwise.

    The failure may not recur in a new attempt. Errors that the command itself printed are not errors of nsys.
    """
    status = attempt.completed.exit_status if attempt.completed else None
    if tool.name != "nsys" or not status or _signal(attempt.completed) is not None or attempt.answer:
        return None
    said = "\n".join(attempt.said_by_tool)
    return None if _own_error(said) else tool_messages.missed_agent(said)


def find_fallen(completed: Ended, answer: dict[str, Any]) -> dict[str, Any] | None:
    """Returns the result of a runner that ended its process before any iteration.

    Args:
        completed: End of the process.
        answer: Report of the process.
    """
    running = [one for one in answer.get("runners", []) if one["status"] == "running"]
    if completed.timed_out or answer.get("refusal") or not running or running[0]["step"] == "capturing":
        return None
    reason = f"the process ended while it was built or warmed up: {_end(completed)}"
    # A thread of a runner that was built before may have ended the process.
    return {**running[0], "status": "failed", "reason": reason, "hint": "use `separate` if another runner is the cause"}


def failure(tool: Profiler, attempt: Attempt, manifest: Capture) -> tuple[str, str] | None:
    """Returns an error message and a hint for a failure; None on success.

    The result is the first cause, not the last effect. The report of the profiled process is used first, then the end
    of the process, then the output of the profiler.

    Raises:
        UsageError: If the process refused to run for a reason that this process did not know.
        MissingError: If the process refused to run because something is missing.
    """
    log = attempt.where_printed
    if manifest.timed_out:
        return f"{tool.name} was not done in time{_at(attempt)}", f"give `timeout` more seconds; {log}"
    reason = _runner_failure(attempt) or _refusal(attempt, log) or _death_in_runner(attempt)
    if reason is not None:
        return reason[0], _hint(reason[1], _full_disk_hint(attempt), log)
    said = "\n".join(attempt.said_by_tool)
    elsewhere = _left_elsewhere(said, attempt)
    known, advice = tool_messages.explain(said) or ("", "")
    if not attempt.answer:
        message, own_advice = _nothing_ran(tool, attempt, said, known)
        return message, _hint(own_advice, advice, elsewhere, log)
    wrong = [one for one in manifest.checks if not one.ok]
    raw = [one.path for one in manifest.artefacts if one.kind == "nsys_stream"]
    if wrong and raw and tool.importer_path is None:
        hint = f"install the whole of Nsight Systems, or elsewhere: QdstrmImporter --input-file {raw[0]}"
        return f"nsys left {raw[0]}, and the QdstrmImporter that makes a report of it is not here", hint
    if wrong:
        what = f"{wrong[0].id}: expected {wrong[0].expected}, found {wrong[0].found}"
        return f"there is no valid capture: {what}{_aside(known)}", _hint(advice, elsewhere, log)
    return None


def _full_disk_hint(attempt: Attempt) -> str:
    """Returns a hint if the private folder has no room: its texts are not shown."""
    # A runner may have removed the folder.
    with contextlib.suppress(OSError):
        if attempt.private is not None and shutil.disk_usage(attempt.private.path).free <= _LITTLE_BYTES:
            return "the temporary folder is full: use another `TMPDIR`"
    return ""


def _hint(*parts: str) -> str:
    return "; ".join(one.removesuffix(".") for one in parts if one)


def _aside(known: str) -> str:
    return f" ({known})" if known else ""


def _runner_failure(attempt: Attempt) -> tuple[str, str] | None:
    failed = [one for one in attempt.runners if one["status"] == "failed"]
    if not failed:
        return None
    others = f" (and {len(failed) - 1} more)" if len(failed) > 1 else ""
    return f"the runner {failed[0]['name']} failed: {failed[0]['reason']}{others}", failed[0].get("hint", "")


def _refusal(attempt: Attempt, log: str) -> tuple[str, str] | None:
    """Returns the reported reason why the process ended before its runners."""
    refusal = attempt.answer.get("refusal")
    if not refusal:
        return None
    message, hint = refusal["message"], refusal["hint"]
    for kind in (UsageError, MissingError):
        if refusal["kind"] == kind.__name__:
            raise kind(message, _hint(hint, log))
    return message, hint


def _death_in_runner(attempt: Attempt) -> tuple[str, str] | None:
    pending = _pending(attempt)
    # One process has all runners.
    hint = "use `separate` to capture the other runners" if len(attempt.runners) > 1 else ""
    return (f"the process ended in the runner {pending}: {_end(attempt.completed)}", hint) if pending else None


def _nothing_ran(tool: Profiler, attempt: Attempt, said: str, known: str) -> tuple[str, str]:
    """Returns the reason why the process did not reach its runners, and its hint."""
    nothing = f"{tool.name} ended without having run anything: "
    if _signal(attempt.completed) is not None:
        return f"{nothing}{_end(attempt.completed)}{_aside(known)}", ""
    own = _own_error(said)
    if own:
        return f"{nothing}{own[0]}{_aside(known)}", own[1]
    return known or f"{nothing}{_end(attempt.completed)}", ""


def _own_error(said: str) -> tuple[str, str] | None:
    """Returns the error and the hint that fastrnns-rs printed in the process."""
    found: list[tuple[str, str]] = re.findall(r"^error: (.+)$(?:\nhint: (.+)$)?", said, re.MULTILINE)
    return found[-1] if found else None


def _pending(attempt: Attempt) -> str | None:
    """Returns the runner that was active last; None if all runners ended."""
    unfinished = [one for one in attempt.runners if one["status"] not in {"ok", "failed"}]
    at_work = [one for one in unfinished if one["status"] == "running"]
    return next((one["name"] for one in [*at_work, *unfinished]), None)


def _at(attempt: Attempt) -> str:
    """Returns the progress of the attempt, as the end of a sentence."""
    pending = _pending(attempt)
    if pending is not None:
        return f": it was at the runner {pending}"
    return ", though every runner was" if attempt.answer.get("finished") else ""


def _signal(completed: Ended | None) -> signal.Signals | None:
    """Returns the signal that killed the command; None otherwise.

    nsys exits like a shell if its command was killed.
    """
    number = 0 if completed is None else completed.signal or (completed.exit_status or 0) - 128
    try:
        return signal.Signals(number)
    except ValueError:
        return None


def _end(completed: Ended | None) -> str:
    """Returns the end of the command in words, with the name of the signal."""
    killed_by = _signal(completed)
    if killed_by is None:
        return describe_end(completed)
    memory = "; the kernel does this when memory runs out" if killed_by is signal.SIGKILL else ""
    return f"{describe_end(completed)} ({killed_by.name}){memory}"


def _left_elsewhere(said: str, attempt: Attempt) -> str:
    """Returns the path of a report that nsys could not move to its destination.

    nsys reports the path only in its output.
    """
    found = re.findall(r"^Generated:[^\S\n]*\n\s+(/.+)$", said, re.MULTILINE)
    elsewhere = [path for path in found if not path.startswith(str(attempt.raw_stem)) and Path(path).is_file()]
    return f"nsys left its report in {elsewhere[-1]}" if elsewhere else ""
