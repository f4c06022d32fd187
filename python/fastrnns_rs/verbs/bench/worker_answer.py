"""Conversion of bench worker answers to processes of a run file.

A runner may find the pipe of its worker and write an answer of its own. An answer that no worker sends is recorded as
a failed process.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass, replace
from typing import TYPE_CHECKING, Any, Literal

from fastrnns_rs.documents import codec
from fastrnns_rs.documents.run_file import Compile, FirstCall, Process, ResultStatus
from fastrnns_rs.documents.run_soundness import check_samples, check_turns
from fastrnns_rs.documents.soundness import check_numbers
from fastrnns_rs.errors import UsageError

if TYPE_CHECKING:
    from fastrnns_rs.processes.listener import Answer

#: Keys of an answer that a run file has under the same names.
_SAME = (
    *("warmup_class", "steady_from", "peak_memory_bytes", "peak_reserved_bytes", "timed_loop_ns"),
    *("baseline_memory_bytes", "load", "forward_host_ns", "backward_host_ns", "unjoined_ns"),
    *("forward_change_points", "backward_change_points", "slices"),
)


@dataclass(frozen=True, slots=True, kw_only=True)
class RowFacts:
    """Values of a row that each of its workers sends.

    Attributes:
        note: Note of the runner.
        timing_mode: Name of the timing mode.
        timer_resolution_ns: Resolution of the timer, in nanoseconds.
    """

    note: str | None = None
    timing_mode: str | None = None
    timer_resolution_ns: int | None = None


def make_process(
    answer: Answer, *, index: int, order: int, rank: int | None, turns: int | None
) -> tuple[Process, RowFacts]:
    """Converts the answer of a worker to a process of a run file.

    Args:
        answer: Answer of the worker.
        index: Index among the processes of the row.
        order: Index among the processes of the run.
        rank: Rank of the process; None without ranks.
        turns: Largest number of turns of the process; None if it has no turns.
    """
    place: dict[str, Any] = {"index": index, "order": order, "rank": rank}
    try:
        return _read(answer, place, turns)
    except UsageError as error:
        return make_damaged(error, **place), RowFacts()


def make_damaged(error: UsageError, **place: Any) -> Process:
    """Returns the failed process of a damaged answer.

    Args:
        error: Fault of the answer.
        place: Keys of the process that are not from the answer.
    """
    reason = f"the result of its worker is damaged: {error.message}"
    return Process(**place, status="failed", reason=reason, compile=Compile(), forward_ns=[])


def _read(answer: Answer, place: dict[str, Any], turns: int | None) -> tuple[Process, RowFacts]:
    content = answer.content
    status = _status(answer)
    found = {
        **place,
        "status": status,
        "reason": answer.reason if status == "ok" else answer.reason or "its worker gave no reason",
        "first_call": None,
        "compile": content.get("compile") or asdict(Compile()),
        "forward_ns": content.get("forward_ns") or [],
        "backward_ns": content.get("backward_ns"),
        **{name: content.get(name) for name in _SAME},
    }
    process = codec.from_plain(Process, found)
    facts = codec.from_plain(RowFacts, {name: content.get(name) for name in codec.added_keys(RowFacts)})
    check_numbers(process)
    check_numbers(facts)
    check_samples("", process)
    check_turns("", process, turns)
    return _with_first_call(process), facts


def _status(answer: Answer) -> ResultStatus | Literal["interrupted"]:
    if answer.ended in {"interrupted", "timed_out", "deserted"}:
        return "timed_out" if answer.ended == "timed_out" else "interrupted"
    return "ok" if answer.ended == "answered" and answer.content.get("status") == "ok" else "failed"


def _with_first_call(process: Process) -> Process:
    forward, backward = process.forward_ns, process.backward_ns
    if not forward:
        return process
    return replace(process, first_call=FirstCall(forward_ns=forward[0], backward_ns=backward[0] if backward else None))
