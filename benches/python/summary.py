"""The description of ten million samples against numpy computing the same statistics."""

from __future__ import annotations

import statistics

import numpy as np
from paired import in_turn, ratio, seconds, verdict

from fastrnns_rs.stats import summarize

COUNT = 10_000_000


def with_numpy(samples: np.ndarray, low: int, high: int) -> tuple[object, ...]:
    """Every statistic of a summary, each by numpy's best means; the ranks of the interval are given."""
    median, *quantiles = np.percentile(samples, [50, 25, 75, 95, 99])
    mad = np.median(np.abs(samples - median))
    interval = np.partition(samples, [low, high])[[low, high]]
    return samples.mean(), samples.std(ddof=1), samples.min(), samples.max(), median, *quantiles, mad, interval


def main() -> None:
    generator = np.random.default_rng(0)
    half_width = round(1.96 * COUNT**0.5 / 2)
    ranks = COUNT // 2 - half_width, COUNT // 2 + half_width
    shapes = {
        "lognormal float64": generator.lognormal(13, 0.1, COUNT),
        "nanoseconds int64": generator.lognormal(13, 0.1, COUNT).astype(np.int64),
    }
    for name, samples in shapes.items():
        found = in_turn(
            5,
            ours=lambda samples=samples: seconds(lambda: summarize(samples)),
            numpy=lambda samples=samples: seconds(lambda: with_numpy(samples, *ranks)),
            sum=lambda samples=samples: seconds(samples.sum),
        )
        for peer in found:
            print(f"{name}: {peer} {statistics.median(found[peer]) / COUNT * 1e9:.2f} ns a sample")
        verdict(f"{name}: numpy / ours", ratio(found["numpy"], found["ours"]), 5, at_most=False)


if __name__ == "__main__":
    main()
