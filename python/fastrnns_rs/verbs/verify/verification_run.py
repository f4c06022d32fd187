"""Checks runners in child processes: one takes all of them in turn, and what ends it costs its own row only."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from fastrnns_rs.documents import codec
from fastrnns_rs.documents.verification import Verification, Verified
from fastrnns_rs.errors import UsageError
from fastrnns_rs.processes.launcher import Setting, Start, launch
from fastrnns_rs.processes.listener import Terms
from fastrnns_rs.processes.temporary_folder import compiler_folder, variables_for
from fastrnns_rs.verbs.verify.verification_plan import VerifyOptions, plan

if TYPE_CHECKING:
    from fastrnns_rs.documents.verification import Status
    from fastrnns_rs.runners.plan import Task
    from fastrnns_rs.runners.runner import Source


class Interrupted(KeyboardInterrupt):
    """Ctrl-C during the checks.

    Attributes:
        verification: The rows that were complete.
    """

    def __init__(self, verification: Verification) -> None:
        super().__init__("interrupted")
        self.verification = verification


#: A runner that nothing is known of to hold it against.
NO_REFERENCE = "it names no reference: @runner(reference=…)"


def verify(
    asked: VerifyOptions, on_runner: Callable[[str, int, int], None] = lambda _name, _done, _of: None
) -> Verification:
    """Checks what was asked for.

    Args:
        asked: Which runners, on which problem.
        on_runner: Called with a runner's name, how many are done and how many there are, as its check begins.

    Raises:
        MissingError: The device is not there, or torch is not installed.
        UsageError: An option makes no sense, or a runner named by hand cannot honour it.
        FastrnnsError: Torch does not work.
        Interrupted: Ctrl-C during the checks; the exception carries what was found until then.
        KeyboardInterrupt: Ctrl-C before them.
    """
    tasks = plan(asked)
    rows: dict[int, Verified] = {}
    for index, one in enumerate(tasks):
        if one.refusal is not None:
            rows[index] = _row(one, "skipped", one.refusal)
        elif one.runner.reference is None:
            rows[index] = _row(one, "failed" if one.by_hand else "skipped", NO_REFERENCE)
    try:
        _check(asked, tasks, rows, on_runner)
    except KeyboardInterrupt:
        raise Interrupted(_document([rows[index] for index in sorted(rows)])) from None
    return _document([rows[index] for index in range(len(tasks))])


def _document(results: list[Verified]) -> Verification:
    statuses = {one.status for one in results}
    return Verification(
        warnings=[],
        ok="ok" in statuses and "failed" not in statuses,
        results=results,
    )


def _check(
    asked: VerifyOptions,
    tasks: list[Task],
    rows: dict[int, Verified],
    on_runner: Callable[[str, int, int], None],
) -> None:
    """Fills in the rows that are missing; each child goes on where the one before it died."""

    def begins(name: str) -> None:
        if name.startswith("verify "):
            on_runner(name.partition(" ")[2], len(rows), len(tasks))

    def ends(content: dict[str, Any]) -> bool:
        try:
            index, row = content["index"], codec.from_plain(Verified, content["row"])
        except (KeyError, UsageError):
            # A runner found our pipe.
            return False
        if index not in left or row.runner != tasks[index].runner.name:
            return False
        is_new = index not in rows
        rows[index] = row
        return is_new

    while left := [index for index in range(len(tasks)) if index not in rows]:
        together = _together(tasks, left)
        job = _job(asked, [(index, tasks[index]) for index in together])
        terms = Terms(timeout=asked.options.timeout, on_phase=begins, on_part=ends)
        # What is compiled to be checked is of no use to anybody later.
        with compiler_folder() as folder:
            setting = Setting(threads=asked.options.threads, variables=variables_for(folder))
            answer = launch(Start(job=job, terms=terms, setting=setting))
        if answer.ended == "interrupted":
            raise KeyboardInterrupt
        died = next((index for index in together if index not in rows), None)
        if died is not None:
            rows[died] = _row(tasks[died], "failed", answer.reason or "it was not checked")


def _together(tasks: list[Task], left: list[int]) -> list[int]:
    """Those that one process checks: of one file, or all of ours. What a file does to torch is not done to others."""
    places = {index: _place(tasks[index].runner.source) for index in left}
    return [index for index in left if places[index] == places[left[0]]]


def _place(source: Source) -> str:
    return "" if source.module.startswith("fastrnns_rs.") else source.file


def _job(asked: VerifyOptions, tasks: list[tuple[int, Task]]) -> dict[str, Any]:
    return {
        "kind": "verify",
        "threads": asked.options.threads,
        "jit": asdict(asked.options.jit),
        "check_grad": asked.check_grad,
        "rtol": asked.rtol,
        "atol": asked.atol,
        "tasks": [{"index": index, **one.job()} for index, one in tasks],
    }


def _row(one: Task, status: Status, reason: str) -> Verified:
    runner = one.runner
    return Verified(
        runner=runner.name,
        reference=runner.reference,
        dtype=one.problem.dtype,
        status=status,
        reason=reason,
        checks=[],
    )
