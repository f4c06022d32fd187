"""Switches, integers, texts and paths of public functions: others are refused by name before anything is done."""

from __future__ import annotations

import importlib
import inspect
import itertools
import os
import re
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import screen_data
from kineto_traces import kernel, write

import fastrnns_rs
from fastrnns_rs import MissingError, UsageError
from fastrnns_rs.documents.keywords import checked_keywords

PATHS = ("str | Path", "str | os.PathLike[str]")


def decorated() -> Iterator[Callable[..., Any]]:
    """Every decorated function of the package, once."""
    found: dict[str, Callable[..., Any]] = {}
    package = Path(fastrnns_rs.__file__).parent
    for path in package.rglob("*.py"):
        if "@checked_keywords(" not in path.read_text():
            continue
        module = importlib.import_module(".".join(path.relative_to(package.parent).with_suffix("").parts))
        kinds = [kind for kind in vars(module).values() if inspect.isclass(kind)]
        for value in [*vars(module).values(), *(value for kind in kinds for value in vars(kind).values())]:
            if inspect.isfunction(value) and "checked_keywords" in value.__code__.co_qualname:
                found[f"{value.__module__}.{value.__qualname__}"] = value
    yield from found.values()


def test_every_function_checks_its_switches_integers_and_paths() -> None:
    functions = [*decorated()]
    assert len(functions) >= 20
    checked = 0
    for function in functions:
        for name, one in inspect.signature(function).parameters.items():
            wrong: list[Any] = {"bool": ["no", 1, None, 0.0], "bool | None": ["no", 0]}.get(one.annotation, [])
            wrong += [1.5, float("nan"), "3", True, np.float64(3)] if one.annotation == "int | None" else []
            kind = str(one.annotation).removesuffix(" | None").removesuffix(" | Literal[False]")
            wrong += [True, 5, b"x", ["x"]] if kind in PATHS else []
            for value in wrong:
                given: dict[str, Any] = {} if one.kind is one.VAR_POSITIONAL else {name: value}
                with pytest.raises(UsageError, match=rf"^(invalid|not a path).* \({name}\)\. Use "):
                    function(*([] if given else [value]), **given)
                checked += 1
    assert checked > 300


@checked_keywords(old="wide")
def example(
    first: bool = False,
    *rest: str | os.PathLike[str],
    wide: bool | None = None,
    width: int | None = None,
    history: str | os.PathLike[str] | Literal[False] | None = None,  # type: ignore[name-defined]  # noqa: F821
    other: float = 0.0,
) -> tuple[Any, ...]:
    return first, rest, wide, width, history, other


def test_valid_values_become_plain_values() -> None:
    path = Path("x")
    assert example() == (False, (), None, None, None, 0.0)
    found = example(np.True_, "a", path, wide=np.False_, width=np.int32(7), history=path, other="x")
    assert found == (True, ("a", path), False, 7, path, "x")
    assert [type(one) for one in (found[0], found[2], found[3])] == [bool, bool, int]
    assert example(history=False)[4] is False
    with pytest.warns(DeprecationWarning, match="now example"):
        assert example(old=True)[2] is True


@pytest.mark.parametrize(
    "given", [{"seed": 10**5000}, {"axes": {"hidden_size": [8, 10**5000]}}, {"processes": 1 << 1024}]
)
def test_integers_that_cannot_be_printed_are_refused(given: dict[str, Any]) -> None:
    with pytest.raises(UsageError, match=rf"^out of range: an integer of 1[\d,]+ bits \({next(iter(given))}\)"):
        fastrnns_rs.bench("cudnn", quick=True, **given)


def test_a_schedule_of_such_integers_is_refused() -> None:
    with pytest.raises(UsageError, match=r"^out of range: an integer of 16,610 bits \(the schedule's active\)"):
        fastrnns_rs.Schedule(active=10**5000)


@pytest.mark.parametrize("values", [range(8, 10**12), itertools.count(8)])
def test_values_without_end_are_too_many(values: Iterable[int]) -> None:
    with pytest.raises(UsageError, match="too many values of hidden-size: more than 1000"):
        fastrnns_rs.bench("cudnn", quick=True, axes={"hidden_size": values})


@pytest.mark.parametrize("workers", ["x", 1.5, True, []])
def test_a_word_that_is_valid_beside_integers_permits_no_other_value(workers: Any) -> None:
    with pytest.raises(UsageError, match=r"^invalid integer: .* \(workers\)\. Use an integer\.$"):
        fastrnns_rs.read("x", workers=workers)


@pytest.mark.parametrize("value", ["load_batch", 5, None, [5], ["x", None]])
def test_a_text_is_no_list_of_texts(value: Any) -> None:
    """Each letter of `load_batch` is in the name of nearly every range."""
    for name, call in (("data_loaders", fastrnns_rs.read), ("architectures", fastrnns_rs.inductor)):
        message = rf"^invalid value: {re.escape(repr(value))} \({name}\)\. Use a list of texts\.$"
        with pytest.raises(UsageError, match=message):
            call("x", **{name: value})


@pytest.mark.parametrize("value", [5, b"x", ["@last"]])
def test_a_value_that_names_no_run_is_not_resumed(value: Any) -> None:
    with pytest.raises(UsageError, match=rf"^not a run: {re.escape(repr(value))} \(resume\)\. Use a run, the path"):
        fastrnns_rs.bench("py", resume=value, history=False, progress=False)


def test_positional_and_renamed_arguments_are_checked() -> None:
    wrong: list[tuple[tuple[Any, ...], dict[str, Any], str]] = [
        (("no",), {}, "invalid value: 'no' (first). Use True or False."),
        ((True, "a", 5), {}, "not a path: 5 (rest). Use a path: str or os.PathLike."),
        ((), {"history": True}, "not a path: True (history). Use a path: str or os.PathLike."),
        ((), {"width": np.array([1, 2])}, "invalid integer: array([1, 2]) (width). Use an integer."),
    ]
    for args, given, message in wrong:
        with pytest.raises(UsageError, match=re.escape(message)):
            example(*args, **given)
    with (
        pytest.warns(DeprecationWarning, match="now example"),
        pytest.raises(UsageError, match=r"invalid value: 'no' \(wide\)"),
    ):
        example(old="no")


@pytest.fixture
def trace(tmp_path: Path) -> Path:
    return write(tmp_path / "x.json", [kernel("scan", 5, 2)])


def test_widths_have_a_range(trace: Path) -> None:
    for one in (screen_data.candidate(), fastrnns_rs.read(trace)):
        for width in (-5, 0, 10**6 + 1, 10**30):
            with pytest.raises(
                UsageError, match=rf"out of range: {width} \(width\)\. Use an integer from 1 to 1,000,000"
            ):
                one.render(width=width)
        assert one.render(width=1)
        assert one.render(width=10**6)
        assert one.render(width=np.int64(60)) == one.render(width=60)


def test_a_number_is_no_measurement_of_inductor(trace: Path) -> None:
    with pytest.raises(UsageError, match=r"invalid value: 0 \(inductor\)\. Use fastrnns_rs\.Inductor"):
        fastrnns_rs.read(trace, inductor=0)  # type: ignore[arg-type]


@pytest.mark.parametrize("folder", ["a" * 5000, "a" * 300, "a\0b", "\ud800"], ids=["path", "name", "nul", "surrogate"])
def test_an_impossible_history_is_named(folder: str, monkeypatch: pytest.MonkeyPatch) -> None:
    run = screen_data.candidate()
    shown = repr(folder).strip("'")[:150]
    message = f"cannot read history: '({re.escape(os.getcwd())}/)?{re.escape(shown)}"
    for call in (
        lambda: fastrnns_rs.compare(run, run, history=folder),
        lambda: fastrnns_rs.load("@last", history=folder),
    ):
        with pytest.raises(UsageError, match=message):
            call()
    if "\0" not in folder:
        monkeypatch.delenv("FASTRNNS_NO_HISTORY", raising=False)
        monkeypatch.setattr(os, "environ", {**os.environ, "FASTRNNS_HISTORY": folder})
        with pytest.raises(UsageError, match=message):
            fastrnns_rs.compare(run, run)


@pytest.mark.parametrize("path", ["", None])
def test_an_interpreter_without_a_path_is_named(path: str | None, monkeypatch: pytest.MonkeyPatch) -> None:
    """A program that contains Python has none: the error was a TypeError, or named the file ''."""
    monkeypatch.setattr("sys.executable", path)
    with pytest.raises(MissingError, match="`sys.executable` is empty"):
        fastrnns_rs.verify("cudnn")
