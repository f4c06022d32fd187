//! Every output format, on a run with a sound row, one without a backward, a failed one and one with an odd name.

use fastrnns_rs::report::{FORMATS, Row, Table, render};
use serde_json::{Value, json};

fn phase(mean_ns: f64) -> Value {
    json!({
        "n_processes": 1, "n_samples": 2, "n_effective": null, "estimate_ns": mean_ns, "ci_low_ns": null,
        "ci_high_ns": null, "confidence_level": 0.95, "ci_method": null, "mean_ns": mean_ns, "stddev_ns": 1000.5,
        "min_ns": 1.0, "max_ns": 2.0, "median_ns": mean_ns, "q1_ns": 1.0, "q3_ns": 2.0, "p95_ns": 2.0, "p99_ns": 2.0,
        "mad_ns": 0.5,
    })
}

fn process(forward: &[u64], backward: Option<&[u64]>) -> Value {
    json!({ "steady_from": 1, "forward_ns": forward, "backward_ns": backward })
}

fn run() -> String {
    let mut sound = phase(1_500_000.0);
    sound["ci_low_ns"] = json!(1_400_000.0);
    sound["ci_high_ns"] = json!(1_600_000.0);
    let problem = json!({ "seq_length": 3, "dtype": "float32", "image_size": null });
    let row = |runner: &str,
               group: &str,
               status: &str,
               reason: Option<&str>,
               forward: Value,
               backward: Value,
               processes: Value| {
        json!({
            "runner": runner, "group": group, "status": status, "reason": reason, "note": null, "problem": problem,
            "forward": forward, "backward": backward, "processes": processes,
        })
    };
    let mut odd = row(
        "a \"b\"|c",
        "resnet",
        "ok",
        None,
        phase(2e6),
        phase(4e6),
        json!([process(&[9, 2_000_000], Some(&[9, 4]))]),
    );
    odd["note"] = json!("read me");
    json!({
        "results": [
            row("cudnn", "lstm", "ok", None, sound, phase(3e6), json!([process(&[7, 1_000_000, 2_000_000], Some(&[7, 40, 3_000_000]))])),
            row("cudnn_layernorm", "lstm", "ok", None, phase(2_500_000.0), Value::Null, json!([process(&[7, 2_500_000], None)])),
            row("jit", "lstm", "failed", Some("RuntimeError: a, b"), Value::Null, Value::Null, json!([process(&[7], None)])),
            odd,
            of_a_side(),
        ],
        "a key of a later version": 1,
    })
    .to_string()
}

/// Two processes: their range in place of an interval.
fn of_a_side() -> Value {
    let mut forward = phase(1_500_000.0);
    (forward["n_processes"], forward["n_samples"]) = (json!(2), json!(4));
    (forward["ci_low_ns"], forward["ci_high_ns"]) = (json!(1_400_000.0), json!(1_600_000.0));
    forward["ci_method"] = json!("range");
    json!({
        "runner": "py", "group": "lstm", "status": "ok", "reason": null, "note": null,
        "problem": { "seq_length": 3, "dtype": "float32", "image_size": null }, "forward": forward, "backward": null,
        "processes": [process(&[7, 1_400_000], None), process(&[7, 1_600_000], None)],
        "side": "b", "warmup_class": "no_steady_state", "peak_memory_bytes": 315_097_088_u64,
    })
}

fn rendered(format: &str) -> String {
    render(&run(), format).expect("the run is sound")
}

#[test]
fn oss_is_one_object_of_means_in_milliseconds() {
    assert_eq!(
        rendered("oss"),
        "{\"lstm\": {\"cudnn\": 1.5, \"cudnn_layernorm\": 2.5, \"py (b)\": 1.5}, \"lstm-backward\": {\"cudnn\": 3.0}, \
         \"resnet\": {\"a \\\"b\\\"|c\": 2.0}, \"resnet-backward\": {\"a \\\"b\\\"|c\": 4.0}}\n"
    );
}

#[test]
fn pep_is_a_line_for_each_timed_sample() {
    let expected = [
        r#"Caffe2Observer {"type": "NET", "metric": "lstm-cudnn", "unit": "ms", "value": "1.0"}"#,
        r#"Caffe2Observer {"type": "NET", "metric": "lstm-cudnn", "unit": "ms", "value": "2.0"}"#,
        r#"Caffe2Observer {"type": "NET", "metric": "lstm-cudnn_layernorm", "unit": "ms", "value": "2.5"}"#,
        r#"Caffe2Observer {"type": "NET", "metric": "lstm-py (b)", "unit": "ms", "value": "1.4"}"#,
        r#"Caffe2Observer {"type": "NET", "metric": "lstm-py (b)", "unit": "ms", "value": "1.6"}"#,
        r#"Caffe2Observer {"type": "NET", "metric": "lstm-backward-cudnn", "unit": "ms", "value": "4e-05"}"#,
        r#"Caffe2Observer {"type": "NET", "metric": "lstm-backward-cudnn", "unit": "ms", "value": "3.0"}"#,
        r#"Caffe2Observer {"type": "NET", "metric": "resnet-a \"b\"|c", "unit": "ms", "value": "2.0"}"#,
        r#"Caffe2Observer {"type": "NET", "metric": "resnet-backward-a \"b\"|c", "unit": "ms", "value": "4e-06"}"#,
    ];
    assert_eq!(rendered("pep"), expected.join("\n") + "\n");
}

#[test]
fn the_table_has_the_original_columns_then_unit_estimate_and_interval() {
    let lines: Vec<String> =
        rendered("table").lines().map(|line| line.split_whitespace().collect::<Vec<_>>().join(" ")).collect();
    assert_eq!(
        lines,
        [
            "name avg_fwd std_fwd info_fwd avg_bwd std_bwd info_bwd unit est_fwd ci95_fwd est_bwd ci95_bwd procs warmup peak_MiB",
            "cudnn 1.500 0.001001 n=2 3.000 0.001001 n=2 ms 1.500 1.400..1.600 3.000 - 1 - -",
            "cudnn_layernorm 2.500 0.001001 n=2 - - - ms 2.500 - - - 1 - -",
            "jit failed: RuntimeError: a, b",
            "a \"b\"|c 2.000 0.001001 n=2 4.000 0.001001 n=2 ms 2.000 - 4.000 - 1 - -",
            "py (b) 1.500 0.001001 n=4 - - - ms 1.500 range:1.400..1.600 - - 2 no_steady_state 300.5",
            "note: a \"b\"|c: read me",
        ]
    );
}

#[test]
fn names_and_reasons_of_a_file_cannot_disturb_a_terminal() {
    let mut run: Value = serde_json::from_str(&run()).expect("JSON");
    for row in run["results"].as_array_mut().expect("results are a list") {
        row["runner"] = json!("漢\u{1b}[31m");
        (row["reason"], row["note"]) = (json!("line\nline\u{202e}"), json!("\u{7}"));
    }
    let text = render(&run.to_string(), "table").expect("the run is sound");
    assert!(text.contains("   漢\\x1b[31m failed: line\\nline\\u{202e}\n"), "{text}");
    assert!(text.contains("note: 漢\\x1b[31m: \\x07\n") && !text.contains(['\u{1b}', '\u{202e}', '\u{7}']), "{text}");
}

/// A run in which each text is `text`.
fn hostile(text: &str) -> Value {
    let mut run: Value = serde_json::from_str(&run()).expect("JSON");
    for row in run["results"].as_array_mut().expect("results are a list") {
        for key in ["runner", "group", "reason", "note", "side", "warmup_class"] {
            row[key] = json!(text);
        }
        row["problem"] = json!({ text: text, "inner": { text: [text] }, "seed": -1 });
        if row["forward"].is_object() {
            row["forward"]["ci_method"] = json!(text);
        }
    }
    run
}

#[test]
fn texts_of_a_file_cannot_disturb_whatever_shows_it() {
    for text in ["\u{1b}]0;title\u{7}\u{9b}2J", "a\u{202e}b\u{2066}c\u{2028}\r\n", "\0\u{7f}\u{85}\u{feff}"] {
        let run = hostile(text);
        for format in FORMATS {
            let shown = render(&run.to_string(), format.name).expect("the run is sound");
            let acts = |c: char| c != '\n' && (c.is_control() || "\u{202e}\u{2066}\u{2028}\u{feff}".contains(c));
            assert!(!shown.contains(acts), "{}: {shown:?}", format.name);
        }
        let whole = |format| render(&run.to_string(), format).expect("the run is sound");
        assert_eq!(serde_json::from_str::<Value>(&whole("json")).expect("JSON"), run);
        let means: Value = serde_json::from_str(&whole("oss")).expect("JSON");
        assert_eq!(means[text][format!("{text} ({text})")], 1.5);
        let pep = whole("pep");
        let line = pep.lines().next().and_then(|line| line.strip_prefix("Caffe2Observer ")).expect("a sample");
        let sample: Value = serde_json::from_str(line).expect("JSON");
        assert_eq!(sample["metric"], format!("{text}-{text} ({text})"));
    }
}

#[test]
fn csv_has_no_formula() {
    for text in ["=cmd()|'/c calc'!A0", "+1", "-1", "@sum", "  =1", "\t=1", "＝cmd()"] {
        let shown = render(&hostile(text).to_string(), "csv").expect("the run is sound");
        let mut reader = csv::ReaderBuilder::new().has_headers(false).from_reader(shown.as_bytes());
        let fields: Vec<String> = reader
            .records()
            .flat_map(|line| line.expect("a line").iter().map(str::to_owned).collect::<Vec<_>>())
            .collect();
        assert!(fields.iter().filter(|field| field.starts_with('\'')).count() > 10, "{shown}");
        for field in fields.iter().filter(|field| field.as_str() != "-1") {
            assert!(!field.trim_start().starts_with(['=', '+', '-', '@', '＝']), "{field}");
        }
        // A number below 0 is one still.
        assert_eq!(fields.iter().filter(|field| field.as_str() == "-1").count(), 7, "{shown}");
    }
}

#[test]
fn two_sides_of_a_runner_are_two_names() {
    let mut run: Value = serde_json::from_str(&run()).expect("JSON");
    let (mut first, mut second) = (of_a_side(), of_a_side());
    first["side"] = json!("a");
    second["forward"]["mean_ns"] = json!(2_500_000.0);
    run["results"] = json!([first, second]);
    let shown = |format| render(&run.to_string(), format).expect("the run is sound");
    assert_eq!(shown("oss"), "{\"lstm\": {\"py (a)\": 1.5, \"py (b)\": 2.5}, \"lstm-backward\": {}}\n");
    assert_eq!(shown("pep").matches("\"lstm-py (a)\"").count(), 2);
    assert_eq!(shown("pep").matches("\"lstm-py (b)\"").count(), 2);
}

#[test]
fn a_row_is_called_by_its_label_where_it_has_one() {
    let mut run: Value = serde_json::from_str(&run()).expect("JSON");
    let (mut first, mut second) = (of_a_side(), of_a_side());
    (first["label"], first["side"]) = (json!("py on cuda:0"), Value::Null);
    second["label"] = json!("py on cuda:1");
    run["results"] = json!([first, second]);
    for format in ["table", "markdown", "oss", "pep"] {
        let shown = render(&run.to_string(), format).expect("the run is sound");
        assert!(shown.contains("py on cuda:0") && shown.contains("py on cuda:1 (b)"), "{format}: {shown}");
    }
}

#[test]
fn a_separator_parts_fields_whatever_it_is() {
    let table = Table::new(["cudnn"], ",");
    let document: Value = serde_json::from_str(&run()).expect("JSON");
    let row: Row = serde_json::from_value(document["results"][0].clone()).expect("a row");
    assert_eq!(table.header().split(',').count(), 15);
    assert_eq!(table.row(&row).split(',').count(), 15);
}

#[test]
fn csv_has_a_line_for_each_phase_and_quotes_what_it_must() {
    let text = rendered("csv");
    let mut reader = csv::Reader::from_reader(text.as_bytes());
    let heads = reader.headers().expect("a heading").clone();
    assert_eq!(
        heads.iter().take(8).collect::<Vec<_>>(),
        ["runner", "group", "phase", "status", "reason", "seq_length", "dtype", "image_size"]
    );
    let lines: Vec<csv::StringRecord> = reader.records().collect::<Result<_, _>>().expect("every line is whole");
    let names: Vec<(&str, &str)> = lines.iter().map(|line| (&line[0], &line[2])).collect();
    let odd = "a \"b\"|c";
    assert_eq!(
        names,
        [
            ("cudnn", "forward"),
            ("cudnn", "backward"),
            ("cudnn_layernorm", "forward"),
            ("jit", ""),
            (odd, "forward"),
            (odd, "backward"),
            ("py", "forward")
        ]
    );
    assert_eq!(&lines[3][4], "RuntimeError: a, b");
    let estimate = heads.iter().position(|head| head == "estimate_ns").expect("a column");
    assert_eq!((&lines[0][estimate], &lines[3][estimate]), ("1500000", ""));
    let last = |line: &csv::StringRecord| line.iter().skip(heads.len() - 6).map(str::to_owned).collect::<Vec<_>>();
    assert_eq!(
        last(&heads),
        ["mad_ns", "ci_method", "warmup_class", "side", "peak_memory_bytes", "peak_reserved_bytes"]
    );
    assert_eq!(last(&lines[6]), ["0.5", "range", "no_steady_state", "b", "315097088", ""]);
    assert_eq!(last(&lines[3]), ["", "", "", "", "", ""]);
}

#[test]
fn markdown_keeps_its_columns_whatever_a_name_holds() {
    let text = rendered("markdown");
    assert!(text.contains("| `cudnn` | 1.500 (1.400 – 1.600) | 3.000 | 1 | 2 | – |\n"), "{text}");
    assert!(text.contains("| `cudnn_layernorm` | 2.500 | – | 1 | 2 | – |\n"), "{text}");
    assert!(text.contains("| `a \"b\"\\|c` | 2.000 | 4.000 | 1 | 2 | – |\n"), "{text}");
    assert!(text.contains("| `py (b)` | 1.500 (range 1.400 – 1.600) | – | 2 | 4 | 300.5 |\n"), "{text}");
    assert!(text.contains("| `jit` | `failed: RuntimeError: a, b` | | | | |\n"), "{text}");
}

#[test]
fn markdown_has_what_was_reserved_where_a_row_has_it() {
    let mut run: Value = serde_json::from_str(&run()).expect("JSON");
    run["results"][0]["peak_memory_bytes"] = json!(1_u64 << 30);
    run["results"][0]["peak_reserved_bytes"] = json!(3_u64 << 29);
    let text = render(&run.to_string(), "markdown").expect("the run is sound");
    let lines: Vec<&str> = text.lines().take(7).collect();
    assert!(lines.iter().all(|line| line.replace("\\|", "").matches('|').count() == 8), "{text}");
    assert!(lines[0].ends_with("| peak, MiB | reserved, MiB |"), "{text}");
    assert!(lines[2].ends_with("| 1024 | 1536 |"), "{text}");
    assert!(lines[6].ends_with("| 300.5 | – |"), "{text}");
}

#[test]
fn json_is_the_same_document_with_numbers_side_by_side() {
    let text = rendered("json");
    let (before, after): (Value, Value) =
        (serde_json::from_str(&run()).expect("JSON"), serde_json::from_str(&text).expect("JSON"));
    assert_eq!(before, after);
    assert!(text.contains("\"forward_ns\": [7,1000000,2000000]"), "{text}");
    assert_eq!(render("{}", "json").expect("JSON"), "{}\n");
}

#[test]
fn what_is_not_a_run_is_refused() {
    for format in FORMATS {
        for text in ["", "[", "\u{0}", "{\"results\": "] {
            assert!(render(text, format.name).is_err(), "{} took {text:?}", format.name);
        }
        assert!(format.name == "json" || render("{\"results\": 3}", format.name).is_err());
    }
    assert!(render(&run(), "xml").is_err());
}

#[test]
fn a_sweep_has_tables_and_points_have_names() {
    let mut document: Value = serde_json::from_str(&run()).expect("JSON");
    document["results"][0]["label"] = json!("cudnn[hidden-size=64,dtype=float64]");
    let cell = |runner: &str, size: u64, ns: f64| {
        json!({
            "runner": runner, "point": { "hidden-size": size, "dtype": "float64" }, "phase": "forward",
            "time_ns": ns, "steps_per_second": null, "samples_per_second": null,
        })
    };
    let growth = |runner: &str, straight: bool, reason: Option<&str>| {
        json!({
            "runner": runner, "phase": "forward", "axis": "hidden-size", "at": { "dtype": "float64" },
            "exponent": if reason.is_none() { json!(1.5) } else { Value::Null }, "ci_low": 1.25, "ci_high": 1.75,
            "local_exponents": [0.5, 2.5], "largest_deviation": 0.42, "straight": straight, "reason": reason,
        })
    };
    document["sweep"] = json!({
        "axes": [{ "name": "hidden-size", "values": [64, 8] }, { "name": "dtype", "values": ["float64"] }],
        "cells": [cell("a|b", 8, 2e6), cell("a|b", 64, 1e6), cell("c\u{1b}", 8, 3e6)],
        "growth": [growth("a|b", false, None), growth("c\u{1b}", true, Some("no clock"))],
    });
    let run = document.to_string();
    let text = render(&run, "table").expect("a run");
    assert!(text.contains("[hidden-size=64,dtype=float64]"), "{text}");
    // The values stand in the order of the axis.
    let expected = "forward, ms, at dtype=float64\n\
                    hidden-size    a|b  c\\x1b\n\
                    \u{20}        64  1.000      -\n\
                    \u{20}         8  2.000  3.000\n";
    assert!(text.contains(expected), "{text}");
    assert!(text.contains("a|b  1.50 (1.25..1.75)"), "{text}");
    assert!(text.contains(
        "note: a|b forward does not follow one exponent, up to 42 % off: from value to value it is 0.50, 2.50"
    ));
    assert!(text.contains("note: c\\x1b forward: no exponent: no clock"), "{text}");
    let page = render(&run, "markdown").expect("a run");
    assert!(
        page.contains("| `hidden-size` | `a\\|b` | `c\\x1b` |\n|---:|---:|---:|\n| `64` | `1.000` | `-` |"),
        "{page}"
    );
    assert_eq!(fastrnns_rs::report::render_sweep("{}"), Ok(String::new()));
    assert!(fastrnns_rs::report::render_sweep("[").is_err());
}
