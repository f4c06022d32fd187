//! Small files, as nvprof prints them and as other programs change them.

use std::cell::Cell;
use std::io::{self, Cursor, Read as _};
use std::path::Path;

use super::*;
use crate::trace::categories::Categories;
use crate::trace::{Options, summarize};

const BANNER: &str = "======== Profiling result:\n";
const HEADER: &str = "\"Start\",\"Duration\",\"Device\",\"Stream\",\"Name\",\"Correlation_ID\"\n";
const UNITS: &str = "us,us,,,,\n";
const ROWS: &str = "0,10.5,\"A (0)\",\"13\",\"k\",6\n20,3,\"A (0)\",\"13\",\"k\",7\n";

fn read_text(text: &str) -> Result<(Trace, Capture)> {
    let mut trace = Trace::default();
    let capture = Capture { path: "t.csv".to_owned(), format: "nvprof-csv", ..Capture::default() };
    let bytes = Box::new(Cursor::new(text.as_bytes().to_vec()));
    let source = Source { file: Path::new("t.csv"), path: "t.csv", bytes, plain: None, capture };
    let capture = read(source, &mut trace, &|| false)?;
    Ok((trace, capture))
}

fn counts(text: &str) -> (u64, Vec<(String, u64)>) {
    let (trace, capture) = read_text(text).expect("a capture");
    (trace.kernels.len(), capture.skipped.into_iter().map(|skipped| (skipped.reason, skipped.count)).collect())
}

fn reason(text: &str) -> String {
    match read_text(text) {
        Err(Error::NotACapture { reason, hint, .. }) => {
            assert!(hint.contains("--csv"), "{hint}");
            reason
        }
        other => panic!("not refused: {other:?}"),
    }
}

#[test]
fn an_endless_line_can_be_interrupted() {
    let mut trace = Trace::default();
    let bytes = Box::new(BANNER.as_bytes().chain(io::repeat(0)));
    let source = Source { file: Path::new("t"), path: "t", bytes, plain: None, capture: Capture::default() };
    let checks = Cell::new(0);
    let interrupted = || checks.replace(checks.get() + 1) > 0;
    assert!(matches!(read(source, &mut trace, &interrupted), Err(Error::Interrupted)));
    assert_eq!(checks.get(), 2);
}

#[test]
fn rows_that_no_header_explains_are_not_an_empty_result() {
    let table = format!("{BANNER}{HEADER}{UNITS}{ROWS}");
    assert_eq!(counts(&table), (2, vec![]));
    assert_eq!(counts(&table.replace('\n', "\r\n")), (2, vec![]));
    let warned = format!("======== Warning: Found 3 invalid records in the result.\n{}", table.replace(',', ";"));
    for text in [warned, table.replace(',', ";"), table.replace(',', "\t"), table.replace('\n', "\r")] {
        assert!(matches(text.as_bytes()), "{text}");
        assert!(reason(&text).contains("no known header"), "{text}");
    }
    // Rows that look like rows are counted one by one.
    let other = table.replace("Start", "Begin");
    assert_eq!(counts(&other), (0, vec![("row without a known header".to_owned(), 3)]));
}

#[test]
fn a_file_that_ends_inside_a_row_is_incomplete() {
    let text = format!("{BANNER}{HEADER}{UNITS}{ROWS}");
    let rows = BANNER.len() + HEADER.len();
    let messages = |length: usize| -> Vec<String> {
        let (trace, _) = read_text(&text[..length]).expect("a capture");
        trace.warnings.into_iter().map(|warning| warning.message).collect()
    };
    let last = text.rfind("20,3").expect("a row");
    for length in last + 1..text.rfind(',').expect("a comma") + 2 {
        assert_eq!(messages(length), [format!("events after byte {last} are missing")], "{length}");
    }
    // The row of units, too, is a part of the table.
    assert_eq!(messages(rows + 3), [format!("events after byte {rows} are missing")]);
    // Only the end of its line may be missing.
    for length in [text.len() - 1, text.len(), last] {
        assert!(messages(length).is_empty(), "{length}");
    }
}

#[test]
fn an_empty_result_is_one() {
    for text in [
        BANNER.to_owned(),
        format!("{BANNER}No kernels were profiled.\nthe program goes on\n"),
        format!("{BANNER}==7== No kernels were profiled.\n"),
        format!("{BANNER}==7== API calls:\nNo API activities were profiled.\n"),
        "==7== Unified Memory profiling result:\n   Count  Avg Size\n".to_owned(),
    ] {
        assert_eq!(counts(&text), (0, vec![]), "{text}");
    }
    // Other output of the program, in front of a table.
    assert_eq!(counts(&format!("{BANNER}epoch 1\n{HEADER}{UNITS}{ROWS}\nbye\n")), (2, vec![]));
}

#[test]
fn rows_without_a_duration_are_counted() {
    let rows = "0,,\"A (0)\",\"13\",\"k\",6\n1,,\"A (0)\",\"13\",\"[CUDA memcpy HtoD]\",6\n\
                2,,,,\"[Marker] m\",\n3,,,,\"[Range start] r\",\n4,,,,\"[Unified Memory CPU page faults]\",\n";
    let text = format!("{BANNER}{HEADER}{UNITS}{ROWS}{rows}");
    assert_eq!(counts(&text), (2, vec![("no duration".to_owned(), 2)]));
}

#[test]
fn operations_of_more_than_a_week_are_counted() {
    let rows = "5,9e14,\"A (0)\",\"13\",\"k\",6\n";
    let text = format!("{BANNER}{HEADER}{UNITS}{ROWS}{rows}");
    assert_eq!(counts(&text), (2, vec![("a duration of more than a week".to_owned(), 1)]));
}

#[test]
fn records_that_nvprof_left_out_are_counted() {
    let text = format!("======== Warning: Found 3 invalid records in the result.\n{BANNER}{HEADER}{UNITS}{ROWS}");
    for text in [format!("\u{feff}{text}"), text] {
        assert!(matches(text.as_bytes()), "{text}");
        assert_eq!(counts(&text), (2, vec![("invalid record of the profile".to_owned(), 3)]));
    }
}

/// Sums of them, each rounded or cut apart, contradicted each other.
#[test]
fn counts_and_sizes_that_no_run_has_are_skipped() {
    let summary = "\"Type\",\"Time(%)\",\"Time\",\"Calls\",\"Avg\",\"Min\",\"Max\",\"Name\"\n,%,ns,,ns,ns,ns,\n\
                   \"GPU activities\",50,10,COUNT,0,0,10,\"k\"\n";
    let trace = "\"Start\",\"Duration\",\"Device\",\"Stream\",\"Size\",\"Name\"\nus,us,,,B,\n\
                 0,1,\"A (0)\",\"13\",COUNT,\"[CUDA memcpy HtoD]\"\n";
    let metrics = "\"Device\",\"Kernel\",\"Invocations\",\"Event Name\",\"Min\",\"Max\",\"Avg\"\n\
                   \"A (0)\",\"k\",COUNT,\"e\",1,1,1\n";
    for table in [summary, trace, metrics] {
        for (count, skipped) in
            [(1_u64 << 53, vec![]), ((1 << 53) + 1, vec![("a count or size above 2⁵³".to_owned(), 1)])]
        {
            assert_eq!(counts(&format!("{BANNER}{}", table.replace("COUNT", &count.to_string()))).1, skipped);
        }
    }
}

#[test]
fn metrics_of_too_many_columns_are_skipped() {
    for (columns, skipped) in [(1_000, vec![]), (1_001, vec![("more than 1,000 columns of metrics".to_owned(), 2)])] {
        let header = format!("\"Device\",\"Context\",\"Stream\",\"Kernel\"{}\n", ",\"m\"".repeat(columns));
        let row = format!("\"A (0)\",1,7,\"k\"{}\n", ",1".repeat(columns));
        let (trace, _) = read_text(&format!("{BANNER}{header}{row}{row}")).expect("a capture");
        assert_eq!(trace.metrics.len(), if skipped.is_empty() { columns } else { 0 });
        assert_eq!(counts(&format!("{BANNER}{header}{row}{row}")).1, skipped);
    }
}

#[test]
fn no_file_makes_metrics_without_end() {
    let names = (0..1_000).map(|place| format!(",\"metric {place}\"")).collect::<Vec<_>>().concat();
    let header = format!("\"Device\",\"Context\",\"Stream\",\"Kernel\"{names}\n");
    let rows =
        (0..1_001).chain([0]).map(|kernel| format!("\"A (0)\",\"1\",\"7\",\"k{kernel}\"{}\n", ",1".repeat(1_000)));
    let (trace, capture) = read_text(&format!("{BANNER}{header}{}", rows.collect::<String>())).expect("a capture");
    assert_eq!(trace.metrics.len(), 1_000_000);
    assert_eq!(trace.metrics[0].invocations, 2);
    let [skipped] = &capture.skipped[..] else { panic!("{:?}", capture.skipped) };
    assert_eq!((skipped.reason.as_str(), skipped.count), ("more than 1,000,000 metrics of kernels", 1));
}

#[test]
fn a_process_that_comes_again_has_its_clock() {
    let tables = [1, 2, 1, 2].map(|process| format!("=={process}== Profiling result:\n{HEADER}{UNITS}{ROWS}\n"));
    let (trace, _) = read_text(&tables.concat()).expect("a capture");
    assert_eq!((trace.clocks.len(), trace.devices.len(), trace.kernels.len()), (2, 2, 8));
}

/// It took minutes.
#[test]
fn many_processes_come_to_their_end() {
    let banners: Vec<String> = (0..300_000).map(|process| format!("=={process}== Profiling result:\n")).collect();
    let text = format!("{}{HEADER}{UNITS}{ROWS}", banners.concat());
    let [mut whole, part] = [0, 1].map(|_| read_text(&text).expect("a capture").0);
    whole.append(part);
    assert_eq!(whole.clocks.len(), 300_000);
    let categories = Categories::built_in();
    assert_eq!(summarize(&whole, &Options::new(&categories)).kernels[0].count, 4);
}

#[test]
fn times_that_no_sum_holds_are_inconsistent() {
    let header = "\"Type\",\"Time(%)\",\"Time\",\"Calls\",\"Avg\",\"Min\",\"Max\",\"Name\"\n,%,ns,,ns,ns,ns,\n";
    let most = u64::MAX;
    let row = format!("\"GPU activities\",50,{most},{most},1,1,{most},\"k\"\n");
    let (trace, capture) = read_text(&format!("{BANNER}{header}{row}")).expect("a capture");
    assert_eq!((trace.totals.len(), capture.events_skipped), (0, 1));
}
