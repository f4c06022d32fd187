"""The formats of a comparison, read back by the programs that they are for."""

from __future__ import annotations

import json
import re
import xml.etree.ElementTree as ET
from dataclasses import asdict, replace
from typing import Any

import pytest
from run_files import FORMATS, PROBLEM, result, run

from fastrnns_rs.documents import row_names
from fastrnns_rs.documents.comparison import Comparison
from fastrnns_rs.errors import UsageError

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
        "problem": asdict(PROBLEM),
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
        "environment_differences": [{"key": text, "baseline": text, "candidate": None}],
        "rows": rows,
        "kernels": [],
        "geometric_mean": None,
        "counts": {"faster": 1, "slower": 1, "equivalent": 1, "inconclusive": 1, "none": 2},
    }


def rendered(plain: dict[str, Any], name: str) -> str:
    """A comparison in a format."""
    return Comparison.from_dict(plain).render(name)


@pytest.mark.parametrize("text", HOSTILE, ids=range(len(HOSTILE)))
def test_junit_is_read_by_an_xml_parser_whatever_names_hold(text: str) -> None:
    root = ET.fromstring(rendered(document(text), "junit"))
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
    root = ET.fromstring(rendered(document(text), "junit"))
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
    for name in FORMATS:
        shown = rendered(document(text), name)
        assert shown.endswith("\n")
        assert not [c for c in shown if c != "\n" and (ord(c) < 32 or 0x7F <= ord(c) < 0xA0 or c in "\u202e\u2066")]
    assert Comparison.from_dict(json.loads(rendered(document(text), "json"))) == Comparison.from_dict(document(text))


def test_rows_of_one_runner_have_what_differs_in_their_names() -> None:
    made = document("plain")
    made["rows"] = [row("cudnn", "slower", "said") for _ in range(2)]
    made["rows"][1]["problem"] = asdict(replace(PROBLEM, seq_length=128))
    root = ET.fromstring(rendered(made, "junit"))
    names = [case.get("name") for case in root.findall(".//testcase")]
    assert names == ["cudnn/forward (seq_length 16)", "cudnn/forward (seq_length 128)"]
    assert names == row_names.titles([(one["runner"], one["phase"], one["problem"]) for one in made["rows"]])


def test_a_comment_begins_with_its_marker() -> None:
    lines = rendered(document("plain"), "markdown").splitlines()
    assert lines[0] == "<!-- fastrnns-rs comparison -->"
    assert lines[1].startswith("### FORCED: ")


def test_a_format_that_does_not_exist_is_refused() -> None:
    with pytest.raises(ValueError, match='no output format is called "xml"'):
        rendered(document("plain"), "xml")
    with pytest.raises(ValueError, match='no output format is called "xml"'):
        run([result()]).render("xml")


@pytest.mark.parametrize(
    ("path", "value", "message"),
    [
        (["rows", 0, "verdict"], "better", "rows[0].verdict is 'better'"),
        (["rows", 0, "phase"], "sideways", "rows[0].phase is 'sideways'"),
        (["rows", 0, "ratio"], "1.0", "rows[0].ratio is '1.0'"),
        (["rows", 0, "baseline", "n_processes"], 1.5, "rows[0].baseline.n_processes is 1.5"),
        (["method", "margin_source"], None, "method.margin_source is None"),
        (["counts", "none"], None, "counts.none is None"),
        (["warnings"], {}, "warnings is {}"),
    ],
)
def test_a_damaged_comparison_is_refused_by_its_key(path: list[Any], value: object, message: str) -> None:
    made = document("plain")
    *way, last = path
    inner: Any = made
    for key in way:
        inner = inner[key]
    # Rows share their sides.
    inner[last] = value
    with pytest.raises(UsageError, match=re.escape(message)):
        Comparison.from_dict(made)


@pytest.mark.parametrize("value", [float("inf"), float("nan"), 1 << 64, -(1 << 63) - 1])
@pytest.mark.parametrize("name", FORMATS)
def test_a_number_that_other_programs_cannot_read_is_refused(value: float, name: str) -> None:
    made = document("plain")
    made["rows"][0]["baseline"]["estimate_ns"] = value
    with pytest.raises(ValueError, match="not JSON compliant|more than 64 bits"):
        rendered(made, name)


def cells(line: str, *, pairs: bool) -> list[str]:
    """The cells of a row as GitHub cuts it: a backslash escapes a pipe; with `pairs` also another backslash."""
    return re.split(r"(?<!\\)(?:\\\\)*\|" if pairs else r"(?<!\\)\|", line)


@pytest.mark.parametrize("text", HOSTILE[1:-1], ids=range(len(HOSTILE) - 2))
def test_no_text_adds_lines_or_cells(text: str) -> None:
    for name in ("table", "markdown", "junit"):
        lines, plain = (rendered(document(one), name).splitlines() for one in (text, "plain"))
        assert len(lines) == len(plain)
        if name == "markdown":
            for line, model in zip(lines, plain, strict=True):
                counts = {len(cells(line, pairs=pairs)) for pairs in (False, True)}
                assert not model.startswith("|") or counts == {len(cells(model, pairs=False))}, line


@pytest.mark.parametrize(
    ("problems", "told"),
    [
        ([{"hidden_size": 64}, {"hidden_size": 128}], [" (hidden_size 64)", " (hidden_size 128)"]),
        ([{"seed": 1, "device": "cpu"}, {"seed": 1, "device": "cuda"}], [" (device cpu)", " (device cuda)"]),
        ([{"seed": 1}, {"seed": 1}], ["", ""]),
        ([None, None], ["", ""]),
        ([{}, {"seed": None}], ["", ""]),
        ([None, {"seed": 1}], ["", " (seed 1)"]),
        ([{"seed": None}, {"seed": 1}], [" (seed null)", " (seed 1)"]),
    ],
)
def test_only_what_differs_tells_rows_apart(problems: list[Any], told: list[str]) -> None:
    assert row_names.distinctions([("cudnn", "forward", one) for one in problems]) == told
    alone = [("cudnn", f"phase {place}", one) for place, one in enumerate(problems)]
    assert row_names.distinctions(alone) == [""] * len(problems)
