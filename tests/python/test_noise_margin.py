"""`--margin noise-floor`: whose noise it is, and that no other machine's is taken for it."""

from __future__ import annotations

import math
import random
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from noise_floors import alarming, detecting
from run_files import CARD, ENVIRONMENT, PROBLEM, SESSION, both, failed, result, run
from test_compare_statistics import AFTER, BEFORE, of_ab

from fastrnns_rs import Comparison, MissingError, UsageError, compare
from fastrnns_rs.documents.noise_floor import NoiseFloor
from fastrnns_rs.documents.run_file import Environment, PlannedRunner, Run
from fastrnns_rs.machine import environment
from fastrnns_rs.machine.noise import measure_floor, store
from fastrnns_rs.machine.noise.process_pairs import ProcessPair
from fastrnns_rs.verbs.bench.interleaved.side_checks import check_sides
from fastrnns_rs.views.comparison.repeating import list_options

CARDS = [replace(CARD, index=0, name="old card"), replace(CARD, index=1, name="new card")]


def floor_of(device: str, known: Environment, **changes: Any) -> NoiseFloor:
    generator = random.Random(0)
    sides = [[1e6 * math.exp(generator.gauss(0, 0.01)) for _ in range(20)] for _ in range(2)]
    pairs = [
        ProcessPair(baseline_ns=one, candidate_ns=other, baseline_first=True) for one, other in zip(*sides, strict=True)
    ]
    found = measure_floor(pairs, None, device=device, runner="r", environment=known, draws=50)
    # Other spreads have other checks.
    return replace(found, **({"checks": []} if changes else {}), **changes)


def on(device: str, seed: int = 0, **changes: Any) -> Run:
    problem = replace(PROBLEM, device=device)
    return run([result(seed=seed, problem=problem)], environment=replace(ENVIRONMENT, **changes))


def in_session(name: str, one: Run) -> Run:
    results = [replace(row, processes=[replace(each, session=name) for each in row.processes]) for row in one.results]
    return replace(one, results=results, sessions=[replace(SESSION, session_id=name)])


def compared(one: Run, other: Run) -> Comparison:
    return compare(one, other, margin="noise-floor")


@pytest.fixture(autouse=True)
def _here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A machine whose CPU is that of the run files, and which has measured its noise."""
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))
    monkeypatch.setattr(environment, "cpu_model", lambda: ENVIRONMENT.cpu_model)
    store(floor_of("cpu", ENVIRONMENT, **detecting(0.03), **alarming(6, 50)))


def test_the_noise_floor_of_the_machine_that_measured_is_the_margin() -> None:
    found = compared(on("cpu"), on("cpu", seed=1))
    assert (found.method.margin, found.method.margin_source) == (0.03, "noise_floor")
    assert found.rows[0].verdict == "equivalent"
    store(floor_of("cpu", ENVIRONMENT, **detecting(0.0312345678)))
    text = compared(on("cpu"), on("cpu", seed=1)).render("table", width=120)
    assert "(within ±3.12 %, the noise floor of this machine)" in text
    assert {one.code for one in found.warnings} == {"false_alarms"}


def test_the_name_of_a_noise_floor_is_only_an_option_for_medians() -> None:
    """Another statistic has no noise floor, so that a command with its name is refused."""
    method = compared(on("cpu"), on("cpu", seed=1)).method
    assert list_options(method) == ["--margin", "noise-floor"]
    assert list_options(replace(method, statistic="mean")) == ["--margin", "0.03", "--statistic", "mean"]
    # So is the command of a run of `ab` that was not kept.
    command = ["fastrnns-rs", "ab", "cudnn", "--margin", "noise-floor", "--no-history"]
    found = compare(replace(of_ab(BEFORE, AFTER), command=command), margin="noise-floor", history=False)
    [hint] = [one.hint for one in found.warnings if one.code == "mean_differs"]
    assert hint == "Judge the mean: fastrnns-rs ab cudnn --no-history --margin 0.03 --statistic mean"


def test_a_floor_whose_interval_an_earlier_version_rounded_is_read() -> None:
    store(floor_of("cpu", ENVIRONMENT, **detecting(0.03), **(alarming(0, 50) | {"false_alarm_ci_low": 2e-19})))
    assert compared(on("cpu"), on("cpu", seed=1)).method.margin == 0.03


def test_the_noise_of_another_torch_is_a_warning() -> None:
    store(floor_of("cpu", ENVIRONMENT, torch_version="0.1", measured_utc="1999-01-01T00:00:00+00:00"))
    found = compared(on("cpu"), on("cpu", seed=1))
    [warning] = [one for one in found.warnings if one.code == "other_noise_floor"]
    known = "torch 0.1 at 1999-01-01T00:00:00+00:00"
    assert warning.evidence == f"{known}; torch {ENVIRONMENT.torch_version} in the files"
    one_side = compared(on("cpu"), on("cpu", seed=1, torch_version="0.1"))
    assert "other_noise_floor" not in {one.code for one in one_side.warnings}


def test_files_of_different_sessions_take_the_figure_between_sessions() -> None:
    first, second = on("cpu"), in_session("later", on("cpu", seed=1))
    with pytest.raises(MissingError) as caught:
        compared(first, second)
    assert "noise floor between sessions not measured: 'cpu' (a processor) (margin): 0 of 8 sessions" in str(
        caught.value
    )
    store(floor_of("cpu", ENVIRONMENT, **detecting(0.03), n_sessions=3))
    with pytest.raises(
        MissingError, match=r"3 of 8 sessions.*Call fastrnns_rs\.ab\('r', same=True, device='cpu'\) 5 more times"
    ) as caught:
        compared(first, second)
    assert caught.value.command_hint == "Run 5 more times, in different hours: fastrnns-rs ab --same r --device cpu"
    between = {"between_sessions_change": 0.07, "session_log_stddev": 0.01, "n_sessions": 8}
    floor = floor_of("cpu", ENVIRONMENT, **detecting(0.03), **between)
    store(floor)
    assert compared(first, second).method.margin == 0.07
    # Sides of one session, and the same sessions on both sides, take the other.
    assert compared(first, on("cpu", seed=1)).method.margin == 0.03
    both = [first, second], [on("cpu", seed=2), in_session("later", on("cpu", seed=3))]
    assert compare(*both, margin="noise-floor").method.margin == 0.03
    store(replace(floor, between_sessions_change=0.8))
    with pytest.raises(UsageError, match=r"noise floor too high: 80% on 'cpu'"):
        compared(first, second)


@pytest.mark.parametrize("which", ["a", "b", "both"])
def test_a_side_that_failed_takes_the_figure_of_a_session(which: str) -> None:
    """The user learned of a floor that was not measured, in place of the runner that failed."""
    sides = [failed(name) if which in {name, "both"} else result(name) for name in "ab"]
    found = compare(both(*sides), margin="noise-floor")
    assert (found.method.margin, found.exit_code) == (0.03, 1)


def test_a_floor_that_is_no_margin_is_refused() -> None:
    store(floor_of("cpu", ENVIRONMENT, **detecting(0.8)))
    with pytest.raises(UsageError, match=r": 80% on 'cpu' \(margin\)"):
        compared(on("cpu"), on("cpu", seed=1))


def test_the_noise_of_another_machine_is_not_taken() -> None:
    other = {"cpu_model": "another processor"}
    with pytest.raises(MissingError, match=r": 'cpu' \(another processor\)"):
        compared(on("cpu", **other), on("cpu", **other))
    with pytest.raises(MissingError, match=r": 'cpu' \(unknown\)"):
        compared(on("cpu", cpu_model=None), on("cpu", cpu_model=None))
    for sides in ((on("cpu"), on("cpu", **other)), (on("cpu", **other), on("cpu"))):
        with pytest.raises(UsageError, match=r"\(margin\): .* machines: a processor and another processor"):
            compared(*sides)
    with pytest.raises(UsageError, match=r"\(margin\): .* machines: a processor and unknown"):
        compared(on("cpu"), on("cpu", cpu_model=None))
    # Nor are two files of one side of one machine.
    with pytest.raises(UsageError, match=r"\(margin\): .* machines: a processor and another processor"):
        compare([on("cpu"), on("cpu", 1, **other)], [on("cpu", 2), on("cpu", 3, **other)], margin="noise-floor")


def test_a_machine_that_does_not_tell_its_name_has_a_floor_too() -> None:
    unnamed = replace(ENVIRONMENT, cpu_model=None)
    store(floor_of("cpu", unnamed, **detecting(0.04)))
    assert compared(on("cpu", cpu_model=None), on("cpu", cpu_model=None)).method.margin == 0.04


def test_a_gpu_is_known_by_its_name_whatever_its_number_and_place() -> None:
    store(floor_of("cuda:1", replace(ENVIRONMENT, gpus=CARDS), **detecting(0.05)))
    assert compared(on("cuda:1", gpus=CARDS), on("cuda:1", gpus=CARDS[::-1])).method.margin == 0.05
    # The same card alone in its machine, under either of its names there.
    alone = [replace(CARDS[1], index=0)]
    assert compared(on("cuda", gpus=alone), on("cuda:0", gpus=alone)).method.margin == 0.05
    with pytest.raises(MissingError, match=r": 'cuda:0' \(old card\)"):
        compared(on("cuda", gpus=CARDS), on("cuda:0", gpus=CARDS))
    with pytest.raises(UsageError, match=r"\(margin\): .* machines: new card and old card"):
        compared(on("cuda", gpus=CARDS), on("cuda", gpus=alone))


def check_before_ab(device: str, candidate: str | None = None, **changes: Any) -> None:
    one = on(device, **changes)
    devices = (device, device if candidate is None else candidate)
    runners = [
        PlannedRunner(runner="r", side=None, problem=replace(PROBLEM, device=each), source="") for each in devices
    ]
    plan = SimpleNamespace(turns=0, tasks=[])
    check_sides(plan, replace(one, plan=replace(one.plan, runners=runners)), force=True, noise_floor=True)


def test_ab_finds_the_floor_of_a_gpu_before_it_measures() -> None:
    gpus = [replace(CARDS[1], index=0)]
    with pytest.raises(MissingError, match=r"not measured: 'cuda:0'"):
        check_before_ab("cuda:0", gpus=gpus)
    store(floor_of("cuda:0", replace(ENVIRONMENT, gpus=gpus), **detecting(0.05)))
    check_before_ab("cuda:0", gpus=gpus)
    check_before_ab("cuda:1", gpus=CARDS)
    with pytest.raises(MissingError, match=r"not measured: 'cuda:0'"):
        check_before_ab("cuda:0", gpus=CARDS)
    check_before_ab("cpu")


def test_ab_refuses_a_floor_that_is_no_margin_before_it_measures() -> None:
    store(floor_of("cpu", ENVIRONMENT, **detecting(0.8)))
    with pytest.raises(UsageError, match=r"noise floor too high: 80% on 'cpu'"):
        check_before_ab("cpu")
    with pytest.raises(UsageError, match=r"the rows have several devices: cpu and cuda:0"):
        check_before_ab("cpu", "cuda:0")


def test_rows_of_two_devices_have_no_floor() -> None:
    mixed = run([result(), result("jit", problem=replace(PROBLEM, device="cuda"))])
    with pytest.raises(UsageError, match=r"\(margin\): .* devices: cpu and cuda:0"):
        compared(mixed, mixed)
