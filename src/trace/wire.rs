//! A trace, or a summary, as bytes, for another process of the same version: read on many machines, put together on one.
//!
//! Bytes come from elsewhere. Whatever they are, what is made of them is a trace whose parts fit together, or an error.

use std::fmt;
use std::marker::PhantomData;

use serde::de::{SeqAccess, Visitor};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use super::capture::{Capture, LeftOut, Warning};
use super::distinct::Distinct;
use super::log::Log;
use super::names::{NameId, Names};
use super::range::{Label, Range};
use super::summary::{MetricRow, Summary};
use super::total::Total;
use super::trace::{Callee, Device, Trace};
use super::work::{KernelName, Kind, Work};
use crate::error::{Error, Result};
use crate::memory::{self, Room as _};

/// Start of the bytes. Other versions may lay them out otherwise.
const HEAD: &str = concat!("fastrnns-rs trace ", env!("CARGO_PKG_VERSION"), "\n");
const SUMMARY_HEAD: &str = concat!("fastrnns-rs summary ", env!("CARGO_PKG_VERSION"), "\n");
const OTHER_VERSION: &str = "written by another version of fastrnns-rs";

type About<'a> = (Vec<Capture>, usize, Vec<LeftOut>, Vec<Warning>, List<&'a str>, Vec<String>, List<Device>);
type Events<'a> = (Vec<&'a [u8]>, Vec<&'a [u8]>, Vec<&'a [u8]>, Vec<&'a [u8]>, List<Range>);
type Totals = (List<Total>, List<MetricRow>);
type Whole<'a> = (About<'a>, (List<Work>, List<Callee>, List<Label>), Events<'a>, Totals);

impl Trace {
    /// All of it.
    ///
    /// # Errors
    /// Never, as far as is known.
    pub fn to_bytes(&self) -> Result<Vec<u8>> {
        let names: Vec<&str> = memory::collected(self.names.all());
        let about = (&self.captures, self.first, &self.left_out, &self.warnings, &names, &self.clocks, &self.devices);
        let works = (self.works.all(), self.callees.all(), self.labels.all());
        let events = (&self.kernels, &self.memory, &self.calls, &self.operators, &self.ranges);
        let totals = (&self.totals, &self.metrics);
        packed(HEAD, &(about, works, events, totals)).map_err(|error| not_one(&error.to_string()))
    }

    /// The trace that [`Trace::to_bytes`] made these of.
    ///
    /// # Errors
    /// They are of another version, or damaged.
    pub fn from_bytes(bytes: &[u8]) -> Result<Self> {
        let Some(rest) = bytes.strip_prefix(HEAD.as_bytes()) else {
            return Err(not_one(OTHER_VERSION));
        };
        let (whole, rest): (Whole<'_>, _) =
            postcard::take_from_bytes(rest).map_err(|error| not_one(&error.to_string()))?;
        let ((captures, first, left_out, warnings, texts, clocks, devices), works, events, totals) = whole;
        let log = |chunks: &[&[u8]]| Log::from_chunks(chunks).ok_or_else(|| not_one("an event ends before it starts"));
        let twice = || not_one("an entry is stored twice");
        let mut names = Names::default();
        if !(0..).zip(&texts.0).all(|(place, text)| names.intern(text).place() == place) {
            return Err(twice());
        }
        let mut trace = Self::behind(first);
        (trace.captures, trace.left_out, trace.warnings) = (captures, left_out, warnings);
        trace.names = names;
        for clock in clocks {
            trace.add_clock(clock);
        }
        trace.works = Distinct::of(works.0.0).ok_or_else(twice)?;
        trace.callees = Distinct::of(works.1.0).ok_or_else(twice)?;
        trace.labels = Distinct::of(works.2.0).ok_or_else(twice)?;
        (trace.kernels, trace.memory) = (log(&events.0)?, log(&events.1)?);
        (trace.calls, trace.operators, trace.ranges) = (log(&events.2)?, log(&events.3)?, events.4.0);
        (trace.totals, trace.metrics) = (totals.0.0, totals.1.0);
        trace.set_devices(devices.0);
        if rest.is_empty() && trace.fits_together() { Ok(trace) } else { Err(not_one("the parts are inconsistent")) }
    }

    /// Returns true if every number refers to an entry.
    fn fits_together(&self) -> bool {
        let names = self.names.all().count();
        let named = |id: NameId| id.place() < names;
        let on = |clock: u32| (clock as usize) < self.clocks.len();
        let works = self.works.all();
        let is_kernel = |work: &Work| matches!(work.kind, Kind::Kernel(..));
        let kernel_named =
            |KernelName { full, short, mangled }| named(full) && short.is_none_or(named) && mangled.is_none_or(named);
        let all_named = |work: &Work| match work.kind {
            Kind::Kernel(name, _) => kernel_named(name),
            Kind::Memory { name, kind, .. } => named(name) && named(kind),
        };
        let whats = |log: &Log, fits: &dyn Fn(usize) -> bool| log.iter().all(|entry| fits(entry.what as usize));
        let label = |range: &Range| (range.label as usize) < self.labels.all().len();
        self.devices.iter().all(|device| on(device.clock) && (device.capture as usize) < self.captures.len())
            && works.iter().all(|work| all_named(work) && (work.queue.device as usize) < self.devices.len())
            && self
                .callees
                .all()
                .iter()
                .all(|callee| on(callee.clock) && named(callee.name) && (callee.capture as usize) < self.captures.len())
            && self.labels.all().iter().all(|label| {
                on(label.clock)
                    && (label.capture as usize) < self.captures.len()
                    && named(label.name)
                    && label.domain.is_none_or(named)
                    && label.runner.is_none_or(named)
            })
            && self.totals.iter().all(|total| total.fits(kernel_named, named))
            && self.ranges.iter().all(|range| label(range) && range.end.is_none_or(|end| end >= range.start))
            && whats(&self.kernels, &|what| works.get(what).is_some_and(is_kernel))
            && whats(&self.memory, &|what| works.get(what).is_some_and(|work| !is_kernel(work)))
            && [&self.calls, &self.operators].iter().all(|log| whats(log, &|what| what < self.callees.all().len()))
    }
}

impl Summary {
    /// All of it.
    ///
    /// # Errors
    /// Never, as far as is known.
    pub fn to_bytes(&self) -> Result<Vec<u8>> {
        packed(SUMMARY_HEAD, self).map_err(|error| Error::NotASummary { reason: error.to_string() })
    }

    /// The summary that [`Summary::to_bytes`] made these of.
    ///
    /// # Errors
    /// They are of another version, or damaged.
    pub fn from_bytes(bytes: &[u8]) -> Result<Self> {
        let reason = |reason: &str| Error::NotASummary { reason: reason.to_owned() };
        let rest = bytes.strip_prefix(SUMMARY_HEAD.as_bytes()).ok_or_else(|| reason(OTHER_VERSION))?;
        // Its rows take no more than some times as much as they do here.
        memory::probe(bytes.len().saturating_mul(4));
        let (summary, rest) = postcard::take_from_bytes(rest).map_err(|error| reason(&error.to_string()))?;
        if rest.is_empty() { Ok(summary) } else { Err(reason("bytes follow the end")) }
    }
}

fn packed(head: &str, whole: &impl Serialize) -> postcard::Result<Vec<u8>> {
    postcard::to_extend(whole, memory::Grown(head.as_bytes().to_vec())).map(|bytes| bytes.0)
}

fn not_one(reason: &str) -> Error {
    Error::NotATrace { reason: reason.to_owned() }
}

/// A list of which only the bytes say how long it is.
struct List<T>(Vec<T>);

impl<'de, T: Deserialize<'de>> Deserialize<'de> for List<T> {
    fn deserialize<D: Deserializer<'de>>(from: D) -> std::result::Result<Self, D::Error> {
        struct Items<T>(PhantomData<T>);

        impl<'de, T: Deserialize<'de>> Visitor<'de> for Items<T> {
            type Value = Vec<T>;

            fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
                formatter.write_str("a list")
            }

            fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> std::result::Result<Vec<T>, A::Error> {
                let mut list = Vec::new();
                while let Some(item) = items.next_element()? {
                    list.put(item);
                }
                Ok(list)
            }
        }

        from.deserialize_seq(Items(PhantomData)).map(Self)
    }
}

impl Serialize for Log {
    fn serialize<S: Serializer>(&self, to: S) -> std::result::Result<S::Ok, S::Error> {
        self.chunks().collect::<Vec<_>>().serialize(to)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::trace::total::TotalKind;
    use crate::trace::{Entry, Queue, Reach, Shape, Source};

    /// A trace with something of every kind, put together from parts that repeat one another.
    fn whole(parts: usize) -> Trace {
        let mut whole = Trace::default();
        for number in 0..parts {
            whole.append(part(number));
        }
        whole
    }

    fn part(number: usize) -> Trace {
        let mut trace = Trace::behind(number);
        let clock = trace.add_clock(format!("clock {}", number / 2));
        let queue =
            Queue { device: trace.device(clock, Some(9), Some(i64::from(!number.is_multiple_of(2)))), stream: Some(7) };
        let (full, short) = (trace.names.intern("kernel<int>"), trace.names.intern(&format!("kernel{number}")));
        let shape = Shape { grid: Some([1, 2, 3]), registers_per_thread: Some(32), ..Shape::default() };
        let kind = Kind::Kernel(KernelName { full, short: Some(short), mangled: None }, shape);
        let kernel = trace.works.intern(Work { queue, in_graph: number.is_multiple_of(2), kind });
        let kind = Kind::Memory { name: full, kind: short, sized: true };
        let copy = trace.works.intern(Work { queue, in_graph: false, kind });
        let total =
            Total { kind: TotalKind::Call(short), device_id: None, count: 2, total_ns: 9, min_ns: 4, max_ns: 5 };
        trace.totals.push(total);
        let (name, unit) = ("metric".into(), Some("%".to_owned()));
        trace.metrics.push(MetricRow { name, avg: Some(number as f64), unit, ..MetricRow::default() });
        let callee = trace.callee(clock, Some(9), None, full);
        for at in 0..50 {
            let start = i64::from(at) * 10 - 200;
            let entry = |what, bytes| Entry { what, start, end: start + 7, bytes, correlation: u64::from(at as u32) };
            trace.kernels.push(entry(kernel, 0));
            trace.memory.push(entry(copy, 1 << at));
            trace.calls.push(entry(callee, 0));
        }
        let (reach, source) = (Reach::Thread(Some(3)), Source::Nvtx);
        let label = Label {
            capture: 0,
            clock,
            process_id: None,
            reach,
            name: short,
            domain: Some(full),
            source,
            runner: Some(short),
        };
        let label = trace.labels.intern(label);
        trace.ranges.push(Range { label, start: 1, end: (number > 0).then_some(5) });
        let mut capture = Capture { path: format!("{number}.json"), format: "kineto", ..Capture::default() };
        capture.skip("why", Some(3));
        trace.captures.push(capture);
        let text = || "text".to_owned();
        trace.warnings.push(Warning { code: "events_skipped", message: text(), evidence: text(), hint: text() });
        trace.left_out.push(LeftOut { path: text(), reason: text() });
        trace
    }

    #[test]
    fn refuses_other_versions_and_what_is_cut() {
        let bytes = whole(2).to_bytes().expect("bytes");
        for end in 0..bytes.len() {
            assert!(Trace::from_bytes(&bytes[..end]).is_err(), "{end}");
        }
        let error = Trace::from_bytes(b"fastrnns-rs trace 0.0.0\n").expect_err("another version");
        assert!(error.to_string().contains("another version"));
        let longer = [bytes.as_slice(), b"\0"].concat();
        assert!(Trace::from_bytes(&longer).is_err());
    }

    proptest! {
        #[test]
        fn damaged_bytes_make_a_trace_that_fits_together_or_none(
            changes in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..4),
        ) {
            let mut bytes = whole(2).to_bytes().expect("bytes");
            for (place, byte) in changes {
                let place = HEAD.len() + place.index(bytes.len() - HEAD.len());
                bytes[place] = byte;
            }
            if let Ok(trace) = Trace::from_bytes(&bytes) {
                let mut other = whole(1);
                other.append(trace);
                prop_assert!(other.fits_together());
                prop_assert!(Trace::from_bytes(&other.to_bytes().expect("bytes")).is_ok());
            }
        }
    }
}
