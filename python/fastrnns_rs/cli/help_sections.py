"""Help in sections."""

from __future__ import annotations

import re
import textwrap
from collections.abc import Iterator, Mapping, Sequence

import click

from fastrnns_rs.cli.configuration import Unconfigured

Sections = Mapping[str, Sequence[str]]

#: Title for options of PyTorch's fastrnns that have a shorter form today, or concern TorchScript.
COMPATIBILITY = "PyTorch fastrnns compatibility"
_SIZES = ("seq_length", "num_layers", "input_size", "hidden_size", "mini_batch", "image_size")
_MODES = ("mode", "inference", "amp", "channels_last", "cudnn_benchmark", "deterministic", "bidirectional", "proj_size")
_POINTWISE = tuple(f"cuda_pointwise_{name}" for name in ("loop_level", "block_count", "block_size"))
_RUNNING: Sections = {
    "Runners": ("group", "rnns", "cnns", "variable_lstms", "runner", "runner_file"),
    "Problem": (*_SIZES, "dtype", "seed"),
    "Modes": _MODES,
    "Effort": ("quick", "rigorous", "processes", "warmup", "nloops", "stop", "sessions", "every", "timeout", "resume"),
    "Machine": ("device", "devices", "side_by_side", "threads", "allow_tf32", "sync", "affinity", "order_seed"),
    "Sweep": ("axis", "filter", "sort"),
    "Compile": ("compile_timeout", "compile_cache"),
    COMPATIBILITY: ("sep", "print_json", "fuser", "executor", *_POINTWISE),
}
_JUDGING: Sections = {"Comparison": ("baseline", "candidate", "statistic", "margin", "fail_on", "explain", "force")}
_CAPTURES: Sections = {"Captures": ("iteration_range", "nsys_path")}
_OUTPUT: Sections = {
    "Output": (
        *(
            "format_name",
            "as_json",
            "open_page",
            "plot",
            "plot_kind",
            "plot_row",
            "output",
            "run_file",
            "wide",
            "verbose",
            "history",
            "no_history",
        ),
        *("quiet", "no_progress", "color"),
    )
}
_SIDE_OPTIONS = tuple(f"{side}_{part}" for part in ("env", "python") for side in ("a", "b"))


def _before_running(first: Sections) -> Sections:
    """Returns sections of a command, then those shared by commands that run models.

    Each option is in its first section only.
    """
    taken = {name for names in first.values() for name in names}
    return {**first, **{title: [name for name in names if name not in taken] for title, names in _RUNNING.items()}}


#: Sections of each command, in the order of its help. Options without a section come last.
SECTIONS: Mapping[str, Sections] = {
    "bench": {**_RUNNING, **_OUTPUT},
    "ab": {
        "Baseline and candidate": ("only_a", "only_b", *_SIDE_OPTIONS, "same", "until", "live"),
        **_RUNNING,
        "Comparison": ("statistic", "margin", "fail_on", "force"),
        **_OUTPUT,
    },
    "compare": {**_JUDGING, **_CAPTURES, **_OUTPUT},
    "show": {"Rows": ("filter", "sort", "warnings"), **_OUTPUT},
    "history": {
        "Runs": ("last", "all", "trends"),
        "Actions": ("tag", "untag", "export", "import", "prune"),
        "Pruning": ("older_than", "keep", "dry_run"),
        **_OUTPUT,
    },
    "profile": {
        **_before_running(
            {
                "Profiler": ("nsys", "nvprof", "torch", "nsys_path", "nvprof_path"),
                "Capture": (
                    *("quick", "warmup", "nloops", "processes", "separate", "sleep_between_seconds", "timeout"),
                    *("unprofiled", "output_dir", "keep", "redact", "dry_run", "internal_run"),
                ),
            }
        ),
        "torch.profiler": (
            *("activities", "schedule", "on_trace_ready", "record_shapes", "profile_memory", "with_stack"),
            *("with_flops", "with_modules", "group_by_input_shape", "group_by_stack", "sort_by", "row_limit"),
            *("memory_timeline", "memory_snapshot"),
        ),
        "Output": ("no_report", *_OUTPUT["Output"]),
    },
    "report": {
        "View": ("by", "top", "names", "categories", "trace"),
        "Selection": ("devices", "stream", "process", "since", "until", "match", "iteration_range", "data_loader"),
        "Reading": ("nsys_path", "workers", "strict"),
        "Inductor": ("wall_time_ms", "runs"),
        **_OUTPUT,
    },
    "verify": {
        **_before_running({"Check": ("check_grad", "no_check_grad", "rtol", "atol", "timeout")}),
        **_OUTPUT,
    },
    "inductor": {
        **_before_running(
            {
                "Modules": ("from_cache", "runner", "runner_file", "quick"),
                "Measurement": ("times", "repeat", "processes", "timeout", "kernels", "all_configs", "profile"),
                "Kernels and memory": (
                    *("architectures", "memory_snapshot", "ncu", "ncu_kernel_regex", "ncu_metrics", "ncu_path"),
                ),
            }
        ),
        "Output": ("output_dir", *_OUTPUT["Output"]),
    },
}
#: Options that most users never need. Only `--help-all` describes them.
RARE = {
    *("fuser", "executor", *_POINTWISE, "sep", "print_json"),
    *("compile_timeout", "compile_cache", "affinity", "order_seed", "side_by_side", "every"),
    *("amp", "channels_last", "cudnn_benchmark", "deterministic", "bidirectional", "proj_size", "image_size"),
    *("internal_run", "keep", "sleep_between_seconds", "unprofiled", "nsys_path", "nvprof_path"),
    *("schedule", "on_trace_ready", "with_flops", "with_modules", "group_by_input_shape", "group_by_stack"),
    *("sort_by", "row_limit", "memory_timeline", "memory_snapshot", "no_check_grad", "runs", "wall_time_ms"),
    *("no_progress", "color"),
    *("ncu_kernel_regex", "ncu_metrics", "ncu_path", "data_loader", "workers", "variable_lstms"),
}
#: Maximum number of options of a command whose shorter help is complete.
_SHORT = 20
_CAMEL_CASE = re.compile(r"--[a-z]+[A-Z]\w*, ")


def write(command: click.Command, context: click.Context, formatter: click.HelpFormatter, *, whole: bool) -> None:
    """Writes the options of a command, by section.

    Args:
        command: Command whose options are written.
        context: Context of the command.
        formatter: Formatter that receives the text.
        whole: True for `--help-all`, which adds rare options, old spellings and environment variables.
    """
    shown = [param for param in command.params if isinstance(param, click.Option) and not param.hidden]
    whole = whole or len(shown) <= _SHORT
    by_name = {str(param.name): param for param in shown}
    left_out = []
    for title, names in SECTIONS.get(str(command.name), {}).items():
        options = [by_name.pop(name) for name in names if name in by_name]
        rare = [] if whole else [param for param in options if param.name in RARE]
        left_out += rare
        rows = [*_rows([param for param in options if param not in rare], context, whole=whole)]
        if rows:
            with formatter.section(title):
                formatter.write_dl(rows)
    with formatter.section("Help" if len(by_name) < len(shown) else "Options"):
        formatter.write_dl([*_rows([*by_name.values(), *_help(command, context)], context, whole=whole)])
    if left_out:
        names = " ".join(max(param.opts, key=len) for param in left_out)
        lines = textwrap.wrap(names, formatter.width - 4, break_on_hyphens=False)
        with formatter.section("More options (--help-all describes them)"):
            formatter.write("".join(f"  {line}\n" for line in lines))


def _help(command: click.Command, context: click.Context) -> Sequence[click.Option]:
    found = command.get_help_option(context)
    return [] if found is None else [found]


def _rows(options: Sequence[click.Option], context: click.Context, *, whole: bool) -> Iterator[tuple[str, str]]:
    for param in options:
        shown = param.show_envvar
        # Click prints the environment variable that it reads.
        param.show_envvar = whole and param.expose_value and not isinstance(param, Unconfigured)
        try:
            record = param.get_help_record(context)
        finally:
            param.show_envvar = shown
        if record is not None:
            names, text = record
            if not whole:
                names = _CAMEL_CASE.sub("", names)
            yield names.replace("INTEGER", "N").replace("FLOAT RANGE", "X"), _without_bounds(text)


def _without_bounds(text: str) -> str:
    """Removes bounds such as `[x>=1]` and `; x>0`."""
    text = re.sub(r"; (?:\d+<=?)?x[<>]=?[\d.]+\]", "]", text)
    return re.sub(r"\s*\[(?:\d+<=?)?x[<>]=?[\d.]+\]", "", text)
