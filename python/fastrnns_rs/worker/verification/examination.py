"""Examination of a runner: runs it as in a measurement and compares its results."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import torch

from fastrnns_rs.worker.timed_loop import build, entered
from fastrnns_rs.worker.torch_settings import run_settings
from fastrnns_rs.worker.verification import references
from fastrnns_rs.worker.verification.checks import EXACT, Finding, compare, sensitivity, widened, worse
from fastrnns_rs.worker.verification.tensors import MISSING, pairs, results, tensors

if TYPE_CHECKING:
    from fastrnns_rs.documents.verification import Check
    from fastrnns_rs.models.definition import ModelDef
    from fastrnns_rs.problem.jit_settings import JitSettings
    from fastrnns_rs.problem.problem import Problem
    from fastrnns_rs.problem.tolerance import Tolerance
    from fastrnns_rs.runners.runner import Runner
    from fastrnns_rs.worker.verification.references.expected import Expected

#: Checked calls: code that is compiled in the first call may be optimised in a later call.
_LOOKED_AT = (1, 3)
#: Later calls in which TorchScript may replace its code: their number, and the time limit of all calls.
_MANY = 20
_MANY_S = 1.0
#: Random seed of the gradient that backward starts from.
_OF_START = 17


@dataclass(slots=True)
class Examination:
    """Findings about a runner so far.

    Attributes:
        doing: Current step, for the reason of an error.
        on_step: Function called with each step that begins.
        notes: Remarks for the reader about a runner that is correct.
    """

    doing: str = "look-up"
    on_step: Callable[[str], None] = lambda _step: None
    notes: list[str] = field(default_factory=list)
    _worst: dict[str, tuple[Finding, str]] = field(default_factory=dict)

    def begin(self, step: str) -> None:
        """Begins a step."""
        self.doing = step
        self.on_step(step)

    def add(self, finding: Finding) -> None:
        """Adds a finding with the current step; the worst of each name is kept."""
        name = finding.check.name
        known = self._worst.get(name)
        if known is None or worse(known[0], finding) is finding:
            self._worst[name] = (finding, self.doing)

    def checks(self) -> list[Check]:
        """All checks, in the order of their first occurrence."""
        return [finding.check for finding, _ in self._worst.values()]

    def wrong(self) -> list[str]:
        """Descriptions of all faults."""
        found = [(finding, when) for finding, when in self._worst.values() if finding.wrong is not None]
        return [f"{finding.check.name}: {finding.wrong} ({when})" for finding, when in found]


def examine(
    runner: Runner,
    problem: Problem,
    jit: JitSettings,
    tolerance: Tolerance,
    examination: Examination,
    *,
    check_grad: bool = True,
) -> None:
    """Builds a runner, calls it several times and compares its results.

    Args:
        runner: Runner to check, which names its reference.
        problem: Problem that it is built for.
        jit: Settings of TorchScript.
        tolerance: Allowed error.
        examination: Receives the findings.
        check_grad: True checks gradients too.

    Raises:
        RunnerError: If the model broke its contract, or its reference does not exist.
    """
    reference = references.find_reference(runner)
    with run_settings(jit, problem):
        examination.begin("reference")
        expected = reference(problem)
        examination.begin("build")
        model = build(lambda problem: expected.adapt(runner.creator(problem)), problem)
        _numbers(model, problem, expected, examination, "build")
        known = expected.parameters and expected.differentiates and not _is_noise(problem)
        check_grad = bool(check_grad and known)
        _note(model, problem, expected, examination, check_grad=check_grad)
        with entered(model):
            _calls(model, problem, expected, tolerance, examination, many=runner.torchscript, check_grad=check_grad)
        _numbers(model, problem, expected, examination, "after the last call")


def _note(model: ModelDef, problem: Problem, expected: Expected, examination: Examination, *, check_grad: bool) -> None:
    if expected.note is not None:
        examination.notes.append(expected.note)
    if not problem.training:
        examination.notes.append("inference: outputs and states only")
    elif model.backward is None:
        examination.notes.append("no backward: outputs and states only")
    elif not expected.parameters:
        examination.notes.append("no parameters: outputs and states only")
    elif not expected.differentiates:
        examination.notes.append("the reference has no backward: outputs and states only")
    elif _is_noise(problem):
        examination.notes.append("rounding changes gradients of deep networks by their own size: outputs only")
    elif not check_grad:
        examination.notes.append("gradients not checked")


def _is_noise(problem: Problem) -> bool:
    """Returns True if rounding changes a network's gradients by their own size."""
    return problem.image_size is not None and (problem.amp or problem.dtype in {"float16", "bfloat16"})


def _numbers(model: ModelDef, problem: Problem, expected: Expected, examination: Examination, when: str) -> None:
    """Checks that inputs and parameters are those of the seed.

    They must have the problem's dtype, and be unchanged after the last call.
    """
    examination.begin(when)
    dtypes = {getattr(torch, problem.dtype)}
    given = [one for one in tensors(model.inputs) if not one.requires_grad]
    for index, one in enumerate(expected.inputs):
        found = given[index] if index < len(given) else MISSING
        name = "input" if len(expected.inputs) == 1 else f"input[{index}]"
        examination.add(compare(name, found, one, EXACT, dtypes=dtypes))
    names = [*expected.parameters]
    for index, (_, found, one) in enumerate(pairs("", list(model.params), [*expected.parameters.values()])):
        name = names[index] if index < len(names) else str(index)
        examination.add(compare(f"parameter:{name}", found, one, EXACT, dtypes=dtypes))


def _calls(
    model: ModelDef,
    problem: Problem,
    expected: Expected,
    tolerance: Tolerance,
    examination: Examination,
    *,
    many: bool,
    check_grad: bool,
) -> None:
    begin = time.monotonic()
    call, last = 0, False
    while not last:
        call += 1
        examination.begin(f"call {call}")
        last = call >= _LOOKED_AT[-1] and (not many or call == _MANY or time.monotonic() - begin > _MANY_S)
        look = last or call in _LOOKED_AT
        for param in model.params:
            param.grad = None
        # A dropout mask inside a model is then the same in each call, and can be drawn again.
        torch.manual_seed(expected.mask_seed)
        result = model.forward(*model.inputs)
        if look:
            _look_at_result(result, problem, expected, tolerance, examination)
        if model.backward is not None:
            examination.begin(f"backward of call {call}")
            arguments = (result,) if model.backward_setup is None else model.backward_setup(result)
            start = None
            if look and check_grad:
                arguments, start = _dense(arguments, expected.own_start())
            model.backward(*arguments)
            if look and check_grad:
                _look_at_gradients(model, expected, expected.gradients(start), start, tolerance, examination)
    for param in model.params:
        param.grad = None


def _look_at_result(
    result: Any, problem: Problem, expected: Expected, tolerance: Tolerance, examination: Examination
) -> None:
    dtypes = {getattr(torch, problem.dtype)} | ({torch.bfloat16} if problem.amp else set())
    if problem.amp and problem.device.startswith("cuda"):
        # cuDNN's recurrent networks run in this dtype, whatever the dtype of autocast.
        dtypes.add(torch.float16)
    share = 0.0
    if expected.rounded is not None:
        share = sensitivity((one, other) for _, one, other in results(expected.rounded.result, expected.result))
    for name, found, one in results(result, expected.result):
        allowed = widened(tolerance, one, share) if share else tolerance
        examination.add(compare(name, found, one, allowed, dtypes=dtypes))


def _look_at_gradients(
    model: ModelDef,
    expected: Expected,
    gradients: dict[str, torch.Tensor | None],
    start: torch.Tensor | None,
    tolerance: Tolerance,
    examination: Examination,
) -> None:
    share = 0.0
    if expected.rounded is not None:
        rounded = expected.rounded.gradients(start)
        share = sensitivity((rounded[name], one) for name, one in gradients.items())
    for (name, one), param in zip(gradients.items(), model.params, strict=False):
        found = MISSING if param.grad is None else param.grad
        allowed = widened(tolerance, one, share) if share and one is not None else tolerance
        examination.add(compare(f"gradient:{name}", found, one, allowed, dtypes={param.dtype}, scaled=True))


def _dense(arguments: Any, given: torch.Tensor | None) -> tuple[Any, torch.Tensor | None]:
    """Returns the arguments of backward, and the gradient that it starts from.

    The gradient has no zeros or tiny values that would hide a fault. By convention the gradient is the last of two
    arguments. A runner's own gradient may be zero, tiny or NaN where the runner is wrong.

    Args:
        arguments: Arguments from the model's `backward_setup`.
        given: Gradient that the reference started from, if it cannot start from another.
    """
    by_convention = isinstance(arguments, (list, tuple)) and len(arguments) == 2  # noqa: PLR2004
    if not by_convention or not isinstance(arguments[1], torch.Tensor):
        return arguments, None
    output, own = arguments
    if given is None or given.shape != own.shape:
        given = torch.randn(own.shape, generator=torch.Generator().manual_seed(_OF_START), dtype=torch.float64)
    start = given.detach().to(own)
    return (output, start), start.clone()
