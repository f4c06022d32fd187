//! A name, wherever one may stand: it is cut, sorted into a category and written into the document.

use super::reading::summary;
use fastrnns_rs::trace::{Capture, Entry, KernelName, Kind, Queue, Shape, Summary, Trace, Warning, Work, short_name};

/// Checks a name.
///
/// # Panics
/// Something does not hold.
pub fn check(name: &str) {
    if name.is_empty() {
        // Nothing can be cut from it.
        return;
    }
    let short = short_name(name);
    assert!(name.contains(short) && !short.is_empty());
    let shown = summary_with(name).to_json();
    assert!(!shown.contains(|c: char| (c.is_control() && c != '\n') || is_unseen(c)), "{shown:?}");
    // No name makes a line of its own.
    assert_eq!(shown.lines().count(), summary_with("k").to_json().lines().count(), "{shown:?}");
}

/// Turns text around, or ends a line.
fn is_unseen(c: char) -> bool {
    matches!(c, '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{2069}')
}

/// A summary in which everything that comes from a file is called `name`.
fn summary_with(name: &str) -> Summary {
    let mut trace = Trace::default();
    let clock = trace.add_clock("clock".to_owned());
    let device = trace.device(clock, None, Some(0));
    trace.devices[device as usize].name = Some(name.to_owned());
    let id = trace.names.intern(name);
    let queue = Queue { device, stream: Some(7) };
    let kernel = Kind::Kernel(KernelName { full: id, short: None, mangled: Some(id) }, Shape::default());
    let kinds = [kernel, Kind::Memory { name: id, kind: id, sized: true }];
    let [kernel, memory] =
        kinds.map(|kind| Entry { what: trace.works.intern(Work { queue, in_graph: false, kind }), ..entry() });
    let call = trace.callee(clock, None, None, id);
    trace.kernels.push(kernel);
    trace.memory.push(memory);
    trace.calls.push(Entry { what: call, ..entry() });
    let [path, message, evidence, hint] = [(); 4].map(|()| name.to_owned());
    trace.captures.push(Capture { path, events_read: 3, tool_version: Some(hint.clone()), ..Capture::default() });
    trace.warnings.push(Warning { code: "code", message, evidence, hint });
    summary(&trace)
}

fn entry() -> Entry {
    Entry { what: 0, start: 1, end: 3, bytes: 64, correlation: 1 }
}
