"""Warnings from the samples of a run."""

from __future__ import annotations

from fastrnns_rs.documents.warning_table.row import Topic, WarningRow

_BENCH = ("bench", "ab")
_ALL_FIGURES = "Show all figures: fastrnns-rs show FILE --wide"

_PROCESSES = (
    WarningRow(
        "one_process",
        effect="no interval is known, because one process does not show how much processes differ",
        short="no interval: processes differ by an unknown amount",
        evidence="runners with 1 process",
        hint="Measure in 5 processes: fastrnns-rs bench --processes 5 RUNNER",
        verbs=("bench", "ab", "inductor"),
        details="Another process may reach another steady state. The difference is often larger than an interval from "
        "the samples of one process.",
    ),
    WarningRow(
        "two_processes",
        effect="no interval is known, because an interval needs 3 processes",
        short="no interval: an interval needs 3 processes",
        evidence="runners with 2 processes",
        hint="Measure in 5 processes: fastrnns-rs bench --processes 5 RUNNER",
        verbs=("bench", "ab", "inductor"),
    ),
    WarningRow(
        "process_modes",
        effect="the point estimate lies between two levels, because processes form two groups",
        short="the estimate lies between two groups of processes",
        evidence="number of processes in each group, and the median of each group (µs, ms or s)",
        hint="Measure in more processes, so that each group has its share: fastrnns-rs bench --processes 20 RUNNER",
        verbs=_BENCH,
        details="Groups are at least 1 % apart, have at least 2 processes each, and need 5 processes together. Causes "
        "are memory addresses, huge pages, or CPUs; `--affinity` shows whether CPUs are the cause. At most 1 % of runs "
        "without groups cause this warning. Few processes need clearer groups. Suppose that half of the processes "
        "are 8 % slower, and that the others vary by 0.3 %. With 5 processes, the warning then comes in 46 % of runs, "
        "and with 10 processes in 98 %. A spread of 1 % hides such groups.",
    ),
    WarningRow(
        "drift",
        effect="medians depend on the time at which their process ran",
        evidence="change from the first to the last process in %, Kendall's rank correlation, p-value, and number of "
        "processes",
        hint="Interleave the runners that you compare: fastrnns-rs ab BASELINE CANDIDATE",
        verbs=_BENCH,
        details="Causes are heat, clocks and other programs. The warning needs a change of more than 1 %. At most 1 % "
        "of runs without drift cause it, whatever the distribution of process medians. All pairs of processes of one "
        "runner form a test at 0.25 %. Then each runner forms a test at 0.25 % divided by the number of runners. A "
        "run of 5 processes of one runner cannot show a drift. A machine whose speed wanders without a direction "
        "causes the warning too.",
    ),
)

_STEADY_STATE = (
    WarningRow(
        "warmup_not_over",
        effect="medians include warm-up iterations",
        evidence="first steady iteration, and first timed iteration",
        hint="Leave out --warmup, so that the end of the warm-up is detected: fastrnns-rs bench RUNNER",
        verbs=_BENCH,
        details="More than 5 % of the timed samples precede the steady state, in two inspected processes of the "
        "runner. Only runs with a given number of iterations are checked. In other runs, the timed part begins in "
        "steady state.",
    ),
    WarningRow(
        "no_steady_state",
        effect="another run may give another median, because times did not reach a steady state",
        short="another run may give another median: no steady state",
        evidence="runners of which no process reached a steady state",
        hint="Time more iterations per process: fastrnns-rs bench --nloops N RUNNER",
        verbs=_BENCH,
        details="Check for other programs on the machine too.",
    ),
    WarningRow(
        "slowdown",
        effect="medians may be too long, because times rose before they reached a steady state",
        short="medians may be too long: times rose at first",
        evidence="runners whose times rose",
        hint="Check load, clocks and throttling: fastrnns-rs doctor",
        verbs=_BENCH,
        details="Causes are a throttled clock, other programs, and memory that grows, which `doctor` does not check.",
    ),
    WarningRow(
        "inconsistent_warmup",
        effect="the point estimate mixes processes with and without a steady state",
        short="the estimate mixes processes without a steady state",
        evidence="number of processes in each warm-up class",
        hint="Measure in more processes: fastrnns-rs bench --processes 20 RUNNER",
        verbs=_BENCH,
        details="At least 2 processes, and 15 % of the processes of a runner, reached no steady state or slowed down.",
    ),
    WarningRow(
        "several_modes",
        effect="medians may jump between levels, because times have several modes",
        short="medians may jump between levels of times",
        evidence="levels (µs, ms or s) of the clearest process with their shares of samples in %, and number of "
        "processes with several levels",
        hint=_ALL_FIGURES,
        verbs=_BENCH,
        details="In more than half of the processes, times have levels that are at least 1 % apart. Causes are clocks, "
        "allocations and other programs. At most 2 % of runs without modes cause this warning, with normal, uniform, "
        "lognormal and Pareto samples, and with autocorrelated samples (AR(.8)). In a single process of 100 samples "
        "with a strong autocorrelation (AR(.95)), 1 in 10 does.",
    ),
)

_PHASES = (
    WarningRow(
        "coarse_clock",
        effect="medians have an error of 1 % or more, because phases are short compared with a clock tick",
        short="medians have an error of 1 % or more: short phases",
        evidence="clock tick and point estimate (ns, µs or ms), and their ratio in %",
        hint="Choose sizes with longer phases: fastrnns-rs bench --hidden-size N RUNNER",
        verbs=_BENCH,
    ),
    WarningRow(
        "launch_bound",
        effect="times are those of the CPU, because kernel launches take as long as the GPU's work",
        short="times are those of the CPU: kernel launches dominate",
        evidence="time of the launching API calls and time on the GPU (µs or ms), per phase",
        hint="Give each launch more work: fastrnns-rs bench --hidden-size N RUNNER",
        verbs=_BENCH,
        details="The calls take 90 % or more of the phase: they launch kernels, or wait for the GPU. CUDA graphs and "
        "torch.compile reduce the number of launches.",
    ),
    WarningRow(
        "unjoined_work",
        effect="times are too short, because the GPU works on after the last phase",
        short="times are too short: the GPU works on",
        evidence="time for which the GPU works on after an iteration (µs or ms)",
        hint="Join the streams in the runner: torch.cuda.current_stream().wait_stream(other)",
        verbs=_BENCH,
        details="The work is on streams that the current stream does not wait for. The times do not include this work, "
        "and the next iteration competes with it.",
    ),
    WarningRow(
        "recompiled",
        effect="some samples include compile time",
        evidence="largest number of recompilations in a process, per runner",
        hint="Find the guard in the log file of a capture: TORCH_LOGS=recompiles fastrnns-rs profile --torch RUNNER",
        verbs=_BENCH,
        details="A guard of torch.compile failed inside the timed loop. Keep shapes, dtypes and flags constant.",
    ),
    WarningRow(
        "graph_breaks",
        effect="times include Python code between compiled parts",
        evidence="largest number of graph breaks in a process, per runner",
        hint="Find the breaks in the log file of a capture: TORCH_LOGS=graph_breaks fastrnns-rs profile --torch RUNNER",
        verbs=_BENCH,
        details="torch.compile(fullgraph=True) turns a graph break into an error.",
    ),
)

TOPICS = (
    Topic("Processes of a run", _PROCESSES, "Only timed samples of processes that ended well are checked."),
    Topic("Steady state", _STEADY_STATE),
    Topic("Phases and compilation", _PHASES),
)
