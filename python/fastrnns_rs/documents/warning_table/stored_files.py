"""Warnings of `profile`, and about stored files."""

from __future__ import annotations

from fastrnns_rs.documents.warning_table.row import Topic, WarningRow

_PROFILE = ("profile",)

_CAPTURING = (
    WarningRow(
        "baseline_failed",
        effect="the slowdown by the profiler is unknown, because the run without it failed",
        short="the slowdown by the profiler is unknown: failed run",
        evidence="reason of the failure",
        hint="Leave out the run without the profiler: fastrnns-rs profile --no-unprofiled RUNNER",
        verbs=_PROFILE,
    ),
    WarningRow(
        "baseline_differs",
        effect="the slowdown by the profiler is unknown, because runners failed in one of two runs",
        short="the slowdown by the profiler is unknown: failed runner",
        evidence="runners that failed, with or without the profiler",
        hint="Capture the other runners alone: fastrnns-rs profile RUNNER",
        verbs=_PROFILE,
        details="The log has the slowdown of each runner that succeeded in both runs.",
    ),
    WarningRow(
        "range_yielded_nothing",
        effect="the capture includes start-up and warm-up, because the profiler saw no iteration in its range",
        short="the capture includes start-up and warm-up",
        evidence="command of the profiler",
        hint="Show the times of each iteration: fastrnns-rs report --by iteration FILE",
        verbs=_PROFILE,
    ),
    WarningRow(
        "events_lost",
        effect="the profiler lost events, but all requested ranges and kernels are in the capture",
        short="the profiler lost other events than ranges and kernels",
        evidence="message of the profiler",
        hint="Capture fewer iterations: fastrnns-rs profile --nloops 2 RUNNER",
        verbs=_PROFILE,
        details="Every launch in a range has its kernels, and all iterations of a runner and phase have the same "
        "number of kernels. Copies and other API calls may be missing. If a range or a kernel is missing, the capture "
        "fails.",
    ),
    WarningRow(
        "profiler_restarted",
        effect="the capture is from a later start, because nsys did not start the command",
        short="the capture is from a later start of nsys",
        evidence="number of the start, and the message of nsys",
        hint="Stop other programs, then check the load: fastrnns-rs doctor",
        verbs=_PROFILE,
    ),
    WarningRow(
        "torch_warning",
        effect="the capture may be incomplete, because torch issued a warning",
        short="the capture may be incomplete: warning of torch",
        evidence="text of torch's warning",
        hint="Follow torch's warning, then capture again: fastrnns-rs profile --torch RUNNER",
        verbs=_PROFILE,
    ),
)

_STORED = (
    WarningRow(
        "noise_floor_unreadable",
        effect="the noise floor is unknown, because its file is damaged",
        short="the noise floor is unknown: its file is damaged",
        evidence="path of the file, and the damage",
        hint="Measure the noise floor again: fastrnns-rs ab --same RUNNER",
        verbs=("doctor",),
    ),
    WarningRow(
        "foreign_files",
        effect="files in the history folder are not listed: they are not run files, or other files of a listed run",
        short="files in the history folder are not listed",
        evidence="number of files, and the reason for each",
        hint="Move these files out of the folder of the history",
        verbs=("history",),
    ),
)

TOPICS = (Topic("Making a capture", _CAPTURING), Topic("Stored files", _STORED))
