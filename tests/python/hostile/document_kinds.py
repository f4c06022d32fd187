"""The kinds of documents: sound ones, from which mutants are made, and what reads each."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest
from document_readers import (
    Place,
    compared,
    compared_in_python,
    foreign,
    loaded,
    noise_floor,
    rendered,
    report,
    resume,
    show,
    without_pages,
)
from foreign_files import NAMES, plain
from kineto_traces import kernel, write
from page_documents import history
from run_seeds import run_seeds, stored
from summary_documents import empty, example, fit_noise_floor, inductor_of, sound_summary

from fastrnns_rs.documents.capture_manifest import Capture
from fastrnns_rs.documents.comparison import Comparison
from fastrnns_rs.documents.diagnosis import Diagnosis
from fastrnns_rs.documents.document import VERSION, Document
from fastrnns_rs.documents.history import History
from fastrnns_rs.documents.inductor_report import InductorReport
from fastrnns_rs.documents.listing import Catalogue
from fastrnns_rs.documents.noise_floor import NoiseFloorDocument
from fastrnns_rs.documents.run_file import Run
from fastrnns_rs.documents.summary import SummaryDocument
from fastrnns_rs.documents.verification import Verification
from fastrnns_rs.machine.noise import storage
from fastrnns_rs.views import formats

_COMMANDS = [
    *map(show, dict.fromkeys((*formats.RUN, *formats.COMPARISON))),
    *(compared("mutant", "good"), compared("good", "mutant"), compared("mutant", "mutant"), compared("mutant")),
    *(compared("mutant", "good", "--force", "--json"), compared("mutant", "--format", "junit")),
]


class Kind:
    """A kind of document.

    Args:
        seeds: Documents that are sound.
        quick: Readers in this process.
        commands: Readers on the command line.
    """

    def __init__(
        self,
        seeds: Callable[[Place], list[Any]],
        quick: list[Callable[[Place], object]],
        commands: list[Callable[[Place], object]] | None = None,
    ) -> None:
        self.seeds = seeds
        self.quick = quick
        self.commands = commands or [show("table"), compared("mutant", "good")]


def _comparisons(_place: Place) -> list[Any]:
    return stored("views/c*.json") + stored("views/empty.json")


def _summaries(_place: Place) -> list[Any]:
    return [*stored("documents/summary_*.json"), sound_summary("a kernel", "another", "x" * 90), empty()]


def _examples(kind: type[Document]) -> Callable[[Place], list[Any]]:
    """A document with an entry in each list, and one without."""
    found = inductor_of(_text) if kind is InductorReport else example(kind, _text) | {"schema_version": VERSION}
    if "noise_floor" in found:
        fit_noise_floor(found["noise_floor"])
    without = {key: [] if isinstance(value, list) else value for key, value in found.items()}
    # Nothing was verified.
    without |= {"ok": False} if kind is Verification else {}
    return lambda _place: [found, found, without]


def _text() -> str:
    return "some text"


def _histories() -> list[Any]:
    """With the times of rows over runs, without them, and empty."""
    found = history()
    return [one.to_dict() for one in (found, replace(found, trends=[], n_trend_runs=None), found.with_runs([]))]


def _captures(place: Place) -> list[Any]:
    """Records, with and without the trace that they name."""
    found = stored("documents/capture_*.json")
    write(place.folder / "trace.json", [kernel("a kernel", 10, 2), kernel("another", 20, 1)])
    artefact = {"path": "trace.json", "kind": "kineto", "size_bytes": 1, "sha256": "0" * 64}
    return [*found, *({**one, "artefacts": [artefact]} for one in found)]


def _noise(place: Place) -> list[Any]:
    (found, *_) = _examples(NoiseFloorDocument)(place)
    found["noise_floor"] |= {"device": "cpu", "device_name": "a processor"}
    place.floor.write_text(json.dumps(found))
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("XDG_STATE_HOME", str(place.state))
        assert storage.kept("cpu", "a processor") is not None
    return [found]


#: Pages take a hundred times as long: they are among the commands, of which each mutant has one.
KINDS = {
    "run": Kind(run_seeds, [loaded(Run, *rendered(without_pages(formats.RUN))), compared_in_python], _COMMANDS),
    "resumed": Kind(lambda place: [place.resumable()], [resume], [resume, show("table")]),
    "comparison": Kind(
        _comparisons,
        [loaded(Comparison, *rendered(without_pages(formats.COMPARISON)), *rendered(("table",), wide=True, width=40))],
        _COMMANDS,
    ),
    "summary": Kind(
        _summaries,
        [loaded(SummaryDocument, *rendered(("table", "markdown", "csv")))],
        [show("table"), show("html"), show("json"), compared("mutant", "good")],
    ),
    "capture": Kind(
        _captures,
        [loaded(Capture)],
        [report(), report("--json"), report("--by", "inductor"), show("table"), compared("mutant", "mutant")],
    ),
    "history": Kind(lambda _place: _histories(), [loaded(History, *rendered(("table",)))]),
    "noise-floor": Kind(_noise, [loaded(NoiseFloorDocument)], [noise_floor]),
    "inductor": Kind(_examples(InductorReport), [loaded(InductorReport, *rendered(("table", "json")))]),
    "verification": Kind(
        _examples(Verification),
        [loaded(Verification, *rendered(("table", "json")), *rendered(("table",), view="checks"))],
    ),
    "list": Kind(_examples(Catalogue), [loaded(Catalogue)]),
    "doctor": Kind(_examples(Diagnosis), [loaded(Diagnosis)]),
    "foreign": Kind(lambda _: [plain(name) for name in NAMES], [foreign, compared_in_python], _COMMANDS),
}
