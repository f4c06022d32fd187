"""Plan of a verification, on sizes small enough to check quickly."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from fastrnns_rs.errors import UsageError
from fastrnns_rs.machine import environment
from fastrnns_rs.problem.tolerance import choose_tolerance
from fastrnns_rs.processes.worker_setting import Setting
from fastrnns_rs.runners.plan import Choice, Options, Task, make_plan

if TYPE_CHECKING:
    from fastrnns_rs.machine.facts import Facts
    from fastrnns_rs.runners.plan import Plan

DEFAULT_GROUPS = ("rnns",)
DEFAULT_SEED = 17
DEFAULT_TIMEOUT_S = 600.0
#: All sizes differ, so that no two dimensions can be confused.
_SIZES = {"seq_length": 12, "input_size": 10, "hidden_size": 8, "mini_batch": 3, "image_size": 33}
#: Two layers also test the connection between layers.
_LAYERS = 2


@dataclass(frozen=True, slots=True, kw_only=True)
class VerifyOptions:
    """Options of a verification.

    Attributes:
        options: Runners, sizes and modes, as for a benchmark.
        check_grad: True to check gradients too.
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
    """Probes torch in a child process, and returns the tasks to check.

    Raises:
        MissingError: If the device does not exist, or torch is not installed.
        UsageError: If an option is invalid, or a runner named explicitly does not support it.
        FastrnnsError: If torch does not work.
        KeyboardInterrupt: If Ctrl-C was pressed.
    """
    options = asked.options
    # The names are checked before torch is probed, which takes seconds.
    options.choice.runners()
    facts = environment.probe(options.device, options.computed_dtype, Setting(threads=options.threads))
    tasks = make_verification_plan(options, facts).tasks
    if tasks:
        choose_tolerance(tasks[0].problem, rtol=asked.rtol, atol=asked.atol)
    return tasks


def make_verification_plan(options: Options, facts: Facts) -> Plan:
    """Returns the plan of a benchmark, with small sizes where none are given."""
    given = options.sizes
    sizes = replace(given, **{name: getattr(given, name) or size for name, size in _SIZES.items()})
    if options.modes.proj_size is not None and given.hidden_size is None:
        sizes = replace(sizes, hidden_size=max(_SIZES["hidden_size"], options.modes.proj_size + 1))
    made = make_plan(replace(options, sizes=sizes), facts)
    return made if given.num_layers is not None else replace(made, tasks=[_with_layers(one) for one in made.tasks])


def _with_layers(task: Task) -> Task:
    """Returns the task with at least two layers, if the runner supports them."""
    if task.problem.num_layers is None or task.refusal is not None:
        return task
    problem = replace(task.problem, num_layers=max(_LAYERS, task.problem.num_layers))
    return task if task.runner.refusal(problem) else replace(task, problem=problem)
