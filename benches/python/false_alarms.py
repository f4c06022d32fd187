"""How often a difference is called where there is none, on real processes: ours, pyperf and Mann-Whitney side by side.

Measures a pool of processes of a small LSTM, and of one with 3 % more work, or takes one that is there. From it are
drawn 1,000 comparisons of 10 + 10 processes without a difference, and 1,000 with; each is judged by all three.
`--live N` also calls `ab` and `ab --same`, N times each. Writes Markdown. What was measured is kept beside the pool and
taken from there by the same call, which goes on where the one before it ended. Leave the machine alone meanwhile: some
twelve minutes for the pool, and four for each live pair.

Needs pyperf, 2.10 or newer. Ends with an error if our false alarms exceed 7 %.
"""

from __future__ import annotations

import argparse
import sys
from dataclasses import asdict
from pathlib import Path

from real_noise import designs, extra_work, figures, judges, live, page, pool, pyperf_judge, table
from real_noise.command import tell

from fastrnns_rs.errors import FastrnnsError

LIMIT = 0.07


def main() -> None:
    given = _arguments()
    version = None if given.without_pyperf else pyperf_judge.check_installed()
    if given.output is not None:
        page.check(given.output)
    given.pool.parent.mkdir(parents=True, exist_ok=True)
    if not given.as_is:
        pool.measure(given.pool, given.processes)
    known = pool.read(given.pool)
    if min(len(known.same) - designs.PER_SIDE, len(known.more)) < designs.PER_SIDE:
        sys.exit(f"{given.pool} has {len(known.same)} + {len(known.more)} good processes: too few to draw from")
    problem = asdict(known.run.results[0].problem)
    work = extra_work.measure(given.pool.with_suffix(".work.json"), 0 if given.as_is else 5, problem)
    words = _judge(known, given.draws, given.seed, version)
    phases = {phase: figures.of_phase(known, phase) for phase in pool.PHASES}
    parts = [table.heading(known), table.judged(words, phases, given.draws), table.machine(phases, work)]
    texts = ["\n".join(part) for part in parts]
    _write(given.output, texts)
    if given.live:
        # The tables above are safe whatever happens to the calls.
        texts.append("\n".join(table.live(live.measure(given.pool.with_suffix(".live"), given.live))))
        _write(given.output, texts)
    print("\n\n".join(texts))
    worst = max(table.alarms(words[table.OURS]["same", phase]) / given.draws for phase in pool.PHASES)
    if worst > LIMIT:
        sys.exit(f"our false alarms are {100 * worst:.1f} %, above {100 * LIMIT:.0f} %")


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument(
        "--pool", type=Path, default=Path("false-alarms/pool.json"), help="the run file, measured where there is none"
    )
    parser.add_argument("--processes", type=int, default=60, help="of each of the three runners [default: 60]")
    parser.add_argument("--as-is", action="store_true", help="judge what the pool holds, complete or not")
    parser.add_argument("--draws", type=int, default=1000, help="comparisons of each kind [default: 1000]")
    parser.add_argument("--seed", type=int, default=1, help="of the draws [default: 1]")
    parser.add_argument("--live", type=int, default=0, metavar="N", help="calls of ab, and of ab --same")
    parser.add_argument("--without-pyperf", action="store_true", help="leave pyperf out")
    parser.add_argument(
        "--output", type=Path, help="write the tables here too, or into their place in docs/explanation/validation.md"
    )
    return parser.parse_args()


def _judge(known: pool.Pool, draws: int, seed: int, version: str | None) -> table.Words:
    """What each judge says of the same comparisons."""
    drawn = {
        "same": designs.without_difference(known, draws, seed),
        "more": designs.with_difference(known, draws, seed + 1),
    }
    every = [one for comparisons in drawn.values() for one in comparisons]
    said: dict[str, dict[str, judges.Word]] = {}
    tell(f"judging {len(every)} comparisons")
    said[table.OURS] = {one.name: judges.ours(one) for one in every}
    if version is not None:
        tell("pyperf compare_to")
        said[f"`pyperf compare_to`, {version}"] = pyperf_judge.judge(every)
    tell("Mann-Whitney")
    said["Mann-Whitney on pooled samples"] = {one.name: judges.mann_whitney(one) for one in every}

    def words(by_name: dict[str, judges.Word]) -> dict[tuple[str, str], list[judges.Word]]:
        return {
            (design, phase): [by_name[one.name] for one in comparisons if one.phase == phase]
            for design, comparisons in drawn.items()
            for phase in pool.PHASES
        }

    return {judge: words(by_name) for judge, by_name in said.items()}


def _write(output: Path | None, texts: list[str]) -> None:
    if output is not None:
        page.write(output, "\n\n".join(texts) + "\n")


if __name__ == "__main__":
    try:
        main()
    except FastrnnsError as error:
        sys.exit(str(error))
