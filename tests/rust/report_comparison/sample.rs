//! Comparisons to render: one with a row of every kind, and what is left out of it.

use serde_json::{Value, json};

fn measured(n_processes: u64, estimate_ns: f64) -> Value {
    json!({ "n_processes": n_processes, "n_samples": 100 * n_processes, "estimate_ns": estimate_ns })
}

/// A row of two measured sides, 10 processes each.
fn row(runner: &str, phase: &str, estimates_ns: (f64, f64), interval: (f64, f64), verdict: &str) -> Value {
    json!({
        "runner": runner, "group": "lstm", "phase": phase, "problem": { "seq_length": 64 },
        "baseline": measured(10, estimates_ns.0), "candidate": measured(10, estimates_ns.1),
        "ratio": estimates_ns.1 / estimates_ns.0, "ratio_ci_low": interval.0, "ratio_ci_high": interval.1,
        "shift_ns": estimates_ns.1 - estimates_ns.0, "cliffs_delta": 0.92, "p_value": 0.001, "p_value_adjusted": 0.004,
        "verdict": verdict, "reason": "the 95 % interval decides", "additional_processes": null, "label": null,
    })
}

/// A row that lacks what a verdict needs.
fn bare(runner: &str, phase: &Value, baseline: &Value, candidate: &Value, reason: &str) -> Value {
    json!({
        "runner": runner, "group": null, "phase": phase, "problem": null, "baseline": baseline, "candidate": candidate,
        "ratio": null, "ratio_ci_low": null, "ratio_ci_high": null, "shift_ns": null, "cliffs_delta": null,
        "p_value": null, "p_value_adjusted": null, "verdict": null, "reason": reason, "additional_processes": null,
        "label": null,
    })
}

pub(crate) fn document(rows: &[Value]) -> Value {
    json!({
        "schema": "fastrnns-rs/comparison", "schema_version": "1.0", "kind": "run", "warnings": [], "exit_code": 0,
        "baseline": { "label": "old.json", "files": ["old.json"] },
        "candidate": { "label": "new.json", "files": ["new.json"] },
        "method": {
            "name": "welch_t_on_log_process_medians", "confidence_level": 0.95, "margin": 0.01,
            "margin_source": "default", "false_discovery_rate": 0.05, "forced": false,
        },
        "environment_differences": [],
        "rows": rows,
        "kernels": [],
        "geometric_mean": null,
        "counts": { "faster": 0, "slower": 0, "equivalent": 0, "inconclusive": 0, "none": rows.len() },
        "a key of a later version": 1,
    })
}

/// Every verdict, rows without one, differences and a warning.
pub(crate) fn whole() -> Value {
    let mut settled = row("jit", "forward", (14_350_000.0, 14_400_000.0), (0.989_7, 1.018), "inconclusive");
    settled["additional_processes"] = json!(14);
    let mut few = row("py", "forward", (19_300_000.0, 19_900_000.0), (0.5, 2.1), "inconclusive");
    few["baseline"]["n_processes"] = json!(3);
    few["label"] = json!("fewer than 10 processes: a wide interval");
    few["reason"] = json!("the interval holds 1");
    let two =
        bare("aten", &json!("forward"), &measured(2, 1e6), &measured(10, 1.1e6), "fewer than 3 processes: no verdict");
    let gone = bare("resnet18_jit", &json!("backward"), &measured(10, 1e8), &Value::Null, "only in the baseline");
    let failed = bare("custom", &json!("forward"), &measured(10, 1e8), &Value::Null, "failed: RuntimeError: no kernel");
    let mut foreign = bare(
        "test_sort",
        &Value::Null,
        &measured(0, 1234.5),
        &measured(0, 617.25),
        "no process level: descriptive only",
    );
    foreign["ratio"] = json!(0.5);
    let mut document = document(&[
        row("cudnn", "forward", (1_200_000.0, 1_238_400.0), (1.018, 1.047), "slower"),
        row("cudnn", "backward", (2_000_000.0, 1_900_000.0), (0.94, 0.96), "faster"),
        row("jit_premul", "forward", (12_630_000.0, 12_630_001.0), (0.998, 1.002), "equivalent"),
        settled,
        few,
        two,
        gone,
        failed,
        foreign,
    ]);
    document["geometric_mean"] = json!({ "ratio": 1.0017, "ratio_ci_low": 0.991, "ratio_ci_high": 1.0125, "n": 5 });
    document["counts"] = json!({ "faster": 1, "slower": 1, "equivalent": 1, "inconclusive": 2, "none": 4 });
    document["environment_differences"] = json!([
        { "key": "torch_version", "baseline": "2.14.0", "candidate": "2.15.0" },
        { "key": "variables.OMP_NUM_THREADS", "baseline": null, "candidate": "1" },
        { "key": "cpu_affinity", "baseline": [0, 1], "candidate": [0] },
    ]);
    document["warnings"] = json!([
        { "code": "machine.load", "message": "other programs were at work", "evidence": "load 3.1 on 2 cores",
          "hint": "stop them and measure again" },
        { "code": "files.old", "message": "written long ago", "evidence": null, "hint": null },
    ]);
    document
}

/// What tries to break out of each format.
pub(crate) const HOSTILE: [&str; 14] = [
    "",
    "a|b\\|c",
    "`code` ``x",
    "<b>&amp;</details><!-- -->",
    "]]> <![CDATA[ \"'",
    "@everyone #1 http://example.org",
    "line\nline\r\n\n| --- |",
    "\u{1b}[31mred\u{1b}]0;title\u{7}\u{9b}2J",
    "\0\u{1}\u{8}\u{c}\u{7f}\u{fffe}\u{ffff}",
    "a\u{202e}b\u{2066}c\u{200f}d\u{2028}e\u{feff}",
    "漢字カーネル e\u{301}",
    "=cmd()|'/c calc'!A0",
    "# heading\n- list\n```",
    "failed: \u{1f4a5}",
];

/// A comparison in which every text is `text`.
pub(crate) fn hostile(text: &str) -> Value {
    // Where there is nothing to say, nothing is said: the page would have fewer lines.
    let said = if text.is_empty() { "plain" } else { text };
    let mut document = whole();
    for side in ["baseline", "candidate"] {
        document[side] = json!({ "label": text, "files": [text] });
    }
    document["method"]["name"] = json!(text);
    for row in document["rows"].as_array_mut().expect("rows are a list") {
        (row["runner"], row["group"]) = (json!(text), json!(text));
        (row["reason"], row["label"]) = (json!(said), json!(said));
    }
    for difference in document["environment_differences"].as_array_mut().expect("it is a list") {
        *difference = json!({ "key": text, "baseline": text, "candidate": { text: [text] } });
    }
    for warning in document["warnings"].as_array_mut().expect("it is a list") {
        *warning = json!({ "code": text, "message": text, "evidence": said, "hint": said });
    }
    document
}
