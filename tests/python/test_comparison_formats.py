"""The formats of a comparison, read back by the programs that they are for."""

from __future__ import annotations

import copy
import json
import re
import xml.etree.ElementTree as ET
from dataclasses import replace
from typing import Any

import pytest
from conftest import ROOT
from run_files import FORMATS, result, run

from fastrnns_rs.documents import row_names
from fastrnns_rs.documents.comparison import Comparison

#: A comparison with a row of each outcome.
PLAIN = json.loads((ROOT / "tests" / "data" / "views" / "comparison.json").read_text(encoding="utf-8"))
HOSTILE = [
    "",
    "plain",
    "<b>&amp;\"'</testcase>",
    "]]><![CDATA[ <?xml?>",
    "\x00\x01\x08\x0b\x0c\x0e\x1f\x7f\x85\x9b",
    "\ufffe\uffff\ufffd\U0001ffff\U0010fffe",
    "\x1b[31mred\x1b]0;title\x07",
    "a\u202eb\u2066c\u200fd\u2028e\ufeff",
    "line\r\nline\ttab\n",
    "a|b\\|c `code` @everyone <!-- --> </details>",
    "漢字 e\u0301 \U0001f4a5",
    "x" * 100_000,
]


def document(text: str) -> dict[str, Any]:
    """The same in which every text is the given one, from before there were comparisons of captures."""
    since = {"basis", "categories", "device_time"}
    made: dict[str, Any] = copy.deepcopy({key: value for key, value in PLAIN.items() if key not in since})
    for row in made["rows"]:
        reason = f"failed: {text}" if "failed: " in row["reason"] else text
        row |= {"runner": text, "group": text, "reason": reason, "label": row["label"] and text}
    made["warnings"] = [dict.fromkeys(("code", "message", "evidence", "hint"), text)]
    made["baseline"] = made["candidate"] = {"label": text, "files": [text]}
    made["method"] |= {"name": text, "forced": True}
    made["environment_differences"] = [{"key": text, "baseline": text, "candidate": None}]
    return made


def rendered(plain: dict[str, Any], name: str) -> str:
    """A comparison in a format."""
    return Comparison.from_dict(plain).render(name)


@pytest.mark.parametrize("text", HOSTILE, ids=range(len(HOSTILE)))
def test_junit_is_read_by_an_xml_parser_whatever_names_hold(text: str) -> None:
    [suite], [plain] = (ET.fromstring(rendered(one, "junit")) for one in (document(text), PLAIN))
    assert (suite.get("name") or "").startswith("FORCED: ")
    for key in ("tests", "failures", "errors", "skipped"):
        assert suite.get(key) == plain.get(key) != "0"
    found, expected = (
        [(case.get("time"), *(child.tag for child in case)) for case in one.findall("testcase")]
        for one in (suite, plain)
    )
    assert found == expected


def test_junit_gives_texts_and_numbers_back() -> None:
    text, row = "<b>&amp;\"'</testcase> 漢字", PLAIN["rows"][0]
    slower = ET.fromstring(rendered(document(text), "junit")).find(".//testcase")
    assert slower is not None
    assert (slower.get("classname"), (slower.get("name") or "").partition(" (")[0]) == (text, f"{text}/forward")
    assert float(slower.get("time", "")) == pytest.approx(row["candidate"]["estimate_ns"] / 1e9, rel=1e-15)
    properties = {entry.get("name"): entry.get("value") for entry in slower.findall("properties/property")}
    assert float(properties["ratio"] or "") == row["ratio"]
    [failure] = slower.findall("failure")
    assert (failure.get("type"), failure.text) == ("slower", text)


@pytest.mark.parametrize("text", HOSTILE, ids=range(len(HOSTILE)))
def test_every_format_can_be_printed(text: str) -> None:
    for name in FORMATS:
        shown = rendered(document(text), name)
        assert shown.endswith("\n")
        assert not [c for c in shown if c != "\n" and (ord(c) < 32 or 0x7F <= ord(c) < 0xA0 or c in "\u202e\u2066")]
    assert Comparison.from_dict(json.loads(rendered(document(text), "json"))) == Comparison.from_dict(document(text))


def test_a_format_that_does_not_exist_is_refused() -> None:
    with pytest.raises(ValueError, match=r"invalid value: 'xml' \(format\)"):
        rendered(document("plain"), "xml")
    with pytest.raises(ValueError, match=r"invalid value: 'xml' \(format\)"):
        run([result()]).render("xml")


@pytest.mark.parametrize("value", [float("inf"), float("nan"), 1 << 64, -(1 << 63) - 1])
@pytest.mark.parametrize("name", FORMATS)
def test_a_number_that_other_programs_cannot_read_is_refused(value: float, name: str) -> None:
    made = Comparison.from_dict(document("plain"))
    assert made.rows[0].baseline is not None
    made.rows[0] = replace(made.rows[0], baseline=replace(made.rows[0].baseline, estimate_ns=value))
    with pytest.raises(ValueError, match="not JSON compliant|more than 64 bits"):
        made.render(name)


def cells(line: str, *, pairs: bool) -> list[str]:
    """The cells of a row as GitHub cuts it: a backslash escapes a pipe; with `pairs` also another backslash."""
    return re.split(r"(?<!\\)(?:\\\\)*\|" if pairs else r"(?<!\\)\|", line)


@pytest.mark.parametrize("text", HOSTILE[1:-1], ids=range(len(HOSTILE) - 2))
def test_no_text_adds_lines_or_cells(text: str) -> None:
    for name in ("table", "markdown", "junit"):
        # A terminal that is wide enough wraps no line.
        lines, plain = (
            Comparison.from_dict(document(one)).render(name, width=10**6).splitlines() for one in (text, "plain")
        )
        assert len(lines) == len(plain)
        if name == "markdown":
            for line, model in zip(lines, plain, strict=True):
                counts = {len(cells(line, pairs=pairs)) for pairs in (False, True)}
                assert not model.startswith("|") or counts == {len(cells(model, pairs=False))}, line


@pytest.mark.parametrize(
    ("problems", "told"),
    [
        ([{"size": 4, "amp": False}, {"size": 8, "amp": True}], [" (size 4, amp false)", " (size 8, amp true)"]),
        ([{"seed": 1, "device": "cpu"}, {"seed": 1, "device": "cuda"}], [" (device cpu)", " (device cuda)"]),
        ([{"seed": 1}, {"seed": 1}], ["", ""]),
        ([None, None], ["", ""]),
        ([{}, {"seed": None}], ["", ""]),
        ([None, {"seed": 1}], ["", " (seed 1)"]),
        ([{"seed": None}, {"seed": 1}], [" (seed null)", " (seed 1)"]),
    ],
)
def test_only_what_differs_tells_rows_apart(problems: list[Any], told: list[str]) -> None:
    assert row_names.titles([("a", "forward", one) for one in problems]) == [f"a/forward{one}" for one in told]
    alone = [("a", f"phase {place}", one) for place, one in enumerate(problems)]
    assert row_names.titles([*alone, ("b", None, None)]) == [*(f"a/{phase}" for _, phase, _ in alone), "b"]


def test_a_runner_that_only_the_baseline_failed_to_measure_is_no_error_of_junit() -> None:
    """The exit code is 0 then."""
    plain = copy.deepcopy(PLAIN)
    place = next(place for place, row in enumerate(plain["rows"]) if (row["reason"] or "").startswith("fewer than 3"))
    plain["rows"][place]["reason"] = "failed: out of memory; x (in the baseline)"
    assert ET.fromstring(rendered(plain, "junit"))[0].get("errors") == ET.fromstring(rendered(PLAIN, "junit"))[0].get(
        "errors"
    )
    plain["rows"][place] |= {"reason": "failed: out of memory (in the candidate)"}
    assert ET.fromstring(rendered(plain, "junit"))[0].get("errors") == "2"
