"""Simulated iteration times are told right: the gates of `steady_state`."""

from __future__ import annotations

import pytest
import validating_series as validating
from validation_tables import trials

#: The short tier's trials leave so much to chance: three standard errors of 95 %.
TRIALS = trials(250, 2000)
GATE = 0.95 - 3 * (0.95 * 0.05 / TRIALS) ** 0.5


@pytest.mark.long("simulations")
def test_what_does_not_change_is_flat() -> None:
    found = [validating.told(shape, TRIALS) for shape in validating.flat()]
    validating.table(found).publish("flat")
    assert all(one.right >= GATE for one in found)


def test_a_warm_up_is_found() -> None:
    heights_and_noises = [(0.05, 0.01), (0.1, 0.01), (0.1, 0.03), (0.2, 0.03), (0.8, 0.03), (0.8, 0.09)]
    found = [validating.told(validating.settling(*one), TRIALS) for one in heights_and_noises]
    validating.table(found).publish("warm-up")
    for one, (height, spread) in zip(found, heights_and_noises, strict=True):
        assert one.right >= GATE
        assert one.steady_from is not None
        # What is left of it where the steady part begins is no more than the noise, or a little.
        left = height * 2.718281828 ** (-one.steady_from[1] / 25)
        assert left <= max(0.015, 1.8 * spread), (one, left)
        assert one.steady_from[2] <= 150


def test_a_step_is_found_where_it_is() -> None:
    steps = [(height, spread, at) for height in (0.05, 0.1, -0.05) for spread in (0.01, 0.03) for at in (100, 300)]
    found = [validating.told(validating.step(*one), TRIALS) for one in steps]
    validating.table(found).publish("steps")
    for one, (_, _, at) in zip(found, steps, strict=True):
        assert one.right >= GATE
        assert one.steady_from is not None
        low, middle, high = one.steady_from
        assert low >= at - 8
        assert abs(middle - at) <= 1
        assert high <= at + 12


@pytest.mark.long("simulations")
def test_what_goes_on_changing_has_no_steady_state() -> None:
    found = [validating.told(shape, TRIALS) for shape in validating.unsteady()]
    validating.table(found).publish("unsteady")
    assert all(one.right >= GATE for one in found)


def test_what_cannot_be_found_is_shown() -> None:
    """A warm-up that the noise hides, and noise that resembles a change."""
    hidden = [validating.settling(0.05, 0.03), validating.settling(0.05, 0.09), validating.settling(0.2, 0.09)]
    similar = [validating.Shape("noise 3 %, AR(0.9)", "flat", lambda rng: validating.noise(rng, 0.03, 0.9))]
    validating.table([validating.told(shape, TRIALS) for shape in hidden + similar]).publish("hidden")
