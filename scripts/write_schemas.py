"""Writes the JSON Schema of each document, and the table of keys on their page. A test compares both with the code."""

from __future__ import annotations

import json
from dataclasses import is_dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, get_args, get_origin, get_type_hints

from fastrnns_rs.documents.capture_manifest import Capture
from fastrnns_rs.documents.codec import added_keys, join
from fastrnns_rs.documents.comparison import Comparison
from fastrnns_rs.documents.diagnosis import Diagnosis
from fastrnns_rs.documents.document import VERSION
from fastrnns_rs.documents.history import History
from fastrnns_rs.documents.inductor_report import InductorReport
from fastrnns_rs.documents.json_schema import json_schema
from fastrnns_rs.documents.listing import Catalogue
from fastrnns_rs.documents.noise_floor import NoiseFloorDocument
from fastrnns_rs.documents.run_file import Run
from fastrnns_rs.documents.summary import SummaryDocument
from fastrnns_rs.documents.verification import Verification

if TYPE_CHECKING:
    from collections.abc import Iterator

DOCS = Path(__file__).resolve().parents[1] / "docs"
PAGE = "reference/documents.md"
HEADER = "| key | document | since |\n|---|---|---|\n"
DOCUMENTS = {
    "run": Run,
    "comparison": Comparison,
    "summary": SummaryDocument,
    "capture": Capture,
    "verification": Verification,
    "inductor": InductorReport,
    "list": Catalogue,
    "doctor": Diagnosis,
    "history": History,
    "noise-floor": NoiseFloorDocument,
}


def texts() -> dict[str, str]:
    """The path below docs, and the text, of each schema and of the page."""
    found = {
        f"schemas/{name}.schema.json": json.dumps(json_schema(document, f"fastrnns-rs/{name} {VERSION}"), indent=2)
        + "\n"
        for name, document in DOCUMENTS.items()
    }
    before, header, _ = (DOCS / PAGE).read_text().partition(HEADER)
    rows = [(name, *row) for name, document in DOCUMENTS.items() for row in later(document)]
    return {**found, PAGE: before + header + "".join(f"| `{key}` | {name} | {since} |\n" for name, key, since in rows)}


def later(document: type, path: str = "") -> Iterator[tuple[str, str]]:
    """The keys of a document that a minor version added, with it; what is inside a key came with the key or later."""
    hints = get_type_hints(document)
    for key, since in added_keys(document).items():
        if since:
            yield join(path, key), since
        for suffix, inner in objects(hints[key]):
            yield from (one for one in later(inner, join(path, key) + suffix) if one[1] != since)


def objects(hint: Any) -> Iterator[tuple[str, type]]:
    """The classes of objects in a type, each with `[]` for each list around it."""
    if is_dataclass(hint):
        yield "", hint  # type: ignore[misc]
    around = "[]" if get_origin(hint) is list else ""
    for argument in get_args(hint):
        yield from ((around + suffix, one) for suffix, one in objects(argument))


if __name__ == "__main__":
    for name, text in texts().items():
        (DOCS / name).write_text(text)
