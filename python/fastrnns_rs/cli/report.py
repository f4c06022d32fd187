"""Command `fastrnns-rs report`."""

from __future__ import annotations

import re
import sys
from collections.abc import Sequence
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path
from typing import Any, Literal

import click

from fastrnns_rs.cli import display, options, output_checks, page_output, renamed_options, shared
from fastrnns_rs.cli.configuration import Code, Input, Program, TargetFile, note_sources
from fastrnns_rs.cli.exit_codes import ExitCode
from fastrnns_rs.cli.options import Count, ListOption, Verb, VerbContext, WordsOption
from fastrnns_rs.errors import UsageError
from fastrnns_rs.views.output_stream import environment_count, is_ascii, is_terminal
from fastrnns_rs.views.summary import FORMATS, NAMES, VIEWS
from fastrnns_rs.views.summary.glance import are_few

#: Largest integer that the extension supports.
_LARGEST = 2**63 - 1
#: Python converts no more than 4,300, and more than these are out of range.
_MOST_DIGITS = 20
#: Widest screen, in columns. `COLUMNS` may be beyond the integers of Rust.
_WIDEST = 100_000
#: Parameters of the view and of the output.
_NOT_REPEATED = {
    *("by", "top", "names", "wide", "trace", "format_name", "as_json", "output"),
    *("plot", "plot_kind", "plot_row", "open_page", "quiet", "no_progress", "color", "wall_time_ms", "runs"),
}
#: Views that show only kernels, and views that show no host activity.
_KERNELS_ALONE = {"kernel", "launch-shape", "category"}
_DEVICES_ALONE = {*_KERNELS_ALONE, "memory", "stream", "device", "metric"}
_UNITS = {"ns": 1, "us": 1_000, "ms": 1_000_000, "s": 1_000_000_000}


class Time(click.ParamType):  # type: ignore[type-arg]  # generic in newer releases only
    """Time with a unit, converted to whole nanoseconds."""

    name = "time"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> int:  # noqa: ARG002
        """Converts a time to nanoseconds: `1.5ms` is 1500000."""
        if isinstance(value, int):
            return value
        found = re.fullmatch(r"(\d+)(?:\.(\d+))?\s*(ns|us|µs|ms|s)", str(value).strip())
        if found is None:
            raise UsageError(f"invalid time: {value!r}", "Use a time with a unit, such as 1.5ms or 200us.", value=value)
        # Digits below a nanosecond do not count.
        whole, fraction, unit = found[1].lstrip("0"), (found[2] or "")[:9], found[3].replace("µ", "u")
        scale: int = 10 ** len(fraction)
        nanoseconds = int(f"0{whole[:_MOST_DIGITS]}{fraction}") * _UNITS[unit] // scale
        if len(whole) > _MOST_DIGITS or nanoseconds > _LARGEST:
            raise UsageError(f"out of range: {value!r}", "Use a time of at most 292 years.", value=value)
        return nanoseconds


class Workers(click.ParamType):  # type: ignore[type-arg]  # generic in newer releases only
    """Number of threads, or `ray`."""

    name = "workers"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> int | str:  # noqa: ARG002
        """Converts a number to an integer, and keeps `ray`."""
        word = str(value)
        if word == "ray":
            return word
        if not re.fullmatch(r"[0-9]{1,6}", word) or int(word) < 1:
            raise UsageError(f"invalid value: {word!r}", "Use an integer from 1 to 999999, or ray.", value=word)
        return int(word)


EPILOG = """\b
Examples:
  fastrnns-rs report trace.json.gz
  fastrnns-rs report train.nsys-rep --by idle
  fastrnns-rs report rank*.json.gz --by rank
  fastrnns-rs report trace.json.gz --by kernel --format csv > kernels.csv

Exit codes: 0 done, 1 a capture is damaged, with --strict also in part, 2 usage, or a file is missing or is not a
capture, 5 nsys or Ray is missing."""


@click.command(name="report", cls=Verb, epilog=EPILOG)
@click.argument("files", nargs=-1, required=True, metavar="FILE...", type=click.Path(path_type=Path))
@click.option(
    "--by",
    type=click.Choice([*VIEWS]),
    metavar="VIEW",
    default="overview",
    show_default=True,
    help=f"List to show: {', '.join(VIEWS)}.",
)
@click.option(
    "--top",
    type=Count(min=0, max=_LARGEST),
    metavar="N",
    help="Rows per list. [default: all; the overview fits a screen]",
)
@click.option("--wide", is_flag=True, help="Show every list of the overview, with ten rows each.")
@click.option(
    "--devices",
    cls=ListOption,
    metavar="N...",
    envvar=renamed_options.variables("report", "--devices"),
    help="Devices to include, by number.",
)
@click.option("--stream", cls=ListOption, metavar="N...", help="Streams to include, by number.")
@click.option("--process", cls=ListOption, metavar="N...", help="Processes to include, by number.")
@click.option(
    "--since", type=Time(), metavar="TIME", help="Start of the time window, after the first GPU activity: 1.5ms."
)
@click.option("--until", type=Time(), metavar="TIME", help="End of the time window, after the first GPU activity.")
@click.option(
    "--match",
    metavar="REGEX",
    envvar=renamed_options.variables("report", "--match"),
    help="Names to include: those that match REGEX.",
)
@click.option("--iteration-range", metavar="NAME", help="Annotation or NVTX range that marks iterations.")
@click.option(
    "--data-loader",
    cls=WordsOption,
    metavar="NAME...",
    help="Ranges in which a thread waits for the data loader: those whose names contain NAME.",
)
@click.option(
    "--trace",
    cls=TargetFile,
    type=click.Path(path_type=Path),
    metavar="OUT.json.gz",
    help="Write the selection as one timeline for Perfetto.",
)
@click.option("--names", type=click.Choice([*NAMES]), default="full", show_default=True, help="Form of kernel names.")
@click.option(
    "--categories",
    cls=Input,
    type=click.Path(path_type=Path),
    metavar="FILE",
    help="Category rules that come before the built-in rules.",
)
@click.option(
    "--wall-time-ms",
    type=float,
    metavar="MS",
    help="Duration of one run without a profiler. [default: from the capture manifest]",
)
@click.option(
    "--runs",
    type=Count(min=1, max=_LARGEST),
    metavar="N",
    help="Number of runs in the capture. [default: from the capture manifest, or 1]",
)
@click.option(
    "--nsys-path", cls=Program, metavar="PATH", help="nsys program that exports reports. [default: the newest]"
)
@click.option(
    "--workers",
    cls=Code,
    type=Workers(),
    metavar="N|ray",
    help="Threads that read files, or a Ray cluster. [default: one per core]",
)
@click.option("--strict", is_flag=True, help="Fail on a damaged capture.")
@page_output.plot_option("the time budget of each GPU")
@page_output.plot_choice("GPU 0")
@options.formats("report", FORMATS)
@options.output()
def command(**given: Any) -> int:
    """Shows where the time of captures went.

    FILE is a trace of torch.profiler, a report or export of nsys, output of nvprof, a capture manifest of profile, or a
    folder of captures. Several files are summarised together.
    """
    from fastrnns_rs._core import return_freed_memory
    from fastrnns_rs.verbs.report.capture_reader import Inductor, read

    return_freed_memory()
    note_sources(click.get_current_context(), "nsys_path")
    format_name = shared.choose_format(given) or "table"
    page_output.check_choice(given)
    _check_outputs(given)
    inductor = None
    if given["wall_time_ms"] is not None or given["by"] == "inductor":
        from fastrnns_rs.verbs.report.manifests import find_wall_time, runs_in

        files, wall_time_ms = given["files"], given["wall_time_ms"]
        inductor = Inductor(
            wall_time_ms=find_wall_time(files) if wall_time_ms is None else wall_time_ms,
            runs=given["runs"] or runs_in(files),
            # The path may be a dot.
            name=files[0].absolute().name,
        )
    with _export_progress(given["files"]):
        summary = read(
            *given["files"],
            devices=_numbers("devices", given["devices"]),
            streams=_numbers("stream", given["stream"]),
            processes=_numbers("process", given["process"]),
            since_ns=given["since"],
            until_ns=given["until"],
            inductor=inductor,
            kernels_by=_kernels_by(given["by"], format_name),
            pattern=given["match"],
            data_loaders=given["data_loader"] or (),
            trace_output=given["trace"],
            extent=_extent(given, format_name),
            plot_data=format_name in {"json", "html"} or given["plot"] is not None,
            **shared.take(given, "iteration_range", "categories", "strict", "nsys_path", "workers"),
        )
    if inductor is not None and given["runs"] is None:
        from fastrnns_rs.verbs.report.manifests import check_all_read

        check_all_read(given["files"], {one["path"] for one in summary.to_dict()["captures"]})
    summary.command = _repeated()
    if given["plot"] is not None:
        from fastrnns_rs.views.summary.plain import PlainSummary

        plain = PlainSummary(summary.to_dict())
        page_output.write_plot(plain, given["plot"], kind=given["plot_kind"], row=given["plot_row"])
    if format_name in {"json", "csv"}:
        # CSV has no place for warnings, and a program reads JSON.
        from fastrnns_rs.views.prose import WIDTH, warning_lines

        for one in summary.warning_rows():
            shared.tell(warning_lines(one["code"], one["message"], one["evidence"], one["hint"], WIDTH))
    if format_name == "json":
        shared.deliver_pieces(summary.write_json, given["output"])
        return ExitCode.DONE
    width = None
    if given["output"] is None and is_terminal(sys.stdout):
        from shutil import get_terminal_size

        width = get_terminal_size().columns
    elif given["output"] is None and given["by"] == "overview" and not given["wide"]:
        # If stdout is not a terminal, only this variable gives its width.
        width = environment_count("COLUMNS") or None
    width = width and min(width, _WIDEST)
    text = summary.render(format_name, view=given["by"], width=width, **shared.take(given, "top", "names", "wide"))
    if format_name == "table" and given["output"] is None and is_ascii(sys.stdout):
        text = "".join(f"{line}\n" for line in shared.symbols_in_ascii(text.splitlines(), width))
    shared.deliver(text, given["output"])
    return ExitCode.DONE


def _export_progress(files: Sequence[Path]) -> AbstractContextManager[Any]:
    """Returns the progress of reports that nsys must export, which takes seconds.

    Other files need no progress.
    """
    from fastrnns_rs.verbs.report.file_kinds import needs_nsys

    count = sum(map(needs_nsys, files))
    if not count:
        return nullcontext()
    from fastrnns_rs.counting import counted

    intent = f"exporting {counted(count, 'nsys report')}"
    progress = display.step_progress("report", intent, "reports")
    progress.label(intent)
    return progress


def _repeated() -> str:
    """Returns the current command without its view and outputs.

    It is empty if the files describe the command.
    """
    from fastrnns_rs.cli.command_words import CommandWords

    context = click.get_current_context()
    assert isinstance(context, VerbContext)  # noqa: S101  # the class of this command's contexts
    given = CommandWords(context.command, context.words)
    pairs = [*zip(given.words, given.owners, strict=True)]
    kept = [word for word, owner in pairs if owner is not None and owner.name not in _NOT_REPEATED]
    files = [word for word, owner in pairs if isinstance(owner, click.Argument)]
    # The next command ends with its view.
    simple = len(kept) == len(files) or not are_few(files) or "--" in given.words
    return "" if simple else given.make_command(kept)


def _check_outputs(given: dict[str, Any]) -> None:
    """Checks that outputs replace neither an input nor each other.

    Raises:
        UsageError: If an output would replace a file, or cannot be written to.
    """
    from fastrnns_rs.verbs.report.sources import files_not_to_replace

    inputs = [one for file in given["files"] for one in files_not_to_replace(file)]
    rules = [] if given["categories"] is None else [given["categories"]]
    output_checks.check_output(given["output"], [*inputs, *rules])
    output_checks.check_not_read(given["plot"], [*inputs, *rules], "--plot")
    if given["trace"] is not None and shared.is_stdout(given["trace"]):
        message, hint = f"cannot write file: {str(given['trace'])!r}", "Use the path of a file."
        raise UsageError(message, hint, where="--trace", reason="a timeline is not written to stdout")
    # Whether it is one of the captures is checked where the trace is merged.
    output_checks.check_output(given["trace"], rules, "--trace")
    output_checks.check_distinct(given, "output", "plot", "trace")


def _kernels_by(view: str, format_name: str) -> Literal["device", "name", "shape"]:
    """Returns the grouping of kernel rows; JSON and CSV have a row per device."""
    if view == "launch-shape":
        return "shape"
    return "name" if view == "kernel" and format_name in {"table", "markdown"} else "device"


def _extent(given: dict[str, Any], format_name: str) -> Literal["whole", "devices", "kernels"]:
    """Returns the smallest extent that contains everything in the view.

    `read` widens it for its other arguments.
    """
    asks = format_name in {"json", "html"} or given["plot"] or given["trace"] or given["strict"]
    if asks or given["by"] not in _DEVICES_ALONE:
        return "whole"
    # CSV has shares of the time span of a device, for which copies are needed.
    return "kernels" if format_name != "csv" and given["by"] in _KERNELS_ALONE else "devices"


def _numbers(flag: str, words: tuple[str, ...] | None) -> list[int]:
    if words is None:
        return []
    numbers = [word.removeprefix("cuda:") if flag == "devices" else word for word in words]
    if not numbers or not all(re.fullmatch(r"-?\d+", word) for word in numbers):
        wrong = next((word for word in numbers if not re.fullmatch(r"-?\d+", word)), None)
        what = f"missing value: --{flag}" if wrong is None else f"invalid integer: {wrong!r}"
        raise UsageError(what, f"Use integers, such as --{flag} 0 1.", where=flag if wrong else "", value=wrong)
    found = [int(word[:_MOST_DIGITS]) for word in numbers]
    if any(len(word) > _MOST_DIGITS or abs(number) > _LARGEST for word, number in zip(numbers, found, strict=True)):
        raise UsageError("integer of more than 64 bits", "Use an integer of the report.", where=flag)
    return found
