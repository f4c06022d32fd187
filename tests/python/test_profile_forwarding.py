"""What `profile` makes of its command line and its configuration; every option reaches the process as it was given."""

from __future__ import annotations

import importlib
import json
import os
import re
import shlex
from dataclasses import replace
from pathlib import Path
from typing import Any

import click
import fake_tools
import pytest
from commands import run_with_facts
from conftest import FACTS
from hypothesis import given as drawn
from hypothesis import strategies as st
from profile_commands import WITH_CUDA

import fastrnns_rs
from fastrnns_rs.cli import VERBS, internal_run
from fastrnns_rs.cli.configuration import Unconfigured
from fastrnns_rs.cli.error_text import CommandError
from fastrnns_rs.cli.profile import command, make_request
from fastrnns_rs.documents.document import VERSION
from fastrnns_rs.errors import UsageError
from fastrnns_rs.problem.profiler_schedule import Schedule
from fastrnns_rs.problem.torch_profiler import SORT_KEYS, TorchOptions
from fastrnns_rs.runners.plan import Plan, make_plan
from fastrnns_rs.runners.profile_request import ProfileRequest
from fastrnns_rs.runners.runner import Runner
from fastrnns_rs.verbs.profile.child_command import arguments, child_command

#: What the parent process does with a capture, and what it tells the child by other means.
OF_THE_PARENT = {
    *("help_all", "quiet", "no_progress", "color"),
    *(
        "nsys_path",
        "nvprof_path",
        "separate",
        "processes",
        "output_dir",
        "keep",
        "redact",
        "unprofiled",
        "dry_run",
        "no_report",
    ),
    *("no_report", "format_name", "as_json", "output", "timeout", "internal_run", "answer", "stem", "flags_only"),
}
#: How runners are chosen: the child is told their names.
CHOICES = {"rnns", "cnns", "group", "variable_lstms", "runner", "runner_file", "runner_module"}
#: Flags that are either given or not, alone and of torch's profiler.
SWITCHES = (
    *("nsys", "nvprof", "torch", "quick", "inference", "amp", "channels_last", "cudnn_benchmark", "deterministic"),
    *("bidirectional", "allow_tf32"),
)
OF_TORCH = (
    *("record_shapes", "profile_memory", "with_stack", "with_flops", "with_modules", "group_by_input_shape"),
    *("memory_timeline", "memory_snapshot"),
)
#: Options that take a value.
VALUES = (
    "seq_length=7 num_layers=2 input_size=8 hidden_size=9 mini_batch=3 image_size=65 warmup=0 nloops=17 seed=5 "
    "sleep_between_seconds=0.25 mode=inference proj_size=3 device=cpu dtype=float64 threads=1 fuser=old "
    "executor=simple cuda_pointwise_loop_level=2 cuda_pointwise_block_count=3 cuda_pointwise_block_size=4"
)
FORWARDED = {
    **{name: [f"--{name.replace('_', '-')}"] for name in SWITCHES},
    **{name: ["--torch", f"--{name.replace('_', '-')}"] for name in OF_TORCH},
    **{name: [f"--{name.replace('_', '-')}", value] for name, value in (one.split("=") for one in VALUES.split())},
    "activities": ["--torch", "--activities", "cpu"],
    "schedule": ["--torch", "--schedule", "wait=0,warmup=0,active=2,repeat=2,skip-first=1"],
    "on_trace_ready": ["--torch", "--on-trace-ready", "chrome:-a folder, with 'quotes'"],
    "group_by_stack": ["--torch", "--group-by-stack", "3"],
    "sort_by": ["--torch", "--sort-by", "cpu_time"],
    "row_limit": ["--torch", "--row-limit", "-1"],
}


def parsed(words: list[str]) -> ProfileRequest:
    with command.make_context("profile", list(words)) as context:
        return make_request(context.params)


def plan_of(request: ProfileRequest) -> Plan:
    return make_plan(request.options, FACTS)


@pytest.fixture
def no_refusals(monkeypatch: pytest.MonkeyPatch) -> None:
    """Every runner and device takes every option: what is forwarded is no matter of who can honour it."""
    monkeypatch.setattr(Runner, "refusal", lambda _runner, _problem: None)
    monkeypatch.setattr("fastrnns_rs.runners.plan._device", lambda *_given: "cpu")


def without_choice(request: ProfileRequest) -> ProfileRequest:
    """A request but for what the plan has decided: which runners, on which device, how often."""
    plan = plan_of(request)
    decided = {"choice": None, "device": plan.tasks[0].problem.device, "warmup": plan.warmup, "nloops": plan.nloops}
    return replace(request, options=replace(request.options, **decided))


def test_every_option_is_in_one_of_these_lists() -> None:
    names = {param.name for param in command.params if isinstance(param, click.Option)}
    assert names == OF_THE_PARENT | CHOICES | set(FORWARDED)


@pytest.mark.usefixtures("no_refusals")
@pytest.mark.parametrize("name", FORWARDED)
def test_an_option_is_forwarded(name: str) -> None:
    given = parsed(["--rnns", "jit", "py", *FORWARDED[name]])
    again = parsed(arguments(given, plan_of(given)))
    assert without_choice(again) == without_choice(given)
    if name != "device":
        # An option that changes nothing here would be forwarded by being left out.
        assert without_choice(given) != without_choice(parsed(["--rnns", "jit", "py"]))


@pytest.mark.parametrize(
    ("words", "names"),
    [
        ([], ["cudnn", "aten", "jit"]),
        (["--rnns"], ["cudnn", "aten", "jit"]),
        (["--rnns", "py", "jit"], ["py", "jit"]),
        (["--cnns", "resnet18"], ["resnet18"]),
        (["--rnns", "py", "--cnns", "resnet18"], ["py", "resnet18"]),
        (["--cnns"], ["resnet18", "resnet18_jit", "resnet50", "resnet50_jit"]),
        (["--variable-lstms"], ["vl_cudnn", "vl_jit", "vl_py"]),
        (["--group", "rnns", "--rnns", "py"], ["py"]),
        (["--group", "cnns"], ["resnet18", "resnet18_jit", "resnet50", "resnet50_jit"]),
    ],
)
def test_the_child_is_told_the_runners_by_name(words: list[str], names: list[str]) -> None:
    given = parsed(words)
    plan = plan_of(given)
    assert [task.runner.name for task in plan.tasks] == names
    again = plan_of(parsed(arguments(given, plan)))
    assert [task.problem for task in again.tasks] == [task.problem for task in plan.tasks]
    assert [task.runner.name for task in again.tasks] == names


@drawn(
    st.builds(
        TorchOptions,
        activities=st.sampled_from([None, ("cpu",), ("cuda", "cpu")]),
        schedule=st.builds(Schedule, wait=st.integers(0, 4), active=st.integers(1, 4), repeat=st.integers(0, 3)),
        on_trace_ready=st.sampled_from([None, "chrome:a b", "tensorboard:/x:y", "package.module:function"]),
        profile_memory=st.just(value=True),
        with_flops=st.just(value=True),
        sort_by=st.sampled_from([None, *SORT_KEYS, "cuda_time"]),
        row_limit=st.sampled_from([-1, 1, 20]),
        group_by_stack=st.integers(0, 9),
    )
)
def test_options_of_torch_are_forwarded_whatever_they_are(options: TorchOptions) -> None:
    given = replace(parsed(["--torch", "--rnns", "jit"]), torch=options)
    assert parsed(arguments(given, plan_of(given))).torch == options


PREFIX = "FASTRNNS_PROFILE"
UNCONFIGURED = [one for one in command.params if isinstance(one, Unconfigured)]


def checked(*words: str) -> ProfileRequest:
    """A request as the command reads it, variables included, once its flags have been looked at."""
    with command.make_context("profile", [*words], auto_envvar_prefix=PREFIX) as context:
        request = make_request(context.params)
        internal_run.check(request, context.params)
        return request


def configure(folder: Path, text: str) -> None:
    (folder / "pyproject.toml").write_text(f"[tool.fastrnns-rs.profile]\n{text}\n")


def names(request: ProfileRequest) -> list[str]:
    return [runner.name for runner, _ in request.options.choice.runners()]


@pytest.mark.parametrize("name", internal_run.OF_THE_CAPTURE)
def test_every_flag_of_the_capture_is_refused_inside(name: str) -> None:
    option = next(one for one in command.params if one.name == name)
    flag = (option.secondary_opts or option.opts)[-1]
    words = [flag] if option.is_flag else [flag, "json" if name == "format_name" else "3"]
    with pytest.raises(UsageError, match=f"{flag} and --internal-run exclude each other"):
        checked("--internal-run", "--torch", *words)


def test_flags_that_mean_nothing_inside_are_refused_together() -> None:
    with pytest.raises(UsageError, match="--keep and --json and --internal-run"):
        checked("--internal-run", "--json", "--keep")
    with pytest.raises(UsageError, match="--output-dir and --internal-run"):
        checked("--internal-run", "--nsys", "--output-dir", "x")
    assert checked("--internal-run", "--torch", "--output-dir", "x").tool == "torch"
    with pytest.raises(UsageError, match="--torch"):
        checked("--internal-run", "--with-stack")


def test_configuration_of_captures_is_not_in_the_way(anywhere: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    configure(anywhere, "keep = true\nwith-stack = true\ntimeout = 3\nnloops = 7")
    monkeypatch.setenv(f"{PREFIX}_JSON", "1")
    assert checked("--internal-run").options.nloops == 7


def test_what_only_the_child_is_told_is_for_the_child() -> None:
    hidden = {one.name for one in command.params if isinstance(one, click.Option) and one.hidden}
    assert hidden == set(internal_run.FOR_THE_CHILD)
    assert hidden | {"internal_run"} == {one.name for one in UNCONFIGURED}
    for one in UNCONFIGURED:
        if one.hidden:
            words = [one.opts[0]] if one.is_flag else [one.opts[0], "py"]
            with pytest.raises(click.NoSuchOption):
                checked(*words)


@pytest.mark.parametrize("option", UNCONFIGURED, ids=lambda one: one.name)
def test_only_a_flag_sets_it(option: click.Option, anywhere: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(f"{PREFIX}_{option.name.upper()}", "1")
    with command.make_context("profile", [], auto_envvar_prefix=PREFIX) as context:
        assert not context.params[option.name]
    flag = option.opts[0].removeprefix("--")
    value = "true" if option.is_flag else "'x'"
    configure(anywhere, f"{flag} = {value}")
    with pytest.raises(CommandError, match=f"command line only: '{flag}'"):
        checked()


def test_a_mistyped_key_is_not_answered_with_a_hidden_option(anywhere: Path) -> None:
    configure(anywhere, "flags-onli = true")
    with pytest.raises(CommandError) as raised:
        checked()
    assert "flags-only" not in raised.value.hint


@pytest.mark.parametrize("verb", VERBS)
def test_a_variable_is_called_like_its_flag(verb: str, monkeypatch: pytest.MonkeyPatch) -> None:
    found = importlib.import_module(f"fastrnns_rs.cli.{verb}").command
    options = [one for one in found.params if isinstance(one, click.Option) and not isinstance(one, Unconfigured)]
    assert options
    for one in options:
        flag = max(one.opts, key=len).removeprefix("--").replace("-", "_").upper()
        variable = f"FASTRNNS_{verb.upper()}_{flag}"
        # Some have a variable for all verbs besides.
        own = one.envvar[0] if isinstance(one.envvar, list) else one.envvar
        assert own == variable or (own is None and one.name.upper() == flag), variable


def test_the_child_reads_neither_variables_nor_files(anywhere: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    given = parsed(["--nsys", "--rnns", "cudnn", "--quick"])
    child = child_command(given, plan_of(given), Path("stem"), None)
    words = child[child.index("profile") + 1 :]
    before = checked(*words)
    (anywhere / "pyproject.toml").write_text("this is no TOML")
    for name, value in {"INFERENCE": "1", "TORCH": "1", "SEQ_LENGTH": "3", "RNNS": "py"}.items():
        monkeypatch.setenv(f"{PREFIX}_{name}", value)
    assert checked(*words) == before


def test_a_dry_run_is_also_a_document(anywhere: Path) -> None:
    asked = ["profile", "--torch", "--quick", "--rnns", "cudnn", "py", "--dry-run", "--output-dir", "o u't"]
    lines = run_with_facts(*asked, "--separate").stdout.splitlines()
    done = run_with_facts(*asked, "--separate", "--json")
    assert (done.status, done.stderr) == (0, "")
    document = done.json()
    assert list(document) == ["schema", "schema_version", "commands"]
    assert (document["schema"], document["schema_version"]) == ("fastrnns-rs/dry-run", VERSION)

    def settled(words: list[str]) -> list[str]:
        """Without the time, which is in the name."""
        return ["STEM" if "o u't" in word else word for word in words]

    assert [*map(settled, document["commands"])] == [settled(shlex.split(line)) for line in lines]
    assert [one.count("--runner=py") for one in document["commands"]] == [0, 1]
    run_with_facts(*asked, "--format", "json", "--output", "run.json")
    assert len(json.loads(Path("run.json").read_text())["commands"]) == 1
    assert not Path("o u't").exists()


def test_flags_that_name_runners_win_over_a_group_that_is_configured(anywhere: Path) -> None:
    configure(anywhere, 'group = "rnns"')
    assert names(checked())[0] == "cudnn"
    assert names(checked("--cnns", "resnet18")) == ["resnet18"]
    assert names(checked("--rnns", "py", "--cnns", "resnet18")) == ["py", "resnet18"]
    assert names(checked("--group", "cnns", "--rnns", "py")) == ["resnet18", "resnet18_jit", "resnet50", "resnet50_jit"]


def test_a_flag_wins_over_a_profiler_that_is_configured(anywhere: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    configure(anywhere, "torch = true\nrow-limit = 50")
    asked = checked("--nsys-path", "/somewhere/nsys")
    assert (asked.tool, asked.torch) == ("nsys", TorchOptions())
    assert checked("--nsys-path", "/somewhere/nsys", "--torch").tool == "torch"
    assert (checked().tool, checked().torch.row_limit) == ("torch", 50)
    monkeypatch.setenv(f"{PREFIX}_NSYS", "1")
    assert checked("--torch").tool == "torch"


@pytest.mark.parametrize("kind", ["chrome", "tensorboard"])
def test_a_configured_folder_of_traces_starts_at_the_folder_of_the_file(kind: str, anywhere: Path) -> None:
    below = anywhere / "a" / "b"
    below.mkdir(parents=True)
    targets = {"traces": anywhere / "traces", "/x:y": "/x:y", "~/z": "~/z"}
    for target, found in targets.items():
        configure(anywhere, f'torch = true\non-trace-ready = "{kind}:{target}"')
        done = run_with_facts("profile", "py", "--dry-run", cwd=below)
        assert f"--on-trace-ready={kind}:{found}" in shlex.split(done.stdout), done.stderr
    configure(anywhere, f'torch = true\non-trace-ready = "{kind}:"')
    assert run_with_facts("profile", "py", "--dry-run", cwd=below).status == 2


def test_configured_options_of_torch_apply_where_it_is_chosen_for_the_device(anywhere: Path) -> None:
    configure(anywhere, "with-stack = true")
    done = run_with_facts("profile", "py", "--dry-run", FASTRNNS_PROFILE_ROW_LIMIT="50")
    assert "note: profiling with torch, which records most on this device" in done.stderr
    assert " --with-stack " in done.stdout
    assert " --row-limit=50\n" in done.stdout
    nsys = fake_tools.nsys(anywhere / "nsys")
    done = run_with_facts("profile", "py", "--dry-run", facts=WITH_CUDA, FASTRNNS_PROFILE_NSYS_PATH=nsys)
    assert (done.status, "--with-stack" in done.stdout) == (0, False), done.stderr


@pytest.mark.parametrize("verb", ["profile", "bench"])
def test_a_flag_that_changes_nothing_is_told(verb: str, anywhere: Path) -> None:
    text = '[tool.fastrnns-rs.VERB]\ncnns = ["resnet18"]\ndevice = "cuda:99"\n'.replace("VERB", verb)
    (anywhere / "pyproject.toml").write_text(text)
    note = "note: --rnns changes nothing: the group rnns does not run"
    done = run_with_facts(verb, "--group", "cnns", "--rnns", "py")
    assert (done.status, note in done.stderr.splitlines()) == (5, True)
    for flags in (["--group", "rnns", "--rnns", "py"], ["--group", "all", "--rnns", "py"], ["--group", "rnns"]):
        assert "note:" not in run_with_facts(verb, *flags).stderr


def doctor() -> dict[str, Any]:
    found = run_with_facts("doctor", "--json").json()
    return {one["name"]: one for one in found["profilers"]} | {one["id"]: one for one in found["checks"]}


def test_doctor_looks_at_the_nsys_that_is_used(anywhere: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(f"{PREFIX}_NSYS_PATH", raising=False)
    ours, theirs = (str(fake_tools.nsys(anywhere / name / "nsys")) for name in ("ours", "theirs"))
    configure(anywhere, f"nsys-path = '{ours}'")
    for path, variable in ((ours, None), (theirs, theirs)):
        if variable is not None:
            monkeypatch.setenv(f"{PREFIX}_NSYS_PATH", variable)
        used = shlex.split(run_with_facts("profile", "--nsys", "--rnns", "py", "--dry-run").stdout)[0]
        assert (doctor()["nsys"]["path"], used) == (path, path)
        assert os.environ.get(f"{PREFIX}_NSYS_PATH") == variable


def test_doctor_looks_at_the_disk_that_captures_go_to(anywhere: Path) -> None:
    assert doctor()["disk.output"]["message"].endswith("fastrnns-rs/captures")
    configure(anywhere, f"output-dir = '{anywhere / 'here'}'")
    assert doctor()["disk.output"]["message"].endswith(f"free for captures: {anywhere / 'here'}")
    (anywhere / "file").touch()
    configure(anywhere, f"output-dir = '{anywhere / 'file' / 'below'}'")
    assert doctor()["disk.output"]["status"] == "fail"


def test_several_processes_are_captured_in_turns() -> None:
    asked = ["profile", "--torch", "--rnns", "cudnn", "py", "--dry-run"]

    def commands(*words: str) -> list[str]:
        # The names of captures have the second of their planning.
        return re.sub(r"_\d{8}T\d{6}Z", "", run_with_facts(*asked, *words).stdout).splitlines()

    one = commands("--separate")
    assert len(one) == 2
    assert commands("--separate", "--processes", "3") == [*one, *one[::-1], *one]
    together = run_with_facts(*asked, "--processes", "2").stdout.splitlines()
    assert len(together) == 2
    several = run_with_facts("profile", "--torch", "--processes", "2", "--json")
    assert "--json and --processes exclude each other" in several.stderr
    assert run_with_facts(*asked, "--processes", "1001").status == 2
    lines = fastrnns_rs.profile(["cudnn", "py"], tool="torch", separate=True, processes=3, dry_run=True, device="cpu")
    assert len(lines) == 6
