//! Properties that a command inherits from its parent, the supervisor. A supervisor is usable only while they equal ours.

use std::fs;

use rustix::fs::stat;
use rustix::process::{Resource, Rlimit, getpriority_process, getrlimit};

const RESOURCES: [Resource; 16] = [
    Resource::Cpu,
    Resource::Fsize,
    Resource::Data,
    Resource::Stack,
    Resource::Core,
    Resource::Rss,
    Resource::Nproc,
    Resource::Nofile,
    Resource::Memlock,
    Resource::As,
    Resource::Locks,
    Resource::Sigpending,
    Resource::Msgqueue,
    Resource::Nice,
    Resource::Rtprio,
    Resource::Rttime,
];
/// Lines of `/proc/PID/status` that children inherit: users, permissions, ignored signals and processors.
const HANDED_ON: [&str; 14] = [
    "Umask:",
    "Uid:",
    "Gid:",
    "Groups:",
    "SigBlk:",
    "SigIgn:",
    "CapInh:",
    "CapPrm:",
    "CapEff:",
    "CapBnd:",
    "CapAmb:",
    "NoNewPrivs:",
    "Cpus_allowed:",
    "Mems_allowed:",
];

/// Properties that this process, or this thread, would pass on.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Inherited {
    status: Vec<String>,
    priority: Option<i32>,
    limits: Vec<Rlimit>,
    /// The device and the number of its root folder.
    root: Option<(u64, u64)>,
}

impl Inherited {
    pub(super) fn now() -> Self {
        // The only place where all of it can be read without being changed.
        let status = fs::read_to_string("/proc/thread-self/status").unwrap_or_default();
        let handed_on = status.lines().filter(|line| HANDED_ON.iter().any(|name| line.starts_with(name)));
        Self {
            status: handed_on.map(str::to_owned).collect(),
            priority: getpriority_process(None).ok(),
            limits: RESOURCES.into_iter().map(getrlimit).collect(),
            root: stat("/").ok().map(|root| (root.st_dev, root.st_ino)),
        }
    }
}
