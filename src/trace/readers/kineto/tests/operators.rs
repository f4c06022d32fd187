//! Operators of the CPU, of a file and of a pipe.

use super::*;

fn operator(name: &str, start: u64) -> String {
    format!(r#"{{"ph": "X", "cat": "cpu_op", "name": "{name}", "pid": 9, "tid": 8, "ts": {start}, "dur": 5}}"#)
}

/// The name, thread, start and end of each operator, and the capture.
type Found = (Vec<(String, Option<i64>, i64, i64)>, Capture);

fn found(trace: &Trace, capture: Capture) -> Found {
    assert!(trace.clocks.iter().all(|clock| *clock == trace.clocks[0]), "{:?}", trace.clocks);
    let operators = trace.operators.iter().map(|entry| {
        let callee = trace.callees.all()[entry.what as usize];
        (trace.names.text(callee.name).to_owned(), callee.thread_id, entry.start, entry.end)
    });
    (operators.collect(), capture)
}

/// Read from a file, twice if it has no GPU activity.
fn of_file(text: &str, step: usize) -> Found {
    let (mut trace, mut capture) = read_steps(text.as_bytes(), step).expect("a trace");
    if trace.operations() == 0 {
        read_operators_finely(source(text.as_bytes(), None), &mut trace, &mut capture, step).expect("a trace");
    }
    found(&trace, capture)
}

fn of_pipe(text: &str, step: usize) -> Found {
    let mut trace = Trace::default();
    let grain = Grain { step, ..Grain::default() };
    let capture = once(source(text.as_bytes(), None), &mut trace, &|| false, grain).expect("a trace");
    found(&trace, capture)
}

/// A pipe cannot be read twice, and lost its operators.
#[test]
fn a_pipe_has_the_operators_of_a_file() {
    let operators = [operator("aten::linear", 1), operator("aten::addmm", 2), operator("ProfilerStep#1", 3)];
    let plain = document(&operators);
    assert_eq!(of_file(&plain, 64).0.len(), 2);
    for text in [
        plain.clone(),
        format!("[{},", operators.join(",")),
        plain.replace(r#""cpu_op""#, r#""cpu\u005fop""#),
        plain.replace(r#""ph": "X", "cat": "cpu_op""#, r#""cat": "Operator", "ph": "X""#),
        plain.replace(r#""tid": 8"#, r#""tid": 8, "args": {"x": [1, 2}"#),
        plain.replace(r#""dur": 5"#, r#""dur": -5"#),
        plain[..plain.len() - 80].to_owned(),
        document(&[&operators[..], &ordinary()].concat()),
        document(&[ordinary(), operators.to_vec()].concat()),
    ] {
        for step in [64, text::STEP] {
            assert_eq!(of_pipe(&text, step), of_file(&text, step), "{text}");
        }
    }
}
