//! Every format and view of a summary, with names that try to break out of each.

mod check;
mod sample;

use fastrnns_rs::error::Error;
use fastrnns_rs::report::summary::{Names, Options, VIEWS, View, render};
use fastrnns_rs::trace::Summary;
use proptest::prelude::*;
use serde_json::Value;

use self::check::check;
use self::sample::{HOSTILE, empty, summary_of};

fn shown(summary: &Summary, format: &str, options: Options) -> String {
    render(summary, format, &options).expect("the format exists")
}

fn by(view: View) -> Options {
    Options { view, ..Options::default() }
}

#[test]
fn hostile_names_break_nothing() {
    let long = "x".repeat(10_000);
    let names: Vec<&str> = HOSTILE.into_iter().chain([long.as_str()]).collect();
    for turn in 0..names.len() {
        let mut turned = names.clone();
        turned.rotate_left(turn);
        check(&summary_of(&turned));
    }
}

#[test]
fn an_empty_summary_says_so() {
    check(&empty());
    for format in ["table", "markdown"] {
        assert_eq!(shown(&empty(), format, Options::default()), "no device operations\n");
        assert_eq!(shown(&empty(), format, by(View::Inductor)), "no figures of Inductor\n");
        for view in VIEWS {
            assert!(shown(&empty(), format, by(view.value)).starts_with("no "), "{}", view.name);
        }
    }
    assert_eq!(shown(&empty(), "csv", by(View::Stream)), "device_id,stream_id,busy_ns,total_ns,kernel_count\n");
}

#[test]
fn the_overview_tells_warnings_first() {
    let mut summary = summary_of(&["gemm", "relu"]);
    summary.captures[0].path = "a.json".to_owned();
    let text = shown(&summary, "table", Options::default());
    let order = [
        "warning: relu\n  seen: gemm\n  hint: relu\n",
        "\nCaptures\n",
        "\nWhere the time went\n",
        "\nWhy it was idle\n",
        "\nlaunches: ",
        "\nRanges\n",
        "\nIterations\n",
        "\noutliers: ",
        "\ncuDNN: ",
        "\nRanks\n",
        "\nCategories\n",
        "\nKernels\n",
        "\nMemory operations\n",
    ];
    let places: Vec<_> =
        order.iter().map(|part| text.find(part).unwrap_or_else(|| panic!("{part} in {text}"))).collect();
    assert!(places.is_sorted(), "{text}");
    assert!(text.contains("   10.00     8.000    80.00     2.000    20.00       0.5000"), "{text}");
}

#[test]
fn the_overview_says_why() {
    let summary = summary_of(&["gemm"]);
    let text = shown(&summary, "table", Options::default());
    for line in [
        "share, %  total, ms  count  cause   meanwhile\n",
        "   75.00      1.500      7  host    the host had not launched anything: Python, the framework\n",
        "   25.00     0.5000      7  launch  the call that launched what came next was under way\n",
        "launches: 50 of 52 kernels matched with their launch; from the launch to the kernel 0.004100 ms (median; p95 \
         0.009000), in the queue 0 ms (median; p95 0.01200)\n",
        "            5.000              1.000       26      3     6.000  gemm\n",
        "outliers: 1 of 3 iterations of gemm; the farthest, iteration 2, took 9.000 ms, the median 1.000 ms: gemm +7.500 \
         ms, layout -0.2500 ms\n",
        "cuDNN: gemm\n",
        "   1     10.00     8.000             1.250       26        4.250  yes      gemm\n",
    ] {
        assert!(text.contains(line), "{line} in {text}");
    }
    let markdown = shown(&summary, "markdown", Options::default());
    assert!(markdown.contains("\n- launches: `50 of 52 kernels"), "{markdown}");
    assert!(markdown.contains("| 75.00 | 1.500 | 7 | `host` |"), "{markdown}");
}

/// Nothing is said of what a capture does not tell.
#[test]
fn the_overview_leaves_out_what_is_empty() {
    let mut summary = summary_of(&["gemm"]);
    let full = shown(&summary, "table", Options::default());
    summary.ranges.clear();
    summary.iteration_statistics.clear();
    summary.launches = fastrnns_rs::trace::Launches::default();
    summary.idle_causes.clear();
    summary.cudnn_rnn.clear();
    summary.ranks.clear();
    summary.metrics.clear();
    let text = shown(&summary, "table", Options::default());
    for part in ["Why it was idle", "launches: ", "Ranges", "Iterations", "outliers: ", "cuDNN: ", "Ranks"] {
        assert!(full.contains(part) && !text.contains(part), "{part} in {text}");
    }
    assert!(!text.contains("no device operations") && !text.contains("\n\n\n"), "{text}");
    // Ranges may be all there is, as on a CPU.
    let mut host = empty();
    host.ranges = summary_of(&["gemm"]).ranges;
    let text = shown(&host, "table", Options::default());
    assert!(text.starts_with("no device operations\n\nRanges\n"), "{text}");
}

#[test]
fn iterations_come_after_their_statistics() {
    let mut summary = summary_of(&["gemm"]);
    let text = shown(&summary, "table", by(View::Iteration));
    let order = ["Statistics of iterations\n", "\noutliers: 1 of 3", "\nIterations\n"];
    let places: Vec<_> =
        order.iter().map(|part| text.find(part).unwrap_or_else(|| panic!("{part} in {text}"))).collect();
    assert!(places.is_sorted(), "{text}");
    let rows: Vec<_> = text.rsplit("\nIterations\n").next().unwrap_or_default().lines().collect();
    assert_eq!(rows.len(), 4, "{text}");
    assert!(rows[3].contains("yes") && rows[3].ends_with("gemm +7.500 ms, layout -0.2500 ms"), "{text}");
    assert!(!rows[1].contains("yes") && !rows[1].contains('"'), "{text}");
    // Of all differences programs get all, people the three largest.
    let more = std::iter::repeat_n(summary.iterations[2].differences[0].clone(), 5);
    summary.iterations[2].differences.extend(more);
    assert_eq!(shown(&summary, "csv", by(View::Iteration)).matches("gemm:7500000").count(), 6);
    assert_eq!(shown(&summary, "table", by(View::Iteration)).matches("gemm +7.500 ms").count(), 4);
}

#[test]
fn shares_of_idle_time_are_those_of_the_device() {
    let mut summary = summary_of(&["gemm"]);
    summary.devices.push(summary.devices[0].clone());
    let mut other = summary.idle_causes[0].clone();
    (other.device_id, other.total_ns) = (Some(1), 0);
    summary.idle_causes.push(other);
    for text in [shown(&summary, "table", by(View::Idle)), shown(&summary, "table", Options::default())] {
        assert!(text.contains("   25.00     0.5000      7       0  launch"), "{text}");
        assert!(text.contains("       -          0      7       1  host"), "{text}");
    }
}

#[test]
fn lines_of_a_table_are_aligned_and_no_wider_than_the_terminal() {
    let names = ["漢字カーネル".repeat(30), "e\u{301}".repeat(200), "void kernel<float, 4>(int)".repeat(9)];
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    let summary = summary_of(&names);
    let text = shown(&summary, "table", Options { width: Some(80), ..Options::default() });
    let width = |line: &str| unicode_width(line);
    let (_, kernels) = text.split_once("\nKernels\n").expect("there are kernels");
    let rows: Vec<&str> = kernels.lines().take_while(|line| !line.is_empty()).collect();
    assert_eq!(rows.len(), 4);
    for row in &rows {
        assert!(width(row) <= 80, "{row}");
        assert_eq!(row.contains('…'), !row.contains("name"), "{row}");
    }
    let wide = shown(&summary, "table", by(View::Kernel));
    assert!(names.iter().all(|name| wide.contains(name)), "{wide}");
}

/// Wide characters take two columns, marks none.
fn unicode_width(text: &str) -> usize {
    let wide = |c: char| matches!(c, '\u{3000}'..='\u{9fff}');
    text.chars().map(|c| if c == '\u{301}' { 0 } else { 1 + usize::from(wide(c)) }).sum()
}

#[test]
fn rows_beyond_the_top_are_added_up() {
    let names: Vec<String> = (0..15).map(|index| format!("kernel_{index}")).collect();
    let summary = summary_of(&names.iter().map(String::as_str).collect::<Vec<_>>());
    // The last five: 1.1 to 1.5 ms, a quarter and four runs each.
    let rest = "… 5 more: share 125.00 %, total 6.500 ms, count 20\n";
    assert!(shown(&summary, "table", Options::default()).contains(rest));
    assert!(shown(&summary, "table", Options { top: Some(10), ..by(View::Kernel) }).ends_with(rest));
    assert!(!shown(&summary, "table", by(View::Kernel)).contains("more"));
    let csv = |top| shown(&summary, "csv", Options { top, ..Options::default() }).lines().count();
    assert_eq!((csv(None), csv(Some(2))), (16, 3));
}

#[test]
fn each_view_has_its_columns() {
    let summary = summary_of(&["gemm"]);
    let heading =
        |view| shown(&summary, "table", by(view)).lines().find(|line| line.contains(", ms")).map(str::to_owned);
    let kernel = heading(View::Kernel).expect("kernels have times");
    let headings: Vec<_> = kernel.split("  ").map(str::trim).filter(|heading| !heading.is_empty()).collect();
    let expected = [
        "share, %",
        "total, ms",
        "count",
        "mean, ms",
        "median, ms",
        "min, ms",
        "max, ms",
        "stddev, ms",
        "p95, ms",
        "device",
        "category",
        "name",
    ];
    assert_eq!(headings, expected);
    let shape = shown(&summary, "table", by(View::LaunchShape));
    for text in ["grid", "block", "registers per thread", "shared memory", "128x2x1", "256x1x1", "49.15 kB"] {
        assert!(shape.contains(text) && !kernel.contains(text), "{text}: {shape}");
    }
    let inductor = shown(&summary, "table", by(View::Inductor));
    assert!(inductor.contains("tabulate: gemm\n") && inductor.contains("Inductor's categories\n"), "{inductor}");
}

#[test]
fn csv_has_every_digit_and_the_keys_of_the_document() {
    let summary = summary_of(&["a", "b", "=c"]);
    let document = serde_json::to_value(&summary).expect("it is a document");
    let lists = [
        (View::Kernel, "kernels"),
        (View::Category, "categories"),
        (View::Device, "devices"),
        (View::Stream, "streams"),
        (View::Api, "api_calls"),
        (View::Memory, "memory_operations"),
        (View::Range, "ranges"),
        (View::Iteration, "iterations"),
        (View::Idle, "idle_causes"),
        (View::CudnnRnn, "cudnn_rnn"),
        (View::Rank, "ranks"),
        (View::Metric, "metrics"),
        (View::Launch, "launches"),
    ];
    for (view, list) in lists {
        let text = shown(&summary, "csv", by(view));
        let mut reader = csv::Reader::from_reader(text.as_bytes());
        let headers = reader.headers().expect("there are headings").clone();
        // Launches are one for the whole.
        let one = [document[list].clone()];
        let rows = document[list].as_array().map_or(&one[..], Vec::as_slice);
        assert_eq!(headers.len(), rows[0].as_object().expect("rows are objects").len(), "{list}");
        for (record, row) in reader.records().zip(rows) {
            let record = record.expect("rows are complete");
            for (key, field) in headers.iter().zip(&record) {
                match &row[key] {
                    Value::Null => assert_eq!(field, "", "{list} {key}"),
                    Value::Number(number) => assert_eq!(field.parse::<f64>().ok(), number.as_f64(), "{list} {key}"),
                    Value::String(text) => assert_eq!(field.trim_start_matches('\''), text, "{list} {key}"),
                    Value::Bool(flag) => assert_eq!(field, flag.to_string(), "{list} {key}"),
                    Value::Array(rows) if key == "differences" => assert_eq!(field, differences(rows), "{list}"),
                    Value::Array(shape) => {
                        let shape: Vec<_> = shape.iter().map(Value::to_string).collect();
                        assert_eq!(field, shape.join("x"));
                    }
                    Value::Object(_) => panic!("{list} {key} is an object"),
                }
            }
        }
    }
    assert!(shown(&summary, "csv", by(View::Kernel)).contains(",18446744073709551615,"));
}

fn differences(rows: &[Value]) -> String {
    let row = |row: &Value| format!("{}:{}", row["category"].as_str().unwrap_or_default(), row["delta_ns"]);
    rows.iter().map(row).collect::<Vec<_>>().join(" ")
}

#[test]
fn a_kernel_goes_by_the_name_that_was_asked_for() {
    let mut summary = summary_of(&["a long name of a kernel"]);
    let named = |summary: &Summary, names| shown(summary, "table", Options { names, ..by(View::Kernel) });
    assert!(named(&summary, Names::Full).ends_with("  a long name of a kernel\n"));
    assert!(named(&summary, Names::Short).ends_with("  a long na\n"));
    assert!(named(&summary, Names::Mangled).ends_with("  _Za long name of a kernel\n"));
    summary.kernels[0].mangled_name = None;
    assert!(named(&summary, Names::Mangled).ends_with("  a long name of a kernel\n"));
}

#[test]
fn a_format_that_does_not_exist_is_named() {
    let outcome = render(&empty(), "yaml", &Options::default());
    assert_eq!(outcome, Err(Error::UnknownFormat { name: "yaml".to_owned() }));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn no_name_breaks_a_format(names in prop::collection::vec("[\\\\|`\"'=+@<>*_ \\n\\r\\t\u{1b}\u{9b}a]{0,12}|\\PC{0,20}|.{0,8}", 1..5)) {
        check(&summary_of(&names.iter().map(String::as_str).collect::<Vec<_>>()));
    }
}
