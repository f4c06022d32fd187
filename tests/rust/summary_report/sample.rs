//! A summary made by hand, and names that try to break out of every format.

use fastrnns_rs::trace::{
    ApiRow, Capture, CategoryRow, CudnnRnnRow, DeviceRow, Difference, IdleRow, Inductor, InductorCategory,
    IterationRow, IterationStatistics, KernelRow, Launches, MemoryRow, MetricRow, RangeRow, RankRow, StreamRow,
    Summary, Warning,
};

pub(crate) const HOSTILE: [&str; 13] = [
    "=cmd|' /C calc'!A0",
    "\"quoted\", and more",
    "a|b\\|c",
    "`",
    "``` <script>alert(1)</script> ```",
    "\u{1b}[2J\u{1b}]0;title\u{7}\u{9b}31m\u{7f}\0",
    "two\nlines\r\n| and | cells |\n",
    "漢字カーネル",
    "e\u{301}\u{202e}reversed\u{2066}\u{200b}\u{feff}\u{2028}",
    "",
    " ",
    "@mention [link](http://example.invalid) **bold** &amp; #1",
    "ends\\",
];

fn kernel(name: &str, total_ns: u64) -> KernelRow {
    KernelRow {
        name: name.to_owned(),
        short_name: name.chars().take(9).collect(),
        mangled_name: Some(format!("_Z{name}")),
        category: "pointwise".to_owned(),
        device_id: Some(0),
        count: 4,
        total_ns,
        mean_ns: total_ns as f64 / 4.0,
        median_ns: Some(1234.5),
        min_ns: 7,
        max_ns: u64::MAX,
        stddev_ns: None,
        p95_ns: Some(2000.0),
        kernel_time_fraction: Some(0.25),
        span_fraction: Some(0.125),
        grid: Some([128, 2, 1]),
        block: Some([256, 1, 1]),
        registers_per_thread: Some(40),
        shared_memory_bytes: Some(49_152),
    }
}

fn range(name: String, domain: String) -> RangeRow {
    RangeRow {
        name,
        domain: Some(domain),
        kind: "nvtx",
        runner: None,
        phase: Some("forward".to_owned()),
        count: 3,
        host_total_ns: 6_000_000,
        gpu_inclusive_ns: 5_000_000,
        gpu_exclusive_ns: 1_000_000,
        kernel_count: 26,
    }
}

/// The last one stands out.
fn iteration(index: u64, runner: String, category: String) -> IterationRow {
    let outlier = index == 2;
    let differences = [(category, 7_500_000), ("layout".to_owned(), -250_000)]
        .map(|(category, delta_ns)| Difference { category, delta_ns });
    IterationRow {
        index,
        runner: Some(runner),
        phase: None,
        start_ns: -5,
        duration_ns: if outlier { 9_000_000 } else { 1_000_000 },
        gpu_busy_ns: 800_000,
        outlier,
        differences: if outlier { differences.to_vec() } else { Vec::new() },
    }
}

fn statistics(runner: String) -> IterationStatistics {
    IterationStatistics {
        runner: Some(runner),
        phase: None,
        count: 3,
        total_ns: 11_000_000,
        mean_ns: 11_000_000.0 / 3.0,
        median_ns: 1_000_000.0,
        min_ns: 1_000_000,
        max_ns: 9_000_000,
        stddev_ns: Some(f64::INFINITY),
        p95_ns: 8_200_000.0,
        gpu_busy_median_ns: 800_000.0,
        outlier_count: 1,
    }
}

fn launches() -> Launches {
    Launches {
        matched_count: 50,
        unmatched_kernel_count: 2,
        latency_median_ns: Some(4_100.5),
        latency_p95_ns: Some(9_000.0),
        queue_median_ns: Some(0.0),
        queue_p95_ns: Some(12_000.0),
    }
}

fn idle(cause: &'static str, total_ns: u64) -> IdleRow {
    IdleRow { device_id: Some(0), cause, count: 7, total_ns }
}

fn rank(index: i64, path: String) -> RankRow {
    RankRow {
        path,
        rank: Some(index),
        span_ns: 10_000_000,
        busy_ns: 8_000_000,
        kernel_count: 26,
        kernel_total_ns: 4_250_000,
        busy_ratio: Some(1.25),
        slowest: index == 1,
    }
}

fn metric(text: &dyn Fn(usize) -> String) -> MetricRow {
    MetricRow {
        device: text(19),
        kernel: text(20),
        invocations: 4,
        name: text(21),
        description: Some(text(22)),
        min: Some(0.5),
        max: None,
        avg: Some(99.25),
        unit: Some(text(23)),
    }
}

/// A summary in which every text is `name`.
pub(crate) fn summary_of(names: &[&str]) -> Summary {
    let text = |index: usize| names.get(index % names.len().max(1)).copied().unwrap_or_default().to_owned();
    let mut capture = Capture {
        path: text(0),
        format: "kineto",
        tool_version: Some(text(1)),
        size_bytes: 12_345_678,
        events_read: 1000,
        graph_level: true,
        ..Capture::default()
    };
    capture.skip_many(&text(2), 3, Some(99));
    Summary {
        schema: "fastrnns-rs/summary",
        schema_version: "1.0",
        warnings: vec![Warning { code: "clock", message: text(3), evidence: text(4), hint: text(5) }],
        captures: vec![capture],
        devices: vec![DeviceRow {
            device_id: Some(0),
            process_id: None,
            name: Some(text(6)),
            start_ns: -5,
            end_ns: 9_999_995,
            span_ns: 10_000_000,
            busy_ns: 8_000_000,
            idle_ns: 2_000_000,
            overlap_ns: 500_000,
            utilization: Some(0.8),
            kernel_count: 52,
            kernel_total_ns: 8_500_000,
        }],
        kernels: names.iter().zip(1..).map(|(name, index)| kernel(name, index * 100_000)).collect(),
        categories: vec![CategoryRow {
            name: text(7),
            count: 52,
            total_ns: 8_500_000,
            kernel_time_fraction: Some(1.0),
        }],
        memory_operations: vec![MemoryRow {
            kind: text(8),
            device_id: Some(0),
            count: 2,
            total_ns: 1000,
            mean_ns: 500.0,
            median_ns: Some(500.0),
            min_ns: 400,
            max_ns: 600,
            stddev_ns: Some(f64::NAN),
            total_bytes: Some(1_500_000),
            mean_bytes: Some(750_000.0),
            median_bytes: None,
            min_bytes: Some(4),
            max_bytes: Some(1_499_996),
            stddev_bytes: None,
            bandwidth_gb_per_s: Some(f64::INFINITY),
        }],
        streams: vec![StreamRow {
            device_id: Some(0),
            stream_id: Some(-7),
            kernel_count: 52,
            busy_ns: 8_000_000,
            total_ns: 8_500_000,
        }],
        api_calls: vec![ApiRow {
            name: text(9),
            count: 52,
            total_ns: 100,
            mean_ns: 2.0,
            median_ns: Some(2.0),
            min_ns: 1,
            max_ns: 3,
            stddev_ns: Some(0.5),
        }],
        ranges: vec![range(text(12), text(13)), range(text(14), text(0))],
        iterations: (0..3).map(|index| iteration(index, text(15), text(16))).collect(),
        iteration_statistics: vec![statistics(text(15))],
        launches: launches(),
        idle_causes: vec![idle("host", 1_500_000), idle("launch", 500_000)],
        cudnn_rnn: vec![CudnnRnnRow {
            runner: Some(text(15)),
            phase: Some(text(16)),
            path: "stepwise",
            kernel_count: 384,
            iterations: Some(3),
            kernels_per_iteration: Some(128.0),
            kernels_per_step: Some(2.0),
            sentence: text(17),
        }],
        ranks: (0..2).map(|index| rank(index, text(18))).collect(),
        metrics: vec![metric(&text)],
        inductor: Some(Inductor {
            wall_time_ns: 1e6,
            runs: 10,
            busy_fraction: 0.8,
            tabulate_line: text(10),
            categories: vec![InductorCategory { name: text(11), count: 1, total_ns: 2, kernels: Vec::new() }],
        }),
    }
}

pub(crate) fn empty() -> Summary {
    let mut summary = summary_of(&[]);
    summary.warnings.clear();
    summary.captures.clear();
    summary.devices.clear();
    summary.categories.clear();
    summary.memory_operations.clear();
    summary.streams.clear();
    summary.api_calls.clear();
    summary.ranges.clear();
    summary.iterations.clear();
    summary.iteration_statistics.clear();
    summary.launches = Launches::default();
    summary.idle_causes.clear();
    summary.cudnn_rnn.clear();
    summary.ranks.clear();
    summary.metrics.clear();
    summary.inductor = None;
    summary
}
