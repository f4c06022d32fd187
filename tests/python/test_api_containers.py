"""Documents as containers: rows by name, one way to render, and errors that name the right way."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import run_files
import screen_data
from kineto_traces import kernel, write

import fastrnns_rs
from fastrnns_rs import UsageError
from fastrnns_rs.documents.history import History, KeptRun
from fastrnns_rs.documents.run_results import Result
from fastrnns_rs.documents.summary import SummaryDocument
from fastrnns_rs.documents.sweep import Sweep, SweepCell
from fastrnns_rs.documents.verification import Verification, Verified

THREE = [1000, 1002, 1004]


def pointed(size: int) -> Result:
    return replace(run_files.exactly(THREE), point={"hidden-size": size}, label=f"cudnn[hidden-size={size}]")


def verification() -> Verification:
    rows = [
        Verified(runner=name, reference=None, dtype="float64", status="ok", reason=None) for name in ("cudnn", "jit")
    ]
    return Verification(ok=True, results=rows)


def kept(run_id: str, *tags: str) -> KeptRun:
    known: dict[str, Any] = dict.fromkeys(
        ("created_utc", "last_started_utc", "path", "torch_version", "machine_id", "commit", "dirty"), ""
    )
    shape: dict[str, Any] = {"size_bytes": 0, "status": "complete", "verb": "bench", "runners": [], "devices": []}
    return KeptRun(run_id=run_id, tags=[*tags], **known, **shape)


def containers() -> list[tuple[Any, list[Any], str, str, str]]:
    """A document, its rows, a name, a misspelt name, and what the error says."""
    run = screen_data.candidate()
    compared = fastrnns_rs.compare(screen_data.baseline(), run, history=False)
    history = History(folder="/x", runs=[kept("0123456789abcdef", "good"), kept("ffff")])
    cells = [
        SweepCell(
            runner="jit",
            point={"hidden-size": 32},
            phase=phase,
            time_ns=1.0,
            steps_per_second=None,
            samples_per_second=None,
        )
        for phase in ("forward", "backward")
    ]
    sweep = Sweep(axes=[], cells=cells, growth=[])
    return [
        (run, run.results, "jit", "jti", "no runner 'jti' in this run; did you mean 'jit'?"),
        (compared, compared.rows, "jit/forward", "jit/forwrd", "no row 'jit/forwrd' in this comparison; did you mean"),
        (verification(), verification().results, "jit", "jt", "no runner 'jt' in this verification; did you mean"),
        (history, history.runs, "@tag:good", "@tag:goof", "no run '@tag:goof' in this history; did you mean"),
        (sweep, cells, "jit[hidden-size=32]/forward", "jit[hidden-size=32]/forw", "no cell .* did you mean"),
    ]


@pytest.mark.parametrize(
    ("found", "rows", "name", "wrong", "message"), containers(), ids=lambda one: type(one).__name__
)
def test_rows_iterate_and_have_a_length_and_names(
    found: Any, rows: list[Any], name: str, wrong: str, message: str
) -> None:
    assert [*found] == rows
    assert [*reversed(found)] == rows[::-1]
    assert len(found) == len(rows)
    assert name in found
    assert wrong not in found
    assert rows[0] in found
    assert found[name] in rows
    assert bool(found)
    with pytest.raises(KeyError, match=message.replace("?", r"\?")):
        found[wrong]
    with pytest.raises(KeyError, match=r"use a name, or list\(\.\.\.\)\[0\]"):
        found[0]


def test_a_name_of_several_rows_names_them() -> None:
    points = replace(screen_data.candidate(), results=[pointed(32), pointed(64)])
    with pytest.raises(KeyError, match=r"'cudnn' names 2 rows: cudnn\[hidden-size=32\], cudnn\[hidden-size=64\]"):
        points["cudnn"]
    assert points["cudnn[hidden-size=64]"] is points.results[1]
    one = run_files.exactly(THREE)
    sides = run_files.both(one, one)
    with pytest.raises(KeyError, match=r"'cudnn' names 2 rows: cudnn \(a\), cudnn \(b\)"):
        sides["cudnn"]
    same = replace(screen_data.candidate(), results=[one, one])
    with pytest.raises(KeyError, match=r"use list\(\.\.\.\) and a number"):
        same["cudnn"]
    many = replace(points, results=[pointed(size) for size in range(1, 21)])
    with pytest.raises(KeyError, match="names 20 rows: .* and 12 more"):
        many["cudnn"]


def test_a_row_is_found_by_its_whole_name_first() -> None:
    """The whole name of one row may be the runner of others."""
    run = replace(screen_data.candidate(), results=[run_files.exactly(THREE), pointed(64)])
    assert run["cudnn"] is run.results[0]


def documents(folder: Path) -> list[Any]:
    run = screen_data.candidate()
    summary = fastrnns_rs.load(write(folder / "x.json", [kernel("scan", 5, 2)]))
    compared = fastrnns_rs.compare(screen_data.baseline(), run, history=False)
    return [run, compared, summary, SummaryDocument.from_dict(summary.to_dict()), verification(), History(folder="/x")]


def test_every_document_renders_with_the_same_keywords(tmp_path: Path) -> None:
    for one in documents(tmp_path):
        assert one.render() == one.render(format="table", view="overview")
        assert one.render(format="json") == one.to_json()
        # A command to copy is never wrapped.
        lines = [line for line in one.render(width=60).splitlines() if "fastrnns-rs" not in line]
        assert max(map(len, lines), default=0) <= 60
        with pytest.raises(UsageError, match=r"invalid value: 'xml' \(format\)"):
            one.render("xml")
        with pytest.raises(UsageError, match=r"invalid value: 'no' \(view\)"):
            one.render(view="no")


def test_views_of_runs_comparisons_and_verifications() -> None:
    run = screen_data.candidate()
    assert run.render(view="warnings").startswith(f"warning[{run.warnings[0].code}]: ")
    assert replace(run, warnings=[]).render(view="warnings") == "no warnings\n"
    assert run.render(view="sweep") == "no sweep\n"
    compared = fastrnns_rs.compare(screen_data.baseline(), run, history=False)
    assert compared.render(view="warnings").startswith("warning[")
    with pytest.raises(UsageError, match="`view` needs the format table, and `format` is json"):
        run.render("json", view="warnings")
    assert verification().render(view="checks") == verification().render()


def test_old_keywords_of_render_warn(tmp_path: Path) -> None:
    run, _, summary, *_ = documents(tmp_path)
    with pytest.warns(DeprecationWarning, match=r"render\(name=...\) is now render\(format=...\)") as warned:
        assert run.render(name="json") == run.to_json()
    assert warned[0].filename == __file__, "the place that has to change"
    with pytest.warns(DeprecationWarning, match=r"render\(by=...\) is now render\(view=...\)"):
        assert summary.render(by="kernel") == summary.render(view="kernel")
    with pytest.warns(DeprecationWarning, match=r'render\(verbose=True\) is now render\(view="checks"\)') as warned:
        verification().render(verbose=True)
    assert warned[0].filename == __file__
    with pytest.raises(TypeError, match=r"unexpected keyword argument 'by'; did you mean 'view'\?"):
        summary.render(by="kernel", view="kernel")
    with pytest.raises(TypeError, match=r"unexpected keyword argument 'formt'; did you mean 'format'\?"):
        run.render(formt="json")
    with pytest.raises(TypeError, match=r"unexpected keyword argument 'nothing'$"):
        run.render(nothing=1)


def test_arrays_are_no_names() -> None:
    """Python has no truth value of a comparison with an array."""
    made, array = run_files.run([run_files.result()]), np.array([1.0, 2.0])
    assert array not in made
    assert made.results[0] in made
    with pytest.raises(KeyError, match="no runner array"):
        made[array]  # type: ignore[index]
    compared = fastrnns_rs.compare(screen_data.baseline(), screen_data.candidate(), history=False)
    for call in (
        lambda: compared.columns(array),  # type: ignore[arg-type]
        lambda: fastrnns_rs.compare(made, made, statistic=array),  # type: ignore[arg-type]
        lambda: fastrnns_rs.compare(made, made, margin=array),  # type: ignore[arg-type]
        lambda: compared.columns([]),  # type: ignore[arg-type]
        lambda: made.render(array),  # type: ignore[arg-type]
        lambda: made.render(view=array),  # type: ignore[arg-type]
        lambda: made.plot(array),  # type: ignore[arg-type]
        lambda: made.plot([]),  # type: ignore[arg-type]
        lambda: made.plot("samples", row=array),  # type: ignore[arg-type]
    ):
        with pytest.raises(UsageError):
            call()
