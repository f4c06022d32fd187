"""Brief report of captures.

The text contains context, answer, budget, longest kernels, iterations, warnings and the next command.
"""

from __future__ import annotations

from fastrnns_rs.counting import counted
from fastrnns_rs.escaping import visible
from fastrnns_rs.views.prose import WIDTH, warning_lines, wrapped
from fastrnns_rs.views.scale import Scale, time
from fastrnns_rs.views.summary import activities, budget
from fastrnns_rs.views.summary.answer import answer, context, group_name, next_view

TYPE_CHECKING = False  # As in the package: `typing` is slow to load.
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

    Document = dict[str, Any]

_KERNELS = 5
#: Maximum if another table is above.
_FEW_KERNELS = 3
_OPERATORS = 10
_WARNINGS = 3
_ITERATIONS = 3
#: Maximum length of the files that a next command names: five lines of a terminal.
_LONGEST_FILES = 400
#: Beginning of the last line, which is the next command.
NEXT = "Next:"
_SAFE = str.maketrans("", "", "/._-+=:,@%")


def glance(
    document: Document,
    *,
    top: int | None = None,
    width: int | None = None,
    selected: bool = False,
    command: str = "",
) -> str:
    """Formats the brief report; the text ends with a newline.

    Args:
        document: Summary as plain dictionaries and lists.
        top: Maximum rows of each table. None shows the rows that fit 24 lines for one GPU.
        width: Width of the terminal. None is 80.
        selected: True for a summary of a part of the captures.
        command: Command of the report, which the next commands begin with. Empty for one that names the captures; a
            selection then has no next command.
    """
    limit = WIDTH if width is None else max(width, 1)
    command = command or known_command(document, selected=selected)
    blocks = [[*_filled(context(document), limit), *wrapped(answer(document, selected=selected), limit)]]
    blocks += tables(document, top, limit)
    blocks.append([line for text in _iterations(document, command) for line in wrapped(text, limit)])
    blocks.append(_warnings(document, limit, command))
    view = next_view(document)
    following = [f"{NEXT} {command} --by {view}"] if view and command else []
    prose = next((block for block in reversed(blocks[-2:]) if block), None)
    if prose:
        prose += following
    else:
        blocks.append(following)
    return "\n".join("".join(f"{line}\n" for line in block) for block in blocks if block)


def tables(document: Document, top: int | None, limit: int) -> list[list[str]]:
    """Formats the tables of the brief report, the budget of GPU time first.

    Args:
        document: Summary as plain dictionaries and lists.
        top: Maximum rows of each table; None for the rows that fit 24 lines for one GPU.
        limit: Width of the terminal.
    """
    devices = [device for device in document["devices"] if device["span_ns"]]
    if devices:
        return _format_gpus(document, devices, top, limit)
    if document["kernels"] or document["memory_operations"]:
        return _without_timeline(document, top, limit)
    return _format_cpu(document, top, limit)


def _format_gpus(document: Document, devices: list[dict[str, Any]], top: int | None, limit: int) -> list[list[str]]:
    """Formats the spans, copies or categories, and kernels.

    Copies are shown if they are the answer, else the categories of several GPUs.
    """
    one = len(devices) == 1
    first, scale = budget.halves(devices[0], top, limit) if one else budget.gpus(devices, limit)
    count = budget.gpu_count(document)
    whole = activities.Whole(sum(device["span_ns"] for device in devices) / count, gpus=count, like=scale)
    blocks = [first]
    if next_view(document) == "memory":
        blocks.append(activities.copies(activities.sums(document["memory_operations"], "kind"), whole, limit))
    elif not one and document["categories"]:
        # The halves of a single GPU contain the categories.
        blocks.append(activities.categories(activities.sums(document["categories"]), whole, limit))
    most = _KERNELS if len(blocks) == 1 else _FEW_KERNELS
    if kernels := activities.sums(document["kernels"]):
        blocks.append(activities.kernels(kernels, whole, most if top is None else top, limit))
    return blocks


def _without_timeline(document: Document, top: int | None, limit: int) -> list[list[str]]:
    """Formats totals of kernels and copies without start times."""
    kernels, copies = activities.sums(document["kernels"]), activities.sums(document["memory_operations"], "kind")
    scale = Scale([one.total for one in kernels + copies])
    whole = activities.Whole(sum(one.total for one in kernels + copies), "of all", scale=scale)
    drawn = [activities.kernels(kernels, whole, _OPERATORS if top is None else top, limit)] if kernels else []
    return [*drawn, *([activities.copies(copies, whole, limit)] if copies else [])]


def _format_cpu(document: Document, top: int | None, limit: int) -> list[list[str]]:
    """Formats the first available of CPU operators, NVTX ranges and CUDA calls."""
    count = _OPERATORS if top is None else top
    if document["cpu_operators"]:
        rows = [{**row, "total_ns": row["self_ns"]} for row in document["cpu_operators"]]
        return [activities.cpu("operator", activities.sums(rows), count, limit, "self")]
    if not document["captures"] or document["metrics"]:
        return []
    if document["ranges"]:
        rows = [{**row, "total_ns": row["host_total_ns"]} for row in document["ranges"]]
        return [activities.cpu("range", activities.sums(rows), count, limit, "host")]
    if document["api_calls"]:
        return [activities.cpu("call", activities.sums(document["api_calls"]), count, limit)]
    return [["No operators, ranges or CUDA calls to list."]]


def _iterations(document: Document, command: str) -> list[str]:
    """Returns a line of iteration medians for each runner and phase."""
    groups = document["iteration_statistics"]
    lines = []
    for group in groups[:_ITERATIONS]:
        name = group_name(group)
        # In documents of version 1.1, every figure is of the host.
        host = group["median_ns"] if group["host_median_ns"] is None else group["host_median_ns"]
        figures = [f"host {time(host)}"]
        if group["measure"] == "gpu_ns":
            figures += [f"GPU {time(group['gpu_median_ns'])}", f"busy {time(group['gpu_busy_median_ns'])}"]
        count = counted(group["count"], "iteration")
        text = f"{count}{f' ({visible(name)})' if name else ''}, median: {', '.join(figures)}"
        lines.append(f"{text}; {counted(group['outlier_count'], 'outlier')}" if group["outlier_count"] else text)
    more = len(groups) - _ITERATIONS
    return [*lines, *([_followed(f"{more:,} more", command, "--by iteration")] if more > 0 else [])]


def _warnings(document: Document, limit: int, command: str) -> list[str]:
    """Returns the first warnings in full, and the number of further warnings."""
    lines = []
    for one in document["warnings"][:_WARNINGS]:
        lines += warning_lines(one["code"], one["message"], one["evidence"], one["hint"], limit)
    more = len(document["warnings"]) - _WARNINGS
    return [*lines, *([_followed(counted(more, "more warning"), command, "--wide")] if more > 0 else [])]


def _followed(text: str, command: str, option: str) -> str:
    return f"{text}: {command} {option}" if command else text


def known_command(document: Document, *, selected: bool) -> str:
    """Returns the command that names the captures; empty for a selection.

    A document does not contain its selection.
    """
    return "" if selected else report_command([capture["path"] for capture in document["captures"]])


def report_command(paths: Sequence[str]) -> str:
    """Returns the command of a report.

    Many files are not listed, because they would fill the screen.
    """
    return f"fastrnns-rs report {' '.join(visible(_quoted(path)) for path in paths) if are_few(paths) else 'FILE...'}"


def are_few(paths: Sequence[str]) -> bool:
    """Returns True if a next command names the files."""
    return len(paths) == 1 or sum(map(len, paths)) <= _LONGEST_FILES


def _quoted(path: str) -> str:
    """Returns a path as a shell word, which no command takes for an option."""
    if path.startswith("-"):
        path = f"./{path}"
    if path.isascii() and path.translate(_SAFE).isalnum():
        return path
    import shlex  # This module is slow to load.

    return shlex.quote(path)


def _filled(parts: list[str], limit: int) -> list[str]:
    """Joins parts with commas into lines; a part is not split if it fits a line."""
    lines = wrapped(parts[0], limit)
    for part in parts[1:]:
        if len(lines[-1]) + len(part) + 2 <= limit:
            lines[-1] += f", {part}"
        else:
            lines[-1:] = [*wrapped(f"{lines[-1]},", limit), *wrapped(f"  {part}", limit)]
    return lines
