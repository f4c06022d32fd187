//! Rows of one runner and phase on several problems can be told apart in each format.

use serde_json::{Value, json};

use super::rendered;
use super::sample::{document, whole};

/// `cudnn` forward, slower, on each of these problems.
fn on(problems: &[Value]) -> Vec<Value> {
    let row = whole()["rows"][0].take();
    let mut rows = vec![row; problems.len()];
    for (row, problem) in rows.iter_mut().zip(problems) {
        row["problem"] = problem.clone();
        row["label"] = json!("read me");
    }
    rows
}

fn problem(hidden_size: u64, device: &str) -> Value {
    json!({ "seq_length": 64, "hidden_size": hidden_size, "image_size": null, "device": device })
}

#[test]
fn what_differs_stands_behind_the_name_in_each_format() {
    let document = document(&on(&[problem(64, "cpu"), problem(128, "cuda"), problem(64, "cuda")]));
    let names = ["hidden_size 64, device cpu", "hidden_size 128, device cuda", "hidden_size 64, device cuda"];
    let (table, markdown, junit) =
        (rendered(&document, "table"), rendered(&document, "markdown"), rendered(&document, "junit"));
    for name in names {
        assert_eq!(table.matches(&format!("\ncudnn ({name}) ")).count(), 1, "{table}");
        assert!(table.contains(&format!("\ncudnn/forward ({name}): read me\n")), "{table}");
        assert_eq!(markdown.matches(&format!("\n| `cudnn ({name})` | forward |")).count(), 1, "{markdown}");
        assert!(markdown.contains(&format!("\n- `cudnn/forward ({name})`: `read me`\n")), "{markdown}");
        assert_eq!(junit.matches(&format!(" name=\"cudnn/forward ({name})\"")).count(), 1, "{junit}");
    }
    assert!(!table.contains("seq_length") && !table.contains("image_size"), "{table}");
    let back: Value = serde_json::from_str(&rendered(&document, "json")).expect("JSON");
    assert_eq!(back, document);
}

#[test]
fn a_name_that_stands_once_stays_short() {
    let mut rows = on(&[problem(64, "cpu"), problem(128, "cpu"), problem(256, "cpu")]);
    rows[1]["phase"] = json!("backward");
    rows[2]["runner"] = json!("jit");
    let shown = rendered(&document(&rows), "table");
    assert!(!shown.contains("hidden_size"), "{shown}");
}

#[test]
fn problems_that_are_alike_or_missing_add_nothing() {
    for (problems, expected) in [
        (vec![problem(64, "cpu"), problem(64, "cpu")], ["cudnn/forward: ", "cudnn/forward: "]),
        (vec![Value::Null, Value::Null], ["cudnn/forward: ", "cudnn/forward: "]),
        (vec![json!({}), json!({ "seed": null })], ["cudnn/forward: ", "cudnn/forward: "]),
        (vec![Value::Null, json!({ "seed": 1 })], ["cudnn/forward: ", "cudnn/forward (seed 1): "]),
        (
            vec![json!({ "seed": null }), json!({ "seed": 1 })],
            ["cudnn/forward (seed null): ", "cudnn/forward (seed 1): "],
        ),
    ] {
        let shown = rendered(&document(&on(&problems)), "table");
        let notes: Vec<&str> = shown.lines().filter_map(|line| line.strip_suffix("read me")).collect();
        assert_eq!(notes, expected);
    }
}

#[test]
fn keys_and_values_of_a_file_cannot_disturb_a_terminal() {
    let problems = [json!({ "\u{1b}[2J|": "\u{202e}\n" }), json!({ "\u{1b}[2J|": "b" })];
    let shown = document(&on(&problems));
    assert!(rendered(&shown, "table").contains("\ncudnn (\\x1b[2J| \\u{202e}\\n) "));
    assert!(rendered(&shown, "markdown").contains("\n| `cudnn (\\x1b[2J\\| b)` | forward |"));
}

#[test]
fn as_many_rows_as_a_file_may_have_take_no_time() {
    let problems: Vec<Value> =
        (0..5_000).map(|seed| json!({ "seq_length": 64, "hidden_size": 64, "seed": seed })).collect();
    let shown = rendered(&document(&on(&problems)), "table");
    assert!(shown.contains("cudnn/forward (seed 4999): read me"));
}
