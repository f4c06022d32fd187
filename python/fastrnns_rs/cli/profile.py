"""Command `fastrnns-rs profile`."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from fastrnns_rs.cli import internal_run, options, profile_captures, renamed_options, runner_options, shared
from fastrnns_rs.cli.configuration import Handler, Program, Target, Unconfigured
from fastrnns_rs.cli.options import FLAGS_ONLY, Count, ListOption, Verb
from fastrnns_rs.cli.results_file import ResultsFile
from fastrnns_rs.errors import exclusive
from fastrnns_rs.problem.profiler_schedule import Schedule
from fastrnns_rs.problem.torch_profiler import TorchOptions
from fastrnns_rs.runners.profile_request import (
    DEFAULT_NLOOPS,
    DEFAULT_PAUSE_S,
    DEFAULT_TIMEOUT_S,
    TOOLS,
    ProfileRequest,
)
from fastrnns_rs.verbs.profile.tools import PROGRAMS

EPILOG = """\b
Examples:
  fastrnns-rs profile --nsys
  fastrnns-rs profile --torch jit py --with-stack
  fastrnns-rs profile --nsys cudnn --processes 3 --output-dir before
  fastrnns-rs profile --nsys --dry-run
  nsys profile -o mine fastrnns-rs profile --internal-run

Defaults come from [tool.fastrnns-rs.profile] in pyproject.toml and from variables such as FASTRNNS_PROFILE_NLOOPS."""


_TORCH_OPTIONS = (
    *("record_shapes", "profile_memory", "with_stack", "with_flops", "with_modules", "group_by_input_shape"),
    *("on_trace_ready", "group_by_stack", "sort_by", "row_limit", "memory_timeline", "memory_snapshot"),
)


@click.command(name="profile", cls=Verb, epilog=EPILOG)
@click.option("--nsys", is_flag=True, help="Profile with Nsight Systems.")
@click.option("--nvprof", is_flag=True, help="Profile with nvprof (GPUs older than Ampere).")
@click.option("--torch", is_flag=True, help="Profile with torch.profiler.")
@click.option("--nsys-path", cls=Program, help="nsys program. [default: the newest]")
@click.option("--nvprof-path", cls=Program, help="nvprof program.")
@runner_options.choosing(
    "profile",
    "the runners cudnn aten jit",
    rnns="Runners to profile; with --group rnns, instead of its members. [without NAME: cudnn aten jit]",
    cnns="Runners to profile; with --group cnns, instead of its members. [without NAME: group cnns]",
)
@runner_options.runner_files
@runner_options.sizes
@runner_options.modes
@click.option("--quick", is_flag=True, help="Use small sizes, for a first look.")
@click.option("--warmup", type=Count(min=0), help="Warm-up iterations before the capture.")
@options.count(
    "--nloops", DEFAULT_NLOOPS, "Captured iterations per runner; with --torch, --schedule selects those to record."
)
@click.option(
    "--sleep-between-seconds",
    type=click.FloatRange(min=0),
    default=DEFAULT_PAUSE_S,
    show_default=True,
    help="Pause between two runners, in seconds.",
)
@click.option("--inference", is_flag=True, help="Short for --mode inference.")
@runner_options.machine
@runner_options.torchscript
@click.option("--separate", is_flag=True, help="Make one capture per runner instead of one for all.")
@options.count(
    "--processes", 1, "Captures per runner set, each in a fresh process. A verdict of compare needs 3 per side."
)
@click.option(
    "--output-dir",
    cls=Target,
    type=click.Path(path_type=Path),
    help="Folder for captures. [default: in the user's data folder]",
)
@click.option("--keep", is_flag=True, help="Keep intermediate files.")
@click.option(
    "--redact", is_flag=True, help="Remove variables, output, and the names of machine and user from the capture."
)
@click.option(
    "--unprofiled/--no-unprofiled",
    default=True,
    envvar=renamed_options.variables("profile", "--unprofiled"),
    help="Also run without the profiler, to measure its overhead.",
)
@options.seconds("--timeout", DEFAULT_TIMEOUT_S, "Time limit per run.")
@click.option("--dry-run", is_flag=True, help="Print the command line (--json: as a list of words) and run nothing.")
@click.option("--no-report", is_flag=True, help="Do not print the report.")
@options.formats("profile", ["table", "json"], "Output format on stdout.", "the capture manifest")
@options.output("Write to PATH instead of stdout.")
@click.option(
    "--internal-run",
    cls=Unconfigured,
    is_flag=True,
    help="Run in this process, under a profiler that you started yourself.",
)
@click.option(
    "--activities", cls=ListOption, metavar="NAME...", help="Activities to record: cpu, cuda. [default: by device]"
)
@click.option(
    "--schedule",
    metavar="KEY=N,...",
    help=f"Schedule of torch.profiler, with at most 100,000 recorded iterations. [default: {Schedule()}]",
)
@click.option(
    "--on-trace-ready",
    cls=Handler,
    metavar="TARGET",
    help="Trace handler: chrome:DIR, tensorboard:DIR or module:function.",
)
@click.option("--record-shapes", is_flag=True, help="Record shapes of inputs.")
@click.option("--profile-memory", is_flag=True, help="Record allocations.")
@click.option("--with-stack", is_flag=True, help="Record Python call stacks.")
@click.option("--with-flops", is_flag=True, help="Estimate floating-point operations.")
@click.option("--with-modules", is_flag=True, help="Record TorchScript modules.")
@click.option("--group-by-input-shape", is_flag=True, help="Group the table by shapes of inputs.")
@click.option(
    "--group-by-stack", type=Count(min=0), default=0, metavar="N", help="Group the table by the top N stack frames."
)
@click.option("--sort-by", metavar="KEY", help="Column that sorts the table. [default: own time]")
@click.option(
    "--row-limit", type=int, default=TorchOptions().row_limit, show_default=True, help="Rows of the table; -1 for all."
)
@click.option("--memory-timeline", is_flag=True, help="Write memory over time, as JSON.")
@click.option("--memory-snapshot", is_flag=True, help="Write a snapshot of the CUDA allocator.")
@click.option("--runner", cls=Unconfigured, multiple=True, hidden=True)
@click.option("--runner-module", cls=Unconfigured, multiple=True, hidden=True)
@click.option("--answer", cls=Unconfigured, type=click.Path(path_type=Path), hidden=True)
@click.option("--stem", cls=Unconfigured, type=click.Path(path_type=Path), hidden=True)
@click.option(FLAGS_ONLY, cls=Unconfigured, is_flag=True, hidden=True)
def command(**given: Any) -> int:
    """Captures runners with nsys, nvprof or torch.profiler, and checks the capture.

    RUNNER names the runners to capture. One capture holds all runners. Each is built and warmed up before the capture
    begins. Each phase of each iteration is a range RUNNER/PHASE/ITERATION.
    """
    from fastrnns_rs.cli.device_options import refuse_ranks
    from fastrnns_rs.processes.working_directory import leave_removed_directory
    from fastrnns_rs.runners import registry
    from fastrnns_rs.worker.torch_settings import count_threads

    threads = 0
    if given["internal_run"]:
        leave_removed_directory()
        threads = count_threads()
    else:
        refuse_ranks("profile")
    runner_options.load_files(given)
    for module in given["runner_module"]:
        registry.load_module(module)
    request = make_request(given)
    internal_run.check(request, given)
    runner_options.note_idle_flags(request.options.choice)
    if given["internal_run"]:
        return internal_run.run(request, given, threads)
    shared.tell_warnings(registry.plugin_warnings())
    given["format_name"], given["as_json"] = shared.choose_format(given), False
    with ResultsFile(given["output"]) as results:
        return profile_captures.make(request, _make_torch_options(given), given, results)


def make_request(given: dict[str, Any]) -> ProfileRequest:
    """Returns the profile request, from the values of the options.

    Raises:
        click.UsageError: If the options name two profilers.
    """
    from fastrnns_rs.runners.plan import make_options
    from fastrnns_rs.runners.profile_request import choice

    runner_options.check_choice(given)
    # A flag takes precedence over a configured value.
    is_inference = given["inference"] and (shared.is_flag("inference") or not shared.is_flag("mode"))
    by_flag = [name for name in TOOLS if given[name] and shared.is_flag(name)]
    by_path = [name for name in PROGRAMS if given[f"{name}_path"] and shared.is_flag(f"{name}_path")]
    asked = by_flag or by_path or [name for name in TOOLS if given[name]]
    named = shared.is_flag("rnns") or shared.is_flag("cnns")
    groups = None if named and not shared.is_flag("group") else given["group"]
    if len(asked) > 1:
        raise exclusive(*asked)
    tool = asked[0] if asked else None
    torch = _make_torch_options(given)
    if tool != "torch" and not any(map(shared.is_flag, ("activities", "schedule", *_TORCH_OPTIONS))):
        # Configured options of torch.profiler neither choose it nor apply to other profilers.
        torch = TorchOptions()
    return ProfileRequest(
        options=make_options(
            {**given, "mode": "inference"} if is_inference else given,
            choice(
                groups=groups,
                names=given["runner"] or given["runners"],
                **shared.take(given, "rnns", "cnns", "variable_lstms"),
            ),
        ),
        tool=tool,
        torch=torch,
        **shared.take(given, "sleep_between_seconds"),
    )


def _make_torch_options(given: dict[str, Any]) -> TorchOptions:
    """Returns the options of torch.profiler, also configured options."""
    return TorchOptions(
        activities=given["activities"],
        schedule=Schedule() if given["schedule"] is None else Schedule.parse(given["schedule"]),
        **shared.take(given, *_TORCH_OPTIONS),
    )
