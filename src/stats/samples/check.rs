//! What arguments must be, said by name and position.

use crate::error::{Error, Result};

/// Refuses fewer than `least` values, and a NaN or an infinity by position.
///
/// # Errors
/// That.
pub fn finite(argument: &'static str, samples: &[f64], least: usize) -> Result<()> {
    check(argument, samples, least, |position, value| {
        if value.is_finite() { Ok(()) } else { Err(Error::NotFinite { argument, position, value }) }
    })
}

/// The same for a function that takes logarithms: also refuses what is not above 0.
///
/// # Errors
/// That.
pub fn positive(argument: &'static str, samples: &[f64], least: usize) -> Result<()> {
    check(argument, samples, least, |position, value| {
        if !value.is_finite() {
            Err(Error::NotFinite { argument, position, value })
        } else if value <= 0.0 {
            Err(Error::NotPositive { argument, position, value })
        } else {
            Ok(())
        }
    })
}

fn check(
    argument: &'static str,
    samples: &[f64],
    least: usize,
    value: impl Fn(usize, f64) -> Result<()>,
) -> Result<()> {
    // A bad value is named first: it is the better reason.
    samples.iter().enumerate().try_for_each(|(position, &sample)| value(position, sample))?;
    match samples.len() {
        found if found >= least => Ok(()),
        0 => Err(Error::Empty { argument }),
        found => Err(Error::TooFew { argument, needed: least, found }),
    }
}

/// Refuses a level that is no probability strictly between 0 and 1.
///
/// # Errors
/// That.
pub fn confidence_level(level: f64) -> Result<()> {
    if level > 0.0 && level < 1.0 {
        return Ok(());
    }
    let expected = "between 0 and 1, both excluded";
    Err(Error::OutOfRange { argument: "confidence_level", value: level, expected })
}
