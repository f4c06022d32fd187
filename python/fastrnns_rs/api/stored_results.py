"""Function `load`."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any, Literal

from fastrnns_rs.documents import file_description, reading
from fastrnns_rs.documents.capture_manifest import Capture
from fastrnns_rs.documents.comparison import Comparison
from fastrnns_rs.documents.diagnosis import Diagnosis
from fastrnns_rs.documents.history import History
from fastrnns_rs.documents.inductor_report import InductorReport
from fastrnns_rs.documents.keywords import checked_keywords
from fastrnns_rs.documents.listing import Catalogue
from fastrnns_rs.documents.missing_file import file_not_found
from fastrnns_rs.documents.noise_floor import NoiseFloorDocument
from fastrnns_rs.documents.run_file import Run
from fastrnns_rs.documents.summary import SummaryDocument
from fastrnns_rs.documents.verification import Verification
from fastrnns_rs.errors import UsageError
from fastrnns_rs.verbs.history.run_history import chosen_history
from fastrnns_rs.verbs.history.run_names import is_name, one_run
from fastrnns_rs.verbs.report import file_kinds

if TYPE_CHECKING:
    from fastrnns_rs.documents.document import Document

_DOCUMENTS: dict[str, type[Document]] = {
    str(kind.__dataclass_fields__["schema"].default): kind
    for kind in (
        Run,
        Comparison,
        Capture,
        SummaryDocument,
        Verification,
        InductorReport,
        Catalogue,
        Diagnosis,
        NoiseFloorDocument,
        History,
    )
}
_WANTED = "document or capture"


@checked_keywords()
def load(source: str | os.PathLike[str], *, history: str | os.PathLike[str] | Literal[False] | None = None) -> Any:
    """Opens any document or capture, or a run of the history.

    >>> import fastrnns_rs
    >>> fastrnns_rs.load("@last")["py"]
    <Result py: forward 19.28 ms ±0.5 %, backward 28.3 ms ±7.1 %, 5 processes>
    >>> fastrnns_rs.load("after.json").status
    'complete'
    >>> fastrnns_rs.load("trace.json")["ampere_sgemm_128x64_tn"].count
    1

    Args:
        source: Path of a file or of a folder of captures, or the name of a run in the history, such as `"@last"`.
        history: Folder of the history; None for the user's history, False for no history.

    Returns:
        The document: `Run`, `Comparison`, `Verification`, `InductorReport`, or `Capture` for a capture manifest. For
        a capture or a folder of captures, its `Summary`. JSON of `report` is a `SummaryDocument`, with the same rows.

    Raises:
        UsageError: If an argument is invalid, the file does not exist or is neither a document nor a capture, or the
            history does not have the run.
        FastrnnsError: If a file that looks like a capture is not a capture.
        MissingError: If no nsys is found to export a report.

    Warns:
        DocumentWarning: If the document has unknown keys, since a newer build wrote it.
    """
    if is_name(source):
        return Run.load(os.fspath(one_run(source, chosen_history(history)))).remember_name(source)
    if not os.path.exists(source):  # noqa: PTH110  # the name may be too long
        raise file_not_found(source, f"Use the path of a {_WANTED}.", where="source")
    if file_kinds.kind(source) in {"capture", "folder"} and not _is_manifest(source):
        from fastrnns_rs.verbs.report.capture_reader import read

        return read(os.fspath(source))
    return _document(source)


def _is_manifest(path: str | os.PathLike[str]) -> bool:
    """Returns True for a capture manifest; a trace may only begin like a manifest."""
    from fastrnns_rs.verbs.report import manifests

    return file_kinds.may_be_manifest(path) and manifests.is_manifest(path)


def _document(path: str | os.PathLike[str]) -> Document:
    text = reading.document_text(path, _WANTED)
    kind = _DOCUMENTS.get(file_description.find_schema(text) or _schema(text))
    if kind is None:
        raise _other_file(path)
    return kind.from_text(text, os.fspath(path)).remember_name(path)


def _schema(text: str) -> str:
    """Returns the schema of a document, which may be its last key, or an empty text."""
    try:
        plain = reading.parsed(text)
    except ValueError:
        return ""
    return str(plain.get("schema")) if isinstance(plain, dict) else ""


def _other_file(path: str | os.PathLike[str]) -> UsageError:
    """Makes the error for a file of another kind, without a command."""
    found = file_description.describe(path)
    shown = os.fsdecode(path)
    is_foreign = found is not None and found.noun.startswith("results of ")
    hint = "Use fastrnns_rs.compare, which reads this file." if is_foreign else f"Use a {_WANTED}."
    return UsageError(f"not a {_WANTED}: {shown!r}{f' is {found.noun}' if found else ''}", hint, value=shown)
