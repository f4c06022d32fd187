"""Verification of runners in child processes.

One process checks all built-in runners, and one process each other runner. If a process dies, only the row of the
current runner fails.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING, Any, Protocol

from fastrnns_rs.documents import codec
from fastrnns_rs.documents.soundness import check_numbers
from fastrnns_rs.documents.verification import Verification, Verified, check_result, is_ok
from fastrnns_rs.errors import FastrnnsError, UsageError, failure_text
from fastrnns_rs.processes import phases
from fastrnns_rs.processes.launcher import Start, launch
from fastrnns_rs.processes.listener import Answer, Terms
from fastrnns_rs.processes.temporary_folder import compiler_folder, variables_for
from fastrnns_rs.processes.worker_setting import Setting
from fastrnns_rs.runners import registry
from fastrnns_rs.verbs.verify.verification_plan import VerifyOptions, plan

if TYPE_CHECKING:
    from fastrnns_rs.documents.verification import Status
    from fastrnns_rs.runners.plan import Task
    from fastrnns_rs.runners.runner import Runner


class Interrupted(KeyboardInterrupt):
    """Ctrl-C during the checks.

    Attributes:
        verification: Result; runners that were not checked are `interrupted`.
    """

    def __init__(self, verification: Verification) -> None:
        super().__init__("interrupted")
        self.verification = verification


class Observer(Protocol):
    """Observer of a verification."""

    def plans(self, names: Sequence[str], done: int) -> None:
        """Reports the runners once they are known; `done` of them cannot be checked."""

    def imports(self) -> None:
        """Reports that a process imports torch."""

    def runner_begins(self, name: str, done: int) -> None:
        """Reports the start of a runner, and the number of finished runners."""

    def step_begins(self, step: str) -> None:
        """Reports a step of the runner."""


class Silent:
    """Observer that does nothing."""

    def plans(self, names: Sequence[str], done: int) -> None:
        """Does nothing."""

    def imports(self) -> None:
        """Does nothing."""

    def runner_begins(self, name: str, done: int) -> None:
        """Does nothing."""

    def step_begins(self, step: str) -> None:
        """Does nothing."""


#: Reason for a runner without a reference.
NO_REFERENCE = "it names no reference: @runner(reference=…)"


def verify(asked: VerifyOptions, observer: Observer | None = None) -> Verification:
    """Checks runners against their references.

    Args:
        asked: Options, with runners and problem.
        observer: Observer of the progress; None for no observer.

    Raises:
        MissingError: If the device does not exist, or torch is not installed.
        UsageError: If an option is invalid, or a runner named explicitly does not support it.
        FastrnnsError: If torch does not work.
        Interrupted: If Ctrl-C was pressed during the checks; the exception contains the rows.
        KeyboardInterrupt: If Ctrl-C was pressed before the checks.
    """
    observer = observer or Silent()
    observer.imports()
    tasks = plan(asked)
    rows: dict[int, Verified] = {}
    for index, one in enumerate(tasks):
        if one.refusal is not None:
            rows[index] = _row(one, "skipped", one.refusal)
        elif one.runner.reference is None:
            rows[index] = _row(one, "failed" if one.by_hand else "skipped", NO_REFERENCE)
    observer.plans([one.runner.name for one in tasks], len(rows))
    try:
        _check(asked, tasks, rows, observer)
    except KeyboardInterrupt:
        # A verification of some runners alone would be `ok`.
        missing = {index: _row(one, "interrupted", "interrupted") for index, one in enumerate(tasks)}
        rows = {**missing, **rows}
        raise Interrupted(_document([rows[index] for index in range(len(tasks))])) from None
    return _document([rows[index] for index in range(len(tasks))])


def _document(results: list[Verified]) -> Verification:
    return Verification(warnings=[], ok=is_ok({one.status for one in results}), results=results)


def _check(
    asked: VerifyOptions,
    tasks: list[Task],
    rows: dict[int, Verified],
    observer: Observer,
) -> None:
    """Fills in the missing rows; each child continues where the previous child died."""

    def ends(content: dict[str, Any]) -> bool:
        # A runner may find the pipe of its worker and write to it, also about runners of other processes.
        index = content.get("index")
        if type(index) is not int or index not in together:
            return False
        try:
            row = codec.from_plain(Verified, content.get("row"))
        except UsageError:
            return False
        if row.runner != tasks[index].runner.name:
            return False
        is_new = index not in rows
        try:
            check_numbers(row)
            check_result("result", row)
        except UsageError as error:
            # No document could contain this row, or be read with it.
            rows[index] = _row(tasks[index], "failed", f"invalid result from its process: {error}")
            return False
        rows[index] = row
        return is_new

    while left := [index for index in range(len(tasks)) if index not in rows]:
        together = _together(tasks, left)
        job = _job(asked, [(index, tasks[index]) for index in together])
        terms = Terms(
            timeout=asked.options.timeout, on_phase=lambda name: _observe(observer, name, len(rows)), on_part=ends
        )
        # Code compiled for a check is not used again.
        try:
            with compiler_folder() as folder:
                setting = Setting(threads=asked.options.threads, variables=variables_for(folder))
                answer = launch(Start(job=job, terms=terms, setting=setting))
        except (FastrnnsError, OSError) as error:
            answer = Answer({}, "died", failure_text(error), "")
        if answer.ended == "interrupted":
            raise KeyboardInterrupt
        died = next((index for index in together if index not in rows), None)
        if died is not None:
            rows[died] = _row(tasks[died], "failed", answer.reason or "it was not checked")


def _observe(observer: Observer, phase: str, done: int) -> None:
    """Reports a phase of the child process to the observer."""
    kind, _, text = phase.partition(" ")
    if kind == "verify":
        observer.runner_begins(text, done)
    elif kind == "step":
        observer.step_begins(text)
    elif phase == phases.IMPORT:
        observer.imports()


def _together(tasks: list[Task], left: list[int]) -> list[int]:
    """Returns the tasks that one process checks: all built-in ones, or a single one.

    Changes that a runner makes to torch then do not affect others.
    """
    built_in = [index for index in left if tasks[index].runner.source.is_built_in]
    return built_in or left[:1]


def _job(asked: VerifyOptions, tasks: list[tuple[int, Task]]) -> dict[str, Any]:
    return {
        "kind": "verify",
        "threads": asked.options.threads,
        "jit": asdict(asked.options.jit),
        "check_grad": asked.check_grad,
        "rtol": asked.rtol,
        "atol": asked.atol,
        "tasks": [{"index": index, **one.job(), "references": _references(one.runner)} for index, one in tasks],
    }


def _references(runner: Runner) -> list[dict[str, Any]]:
    """Returns names and sources of the runners that a reference needs.

    These are the reference itself, its own reference, and so on, without built-in runners.
    """
    found: dict[str, Runner] = {}
    name = runner.reference_name
    while name is not None and name not in found and registry.is_known(name):
        one = registry.find(name)
        if not one.source.is_built_in:
            found[name] = one
        name = one.reference_name
    return [{"runner": name, "source": asdict(one.source)} for name, one in found.items()]


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
