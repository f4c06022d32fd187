"""Error messages of profilers, with their explanations and hints.

Runners may print similar messages. The profiled process therefore frames its output, and only the rest is searched.
"""

from __future__ import annotations

import re

from fastrnns_rs.processes.framing import BEGIN, END

#: Prefixes of lines that nvprof and torch's profiler print inside the process.
_INSIDE = re.compile(r"==\d+== |(?:ERROR|WARNING):\d{4}-\d\d-\d\d ")
#: Beginning of a line that reports an error in common words.
_COMPLAINT = r"^(?:=+(?:\d+=+)? )?(?:\w+: )?(?:error|warning|fatal|failed)\b.*"
#: Beginning of a line in which the kind of message is optional.
_BARE = r"^(?:=+(?:\d+=+)? )?(?:(?:error|warning): )?"
#: Complete output of nsys 2022.4 on a busy machine if nsys and its agent cannot connect.
_MISSED = (
    r"^(?:sem_open: No such file or directory|Local Endpoint is not available|End of file|Connection reset by peer)"
    r"(?: \[[\w.:]+\])?\.?$"
)
_MISSED_AGENT = ("nsys missed its own agent", "try again, on a machine that is less busy")

#: Pattern, explanation and hint of each known message. The first match is used.
_KNOWN = [
    (
        r"^(?:.*[:\]] )?No space left on device",
        "the disk is full",
        "make room, or give `output_dir` on another disk; nsys also writes to the folder that TMPDIR names",
    ),
    (
        rf"{_COMPLAINT}(?:compute capability [\d.]+ and higher|not supported on (?:underlying )?(?:this )?device)",
        "nvprof cannot profile this GPU",
        'use `tool="nsys"`: nvprof ends at compute capability 7.5',
    ),
    (
        rf"{_BARE}(?:CUDA device error|No CUDA application was profiled)|{_COMPLAINT}no CUDA-capable device",
        "the profiler found no GPU that it can use",
        'fastrnns-rs doctor says what there is; `tool="torch"` works on a CPU too',
    ),
    (
        rf"ERR_NVGPUCTRPERM|{_COMPLAINT}(?:insufficient p\w+|perf_event_paranoid|requires? (?:root|administrator))",
        "the profiler has no permission",
        "fastrnns-rs doctor says what is missing; tracing needs perf_event_paranoid at 2 or less, counters need root",
    ),
    (
        r"Agent launcher failed",
        "nsys cannot start its agent",
        "one that was killed may have left its state behind: where no nsys runs, remove /dev/shm/NSys-* and try again",
    ),
    (
        rf"CUPTI_ERROR_MULTIPLE_SUBSCRIBERS|{_COMPLAINT}another (?:tool|profiler|subscriber)",
        "another profiler is at work in the same process",
        "take the other one away: a GPU is traced by one profiler at a time",
    ),
    (
        r"Version number is invalid",
        "the report is of a newer nsys than the one that reads it",
        "install the nsys that wrote it, and name it with `nsys_path`",
    ),
    (
        r"Unknown (?:runtime|driver) API function index",
        "nsys is older than the CUDA of the program",
        'install a newer Nsight Systems, or use `tool="torch"`',
    ),
    (
        rf"{_BARE}(?:unrecogni[sz]ed option|encountered invalid option|illegal .*argument)",
        "the profiler does not know an option",
        "",
    ),
    # This pattern is last: a full disk or an invalid option may end the agent too.
    (_MISSED, *_MISSED_AGENT),
]


def explain(said: str) -> tuple[str, str] | None:
    """Returns the explanation and the hint of the first known message, or None."""
    for pattern, meaning, hint in _KNOWN:
        if re.search(pattern, said, re.MULTILINE | re.IGNORECASE):
            return meaning, hint
    return None


def missed_agent(said: str) -> str | None:
    """Returns the line with which nsys reports a missed agent.

    Returns:
        None if there is no such line, or another known message.
    """
    found = re.search(_MISSED, said, re.MULTILINE | re.IGNORECASE)
    return found[0] if found and explain(said) == _MISSED_AGENT else None


def select_tool_output(printed: str) -> str:
    """Returns the profiler's part of a stream shared with the profiled process.

    Only the end of a stream is known. A process that dies does not print its end mark.
    """
    lines = printed.split("\n")
    begin = lines.index(BEGIN) if BEGIN in lines else None
    end = len(lines) - lines[::-1].index(END) if END in lines else None
    if begin is None and end is None:
        return printed
    inside = lines[begin or 0 : end]
    outside = [*lines[: begin or 0], *(lines[end:] if end is not None else [])]
    return "\n".join([*outside, *(line for line in inside if _INSIDE.match(line))])
