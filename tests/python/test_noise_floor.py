"""The noise floor: what is drawn, what is made of it, and the files that keep it."""

from __future__ import annotations

import json
import math
import os
import random
import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import jsonschema
import numpy as np
import pytest
import scipy.stats
from conftest import ROOT, run_cli
from noise_floors import alarming, detecting
from run_files import CARD, ENVIRONMENT

from fastrnns_rs.documents.codec import to_plain
from fastrnns_rs.documents.document import VERSION
from fastrnns_rs.documents.noise_figures import minimum_detectable_change, wilson
from fastrnns_rs.documents.noise_floor import NoiseFloor
from fastrnns_rs.documents.self_check import SelfCheck
from fastrnns_rs.errors import UsageError
from fastrnns_rs.machine import environment, noise
from fastrnns_rs.machine.noise import kept, measure_floor, store, stored
from fastrnns_rs.machine.noise.floor import relabelled
from fastrnns_rs.machine.noise.process_pairs import ProcessPair
from fastrnns_rs.views.noise import sentence

CPU = "A Processor (R) @ 2.60GHz / 9"
MACHINE = replace(ENVIRONMENT, cpu_model=CPU)
H200 = replace(CARD, index=1, name="NVIDIA H200")


def medians(spread: float, count: int = 40, seed: int = 0) -> list[float]:
    generator = random.Random(seed)
    return [3e6 * math.exp(generator.gauss(0, spread)) for _ in range(count)]


def paired(medians: list[float]) -> list[ProcessPair]:
    """Neighbours as pairs, whose sides take turns to be first."""
    sides = zip(medians[::2], medians[1::2], strict=True)
    return [
        ProcessPair(baseline_ns=one, candidate_ns=other, baseline_first=place % 2 == 0)
        for place, (one, other) in enumerate(sides)
    ]


def measured(forward: list[float], backward: list[float] | None = None, **given: Any) -> NoiseFloor:
    known = {"device": "cpu", "runner": "lstm", "environment": MACHINE, "draws": 200}
    return measure_floor(paired(forward), None if backward is None else paired(backward), **{**known, **given})


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder of noise floors of a machine with `CPU`, which has none yet."""
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))
    monkeypatch.setattr(environment, "cpu_model", lambda: CPU)
    return tmp_path / "fastrnns-rs" / "noise"


def test_one_in_twenty_is_a_false_alarm() -> None:
    rates = [measured(medians(0.02, 120, seed), seed=seed, draws=400).false_alarm_rate for seed in range(10)]
    assert 0.04 < sum(rates) / len(rates) < 0.06


def test_two_kinds_of_processes_raise_no_more_alarms() -> None:
    # Half of them 40 % slower: wide, and far from normal.
    floor = measured([x * (1.4 if place // 2 % 2 else 1) for place, x in enumerate(medians(0.01, 60))], draws=1000)
    assert floor.minimum_detectable_change < 0.02
    generator = random.Random(5)
    floor = measured([x * generator.choice((1, 1.4)) for x in medians(0.01, 60)], draws=1000)
    assert floor.false_alarm_rate < 0.08
    assert floor.minimum_detectable_change > 0.2


def test_the_interval_of_the_rate_is_wilsons() -> None:
    for hits, trials in ((0, 1000), (47, 1000), (1, 3), (3, 3)):
        expected = scipy.stats.binomtest(hits, trials).proportion_ci(method="wilson")
        assert wilson(hits, trials) == pytest.approx((expected.low, expected.high), abs=1e-12)
    floor = measured(medians(0.02))
    assert (floor.false_alarm_ci_low, floor.false_alarm_ci_high) == wilson(round(200 * floor.false_alarm_rate), 200)


def test_pairs_stay_together_under_random_labels() -> None:
    known = [float(place) for place in range(1, 41)]
    seen = set()
    for baseline, candidate in relabelled(paired(known), 10, 200, seed=1):
        assert len({*baseline, *candidate}) == 20
        assert {(min(pair), max(pair)) for pair in zip(baseline, candidate, strict=True)} <= {
            *zip(known[::2], known[1::2], strict=True)
        }
        seen |= {*baseline}
    assert seen == {*known}
    # As many as there are: each draw has all of them.
    assert all(sorted(a + b) == known for a, b in relabelled(paired(known), 20, 5, seed=1))


def test_random_labels_hide_a_slower_side() -> None:
    """The fault of this figure, which the checks do not have."""
    biased = [one * (1.03 if place % 2 else 1) for place, one in enumerate(medians(0.005))]
    floor = measured(biased, draws=400)
    assert floor.false_alarm_rate < 0.08
    assert {one.check: one.finding for one in floor.checks}["sides"] == "difference"


def test_the_same_seed_draws_the_same() -> None:
    first, again, other = (measured(medians(0.02), seed=seed) for seed in (3, 3, 4))
    assert replace(first, measured_utc="") == replace(again, measured_utc="")
    assert first.false_alarm_rate != other.false_alarm_rate
    assert first.minimum_detectable_change == other.minimum_detectable_change


@pytest.mark.parametrize(("spread", "per_side", "margin"), [(0.02, 10, 0.01), (0.005, 10, 0.01), (0.05, 5, 0.03)])
def test_the_change_is_found_in_four_of_five_comparisons(spread: float, per_side: int, margin: float) -> None:
    """Against the rule of pairs written out with numpy and scipy, on ratios that are simulated."""
    change = minimum_detectable_change(spread, per_side, margin=margin, paired=True)
    generator, trials = np.random.default_rng(5), 20_000
    ratios = generator.normal(math.log1p(change), spread, (trials, per_side))
    difference, error = ratios.mean(axis=1), ratios.std(axis=1, ddof=1) / math.sqrt(per_side)
    wide, narrow = (scipy.stats.t.ppf(level, per_side - 1) * error for level in (0.975, 0.95))
    equivalent = (np.abs(difference) + narrow) <= math.log1p(margin)
    found = (difference - wide > 0) & ~equivalent
    assert found.mean() == pytest.approx(0.8, abs=0.012)


def test_where_nothing_spreads_the_change_is_the_margin() -> None:
    assert minimum_detectable_change(0.0, 10, paired=True) == pytest.approx(0.01, rel=0.01)
    floor = measured([3e6] * 40)
    assert (floor.log_stddev, floor.pair_log_stddev, floor.false_alarm_rate) == (0.0, 0.0, 0.0)
    assert floor.minimum_detectable_change == pytest.approx(0.01, rel=0.01)


def test_more_processes_show_less() -> None:
    found = [minimum_detectable_change(0.03, count, paired=True) for count in (3, 5, 10, 20, 40)]
    assert found == sorted(found, reverse=True)
    # As the root of their number, where the t is near the normal: 2.8 standard errors.
    assert math.log1p(found[-1]) == pytest.approx(2.8 * 0.03 / math.sqrt(40), rel=0.04)
    # Student's noncentral t, where the margin plays no role.
    power = scipy.stats.nct.sf(scipy.stats.t.ppf(0.975, 9), 9, math.log1p(found[2]) * math.sqrt(10) / 0.03)
    assert power == pytest.approx(0.8, abs=0.003)


def test_the_floor_is_that_of_the_worse_phase() -> None:
    quiet, loud = medians(0.01), medians(0.04, seed=2)
    assert measured(quiet).phase == "forward"
    for forward, backward, phase in ((quiet, loud, "backward"), (loud, quiet, "forward")):
        floor = measured(forward, backward)
        assert floor.phase == phase
        alone = replace(measured(loud), measured_utc="", checks=[])
        assert replace(floor, measured_utc="", phase="forward", checks=[]) == alone


@pytest.mark.parametrize(
    ("forward", "given", "message"),
    [
        (medians(0.02, 38), {}, r": 38 of forward\b.* 40\b"),
        ([], {}, r": 0 of forward\b.* 40\b"),
        (medians(0.02), {"per_side": 21}, r": 21 \(per_side\).* 20\."),
        (medians(0.02), {"per_side": 2}, r": 2 \(per_side\).* 3 "),
        (medians(0.02), {"draws": 0}, r": 0 \(draws\)"),
        (medians(0.02), {"margin": math.nan}, "margin"),
        ([*medians(0.02), math.nan, 1.0], {}, r": forward: processes\[40\] is NaN"),
        ([*medians(0.02), 0.0, 1.0], {}, r": forward: processes\[40\] is 0;"),
        ([*medians(0.02), -1.0, 1.0], {}, r": forward: processes\[40\] is -1;"),
        ([1e-5, 1e9, 1e9, 1e-5] * 10, {}, ": forward: spread is 33"),
    ],
)
def test_what_cannot_be_measured_is_refused(forward: list[float], given: dict[str, Any], message: str) -> None:
    with pytest.raises(UsageError, match=message) as caught:
        measured(forward, **given)
    assert "\n" not in str(caught.value)
    with pytest.raises(UsageError, match=": 12 of backward"):
        measured(medians(0.02), medians(0.02, 12))


def test_what_is_stored_is_found_again(here: Path) -> None:
    assert stored("cpu") is None
    floor = measured(medians(0.02), medians(0.03))
    path = store(floor)
    assert path.parent == here
    assert stored("cpu") == floor
    document = json.loads(path.read_text())
    schema = json.loads((ROOT / "docs" / "schemas" / "noise-floor.schema.json").read_text())
    jsonschema.Draft202012Validator(schema).validate(document)
    assert document["schema"] == "fastrnns-rs/noise-floor"
    later = measured(medians(0.01))
    assert store(later) == path
    assert stored("cpu") == later
    assert list(here.iterdir()) == [path]


def test_machines_that_share_a_home_are_kept_apart(here: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    mine = measured(medians(0.02))
    path = store(mine)
    monkeypatch.setattr(environment, "cpu_model", lambda: CPU.replace("9", "8"))
    assert stored("cpu") is None
    monkeypatch.setattr(environment, "cpu_model", lambda: None)
    assert stored("cpu") is None
    unknown = measured(medians(0.03), environment=replace(MACHINE, cpu_model=None))
    store(unknown)
    assert stored("cpu") == unknown
    assert kept("cpu", CPU) == mine
    # What another machine measured is not this one's because somebody copied the file.
    for other in here.iterdir():
        other.write_bytes(path.read_bytes())
    with pytest.raises(UsageError, match=re.escape(CPU)):
        stored("cpu")


def test_a_gpu_has_its_own(here: Path) -> None:
    floor = measured(medians(0.02), device="cuda:1", environment=replace(MACHINE, gpus=[H200]))
    assert (floor.device_name, floor.cpu_model) == ("NVIDIA H200", CPU)
    assert store(floor).parent == here
    assert kept("cuda:1", "NVIDIA H200") == kept("cuda", "NVIDIA H200") == floor
    assert stored("cpu") is kept("cuda", "Tesla K80") is None
    # Which GPU has a number depends on which are visible: it is none to know one by.
    assert stored("cuda:1") is None


def test_a_floor_of_an_older_build_is_read(here: Path) -> None:
    path = store(measured(medians(0.02)))
    document = json.loads(path.read_text())
    for key in ("pair_log_stddev", "between_sessions_change", "session_log_stddev", "n_sessions", "checks"):
        del document["noise_floor"][key]
    # Its effect was that of independent processes.
    change = minimum_detectable_change(document["noise_floor"]["log_stddev"], 10)
    document["noise_floor"]["minimum_detectable_change"] = change
    document["schema_version"] = "1.2"
    path.write_text(json.dumps(document))
    floor = stored("cpu")
    assert floor is not None
    assert (floor.between_sessions_change, floor.checks) == (None, [])
    assert "unknown between sessions;" in sentence(floor)


def with_key(key: str, value: Any) -> Any:
    def damage(text: str) -> str:
        document = json.loads(text)
        document["noise_floor"][key] = value
        return json.dumps(document)

    return damage


def with_check(**changes: Any) -> Any:
    return with_key("checks", [to_plain(SelfCheck(check="sides", finding="none")) | changes])


@pytest.mark.parametrize(
    ("damage", "message"),
    [
        (lambda _text: "", "not JSON"),
        (lambda _text: "[" * 50_000, "not JSON"),
        (lambda text: "\udcff\udcfe" + text, "not JSON"),
        (lambda text: text + " " * 100_000, "more than 65536 bytes"),
        (lambda text: text.replace("noise-floor", "run"), "schema is 'fastrnns-rs/run'"),
        (lambda text: text.replace(f'"{VERSION}"', '"2.0"'), "schema_version is 2.0"),
        (with_key("comparisons", 0), "comparisons is 0"),
        (with_key("false_alarm_rate", 1.5), "false_alarm_rate is 1.5"),
        (with_key("false_alarm_rate", math.nan), "false_alarm_rate is nan"),
        (with_key("minimum_detectable_change", -0.1), "minimum_detectable_change is -0.1"),
        (with_key("minimum_detectable_change", math.inf), "minimum_detectable_change is inf"),
        (with_key("minimum_detectable_change", 10**400), f"minimum_detectable_change is 1{'0' * 38}…, not a "),
        (with_key("between_sessions_change", math.nan), "between_sessions_change is nan"),
        (with_key("pair_log_stddev", -1.0), "pair_log_stddev is -1"),
        (with_key("n_sessions", 0), "n_sessions is 0"),
        (with_check(finding="drift"), "sides has a drift without its size"),
        (with_check(p_value=2), "p_value is 2"),
        (with_check(ratio=math.inf), "ratio is inf"),
        (with_check(n_jumps=-1), "n_jumps is -1"),
        (with_key("phase", "sideways"), "phase is 'sideways'"),
        (with_key("device", "cuda"), CPU),
        (with_key("device_name", "../../x"), " ../../x"),
    ],
)
def test_a_damaged_file_is_named(here: Path, damage: Any, message: str) -> None:
    path = store(measured(medians(0.02)))
    path.write_text(damage(path.read_text()), errors="surrogateescape")
    with pytest.raises(UsageError) as caught:
        stored("cpu")
    _, named, reason = caught.value.message.partition(f"'{path}': ")
    assert named
    assert message in reason
    assert len(caught.value.message) < 1000
    assert "ab(same=True)" in caught.value.hint
    assert caught.value.command_hint == "Run: fastrnns-rs ab --same"
    # And is replaced by the next one.
    store(measured(medians(0.01)))
    assert stored("cpu") is not None


def test_a_folder_in_its_place_is_named(here: Path) -> None:
    path = store(measured(medians(0.02)))
    path.unlink()
    path.mkdir()
    with pytest.raises(UsageError, match=re.escape(f"'{path}': Is a directory")):
        stored("cpu")
    with pytest.raises(UsageError, match=re.escape(f"'{path}'")):
        store(measured(medians(0.02)))


def test_a_folder_that_cannot_be_made_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "file").touch()
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "file"))
    with pytest.raises(UsageError, match=f"'{tmp_path / 'file'}/.*': Not a directory") as caught:
        store(measured(medians(0.02)))
    assert "XDG_STATE_HOME" in caught.value.hint


@pytest.fixture
def doctor(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    """`fastrnns-rs doctor` on this machine, quick for want of torch, with noise floors of its own."""
    (tmp_path / "torch").mkdir()
    (tmp_path / "torch" / "__init__.py").write_text("raise ImportError('none')\n")
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))
    known = replace(MACHINE, cpu_model=environment.cpu_model())
    path = os.pathsep.join([str(tmp_path), *filter(None, [os.environ.get("PYTHONPATH")])])
    return (
        lambda *flags: run_cli("doctor", *flags, PYTHONPATH=path),
        replace(measured(medians(0.02), environment=known), **alarming(47, 1000), **detecting(0.0234)),
    )


def test_the_doctor_shows_the_floor(doctor: Any) -> None:
    run, floor = doctor
    assert "noise floor: not measured\n" in run().stdout
    noise.store(floor)
    lines = [line.split("  ")[-1].strip() for line in run().stdout.partition("noise floor\n")[2].splitlines()]
    assert lines[1:3] == [f"{floor.measured_utc}, torch 2.15.0", "40 of lstm, forward"]
    assert lines[3] == "2.3 % by 10 + 10 processes; unknown between sessions"
    assert lines[4].startswith("4.7 [")
    assert lines[4].endswith("cannot show a bias")
    assert lines[5].startswith("No difference found: sides ±")
    document = run("--json").json()
    assert document["warnings"] == []
    known = ("measured_utc", "comparisons", "false_alarm_rate", "minimum_detectable_change")
    assert {key: document["noise_floor"][key] for key in known} == {key: getattr(floor, key) for key in known}


def test_the_doctor_goes_on_without_a_damaged_floor(doctor: Any) -> None:
    run, floor = doctor
    path = store(floor)
    path.write_text(path.read_text()[:100])
    done = run("--json")
    assert done.status == 0
    assert done.json()["noise_floor"] is None
    assert done.json()["warnings"][0]["code"] == "noise_floor_unreadable"
    assert str(path) in done.json()["warnings"][0]["evidence"]
    assert "\nwarning[noise_floor_unreadable]: " in done.stderr
    assert "Traceback" not in done.stderr


def test_a_folder_of_floors_that_cannot_be_entered_is_a_damaged_floor(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuses(one: Path) -> bool:
        raise PermissionError(13, "Permission denied", str(one))

    monkeypatch.setattr(Path, "is_fifo", refuses)
    with pytest.raises(UsageError, match=r"damaged noise floor: .*: Permission denied"):
        stored("cpu")


def test_a_floor_has_a_sentence() -> None:
    text = sentence(replace(measured(medians(0.02)), **alarming(50, 1000), **detecting(0.01234)))
    parts = ("cpu", "10 + 10 processes", "1.2 %", "5.0 [3.8, 6.5] % false alarms", "cannot show a bias")
    parts += ("unknown between sessions", "40 processes", "lstm/forward")
    assert [part for part in parts if part not in text] == []
