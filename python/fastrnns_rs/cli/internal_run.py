"""Command `fastrnns-rs profile --internal-run`.

The runners run in this process, under a profiler that `profile` or the user started.
"""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from fastrnns_rs.cli import shared
from fastrnns_rs.cli.exit_codes import ExitCode
from fastrnns_rs.errors import UsageError
from fastrnns_rs.escaping import visible
from fastrnns_rs.problem.torch_profiler import TorchOptions

if TYPE_CHECKING:
    from fastrnns_rs.runners.profile_request import ProfileRequest

#: Options for a capture itself. With `--internal-run`, the process that started the profiler makes the capture.
OF_THE_CAPTURE = (
    *("nsys_path", "nvprof_path", "separate", "processes", "keep", "redact", "unprofiled", "timeout"),
    *("dry_run", "no_report", "format_name", "as_json", "output"),
)
#: Options that the capturing command passes to the profiled process. No user sets them.
FOR_THE_CHILD = ("runner", "runner_module", "answer", "stem", "flags_only")


def check(request: ProfileRequest, given: dict[str, Any]) -> None:
    """Checks that no flag is without effect.

    Configured values are not checked: they apply to other commands.

    Raises:
        UsageError: If a flag is without effect.
        click.NoSuchOption: If a flag for the profiled process is given without `--internal-run`.
    """
    if not given["internal_run"]:
        if flags := _given(*FOR_THE_CHILD):
            raise click.NoSuchOption(flags[0], ctx=click.get_current_context())
        return
    idle = OF_THE_CAPTURE if request.tool == "torch" else (*OF_THE_CAPTURE, "output_dir")
    if flags := _given(*idle):
        message = f"{' and '.join(flags)} and --internal-run exclude each other"
        raise UsageError(message, "Leave out --internal-run.")
    if request.tool != "torch" and request.torch != TorchOptions():
        raise UsageError("options of torch.profiler need --torch", "Add --torch.")


def _say(line: str) -> None:
    # A runner may have closed or replaced standard error.
    with suppress(Exception):
        click.echo(line, err=True)


def _given(*names: str) -> list[str]:
    """Returns the flags of the options that are on the command line."""
    context = click.get_current_context()
    params = [one for one in context.command.params if one.name in names and shared.is_flag(str(one.name))]
    return [(one.secondary_opts if context.params[str(one.name)] is False else one.opts)[-1] for one in params]


def run(request: ProfileRequest, given: dict[str, Any], threads: int) -> int:
    """Runs the runners in this process, under a profiler that is already running.

    Args:
        request: Profile request.
        given: Values of the options.
        threads: Torch's number of threads before the files of runners were loaded.
    """
    from fastrnns_rs.documents import file_names
    from fastrnns_rs.runners.module_clashes import check_clashes
    from fastrnns_rs.worker.jobs import profile
    from fastrnns_rs.worker.torch_settings import restore_threads

    plan = profile.make_profile_plan(request)
    restore_threads(threads)
    check_clashes(task.runner.source for task in plan.tasks)
    names = [task.runner.name for task in plan.tasks]
    stem = given["stem"]
    if stem is None and request.tool == "torch":
        folder = given["output_dir"] or file_names.default_folder()
        shares_traces = request.torch.trace_folder is not None
        stem = file_names.reserve(folder, names, plan.tasks[0].problem, shares_traces=shares_traces)
    try:
        answer = profile.run(
            request,
            plan,
            stem=stem or Path("prof"),
            answer_path=given["answer"],
            say=_say,
        )
    finally:
        if given["stem"] is None and stem is not None:
            # The log file has reserved the name until files of this name exist. Nothing is logged here.
            file_names.with_suffix(stem, ".log").unlink(missing_ok=True)
    for cycle in answer.cycles if given["answer"] is None else []:
        click.echo(f"{cycle['runner']}, cycle {cycle['index']}\n{cycle['table']}")
        for path, _ in cycle["files"]:
            click.echo(path)
    for one in answer.runners:
        if one.status != "ok":
            hint = f"\nhint: {visible(one.hint)}" if one.hint else ""
            _say(f"error: the runner {visible(one.name)} failed: {visible(one.reason or '')}{hint}")
    return ExitCode.DONE if all(one.status == "ok" for one in answer.runners) else ExitCode.FAILED
