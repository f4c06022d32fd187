"""Objects at a Python prompt, to the letter, and whatever they contain."""

from __future__ import annotations

import copy
import dataclasses
import importlib
import math
import pickle
import pkgutil
import shutil
import time
from collections.abc import Iterator
from dataclasses import fields, is_dataclass, replace
from pathlib import Path
from typing import Any, get_args, get_type_hints

import pytest
import run_files
import screen_data
from conftest import ROOT
from corpus import capture
from kineto_traces import kernel, write
from screens import screen, transcript

import fastrnns_rs
from fastrnns_rs import UsageError, documents
from fastrnns_rs.documents.comparison import Comparison
from fastrnns_rs.documents.document import Document
from fastrnns_rs.documents.part import Part
from fastrnns_rs.documents.run_file import Run
from fastrnns_rs.documents.summary import SummaryDocument
from fastrnns_rs.escaping import visible
from fastrnns_rs.verbs.history.run_history import RunHistory
from fastrnns_rs.views.text import width

STORED = sorted((Path(__file__).parents[1] / "data" / "documents").glob("*.json"))
#: Documents with a table below their line.
WITH_TABLES = {"Run", "Comparison", "SummaryDocument"}
HOSTILE = ["\x1b]0;title\x07\n\u202e" * 40, "界" * 100, "x" * 10**6, "", "template<int, " * 5000]
WRONG = [None, -1, 10**400, math.nan, math.inf, [], [None], {}, object()]


@pytest.fixture
def kept(history: RunHistory) -> RunHistory:
    for one in (screen_data.baseline(), screen_data.candidate()):
        history.keep(one)
    return history


def reachable(kind: Any) -> Iterator[type]:
    """The dataclasses in the fields of a dataclass, and those in their fields."""
    yield kind
    for name, hint in get_type_hints(kind).items():
        # Unknown keys have no class.
        waiting = [] if name.startswith("_") else [hint]
        while waiting:
            one = waiting.pop()
            if is_dataclass(one):
                yield from reachable(one)
            waiting += get_args(one)


def kinds() -> list[type]:
    """Every dataclass of every document."""
    modules = [
        importlib.import_module(one.name) for one in pkgutil.iter_modules(documents.__path__, "fastrnns_rs.documents.")
    ]
    found = {one for each in modules for one in vars(each).values() if isinstance(one, type)}
    whole = [one for one in found if issubclass(one, Document) and is_dataclass(one) and one is not Document]
    return sorted(
        {one for kind in whole for one in reachable(kind) if is_dataclass(one)}, key=lambda one: one.__qualname__
    )


def check(text: str, *, table: bool) -> None:
    lines = text.split("\n")
    assert table or len(lines) == 1, text
    assert lines[0].startswith("<")
    assert lines[0].endswith(">")
    for line in lines:
        assert width(line) <= 80, line
        assert visible(line) == line


def test_a_run_at_a_prompt(kept: RunHistory) -> None:
    assert transcript("Python: run", {"fastrnns_rs": fastrnns_rs}) == screen("Python: run")


def test_the_page_shows_this_session() -> None:
    assert screen("Python: run") in (ROOT / "docs" / "how-to" / "python.md").read_text()


def test_a_summary_at_a_prompt(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    shutil.copy(capture("kineto/kineto_r50_nw0.json.gz"), tmp_path / "resnet50.json.gz")
    monkeypatch.chdir(tmp_path)
    assert transcript("Python: summary", {"fastrnns_rs": fastrnns_rs}) == screen("Python: summary")


def test_every_class_of_every_document_has_a_short_text() -> None:
    found = kinds()
    assert {"Run", "Result", "KernelRow", "Row", "KeptRun", "Problem", "RunWarning", "Budget"} <= {
        one.__name__ for one in found
    }
    raw = [one.__qualname__ for one in found if "__create_fn__" in one.__repr__.__qualname__]
    assert not raw, "dataclasses would show their raw text"


@pytest.mark.parametrize("path", STORED, ids=lambda path: path.name)
def test_parts_of_stored_documents_are_one_line(path: Path) -> None:
    def parts(value: Any) -> Iterator[Any]:
        if is_dataclass(value) and not isinstance(value, type):
            yield value
            for one in fields(value):
                if one.repr:
                    yield from parts(getattr(value, one.name))
        elif isinstance(value, list):
            for each in value:
                yield from parts(each)

    for one in parts(fastrnns_rs.load(path)):
        kind = type(one).__name__
        check(repr(one), table=kind in WITH_TABLES)
        if any(getattr(one, each.name) not in (None, [], {}) for each in fields(one)):
            assert repr(one) != f"<{kind}>", "each class has something to say"
        assert str(one) == repr(one)


@pytest.mark.parametrize("kind", kinds(), ids=lambda kind: kind.__qualname__)
def test_the_text_never_raises(kind: type[Any]) -> None:
    """Whatever the fields are: a debugger shows objects before they are checked."""
    for value in [*HOSTILE, *WRONG]:
        broken = object.__new__(kind)
        for one in fields(kind):
            object.__setattr__(broken, one.name, value)
        begin = time.process_time()
        check(repr(broken), table=kind.__name__ in WITH_TABLES)
        assert time.process_time() - begin < 5
    check(repr(object.__new__(kind)), table=False)


def test_hostile_names_are_visible_and_shortened(tmp_path: Path) -> None:
    for name in HOSTILE[:3]:
        row = replace(screen_data.candidate().results[0], runner=name)
        run = screen_data.candidate()
        check(repr(row), table=False)
        check(repr(replace(run, results=[row, replace(row, runner=name + "y")]).remember_name(name)), table=True)
        failed = replace(row, status="failed", reason=name, forward=None, backward=None)
        check(repr(failed), table=False)
    summary = fastrnns_rs.read(
        write(tmp_path / "x.json", [kernel(HOSTILE[0]), kernel(HOSTILE[1], 9), kernel("f<" + "a, " * 900 + "a>", 20)])
    )
    check(repr(summary), table=True)
    for one in summary:
        check(repr(one), table=False)
    assert any(repr(one).startswith("<KernelRow f<a, a,") and ", …>: " in repr(one) for one in summary)


def test_a_long_run_shows_twelve_rows_and_counts_the_others() -> None:
    row = screen_data.candidate().results[0]
    run = replace(screen_data.candidate(), results=[replace(row, runner=f"runner{number}") for number in range(37)])
    head, _, _, *rows = repr(run).split("\n")
    assert "37 runners" in head
    assert [line.split()[0] for line in rows] == [*(f"runner{number}" for number in range(12)), "…"]
    assert rows[-1] == "… 25 more"
    assert "more" not in repr(replace(run, results=run.results[:12]))


def test_a_run_that_is_not_complete_says_so() -> None:
    run = screen_data.partial()
    assert repr(run).startswith(f"<Run {run.run_id[:12]}: 3 runners on cpu, ")
    assert repr(run).split("\n")[0].endswith(", interrupted>")
    assert "19.3         -      28.1         -  2 of 5" in repr(run)
    assert repr(replace(run, results=[])).endswith(": 0 runners, torch 2.15.0, 2026-11-22 09:14 UTC, interrupted>")


def test_a_failed_result_has_its_reason() -> None:
    assert repr(run_files.failed("jit", "out of memory")) == "<Result jit: failed: out of memory>"
    one = run_files.exactly([1000, 1002])
    assert "±" not in repr(one), "two processes have no interval"


def test_the_time_of_a_process_is_that_of_its_steady_part() -> None:
    one = run_files.process(0, [10**6] * 90, None, warmup=10)
    assert repr(one) == "<Process 0: ok, 100 iterations, warmup>"
    timed = replace(one, timed_loop_ns=95 * 10**6, timed_from=40)
    assert repr(timed) == "<Process 0: ok, 100 iterations, 90 of them in 95.0 ms, warmup>"


def test_runs_are_containers() -> None:
    run = screen_data.candidate()
    assert [*run] == run.results
    assert run.results[1] in run
    assert "jit" in run
    assert "nothing" not in run
    assert 5 not in run
    assert bool(replace(run, results=[])), "a run without results is a run"
    sides = run_files.both(run_files.exactly([1000, 1002, 1004]), run_files.exactly([2000, 2002, 2004]))
    assert sides["cudnn (b)"] is sides.results[1]
    with pytest.raises(KeyError, match="no runner 5 in this run"):
        run[5]  # type: ignore[index]


def test_summaries_are_containers(tmp_path: Path) -> None:
    path = write(tmp_path / "x.json", [kernel("void at::sgemm<4>(int)", 1, 2), kernel("scan", 5, 2)])
    summary = fastrnns_rs.load(path)
    assert [*summary] == summary.kernels
    assert len(summary) == 2
    assert summary["scan"] is next(one for one in summary.kernels if one.name == "scan")
    assert summary["sgemm"].name == "void at::sgemm<4>(int)"
    assert "sgemm" in summary
    assert "void at::sgemm<4>(int)" in summary
    assert summary.kernels[0] in summary
    assert "gemm" not in summary
    with pytest.raises(KeyError, match="no kernel 'sgem' in this summary; did you mean 'sgemm'"):
        summary["sgem"]
    assert fastrnns_rs.read(write(tmp_path / "none.json", [])), "a summary without kernels is a summary"


def test_a_summary_without_a_gpu_shows_what_the_report_shows(tmp_path: Path) -> None:
    summary = fastrnns_rs.read(write(tmp_path / "none.json", []))
    assert repr(summary).split("\n")[0] == "<Summary none.json: no GPU activity, 0 events>"


def test_the_name_of_a_document_changes_nothing_else(tmp_path: Path) -> None:
    run = screen_data.candidate()
    run.save(tmp_path / "before.json")
    loaded = Run.load(tmp_path / "before.json")
    assert repr(loaded).startswith("<Run before.json: ")
    assert loaded.loaded_as == str(tmp_path / "before.json")
    assert loaded == run
    assert loaded.to_dict() == run.to_dict()
    assert pickle.dumps(loaded) == pickle.dumps(Run.from_dict(run.to_dict()))
    for other in (pickle.loads(pickle.dumps(loaded)), copy.copy(loaded), replace(loaded, status="failed")):
        assert other.loaded_as is None
        assert repr(other).startswith(f"<Run {run.run_id[:12]}: ")
    assert [one.name for one in fields(Run)][:3] == ["schema", "schema_version", "_kept"]


def test_summaries_pickled_by_earlier_versions_come_back(tmp_path: Path) -> None:
    summary = fastrnns_rs.read(write(tmp_path / "x.json", [kernel()]))
    core, selected, paths, _ = summary.__getstate__()
    assert paths == (str(tmp_path / "x.json"),)
    for state in ((core, selected), (core, selected, paths)):
        earlier = type(summary).__new__(type(summary))
        earlier.__setstate__(state)
        assert earlier.to_dict() == summary.to_dict()
        assert earlier.paths == paths
    assert pickle.loads(pickle.dumps(summary)).paths == paths


@pytest.mark.parametrize("path", STORED, ids=lambda path: path.name)
def test_load_opens_every_kind_of_document(path: Path, tmp_path: Path) -> None:
    import json

    found = fastrnns_rs.load(path)
    kind = path.name.partition("_")[0]
    assert type(found).__name__ == {"summary": "SummaryDocument"}.get(kind, kind.capitalize())
    assert found.loaded_as == str(path)
    # A formatter may have put the kind of the document at the end.
    plain = json.loads(path.read_text())
    plain["schema"] = plain.pop("schema")
    (tmp_path / path.name).write_text(json.dumps(plain, indent=1))
    assert fastrnns_rs.load(str(tmp_path / path.name)) == found or found.loaded_as.endswith("capture")


def test_load_opens_comparisons_captures_and_folders(tmp_path: Path, kept: RunHistory) -> None:
    comparison = fastrnns_rs.compare("@last~1", "@last")
    comparison.save(tmp_path / "comparison.json")
    assert fastrnns_rs.load(tmp_path / "comparison.json") == comparison
    assert isinstance(fastrnns_rs.load(tmp_path / "comparison.json"), Comparison)
    (tmp_path / "traces").mkdir()
    one = write(tmp_path / "traces" / "a.json", [kernel("one", 1, 2)])
    write(tmp_path / "traces" / "b.json", [kernel("two", 1, 2)])
    assert {row.name for row in fastrnns_rs.load(tmp_path / "traces")} == {"one", "two"}
    summary = fastrnns_rs.load(one)
    summary.save(tmp_path / "summary.json")
    again = fastrnns_rs.load(tmp_path / "summary.json")
    assert isinstance(again, SummaryDocument)
    assert again == summary.document
    assert repr(again).replace("SummaryDocument", "Summary").split("\n")[1:] == repr(summary).split("\n")[1:]
    assert fastrnns_rs.load("@last", history=kept.folder).loaded_as == "@last"


def test_load_names_what_is_wrong(tmp_path: Path, kept: RunHistory) -> None:
    foreign = Path(__file__).parents[1] / "data" / "foreign" / "pyperf.json"
    (tmp_path / "near.json").write_text("{}")
    wrong: list[tuple[Any, str]] = [
        (tmp_path / "neer.json", "file not found: .*Use '.*near.json'"),
        (tmp_path / "near.json", "not a document or capture: .*near.json"),
        (foreign, "is results of pyperf. Use fastrnns_rs.compare, which reads this file"),
        (Path(__file__), "is a Python file"),
        ("@last~7", "run not found: '@last~7': the history has 2 runs"),
        ("@lost", "invalid name of a run: '@lost'"),
        (5, "not a path: 5"),
        ("/dev/null", "cannot read file: '/dev/null'"),
    ]
    for source, message in wrong:
        with pytest.raises(UsageError, match=message) as raised:
            fastrnns_rs.load(source)
        assert " --" not in str(raised.value), "no option of the command line"
    with pytest.raises(UsageError, match="the history is off"):
        fastrnns_rs.load("@last", history=False)
    with pytest.raises(UsageError, match="the history has no runs") as raised:
        fastrnns_rs.load("@last", history=tmp_path / "new")
    assert " --" not in str(raised.value)


def test_runs_that_were_loaded_are_compared_under_their_names(kept: RunHistory) -> None:
    by_name = fastrnns_rs.compare("@last~1", "@last")
    found = fastrnns_rs.compare(fastrnns_rs.load("@last~1"), fastrnns_rs.load("@last"))
    assert (found.baseline.label, found.candidate.label) == ("@last~1", "@last")
    assert found.rows == by_name.rows
    run = screen_data.candidate()
    assert fastrnns_rs.compare(fastrnns_rs.load("@last~1"), run).candidate.label == f"run {run.run_id}"


def test_summaries_are_compared_as_their_captures(tmp_path: Path) -> None:
    first = write(tmp_path / "a.json", [kernel("one", 1, 20), kernel("two", 30, 5)])
    second = write(tmp_path / "b.json", [kernel("one", 1, 40), kernel("two", 50, 5)])
    found = fastrnns_rs.compare(fastrnns_rs.read(first), fastrnns_rs.load(second))
    assert found == fastrnns_rs.compare(first, second)
    assert found == fastrnns_rs.compare(fastrnns_rs.read(first), second)
    with pytest.raises(UsageError, match="summary of a part of a capture: .*a.json"):
        fastrnns_rs.compare(fastrnns_rs.read(first, devices=[0]), second)
    with pytest.raises(UsageError, match="captures and runs do not compare: .*a.json"):
        fastrnns_rs.compare(fastrnns_rs.read(first), screen_data.candidate())
    with pytest.raises(UsageError, match=r"invalid value: <Comparison .*> \(candidate\)") as raised:
        fastrnns_rs.compare(first, found)  # type: ignore[arg-type]
    assert "\n" not in str(raised.value), "without its table"
    summary = fastrnns_rs.read(second)
    second.unlink()
    with pytest.raises(UsageError, match=r"file not found: .*b.json"):
        fastrnns_rs.compare(first, summary)


def test_render_needs_no_arguments() -> None:
    run = screen_data.candidate()
    assert run.render() == run.render("table")
    assert "71 %" not in run.render()
    assert len(run.render(wide=True)) > len(run.render())
    assert max(map(width, run.render(width=60).splitlines())) <= 60


def test_parts_are_bases_without_fields() -> None:
    """A base class with slots or fields would change the pickles of every document."""
    assert Part.__slots__ == ()
    assert not dataclasses.is_dataclass(Part)
