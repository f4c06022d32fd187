"""Every text of a document is hostile at once: each view shows it, and none acts on it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from conftest import FACTS, run_cli
from document_kinds import KINDS
from document_readers import ACTING, Place, hold
from parts import few
from run_files import result, run

from fastrnns_rs.documents.capture_manifest import Capture
from fastrnns_rs.documents.comparison import Comparison
from fastrnns_rs.documents.diagnosis import Diagnosis
from fastrnns_rs.documents.document import Document
from fastrnns_rs.documents.history import History
from fastrnns_rs.documents.inductor_report import InductorReport
from fastrnns_rs.documents.listing import Catalogue
from fastrnns_rs.documents.noise_floor import NoiseFloorDocument
from fastrnns_rs.documents.run_file import Run
from fastrnns_rs.documents.summary import SummaryDocument
from fastrnns_rs.documents.verification import Verification
from fastrnns_rs.errors import FastrnnsError
from fastrnns_rs.machine import environment
from fastrnns_rs.views import summary as summary_view
from fastrnns_rs.views.page.pages import html_page
from fastrnns_rs.views.prompt import object_text
from fastrnns_rs.views.screen import Line, drawn, plain
from fastrnns_rs.views.summary.rendering import rendered

#: Half a character, one that XML cannot contain, a command of terminals, markup of rich, HTML and Markdown, and a
#: change of direction.
TEXT = "x\ud800\uffff\x1b[2J[/red]<blink>|`&'\"\u202e\n"
CLASSES: dict[str, type[Document]] = {
    "run": Run,
    "comparison": Comparison,
    "summary": SummaryDocument,
    "capture": Capture,
    "history": History,
    "noise-floor": NoiseFloorDocument,
    "inductor": InductorReport,
    "doctor": Diagnosis,
    "verification": Verification,
    "list": Catalogue,
}
WITH_PAGES = (Run, Comparison, SummaryDocument, History, InductorReport)


def texts(value: Any) -> list[tuple[Any, Any]]:
    """Containers of the texts of a document, each with its key."""
    items = list(value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ())
    inner = [place for _, item in items for place in texts(item)]
    return [(value, key) for key, item in items if isinstance(item, str)] + inner


def hostile(kind: type[Document], plain: Any) -> int:
    """Replaces each text that may be another; returns their number."""
    count = 0
    for holder, key in texts(plain):
        before, holder[key] = holder[key], TEXT
        try:
            kind.from_dict(plain)
            count += 1
        except FastrnnsError:
            holder[key] = before
    return count


@pytest.mark.parametrize("name", few(["run", "comparison", "history"], CLASSES, "mutants"))
def test_a_document_of_hostile_texts_is_shown(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(environment, "probe", lambda *_, **__: FACTS)
    place, kind = Place(tmp_path), CLASSES[name]
    plain = max(KINDS[name].seeds(place), key=lambda one: len(texts(one)))
    assert hostile(kind, plain) > 3
    for reader in (*KINDS[name].quick, *KINDS[name].commands):
        hold(place, json.dumps(plain).encode(), reader)
    if kind in WITH_PAGES:
        shown = html_page(kind.from_dict(plain))
        assert "<blink>" not in shown
        assert not ACTING.intersection(shown)


def test_what_a_view_leaves_in_is_escaped_before_it_is_printed(monkeypatch: pytest.MonkeyPatch) -> None:
    left, shown = "one\x1b[2J\ntwo\u202e", "one\\x1b[2J\ntwo\\u{202e}"
    lines = [Line(text) for text in left.split("\n")]
    assert plain(lines) == drawn(lines) == f"{shown}\n"
    assert object_text.text(lines, lambda _: left) == shown
    monkeypatch.setattr(summary_view, "render", lambda *_, **__: left)
    asked = {"top": None, "names": "full", "width": None, "wide": False}
    assert rendered({}, "table", "overview", **asked) == shown


def test_a_hint_that_lists_names_of_a_document_is_escaped() -> None:
    """Python prints an error as it is."""
    made = run([result(f"a\x1b[2J{name}") for name in "xy"])
    with pytest.raises(FastrnnsError) as caught:
        made.plot("samples", row="none")
    assert "Use a\\x1b[2Jx/forward, " in str(caught.value)
    assert not ACTING.intersection(str(caught.value))


def test_a_traceback_acts_on_no_terminal(tmp_path: Path) -> None:
    path = tmp_path / "run.json"
    path.write_text(json.dumps({**run([result()]).to_dict(), "\x1b]0;x\x07": 1}))
    done = run_cli("show", str(path), FASTRNNS_DEBUG="1")
    assert "Traceback" in done.stderr
    assert "\\x1b]0;x\\x07" in done.stderr
    assert "\x1b" not in done.stderr
