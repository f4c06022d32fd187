"""From what was asked for to what is checked, on sizes at which a check takes a moment."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from fastrnns_rs.errors import UsageError
from fastrnns_rs.machine import environment
from fastrnns_rs.problem.tolerance import tolerance_of
from fastrnns_rs.processes.launcher import Setting
from fastrnns_rs.runners.plan import Choice, Options, Task, make_plan

if TYPE_CHECKING:
    from fastrnns_rs.machine.environment import Facts
    from fastrnns_rs.runners.plan import Plan

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
