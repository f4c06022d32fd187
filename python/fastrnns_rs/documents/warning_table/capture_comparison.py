"""Warnings of a comparison of captures."""

from __future__ import annotations

from fastrnns_rs.documents.warning_table.row import Topic, WarningRow

_COMPARE = ("compare",)

_CAPTURES = (
    WarningRow(
        "different_work",
        effect="changes may not come from the code, because the sides did different work",
        short="the sides did different work",
        evidence="what differs: phases, numbers of GPUs or ranks, launches or grids of all kernels, or iterations",
        hint="Capture both sides with the same options: fastrnns-rs profile RUNNER",
        verbs=_COMPARE,
    ),
    WarningRow(
        "empty_iterations",
        effect="times per iteration are too short, because iterations without GPU work are counted",
        short="times per iteration are too short: some launched nothing",
        evidence="number of iterations without GPU work, and of all",
        hint="Name the range that marks iterations: fastrnns-rs compare --iteration-range NAME BASELINE CANDIDATE",
        verbs=_COMPARE,
    ),
    WarningRow(
        "median_differs",
        effect="changes are those of the mean iteration, and the median iteration changed by another amount",
        short="the median iteration changed by another amount",
        evidence="factors of the GPU time of the mean and of the median iteration",
        hint="Show the medians: fastrnns-rs compare --wide BASELINE CANDIDATE",
        verbs=_COMPARE,
        details="The mean includes slow iterations, such as those of autotuning. The warning appears from 5 % on.",
    ),
    WarningRow(
        "mean_outside_interval",
        effect="changes are those of the mean time, which lie outside the intervals of the captures",
        short="changes lie outside the intervals of the captures",
        evidence="a row with the factor of its mean time and its interval, and the number of other rows",
        hint="Look for the capture that differs from the others: fastrnns-rs report FILE",
        verbs=_COMPARE,
        details=(
            "The mean time counts every iteration, the interval counts every capture. They differ if one capture has "
            "many more iterations than others of its side, or other times. A verdict that the mean time contradicts "
            "is `inconclusive`."
        ),
    ),
    WarningRow(
        "overlap_differs",
        effect="GPU time is not how long the GPU was busy, because activities overlap more on one side",
        short="GPU time is not how long the GPU was busy",
        evidence="sum of all durations over the time with any activity, of each side",
        hint="Compare the busy times of both sides: fastrnns-rs report FILE",
        verbs=_COMPARE,
        details=(
            "GPU time adds up the durations of activities. Kernels on several streams share the GPU: each takes "
            "longer, and all may end earlier."
        ),
    ),
    WarningRow(
        "dependent_captures",
        effect="captures of one process, of the ranks of one job, or of one folder, count as one",
        evidence="number of captures of each side, and of processes or jobs; or each folder, and its processes",
        hint="Capture three processes of each side: fastrnns-rs profile --processes 3 RUNNER",
        verbs=_COMPARE,
        details=(
            "A verdict needs processes that are independent of each other. Traces of newer versions of torch name host "
            "and process; of other captures it is not known whether they are of one process. Of the ranks of a job, "
            "the first captures of all ranks are one run, the second captures are another. A folder is one capture: to "
            "compare the processes of a folder, name its files."
        ),
    ),
    WarningRow(
        "unequal_captures",
        effect="more than 5 % of rows may be false alarms, because the sides have different numbers of captures",
        short="false alarms are more frequent: unequal captures",
        evidence="number of captures of each side",
        hint="Make the same number of captures of each side: fastrnns-rs profile --processes N RUNNER",
        verbs=_COMPARE,
    ),
    WarningRow(
        "outside_iterations",
        effect="GPU time that was launched outside iterations is not counted",
        short="GPU time outside iterations is not counted",
        evidence="share of the side's GPU time in %",
        hint="Name the range that marks iterations: fastrnns-rs compare --iteration-range NAME BASELINE CANDIDATE",
        verbs=_COMPARE,
    ),
    WarningRow(
        "graph_levels_differ",
        effect="kernels do not compare, because one side has CUDA graphs as a whole",
        short="kernels do not compare: one side has whole graphs",
        evidence="`graph_level` of each side",
        hint="Capture the kernels of graphs on both sides: nsys profile --cuda-graph-trace=node COMMAND",
        verbs=_COMPARE,
    ),
    WarningRow(
        "same_capture",
        effect="changes are too small, because a capture is on both sides",
        short="changes are too small: one capture on both sides",
        evidence="files of both sides",
        hint="Give each capture to one side: fastrnns-rs compare BASELINE CANDIDATE",
        verbs=_COMPARE,
    ),
    WarningRow(
        "matched_by_shape",
        effect="some rows may compare different kernels, because names differ and launch shapes agree",
        short="some rows may compare different kernels",
        evidence="names of both kernels",
        hint="Check the rows with matched_by shape: fastrnns-rs compare --json BASELINE CANDIDATE",
        verbs=_COMPARE,
        details="Category and launch shape are equal, names are similar, and numbers of launches differ by at most "
        "10 %.",
    ),
)

TOPICS = (
    Topic(
        "Comparison of captures",
        _CAPTURES,
        "[`compare` of two captures](../how-to/comparing.md) repeats the warnings of each capture.",
    ),
)
