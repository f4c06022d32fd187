"""What pyperf itself reads from one of its files."""

from __future__ import annotations

import json
import statistics
import sys

import pyperf

print(
    json.dumps(
        {
            benchmark.get_name(): {
                "unit": benchmark.get_unit(),
                "mean": benchmark.mean(),
                "values": benchmark.get_nvalue(),
                "process_medians": [statistics.median(run.values) for run in benchmark.get_runs() if run.values],
            }
            for benchmark in pyperf.BenchmarkSuite.load(sys.argv[1])
        },
        indent=2,
    )
)
