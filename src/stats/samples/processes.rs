//! Samples that come from several processes: one median of each stands for it.

use super::{Moments, finite, order_statistics};
use crate::error::{Error, Result};

/// The median of each process's samples.
///
/// # Errors
/// A process without samples, or with a NaN or an infinity, named by its position; an interruption.
pub fn process_medians(
    argument: &'static str,
    processes: &[&[f64]],
    interrupted: &dyn Fn() -> bool,
) -> Result<Vec<f64>> {
    let median_of = |(process, samples): (usize, &&[f64])| {
        median("samples", samples, interrupted).map_err(|error| match error {
            Error::Interrupted => error,
            error => Error::InProcess { argument, process, error: Box::new(error) },
        })
    };
    processes.iter().enumerate().map(median_of).collect()
}

/// The median: of an even number of samples, the mean of the two in the middle.
///
/// # Errors
/// No samples; a NaN or an infinity; an interruption.
pub fn median(argument: &'static str, samples: &[f64], interrupted: &dyn Fn() -> bool) -> Result<f64> {
    finite(argument, samples, 1)?;
    let (below, above) = ((samples.len() - 1) / 2, samples.len() / 2);
    let (low, high) = Moments::extremes(samples);
    let middle = order_statistics(samples, std::convert::identity, (low, high), &[below, above], interrupted)?;
    Ok(middle[0].midpoint(middle[1]))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_process_has_its_median() {
        let found = process_medians("processes", &[&[3.0, 1.0, 2.0], &[4.0, 1.0], &[7.0]], &|| false);
        assert_eq!(found, Ok(vec![2.0, 2.5, 7.0]));
        assert_eq!(median("huge", &[f64::MIN, f64::MAX], &|| false), Ok(0.0));
    }

    #[test]
    fn a_bad_process_is_named() {
        let message =
            |bad: &[f64]| process_medians("sides", &[&[1.0], bad], &|| false).expect_err("must be refused").to_string();
        assert_eq!(message(&[]), "sides[1]: samples is empty; at least one value is needed");
        assert_eq!(message(&[0.0, f64::NAN]), "sides[1]: samples[1] is NaN; every value must be finite");
    }
}
