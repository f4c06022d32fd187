"""Warnings of a comparison of runs."""

from __future__ import annotations

from fastrnns_rs.documents.warning_table.row import Topic, WarningRow

_COMPARE = ("compare", "ab")

_EVIDENCE = (
    WarningRow(
        "one_session",
        effect="verdicts in parentheses hold for these two sessions only",
        short="verdicts in parentheses hold for two sessions only",
        evidence="number of sessions in the history or of a side with several, of the 8 that are needed",
        hint="Measure each side in 3 sessions: fastrnns-rs bench --sessions 3",
        verbs=_COMPARE,
        details="Sessions may differ by more than the intervals show, even if nothing changed. Where one `ab` command "
        "measures the same difference, the warning names this command. A file of another tool counts as one session.",
    ),
    WarningRow(
        "pooled_sessions",
        effect="intervals may be too narrow, because the variance between sessions is that of comparable rows",
        short="intervals may be too narrow: sessions of other rows",
        evidence="rows with fewer than 8 sessions of their own",
        hint="Measure these rows in more sessions: fastrnns-rs bench --sessions 3 RUNNER",
        verbs=_COMPARE,
        details="Comparable rows are other runners and problems on this machine, with the same software and settings.",
    ),
    WarningRow(
        "short_baseline",
        effect="rows stay inconclusive more often, because the baseline has one session",
        short="rows stay inconclusive: the baseline has one session",
        evidence="rows, with 1 session each",
        hint="Add the earlier runs of the baseline: fastrnns-rs compare @like:NAME CANDIDATE",
        verbs=("compare",),
        details="One session counts with the whole variance between sessions. "
        "[`@like:`](../how-to/history.md#names-of-runs) names all earlier runs that measured the same, and costs no "
        "measurement.",
    ),
    WarningRow(
        "mean_differs",
        effect="verdicts do not hold for the mean, which changed by another amount than the median",
        short="verdicts do not hold for the mean",
        evidence="rows, with the changes of median and mean and their 95 % intervals",
        hint="Judge the mean: fastrnns-rs compare BASELINE CANDIDATE --statistic mean",
        verbs=_COMPARE,
        details="The median ignores a few slow iterations, which the mean and the total time include. The quotient of "
        "mean and median of each process is compared like the times. Its change is significant at 1 % among all rows, "
        "and its whole 95 % interval lies beyond the margin. Causes are pauses, recompilations, garbage collection and "
        "other programs; `compare --explain ROW --wide` shows all samples. If one iteration in twenty takes five times "
        "as long, 10 processes of 100 iterations per side are enough for this warning.",
    ),
    WarningRow(
        "unequal_processes",
        effect="up to 26 % of rows may be false alarms, because the sides have different numbers of processes",
        short="false alarms are more frequent: unequal processes",
        evidence="rows, and number of processes of each side for the first row",
        hint="Measure both sides with the same number of processes: fastrnns-rs bench --processes N RUNNER",
        verbs=_COMPARE,
        details="If process medians are skewed or form two groups, 10 to 26 % of comparisons without a difference are "
        "false alarms, instead of 5 %. Rows that are compared by the variance between sessions do not cause this "
        "warning.",
    ),
    WarningRow(
        "too_few_processes",
        effect="rows have no verdict, because a side has fewer than 3 processes",
        short="rows have no verdict: fewer than 3 processes",
        evidence="rows, and number of processes of each side for the first row",
        hint="Measure each side in 10 processes: fastrnns-rs bench --processes 10 RUNNER",
        verbs=_COMPARE,
        details="Rows of `ab --until decided` need 4 pairs.",
    ),
    WarningRow(
        "same_times",
        effect="no difference can be found, because both sides have the same times to the nanosecond",
        short="no difference can be found: both sides are equal",
        evidence="number of equal process medians, or of equal kernels",
        hint="Compare two different runs: fastrnns-rs compare BASELINE CANDIDATE",
        verbs=_COMPARE,
    ),
    WarningRow(
        "runner_failed",
        effect="failed runners have no result",
        evidence="runners, with the reason and the side",
        hint="Show the reasons: fastrnns-rs show FILE",
        verbs=("compare", "ab", "inductor"),
        details="Their rows have no verdict. The exit code is 1 if a runner failed in the candidate, or on either side "
        "of `ab`. In `inductor`, the runner was not compiled, so there is no module.",
    ),
    WarningRow(
        "run_interrupted",
        effect="the result is from fewer processes, because a run was interrupted",
        short="the result is from fewer processes: interrupted run",
        evidence="run files, with the number of their processes",
        hint="Complete the run: fastrnns-rs bench --resume FILE",
        verbs=_COMPARE,
    ),
    WarningRow(
        "false_alarms",
        effect="more than 5 % of rows may be false alarms on this machine",
        short="false alarms are more frequent on this machine",
        evidence="share of false alarms in %, with random labels on processes of one runner",
        hint="Find what else runs, then measure the noise again: fastrnns-rs ab --same RUNNER",
        verbs=_COMPARE,
        details="Only with `--margin noise-floor`. The warning is given above 7 %.",
    ),
    WarningRow(
        "other_noise_floor",
        effect="the margin may be too large or too small, because the noise was measured with another torch",
        short="the noise was measured with another torch",
        evidence="torch and time of the noise floor, and torch of the files",
        hint="Measure the noise again: fastrnns-rs ab --same RUNNER",
        verbs=_COMPARE,
        details="Only with `--margin noise-floor`.",
    ),
    WarningRow(
        "equal_sides_differ",
        effect="comparisons may show differences that do not exist, because a runner differed from itself",
        short="differences may not exist: a runner differed from itself",
        evidence="difference of sides, launch order or sessions, drift or jump, each in %",
        hint="Find what else runs, then measure again: fastrnns-rs ab --same RUNNER",
        verbs=("ab",),
        details="Only with `--same`. Each of four checks has at most 3 % false alarms.",
    ),
)

_CONDITIONS = (
    WarningRow(
        "forced",
        effect="changes may not come from the code, because --force compares different measurements",
        short="changes may not come from the code: --force",
        evidence="rows, and the values that differ",
        hint="Measure both sides with the same options: fastrnns-rs bench RUNNER",
        verbs=_COMPARE,
    ),
    WarningRow(
        "other_machine",
        effect="changes may come from the machine, not from the code",
        evidence="names of the CPUs or GPUs, numbers of CPUs, or hashes of the machine IDs",
        hint="Measure both sides on one machine: fastrnns-rs ab BASELINE CANDIDATE",
        verbs=_COMPARE,
    ),
    WarningRow(
        "other_company",
        effect="changes may come from concurrent workers, not from the code",
        short="changes may come from concurrent workers",
        evidence="number of workers at the same time, on each side",
        hint="Measure both sides with the same devices and ranks: fastrnns-rs bench --devices NAME RUNNER",
        verbs=_COMPARE,
        details="Concurrent workers of other devices or ranks share the CPU, memory, power and cooling.",
    ),
    WarningRow(
        "pooled_files_differ",
        effect="one side mixes different code, settings, versions or machines",
        short="one side mixes code, settings, versions or machines",
        evidence="files, and the keys or sources that differ",
        hint="Show all values (environment_differences): fastrnns-rs compare --json BASELINE CANDIDATE",
        verbs=("compare",),
    ),
)

TOPICS = (
    Topic(
        "Evidence of a comparison",
        _EVIDENCE,
        "`compare` and `ab` repeat the warnings of the two runs, after `baseline:` or `candidate:` if a warning holds "
        "for one side only. No warning changes a verdict.",
    ),
    Topic("Conditions of the two sides", _CONDITIONS),
)
