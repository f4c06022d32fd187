//! The levels of a segmented series: which of them are the same, and whether one still moves.

/// Autocorrelation is not believed beyond this: the standard error would lose its meaning.
const MOST_AUTOCORRELATION: f64 = 0.9;
/// Levels closer than so many standard errors are no different.
const ERRORS: f64 = 4.0;
/// A beginning that is slower by so many standard errors is so not by chance, although the slowest one is chosen.
const SETTLING: f64 = 4.5;
/// Number of parts of equal length whose means show a trend; each must have some points.
const PARTS: usize = 10;
const LEAST_PER_PART: usize = 4;
/// Student's t with 8 degrees of freedom that is exceeded, on either side, twice in a thousand times.
const TREND: f64 = 4.501;

/// One segment of a series.
#[derive(Debug, Clone, Copy)]
pub(super) struct Level {
    pub(super) begin: usize,
    pub(super) end: usize,
    mean: f64,
    variance: f64,
}

impl Level {
    pub(super) fn of(points: &[f64], (begin, end): (usize, usize)) -> Self {
        let (mean, variance) = mean_variance(&points[begin..end]);
        Self { begin, end, mean, variance }
    }

    pub(super) fn len(&self) -> usize {
        self.end - self.begin
    }
}

/// Relation of a level to another.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Place {
    Faster,
    Same,
    Slower,
}

/// Says whether two levels are the same.
pub(super) struct Equality {
    /// Largest relative difference of equal levels, whatever the noise.
    pub(super) tolerance: f64,
    /// Factor by which autocorrelation multiplies standard errors.
    inflation: f64,
}

impl Equality {
    /// The one for `points` that fall into `levels`: their neighbours' autocorrelation is read from the distances to these.
    pub(super) fn of(points: &[f64], levels: &[Level], tolerance: f64) -> Self {
        let (mut products, mut squares) = (0.0, 0.0);
        for level in levels {
            let points = &points[level.begin..level.end];
            squares += level.variance * points.len() as f64;
            products += points.windows(2).map(|pair| (pair[0] - level.mean) * (pair[1] - level.mean)).sum::<f64>();
        }
        let correlation = if squares > 0.0 { (products / squares).clamp(0.0, MOST_AUTOCORRELATION) } else { 0.0 };
        Self { tolerance, inflation: ((1.0 + correlation) / (1.0 - correlation)).sqrt() }
    }

    /// Returns the relation of `level` to `reference`, whose noise is used for both: that of a changing level means nothing.
    pub(super) fn place(&self, level: &Level, reference: &Level) -> Place {
        let lengths = 1.0 / level.len() as f64 + 1.0 / reference.len() as f64;
        let error = self.inflation * (reference.variance * lengths).sqrt();
        let apart = level.mean - reference.mean;
        if apart.abs() <= self.tolerance.max(ERRORS * error) {
            Place::Same
        } else if apart > 0.0 {
            Place::Slower
        } else {
            Place::Faster
        }
    }

    /// Returns true if the change from `before` to `after` is a slope and not a step: one line through both fits as well as two
    /// levels, and moves by more than the tolerance. A slow drift looks like stairs otherwise, the last of which may be long.
    pub(super) fn slopes(&self, before: &[f64], after: &[f64]) -> bool {
        if before.is_empty() {
            return false;
        }
        let points = [before, after].concat();
        let n = points.len() as f64;
        let (mean, variance) = mean_variance(&points);
        let place = |index: usize| index as f64 - (n - 1.0) / 2.0;
        let spread = n * (n * n - 1.0) / 12.0;
        let product: f64 = points.iter().enumerate().map(|(index, point)| place(index) * (point - mean)).sum();
        let line = n * variance - product * product / spread;
        let step = [before, after].iter().map(|part| part.len() as f64 * mean_variance(part).1).sum();
        line <= step && (product / spread * n).abs() > self.tolerance
    }

    /// Returns the number of the first `points` that still fall to the level of the others.
    ///
    /// Segments have one level each, and so the tail of a slow settling falls to the last one. Cut off is the beginning that
    /// is slowest against the rest in standard errors, while that is more than chance and the tolerance allow.
    pub(super) fn settling(&self, points: &[f64]) -> usize {
        let mut settled = 0;
        while let Some(cut) = self.slow_beginning(&points[settled..]) {
            settled += cut;
        }
        settled
    }

    fn slow_beginning(&self, points: &[f64]) -> Option<usize> {
        let (mean, variance) = mean_variance(points);
        let n = points.len() as f64;
        let (mut sum, mut most, mut cut) = (0.0, SETTLING, None);
        for (index, point) in points.iter().take(points.len() / 2).enumerate() {
            sum += point - mean;
            let length = (index + 1) as f64;
            // The rest lies below the mean by what the beginning lies above it.
            let apart = sum / length + sum / (n - length);
            let error = self.inflation * (variance * (1.0 / length + 1.0 / (n - length))).sqrt();
            if index + 1 >= LEAST_PER_PART && apart > self.tolerance && apart > most * error {
                (most, cut) = (apart / error, Some(index + 1));
            }
        }
        cut
    }

    /// Returns true if `points` move by more than the tolerance from end to end, and not by chance: the slope of a line through
    /// the means of ten equal parts, whose own scatter holds the autocorrelation.
    pub(super) fn drifts(&self, points: &[f64]) -> bool {
        if points.len() < PARTS * LEAST_PER_PART {
            return false;
        }
        let border = |part: usize| part * points.len() / PARTS;
        let means: [f64; PARTS] = std::array::from_fn(|part| mean_variance(&points[border(part)..border(part + 1)]).0);
        let place = |part: usize| part as f64 - (PARTS - 1) as f64 / 2.0;
        let spread: f64 = (0..PARTS).map(|part| place(part) * place(part)).sum();
        let (centre, _) = mean_variance(&means);
        let slope = means.iter().enumerate().map(|(part, mean)| place(part) * (mean - centre)).sum::<f64>() / spread;
        let scatter: f64 =
            means.iter().enumerate().map(|(part, mean)| (mean - centre - slope * place(part)).powi(2)).sum();
        let error = (scatter / (PARTS - 2) as f64 / spread).sqrt();
        slope.abs() * PARTS as f64 > self.tolerance && slope.abs() > TREND * error
    }
}

/// The mean, and the variance with the divisor n.
fn mean_variance(points: &[f64]) -> (f64, f64) {
    let n = points.len() as f64;
    let mean = points.iter().sum::<f64>() / n;
    (mean, points.iter().map(|point| (point - mean) * (point - mean)).sum::<f64>() / n)
}
