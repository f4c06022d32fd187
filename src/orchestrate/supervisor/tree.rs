//! Process tree, as reported by `/proc`.

use std::collections::HashSet;
use std::fs;
use std::path::Path;

use rustix::process::{Pid, Signal, kill_process};

/// The children of a process, those that were left to it included.
pub(super) fn children(pid: Pid) -> Vec<Pid> {
    let Ok(threads) = fs::read_dir(format!("/proc/{}/task", pid.as_raw_pid())) else { return Vec::new() };
    let mut found = Vec::new();
    for thread in threads.flatten() {
        match fs::read_to_string(thread.path().join("children")) {
            Ok(list) => found.extend(list.split_ascii_whitespace().filter_map(number)),
            // A kernel without this list, or a thread that has just ended.
            Err(_) if !Path::new("/proc/thread-self/children").exists() => return children_by_parent(pid),
            Err(_) => {}
        }
    }
    found
}

/// These processes and all that descend from them, each once, the deepest first.
pub(super) fn trees(roots: impl IntoIterator<Item = Pid>) -> Vec<Pid> {
    let mut known = HashSet::new();
    let mut found: Vec<Pid> = roots.into_iter().filter(|&pid| known.insert(pid)).collect();
    let mut next = 0;
    // Without recursion: a command chooses how deep its processes are nested.
    while let Some(&pid) = found.get(next) {
        found.extend(children(pid).into_iter().filter(|&child| known.insert(child)));
        next += 1;
    }
    found.reverse();
    found
}

/// Kills every process that has this mark, or a longer one, among its variables, or is in the group or the session of one of
/// these leaders, with all descendants, until none is left.
pub(super) fn kill_related(mark: &[u8], leaders: &[Pid]) {
    let leads = |pid: Option<Pid>| pid.is_some_and(|pid| leaders.contains(&pid));
    let is_led = |pid| Stat::of(pid).is_some_and(|stat| leads(stat.group) || leads(stat.session));
    // One that forks as fast as it is killed must not hold us for ever.
    for _ in 0..100 {
        let mut alive = trees(all().filter(|&pid| has_variable(pid, mark) || is_led(pid)));
        alive.retain(|&pid| Stat::of(pid).is_some_and(|stat| stat.is_alive));
        if alive.is_empty() {
            return;
        }
        for pid in alive {
            let _ = kill_process(pid, Signal::KILL);
        }
    }
}

/// Returns false for a process of which only its exit status is left, and for one that a system call holds.
pub(super) fn takes_signals(pid: Pid) -> bool {
    Stat::of(pid).is_some_and(|stat| stat.is_alive && !stat.is_held)
}

/// Returns true if a process was started with a variable that equals this text, or begins with it and a slash.
fn has_variable(pid: Pid, text: &[u8]) -> bool {
    let is_it =
        |variable: &[u8]| variable.strip_prefix(text).is_some_and(|rest| rest.is_empty() || rest.starts_with(b"/"));
    fs::read(format!("/proc/{}/environ", pid.as_raw_pid()))
        .is_ok_and(|environment| environment.split(|&byte| byte == 0).any(is_it))
}

fn children_by_parent(pid: Pid) -> Vec<Pid> {
    all().filter(|&candidate| Stat::of(candidate).is_some_and(|stat| stat.parent == Some(pid))).collect()
}

fn all() -> impl Iterator<Item = Pid> {
    let entries = fs::read_dir("/proc").into_iter().flatten().flatten();
    entries.filter_map(|entry| entry.file_name().to_str().and_then(number))
}

/// Contents of `/proc/PID/stat`.
struct Stat {
    /// Not when only its exit status is left.
    is_alive: bool,
    /// In a system call that no signal interrupts.
    is_held: bool,
    parent: Option<Pid>,
    group: Option<Pid>,
    session: Option<Pid>,
}

impl Stat {
    fn of(pid: Pid) -> Option<Self> {
        let text = fs::read(format!("/proc/{}/stat", pid.as_raw_pid())).ok()?;
        // The name stands before, in parentheses, and may hold anything.
        let end = text.iter().rposition(|&byte| byte == b')')?;
        let mut fields = std::str::from_utf8(&text[end + 1..]).ok()?.split_ascii_whitespace();
        let state = fields.next()?;
        let (is_alive, is_held) = (!matches!(state, "Z" | "X"), state == "D");
        let mut next = || fields.next().and_then(number);
        Some(Self { is_alive, is_held, parent: next(), group: next(), session: next() })
    }
}

fn number(text: &str) -> Option<Pid> {
    Pid::from_raw(text.parse().ok()?)
}
