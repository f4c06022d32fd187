//! Whole traces, in every layout, and damaged ones.

use std::io::{Cursor, Write as _};
use std::path::Path;

use super::*;
use crate::trace::{
    Entry, KernelsBy, Kind, Log, Options, Reach, Selection, Summary, categories::Categories, summarize,
};

mod operators;
mod steps;

fn source(text: &[u8], plain: Option<Arc<File>>) -> Source<'_> {
    let capture = Capture { path: "t.json".to_owned(), format: "kineto", ..Capture::default() };
    let bytes = Box::new(Cursor::new(text.to_vec()));
    Source { file: Path::new("t.json"), path: "t.json", bytes, plain, capture }
}

fn read_steps(text: &[u8], step: usize) -> Result<(Trace, Capture)> {
    let mut trace = Trace::default();
    let capture = read_grains(source(text, None), &mut trace, &|| false, Grain { step, ..Grain::default() })?;
    Ok((trace, capture))
}

fn read_pieces(text: &[u8], piece: u64) -> Result<(Trace, Capture)> {
    let mut trace = Trace::default();
    let mut file = tempfile::tempfile().expect("a file");
    file.write_all(text).expect("a disk");
    let grain = Grain { step: 64, piece };
    let capture = read_grains(source(text, Some(Arc::new(file))), &mut trace, &|| false, grain)?;
    Ok((trace, capture))
}

fn summary_of(trace: &Trace) -> Summary {
    let categories = Categories::with_rules("").expect("rules");
    summarize(
        trace,
        &Options {
            selection: Selection::default(),
            kernels_by: KernelsBy::Device,
            categories: &categories,
            inductor: None,
            iteration_range: None,
            data_loaders: Vec::new(),
            sequence_length: None,
            plot_data: false,
        },
    )
}

fn read(text: &str) -> (Summary, Capture) {
    let (trace, capture) = read_steps(text.as_bytes(), text::STEP).expect("a trace");
    (summary_of(&trace), capture)
}

fn kernel(name: &str, start: &str, duration: &str) -> String {
    format!(
        r#"{{"ph": "X", "cat": "kernel", "name": "{name}", "pid": 0, "tid": 7, "ts": {start}, "dur": {duration},
            "args": {{"device": 0, "stream": 7, "correlation": 3, "grid": [1, 2, 3], "block": [32, 1, 1]}}}}"#
    )
}

fn document(events: &[String]) -> String {
    format!(
        r#"{{"schemaVersion": 1, "deviceProperties": [{{"id": 0, "name": "GPU \"A\""}}], "traceEvents": [
  {}
], "traceName": "x"}}"#,
        events.join(",\n  ")
    )
}

/// Three kernels and what else is in a trace.
fn ordinary() -> Vec<String> {
    vec![
        r#"{"ph": "M", "name": "process_name", "pid": 0, "args": {"name": "python"}}"#.to_owned(),
        kernel("one", "10.5", "2"),
        r#"{"ph": "X", "cat": "cpu_op", "name": "op }, {", "pid": 9, "ts": 1, "dur": 50, "args": {"stream": 7}}"#
            .to_owned(),
        r#"{"ph": "X", "cat": "cuda_runtime", "name": "cudaLaunchKernel", "pid": 9, "tid": 9, "ts": 1, "dur": 1.001,
            "args": {"cbid": 211, "correlation": 3}}"#
            .to_owned(),
        kernel("two", "11", "3.001"),
        kernel("one", "20", "1"),
    ]
}

fn counts(text: &str) -> (u64, u64, Vec<(String, u64)>) {
    let (summary, capture) = read(text);
    let mut kernels: Vec<(String, u64)> =
        summary.kernels.into_iter().map(|row| (row.name.to_string(), row.count)).collect();
    kernels.sort();
    (capture.events_read, capture.events_skipped, kernels)
}

fn named(kernels: &[(&str, u64)]) -> Vec<(String, u64)> {
    kernels.iter().map(|&(name, count)| (name.to_owned(), count)).collect()
}

#[test]
fn keys_and_categories_may_have_escapes() {
    let plain = document(&ordinary());
    for (text, escaped) in [
        (r#""dur""#, r#""d\u0075r""#),
        (r#""ts""#, r#""\u0074s""#),
        (r#""cat""#, r#""c\u0061t""#),
        (r#""name""#, r#""nam\u0065""#),
        (r#""stream""#, r#""str\u0065am""#),
        (r#""correlation""#, r#""c\u006frrelation""#),
        (r#""args""#, r#""\u0061rgs""#),
        (r#""ph": "X""#, r#""ph": "\u0058""#),
        (r#""kernel""#, r#""k\u0065rnel""#),
        (r#""cuda_runtime""#, r#""cuda\u005fruntime""#),
        (r#""cpu_op""#, r#""cpu\u005fop""#),
    ] {
        let other = plain.replace(text, escaped);
        assert_ne!(other, plain);
        let (found, whole) = (read(&other), read(&plain));
        assert_eq!(counts(&other), counts(&plain), "{escaped}");
        assert_eq!(found.0.devices, whole.0.devices, "{escaped}");
        assert_eq!(found.0.api_calls, whole.0.api_calls, "{escaped}");
    }
}

/// Other programs write pairs: they vanished without a word.
#[test]
fn counts_what_begins_and_ends_in_two_events() {
    for begin in ["\"ph\": \"B\"", "\"ph\": \"\\u0042\""] {
        let halves =
            |event: &String| [event.replacen("\"ph\": \"X\"", begin, 1), r#"{"ph": "E", "ts": 90}"#.to_owned()];
        let events: Vec<_> = ordinary().iter().flat_map(halves).chain(ordinary()).collect();
        let (summary, capture) = read(&document(&events));
        let whole = read(&document(&ordinary())).0;
        assert_eq!((capture.events_read, capture.events_skipped), (14, 4));
        assert_eq!(capture.skipped[0].reason, "begin and end are two events");
        assert_eq!((summary.kernels, summary.api_calls), (whole.kernels, whole.api_calls));
    }
}

#[test]
fn reads_an_ordinary_trace() {
    let (summary, capture) = read(&document(&ordinary()));
    assert_eq!((capture.events_read, capture.events_skipped), (6, 0));
    assert_eq!(capture.format_version.as_deref(), Some("1"));
    let [device] = summary.devices.as_slice() else { panic!("one device") };
    assert_eq!((device.process_id, device.device_id, device.name.as_deref()), (Some(9), Some(0), Some("GPU \"A\"")));
    assert_eq!((device.start_ns, device.end_ns), (10_500, 21_000));
    assert_eq!((device.busy_ns, device.overlap_ns, device.idle_ns), (4_501, 1_500, 5_999));
    assert_eq!(summary.kernels[0].grid, Some([1, 2, 3]));
    assert_eq!(summary.api_calls[0].total_ns, 1_001);
    assert!(summary.warnings.is_empty());
}

#[test]
fn reads_launches_and_what_was_named() {
    let named = |category: &str, name: &str, process: i64| {
        format!(
            r#"{{"ph": "X", "cat": "{category}", "name": "{name}", "pid": {process}, "tid": {process}, "ts": 2, "dur": 3}}"#
        )
    };
    let mut events = ordinary();
    events.extend([
        named("user_annotation", "mine", 9),
        named("user_annotation", "## forward ##", 9),
        named("user_annotation", "ProfilerStep#1", 77),
        named("Operator", "enumerate(DataLoader)#x", 9),
        named("cpu_op", "aten::mm", 9),
        named("gpu_user_annotation", "mine", 0),
    ]);
    let (trace, capture) = read_steps(document(&events).as_bytes(), text::STEP).expect("a trace");
    assert_eq!((capture.events_read, capture.events_skipped), (12, 0));
    let found: Vec<_> = trace
        .ranges
        .iter()
        .map(|range| {
            let label = &trace.labels.all()[range.label as usize];
            assert_eq!((range.start, range.end, label.process_id), (2_000, Some(5_000), Some(9)));
            (trace.names.text(label.name), label.reach)
        })
        .collect();
    let main = Reach::Thread(Some(9));
    let expected = [("mine", main), ("## forward ##", Reach::Process), ("ProfilerStep#1", main)];
    assert_eq!(found, [expected.as_slice(), &[("enumerate(DataLoader)#x", main)]].concat());
    let correlations = |log: &Log| log.iter().map(|entry| entry.correlation).collect::<Vec<_>>();
    assert_eq!((correlations(&trace.calls), correlations(&trace.kernels)), (vec![3], vec![3, 3, 3]));
    assert_eq!(summary_of(&trace).launches.matched_count, 3);
}

#[test]
fn what_came_before_makes_no_difference() {
    let call = |thread: &str| {
        format!(
            r#"{{"ph": "X", "cat": "cuda_runtime", "name": "cudaLaunchKernel", "pid": 9, "tid": {thread}, "ts": 2, "dur": 3, "args": {{"correlation": 4}}}}"#
        )
    };
    // The last of several names counts, in front of what repeats its beginning and behind it.
    let events = [
        call(r#"7, "name": "cudaFree""#),
        call("7"),
        call("7"),
        call("70"),
        call(r#"7, "name": "cudaFree""#),
        call("7").replace(r#""ph": "X""#, r#""ph":  "X""#),
        call("7").replace('X', "i"),
        call("7").replace("cuda_runtime", "cpu_op").replace("cudaLaunchKernel", "aten::mm"),
        call("7").replace("cuda_runtime", "cpu_op").replace("cudaLaunchKernel", "ProfilerStep#1"),
        call("7"),
    ];
    let (trace, capture) = read_steps(document(&events).as_bytes(), text::STEP).expect("a trace");
    let called = |call: Entry| {
        let callee = trace.callees.all()[call.what as usize];
        (trace.names.text(callee.name), callee.thread_id, call.correlation)
    };
    let launch = |thread| ("cudaLaunchKernel", Some(thread), 4);
    let freed = ("cudaFree", Some(7), 4);
    let expected = [freed, launch(7), launch(7), launch(70), freed, launch(7), launch(7)];
    assert_eq!(trace.calls.iter().map(called).collect::<Vec<_>>(), expected);
    assert_eq!((capture.events_read, trace.ranges.len()), (10, 1));
}

#[test]
fn shapes_are_those_of_their_own_arguments() {
    let kernel = |correlation: u64, end: &str| {
        format!(
            r#"{{"ph": "X", "cat": "kernel", "name": "a name with some letters", "pid": 0, "tid": 7, "ts": 2, "dur": 3, "args": {{"device": 0, "stream": 7, "correlation": {correlation}, "registers per thread": 8, "shared memory": 0, {end}}}}}"#
        )
    };
    let usual = r#""grid": [1, 2, 3], "block": [4, 5, 6]"#;
    let more =
        [r#", "device": 5"#, r#", "grid": [9, 9, 9]"#, r#", "correlation": 70"#].map(|more| format!("{usual}{more}"));
    let ends = [usual, usual, &usual.replace('3', "30"), &more[0], &more[1], &more[2], &more[2], usual];
    let events: Vec<String> = (1..).zip(ends).map(|(correlation, end)| kernel(correlation, end)).collect();
    let (trace, _) = read_steps(document(&events).as_bytes(), text::STEP).expect("a trace");
    let found = trace.kernels.iter().map(|entry| {
        let work = trace.works.all()[entry.what as usize];
        let Kind::Kernel(_, shape) = work.kind else { panic!("a kernel") };
        assert_eq!((shape.block, shape.registers_per_thread), (Some([4, 5, 6]), Some(8)));
        (entry.correlation, trace.devices[work.queue.device as usize].device_id, shape.grid.map(|[x, _, z]| [x, z]))
    });
    let of = |correlation, device, grid| (correlation, Some(device), Some(grid));
    let expected = [
        of(1, 0, [1, 3]),
        of(2, 0, [1, 3]),
        of(3, 0, [1, 30]),
        of(4, 5, [1, 3]),
        of(5, 0, [9, 9]),
        of(70, 0, [1, 3]),
        of(70, 0, [1, 3]),
        of(8, 0, [1, 3]),
    ];
    assert_eq!(found.collect::<Vec<_>>(), expected);
}

#[test]
fn takes_every_layout() {
    let events = ordinary();
    let list = format!("[{}]", events.join(","));
    let open_list = format!("[{},\n", events.join(","));
    let late = format!(
        r#"{{"traceEvents":[{}],"deviceProperties":[{{"id":0,"name":"A"}}],"schemaVersion":1}}"#,
        events.join(",")
    );
    let loose = document(&events).replace(": ", " :\n\n ").replace(", \"dur\"", "\n\n   , \"dur\"");
    let marked = format!("\u{feff}{}", document(&events));
    let expected = (6, 0, named(&[("one", 2), ("two", 1)]));
    for text in [list, open_list, late, loose, marked] {
        assert_eq!(counts(&text), expected, "{text}");
    }
}

#[test]
fn loses_one_event_for_one_fault() {
    let faults: [(&str, &str); 9] = [
        ("a stray quote", r#"{"ph": "X", "name": "fo"o", "cat": "cpu_op", "args": {"x": 1}}"#),
        ("two stray quotes", r#"{"ph": "X", "name": "f "o" o", "cat": "cpu_op", "args": {"x": "}"}}"#),
        ("a missing quote", r#"{"ph": "X", "name": "foo, "cat": "cpu_op", "ts": 1}"#),
        ("a missing colon", r#"{"ph" "X"}"#),
        ("a missing brace inside", r#"{"ph": "X", "args": {"x": [1, 2}, "ts": 3}"#),
        ("a bare word", r#"{"ph": X, "ts": 3}"#),
        ("no object", r#""text""#),
        ("a number out of range", r#"{"ph": "X", "cat": "kernel", "name": "n", "ts": 99999999999999999999, "dur": 1}"#),
        ("no duration", r#"{"ph": "X", "cat": "kernel", "name": "n", "ts": 9}"#),
    ];
    for (what, fault) in faults {
        for place in 0..=6 {
            let mut events = ordinary();
            events.insert(place, fault.to_owned());
            assert_eq!(counts(&document(&events)), (6, 1, named(&[("one", 2), ("two", 1)])), "{what} at {place}");
        }
    }
}

#[test]
fn reads_a_cut_file_as_far_as_it_goes() {
    let text = document(&ordinary());
    let events = text.find("traceEvents").expect("events") + 15;
    for cut in events..text.len() - 1 {
        let (trace, capture) = read_steps(&text.as_bytes()[..cut], text::STEP).expect("a trace");
        assert!(capture.events_skipped <= 1 && capture.events_read + capture.events_skipped <= 6, "cut at {cut}");
        assert_eq!(trace.warnings.iter().filter(|one| one.code == "capture_incomplete").count(), 1, "cut at {cut}");
    }
}

#[test]
fn many_devices_and_streams_take_their_time_once() {
    let at = |place: i64, device: i64, stream: i64| {
        let start = place.to_string();
        kernel("k", &start, "1")
            .replace("\"device\": 0", &format!("\"device\": {device}"))
            .replace("\"stream\": 7", &format!("\"stream\": {stream}"))
    };
    // Compared each with each, these would take minutes.
    let count = 50_000;
    let events: Vec<String> = (0..count).map(|place| at(place, place, 7)).collect();
    let (trace, _) = read_pieces(document(&events).as_bytes(), 1 << 20).expect("a trace");
    let summary = summary_of(&trace);
    assert_eq!((summary.devices.len(), summary.streams.len()), (50_000, 50_000));
    assert_eq!(summary.devices[0].name.as_deref(), Some("GPU \"A\""));
    let events: Vec<String> = (0..count).map(|place| at(place, 0, place)).collect();
    let summary = read(&document(&events)).0;
    assert_eq!((summary.devices.len(), summary.streams.len()), (1, 50_000));
}

#[test]
fn reads_many_lists_as_it_reads_one() {
    let text = format!("{{{}}}", vec![format!(r#""traceEvents": [{}]"#, kernel("one", "1", "1")); 20_000].join(","));
    let (_, capture) = read_pieces(text.as_bytes(), 1000).expect("a trace");
    assert_eq!((capture.events_read, capture.events_skipped), (20_000, 0));
}
