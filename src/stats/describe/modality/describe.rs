//! The modes of samples, and how sure it is that there are several.

use std::ops::Range;

use super::dip::dip;
use super::mvalue::{mvalue, shortest_half};
use super::significance::{LEVEL, critical_dip, p_value};
use super::steps::Steps;
use super::taut_string::{Piece, taut_string};
use super::ticks::{constant, origin, spread};
use super::valley::{Valley, deepest};
use crate::error::Result;
use crate::memory::{self, Room as _};
use crate::results::result;
use crate::stats::describe::quantiles::QuantileMethod;
use crate::stats::samples::{finite, not_negative, sorted};

/// Densities nearer to one another than this are the same: rounding makes no modes.
const SAME: f64 = 1e-9;

/// A tick beyond every range that samples have once they are scaled.
const WIDEST: f64 = 1e160;

result! {
    /// One of the modes that `modality` finds. Places are in the unit of the samples.
    pub struct Mode {
        /// Position of the highest density: the median of the samples in the steepest part of the distribution function.
        pub position: f64,
        /// Share of all samples that belong to this mode; the shares of all modes add up to 1.
        pub share: f64,
        /// The smallest sample that belongs to it.
        pub low: f64,
        /// The largest sample that belongs to it.
        pub high: f64,
    }
}

result! {
    /// Result of `modality`.
    pub struct Modality {
        /// Number of samples.
        pub count: usize,
        /// The dip of the samples as they are: a probability from 0 to 1/4.
        pub dip: f64,
        /// The dip once samples that share a value are spread over their tick; the same as `dip` where none do, and 0 where
        /// the samples count as constant.
        pub dip_within_ticks: f64,
        /// The tick, in the unit of the samples: the one that was given, or that the samples show; None where none do.
        pub tick: Option<f64>,
        /// Probability that as many uniform samples have at least `dip_within_ticks`. The value 0.0005 means that or less;
        /// fewer than four samples have 1.
        pub p_value: f64,
        /// Depth of the deepest valley of a density estimate, with the dip that comes with it, relative to the limit of chance
        /// and long tails; 0 without a valley, and for fewer than 20 samples.
        pub valley_evidence: f64,
        /// Gregg's mvalue: about 2 for one mode, 4 for two equal ones that lie apart.
        pub mvalue: f64,
        /// The modes, ascending: several where `p_value` is below 0.05; else two where `valley_evidence` is above
        /// 1; else one.
        pub modes: Vec<Mode>,
    }
}

/// Tests if `samples` have more than one mode, and finds their modes.
///
/// The test is that of Hartigan and Hartigan, *The Dip Test of Unimodality* (The Annals of Statistics 13, 1985), against
/// uniform samples, which no distribution with one mode exceeds in the long run. The modes are those of the taut string
/// (Davies and Kovac, The Annals of Statistics 29, 2001) through the band around the samples' distribution function that is
/// as wide as the dip that chance exceeds in 5 %: the fewest modes that a distribution within the band can have. Where the
/// dip is explained by chance the deepest valley of a density estimate still parts two modes, if it is deeper than 5 % of
/// smooth samples with one mode have it; that finds modes in fewer samples, and smaller ones.
///
/// `tick` is the resolution of the clock in the unit of the samples: samples that are equal within it are distributed evenly
/// over it. 0 takes samples as they are; without one it is what samples that share a value show. Then samples whose range is
/// at most 10⁻¹² of the largest of them count as constant: so far apart rounding alone moves what was the same.
///
/// # Errors
/// No samples; a NaN or an infinity, named by position; a tick that is negative or not finite; `interrupted`.
pub fn modality(samples: &[f64], tick: Option<f64>, interrupted: &dyn Fn() -> bool) -> Result<Modality> {
    finite("samples", samples, 1)?;
    tick.map_or(Ok(()), |tick| not_negative("tick", tick))?;
    let sorted = sorted(memory::copied(samples), interrupted)?;
    let n = sorted.len();
    let (scale, origin) = (scale(sorted[n - 1] - sorted[0]), origin(&sorted));
    let scaled: Vec<f64> = memory::collected(sorted.iter().map(|value| (value - origin) * scale));

    let as_they_are = dip(&Steps::of(&scaled), interrupted)?;
    if tick.is_none() && constant(&sorted) {
        return Ok(Modality {
            count: n,
            dip: as_they_are,
            dip_within_ticks: 0.0,
            tick: None,
            p_value: 1.0,
            valley_evidence: 0.0,
            mvalue: 2.0,
            modes: vec![mode(0..n, 0..n, &sorted)],
        });
    }
    let spread = spread(scaled, origin * scale, tick.map(|tick| (tick * scale).min(WIDEST)), interrupted)?;
    let steps = Steps::of(&spread.values);
    let dip_within_ticks = if spread.tick.is_some() { dip(&steps, interrupted)? } else { as_they_are };
    let p_value = p_value(dip_within_ticks, n);
    let (half, tick_width) = (shortest_half(&spread.values), spread.tick.unwrap_or(0.0));
    let valley = deepest(&spread.values, half, tick_width, interrupted)?;
    let critical = critical_dip(n);
    let valley_evidence = valley.as_ref().map_or(0.0, |valley| valley.evidence(dip_within_ticks, critical));
    let modes = match &valley {
        Some(valley) if p_value >= LEVEL && valley_evidence > 1.0 => either_side(valley, &sorted),
        _ => modes(&taut_string(&steps, critical * n as f64, interrupted)?, &steps, &sorted),
    };
    Ok(Modality {
        count: n,
        dip: as_they_are,
        dip_within_ticks,
        tick: tick.filter(|tick| *tick > 0.0).or(spread.tick.map(|tick| (tick / scale).min(f64::MAX))),
        p_value,
        valley_evidence,
        mvalue: mvalue(&spread.values, half, tick_width),
        modes,
    })
}

/// Returns a power of two that scales a range so that neither the range nor its squares overflow or vanish.
fn scale(range: f64) -> f64 {
    const HUGE: f64 = 1e150;
    match range {
        range if range > HUGE => 2.0_f64.powi(-600),
        range if range > 0.0 && range < 1.0 / HUGE => 2.0_f64.powi(500),
        _ => 1.0,
    }
}

/// The modes of the string, of which `steps` says where the samples are that it was pulled through.
fn modes(string: &[Piece], steps: &Steps, sorted: &[f64]) -> Vec<Mode> {
    let peaks = peaks(string);
    if peaks.is_empty() {
        // All samples are the same, and nothing was pulled.
        return vec![mode(0..sorted.len(), 0..sorted.len(), sorted)];
    }
    let mut ends: Vec<usize> =
        memory::collected(peaks.windows(2).map(|pair| gap(&string[pair[0] + 1..pair[1]], steps)));
    ends.put(sorted.len());
    let mut first = 0;
    let found = peaks.iter().map(|&peak| &string[peak]).zip(ends).map(|(peak, end)| {
        let members = std::mem::replace(&mut first, end)..end;
        mode(members, steps.below(peak.from)..steps.up_to(peak.to), sorted)
    });
    found.collect()
}

/// The modes that a valley parts.
fn either_side(valley: &Valley, sorted: &[f64]) -> Vec<Mode> {
    let sides = [0..valley.left, valley.left..sorted.len()];
    sides.into_iter().zip(&valley.peaks).map(|(members, top)| mode(members, top.clone(), sorted)).collect()
}

/// The mode that has the samples at positions `members`, and is densest at `top`.
fn mode(members: Range<usize>, top: Range<usize>, sorted: &[f64]) -> Mode {
    let (top, middle) = (&sorted[top.clone()], QuantileMethod::Linear.place(0.5, top.len()));
    Mode {
        position: middle.value(top[middle.below], top[middle.above]),
        share: members.len() as f64 / sorted.len() as f64,
        low: sorted[members.start],
        high: sorted[members.end - 1],
    }
}

/// The pieces that are steeper than those on either side; level ones count once, by the first.
fn peaks(string: &[Piece]) -> Vec<usize> {
    let mut peaks = Vec::new();
    let (mut top, mut bottom, mut rising) = (0, 0.0, true);
    for (place, piece) in string.iter().enumerate() {
        if rising {
            if piece.slope > string[top].slope {
                top = place;
            } else if piece.slope < string[top].slope * (1.0 - SAME) {
                peaks.put(top);
                (bottom, rising) = (piece.slope, false);
            }
        } else if piece.slope > bottom * (1.0 + SAME) {
            (top, rising) = (place, true);
        } else {
            bottom = piece.slope.min(bottom);
        }
    }
    if rising && !string.is_empty() {
        peaks.push(top);
    }
    peaks
}

/// Returns the number of samples left of the widest gap in the flattest of the pieces between two peaks.
fn gap(between: &[Piece], steps: &Steps) -> usize {
    let flattest = between.iter().min_by(|one, other| one.slope.total_cmp(&other.slope));
    let (from, to) = flattest.map_or((0, 0), |piece| (piece.from, piece.to));
    let width = |i: &usize| steps.at[*i] - steps.at[*i - 1];
    let widest = (from + 1..=to).max_by(|one, other| width(one).total_cmp(&width(other)));
    widest.map_or(0, |step| steps.below(step))
}
