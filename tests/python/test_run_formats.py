"""Documents in every format, to the letter; a run whatever its texts are; and the layout of JSON."""

from __future__ import annotations

import csv
import io
import json
from dataclasses import replace
from pathlib import Path

import pytest
import screen_data
from conftest import ROOT
from parts import few
from run_files import PROBLEM, exactly, process, result, run

from fastrnns_rs.cli.results_file import ResultsFile
from fastrnns_rs.cli.run_saving import RunSaver
from fastrnns_rs.documents import layout
from fastrnns_rs.documents.comparison import Comparison
from fastrnns_rs.documents.run_file import Process, ResultStatus, Run
from fastrnns_rs.views.formats import RUN
from fastrnns_rs.views.run import run_details, run_head
from fastrnns_rs.views.run.fastrnns_table import fastrnns_table
from fastrnns_rs.views.text import width

VIEWS = ROOT / "tests" / "data" / "views"
SHOWN = sorted(VIEWS.iterdir())
HOSTILE = [
    "\x1b]0;title\x07\x9b2J",
    "a\u202eb\u2066c\u2028\r\n",
    "\0\x7f\x85\ufeff",
    "a|b\\|c `d`\n| --- |",
    "漢字 e\u0301",
]
FORMULAS = ["=cmd()|'/c calc'!A0", "+1", "-1", "@sum", "  =1", "\t=1", "\uff1dcmd()"]


@pytest.mark.parametrize("path", SHOWN, ids=[path.name for path in SHOWN])
def test_documents_are_shown_to_the_letter(path: Path) -> None:
    plain = json.loads(path.with_suffix(".json").read_text(encoding="utf-8"))
    found: Run | Comparison = Run.from_dict(plain) if path.stem == "run" else Comparison.from_dict(plain)
    assert found.render(path.suffix.removeprefix(".")) == path.read_bytes().decode()


def test_a_device_of_no_number_is_shown() -> None:
    made = Run.load(VIEWS / "run.json")
    rows = [replace(one, problem=replace(one.problem, device="cuda:two")) for one in made.results]
    assert "cuda:two" in replace(made, results=rows, plan=replace(made.plan, runners=[])).render("table")


def hostile(text: str) -> Run:
    """A run in which each text of a row is `text`."""
    made = Run.load(VIEWS / "run.json")
    texts = dict.fromkeys(("runner", "group", "reason", "note"), text)
    rows = [
        replace(
            row,
            **texts,
            warmup_class=text if row.status == "ok" else None,
            processes=[replace(one, warmup_class=text) for one in row.processes],
            label=None,
            problem=replace(row.problem, dtype=text, seed=-1, mini_batch=number),
            point={},
            # The method of several processes is one of three.
            forward=row.forward and replace(row.forward, **{"ci_method": text} if len(row.processes) < 2 else {}),
        )
        for number, row in enumerate(made.results, 1)
    ]
    return replace(made, results=rows, sweep=None)


@pytest.mark.parametrize("text", few(HOSTILE[3:4], HOSTILE, "bench"))
def test_texts_of_a_file_cannot_disturb_any_format(text: str) -> None:
    made = hostile(text)
    for name in RUN:
        shown = made.render(name)
        acting = [one for one in shown if ord(one) < 32 or 0x7F <= ord(one) < 0xA0 or one in "\u202e\u2066\u2028"]
        assert {*acting} <= {"\n"}
        if name == "table":
            # Long names take more lines, and no line is too long.
            assert max(map(width, shown.splitlines())) <= 80
        elif name != "html":  # whose plots may name a row in one line more
            assert len(shown.splitlines()) == len(hostile("plain").render(name).splitlines())
    assert Run.from_dict(json.loads(made.render("json"))) == made
    assert json.loads(made.render("oss"))[text][text] == 1.5
    lines = made.render("pep").splitlines()
    assert json.loads(lines[0].removeprefix("Caffe2Observer "))["metric"] == f"{text}-{text}"


@pytest.mark.parametrize("text", FORMULAS)
def test_csv_holds_no_formula(text: str) -> None:
    heads, *rows = csv.reader(io.StringIO(hostile(text).render("csv")))
    fields = [field for row in rows for field in row]
    assert all(len(row) == len(heads) for row in rows)
    assert sum(field.startswith("'") for field in fields) > 10
    # A number below 0 is still one.
    assert fields.count("-1") == len(rows)
    assert not [one for one in fields if one != "-1" and one.lstrip().startswith(("=", "+", "-", "@", "\uff1d"))]


def test_a_separator_parts_fields_whatever_it_is() -> None:
    made = Run.load(VIEWS / "run.json")
    broken = replace(made.results[0], status="failed", reason="x")
    heading, row, failure = fastrnns_table(replace(made, results=[made.results[0], broken]), ",").splitlines()
    assert heading.count(",") == row.count(",") == 6
    assert failure.strip() == "cudnn,failed: x"


@pytest.mark.parametrize(
    ("value", "text"),
    [
        ({}, "{}"),
        ([], "[]"),
        ({"a": [], "b": {}}, '{\n  "a": [],\n  "b": {}\n}'),
        ({"a": [1, 2.5, "x", None, True]}, '{\n  "a": [1,2.5,"x",null,true]\n}'),
        ([[1], 2], "[\n  [1],\n  2\n]"),
        ((1, 2), "[1,2]"),
        ([1e-5, 1.25e-5, -1.25e-5, 1e-6, 1e16, 1e300], "[0.00001,0.0000125,-0.0000125,1e-6,1e+16,1e+300]"),
        ("\x7f\u202e\U000e0041\ud800\n漢", '"\\u007f\\u202e\\udb40\\udc41\\\\ud800\\n漢"'),
    ],
)
def test_json_is_laid_out_for_people(value: object, text: str) -> None:
    assert layout.text(value) == text + "\n"


@pytest.mark.parametrize("value", [float("nan"), float("inf"), {"a": [-float("inf")]}])
def test_numbers_that_json_lacks_are_refused(value: object) -> None:
    for refuse in (layout.text, layout.check):
        with pytest.raises(ValueError, match="not JSON compliant"):
            refuse(value)


def test_a_run_is_saved_after_each_process_as_it_would_be_alone(tmp_path: Path) -> None:
    path = tmp_path / "run.json"
    results = ResultsFile(path)
    results.reserve()
    keeping = RunSaver(results, None)
    rows = [result("cudnn", count=3), exactly([100, 200, 300], "py")]
    for count in (0, 1, 2, 3):
        status: ResultStatus = "ok" if count else "failed"
        made = run([replace(row, processes=row.processes[:count], status=status) for row in rows])
        keeping.save(made)
        assert path.read_bytes() == layout.text(made).encode()
        assert Run.load(path) == made


def test_the_text_of_a_process_is_made_once(monkeypatch: pytest.MonkeyPatch) -> None:
    processes = [process(index, [100, 200], None) for index in range(3)]
    documents = [{"processes": processes[:count]} for count in (1, 2, 3, 2, 0, 1)]
    texts = [layout.text(one) for one in documents]
    seen: list[object] = []
    entries = layout._entries
    monkeypatch.setattr(layout, "_entries", lambda value: (seen.append(value), entries(value))[1])
    kept = layout.Layout(keep=Process)
    assert [b"".join(kept.pieces(one)).decode() for one in documents] == texts
    # A process that left the document is not kept for ever.
    assert [sum(one is known for one in seen) for known in processes] == [2, 1, 1]


def test_a_category_of_any_text_is_no_markup() -> None:
    plain = json.loads((VIEWS / "captures.json").read_text(encoding="utf-8").replace('"gemm"', '"a|<b>"'))
    assert "| `a\\|<b>` |" in Comparison.from_dict(plain).render("markdown")


def test_details_of_short_times_have_a_unit_that_fits() -> None:
    made = screen_data.made({"cudnn": ((0.0014, 0.0015, 0.0016), (0.0014, 0.0015, 0.0016))}, "2026-11-22T09:14:00Z")
    details = [line.text for line in run_details.lines(made, 120)]
    name, heading, unit, *_ = details[0].split()
    assert (name, heading, unit) == ("runner/phase", "mean", "µs")
    assert 1.0 < float(details[1].split()[1]) < 2.0


def test_equal_code_is_noted_where_both_runners_are_in_the_run() -> None:
    noted = replace(result("cudnn"), note="cudnn and aten are the same code path on a CPU (oneDNN)")
    for others, count in (([], 0), ([result("py")], 0), ([result("aten")], 1)):
        text = "\n".join(line.text for line in run_details.lines(run([noted, *others]), 120))
        assert text.count("the same code path") == count


def test_equal_code_is_noted_for_each_dtype_of_a_sweep() -> None:
    """The runners share one note, and the dtypes have one each."""
    paths = ("oneDNN", "torch's own: oneDNN has no LSTM in float64")
    notes = [f"cudnn and aten are the same code path on a CPU ({path})" for path in paths]
    rows = [replace(result(name), note=note) for note in notes for name in ("cudnn", "aten")]
    assert [*run_details.same_code(run(rows))] == [f"note: cudnn: {note}" for note in notes]


def test_the_context_has_the_modes_of_all_rows_and_of_some() -> None:
    problems = [replace(PROBLEM, amp=amp, mode=mode) for amp, mode in ((True, "train"), (False, "inference"))]
    assert [*run_head.modes(problems)] == ["float32", "train/inference", "autocast to bfloat16 in some rows"]
    assert [*run_head.modes(problems[:1])] == ["float32", "autocast to bfloat16"]
    assert [*run_head.modes(problems[1:])] == ["float32", "inference"]
