//! The part of a run file that renderers need. Keys that are not named here are passed over.

use serde::Deserialize;
use serde_json::{Map, Value};

use super::sweep::Sweep;
use crate::error::{Error, Result};

/// A run.
#[derive(Debug, Deserialize)]
pub struct Run {
    /// One for each runner and problem, in the order they ran.
    pub results: Vec<Row>,
    /// What a sweep found.
    pub sweep: Option<Sweep>,
}

/// One runner on one problem.
#[derive(Debug, Deserialize)]
pub struct Row {
    /// The runner's name.
    pub runner: String,
    /// Its family: `lstm`, `vl_lstm`, `resnet`, …
    pub group: String,
    /// `ok`, `failed`, `skipped` or `timed_out`.
    pub status: String,
    /// Which side of an `ab` it is: `a` or `b`.
    pub side: Option<String>,
    /// What it is called where the runner's name is that of several rows: `cudnn[hidden-size=256] on cuda:1`.
    pub label: Option<String>,
    /// How its processes warmed up, in one word.
    pub warmup_class: Option<String>,
    /// Why it is not `ok`.
    pub reason: Option<String>,
    /// What a reader must know to compare it.
    pub note: Option<String>,
    /// Sizes, dtype, device and seed.
    pub problem: Map<String, Value>,
    /// The forward phase, when it was measured.
    pub forward: Option<Phase>,
    /// The backward phase, when it was measured.
    pub backward: Option<Phase>,
    /// The most memory that one of its processes used: on CUDA what torch allocated, on a CPU the resident size.
    pub peak_memory_bytes: Option<u64>,
    /// The most that torch reserved on a CUDA device.
    pub peak_reserved_bytes: Option<u64>,
    /// The processes that were started for it.
    pub processes: Vec<Process>,
}

/// The summary of a phase, in nanoseconds.
#[derive(Debug, Deserialize)]
#[allow(missing_docs, reason = "the names are those of the run file")]
pub struct Phase {
    pub n_processes: u64,
    pub n_samples: u64,
    pub estimate_ns: f64,
    pub ci_low_ns: Option<f64>,
    pub ci_high_ns: Option<f64>,
    pub ci_method: Option<String>,
    pub mean_ns: f64,
    pub stddev_ns: Option<f64>,
    pub min_ns: f64,
    pub max_ns: f64,
    pub median_ns: f64,
    pub q1_ns: f64,
    pub q3_ns: f64,
    pub p95_ns: f64,
    pub p99_ns: f64,
    pub mad_ns: f64,
}

/// The samples of one worker process.
#[derive(Debug, Deserialize)]
pub struct Process {
    /// How many iterations at the beginning are warm-up.
    pub steady_from: Option<usize>,
    /// One sample an iteration, warm-up included.
    pub forward_ns: Vec<u64>,
    /// The same for backward; `None` where the runner has none.
    pub backward_ns: Option<Vec<u64>>,
}

impl Run {
    /// Reads a run file.
    ///
    /// # Errors
    /// The text is not one.
    pub fn parse(document: &str) -> Result<Self> {
        serde_json::from_str(document).map_err(|error| Error::NotARun { reason: error.to_string() })
    }

    /// The families in the order in which they first appear, each with its rows.
    pub fn groups(&self) -> Vec<(&str, Vec<&Row>)> {
        let mut groups: Vec<(&str, Vec<&Row>)> = Vec::new();
        for row in &self.results {
            match groups.iter_mut().find(|(name, _)| *name == row.group) {
                Some((_, rows)) => rows.push(row),
                None => groups.push((&row.group, vec![row])),
            }
        }
        groups
    }

    /// Which runner needs which note; once, where several of its rows need the same.
    pub fn notes(&self) -> Vec<(String, &str)> {
        let mut found = Vec::new();
        for row in &self.results {
            let note = row.note.as_deref().map(|note| (row.on_side(&row.runner), note));
            found.extend(note.filter(|one| !found.contains(one)));
        }
        found
    }
}

impl Row {
    /// Whether its numbers may be shown.
    pub fn is_ok(&self) -> bool {
        self.status == "ok"
    }

    /// The runner, or what tells it from other rows of that runner, and its side where the run has two: `cudnn (a)`.
    pub fn name(&self) -> String {
        self.on_side(self.label.as_ref().unwrap_or(&self.runner))
    }

    fn on_side(&self, name: &str) -> String {
        match &self.side {
            Some(side) => format!("{name} ({side})"),
            None => name.to_owned(),
        }
    }

    /// The phases that were measured, by name.
    pub fn phases(&self) -> impl Iterator<Item = (&'static str, &Phase)> {
        [("forward", self.forward.as_ref()), ("backward", self.backward.as_ref())]
            .into_iter()
            .filter_map(|(name, phase)| phase.map(|phase| (name, phase)))
    }

    /// `failed: the reason`, or `ok`.
    pub fn outcome(&self) -> String {
        match &self.reason {
            Some(reason) => format!("{}: {reason}", self.status),
            None => self.status.clone(),
        }
    }
}

impl Phase {
    /// Whether the two ends are the least and the greatest process median: too few processes for an interval.
    pub fn is_range(&self) -> bool {
        self.ci_method.as_deref() == Some("range")
    }
}

impl Process {
    /// The samples after the warm-up.
    pub fn steady<'a>(&self, samples: &'a [u64]) -> &'a [u64] {
        samples.get(self.steady_from.unwrap_or(0)..).unwrap_or_default()
    }
}
