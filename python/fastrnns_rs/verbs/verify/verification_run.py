"""What is checked, on sizes at which a check takes a moment, and the checks, in child processes."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict, dataclass, field, replace
from typing import TYPE_CHECKING, Any

from fastrnns_rs.documents import codec
from fastrnns_rs.documents.verification import Verification, Verified
from fastrnns_rs.errors import UsageError
from fastrnns_rs.machine import environment
from fastrnns_rs.problem.tolerance import tolerance_of
from fastrnns_rs.processes.launcher import Setting, Start, launch
from fastrnns_rs.processes.listener import Terms
from fastrnns_rs.processes.temporary_folder import compiler_folder, variables_for
from fastrnns_rs.runners.plan import Choice, Options, Task, make_plan

if TYPE_CHECKING:
    from fastrnns_rs.documents.verification import Status
    from fastrnns_rs.machine.environment import Facts
    from fastrnns_rs.runners.plan import Plan, Task
    from fastrnns_rs.runners.runner import Source


DEFAULT_GROUPS = ("rnns",)
DEFAULT_SEED = 17
DEFAULT_TIMEOUT_S = 600.0
#: Unlike one another, so that no two dimensions can be mistaken for each other.
_SIZES = {"seq_length": 12, "input_size": 10, "hidden_size": 8, "mini_batch": 3, "image_size": 33}
#: A fault may be in what joins layers.
_LAYERS = 2


@dataclass(frozen=True, slots=True, kw_only=True)
class VerifyOptions:
    """What is to be checked.

    Attributes:
        options: Runners, sizes and modes as a bench takes them.
        check_grad: Whether gradients are checked too.
        rtol: Relative tolerance; None for the dtype's.
        atol: Absolute tolerance; None for the dtype's.
    """

    options: Options = field(
        default_factory=lambda: Options(
            choice=Choice(groups=DEFAULT_GROUPS), seed=DEFAULT_SEED, timeout=DEFAULT_TIMEOUT_S
        )
    )
    check_grad: bool = True
    rtol: float | None = None
    atol: float | None = None

    def __post_init__(self) -> None:
        if not isinstance(self.check_grad, bool):
            raise UsageError(f"check_grad is {self.check_grad!r}", "give True or False")


def plan(asked: VerifyOptions) -> list[Task]:
    """Asks a child process about torch, and decides what is checked.

    Raises:
        MissingError: The device is not there, or torch is not installed.
        UsageError: An option makes no sense, or a runner named by hand cannot honour it.
        FastrnnsError: Torch does not work.
        KeyboardInterrupt: Ctrl-C.
    """
    options = asked.options
    # Looked at before torch is asked anything, which takes seconds.
    options.choice.runners()
    facts = environment.probe(options.device, options.computed_dtype, Setting(threads=options.threads))
    tasks = plan_of(options, facts).tasks
    if tasks:
        tolerance_of(tasks[0].problem, rtol=asked.rtol, atol=asked.atol)
    return tasks


def plan_of(options: Options, facts: Facts) -> Plan:
    """The plan of a bench, with our sizes for what was not given."""
    given = options.sizes
    sizes = replace(given, **{name: getattr(given, name) or size for name, size in _SIZES.items()})
    if options.modes.proj_size is not None and given.hidden_size is None:
        sizes = replace(sizes, hidden_size=max(_SIZES["hidden_size"], options.modes.proj_size + 1))
    made = make_plan(replace(options, sizes=sizes), facts)
    return made if given.num_layers is not None else replace(made, tasks=[_with_layers(one) for one in made.tasks])


def _with_layers(task: Task) -> Task:
    """The task with as many layers as a fault between them needs, where its mathematics permits."""
    if task.problem.num_layers is None or task.refusal is not None:
        return task
    problem = replace(task.problem, num_layers=max(_LAYERS, task.problem.num_layers))
    return task if task.runner.refusal(problem) else replace(task, problem=problem)


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
    return Verification(ok="ok" in statuses and "failed" not in statuses, results=results)


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

    def ends(content: dict[str, Any]) -> None:
        try:
            index, row = content["index"], codec.from_plain(Verified, content["row"])
        except (KeyError, UsageError):
            # A runner found our pipe.
            return
        if index in left and row.runner == tasks[index].runner.name:
            rows[index] = row

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
    )
