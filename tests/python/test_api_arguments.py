"""The arguments of `bench` and `profile`: the same as the flags, shown by `help`, and checked."""

from __future__ import annotations

import inspect
import itertools
import pydoc
import re
from collections.abc import Callable
from dataclasses import fields
from functools import partial
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import click
import numpy as np
import planted_runners
import pytest
import torch
from commands import run_with_facts

import fastrnns_rs
from fastrnns_rs import Schedule, UsageError
from fastrnns_rs.api import arguments
from fastrnns_rs.cli.bench import command as bench_command
from fastrnns_rs.cli.profile import command as profile_command
from fastrnns_rs.problem.jit_settings import JitSettings
from fastrnns_rs.problem.modes import Modes
from fastrnns_rs.problem.problem import Sizes
from fastrnns_rs.problem.torch_profiler import TorchOptions
from fastrnns_rs.runners.plan import Options
from fastrnns_rs.runners.profile_request import ProfileRequest
from fastrnns_rs.verbs.profile import capture_run

#: Flags that a function has under another name, or has no use for: it returns what they would write.
RENAMED = {"group": "groups", "axis": "axes", "nsys": "tool", "nvprof": "tool", "torch": "tool"}
RENAMED |= {"nsys_path": "tool_path", "nvprof_path": "tool_path", "rnns": "runners", "cnns": "runners"}
RENAMED |= {"unprofiled": "baseline"}
OF_THE_COMMAND = {"runner_file", "no_report", "format_name", "as_json", "output", "sep", "print_json", "internal_run"}
OF_THE_COMMAND |= {"sort", "no_history", "help_all", "wide", "run_file", "open_page"}
BOTH = [(fastrnns_rs.bench, bench_command), (fastrnns_rs.profile, profile_command)]
FUNCTIONS = [fastrnns_rs.ab, fastrnns_rs.bench, fastrnns_rs.profile, fastrnns_rs.verify]
both = pytest.mark.parametrize(("function", "command"), BOTH, ids=["bench", "profile"])


def defaults(function: Callable[..., Any]) -> dict[str, Any]:
    return {one.name: one.default for one in inspect.signature(function).parameters.values()}


def planned(*runners: Any, **given: Any) -> list[str]:
    """The command line of a capture that is not made."""
    ((*words,),) = fastrnns_rs.profile(list(runners) or None, tool="torch", dry_run=True, **given)
    return words


def captured(words: list[str]) -> list[str]:
    return [word.removeprefix("--runner=") for word in words if word.startswith("--runner=")]


@both
def test_every_flag_is_an_argument(function: Callable[..., Any], command: click.Command) -> None:
    with command.make_context(str(command.name), []) as context:
        flags = {
            one.name: context.params[one.name]
            for one in command.params
            # An option of every command, as --quiet, exposes no value.
            if isinstance(one, click.Option) and one.expose_value and not one.hidden and one.name not in OF_THE_COMMAND
        }
    shown = defaults(function)
    # --no-progress is an option of every command.
    assert {RENAMED.get(name, name) for name in flags} | {"runners", "progress"} == set(shown)
    assert shown["progress"] is True
    same = [name for name in flags if name not in RENAMED]
    assert {name: flags[name] for name in same} == {name: shown[name] for name in same}


@both
def test_help_shows_and_describes_every_argument(function: Callable[..., Any], command: click.Command) -> None:
    text = pydoc.plain(pydoc.render_doc(function))
    signature = text.splitlines()[2]
    assert "**" not in signature
    for name in defaults(function):
        assert f"{name}: '" in signature
        assert re.search(rf"^ +{name}: [A-Z`].+", text, flags=re.MULTILINE), name


#: Types that a function takes besides that of the dataclass, whose values are plain.
WIDER = {"int": "SupportsIndex", "int | None": "SupportsIndex | None"}
OF_TORCH = {"device": "str | torch.device", "dtype": "str | torch.dtype"}


@pytest.mark.parametrize("function", FUNCTIONS, ids=lambda one: one.__name__)
def test_signatures_are_real(function: Callable[..., Any]) -> None:
    """`inspect.signature` reads what a call runs, and no keyword is taken by a dictionary."""
    inner = inspect.unwrap(function)
    assert "__signature__" not in vars(function)
    code = inner.__code__
    names = code.co_varnames[: code.co_argcount + code.co_kwonlyargcount]
    assert [*inspect.signature(function).parameters] == [*names]
    assert not code.co_flags & (inspect.CO_VARKEYWORDS | inspect.CO_VARARGS)


def test_types_are_those_of_the_fields() -> None:
    types: dict[str, Any] = {}
    #: Arguments that mean something else in another function.
    different = {"processes", "baseline"}
    for function in FUNCTIONS:
        for one in inspect.signature(function).parameters.values():
            assert types.setdefault(one.name, one.annotation) == one.annotation or one.name in different, one.name
    # What the parsers of a list and of a schedule take, beside what they make of it.
    wider = {"activities", "schedule"}
    for kind in (Sizes, Modes, Options, JitSettings, TorchOptions, ProfileRequest):
        for field in fields(kind):
            if field.name not in wider | {"choice", "sizes", "modes", "jit", "axes", "filters", "options", "torch"}:
                plain = str(field.type)
                assert types[field.name] == OF_TORCH.get(field.name, WIDER.get(plain, plain)), field.name


def test_overloads_of_profile_take_the_same_keywords() -> None:
    """Type checkers read the overloads, which have the keywords from a `TypedDict`."""
    own = {"runners", "separate", "processes", "dry_run"}
    shown = inspect.signature(fastrnns_rs.profile).parameters
    described = arguments.ProfileArguments.__annotations__
    assert {name: kind.__forward_arg__ for name, kind in described.items()} == {
        name: one.annotation for name, one in shown.items() if name not in own
    }


@pytest.mark.parametrize("function", FUNCTIONS, ids=lambda one: one.__name__)
@pytest.mark.parametrize(
    ("wrong", "right"),
    [
        ("hiddenSize", "hidden_size"),
        ("seqLength", "seq_length"),
        ("miniBatch", "mini_batch"),
        ("imageSize", "image_size"),
        ("batch_size", "mini_batch"),
        ("cudnnBenchmark", "cudnn_benchmark"),
        ("allowTF32", "allow_tf32"),
        ("mini-batch", "mini_batch"),
    ],
)
def test_misspelt_keywords_get_a_suggestion(function: Callable[..., Any], wrong: str, right: str) -> None:
    message = rf"{function.__name__}\(\) got an unexpected keyword argument '{wrong}'; did you mean '{right}'\?"
    with pytest.raises(TypeError, match=message):
        function("py", **{wrong: 3})


@pytest.mark.parametrize("function", FUNCTIONS[1:], ids=lambda one: one.__name__)
def test_several_runners_are_a_list(function: Callable[..., Any]) -> None:
    hint = r"takes 1 positional argument; use a list for several runners: runners=\[...\]"
    with pytest.raises(TypeError, match=hint):
        function("cudnn", "py")


class Whole:
    """A whole number of another library."""

    def __index__(self) -> int:
        return 7


@pytest.mark.parametrize(
    "value",
    [
        np.int64(7),
        torch.tensor(7),
        *(pytest.param(one, marks=pytest.mark.long("bench")) for one in (7, np.uint8(7), Whole())),
    ],
)
def test_sizes_are_any_integer(value: Any) -> None:
    words = planned("py", hidden_size=value, seed=value, nloops=value)
    assert {"--hidden-size=7", "--seed=7", "--nloops=7"} <= {*words} | {
        f"{one}={other}" for one, other in itertools.pairwise(words)
    }


@pytest.mark.parametrize("value", [7.0, np.float64(7), "7", True, np.array([7, 8]), [7]])
def test_other_sizes_are_mistakes(value: Any) -> None:
    with pytest.raises(UsageError, match=r"invalid integer: .* \(hidden_size\)"):
        fastrnns_rs.bench("py", hidden_size=value)


@pytest.mark.parametrize("value", ["no", 1, None])
def test_switches_are_true_or_false(value: Any) -> None:
    for name in ("quick", "allow_tf32", "amp"):
        with pytest.raises(UsageError, match=re.escape(f"invalid value: {value!r} ({name})")):
            fastrnns_rs.bench("cudnn", **{name: value})
    with pytest.raises(UsageError, match=re.escape("out of range: 0 (nloops)")):
        fastrnns_rs.bench("cudnn", quick=np.True_, nloops=0)


def test_devices_and_dtypes_are_those_of_torch() -> None:
    given = {"device": torch.device("cuda", 1), "dtype": torch.bfloat16, "devices": [torch.device("cpu"), "cuda:0"]}
    given |= {"axes": {"dtype": [torch.float32, "float64"], "hidden_size": (np.int32(8), 16)}, "amp": True}
    assert arguments.plain_arguments(given) == {
        "device": "cuda:1",
        "dtype": "bfloat16",
        "devices": ["cpu", "cuda:0"],
        "axes": {"dtype": ["float32", "float64"], "hidden_size": [8, 16]},
        "amp": True,
    }
    words = planned("py", device=torch.device("cpu"), dtype=torch.float64)
    assert "float64" in " ".join(words).replace("=", " ").split()
    with pytest.raises(UsageError, match=r"invalid value: 'complex64' \(dtype\)"):
        fastrnns_rs.bench("py", dtype=torch.complex64)
    with pytest.raises(UsageError, match=r"invalid value: 'meta' \(device\)"):
        fastrnns_rs.verify("py", device=torch.device("meta"))


@pytest.mark.usefixtures("_no_torch")
@pytest.mark.parametrize("given", ["cpu", " cpu,", ["cpu"], ("cpu",)])
def test_activities_are_given_as_a_list_or_as_the_flag_takes_them(given: Any) -> None:
    assert "--activities=cpu" in planned("py", activities=given)


@pytest.mark.usefixtures("_no_torch")
@pytest.mark.parametrize("given", [Schedule(wait=0, active=2), "wait=0,active=2"])
def test_a_schedule_is_an_object_or_a_text(given: Any) -> None:
    assert f"--schedule={Schedule(wait=0, active=2)}" in planned("py", schedule=given)


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"activities": 5}, "invalid value: 5 (activities)"),
        ({"activities": ["cpu", None]}, "invalid value: ['cpu', None] (activities)"),
        ({"activities": []}, "missing value: `activities`"),
        ({"activities": "gpu"}, "unknown activity: 'gpu' (activities)"),
        ({"schedule": 3}, "invalid value: 3 (schedule)"),
        ({"schedule": "wait"}, "invalid pair: 'wait' (schedule)"),
    ],
)
def test_what_is_neither_is_a_usage_error(given: dict[str, Any], message: str) -> None:
    with pytest.raises(UsageError, match=re.escape(message)):
        planned("py", **given)


@pytest.mark.usefixtures("_no_torch")
def test_runners_are_chosen_as_by_flags() -> None:
    varlen = ["vl_cudnn", "vl_jit", "vl_py"]
    assert captured(planned()) == ["cudnn", "aten", "jit"]
    assert captured(planned(variable_lstms=True)) == varlen
    assert captured(planned("py", variable_lstms=True)) == [*varlen, "py"]
    words = planned(planted_runners.sound, "py")
    assert captured(words) == ["sound", "py"]
    assert any("planted_runners" in word for word in words), "its file is named to the process that runs it"
    assert captured(planned("vl_py", groups="cnns")) == [
        *("resnet18", "resnet18_jit", "resnet50", "resnet50_jit"),
        "vl_py",
    ]


@pytest.mark.usefixtures("_no_torch")
def test_a_dry_run_is_that_of_the_command(anywhere: Path) -> None:
    more = {"quick": True, "cuda_pointwise_block_size": 4, "with_stack": True, "row_limit": -1, "nloops": 6}
    flags = ["--quick", "--cuda-pointwise-block-size", "4", "--with-stack", "--row-limit=-1", "--nloops", "6"]
    asked = ["profile", "--torch", "--rnns", "cudnn", "py", "--separate", "--dry-run", "--json", "--output-dir", "o"]
    theirs = run_with_facts(*asked, *flags).json()["commands"]
    ours = fastrnns_rs.profile(["cudnn", "py"], tool="torch", separate=True, dry_run=True, output_dir="o", **more)
    assert [len(one) for one in ours] == [len(one) for one in theirs]
    for one, other in zip(ours, theirs, strict=True):
        # Of the file's name the second is left out, which may have passed.
        assert [word for word in one if "prof_" not in word] == [word for word in other if "prof_" not in word]
    assert not Path("o").exists()


@pytest.mark.usefixtures("_no_torch")
def test_each_runner_has_its_turn_when_they_are_captured_apart(anywhere: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[str] = []

    def capture(prepared: Any, _place: Any, _observer: Any) -> tuple[str, Path]:
        (name,) = (task.runner.name for task in prepared.plan.tasks)
        seen.append(name)
        if name in failing:
            record = SimpleNamespace(runners=[name], timed_out=False)
            raise capture_run.CaptureError(f"{name} failed", "", record, Path("log"))  # type: ignore[arg-type]
        return name, Path(name)

    monkeypatch.setattr(capture_run, "capture", capture)
    failing: set[str] = set()
    asked = ["aten", "cudnn", "py"]
    assert fastrnns_rs.profile(asked, tool="torch", separate=True) == asked == seen
    seen.clear()
    failing |= {"aten", "py"}
    with pytest.raises(capture_run.CaptureError, match="aten failed") as raised:
        fastrnns_rs.profile(asked, tool="torch", separate=True)
    assert seen == asked
    assert raised.value.__notes__ == ["as did py: py failed"]


@pytest.mark.long("profilers")
@pytest.mark.usefixtures("_no_torch")
def test_captures_apart_are_records(tmp_path: Path) -> None:
    """One is a function of the caller's."""
    asked = {"tool": "torch", "separate": True, "quick": True, "baseline": False, "device": "cpu"}
    captures = fastrnns_rs.profile(["cudnn", planted_runners.sound], **asked, output_dir=tmp_path)
    assert [(one.runners, one.ok) for one in captures] == [(["cudnn"], True), (["sound"], True)]
    assert len([*tmp_path.glob("*.txt")]) == 2


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: fastrnns_rs.compare("a", "b", margin=10**5000), "out of range: an integer of 16,610 bits (margin)"),
        (lambda: fastrnns_rs.compare("a", "b", fail_on=3), "invalid value: 3 (fail_on)"),
        (lambda: fastrnns_rs.ab("py", candidate_env={"A=B": "1"}), "invalid variable: 'A=B' (candidate_env)"),
        (lambda: fastrnns_rs.ab("py", candidate_env={"A": "\ud800"}), "invalid variable: "),
        (lambda: fastrnns_rs.read("a", devices="0"), "invalid value: '0' (devices)"),
        (lambda: fastrnns_rs.read("a", streams=["0"]), "invalid value: ['0'] (streams)"),
        (lambda: fastrnns_rs.read("a", pattern=3), "invalid value: 3 (pattern)"),
        (lambda: fastrnns_rs.read("a", kernels_by="x"), "invalid value: 'x' (kernels_by)"),
        (lambda: fastrnns_rs.Inductor(wall_time_ms="x"), "invalid number: 'x' (wall_time_ms)"),
        (lambda: fastrnns_rs.Inductor(wall_time_ms=1, name=3), "invalid value: 3 (name)"),
        *(
            (partial(fastrnns_rs.read, "t.json", **{name: value}), f"invalid value: '\\ud800' ({name})")
            for name, value in (("iteration_range", "\ud800"), ("data_loaders", ["x", "\ud800"]), ("pattern", "\ud800"))
        ),
        (lambda: fastrnns_rs.Schedule.parse("wait=" + "9" * 5000), "invalid integer of wait: "),
    ],
    ids=range(14),
)
def test_what_no_argument_can_be_is_a_usage_error(call: Callable[[], object], message: str) -> None:
    with pytest.raises(UsageError, match=f"^{re.escape(message)}"):
        call()


@pytest.mark.usefixtures("_no_torch")
@pytest.mark.parametrize("folder", ["a\0", "\ud800"])
def test_a_folder_that_cannot_be_is_a_usage_error(folder: str) -> None:
    with pytest.raises(UsageError, match=r"^cannot write folder: .* \(output_dir\): "):
        fastrnns_rs.profile("py", output_dir=folder, tool="torch")
