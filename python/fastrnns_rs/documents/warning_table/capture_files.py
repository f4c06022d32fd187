"""Warnings about captures: damage, limits and ranks."""

from __future__ import annotations

from fastrnns_rs.documents.warning_table.row import Topic, WarningRow

#: Commands that read captures.
_READERS = ("report", "compare", "profile")
#: Commands that report a whole capture.
_REPORTS = ("report", "profile")
_AGAIN = "Copy or export the file again: nsys export --type sqlite --output FILE REPORT"

_DAMAGE = (
    WarningRow(
        "capture_incomplete",
        effect="events after the damage are missing",
        evidence="position of the damage in bytes, and the error",
        hint="Copy the file again, or capture again: fastrnns-rs profile RUNNER",
        verbs=_READERS,
        details="If the profiler left the file in this state, let the program end by itself.",
    ),
    WarningRow(
        "events_skipped",
        effect="all figures lack the events that could not be read",
        evidence="number of skipped events and of all events, and number and first byte per reason",
        hint="Refuse damaged captures: fastrnns-rs report --strict FILE",
        verbs=_READERS,
        details="The number is a lower bound (`at least`) if the rest of a table or of the file cannot be read.",
    ),
    WarningRow(
        "file_cut_short",
        effect="data after the end of the file are missing",
        evidence="size of the file and expected size, in bytes",
        hint=_AGAIN,
        verbs=_READERS,
    ),
    WarningRow(
        "rows_lost",
        effect="all figures lack the rows that could not be read",
        evidence="number of damaged tables; table, number of rows before the damage, and reason",
        hint=_AGAIN,
        verbs=_READERS,
        details="Views and virtual tables are not read, because they can run code.",
    ),
    WarningRow(
        "recording_incomplete",
        effect="events may be missing, because the profiler lost some",
        evidence="number of messages of the profiler, and the first three",
        hint="Capture less, such as fewer iterations: fastrnns-rs profile --nloops 2 RUNNER",
        verbs=_READERS,
        details="Newer versions of nsys export such messages with the events.",
    ),
    WarningRow(
        "unfinished_write",
        effect="recent rows may be missing, because a journal beside the file was not read",
        short="recent rows may be missing: a journal was not read",
        evidence="path of the journal",
        hint="End the program that writes the file, or export it again: nsys export --type sqlite --output FILE REPORT",
        verbs=_READERS,
    ),
    WarningRow(
        "names_missing",
        effect="some names are shown as [string ID]; figures are not affected",
        short="some names are shown as [string ID]",
        evidence="number of missing names, and the first ID",
        hint=_AGAIN,
        verbs=_READERS,
    ),
    WarningRow(
        "activities_repeated",
        effect="activities count twice, because a file contains them twice",
        evidence=(
            "number of activities that equal another one in name, stream, start and end, and of all activities; or "
            "number of summary rows beside a trace, or that equal another one"
        ),
        hint="Capture again: fastrnns-rs profile RUNNER",
        verbs=_READERS,
        details=(
            "The warning appears from 1 % of all activities on, since rounded times can be equal, and from half of all "
            "summary rows on. A file of nvprof with a trace and a summary of the same program contains all activities "
            "twice. Store the trace in its own file, and read it without the summary."
        ),
    ),
    WarningRow(
        "names_damaged",
        effect="some names are shown in part, and names that differ only there are one row",
        evidence="number of names that are not valid text; or that the names of GPUs cannot be read",
        hint="Capture again if the names matter: fastrnns-rs profile RUNNER",
        verbs=_READERS,
    ),
    WarningRow(
        "trailing_text",
        effect="text after the trace is not counted",
        evidence="position of the text in bytes",
        hint="Store each trace in its own file, then read both: fastrnns-rs report FILE FILE",
        verbs=_READERS,
    ),
    WarningRow(
        "files_left_out",
        effect="files that are not readable captures, and exports older than their nsys report, are not counted",
        evidence="number of files, and the reason for each",
        hint="Name the captures instead of their folder: fastrnns-rs report FILE",
        verbs=_READERS,
    ),
)

_MANIFESTS = (
    WarningRow(
        "capture_file_differs",
        effect="figures may be of another capture: a file is not the one of the capture manifest",
        short="a file is not the one of the capture manifest",
        evidence="path of the file, and both sizes in bytes or the difference of sha256",
        hint="Read the file alone, or capture again: fastrnns-rs report FILE",
        verbs=_READERS,
        details="sha256 is compared for files of at most 16 MiB.",
    ),
    WarningRow(
        "capture_failed",
        effect="figures may be incomplete, because the capture failed",
        evidence="path of the manifest, its failed checks, and the end of its command",
        hint="Capture again: fastrnns-rs profile RUNNER",
        verbs=_READERS,
    ),
)

_LIMITS = (
    WarningRow(
        "graph_level_capture",
        effect="kernels inside CUDA graphs are missing, because graphs were captured as a whole",
        short="kernels inside CUDA graphs are missing",
        evidence="number of graph launches without kernels, or the capture option",
        hint="Capture the kernels of graphs: nsys profile --cuda-graph-trace=node COMMAND",
        verbs=_READERS,
    ),
    WarningRow(
        "summary_only",
        effect="medians, idle time and streams are unknown, because the file has totals only",
        short="medians, idle time and streams are unknown",
        evidence="number of summary rows",
        hint="Read the profile (nvprof -o FILE), or print a trace: nvprof --csv --print-gpu-trace -u ns",
        verbs=_READERS,
        details="Totals and metrics are left out with `--since`, `--until`, `--stream` and `--process`.",
    ),
    WarningRow(
        "rounded_times",
        effect="each time has an error of up to 1 µs, because the file has whole microseconds",
        evidence="unit of the columns Start and Duration, or number of events",
        hint="Capture with torch 2.4 or newer, or print in nanoseconds: nvprof --csv --print-gpu-trace -u ns",
        verbs=_READERS,
        details="Kernels of few microseconds seem shorter or longer than in captures in nanoseconds.",
    ),
    WarningRow(
        "serialized_kernels",
        effect="gaps and overlap are not those of the program, because kernels ran one at a time",
        short="gaps and overlap are wrong: kernels ran one at a time",
        evidence="number of kernels without host calls",
        hint="Capture without --metrics and --events: nvprof -o FILE COMMAND",
        verbs=_READERS,
    ),
    WarningRow(
        "unmatched_launches",
        effect="part of the idle time has no cause, because kernels have no launch in the capture",
        short="part of the idle time has no cause",
        evidence="share of kernels without a launch, and share of idle time without a cause, in %",
        hint="Start the capture before the first launch: fastrnns-rs profile RUNNER",
        verbs=_REPORTS,
    ),
    WarningRow(
        "clocks_disagree",
        effect="latencies and causes of idle time are wrong, because kernels start before their launches",
        short="latencies and idle causes are wrong: the clocks of host and GPU disagree",
        evidence="median time from launch to start, in nanoseconds, and number of launches",
        hint="Capture again: fastrnns-rs profile RUNNER",
        verbs=_REPORTS,
    ),
    WarningRow(
        "stacks_recorded",
        effect="the host is faster without the profiler, which recorded stacks",
        evidence="number of captures with the setting with_stack, and idle time of the cause host in % of the span",
        hint="Capture without with_stack: fastrnns-rs profile --torch RUNNER",
        verbs=_REPORTS,
        details="Host times and idle time of the cause `host` contain the recording. Times of kernels do not.",
    ),
    WarningRow(
        "gpu_shared",
        effect="idle time of a GPU may contain the work of other processes, because each process is counted alone",
        short="idle time of a GPU may contain the work of other processes",
        evidence="numbers of GPUs, each with the number of its processes that used it during the same time as another",
        hint="Compare the busy times of the processes: fastrnns-rs report FILE --by device",
        verbs=_REPORTS,
        details="Processes with their own CUDA_VISIBLE_DEVICES may use the same number for different GPUs.",
    ),
    WarningRow(
        "no_iterations",
        effect="figures per iteration are missing, because no closed range has the requested name",
        short="figures per iteration are missing",
        evidence="number of range names, and the nearest names",
        hint="Name a range of the capture: fastrnns-rs report --iteration-range NAME FILE",
        verbs=_READERS,
    ),
)

_RANKS = (
    WarningRow(
        "same_capture_twice",
        effect="activities count twice, because files contain the same capture",
        short="activities count twice: the same capture in 2 files",
        evidence="pairs of files, traces that `report --trace` drew, or tables of nvprof",
        hint="Give each capture once: fastrnns-rs report FILE",
        verbs=_READERS,
        details="Files contain the same capture if their times are equal to the nanosecond, even if one is compressed. "
        "A trace that `report --trace` drew has other times, so it has the warning beside any other capture. Times of "
        "nvprof's profiles and tables cannot be compared either, so a summary, a trace and a profile have the warning "
        "beside each other. `compare` refuses equal times, and has the warning for tables.",
    ),
    WarningRow(
        "same_rank_twice",
        effect="activities of a rank may count twice, because it has several files",
        short="activities of a rank may count twice",
        evidence="rank, and its files",
        hint="Give one file per rank: fastrnns-rs report FILE FILE",
        verbs=_REPORTS,
    ),
    WarningRow(
        "ranks_missing",
        effect="figures cover part of the job, because ranks have no file",
        short="figures cover part of the job: missing ranks",
        evidence="number of ranks with a file and of all ranks, and the missing ranks",
        hint="Give the files of all ranks: fastrnns-rs report FILE FILE",
        verbs=_REPORTS,
    ),
    WarningRow(
        "ranks_disagree",
        effect="figures may be of several jobs, because files disagree about the ranks of their job",
        short="figures may be of several jobs: files disagree about ranks",
        evidence="files with their rank and the number of ranks",
        hint="Give the files of one job: fastrnns-rs report FILE FILE",
        verbs=_REPORTS,
        details="Files name different numbers of ranks, or a rank that a job of their size does not have.",
    ),
    WarningRow(
        "rank_skew",
        effect="the job waits for its slowest rank",
        evidence="busy time of the slowest rank without communication in ns, and its ratio to the median rank",
        hint="Compare the slowest rank with another rank: fastrnns-rs compare BASELINE CANDIDATE",
        verbs=_REPORTS,
        details=(
            "The warning is given for a ratio above 1.1. Causes are data, clocks and the place in a pipeline. "
            "Communication does not count, because a rank that is early waits in it for the others."
        ),
    ),
)

TOPICS = (
    Topic("Damaged captures", _DAMAGE),
    Topic("Capture manifests", _MANIFESTS),
    Topic("Limits of captures", _LIMITS),
    Topic("Ranks of captures", _RANKS),
)
