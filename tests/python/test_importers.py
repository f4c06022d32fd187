"""Foreign files of any format: which is which, what damage does to them, and what they may not hold."""

from __future__ import annotations

import copy
import json
import math
from typing import Any

import pytest
from foreign_files import FOLDER, NAMES, codes, imported, plain
from hypothesis import given, settings
from hypothesis import strategies as st

from fastrnns_rs.documents.codec import to_plain
from fastrnns_rs.errors import UsageError
from fastrnns_rs.escaping import visible
from fastrnns_rs.verbs.compare.importers import NAMES as TOOLS
from fastrnns_rs.verbs.compare.importers import read_foreign
from fastrnns_rs.verbs.compare.side import Side

HOSTILE: list[Any] = [None, True, -1, 0, -0.0, 1e-320, 10**400, -(10**400), 1.5, math.nan, math.inf, -math.inf]
HOSTILE += ["", "1.0", "\x1b[2J\n", "\ud800", "x" * 5000, [], [[]], [None], {}, {"": {}}, [1.0, "2"], {"value": None}]


def check_sound(side: Side) -> None:
    for series in side.series:
        assert (series.reason is None) == bool(series.medians_ns)
        assert all(math.isfinite(one) and one > 0 for one in series.medians_ns)
        assert (series.group, series.phase, series.problem, series.timing_mode) == (None, None, None, None)
        assert visible(series.runner) == series.runner
    assert len({series.runner for series in side.series}) == len(side.series) > 0
    json.dumps(to_plain(side), allow_nan=False).encode()


def check_read(document: Any) -> None:
    """Reads what may be damaged: a sound side, a usage error of one line, or no known format at all."""
    refused = side = None
    try:
        side = read_foreign("some.json", document)
    except UsageError as error:
        refused = error
    if side is not None:
        check_sound(side)
    if refused is not None:
        assert refused.message.startswith("some.json is not a ")
        assert visible(refused.message) == refused.message
        assert len(refused.message) < 400
        assert refused.hint


def spots(value: Any) -> list[tuple[Any, Any]]:
    """Every place in a document, as a container and a key or index."""
    found = []
    keys = value.keys() if isinstance(value, dict) else range(len(value)) if isinstance(value, list) else ()
    for key in keys:
        found += [(value, key), *spots(value[key])]
    return found


@pytest.mark.parametrize("name", NAMES)
def test_a_real_file_is_read(name: str) -> None:
    side = imported(plain(name), FOLDER / name)
    check_sound(side)
    assert side.files == [str(FOLDER / name)]
    assert codes(side)
    tool = next(tool for tool in TOOLS if name.startswith(tool.replace("-", "_")))
    for warning in side.warnings:
        assert warning.evidence is not None
        assert warning.evidence.startswith(f"{FOLDER / name}: {tool} ")
        assert warning.hint


@pytest.mark.parametrize("name", NAMES)
@settings(max_examples=50)
@given(data=st.data())
def test_damage_is_a_usage_error_or_a_sound_side(name: str, data: st.DataObject) -> None:
    document = plain(name)
    for _ in range(data.draw(st.integers(1, 3))):
        found = spots(document)
        if not found:
            break
        container, key = found[data.draw(st.integers(0, len(found) - 1))]
        if data.draw(st.booleans()):
            del container[key]
        else:
            container[key] = copy.deepcopy(data.draw(st.sampled_from(HOSTILE)))
    check_read(document)


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("value", HOSTILE, ids=lambda value: repr(value)[:12])
def test_every_outermost_key_may_hold_anything(name: str, value: Any) -> None:
    for key in plain(name):
        check_read({**plain(name), key: value})


@pytest.mark.parametrize(
    "document",
    [None, [], 1, "text", {}, {"results": [], "schema": "fastrnns-rs/run"}, {"benchmarks": []}, {"version": "1.0"}],
)
def test_what_is_of_no_known_format_is_left_alone(document: Any) -> None:
    assert read_foreign("some.json", document) is None


@pytest.mark.parametrize(
    ("document", "tool"),
    [
        ({"version": "1.0", "benchmarks": []}, "pyperf"),
        ({"version": "5.3.1", "machine_info": {}, "benchmarks": []}, "pytest-benchmark"),
        ({"results": []}, "hyperfine"),
        ({"context": {}, "benchmarks": []}, "google-benchmark"),
    ],
)
def test_a_file_without_benchmarks_is_refused(document: Any, tool: str) -> None:
    with pytest.raises(UsageError, match=f"^some.json is not a {tool} file that can be read: it holds no benchmark"):
        read_foreign("some.json", document)


@pytest.mark.parametrize(
    ("name", "tool", "said"),
    [
        ("hyperfine_2.0", "hyperfine 2.0.0", ["start_included", "not_interleaved"]),
        ("hyperfine_1.20", "hyperfine 1.20 or 1.21", ["start_included", "not_interleaved"]),
        ("hyperfine_1.20_failures", "hyperfine 1.20 or 1.21", ["start_included", "not_interleaved"]),
        ("hyperfine_1.19", "hyperfine 1.19 or older", ["start_included", "not_interleaved"]),
        ("pyperf", "pyperf 2.10.0, format 1.0", ["not_interleaved"]),
        ("pytest_benchmark", "pytest-benchmark 5.3.1", ["no_process_level", "not_interleaved"]),
        ("google_benchmark", "google-benchmark 1.9.5", ["no_process_level", "not_interleaved"]),
    ],
)
def test_warnings_name_the_tool_and_what_its_file_lacks(name: str, tool: str, said: list[str]) -> None:
    side = imported(plain(f"{name}.json"))
    assert codes(side) == said
    assert {warning.evidence for warning in side.warnings} == {f"some.json: {tool}"}


#: A file, the place in it that is damaged, what stands there then (`...` takes the key away), and what is told of it.
DAMAGE: list[tuple[str, str, Any, str]] = [
    *(
        (
            "google_benchmark",
            "benchmarks.1.time_unit",
            one,
            f"benchmarks[1].time_unit is '{one}', not one of ns, us, ms, s",
        )
        for one in ("min", "NS", "")
    ),
    ("google_benchmark", "benchmarks.0.run_type", ..., "the key benchmarks[0].run_type is missing"),
    ("hyperfine_1.19", "results.0.times", ..., "the key results[0].times is missing"),
    ("hyperfine_1.19", "results.0.exit_codes", ..., "the key results[0].exit_codes is missing"),
    ("hyperfine_2.0", "schema_version", 3, "its schema_version is 3; 2 is known"),
    ("hyperfine_2.0", "schema_version", "2", "schema_version is '2', not an integer"),
    ("hyperfine_1.20", "results.1.times.7", ..., "results[1] has 7 times and 8 exit codes"),
    (
        "hyperfine_2.0",
        "results.0.measurements.1.time_wall_clock.unit",
        "minute",
        "time_wall_clock.unit is not 'second'",
    ),
    ("pyperf", "version", "2.0", "its format version is '2.0'; 1.0 is known"),
    ("pyperf", "version", 5, "its format version is 5; 1.0 is known"),
    ("pyperf", "version", None, "its format version is null; 1.0 is known"),
    ("pyperf", "version", [1], "its format version is a list; 1.0 is known"),
    *(
        ("pyperf", "benchmarks.1.runs.1.values.2", one, f"benchmarks[1].runs[1].values[2] is {shown}, not a number")
        for one, shown in (("1.0", "'1.0'"), (None, "null"), (True, "true"), ([], "a list"))
    ),
    ("pytest_benchmark", "benchmarks.2.fullname", ..., "the key benchmarks[2].fullname is missing"),
    ("pytest_benchmark", "benchmarks.2.stats", ..., "the key benchmarks[2].stats is missing"),
]
HINTS = {
    "google-benchmark": "1.5 or newer",
    "hyperfine": "hyperfine 1.20 or newer writes one with --export-json FILE",
    "pyperf": "--output",
    "pytest-benchmark": "--benchmark-json",
}


@pytest.mark.parametrize(("name", "place", "value", "told"), DAMAGE)
def test_damage_is_told_by_its_place_with_what_writes_a_sound_file(
    name: str, place: str, value: Any, told: str
) -> None:
    document = found = plain(f"{name}.json")
    *way, last = (int(key) if key.isdigit() else key for key in place.split("."))
    for key in way:
        found = found[key]
    if value is ...:
        del found[last]
    else:
        found[last] = value
    tool = next(tool for tool in TOOLS if name.startswith(tool.replace("-", "_")))
    with pytest.raises(UsageError) as caught:
        imported(document)
    assert caught.value.message.startswith(f"some.json is not a {tool} file that can be read: ")
    assert caught.value.message.endswith(told)
    assert HINTS[tool] in caught.value.hint


def test_a_name_that_moves_the_cursor_is_made_harmless() -> None:
    document = plain("hyperfine_1.20.json")
    document["results"][0]["command"] = "\x1b[2Jcat\n\ud800"
    assert imported(document).series[0].runner == r"\x1b[2Jcat\n\u{d800}"


def test_benchmarks_of_one_name_are_numbered_and_warned_of() -> None:
    document = plain("hyperfine_1.19.json")
    document["results"] = 3 * document["results"]
    side = imported(document)
    assert [series.runner for series in side.series] == ["true", "true #2", "true #3"]
    assert "duplicate_names" in codes(side)


def test_a_number_in_place_of_a_name_cannot_be_taken_twice() -> None:
    document = plain("hyperfine_1.19.json")
    first = document["results"][0]
    document["results"] = [first, {**first, "command": "true #2"}, first, first]
    assert [series.runner for series in imported(document).series] == ["true", "true #2", "true #3", "true #4"]


@pytest.mark.parametrize("name", NAMES)
def test_real_files_hold_nothing_of_who_wrote_them(name: str) -> None:
    path = FOLDER / name
    assert path.stat().st_size < 30_000
    text = path.read_text(encoding="utf-8")
    for word in ("/root", "/home", "/work", "/tmp/s"):
        assert word not in text
    side = imported(plain(name))
    assert "demo" not in json.dumps(to_plain(side.environment))
