//! JUnit's XML, word for word, on a row of each outcome.

use serde_json::Value;

use super::rendered;
use super::sample::{document, whole};

#[test]
fn a_slower_row_has_failed_and_a_broken_one_is_an_error() {
    let rows = whole()["rows"].take();
    let rows: Vec<Value> = [0, 2, 3, 6, 7, 8].into_iter().map(|index| rows[index].clone()).collect();
    let mut document = document(&rows);
    document["geometric_mean"] = whole()["geometric_mean"].take();
    assert_eq!(
        rendered(&document, "junit"),
        r#"<?xml version="1.0" encoding="UTF-8"?>
<testsuites>
  <testsuite name="old.json → new.json" tests="6" failures="1" errors="1" skipped="3">
    <properties>
      <property name="forced" value="false"/>
      <property name="baseline" value="old.json"/>
      <property name="candidate" value="new.json"/>
      <property name="method" value="welch_t_on_log_process_medians"/>
      <property name="confidence_level" value="0.95"/>
      <property name="margin" value="0.01"/>
      <property name="margin_source" value="default"/>
      <property name="false_discovery_rate" value="0.05"/>
      <property name="geometric_mean" value="1.0017"/>
      <property name="geometric_mean_ci_low" value="0.991"/>
      <property name="geometric_mean_ci_high" value="1.0125"/>
    </properties>
    <testcase classname="lstm" name="cudnn/forward" time="0.0012384">
      <properties>
        <property name="verdict" value="slower"/>
        <property name="ratio" value="1.032"/>
        <property name="ratio_ci_low" value="1.018"/>
        <property name="ratio_ci_high" value="1.047"/>
        <property name="margin" value="0.01"/>
        <property name="cliffs_delta" value="0.92"/>
        <property name="p_value_adjusted" value="0.004"/>
        <property name="baseline.estimate_ns" value="1200000.0"/>
        <property name="candidate.estimate_ns" value="1238400.0"/>
        <property name="baseline.n_processes" value="10"/>
        <property name="candidate.n_processes" value="10"/>
      </properties>
      <failure message="slower: 1.032 [1.018, 1.047]" type="slower">the 95 % interval decides</failure>
    </testcase>
    <testcase classname="lstm" name="jit_premul/forward" time="0.012630001">
      <properties>
        <property name="verdict" value="equivalent"/>
        <property name="ratio" value="1.0000000791765637"/>
        <property name="ratio_ci_low" value="0.998"/>
        <property name="ratio_ci_high" value="1.002"/>
        <property name="margin" value="0.01"/>
        <property name="cliffs_delta" value="0.92"/>
        <property name="p_value_adjusted" value="0.004"/>
        <property name="baseline.estimate_ns" value="12630000.0"/>
        <property name="candidate.estimate_ns" value="12630001.0"/>
        <property name="baseline.n_processes" value="10"/>
        <property name="candidate.n_processes" value="10"/>
      </properties>
    </testcase>
    <testcase classname="lstm" name="jit/forward" time="0.0144">
      <properties>
        <property name="verdict" value="inconclusive"/>
        <property name="ratio" value="1.0034843205574913"/>
        <property name="ratio_ci_low" value="0.9897"/>
        <property name="ratio_ci_high" value="1.018"/>
        <property name="margin" value="0.01"/>
        <property name="cliffs_delta" value="0.92"/>
        <property name="p_value_adjusted" value="0.004"/>
        <property name="baseline.estimate_ns" value="14350000.0"/>
        <property name="candidate.estimate_ns" value="14400000.0"/>
        <property name="baseline.n_processes" value="10"/>
        <property name="candidate.n_processes" value="10"/>
      </properties>
      <skipped message="inconclusive: 1.003 [0.9897, 1.018]; 14 more processes a side would settle it, in a new comparison">the 95 % interval decides</skipped>
    </testcase>
    <testcase classname="resnet18_jit" name="resnet18_jit/backward">
      <properties>
        <property name="margin" value="0.01"/>
        <property name="baseline.estimate_ns" value="100000000.0"/>
        <property name="baseline.n_processes" value="10"/>
      </properties>
      <skipped message="only in the baseline">only in the baseline</skipped>
    </testcase>
    <testcase classname="custom" name="custom/forward">
      <properties>
        <property name="margin" value="0.01"/>
        <property name="baseline.estimate_ns" value="100000000.0"/>
        <property name="baseline.n_processes" value="10"/>
      </properties>
      <error message="failed: RuntimeError: no kernel" type="failed">failed: RuntimeError: no kernel</error>
    </testcase>
    <testcase classname="test_sort" name="test_sort" time="0.00000061725">
      <properties>
        <property name="ratio" value="0.5"/>
        <property name="margin" value="0.01"/>
        <property name="baseline.estimate_ns" value="1234.5"/>
        <property name="candidate.estimate_ns" value="617.25"/>
        <property name="baseline.n_processes" value="0"/>
        <property name="candidate.n_processes" value="0"/>
      </properties>
      <skipped message="no verdict: 0.5000; no process level: descriptive only">no process level: descriptive only</skipped>
    </testcase>
  </testsuite>
</testsuites>
"#
    );
}

#[test]
fn differences_and_warnings_are_properties() {
    let text = rendered(&whole(), "junit");
    for property in [
        r#"<property name="environment.torch_version" value="2.14.0 → 2.15.0"/>"#,
        r#"<property name="environment.variables.OMP_NUM_THREADS" value="- → 1"/>"#,
        r#"<property name="warning.machine.load" value="other programs were at work"/>"#,
    ] {
        assert_eq!(text.matches(property).count(), 1, "{property}");
    }
    assert!(text.contains(r#"tests="9" failures="1" errors="1" skipped="5""#), "{text}");
}
