"""Simulations of the default verdict: how often each word is said where it is right and where it is not."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import scipy.stats
from numpy.random import Generator
from validation_tables import Table
from verdict_scenarios import EQUAL, S2, S3, S4, SCENARIOS, UNEQUAL, Scenario, medians

from fastrnns_rs import stats
from fastrnns_rs.documents.replicates import LEAST_SESSIONS
from fastrnns_rs.verbs.compare.verdicts import WORDS, ranked

#: Simulated at once, for the sake of memory.
BATCH = 2000
MARGIN = 0.01
#: What a comparison is to find.
EFFECT = 0.02
ROWS = 100
DIFFERENT = {"faster", "slower"}


@dataclass(frozen=True)
class Verdicts:
    """How many comparisons ended with which word."""

    trials: int
    counts: dict[str, int]

    def share(self, *words: str) -> float:
        return sum(self.counts.get(word, 0) for word in words) / self.trials

    @property
    def different(self) -> float:
        return self.share("faster", "slower")


def compare(
    scenario: Scenario,
    processes: tuple[int, int],
    trials: int,
    seed: int,
    *,
    log_ratio: float | np.ndarray = 0.0,
) -> list[stats.SampleComparison]:
    """Interleaved comparisons by `compare_samples` with its defaults."""
    rng = np.random.default_rng(seed)
    shifts = np.broadcast_to(log_ratio, (trials,))
    found = []
    for start in range(0, trials, BATCH):
        part = shifts[start : start + BATCH]
        sides = scenario.logs(len(part), processes, rng, log_ratio=part)
        found += [stats.compare_samples(*pair) for pair in zip(*map(medians, sides), strict=True)]
    return found


def verdicts(
    scenario: Scenario, processes: tuple[int, int], trials: int, seed: int, *, log_ratio: float = 0.0
) -> Verdicts:
    words, counts = np.unique(
        [found.verdict for found in compare(scenario, processes, trials, seed, log_ratio=log_ratio)], return_counts=True
    )
    return Verdicts(trials, dict(zip(words.tolist(), counts.tolist(), strict=True)))


def pooled_alarms(scenario: Scenario, trials: int, seed: int, *, interleaved: bool = True) -> tuple[float, float]:
    """How often Student's t and Mann and Whitney's test on all values, 10 of each of 10 processes, see a difference.

    There is none.
    """
    rng = np.random.default_rng(seed)
    alarms = np.zeros(2)
    for start in range(0, trials, BATCH):
        sides = scenario.logs(min(BATCH, trials - start), EQUAL, rng, interleaved=interleaved)
        baseline, candidate = (np.exp(side).reshape(len(side), -1) for side in sides)
        tests = (
            scipy.stats.ttest_ind(baseline, candidate, axis=1),
            scipy.stats.mannwhitneyu(baseline, candidate, axis=1, method="asymptotic"),
        )
        alarms += [np.count_nonzero(test.pvalue < 0.05) for test in tests]
    student, mann_whitney = alarms / trials
    return float(student), float(mann_whitney)


def false_alarms(trials: int) -> tuple[Table, dict[tuple[str, tuple[int, int]], float]]:
    """Shares of comparisons without a difference that are called faster or slower."""
    numbers, rows = {}, []
    for row, scenario in enumerate(SCENARIOS):
        cells = []
        for column, processes in enumerate((EQUAL, *UNEQUAL)):
            found = verdicts(scenario, processes, trials, seed=1000 + 10 * row + column)
            numbers[scenario.name, processes] = found.different
            cells.append(percent(found.different))
        # Vectorised, yet the ranks take their time; shares as large as these need fewer trials.
        pooled = pooled_alarms(scenario, max(trials // 4, 500), seed=1100 + row)
        rows.append((scenario.name, *cells, *map(percent, pooled)))
    names = [f"{one} + {other} processes" for one, other in (EQUAL, *UNEQUAL)]
    columns = ("no difference", *names, "pooled Student t", "pooled Mann-Whitney")
    title = f"Comparisons without a difference that are called faster or slower, % of {trials}"
    return Table(title, columns, tuple(rows)), numbers


def orders(trials: int) -> tuple[Table, dict[bool, float]]:
    """What the order of processes is worth where the machine drifts, whatever the rule."""
    numbers, rows = {}, []
    for place, interleaved in enumerate((True, False)):
        rng = np.random.default_rng(1200 + place)
        sides = S4.logs(trials, EQUAL, rng, interleaved=interleaved)
        found = [stats.compare_samples(*pair).verdict for pair in zip(*map(medians, sides), strict=True)]
        numbers[interleaved] = sum(one in DIFFERENT for one in found) / trials
        pooled = pooled_alarms(S4, trials, seed=1210 + place, interleaved=interleaved)
        name = "interleaved" if interleaved else "one side after the other"
        rows.append((name, percent(numbers[interleaved]), *map(percent, pooled)))
    columns = ("order of 10 + 10 processes", "`compare_samples`", "pooled Student t", "pooled Mann-Whitney")
    title = f"S4 without a difference, called different, % of {trials}"
    return Table(title, columns, tuple(rows)), numbers


def power(trials: int) -> tuple[Table, dict[tuple[str, float], float]]:
    """Shares of comparisons of 10 + 10 processes that find a difference of 1 and of 2 %."""
    numbers, rows = {}, []
    for row, scenario in enumerate(SCENARIOS):
        cells = []
        for column, difference in enumerate((0.01, EFFECT, -EFFECT)):
            log_ratio = float(np.log1p(difference))
            found = verdicts(scenario, EQUAL, trials, seed=2000 + 10 * row + column, log_ratio=log_ratio)
            numbers[scenario.name, difference] = found.share("slower" if difference > 0 else "faster")
            cells.append(percent(numbers[scenario.name, difference]))
        rows.append((scenario.name, *cells))
    columns = ("true difference", "+1 %", "+2 %", "-2 %")
    return Table(f"Differences found with 10 + 10 processes, % of {trials}", columns, tuple(rows)), numbers


def equivalence(trials: int) -> tuple[Table, dict[tuple[str, tuple[int, int], str], float]]:
    """Shares called equivalent at both ends of the margin, where it is an error, and without a difference."""
    limit = float(np.log1p(MARGIN))
    numbers, rows = {}, []
    for row, scenario in enumerate(SCENARIOS):
        for column, processes in enumerate((EQUAL, *UNEQUAL)):
            cells = []
            for place, (name, log_ratio) in enumerate((("lower", -limit), ("upper", limit), ("none", 0.0))):
                seed = 3000 + 100 * row + 10 * column + place
                found = verdicts(scenario, processes, trials, seed, log_ratio=log_ratio)
                numbers[scenario.name, processes, name] = found.share("equivalent")
                cells.append(percent(numbers[scenario.name, processes, name]))
            rows.append((f"{scenario.name}, {processes[0]} + {processes[1]}", *cells))
    columns = ("called equivalent", "ratio 1 / 1.01", "ratio 1.01", "ratio 1")
    return Table(f"Comparisons called equivalent, % of {trials}", columns, tuple(rows)), numbers


def discoveries(suites: int) -> tuple[Table, dict[tuple[str, float], tuple[float, float]]]:
    """Suites of 100 rows after Benjamini and Hochberg: shares of false discoveries, and of differences found."""
    numbers, rows = {}, []
    for place, (scenario, share) in enumerate((scenario, share) for scenario in (S2, S3) for share in (0.0, 0.1, 0.5)):
        rng = np.random.default_rng(4000 + place)
        # Which rows differ is drawn anew for each suite, and so is the direction.
        differ = rng.permuted(np.tile(np.arange(ROWS) < share * ROWS, (suites, 1)), axis=1)
        log_ratio = np.where(differ, np.log1p(EFFECT * rng.choice([-1, 1], differ.shape)), 0.0)
        found = compare(scenario, EQUAL, suites * ROWS, 4100 + place, log_ratio=log_ratio.ravel())
        believed = np.concatenate([stand(found[at : at + ROWS]) for at in range(0, len(found), ROWS)])
        believed = believed.reshape(differ.shape)
        # Of no discoveries none is false.
        false = (believed & ~differ).sum(axis=1) / np.maximum(believed.sum(axis=1), 1)
        true = float(believed[differ].mean()) if differ.any() else float("nan")
        numbers[scenario.name, share] = (float(false.mean()), true)
        rows.append((scenario.name, f"{share:.0%}", percent(float(false.mean())), percent(true) if share else ""))
    columns = ("suites of 100 rows", "rows that differ by 2 %", "false discoveries", "differences found")
    return Table(f"After Benjamini and Hochberg at 5 %, means over {suites} suites, %", columns, tuple(rows)), numbers


def stand(table: list[stats.SampleComparison]) -> np.ndarray:
    """The rows of a table that are faster or slower, and stay so among all."""
    places = ranked([(WORDS[one.verdict], one.p_value or 0.0) for one in table])
    pairs = zip(table, places, strict=True)
    return np.array([one.verdict in DIFFERENT and adjusted <= 0.05 for one, (_, adjusted) in pairs])


def normal(
    trials: int, processes: int, spread: float, log_ratio: np.ndarray, rng: Generator
) -> list[stats.SampleComparison]:
    """Comparisons of process medians that are log-normal, all with the same spread."""
    baseline, candidate = spread * rng.standard_normal((2, trials, processes))
    pairs = zip(np.exp(baseline), np.exp(candidate + log_ratio[:, None]), strict=True)
    return [stats.compare_samples(*pair) for pair in pairs]


def mixed_discoveries(suites: int) -> tuple[Table, dict[tuple[int, int], tuple[float, float]]]:
    """False discoveries among noisy rows without a difference, next to precise rows that differ inside the margin.

    Returns:
        The table, and for each number of precise and noisy rows the mean share of false discoveries as verdicts are
        computed, and that with the p-values as they are.
    """
    numbers, rows = {}, []
    for place, (precise, noisy) in enumerate((a, b) for a in (0, 5, 20, 50) for b in (5, 20, 50)):
        rng = np.random.default_rng(4200 + place)
        shares = []
        for _ in range(suites):
            table = normal(precise, 10, 0.002, np.log1p(rng.uniform(0.002, 0.008, precise)), rng)
            table += normal(noisy, 10, 0.03, np.zeros(noisy), rng)
            plain = stats.benjamini_hochberg([one.p_value or 0.0 for one in table]).rejected
            ways = (stand(table), np.array([one.verdict in DIFFERENT for one in table]) & plain)
            shares.append([way[precise:].sum() / max(way.sum(), 1) for way in ways])
        ours, as_is = map(float, np.mean(shares, axis=0))
        numbers[precise, noisy] = (ours, as_is)
        rows.append((f"{precise} precise, {noisy} noisy", percent(ours), percent(as_is)))
    columns = ("rows", "false discoveries", "the same without p = 1 for equivalent rows")
    title = f"Precise rows that differ by 0.2 to 0.8 %, and noisy rows that do not, means over {suites} suites, %"
    return Table(title, columns, tuple(rows)), numbers


def gate(trials: int) -> tuple[Table, dict[tuple[float, int], tuple[float, float]]]:
    """How often `--fail-on regression` fails at a true ratio on the margin, and how often such a row is slower."""
    numbers, rows = {}, []
    for place, (spread, processes) in enumerate((a, b) for a in (0.002, 0.01, 0.03) for b in (5, 10, 30)):
        rng = np.random.default_rng(4300 + place)
        found = normal(trials, processes, spread, np.full(trials, np.log1p(MARGIN)), rng)
        slower = [one for one in found if one.verdict == "slower"]
        fails = sum((one.ratio_ci_low or 0.0) > 1 + MARGIN for one in slower)
        numbers[spread, processes] = (fails / trials, len(slower) / trials)
        rows.append((f"{spread:.1%}", str(processes), *map(percent, numbers[spread, processes])))
    columns = ("process spread", "processes a side", "the gate fails", "slower")
    title = f"A true ratio of 1.01 at a margin of 1 %, {trials} comparisons each, %"
    return Table(title, columns, tuple(rows)), numbers


@dataclass(frozen=True)
class SessionErrors:
    """How often equal programs are called different, by what is compared, and how often an interval holds the truth."""

    one_each: float
    pooled: float
    levels: float
    coverage: float


def session_errors(trials: int) -> tuple[Table, dict[tuple[float, float, int], SessionErrors]]:
    """Comparisons of sessions that differ by chance: one a side, three a side pooled, three a side as replicates."""
    numbers, rows = {}, []
    cells = [(a, b, n) for a in (0.0, 0.005, 0.01, 0.02) for b in (0.003, 0.01) for n in (5, 10, 20)]
    for place, (between, within, processes) in enumerate(cells):
        rng = np.random.default_rng(4400 + place)
        shared = between * rng.standard_normal((2, trials, LEAST_SESSIONS, 1))
        logs = shared + within * rng.standard_normal((2, trials, LEAST_SESSIONS, processes))
        ways = [logs[:, :, 0], logs.reshape(2, trials, -1), logs.mean(axis=3)]
        found = [[stats.compare_samples(*pair) for pair in zip(*np.exp(way), strict=True)] for way in ways]
        wrong = [sum(one.verdict in DIFFERENT for one in each) / trials for each in found]
        holds = sum((one.ratio_ci_low or 0) <= 1 <= (one.ratio_ci_high or 0) for one in found[2]) / trials
        numbers[between, within, processes] = SessionErrors(*wrong, coverage=holds)
        rows.append((f"{between:.1%}, {within:.1%}, {processes}", *map(percent, (*wrong, holds))))
    columns = (
        "spread of sessions, of processes, processes a session",
        "one session a side",
        "three a side, processes pooled",
        "three a side",
        "coverage of its interval",
    )
    return Table(f"Equal programs called different, {trials} comparisons each, %", columns, tuple(rows)), numbers


@dataclass(frozen=True)
class Prediction:
    """A predicted share and a simulated one."""

    predicted: float
    simulated: float
    trials: int

    @property
    def p_value(self) -> float:
        """How likely so large a deviation is, if the prediction is right; some of the shares are tiny."""
        return float(scipy.stats.binomtest(round(self.simulated * self.trials), self.trials, self.predicted).pvalue)


def predictions(trials: int) -> tuple[Table, dict[str, Prediction]]:
    """What `detection_power` and `required_processes` predict, and how it turns out."""
    plans = [
        ("10 + 10", 0.01, 0.01, EQUAL, 0.02),
        ("10 + 10, candidate twice as noisy", 0.01, 0.02, EQUAL, 0.02),
        ("5 + 10", 0.01, 0.01, (5, 10), -0.02),
        ("3 + 10", 0.01, 0.01, (3, 10), 0.02),
        ("3 + 3", 0.01, 0.01, (3, 3), 0.02),
        ("10 + 10, no difference", 0.01, 0.01, EQUAL, 0.0),
        ("10 + 10, on the margin", 0.01, 0.01, EQUAL, 0.01),
    ]
    for spread, difference in ((0.01, 0.02), (0.03, 0.03), (0.01, 0.0)):
        count = stats.required_processes(spread, difference=difference).processes
        name = f"{count} + {count}, required for {difference:.0%} at {spread:.0%}"
        plans.append((name, spread, spread, (count, count), difference))
    numbers, rows = {}, []
    for place, (name, spread, other, processes, difference) in enumerate(plans):
        rng = np.random.default_rng(5000 + place)
        expected = stats.detection_power(
            spread, processes[0], difference=difference, candidate_spread=other, candidate_processes=processes[1]
        )
        sides = zip(
            np.exp(spread * rng.standard_normal((trials, processes[0]))),
            np.exp(other * rng.standard_normal((trials, processes[1])) + np.log1p(difference)),
            strict=True,
        )
        found = [stats.compare_samples(*pair).verdict for pair in sides]
        cells = []
        for word, predicted in expected.to_dict().items():
            numbers[f"{name}: {word}"] = Prediction(min(predicted, 1.0), found.count(word) / trials, trials)
            cells.append(f"{percent(predicted)} / {percent(found.count(word) / trials)}")
        rows.append((name, *cells))
    columns = ("processes", "faster", "slower", "equivalent", "inconclusive")
    return Table(f"Verdicts predicted / simulated, % of {trials}", columns, tuple(rows)), numbers


def settled_after_more(trials: int) -> tuple[Table, dict[float, float]]:
    """Shares of inconclusive comparisons that the predicted number of processes settles, if what was seen is true."""
    numbers, rows = {}, []
    for place, ratio in enumerate((1.0, 1.004, 1.008)):
        rng = np.random.default_rng(6000 + place)
        spread, processes = 0.015, 8
        # Exactly this spread and this ratio are seen, and true as well.
        exact = rng.standard_normal(processes)
        seen = np.exp(spread * (exact - exact.mean()) / exact.std(ddof=1))
        first = stats.compare_samples(seen, ratio * seen)
        more = first.additional_processes
        assert more is not None, first
        draws = rng.standard_normal((trials, 2, processes + more))
        sides = np.exp(spread * draws) * np.array([[1.0], [ratio]])
        open_ = [stats.compare_samples(*pair).verdict == "inconclusive" for pair in sides]
        numbers[ratio] = 1 - sum(open_) / trials
        rows.append((f"{ratio}", f"{more}", percent(numbers[ratio])))
    columns = ("true ratio", "additional processes after 8 + 8", "settled")
    return Table(f"Comparisons that the predicted processes settle, % of {trials}", columns, tuple(rows)), numbers


def percent(share: float) -> str:
    return f"{100 * share:.1f}"
