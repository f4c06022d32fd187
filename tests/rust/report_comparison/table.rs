//! The table, word for word.

use serde_json::{Value, json};

use super::rendered;
use super::sample::{document, whole};

#[test]
fn the_table_says_what_a_reader_must_know() {
    assert_eq!(rendered(&whole(), "table"), "old.json → new.json
welch_t_on_log_process_medians, margin ±1 % (default), 95 % intervals, false discovery rate 5 %

runner               phase     baseline, ms  candidate, ms   ratio     95 % interval  change, %  Cliff's delta  processes  verdict
cudnn                forward          1.200          1.238   1.032    [1.018, 1.047]      +3.20           0.92      10+10  ↑ slower
cudnn                backward         2.000          1.900  0.9500  [0.9400, 0.9600]      -5.00           0.92      10+10  ↓ faster
jit_premul           forward          12.63          12.63   1.000   [0.9980, 1.002]       0.00           0.92      10+10  = equivalent
jit                  forward          14.35          14.40   1.003   [0.9897, 1.018]      +0.35           0.92      10+10  ? inconclusive
py                   forward          19.30          19.90   1.031   [0.5000, 2.100]      +3.11           0.92       3+10  ? inconclusive
aten                 forward          1.000          1.100       -                 -          -              -       2+10  - no verdict
resnet18_jit         backward         100.0              -       -                 -          -              -       10+0  - no verdict
custom               forward          100.0              -       -                 -          -              -       10+0  - no verdict
test_sort            -             0.001234      0.0006172  0.5000                 -     -50.00              -          -  - no verdict
geometric mean of 5                                          1.002   [0.9910, 1.012]      +0.17

jit/forward: 14 more processes a side would settle it, in a new comparison
py/forward: fewer than 10 processes: a wide interval
py/forward: the interval holds 1
aten/forward: fewer than 3 processes: no verdict
resnet18_jit/backward: only in the baseline
custom/forward: failed: RuntimeError: no kernel
test_sort: no process level: descriptive only

1 slower, 1 faster, 1 equivalent, 2 inconclusive, 4 without a verdict

Environment differences
  torch_version: 2.14.0 → 2.15.0
  variables.OMP_NUM_THREADS: - → 1
  cpu_affinity: [0,1] → [0]

warning: other programs were at work
  seen: load 3.1 on 2 cores
  hint: stop them and measure again
warning: written long ago
");
}

#[test]
fn a_comparison_without_rows_says_so() {
    let expected = "old.json → new.json
welch_t_on_log_process_medians, margin ±1 % (default), 95 % intervals, false discovery rate 5 %

nothing to compare
";
    assert_eq!(rendered(&document(&[]), "table"), expected);
}

#[test]
fn where_the_margin_comes_from_is_said() {
    let mut floor = document(&[]);
    for (source, margin, said) in [
        ("noise_floor", 0.0235, "margin ±2.35 % (this machine's noise floor)"),
        ("option", 0.1, "margin ±10 % (as asked)"),
    ] {
        floor["method"]["margin"] = json!(margin);
        floor["method"]["margin_source"] = json!(source);
        floor["method"]["confidence_level"] = json!(0.99);
        assert!(rendered(&floor, "table").contains(&format!("{said}, 99 % intervals")));
    }
}

#[test]
fn wide_names_and_extreme_ratios_stay_in_their_columns() {
    let mut rows: Vec<Value> = whole()["rows"].as_array().expect("rows are a list")[..3].to_vec();
    let figures = [
        ("漢字", 1e6, 9e5, 1.1e6, "faster"),
        ("a name that is rather long", 2.5e-9, 2.4e-9, 2.6e-9, "slower"),
        ("e\u{301}", 1.000_04, 1.000_02, 1.000_06, "equivalent"),
    ];
    for (row, (runner, ratio, low, high, verdict)) in rows.iter_mut().zip(figures) {
        row["runner"] = json!(runner);
        (row["ratio"], row["ratio_ci_low"], row["ratio_ci_high"]) = (json!(ratio), json!(low), json!(high));
        row["cliffs_delta"] = json!(-1.0);
        row["verdict"] = json!(verdict);
    }
    let text = rendered(&document(&rows), "table");
    let table: Vec<&str> = text.lines().skip(3).take(4).collect();
    assert_eq!(
        table.join("\n"),
        "runner                      phase     baseline, ms  candidate, ms     ratio         95 % interval  change, %  Cliff's delta  processes  verdict\n\
             漢字                        forward          1.200          1.238   1000000     [900000, 1100000]   +1.000e8          -1.00      10+10  ↓ faster\n\
             a name that is rather long  backward         2.000          1.900  2.500e-9  [2.400e-9, 2.600e-9]    -100.00          -1.00      10+10  ↑ slower\n\
             e\u{301}                           forward          12.63          12.63   1.00004    [1.00002, 1.00006]       0.00          -1.00      10+10  = equivalent"
    );
}

#[test]
fn a_row_that_its_own_interval_would_decide_says_what_overruled_it() {
    let mut row = whole()["rows"][3].take();
    row["reason"] = json!("slower by itself, but not among 40 rows");
    let notes = |row: &Value| rendered(&document(std::slice::from_ref(row)), "table");
    let mut silent = row.clone();
    (silent["verdict"], silent["reason"], silent["label"]) = (json!(null), json!(""), json!(""));
    assert!(notes(&silent).contains("- no verdict\n\n0 slower"), "{}", notes(&silent));
    let settled = "\n\njit/forward: 14 more processes a side would settle it, in a new comparison\n\n";
    assert!(notes(&row).contains(settled));
    (row["ratio_ci_low"], row["ratio_ci_high"]) = (json!(1.002), json!(1.03));
    let both = format!("\n\njit/forward: slower by itself, but not among 40 rows{}", &settled[1..]);
    assert!(notes(&row).contains(&both), "{}", notes(&row));
}
