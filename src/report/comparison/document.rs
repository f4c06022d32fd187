//! The part of a comparison that renderers need. Keys that are not named here are passed over.

use serde::Deserialize;
use serde_json::{Map, Value};

use super::captures::{Basis, Change, Kernel};
use super::problems::distinctions;
use crate::error::{Error, Result};

/// Two sides, held against each other.
#[derive(Debug, Deserialize)]
pub(super) struct Comparison {
    #[serde(default)]
    pub(super) kind: Kind,
    pub(super) warnings: Vec<Warning>,
    pub(super) baseline: Side,
    pub(super) candidate: Side,
    pub(super) method: Method,
    pub(super) environment_differences: Vec<Difference>,
    pub(super) rows: Vec<Row>,
    pub(super) geometric_mean: Option<GeometricMean>,
    pub(super) counts: Counts,
    /// The rest is of captures.
    #[serde(default)]
    pub(super) basis: Option<Basis>,
    #[serde(default)]
    pub(super) kernels: Vec<Kernel>,
    #[serde(default)]
    pub(super) categories: Vec<Change>,
    #[serde(default)]
    pub(super) device_time: Option<Change>,
}

/// What was compared.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Kind {
    #[default]
    Run,
    Capture,
}

#[derive(Debug, Deserialize)]
pub(super) struct Warning {
    pub(super) code: String,
    pub(super) message: String,
    pub(super) evidence: Option<String>,
    pub(super) hint: Option<String>,
}

#[derive(Debug, Deserialize)]
pub(super) struct Side {
    pub(super) label: String,
    #[serde(default)]
    pub(super) captures: Option<u64>,
    #[serde(default)]
    pub(super) iterations: Option<u64>,
}

/// How verdicts come about.
#[derive(Debug, Deserialize)]
pub(super) struct Method {
    pub(super) name: String,
    pub(super) confidence_level: f64,
    /// What is equivalent still, as a fraction.
    pub(super) margin: f64,
    pub(super) margin_source: MarginSource,
    pub(super) false_discovery_rate: f64,
    /// Whether the sides would have been refused.
    pub(super) forced: bool,
}

#[derive(Debug, Clone, Copy, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum MarginSource {
    Default,
    Option,
    NoiseFloor,
}

/// A key of the environment in which the sides differ; `null` is what a side does not have.
#[derive(Debug, Deserialize)]
pub(super) struct Difference {
    pub(super) key: String,
    pub(super) baseline: Value,
    pub(super) candidate: Value,
}

/// One runner and phase.
#[derive(Debug, Deserialize)]
pub(super) struct Row {
    pub(super) runner: String,
    pub(super) group: Option<String>,
    /// `None` for files that know no phases.
    pub(super) phase: Option<Phase>,
    /// `None` for files that know no problems.
    pub(super) problem: Option<Map<String, Value>>,
    /// ` (hidden_size 64)` where other rows have its runner and phase; no key of the document.
    #[serde(skip)]
    distinction: String,
    pub(super) baseline: Option<Measured>,
    pub(super) candidate: Option<Measured>,
    pub(super) ratio: Option<f64>,
    pub(super) ratio_ci_low: Option<f64>,
    pub(super) ratio_ci_high: Option<f64>,
    pub(super) cliffs_delta: Option<f64>,
    pub(super) p_value_adjusted: Option<f64>,
    pub(super) verdict: Option<Verdict>,
    pub(super) reason: Option<String>,
    /// What a reader must know before the verdict.
    pub(super) label: Option<String>,
    pub(super) additional_processes: Option<u64>,
}

#[derive(Debug, Clone, Copy, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Phase {
    Forward,
    Backward,
}

/// What stands behind one side of a row.
#[derive(Debug, Deserialize)]
pub(super) struct Measured {
    /// 0 where there is no process level.
    pub(super) n_processes: u64,
    pub(super) estimate_ns: f64,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Verdict {
    Faster,
    Slower,
    Equivalent,
    Inconclusive,
}

#[derive(Debug, Deserialize)]
pub(super) struct GeometricMean {
    pub(super) ratio: f64,
    pub(super) ratio_ci_low: Option<f64>,
    pub(super) ratio_ci_high: Option<f64>,
    pub(super) n: u64,
}

/// Rows of each verdict.
#[derive(Debug, Deserialize)]
pub(super) struct Counts {
    pub(super) faster: u64,
    pub(super) slower: u64,
    pub(super) equivalent: u64,
    pub(super) inconclusive: u64,
    /// Rows without a verdict.
    pub(super) none: u64,
}

impl Phase {
    pub(super) fn word(self) -> &'static str {
        match self {
            Self::Forward => "forward",
            Self::Backward => "backward",
        }
    }
}

impl Verdict {
    pub(super) fn word(self) -> &'static str {
        match self {
            Self::Faster => "faster",
            Self::Slower => "slower",
            Self::Equivalent => "equivalent",
            Self::Inconclusive => "inconclusive",
        }
    }
}

impl Comparison {
    /// Reads a comparison.
    ///
    /// # Errors
    /// The text is not one.
    pub(super) fn parse(document: &str) -> Result<Self> {
        let mut found: Self =
            serde_json::from_str(document).map_err(|error| Error::NotAComparison { reason: error.to_string() })?;
        let distinctions = distinctions(&found.rows);
        for (row, distinction) in found.rows.iter_mut().zip(distinctions) {
            row.distinction = distinction;
        }
        Ok(found)
    }
}

impl Row {
    /// `runner/phase`, by which a row is asked for; the runner alone where files know no phases. Where that names other
    /// rows too, what their problems differ in follows.
    pub(super) fn name(&self) -> String {
        let Self { runner, distinction, .. } = self;
        match self.phase {
            Some(phase) => format!("{runner}/{}{distinction}", phase.word()),
            None => format!("{runner}{distinction}"),
        }
    }

    /// The runner, for a table in which the phase has its own column.
    pub(super) fn title(&self) -> String {
        format!("{}{}", self.runner, self.distinction)
    }

    /// Whether it is inconclusive although its own interval leaves 1 out: among many rows a few do so by chance.
    pub(super) fn overruled(&self) -> bool {
        let leaves_out =
            self.ratio_ci_low.is_some_and(|low| low > 1.0) || self.ratio_ci_high.is_some_and(|high| high < 1.0);
        self.verdict == Some(Verdict::Inconclusive) && leaves_out
    }

    /// Whether there is no verdict because a side broke, rather than because it has too little.
    pub(super) fn failed(&self) -> bool {
        let broke = |reason: &str| reason.starts_with("failed") || reason.starts_with("timed out");
        // A reason may name both sides.
        self.verdict.is_none() && self.reason.as_ref().is_some_and(|reason| reason.split("; ").any(broke))
    }
}
