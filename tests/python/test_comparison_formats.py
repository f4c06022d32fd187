"""The formats of a comparison, read back by the programs that they are for."""

from __future__ import annotations

import json
import xml.etree.ElementTree as ET
from typing import Any

import pytest

from fastrnns_rs._core import comparison_formats, render_comparison
from fastrnns_rs.documents import row_names

RATIO = {"faster": 0.95, "slower": 1.0321234567890123, "equivalent": 1.0, "inconclusive": 1.01, None: None}
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


def row(runner: str, verdict: str | None, reason: str) -> dict[str, Any]:
    """A row with numbers, or one whose candidate has none."""
    ratio = RATIO[verdict]
    side = {"n_processes": 10, "n_samples": 1000, "estimate_ns": 1_500_000.0}
    return {
        "runner": runner,
        "group": "lstm",
        "phase": "forward",
        "problem": {"seq_length": 64},
        "baseline": side,
        "candidate": None if ratio is None else {**side, "estimate_ns": 1_500_000.0 * ratio},
        "ratio": ratio,
        "ratio_ci_low": ratio and ratio * 0.99,
        "ratio_ci_high": ratio and ratio * 1.01,
        "shift_ns": ratio and 1.0,
        "cliffs_delta": ratio and -0.5,
        "p_value": ratio and 0.01,
        "p_value_adjusted": ratio and 0.02,
        "verdict": verdict,
        "reason": reason,
        "label": None,
        "additional_processes": None,
    }


def document(text: str) -> dict[str, Any]:
    """A comparison with a row of each outcome, in which every text is the given one."""
    rows = [row(text, verdict, text) for verdict in RATIO]
    rows.append(row(text, None, f"failed: {text}"))
    return {
        "schema": "fastrnns-rs/comparison",
        "schema_version": "1.0",
        "kind": "run",
        "warnings": [{"code": text, "message": text, "evidence": text, "hint": text}],
        "exit_code": 0,
        "baseline": {"label": text, "files": [text]},
        "candidate": {"label": text, "files": [text]},
        "method": {
            "name": text,
            "confidence_level": 0.95,
            "margin": 0.01,
            "margin_source": "noise_floor",
            "false_discovery_rate": 0.05,
            "forced": True,
        },
        "environment_differences": [{"key": text, "baseline": [text], "candidate": None}],
        "rows": rows,
        "kernels": [],
        "geometric_mean": None,
        "counts": {"faster": 1, "slower": 1, "equivalent": 1, "inconclusive": 1, "none": 2},
    }


@pytest.mark.parametrize("text", HOSTILE, ids=range(len(HOSTILE)))
def test_junit_is_read_by_an_xml_parser_whatever_names_hold(text: str) -> None:
    root = ET.fromstring(render_comparison(json.dumps(document(text)), "junit"))
    [suite] = root
    assert {key: suite.get(key) for key in ("tests", "failures", "errors", "skipped")} == {
        "tests": "6",
        "failures": "1",
        "errors": "1",
        "skipped": "2",
    }
    assert (suite.get("name") or "").startswith("FORCED: ")
    cases = suite.findall("testcase")
    outcomes = [[child.tag for child in case if child.tag != "properties"] for case in cases]
    assert outcomes == [[], ["failure"], [], ["skipped"], ["skipped"], ["error"]]
    assert [case.get("time") is None for case in cases] == [False] * 4 + [True] * 2


def test_junit_gives_texts_and_numbers_back() -> None:
    text = "<b>&amp;\"'</testcase> 漢字"
    root = ET.fromstring(render_comparison(json.dumps(document(text)), "junit"))
    slower = root.findall(".//testcase")[1]
    assert (slower.get("classname"), slower.get("name")) == ("lstm", f"{text}/forward")
    assert float(slower.get("time", "")) == pytest.approx(1.5e-3 * 1.0321234567890123, rel=1e-15)
    properties = {entry.get("name"): entry.get("value") for entry in slower.findall("properties/property")}
    assert float(properties["ratio"] or "") == 1.0321234567890123
    assert properties["margin"] == "0.01"
    [failure] = slower.findall("failure")
    assert (failure.get("type"), failure.text) == ("slower", text)
    assert failure.get("message") == "slower: 1.032 [1.022, 1.042]"


@pytest.mark.parametrize("text", HOSTILE, ids=range(len(HOSTILE)))
def test_every_format_can_be_printed(text: str) -> None:
    for name, description in comparison_formats():
        assert description
        shown = render_comparison(json.dumps(document(text)), name)
        assert shown.endswith("\n")
        assert not [c for c in shown if c != "\n" and (ord(c) < 32 or 0x7F <= ord(c) < 0xA0 or c in "\u202e\u2066")]
    assert json.loads(render_comparison(json.dumps(document(text)), "json")) == document(text)


def test_rows_of_one_runner_have_what_differs_in_their_names() -> None:
    made = document("plain")
    made["rows"] = [row("cudnn", "slower", "said") for _ in range(2)]
    made["rows"][1]["problem"] = {"seq_length": 128}
    root = ET.fromstring(render_comparison(json.dumps(made), "junit"))
    names = [case.get("name") for case in root.findall(".//testcase")]
    assert names == ["cudnn/forward (seq_length 64)", "cudnn/forward (seq_length 128)"]
    assert names == row_names.titles([(one["runner"], one["phase"], one["problem"]) for one in made["rows"]])


def test_a_comment_begins_with_its_marker() -> None:
    lines = render_comparison(json.dumps(document("plain")), "markdown").splitlines()
    assert lines[0] == "<!-- fastrnns-rs comparison -->"
    assert lines[1].startswith("### FORCED: ")


@pytest.mark.parametrize("text", ["", "{", "[]", "{}", '{"rows": NaN}', '{"rows": "\\udc80"}', "[" * 1000])
def test_what_is_no_comparison_is_refused_in_one_line(text: str) -> None:
    for name in ("table", "markdown", "junit"):
        with pytest.raises(ValueError, match=r"^not a comparison: .*$"):
            render_comparison(text, name)
    with pytest.raises(ValueError, match='no output format is called "xml"'):
        render_comparison(text, "xml")
