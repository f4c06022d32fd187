//! The time that the profiler itself takes on the host.

use super::idle::Cause;
use crate::trace::capture::counted;
use crate::trace::{Capture, DeviceRow, IdleRow, Warning};

/// Share of the span from which on idle time of the host is reported.
const MUCH: f64 = 0.1;

/// Warns if Python's stacks were recorded and GPUs waited for the host.
pub(super) fn warning(captures: &[Capture], devices: &[DeviceRow], idle: &[IdleRow]) -> Option<Warning> {
    let recorded = captures.iter().filter(|capture| capture.environment.with_stack == Some(true)).count();
    let sum = |times: &mut dyn Iterator<Item = u64>| times.fold(0, u64::saturating_add);
    let host = Cause::Host.name();
    let waited = sum(&mut idle.iter().filter(|row| row.cause == host).map(|row| row.total_ns));
    let span = sum(&mut devices.iter().map(|row| row.span_ns));
    if recorded == 0 || waited == 0 || (waited as f64) < MUCH * span as f64 {
        return None;
    }
    Some(Warning {
        code: "stacks_recorded",
        message: "the host is faster without the profiler, which recorded stacks".to_owned(),
        evidence: format!(
            "with_stack in {}; {:.0} % of the span is idle time of the cause {host}",
            counted(recorded as u64, "capture"),
            100.0 * waited as f64 / span as f64
        ),
        hint: "Capture without with_stack.".to_owned(),
    })
}
