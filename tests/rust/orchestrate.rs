//! Commands under supervision, with this very program as the supervisor.

use std::env;
use std::ffi::{OsStr, OsString};
use std::fs;
use std::io;
use std::os::fd::AsFd;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use fastrnns_rs::error::{Error, Result};
use fastrnns_rs::orchestrate::command::{GRACE, find, is_executable};
use fastrnns_rs::orchestrate::tail::TAIL_BYTES;
use fastrnns_rs::orchestrate::{Command, Completed, Process, run, supervisor};
use rustix::io::Errno;
use rustix::process::{Pid, Signal, kill_process};

const ENTRY: &str = "FASTRNNS_TEST_IS_SUPERVISOR";
const LONG: Duration = Duration::from_secs(20);

/// Is the supervisor when it is started as one, and nothing else.
#[test]
fn supervisor_entry() {
    if env::var_os(ENTRY).is_some() {
        supervisor::serve(io::stdin().as_fd().try_clone_to_owned().unwrap()).unwrap();
    }
}

/// A number of seconds that no other process sleeps for.
fn mark() -> String {
    static COUNT: AtomicU64 = AtomicU64::new(0);
    format!("{}.{:04}", 100_000 + process::id(), COUNT.fetch_add(1, Ordering::Relaxed))
}

fn set_up() {
    let this = env::current_exe().unwrap().into_os_string();
    let words = ["--exact", "orchestrate::supervisor_entry", "--nocapture", "--test-threads=1"].map(OsString::from);
    let variable = OsString::from(format!("{ENTRY}=1"));
    supervisor::set_program(["/usr/bin/env".into(), variable, this].into_iter().chain(words).collect());
}

fn command(words: &[&str]) -> Command {
    set_up();
    Command { argv: words.iter().map(OsString::from).collect(), ..Command::default() }
}

fn shell(script: &str) -> Command {
    command(&["sh", "-c", script])
}

fn run_to_the_end(command: &Command) -> Result<Completed> {
    run(command, Some(LONG), GRACE, || false)
}

/// Processes that have a text among their arguments.
fn marked(mark: &str) -> Vec<Pid> {
    let has_it = |path: &Path| {
        let arguments = fs::read(path.join("cmdline")).unwrap_or_default();
        arguments.windows(mark.len()).any(|window| window == mark.as_bytes())
    };
    let entries = fs::read_dir("/proc").unwrap().flatten().filter(|entry| has_it(&entry.path()));
    entries.filter_map(|entry| Pid::from_raw(entry.file_name().to_str()?.parse().ok()?)).collect()
}

fn wait_until(condition: impl Fn() -> bool) {
    let deadline = Instant::now() + LONG;
    while !condition() {
        assert!(Instant::now() < deadline);
        thread::sleep(Duration::from_millis(5));
    }
}

fn parent(pid: Pid) -> Pid {
    let stat = fs::read_to_string(format!("/proc/{}/stat", pid.as_raw_pid())).unwrap();
    let fields = stat.rsplit(')').next().unwrap();
    Pid::from_raw(fields.split_whitespace().nth(1).unwrap().parse().unwrap()).unwrap()
}

#[test]
fn it_says_how_a_command_ended() {
    let done = run_to_the_end(&shell("printf out; printf err >&2; sleep 0.1; exit 7")).unwrap();
    assert_eq!((done.exit_status, done.signal, done.timed_out), (Some(7), None, false));
    assert_eq!((done.stdout_tail, done.stderr_tail), (b"out".to_vec(), b"err".to_vec()));
    assert!(done.duration >= Duration::from_millis(100) && done.duration < LONG);
    let done = run_to_the_end(&shell("kill -9 $$")).unwrap();
    assert_eq!((done.exit_status, done.signal), (None, Some(9)));
}

#[test]
fn it_is_given_its_own_variables_and_folder() {
    let environment = Some(vec![("ONLY".into(), "this".into())]);
    let given = Command { environment, directory: Some("/proc".into()), ..shell("echo $ONLY $HOME; pwd") };
    assert_eq!(run_to_the_end(&given).unwrap().stdout_tail, b"this\n/proc\n");
    assert_eq!(run_to_the_end(&command(&["cat"])).unwrap().stdout_tail, b"");
}

#[test]
fn the_end_of_its_output_is_kept() {
    let done = run_to_the_end(&shell("seq 1 2000000; printf x >&2")).unwrap();
    assert_eq!(done.stdout_tail.len(), TAIL_BYTES);
    assert!(done.stdout_tail.ends_with(b"\n1999999\n2000000\n"));
    assert_eq!(done.stderr_tail, b"x");
}

#[test]
fn a_time_out_ends_it_and_what_it_started() {
    let mark = mark();
    let script = format!("echo said; sleep {mark} & setsid sleep {mark} & trap '' TERM; while :; do sleep 0.01; done");
    let grace = Duration::from_millis(200);
    let done = run(&shell(&script), Some(Duration::from_millis(300)), grace, || false).unwrap();
    assert_eq!((done.timed_out, done.signal), (true, Some(Signal::KILL.as_raw())));
    assert_eq!(done.stdout_tail, b"said\n");
    assert_eq!(marked(&mark), []);
}

#[test]
fn a_grace_beyond_the_clock_is_without_end() {
    let mark = mark();
    let done = run(&command(&["sleep", &mark]), Some(Duration::from_millis(200)), Duration::MAX, || false).unwrap();
    assert_eq!((done.timed_out, done.signal), (true, Some(Signal::TERM.as_raw())));
}

#[test]
fn whoever_asked_may_interrupt_it() {
    let mark = mark();
    let deadline = Instant::now() + Duration::from_millis(300);
    let interrupted = || Instant::now() > deadline;
    let error = run(&command(&["sleep", &mark]), None, GRACE, interrupted).unwrap_err();
    assert_eq!(error, Error::Interrupted);
    assert!(deadline.elapsed() < LONG);
    assert_eq!(marked(&mark), []);
}

#[test]
fn what_it_leaves_is_ended_while_others_run() {
    let (ours, theirs) = (mark(), mark());
    let leave = |mark: &str| format!("(setsid env -i sleep {mark} &); (trap '' TERM; sleep {mark} &); sleep 0.1");
    let other = thread::spawn({
        let script = format!("{}; sleep 0.6; pgrep -fc '^sleep {theirs}'", leave(&theirs));
        move || run_to_the_end(&shell(&script)).unwrap()
    });
    wait_until(|| marked(&theirs).len() >= 3);
    assert_eq!(run_to_the_end(&shell(&leave(&ours))).unwrap().exit_status, Some(0));
    assert_eq!(marked(&ours), []);
    assert!(!other.is_finished());
    assert_eq!(other.join().unwrap().stdout_tail, b"2\n");
    assert_eq!(marked(&theirs), []);
}

#[test]
fn the_end_of_the_supervisor_is_an_error() {
    let mark = mark();
    let script = format!("setsid env -i sleep {mark} & exec sleep {mark}");
    let running = thread::spawn(move || run_to_the_end(&shell(&script)));
    let commands = || marked(&mark).into_iter().filter(|&pid| parent(parent(pid)).as_raw_pid() as u32 == process::id());
    wait_until(|| marked(&mark).len() == 2 && commands().count() == 1);
    let supervisor = parent(commands().next().unwrap());
    kill_process(supervisor, Signal::KILL).unwrap();
    assert!(matches!(running.join().unwrap(), Err(Error::Supervision { .. })));
    wait_until(|| marked(&mark).is_empty());
}

#[test]
fn many_at_once_do_not_mix() {
    thread::scope(|scope| {
        for index in 0..8 {
            scope.spawn(move || {
                for _ in 0..5 {
                    let done = run_to_the_end(&shell(&format!("echo {index}; exit {index}"))).unwrap();
                    assert_eq!((done.exit_status, done.stdout_tail), (Some(index), format!("{index}\n").into_bytes()));
                }
            });
        }
    });
}

#[test]
fn what_cannot_be_started_is_an_error() {
    let spawn = |command: &Command| match run_to_the_end(command).unwrap_err() {
        Error::Spawn { program, errno } => (program, Errno::from_raw_os_error(errno)),
        error => panic!("{error}"),
    };
    assert_eq!(spawn(&command(&["no-such-program"])), ("no-such-program".to_owned(), Errno::NOENT));
    assert_eq!(spawn(&command(&["/etc/passwd"])), ("/etc/passwd".to_owned(), Errno::ACCESS));
    let lost = Command { directory: Some("/no/such".into()), ..command(&["true"]) };
    assert_eq!(spawn(&lost), ("/no/such".to_owned(), Errno::NOENT));
    let odd = |name: &str| Command { environment: Some(vec![(name.into(), "".into())]), ..command(&["true"]) };
    for senseless in [command(&[]), command(&["true", "\0"]), odd("a=b"), odd("a\0")] {
        assert!(matches!(run_to_the_end(&senseless), Err(Error::NotACommand { .. })), "{senseless:?}");
    }
}

#[test]
fn it_talks() {
    let talker = Command { feed: true, lines: true, ..command(&["cat"]) };
    let mut process = Process::start(&talker).unwrap();
    let last = Instant::now() + LONG;
    assert_eq!(process.feed(b"one\ntwo", last, last).unwrap(), 7);
    process.pump(Instant::now() + LONG).unwrap();
    assert_eq!(process.lines(), b"one\n");
    // It says more than a pipe holds before it has heard all.
    let much = b"0123456789abcde\n".repeat(500_000);
    assert_eq!(process.feed(&much, last, last).unwrap(), much.len());
    let mut said = Vec::new();
    while said.len() < 3 + much.len() {
        process.pump(Instant::now() + LONG).unwrap();
        said.extend(process.lines());
    }
    assert!(said.starts_with(b"two0123") && said.ends_with(b"abcde\n"));
    assert!(!process.ended());
    // Its input ends with it.
    process.ask_to_end().unwrap();
    let done = process.kill().unwrap();
    assert!(process.ended());
    assert_eq!(done.stdout_tail.len(), TAIL_BYTES);
}

#[test]
fn one_that_is_dropped_is_ended() {
    let mark = mark();
    let process = Process::start(&shell(&format!("trap '' TERM; sleep {mark} & sleep {mark}"))).unwrap();
    wait_until(|| marked(&mark).len() >= 2);
    drop(process);
    wait_until(|| marked(&mark).is_empty());
}

#[test]
fn the_first_program_on_a_path_that_may_be_executed_is_found() {
    let root = tempfile::tempdir().unwrap();
    let [folder, plain, program] = ["folder", "plain", "program"].map(|name| root.path().join(name));
    let make = |folder: &Path, mode: u32| {
        fs::create_dir_all(folder).unwrap();
        fs::write(folder.join("tool"), "").unwrap();
        fs::set_permissions(folder.join("tool"), fs::Permissions::from_mode(mode)).unwrap();
    };
    fs::create_dir_all(folder.join("tool")).unwrap();
    make(&plain, 0o644);
    make(&program, 0o755);
    let path = env::join_paths([Path::new("/no/such"), &folder, &plain, &program]).unwrap();
    assert_eq!(find(OsStr::new("tool"), Some(&path)), Some(program.join("tool")));
    assert_eq!(find(OsStr::new("no-such-tool"), Some(&path)), None);
    assert_eq!(find(OsStr::new("tool"), None), None);
    assert_eq!([&folder, &plain, &program].map(|folder| is_executable(&folder.join("tool"))), [false, false, true]);
    assert!(!is_executable(Path::new("/no/such")));
}
