//! A summary made by hand, and names that try to break out of every format.

use fastrnns_rs::trace::{
    ApiRow, Capture, CategoryRow, DeviceRow, Inductor, InductorCategory, KernelRow, MemoryRow, StreamRow, Summary,
    Warning,
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
        median_ns: 1234.5,
        min_ns: 7,
        max_ns: u64::MAX,
        stddev_ns: None,
        p95_ns: 2000.0,
        kernel_time_fraction: Some(0.25),
        span_fraction: Some(0.125),
        grid: Some([128, 2, 1]),
        block: Some([256, 1, 1]),
        registers_per_thread: Some(40),
        shared_memory_bytes: Some(49_152),
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
            median_ns: 500.0,
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
            median_ns: 2.0,
            min_ns: 1,
            max_ns: 3,
            stddev_ns: Some(0.5),
        }],
        ranges: None,
        iterations: None,
        launches: None,
        idle_causes: None,
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
    summary.inductor = None;
    summary
}
