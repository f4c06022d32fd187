"""Every option of `profile` reaches the process that is profiled as it was given."""

from __future__ import annotations

from dataclasses import replace

import click
import pytest
from conftest import FACTS
from hypothesis import given as drawn
from hypothesis import strategies as st

from fastrnns_rs.cli.profile import command, request_of
from fastrnns_rs.errors import UsageError
from fastrnns_rs.problem.profiler_schedule import Schedule
from fastrnns_rs.problem.torch_profiler import SORT_KEYS, TorchOptions
from fastrnns_rs.runners.plan import Plan, make_plan
from fastrnns_rs.runners.profile_request import ProfileRequest
from fastrnns_rs.runners.runner import Runner
from fastrnns_rs.verbs.profile.child_command import arguments

#: What the parent process does with a capture, and what it tells the child by other means.
OF_THE_PARENT = {
    *("nsys_path", "nvprof_path", "separate", "output_dir", "keep", "redact", "baseline", "dry_run", "no_report"),
    *("format_name", "as_json", "output", "timeout", "internal_run", "answer", "stem", "flags_only"),
}
#: How runners are chosen: the child is told their names.
CHOICES = {"rnns", "cnns", "group", "variable_lstms", "runner", "runner_file", "runner_module"}
FORWARDED = {
    "nsys": ["--nsys"],
    "nvprof": ["--nvprof"],
    "torch": ["--torch"],
    "seq_length": ["--seqLength", "7"],
    "num_layers": ["--numLayers", "2"],
    "input_size": ["--inputSize", "8"],
    "hidden_size": ["--hidden-size", "9"],
    "mini_batch": ["--mini_batch", "3"],
    "image_size": ["--image-size", "65"],
    "quick": ["--quick"],
    "warmup": ["--warmup", "0"],
    "nloops": ["--nloops", "17"],
    "sleep_between_seconds": ["--sleep_between_seconds", "0.25"],
    "mode": ["--mode", "inference"],
    "inference": ["--inference"],
    "amp": ["--amp"],
    "channels_last": ["--channels-last"],
    "cudnn_benchmark": ["--cudnn-benchmark"],
    "deterministic": ["--deterministic"],
    "bidirectional": ["--bidirectional"],
    "proj_size": ["--proj-size", "3"],
    "device": ["--device", "cpu"],
    "dtype": ["--dtype", "float64"],
    "allow_tf32": ["--allow-tf32"],
    "seed": ["--seed", "5"],
    "threads": ["--threads", "1"],
    "fuser": ["--fuser", "old"],
    "executor": ["--executor", "simple"],
    "cuda_pointwise_loop_level": ["--cuda-pointwise-loop-level", "2"],
    "cuda_pointwise_block_count": ["--cuda-pointwise-block-count", "3"],
    "cuda_pointwise_block_size": ["--cuda-pointwise-block-size", "4"],
    "activities": ["--torch", "--activities", "cpu"],
    "schedule": ["--torch", "--schedule", "wait=0,warmup=0,active=2,repeat=2,skip-first=1"],
    "on_trace_ready": ["--torch", "--on-trace-ready", "chrome:-a folder, with 'quotes'"],
    "record_shapes": ["--torch", "--record-shapes"],
    "profile_memory": ["--torch", "--profile-memory"],
    "with_stack": ["--torch", "--with-stack"],
    "with_flops": ["--torch", "--with-flops"],
    "with_modules": ["--torch", "--with-modules"],
    "group_by_input_shape": ["--torch", "--group-by-input-shape"],
    "group_by_stack": ["--torch", "--group-by-stack", "3"],
    "sort_by": ["--torch", "--sort-by", "cpu_time"],
    "row_limit": ["--torch", "--row-limit", "-1"],
    "memory_timeline": ["--torch", "--memory-timeline"],
    "memory_snapshot": ["--torch", "--memory-snapshot"],
}


def parsed(words: list[str]) -> ProfileRequest:
    with command.make_context("profile", list(words)) as context:
        return request_of(context.params)


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


@pytest.mark.usefixtures("no_refusals")
def test_all_options_at_once_are_forwarded() -> None:
    # Only one profiler, and what excludes another option.
    others = {"nsys", "nvprof", "allow_tf32", "amp"}
    words = [word for name, flags in FORWARDED.items() if name not in others for word in flags]
    given = parsed(words)
    again = parsed(arguments(given, plan_of(given)))
    assert without_choice(again) == without_choice(given)


@pytest.mark.parametrize(
    ("words", "names"),
    [
        ([], ["cudnn", "aten", "jit"]),
        (["--rnns"], ["cudnn", "aten", "jit"]),
        (["--rnns", "py", "jit"], ["py", "jit"]),
        (["--cnns", "resnet18"], ["resnet18"]),
        (["--rnns", "py", "--cnns", "resnet18"], ["py", "resnet18"]),
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


def test_a_flag_counts_more_than_what_was_configured(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FASTRNNS_PROFILE_NSYS", "1")
    monkeypatch.setenv("FASTRNNS_PROFILE_ROW_LIMIT", "50")
    with command.make_context("profile", ["--torch"], auto_envvar_prefix="FASTRNNS_PROFILE") as context:
        assert (request_of(context.params).tool, request_of(context.params).torch.row_limit) == ("torch", 50)
    with command.make_context("profile", ["--nsys"], auto_envvar_prefix="FASTRNNS_PROFILE") as context:
        assert request_of(context.params).tool == "nsys"
        assert request_of(context.params).torch == TorchOptions()


def test_the_path_of_a_profiler_chooses_it() -> None:
    assert parsed(["--nsys-path", "/somewhere/nsys"]).tool == "nsys"
    assert parsed(["--nsys-path", "/somewhere/nsys", "--torch"]).tool == "torch"


@pytest.mark.parametrize("value", ["-1", "nan", "inf"])
def test_a_pause_that_makes_no_sense_is_refused(value: str) -> None:
    with pytest.raises((click.UsageError, UsageError)):
        parsed(["--sleep-between-seconds", value])


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
