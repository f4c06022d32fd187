"""Warnings about results of other tools."""

from __future__ import annotations

from fastrnns_rs.documents.warning_table.row import Topic, WarningRow

_READERS = ("compare", "show")

_RESULTS = (
    WarningRow(
        "no_process_level",
        effect="rows have no verdict, because all samples come from one process",
        short="rows have no verdict: samples come from one process",
        evidence="file, tool and version (pytest-benchmark, google-benchmark)",
        hint="Measure in several processes: fastrnns-rs ab BASELINE CANDIDATE",
        verbs=_READERS,
    ),
    WarningRow(
        "not_interleaved",
        effect="a drift of the machine looks like a change, because the measurements are not interleaved",
        short="a drift of the machine looks like a change",
        evidence="file, tool and version",
        hint="Interleave both sides: fastrnns-rs ab BASELINE CANDIDATE",
        verbs=_READERS,
    ),
    WarningRow(
        "no_samples",
        effect="rows have no interval, because the file has medians without samples",
        short="rows have no interval: medians without samples",
        evidence="file, tool and version",
        hint="Keep the samples: pytest --benchmark-json=FILE",
        verbs=_READERS,
        details="With google-benchmark, leave out --benchmark_report_aggregates_only.",
    ),
    WarningRow(
        "start_included",
        effect="changes of the work look smaller, because each time includes the start of the program",
        short="changes look smaller: times include program start",
        evidence="file, tool and version (hyperfine)",
        hint="Let the command do more work per run: hyperfine --export-json FILE COMMAND",
        verbs=_READERS,
    ),
    WarningRow(
        "duplicate_names",
        effect="rows may compare different benchmarks, because several have the same name",
        short="rows may compare different benchmarks: equal names",
        evidence="file, tool, version, and the name",
        hint="Give each benchmark its own name, then compare again: fastrnns-rs compare BASELINE CANDIDATE",
        verbs=_READERS,
        details="The benchmarks are numbered in the order of the file.",
    ),
    WarningRow(
        "not_time",
        effect="a benchmark is left out, because it does not measure time",
        short="a benchmark is left out: it does not measure time",
        evidence="file, tool, version, name of the benchmark, and its unit",
        hint="Measure without --tracemalloc and --track-memory: pyperf timeit -o FILE STATEMENT",
        verbs=_READERS,
    ),
)

TOPICS = (Topic("Results of other tools", _RESULTS),)
