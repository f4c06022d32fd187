"""The tables, as they stand in docs/explanation/validation.md."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import TYPE_CHECKING

from real_noise.designs import PER_SIDE
from real_noise.judges import Word
from real_noise.pool import PHASES, Pool

from fastrnns_rs.machine.noise.floor import wilson

if TYPE_CHECKING:
    from real_noise.figures import Phase
    from real_noise.live import Live

#: By judge, design ("same" or "more") and phase: every word.
Words = dict[str, dict[tuple[str, str], list[Word]]]
#: How the rows call our own.
OURS = "`compare_samples`"


def row(*cells: str) -> str:
    return f"| {' | '.join(cells)} |"


def heading(pool: Pool) -> Iterator[str]:
    """Where and when, in a paragraph."""
    run = pool.run
    machine, problem = run.environment, run.results[0].problem
    steps, _, features, hidden, batch = problem.sizes()
    classes = Counter(str(one.warmup_class) for one in [*pool.same, *pool.more])
    warmed = ", ".join(f"{count} {name}" for name, count in classes.most_common())
    load = "unknown" if machine.load_average_1m is None else f"{machine.load_average_1m:.2f}"
    yield (
        f"Measured on {run.created_utc[:10]}: {machine.cpu_model}, {machine.cpu_count} cores, load average {load} "
        f"before it; torch {machine.torch_version}, Python {machine.python_version}. `nn.LSTM` with {steps} steps, "
        f"{features} features, {hidden} hidden, batch {batch}, threads: {machine.num_threads}; {len(pool.same)} "
        f"processes of it and {len(pool.more)} with 3 % more steps, one at a time in random order. Warm-up: {warmed}."
    )


def judged(words: Words, phases: dict[str, Phase], draws: int) -> Iterator[str]:
    """False alarms and detections, side by side."""
    yield row(
        f"{draws} comparisons of {PER_SIDE} + {PER_SIDE}",
        *(f"{phase}: {what}" for phase in PHASES for what in ("false alarms", "3 % more work found")),
    )
    yield row("---", *["---:"] * 4)
    for judge, by in words.items():
        yield row(judge, *(cell for phase in PHASES for cell in _cells(by, phase)))
    predicted = [f"{share:.1%}" for phase in phases.values() for share in (phase.alarms, phase.power)]
    yield row("predicted by `detection_power`", *(cell.replace("%", " %") for cell in predicted))


def alarms(words: list[Word]) -> int:
    """How often a difference was found, in whatever direction."""
    return sum(word is not None for word in words)


def _cells(by: dict[tuple[str, str], list[Word]], phase: str) -> tuple[str, str]:
    same, more = by["same", phase], by["more", phase]
    wrong = more.count("faster")
    found = _share(more.count("slower"), len(more))
    return _share(alarms(same), len(same)), found + (f", {wrong} called faster" if wrong else "")


def _share(hits: int, trials: int) -> str:
    low, high = wilson(hits, trials)
    return f"{100 * hits / trials:.1f} % ({100 * low:.1f} to {100 * high:.1f})"


def machine(phases: dict[str, Phase], work: dict[str, list[float]]) -> Iterator[str]:
    """The spread and what the extra work is."""
    yield row("the machine", *PHASES)
    yield row("---", "---:", "---:")
    lines = {
        "estimate": lambda one: f"{one.estimate_ns / 1e6:.3f} ms",
        "timed samples a process": lambda one: f"{one.samples[0]} to {one.samples[1]}",
        "spread between processes; with more work": lambda one: f"{_percent(one.spread)}; {_percent(one.spread_more)}",
        "drift over the run, straight line": lambda one: f"{100 * one.drift:+.2f} %",
        "autocorrelation of processes in their order": lambda one: f"{one.next_process:+.2f}",
        "autocorrelation time within a process, median": lambda one: f"{one.within:.1f} samples",
        "more work takes, over the whole pool (95 %)": lambda one: (
            f"{100 * (one.ratio - 1):+.2f} % ({100 * (one.ratio_low - 1):+.2f} to {100 * (one.ratio_high - 1):+.2f})"
        ),
        "processes a side that find it with 90 % power": lambda one: str(one.required or "more than 100,000"),
    }
    for name, text in lines.items():
        yield row(name, *(text(phases[phase]) for phase in PHASES))
    if work["forward"]:
        spans = (f"{100 * (min(work[phase]) - 1):+.2f} to {100 * (max(work[phase]) - 1):+.2f} %" for phase in PHASES)
        yield row(f"more work takes, in turn in one process, {len(work['forward'])} processes", *spans)


def live(found: list[Live]) -> Iterator[str]:
    """What the calls of `ab` said."""
    yield row(
        "command", "phase", "ratio (95 %)", "verdict", "false alarms of random relabelling", "found with 80 % power"
    )
    yield row("---", "---", "---:", "---", "---:", "---:")
    for one in found:
        if one.failure is not None:
            yield row(one.name, "", "-", one.failure, "", "")
        for place, each in enumerate(one.rows):
            # The floor is one for both phases: the worse.
            floor = one.floor if place == 0 else None
            yield row(
                one.name,
                str(each["phase"]),
                _ratio(each),
                each["verdict"] or str(each["reason"]),
                "" if floor is None else f"{100 * floor['false_alarm_rate']:.1f} %",
                "" if floor is None else _percent(floor["minimum_detectable_change"]),
            )


def _ratio(each: dict) -> str:
    if each["ratio"] is None or each["ratio_ci_low"] is None:
        return "-"
    return f"{each['ratio']:.4f} ({each['ratio_ci_low']:.4f} to {each['ratio_ci_high']:.4f})"


def _percent(share: float) -> str:
    return f"{100 * share:.2f} %"
