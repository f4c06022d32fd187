"""What benchmarks look like: the values of both sides' processes in five scenarios, many comparisons at once.

S1  values independent, 2 %; processes do not differ.
S2  processes differ by 1 %; values independent, 1 %.
S3  processes differ by 1 %; values autocorrelated, AR(.7), 1 %.
S4  processes differ by 0.5 %; values independent, 1 %; the machine drifts by 2 % over the run.
S5  values autocorrelated, AR(.9), 1 %; processes do not differ.

All percentages are standard deviations of logarithms, but the drift's is the way from the first process to the last.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.signal import lfilter

#: Values of each process.
VALUES = 10
#: Numbers of processes of baseline and candidate.
EQUAL = (10, 10)
UNEQUAL = ((5, 10), (10, 20), (3, 10))


@dataclass(frozen=True)
class Scenario:
    """How the logarithm of a value comes about."""

    name: str
    between: float
    within: float
    autocorrelation: float = 0.0
    drift: float = 0.0

    def logs(
        self,
        trials: int,
        processes: tuple[int, int],
        rng: np.random.Generator,
        *,
        log_ratio: float | np.ndarray = 0.0,
        interleaved: bool = True,
    ) -> tuple[np.ndarray, np.ndarray]:
        """Logs of both sides' values, of shapes (trials, processes, VALUES); the candidate's are `log_ratio` larger."""
        baseline, candidate = (self._side(trials, count, rng) for count in processes)
        # Up as often as down, as fast machines cool and slow ones heat up.
        drift = self.drift * rng.choice([-1.0, 1.0], (trials, 1, 1))
        places = turns(processes) if interleaved else one_after_the_other(processes)
        last = sum(processes) - 1
        baseline += drift * places[0][:, None] / last
        candidate += drift * places[1][:, None] / last
        return baseline, candidate + np.reshape(log_ratio, (-1, 1, 1))

    def _side(self, trials: int, processes: int, rng: np.random.Generator) -> np.ndarray:
        noise = rng.standard_normal((trials, processes, VALUES))
        if self.autocorrelation:
            # The first value has the law of all others: a process does not start calm.
            noise[..., 1:] *= np.sqrt(1 - self.autocorrelation**2)
            noise = lfilter([1.0], [1.0, -self.autocorrelation], noise)
        return self.between * rng.standard_normal((trials, processes, 1)) + self.within * noise


S1 = Scenario("S1 independent values", between=0.0, within=0.02)
S2 = Scenario("S2 processes differ", between=0.01, within=0.01)
S3 = Scenario("S3 and values autocorrelated", between=0.01, within=0.01, autocorrelation=0.7)
S4 = Scenario("S4 the machine drifts", between=0.005, within=0.01, drift=0.02)
S5 = Scenario("S5 slow noise alone", between=0.0, within=0.01, autocorrelation=0.9)
SCENARIOS = (S1, S2, S3, S4, S5)


def medians(logs: np.ndarray) -> np.ndarray:
    """What `compare_samples` takes: a time of each process."""
    return np.exp(np.median(logs, axis=2))


def turns(processes: tuple[int, int]) -> tuple[np.ndarray, np.ndarray]:
    """Places in the run of the processes of each side, which are spread over it evenly: in pairs for equal numbers."""
    order = [((place + 0.5) / count, place, side) for side, count in enumerate(processes) for place in range(count)]
    # Which of two whose turn it is goes first changes from pair to pair.
    order.sort(key=lambda turn: (turn[0], turn[2] if turn[1] % 2 == 0 else -turn[2]))
    sides = np.array([side for _, _, side in order])
    return np.flatnonzero(sides == 0), np.flatnonzero(sides == 1)


def one_after_the_other(processes: tuple[int, int]) -> tuple[np.ndarray, np.ndarray]:
    """The same for tools that measure the whole baseline before the candidate."""
    return np.arange(processes[0]), np.arange(processes[0], sum(processes))
