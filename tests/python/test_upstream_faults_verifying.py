"""Faults of PyTorch's fastrnns in its tests, each by its number in the migration page.

A check is a function that a test calls twice: on ours, which must pass, and on a planted copy of the fault, which must
not.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import conftest
import pytest
import torch
from models_under_test import problem_of

from fastrnns_rs.problem.jit_settings import JitSettings
from fastrnns_rs.problem.tolerance import Tolerance, choose_tolerance
from fastrnns_rs.runners.registry import find
from fastrnns_rs.verbs.verify import verification_run
from fastrnns_rs.worker.verification.checks import compare
from fastrnns_rs.worker.verification.examination import Examination, examine
from fastrnns_rs.worker.verification.tensors import results

Equal = Callable[[Any, Any], bool]

# 22. NaN passes, a shape that broadcasts passes, a missing output passes, and a mismatch waits in a debugger.


def check_22(equal: Equal) -> None:
    y, state = torch.ones(2, 3), torch.ones(1, 3)
    assert equal((y, (state, state)), (y, (state, state)))
    assert not equal((y + 1, (state, state)), (y, (state, state))), "a wrong number passes"
    assert not equal((y * float("nan"), (state, state)), (y, (state, state))), "NaN passes"
    assert not equal((y[:1], (state, state)), (y, (state, state))), "another shape passes"
    assert not equal((y, (state,)), (y, (state, state))), "a missing state passes"
    assert not equal((y, (state + 5e-4, state)), (y, (state, state))), "states have another threshold"


def test_fault_22_what_differs_is_never_taken_for_equal(capsys: pytest.CaptureFixture[str]) -> None:
    tight = Tolerance(relative=0.0, absolute=1e-4)

    def ours(found: Any, expected: Any) -> bool:
        return all(compare(*one, tight).check.ok for one in results(found, expected))

    def planted(found: Any, expected: Any, threshold: float = 1e-4) -> bool:
        if isinstance(found, torch.Tensor):
            return not (found - expected).abs().max() > threshold
        return all(planted(*pair, 1e-3 if isinstance(found, tuple) else threshold) for pair in zip(found, expected))  # noqa: B905

    check_22(ours)
    with pytest.raises(AssertionError, match="NaN passes"):
        check_22(planted)
    assert not capsys.readouterr().out, "something asks a question"


# 23. `--check-grad False` is True, and nothing reads it.


def check_23(asked_for: Callable[[list[str]], bool]) -> None:
    assert asked_for([]) is True
    assert asked_for(["--check-grad"]) is True
    assert asked_for(["--check-grad", "True"]) is True
    assert asked_for(["--check-grad", "False"]) is False, "False is taken for True"
    assert asked_for(["--check-grad=false"]) is False
    assert asked_for(["--no-check-grad"]) is False


def test_fault_23_gradients_are_checked_as_asked(monkeypatch: pytest.MonkeyPatch) -> None:
    from fastrnns_rs.cli import verify as verb

    asked: list[Any] = []

    def verify(one: Any, *_: Any) -> Any:
        asked.append(one)
        return SimpleNamespace(render=lambda *_, **__: "", results=[], ok=True)

    monkeypatch.setattr(verification_run, "verify", verify)

    def ours(words: list[str]) -> bool:
        verb.command.main(args=words, standalone_mode=False)
        return bool(asked[-1].check_grad)

    def planted(words: list[str]) -> bool:
        parser = argparse.ArgumentParser()
        parser.add_argument("--check-grad", nargs="?", const=True, default=True, type=bool)
        return bool(parser.parse_known_args(words)[0].check_grad)

    check_23(ours)
    with pytest.raises(AssertionError, match="False is taken for True"):
        check_23(planted)


def test_fault_23_gradients_that_are_not_to_be_checked_are_not() -> None:
    for wanted in (True, False):
        examination = Examination()
        problem = problem_of("py")
        settings = JitSettings(fuser="default")
        examine(find("py"), problem, settings, choose_tolerance(problem), examination, check_grad=wanted)
        assert any(one.name.startswith("gradient:") for one in examination.checks()) is wanted


# 24. A runner's context is looked up and never entered, so that `aten` runs cuDNN.


def check_24(entered: bool) -> None:
    inside: list[bool] = []

    @contextmanager
    def context() -> Iterator[None]:
        inside.append(True)
        try:
            yield
        finally:
            inside.pop()

    def creator(problem: Any) -> Any:
        model = find("py").creator(problem)

        def forward(*inputs: Any) -> Any:
            assert inside, "the context is not entered"
            return model.forward(*inputs)

        return replace(model, forward=forward, context=context if entered else nullcontext)

    problem = problem_of("py")
    runner = replace(find("py"), creator=creator)
    examine(runner, problem, JitSettings(fuser="default"), choose_tolerance(problem), Examination())
    assert not inside


def test_fault_24_a_runner_is_checked_inside_its_context() -> None:
    check_24(entered=True)
    with pytest.raises(AssertionError, match="not entered"):
        check_24(entered=False)


# 25. A test that is no method ends the collection of all tests.


def check_25(hook: Callable[[list[Any]], Any]) -> None:
    of_module = SimpleNamespace(cls=None, path=Path(__file__), get_closest_marker=lambda _name: None)
    try:
        hook([of_module])
    except AttributeError as error:
        raise AssertionError("a test of a module ends the collection") from error


def test_fault_25_tests_outside_of_classes_are_collected() -> None:
    every: Any = SimpleNamespace(getoption=lambda _name: None)
    check_25(lambda items: conftest.pytest_collection_modifyitems(every, items))
    with pytest.raises(AssertionError, match="ends the collection"):
        check_25(lambda items: [one.cls.__name__ for one in items])
