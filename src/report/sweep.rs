//! The part of a run file that a sweep adds: what was measured at each point, and how time grows along an axis.

use serde::Deserialize;
use serde_json::{Map, Value};

/// Values by axis, in the order of the axes.
pub(super) type Point = Map<String, Value>;

/// What a sweep found.
#[derive(Debug, Deserialize)]
pub struct Sweep {
    pub(super) axes: Vec<Axis>,
    pub(super) cells: Vec<Cell>,
    pub(super) growth: Vec<Growth>,
}

/// What was swept, and over which values.
#[derive(Debug, Deserialize)]
pub(super) struct Axis {
    pub(super) name: String,
    pub(super) values: Vec<Value>,
}

/// One phase of a runner at one point; `iteration` is forward and backward together.
#[derive(Debug, Deserialize)]
pub(super) struct Cell {
    pub(super) runner: String,
    pub(super) point: Point,
    pub(super) phase: String,
    pub(super) time_ns: f64,
    pub(super) steps_per_second: Option<f64>,
    pub(super) samples_per_second: Option<f64>,
}

/// How the time of a phase grows along an axis, with all others held `at` their values.
#[derive(Debug, Deserialize)]
pub(super) struct Growth {
    pub(super) runner: String,
    pub(super) phase: String,
    pub(super) axis: String,
    pub(super) at: Point,
    pub(super) exponent: Option<f64>,
    pub(super) ci_low: Option<f64>,
    pub(super) ci_high: Option<f64>,
    pub(super) local_exponents: Vec<f64>,
    pub(super) largest_deviation: Option<f64>,
    pub(super) straight: Option<bool>,
    pub(super) reason: Option<String>,
}

/// A value of an axis as people write it.
pub(super) fn written(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        other => other.to_string(),
    }
}

/// `hidden-size=256,dtype=float64`.
pub(super) fn told(point: &Point) -> String {
    point.iter().map(|(name, value)| format!("{name}={}", written(value))).collect::<Vec<_>>().join(",")
}
