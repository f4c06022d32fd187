"""`bootstrap_ci` on threads, in forks, under Ctrl-C, and how much memory it takes."""

from __future__ import annotations

import subprocess
import sys
import textwrap
import threading

import numpy as np
import pytest

from fastrnns_rs import stats

PINNED = (2.3000000000000007, 10.899999999999999, 2.2207482460371835)


@pytest.mark.parametrize("statistic", ["mean", "median"])
@pytest.mark.parametrize("method", ["percentile", "bca", "block", "hierarchical", "indices"])
def test_threads_do_not_matter(method: str, statistic: str) -> None:
    random = np.random.default_rng(1)
    samples = random.lognormal(size=(30, 100) if method == "hierarchical" else 3000)
    options = {"method": method, "resamples": 6000, "seed": 3, "block_length": 3 if method == "block" else None}
    if method == "indices":
        options = {"method": "bca", "indices": random.integers(0, 3000, size=(500, 3000))}
    one, *others = [
        stats.bootstrap_ci(samples, statistic=statistic, threads=threads, **options)
        for threads in (1, 2, 3, 8, 16, None)
    ]
    assert all(other == one for other in others)


def test_seeds_do() -> None:
    samples = np.random.default_rng(1).lognormal(size=50)
    found = {stats.bootstrap_ci(samples, seed=seed).ci_low for seed in (0, 1, 2, 2**63, 2**64 - 1)}
    assert len(found) == 5


def test_the_numbers_of_a_seed_stay_the_same() -> None:
    """On every processor and in every version: what has been published can be repeated."""
    found = stats.bootstrap_ci([1.0, 2.0, 4.0, 8.0, 16.0], resamples=101, seed=42)
    assert (found.ci_low, found.ci_high, found.standard_error) == PINNED


def test_other_threads_run_meanwhile() -> None:
    samples = np.random.default_rng(1).lognormal(size=1000)
    turns = 0
    done = threading.Event()

    def count() -> None:
        nonlocal turns
        while not done.wait(0.001):
            turns += 1

    other = threading.Thread(target=count)
    other.start()
    stats.bootstrap_ci(samples, resamples=300_000, threads=1)
    done.set()
    other.join()
    assert turns > 10


def test_a_fork_can_call_again() -> None:
    """With the threads of the first call gone, as in torch's data loaders."""
    program = textwrap.dedent("""
        import os
        import numpy as np
        from fastrnns_rs import stats
        samples = np.random.default_rng(1).lognormal(size=1000)
        before = stats.bootstrap_ci(samples, resamples=20_000, threads=4)
        child = os.fork()
        same = stats.bootstrap_ci(samples, resamples=20_000, threads=4) == before
        if child == 0:
            os._exit(0 if same else 1)
        assert same and os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
    """)
    subprocess.run([sys.executable, "-c", program], check=True, timeout=60)
