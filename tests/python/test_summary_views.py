"""Every view and format of a summary, on documents made by hand; the columns and the classes of the document."""

from __future__ import annotations

import csv
import io
import json
import re
from collections.abc import Iterable
from dataclasses import fields, is_dataclass
from pathlib import Path
from typing import Any, get_args, get_type_hints

import pytest
from conftest import ROOT
from hypothesis import given, settings
from hypothesis import strategies as st
from kineto_traces import by_dice, write
from summary_documents import empty, summary_of
from test_comparison_formats import cells
from test_report_command import LISTS, says
from test_report_names import acts

import fastrnns_rs
from fastrnns_rs.documents import summary as document
from fastrnns_rs.documents import summary_captures, summary_ranges
from fastrnns_rs.documents.document import Document
from fastrnns_rs.views import summary as view
from fastrnns_rs.views import text
from fastrnns_rs.views.summary import column_units as units
from fastrnns_rs.views.summary import columns
from fastrnns_rs.views.summary.lists import VIEWS

HOSTILE = (
    *("=cmd|' /C calc'!A0", '"quoted", and more', "a|b\\|c", "`", "``` <script>alert(1)</script> ```"),
    *("\x1b[2J\x1b]0;title\x07\x9b31m\x7f\0", "two\nlines\r\n| and | cells |\n", "漢字カーネル", "ends\\"),
    *("e\u0301\u202ereversed\u2066\u200b\ufeff\u2028", "", " ", "@mention [link](http://example.invalid) **bold**"),
    "x" * 1000,
)
SPECIAL = st.sampled_from("\\|`\"'=+@<>*_ \n\r\t\x1b\x9ba\u202e")


def shown(summary: dict[str, Any], name: str = "table", by: str = "overview", **more: Any) -> str:
    return view.render(summary, name, by=by, **{"top": None, "names": "full", "width": None, "wide": True, **more})


def check(names: tuple[str, ...], views: Iterable[str]) -> None:
    """No name leaves its cell."""
    summary, plain = summary_of(*names), summary_of(*["k"] * len(names))
    for by in views:
        for name in ("table", "csv", "markdown"):
            made = shown(summary, name, by, width=1000, top=3)
            assert not acts(made), (by, name)
            lines, expected = made.split("\n"), shown(plain, name, by, width=1000, top=3).split("\n")
            # A warning has no line for what it does not say.
            assert len(lines) == len(expected) or "" in names, (by, name)
            if name == "csv":
                rows = [*csv.reader(io.StringIO(made, newline=""))]
                assert {len(row) for row in rows} == {len(rows[0])}
                assert not [one for row in rows for one in row if one.startswith(("=", "+", "@"))]
            if name == "markdown":
                some, tables = (
                    [cells(one, pairs=False) for one in every if one[:1] == "|"] for every in (lines, expected)
                )
                assert [*map(len, some)] == [*map(len, tables)]
                # Outside of code spans nothing is markup.
                outside = re.sub(r"(`+)(?!`).*?(?<!`)\1(?!`)", "", made)
                assert not [one for one in ("<script>", "http", "@mention") if one in outside]


def test_hostile_names_break_nothing() -> None:
    for turn in range(len(HOSTILE)):
        check(HOSTILE[turn:] + HOSTILE[:turn], [*view.VIEWS][turn % 2 :: 2])


@settings(max_examples=30)
@given(st.lists(st.text(SPECIAL | st.characters(codec="utf-8", exclude_categories=["Cf", "Co"])), max_size=4))
def test_no_name_breaks_a_format(names: list[str]) -> None:
    check((*names, "k"), ["overview", "iteration"])


def test_an_empty_summary_says_so() -> None:
    for name in ("table", "markdown"):
        assert shown(empty(), name) == "No GPU activities in the capture.\n"
        for by, one in view.VIEWS.items():
            assert shown(empty(), name, by) == f"{one.nothing}\n"
            assert " in the capture" not in shown(empty(), name, by, selected=True)
    assert shown(empty(), "csv", "stream") == "device_id,stream_id,busy_ns,total_ns,kernel_count,device\n"


@pytest.mark.parametrize("name", ["table", "markdown"])
def test_every_view_is_shown_to_the_letter(name: str) -> None:
    """Of a summary with a row in every list."""
    screens = [f"=== {by}\n{shown(summary_of('gemm'), name, by)}" for by in view.VIEWS]
    screens += [f"=== at a glance\n{shown(summary_of('gemm'), name, wide=False)}"] if name == "table" else []
    assert "\n".join(screens) == (ROOT / "tests" / "data" / "summary" / f"views.{name}").read_text()


def test_the_overview_leaves_out_what_is_empty() -> None:
    full = summary_of("gemm")
    gone = ["ranges", "iteration_statistics", "idle_causes", "cudnn_rnn", "ranks", "metrics", "launches"]
    text = shown({**full, **{key: empty()[key] for key in gone}})
    for part in ("Why it was idle", "launches: ", "Ranges", "Iterations", "outliers: ", "cuDNN: ", "Ranks", "Metrics"):
        assert part in shown(full)
        assert part not in text
    assert "\n\n\n" not in text
    # Ranges may be all there is, as on a CPU.
    assert shown({**empty(), "ranges": full["ranges"]}).startswith("No GPU activities in the capture.\n\nRanges\n")


def test_programs_get_all_differences_and_people_the_three_largest() -> None:
    summary = summary_of("gemm")
    summary["iterations"][2]["differences"] = summary["iterations"][2]["differences"][:1] * 6
    assert shown(summary, "csv", "iteration").count("gemm:7500000") == 6
    assert shown(summary, by="iteration").count("gemm +7.500 ms") == 3 + 3


def test_shares_of_idle_time_are_those_of_the_device() -> None:
    summary = summary_of("gemm")
    summary["devices"] = [{**summary["devices"][0], "device_id": number} for number in range(2)]
    summary["idle_causes"].append({**summary["idle_causes"][0], "device_id": 1, "device": 1, "total_ns": 0})
    for made in (shown(summary, by="idle"), shown(summary)):
        assert "   25.00     0.5000      7       0  launch" in made
        assert "       -          0      7       1  host" in made


def test_lines_are_aligned_and_no_wider_than_the_terminal() -> None:
    names = ("漢字カーネル" * 30, "e\u0301" * 200, "void kernel<float, 4>(int)" * 9)
    summary = summary_of(*names)
    rows = shown(summary, width=80).split("\nKernels\n")[1].split("\n\n")[0].splitlines()
    assert len(rows) == 4
    assert all(text.width(row) <= 80 and "…" in row for row in rows[1:])
    assert all(name in shown(summary, by="kernel") for name in names)


@pytest.mark.parametrize("limit", [60, 80, 120, 200])
@pytest.mark.parametrize("by", [name for name in VIEWS if name != "overview"])
def test_a_list_leaves_out_the_columns_that_do_not_fit(by: str, limit: int) -> None:
    summary = summary_of("void kernel<float, 4>(int)" * 9, "gemm")
    lines = shown(summary, by=by, width=limit).splitlines()
    assert max(map(text.width, lines)) <= limit
    # A line names the columns that are left out.
    full, narrow = ([one for one in made if "  " in one][1:2] for made in (shown(summary, by=by).splitlines(), lines))
    missing = len(re.split(" {2,}", "".join(full).strip())) > len(re.split(" {2,}", "".join(narrow).strip()))
    assert not missing or any("--format csv" in line for line in lines)


def test_a_narrow_list_keeps_names_and_the_first_columns() -> None:
    summary = summary_of("void kernel<float, 4>(int)" * 9)
    (heading,) = [line for line in shown(summary, by="kernel", width=60).splitlines() if line.startswith("share, %")]
    assert re.split(" {2,}", heading) == ["share, %", "total, ms", "count", "name"]
    (heading,) = [line for line in shown(summary, by="idle", width=60).splitlines() if line.startswith("share, %")]
    assert heading.endswith("cause")


@pytest.mark.parametrize(
    ("name", "cut"),
    [
        ("abcdefghij" * 3, "abcdefghijab…jabcdefghij\n"),
        ("漢字漢字" * 4, "漢字漢字漢字…字漢字漢字\n"),
        ("aaaae\u0301" * 8, "aaaae\u0301aaaae\u0301aa…e\u0301aaaae\u0301aaaae\u0301\n"),
    ],
)
def test_names_are_cut_in_the_middle(name: str, cut: str) -> None:
    """By what they take on a screen, and no shorter than 24 columns."""
    assert f"  {cut}" in shown(summary_of(name), by="api", width=1)


def test_rows_beyond_the_top_are_added_up() -> None:
    summary = summary_of(*(f"kernel_{place}" for place in range(15)))
    # The last five: 1.1 to 1.5 ms, a half and four runs each.
    rest = "… 5 more: share 250.00 %, total 6.500 ms, count 20\n"
    assert rest in shown(summary)
    assert shown(summary, by="kernel", top=10).endswith(rest)
    assert "more" not in shown(summary, by="kernel")
    assert [shown(summary, "csv", top=top).count("\n") for top in (None, 2)] == [16, 3]
    # A part of a sum would pass for the whole.
    summary["kernels"][14]["kernel_time_fraction"] = None
    assert shown(summary, by="kernel", top=0).endswith("\n… 15 more: total 12.00 ms, count 60\n")


@pytest.mark.parametrize(("by", "key"), LISTS.items())
def test_csv_has_every_digit_and_the_keys_of_the_document(by: str, key: str) -> None:
    summary = summary_of("a", "b", "c")
    summary["kernels"][0] |= {"max_ns": 2**64 - 1, "mean_ns": 1 / 3, "stddev_ns": None}
    rows = summary[key] if isinstance(summary[key], list) else [summary[key]]
    found = [*csv.DictReader(io.StringIO(shown(summary, "csv", by), newline=""))]
    nested = {"budget", "parts", "activity", "latency_histogram", "queue_histogram"}
    for row, whole in zip(found, rows, strict=True):
        values = {name: value for name, value in whole.items() if name not in nested}
        assert row.keys() == values.keys()
        assert all(says(row[name], value) for name, value in values.items()), row


def test_a_kernel_has_the_name_that_was_requested() -> None:
    summary = summary_of("a long name")
    for names, name in {"full": "a long name", "short": "a long na", "mangled": "_Za long name"}.items():
        assert shown(summary, by="kernel", names=names).endswith(f"  {name}\n")
        assert f"`{name}`" in shown(summary, "markdown", "kernel", names=names)
        assert shown(summary, "csv", "kernel", names=names) == shown(summary, "csv", "kernel")
    summary["kernels"][0]["mangled_name"] = None
    assert shown(summary, by="kernel", names="mangled").endswith("  a long name\n")


def test_every_cause_of_idle_time_is_explained() -> None:
    assert columns.MEANWHILE.keys() == {*get_args(get_type_hints(document.IdleRow)["cause"])}
    summary = summary_of("k")
    (summary["idle_causes"][0]) |= {"cause": "dependency", "in_stream_ns": 300_000}
    line = next(line for line in shown(summary, by="idle").splitlines() if "dependency" in line)
    assert line.endswith("  the next activity was queued behind GPU work: 20.0 % in its own stream")


def test_units_at_their_ends() -> None:
    shares = {0.0: "0.00", 1e-9: "<0.01", 1.0: "100.00", 2.5: "250.00"}
    assert {share: units.FRACTION.terminal(share) for share in shares} == shares
    bars = {-1.0: 0, 0.0: 0, 0.024: 0, 0.025: 1, 0.5: 10, 1.0: 20, 7.0: 20}
    assert {share: len(units.BAR.terminal(share)) for share in bars} == bars
    rows = [{"category": "a", "delta_ns": delta} for delta in (-(2**63), 1_500_000, 0, 1)]
    assert units.differences(rows) == "a -9223372036855 ms, a +1.500 ms, a +0 ms"


def test_json_has_numbers_of_an_array_on_one_line(tmp_path: Path) -> None:
    summary = fastrnns_rs.read(write(tmp_path / "x\x9b.json", by_dice(3, 60)))
    whole = json.dumps(summary.to_dict(), indent=2)
    expected = re.sub(r"\[\s+(-?\d+(?:,\s+-?\d+)*)\s+\]", lambda found: f"[{''.join(found[1].split())}]", whole)
    # The two write tiny fractions with different exponents.
    numbers = re.compile(r"\d+\.\d+(e-\d+)?|\d+e-\d+")
    assert numbers.sub("0", summary.to_json()) == numbers.sub("0", expected) + "\n"


#: What the extension calls a class of the document, where not the same.
RUST = {"CaptureEntry": "Capture", "SkippedEntry": "Skipped", "LaunchesEntry": "Launches", "InductorEntry": "Inductor"}
RUST |= {"SummaryWarning": "Warning", "SummaryDocument": "Summary", "DeviceActivity": "Activity"}
SOURCES = ("summary.rs", "capture.rs", "activity.rs", "delays.rs")


def declared(name: str) -> dict[str, str]:
    """The fields of a structure of the extension with their types."""
    source = "".join((ROOT / "src" / "trace" / file).read_text() for file in SOURCES)
    (body,) = re.findall(rf"^pub struct {name} \{{\n(.*?)^\}}", source, flags=re.MULTILINE | re.DOTALL)
    return dict(re.findall(r"^    pub (\w+): (.+),$", body, flags=re.MULTILINE))


def as_rust(kind: Any) -> set[str]:
    """The types of the extension that are written as a type of the document."""
    arguments = get_args(kind)
    if type(None) in arguments:
        return {f"Option<{one}>" for one in as_rust(arguments[0])}
    if getattr(kind, "__origin__", None) is list:
        return (
            {"[u32; 3]", "Vec<u64>", "Vec<i64>"}
            if arguments[0] is int
            else {f"Vec<{one}>" for one in as_rust(arguments[0])}
        )
    if isinstance(kind, type):
        known = {
            int: {"u32", "u64", "i64"},
            float: {"f64"},
            bool: {"bool"},
            str: {"String", "Box<str>", "Arc<str>", "&'static str", "Word"},
        }
        return known.get(kind, {RUST.get(kind.__name__, kind.__name__)})
    return {"&'static str", "Word"}


def later(kind: Any) -> set[str]:
    """Keys of an object that its first documents do not have."""
    return {one.name for one in fields(kind) if "since" in one.metadata}


def test_the_classes_of_the_document_are_those_of_the_extension() -> None:
    known = {**vars(summary_captures), **vars(summary_ranges), **vars(document)}
    classes = [one for one in known.values() if is_dataclass(one) and one is not Document]
    assert len(classes) > 15
    for kind in classes:
        types = get_type_hints(kind)
        hints = {one.name: types[one.name] for one in fields(kind) if not one.name.startswith("_")}
        found = declared(RUST.get(kind.__name__, kind.__name__))
        assert [*found] == [*hints], kind
        # Warnings are of other documents, too, in which some have no evidence or no hint.
        if kind is not document.SummaryWarning:
            for name, hint in hints.items():
                # Null stands for a later key in documents of before.
                written = as_rust(hint) | {one[7:-1] for one in as_rust(hint) if name in later(kind)}
                assert found[name] in written, (kind, name)
