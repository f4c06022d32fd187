//! Several files that belong together, side by side: the ranks of a job.

use rustc_hash::FxHashMap;

use super::work_categories::WorkCategories;
use crate::memory::collected;
use crate::trace::{Busy, Capture, Entry, RankRow, Trace, Warning};

/// Factor of the median's work above which a rank is reported.
const SKEWED: f64 = 1.1;
/// So many ranks are named; there may be thousands.
const NAMED: usize = 10;

/// A row for each file; none for a single one.
pub(super) struct Ranks<'a> {
    trace: &'a Trace,
    rows: Vec<RankRow>,
    busy: Vec<Busy>,
    /// Without communication.
    work: Vec<Busy>,
    /// By number of work.
    is_communication: Vec<bool>,
}

impl<'a> Ranks<'a> {
    pub(super) fn new(trace: &'a Trace, categories: &WorkCategories<'_>) -> Self {
        let empty =
            |capture: &Capture| RankRow { path: capture.path.clone(), rank: rank(capture), ..RankRow::default() };
        let several = trace.captures.iter().filter(|_| trace.captures.len() > 1);
        let rows: Vec<RankRow> = several.map(empty).collect();
        let (busy, work) = (vec![Busy::default(); rows.len()], vec![Busy::default(); rows.len()]);
        let works = (0..).zip(trace.works.all()).filter(|_| !rows.is_empty());
        let is_communication = collected(works.map(|(what, work)| categories.is_communication(what, work)));
        Self { trace, rows, busy, work, is_communication }
    }

    /// Takes an operation that counts; starts ascend.
    #[inline]
    pub(super) fn add(&mut self, entry: &Entry, is_kernel: bool) {
        if self.rows.is_empty() {
            return;
        }
        let device = self.trace.works.all()[entry.what as usize].queue.device;
        let capture = self.trace.devices[device as usize].capture as usize;
        self.busy[capture].add(entry.start, entry.end);
        if !self.is_communication[entry.what as usize] {
            self.work[capture].add(entry.start, entry.end);
        }
        if is_kernel {
            let row = &mut self.rows[capture];
            row.kernel_count += 1;
            row.kernel_total_ns = row.kernel_total_ns.saturating_add(entry.duration());
        }
    }

    /// The rows, and warnings about them.
    pub(super) fn rows(mut self) -> (Vec<RankRow>, Vec<Warning>) {
        for ((row, busy), work) in self.rows.iter_mut().zip(&self.busy).zip(&self.work) {
            (row.busy_ns, row.work_ns) = (busy.busy_ns(), work.busy_ns());
            row.span_ns = busy.span().map_or(0, |(start, end)| end.abs_diff(start));
        }
        compare(&mut self.rows);
        let pairs = self.same();
        let warnings = same_captures(&self.rows, &pairs).into_iter();
        let warnings = warnings.chain(warnings_of_ranks(&self.trace.captures, &self.rows, &pairs)).collect();
        (self.rows, warnings)
    }

    /// Places of captures with the content of an earlier one: the same file, or the same trace in another format. No two
    /// captures have the same times to the nanosecond.
    fn same(&self) -> Vec<(usize, usize)> {
        let mut seen = FxHashMap::default();
        let mut pairs = Vec::new();
        for (place, (row, busy)) in self.rows.iter().zip(&self.busy).enumerate() {
            let times = busy.span().map(|span| (span, row.busy_ns, row.kernel_count, row.kernel_total_ns));
            // A capture without operations of a device has its bytes alone.
            let capture = &self.trace.captures[place];
            let digest = capture.sha256.as_ref().filter(|_| times.is_none());
            if times.is_some() || digest.is_some() {
                let first = *seen.entry((times, digest, capture.rank)).or_insert(place);
                pairs.extend((first < place).then_some((first, place)));
            }
        }
        pairs
    }
}

fn same_captures(rows: &[RankRow], pairs: &[(usize, usize)]) -> Option<Warning> {
    let named = |&(first, second): &(usize, usize)| format!("{} and {}", rows[first].path, rows[second].path);
    (!pairs.is_empty()).then(|| Warning {
        code: "same_capture_twice",
        message: "activities count twice, because files contain the same capture".to_owned(),
        evidence: listed(pairs.iter().map(named)),
        hint: "Give each capture once: fastrnns-rs report FILE".to_owned(),
    })
}

/// The rank of a capture, from its content or else from its name.
fn rank(capture: &Capture) -> Option<i64> {
    capture.rank.or_else(|| rank_in(&capture.path))
}

/// Returns the file of a capture, if there are several captures.
pub(super) fn path_of(captures: &[Capture], place: u32) -> Option<String> {
    captures.get(place as usize).filter(|_| captures.len() > 1).map(|capture| capture.path.clone())
}

/// The rank of one of several captures; a single capture needs no label.
pub(super) fn rank_of(captures: &[Capture], place: u32) -> Option<i64> {
    captures.get(place as usize).filter(|_| captures.len() > 1).and_then(rank)
}

/// Compares the rows with their median, and marks the one with the most work if they differ. The busy time of a rank that
/// waits in a collective for others is longer than theirs.
fn compare(rows: &mut [RankRow]) {
    let middle = median(rows, |row| row.busy_ns);
    for row in &mut *rows {
        row.busy_ratio = (middle > 0.0).then(|| row.busy_ns as f64 / middle);
    }
    let works = || rows.iter().map(|row| row.work_ns);
    let (Some(least), Some(most)) = (works().min(), works().max()) else { return };
    if let Some(slowest) = rows.iter_mut().find(|row| row.work_ns == most && most > least) {
        slowest.slowest = true;
    }
}

fn median(rows: &[RankRow], of: fn(&RankRow) -> u64) -> f64 {
    let mut sorted: Vec<u64> = rows.iter().map(of).collect();
    sorted.sort_unstable();
    let at = |place: usize| sorted.get(place).copied().unwrap_or_default() as f64;
    f64::midpoint(at(sorted.len().saturating_sub(1) / 2), at(sorted.len() / 2))
}

/// Returns the warnings about ranks. Captures in `same` have been warned of.
fn warnings_of_ranks(captures: &[Capture], rows: &[RankRow], same: &[(usize, usize)]) -> Vec<Warning> {
    let mut is_new = vec![true; rows.len()];
    for &(_, place) in same {
        is_new[place] = false;
    }
    let ranks = rows.iter().zip(is_new).filter(|(_, is_new)| *is_new);
    let mut ranks: Vec<(i64, &RankRow)> = ranks.filter_map(|(row, _)| Some((row.rank?, row))).collect();
    ranks.sort_by_key(|(rank, _)| *rank);
    let twice: Vec<_> = ranks.windows(2).filter(|pair| pair[0].0 == pair[1].0).collect();
    let mut warnings = Vec::new();
    if let Some(pair) = twice.first() {
        warnings.push(Warning {
            code: "same_rank_twice",
            message: format!("work of rank {} may be counted twice, because the rank has several files", pair[0].0),
            evidence: listed(twice.iter().map(|pair| format!("{} and {}", pair[0].1.path, pair[1].1.path))),
            hint: "Use one file per rank, with the same steps.".to_owned(),
        });
    }
    warnings.extend(missing(captures, &ranks));
    warnings.extend(disagreement(captures, rows));
    if twice.is_empty() && ranks.len() == rows.len() {
        warnings.extend(skew(rows));
    }
    warnings
}

fn skew(rows: &[RankRow]) -> Option<Warning> {
    let slowest = rows.iter().find(|row| row.slowest)?;
    let (rank, middle) = (slowest.rank?, median(rows, |row| row.work_ns));
    let ratio = Some(slowest.work_ns as f64 / middle).filter(|ratio| middle > 0.0 && *ratio > SKEWED)?;
    Some(Warning {
        code: "rank_skew",
        message: format!(
            "rank {rank} is the slowest: without communication, its GPU is busy {ratio:.2} times as long as that of the \
             median rank"
        ),
        evidence: format!("{}: {} ns without communication; {} ranks", slowest.path, slowest.work_ns, rows.len()),
        hint: "Compare the captures of two ranks: fastrnns-rs compare BASELINE CANDIDATE".to_owned(),
    })
}

/// Ranks of which there is no file, by the size of the job that the files agree on.
fn missing(captures: &[Capture], ranks: &[(i64, &RankRow)]) -> Option<Warning> {
    let mut sizes = captures.iter().filter_map(|capture| capture.world_size);
    let size = sizes.next().filter(|size| sizes.all(|other| other == *size))?;
    let mut known: Vec<u64> =
        ranks.iter().filter_map(|(rank, _)| u64::try_from(*rank).ok()).filter(|rank| *rank < size).collect();
    known.dedup();
    let count = size - known.len() as u64;
    if count == 0 || known.is_empty() {
        return None;
    }
    // As many are tried as are known, and some more: the size is only what a file says.
    let absent = (0..size).filter(|rank| known.binary_search(rank).is_err()).take(NAMED + 1);
    Some(Warning {
        code: "ranks_missing",
        message: format!("figures cover {} of {size} ranks", known.len()),
        evidence: format!("no file of rank {}", listed(absent.map(|rank| rank.to_string()))),
        hint: "Use the files of all ranks.".to_owned(),
    })
}

/// Files that cannot be of one job: they name several sizes of it, or a rank that it does not have.
fn disagreement(captures: &[Capture], rows: &[RankRow]) -> Option<Warning> {
    let sized = rows.iter().zip(captures).filter_map(|(row, capture)| Some((row, capture.world_size?)));
    let has = |size: u64, rank: i64| u64::try_from(rank).is_ok_and(|rank| rank < size);
    let (_, first) = sized.clone().next()?;
    let other = sized.clone().any(|(_, size)| size != first);
    let wrong = sized.filter(|(row, size)| other || row.rank.is_some_and(|rank| !has(*size, rank)));
    let mut named = wrong.map(|(row, size)| match row.rank {
        Some(rank) => format!("{}: rank {rank} of {size}", row.path),
        None => format!("{}: a rank of {size}", row.path),
    });
    let evidence = listed(named.by_ref());
    (!evidence.is_empty()).then(|| Warning {
        code: "ranks_disagree",
        message: "figures may be of several jobs, because files disagree about the ranks of their job".to_owned(),
        evidence,
        hint: "Use the files of one job.".to_owned(),
    })
}

/// The first few, and whether there are more.
fn listed(mut all: impl Iterator<Item = String>) -> String {
    let mut named: Vec<String> = all.by_ref().take(NAMED).collect();
    named.extend(all.next().map(|_| "…".to_owned()));
    named.join(", ")
}

/// Returns the rank in a file's name, or else in that of its folder: `rank3.json`, `rank_3/trace.json`.
fn rank_in(path: &str) -> Option<i64> {
    path.rsplit('/').take(2).find_map(|part| {
        let part = part.to_ascii_lowercase();
        part.match_indices("rank").find_map(|(at, word)| {
            if part[..at].ends_with(char::is_alphabetic) {
                return None;
            }
            let rest = &part[at + word.len()..];
            let rest = rest.strip_prefix(['_', '-', '.', '=', ' ']).unwrap_or(rest);
            let end = rest.find(|one: char| !one.is_ascii_digit()).unwrap_or(rest.len());
            rest[..end].parse().ok()
        })
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(rank: Option<i64>, busy_ns: u64) -> RankRow {
        RankRow { path: format!("{rank:?}.json"), rank, busy_ns, work_ns: busy_ns, ..RankRow::default() }
    }

    fn job(busy: &[(Option<i64>, u64)], world_size: Option<u64>) -> (Vec<RankRow>, Vec<Warning>) {
        let mut rows: Vec<RankRow> = busy.iter().map(|&(rank, busy)| row(rank, busy)).collect();
        compare(&mut rows);
        let captures: Vec<_> = busy.iter().map(|_| Capture { world_size, ..Capture::default() }).collect();
        let warnings = warnings_of_ranks(&captures, &rows, &[]);
        (rows, warnings)
    }

    fn codes(warnings: &[Warning]) -> Vec<&str> {
        warnings.iter().map(|warning| warning.code).collect()
    }

    #[test]
    fn files_without_ranks_are_not_compared() {
        // These may be ranks of different jobs.
        assert!(job(&[(None, 100), (None, 1500), (None, 90)], None).1.is_empty());
    }

    #[test]
    fn none_is_the_slowest_of_equals() {
        let (rows, _) = job(&[(Some(0), 7), (Some(1), 7)], None);
        assert!(rows.iter().all(|row| !row.slowest && row.busy_ratio == Some(1.0)));
        let (rows, _) = job(&[(Some(0), 0), (Some(1), 0)], None);
        assert!(rows.iter().all(|row| !row.slowest && row.busy_ratio.is_none()));
    }

    #[test]
    fn warns_of_missing_and_repeated_ranks() {
        let (_, warnings) = job(&[(Some(1), 7), (Some(1), 7), (Some(3), 7)], Some(4));
        assert_eq!(codes(&warnings), ["same_rank_twice", "ranks_missing"]);
        assert_eq!(warnings[1].evidence, "no file of rank 0, 2");
        let (_, warnings) = job(&[(Some(0), 7), (Some(1), 7)], Some(u64::MAX));
        assert_eq!(warnings[0].evidence, "no file of rank 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, …");
        for (rank, size) in [(None, Some(9)), (Some(0), None)] {
            assert!(job(&[(rank, 7), (None, 7)], size).1.is_empty());
        }
    }

    #[test]
    fn warns_of_ranks_that_no_job_has_together() {
        for (rank, size) in [(-1, 9), (9, 9), (0, 0)] {
            let (_, warnings) = job(&[(Some(rank), 7), (None, 7)], Some(size));
            assert_eq!(codes(&warnings), ["ranks_disagree"]);
            assert_eq!(warnings[0].evidence, format!("Some({rank}).json: rank {rank} of {size}"));
        }
        let rows = [row(Some(0), 7), row(None, 7)];
        let captures = [4, 8].map(|size| Capture { world_size: Some(size), ..Capture::default() });
        let warnings = warnings_of_ranks(&captures, &rows, &[]);
        assert_eq!(codes(&warnings), ["ranks_disagree"]);
        assert_eq!(warnings[0].evidence, "Some(0).json: rank 0 of 4, None.json: a rank of 8");
    }

    #[test]
    fn reads_ranks_from_names() {
        let named = ["a/rank3.json", "rank_12.pt.trace.json", "x/RANK-7/trace.json", "job.rank=4.gz", "crank3/rank.5"];
        assert_eq!(named.map(rank_in), [Some(3), Some(12), Some(7), Some(4), Some(5)]);
        for name in ["frank3.json", "rank.json", "ranks/3.json", "rank3/a/b", "", "rank99999999999999999999"] {
            assert_eq!(rank_in(name), None, "{name}");
        }
    }
}
