//! Checks of arguments, by name and position, and of interruptions.

use crate::error::{Error, Result, require};

/// An error once the caller wants no more of it.
///
/// # Errors
/// [`Error::Interrupted`], if `interrupted` says so.
pub fn check(interrupted: &dyn Fn() -> bool) -> Result<()> {
    if interrupted() { Err(Error::Interrupted) } else { Ok(()) }
}

/// Refuses fewer than `least` values, and a NaN or an infinity by position.
///
/// # Errors
/// That.
pub fn finite(argument: &'static str, samples: &[f64], least: usize) -> Result<()> {
    each(argument, samples, least, |position, value| {
        if value.is_finite() { Ok(()) } else { Err(Error::NotFinite { argument, position, value }) }
    })
}

/// Checks samples for a function that takes logarithms: values must be above 0.
///
/// # Errors
/// That.
pub fn positive(argument: &'static str, samples: &[f64], least: usize) -> Result<()> {
    each(argument, samples, least, |position, value| {
        if !value.is_finite() {
            Err(Error::NotFinite { argument, position, value })
        } else if value <= 0.0 {
            Err(Error::NotPositive { argument, position, value })
        } else {
            Ok(())
        }
    })
}

fn each(argument: &'static str, samples: &[f64], least: usize, value: impl Fn(usize, f64) -> Result<()>) -> Result<()> {
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
    inside_0_and_1("confidence_level", level)
}

/// Refuses a number that does not lie strictly between 0 and 1.
pub(crate) fn inside_0_and_1(argument: &'static str, value: f64) -> Result<()> {
    require(value > 0.0 && value < 1.0, argument, value, "between 0 and 1, both excluded")
}

/// Refuses a number below 0, a NaN and an infinity.
pub(crate) fn not_negative(argument: &'static str, value: f64) -> Result<()> {
    require(value >= 0.0 && value.is_finite(), argument, value, "finite and not below 0")
}

/// Rejects numbers that are not probabilities, by position.
pub(crate) fn probabilities(argument: &'static str, values: &[f64]) -> Result<()> {
    match values.iter().enumerate().find(|(_, value)| !(0.0..=1.0).contains(*value)) {
        Some((position, &value)) => {
            Err(Error::ElementOutOfRange { argument, position, value, expected: "from 0 to 1" })
        }
        None => Ok(()),
    }
}
