"""What profilers print when something goes wrong, and what to do about it.

What runners print may sound the same. So the process that is profiled frames it, and only the rest is looked at.
"""

from __future__ import annotations

import re

from fastrnns_rs.processes.framing import BEGIN, END

#: How nvprof and torch's profiler begin the lines that they print from inside the process.
_INSIDE = re.compile(r"==\d+== |(?:ERROR|WARNING):\d{4}-\d\d-\d\d ")
#: How a line begins that says what is wrong, in words that are common.
_COMPLAINT = r"^(?:=+(?:\d+=+)? )?(?:\w+: )?(?:error|warning|fatal|failed)\b.*"
#: The same for a line that need not say which it is.
_BARE = r"^(?:=+(?:\d+=+)? )?(?:(?:error|warning): )?"
#: All that nsys 2022.4 prints, on one line, where a busy machine keeps it and the agent that it starts apart.
_MISSED = (
    r"^(?:sem_open: No such file or directory|Local Endpoint is not available|End of file|Connection reset by peer)"
    r"(?: \[[\w.:]+\])?\.?$"
)
_MISSED_AGENT = ("nsys missed its own agent", "try again, on a machine that is less busy")

#: What stands in a line, what it means, and what to do. The first that is found counts.
_KNOWN = [
    (
        r"^(?:.*[:\]] )?No space left on device",
        "the disk is full",
        "make room, or give --output-dir on another disk; nsys also writes to the folder that TMPDIR names",
    ),
    (
        rf"{_COMPLAINT}(?:compute capability [\d.]+ and higher|not supported on (?:underlying )?(?:this )?device)",
        "nvprof cannot profile this GPU",
        "use --nsys: nvprof ends at compute capability 7.5",
    ),
    (
        rf"{_BARE}(?:CUDA device error|No CUDA application was profiled)|{_COMPLAINT}no CUDA-capable device",
        "the profiler found no GPU that it can use",
        "fastrnns-rs doctor says what there is; --torch works on a CPU too",
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
        "install the nsys that wrote it, and name it with --nsys-path",
    ),
    (
        rf"{_BARE}(?:unrecogni[sz]ed option|encountered invalid option|illegal .*argument)",
        "the profiler does not know an option",
        "",
    ),
    # The last: what is wrong with a disk or an option may end the agent too.
    (_MISSED, *_MISSED_AGENT),
]


def explain(said: str) -> tuple[str, str] | None:
    """What a tool complains of, and what to do about it; None where it has no complaint that is known."""
    for pattern, meaning, hint in _KNOWN:
        if re.search(pattern, said, re.MULTILINE | re.IGNORECASE):
            return meaning, hint
    return None


def missed_agent(said: str) -> str | None:
    """The line in which nsys says that it missed its agent; None where it says no such thing, or more than that."""
    found = re.search(_MISSED, said, re.MULTILINE | re.IGNORECASE)
    return found[0] if found and explain(said) == _MISSED_AGENT else None


def of_the_tool(printed: str) -> str:
    """What a tool printed, out of what it and the process inside it printed to one stream.

    Only the end of a stream is known. A process that dies does not say that its part is over.
    """
    lines = printed.split("\n")
    begin = lines.index(BEGIN) if BEGIN in lines else None
    end = len(lines) - lines[::-1].index(END) if END in lines else None
    if begin is None and end is None:
        return printed
    inside = lines[begin or 0 : end]
    outside = [*lines[: begin or 0], *(lines[end:] if end is not None else [])]
    return "\n".join([*outside, *(line for line in inside if _INSIDE.match(line))])
