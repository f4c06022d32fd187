"""Base class of all JSON documents: version, reading and writing.

See docs/reference/documents.md.
"""

from __future__ import annotations

import os
import re
import warnings
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, ClassVar, Self

from fastrnns_rs.documents import codec, reading, soundness, writer_lock, writing
from fastrnns_rs.documents.keywords import checked_keywords
from fastrnns_rs.documents.part import Part
from fastrnns_rs.errors import DocumentWarning, UsageError
from fastrnns_rs.escaping import visible

#: Version of every document that this build writes. Rust writes the same version in summaries.
VERSION = "1.3"

#: Key of the document itself in `_kept`: the document is a new object after each change.
_ROOT = 0
#: Largest number of unknown keys that a warning names, and longest version and path in a message.
_MOST_NAMED = 3
_LONGEST_VERSION = 20
_LONGEST_PATH = 80


class _Named(Part):
    """Base class with the name that a document was loaded by.

    The name is no field of the dataclass: it is not in the JSON, not compared, not pickled, and not in changed copies.
    """

    __slots__ = ("_name",)


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class Document(_Named):
    """Whole JSON document.

    A document of an older minor version is read as a document of this build's version: missing keys have their
    defaults. Unknown keys of a newer minor version are kept. They are written again as long as their object is in the
    document.

    Attributes:
        schema: Kind of document.
        schema_version: Version of the document's shape: this build's, or a newer minor version.
    """

    #: Name of the document in messages, and the hint on how to make such a document.
    noun: ClassVar[str] = "document"
    hint: ClassVar[str] = ""

    schema: str
    schema_version: str = VERSION
    _kept: codec.Kept = field(default_factory=dict, repr=False, compare=False)

    @property
    def loaded_as(self) -> str | None:
        """Path or name, such as `@last`, that the document was loaded by, or None."""
        return getattr(self, "_name", None)

    def remember_name(self, name: str | os.PathLike[str]) -> Self:
        """Sets the name that the document was loaded by, and returns the document."""
        object.__setattr__(self, "_name", os.fsdecode(name))
        return self

    @property
    def has_unknown_keys(self) -> bool:
        """True if a newer build wrote keys that this build keeps but does not know."""
        return bool(self._kept)

    def to_dict(self) -> dict[str, Any]:
        """Returns the JSON document as plain dictionaries and lists."""
        _, _, unknown = self._kept.get(_ROOT, (None, "", {}))
        return {**codec.to_plain(self, self._kept), **codec.to_plain(unknown)}

    def to_json(self) -> str:
        """Returns the text of the JSON document."""
        import json

        return json.dumps(self.to_dict(), indent=2, allow_nan=False) + "\n"

    @checked_keywords(name="format")
    def render(
        self,
        format: str = "table",  # noqa: A002  # its name on the command line
        *,
        view: str = "overview",
        wide: bool = False,
        width: int | None = None,
    ) -> str:
        """Returns the document as text.

        Args:
            format: `table` or `json`.
            view: Name of the table.
            wide: True adds details to the table, where the document has details.
            width: Width of the table in characters; None for 80.

        Raises:
            UsageError: If the document does not have the format or the view, or an argument is invalid.
        """
        from fastrnns_rs.views.rendering import rendered

        return rendered(self, format, view, wide=wide, width=width)

    def save(self, path: str | Path) -> None:
        """Writes the JSON document to a file, completely or not at all.

        It waits for a process that writes the file, but not for a whole run.

        Raises:
            UsageError: If the file cannot be written, another process keeps it locked, this thread is writing it, or
                `load` would refuse it.
        """
        plain = self.to_dict()
        codec.from_plain(type(self), plain, {} if _is_newer(plain) else None).check()
        text = self.to_json().encode()
        with writer_lock.locked(Path(path), waits=True) as place:
            writing.write(Path(path), [text], place)

    def check(self) -> None:
        """Rejects values that no build writes.

        Raises:
            UsageError: If there is such a value; the message names its key.
        """
        soundness.check_numbers(self)

    @classmethod
    def from_dict(cls, plain: object, name: str | None = None) -> Self:
        """Reads a document of any version with this build's major version.

        Args:
            plain: Document as plain dictionaries and lists.
            name: File name for the warning; None for a document that is not in a file.

        Raises:
            UsageError: If this is another kind of document, or has a value that no build writes; the message names the
                key.

        Warns:
            DocumentWarning: If the document has unknown keys, since a newer build wrote it.
        """
        newer = _is_newer(plain)
        kept: codec.Kept = {}
        found = codec.from_plain(cls, plain, kept if newer else None)
        found.check()
        if kept:
            soundness.check_unknown([(path, unknown) for _, path, unknown in kept.values()])
            _warn(name or f"the {cls.noun}", found.schema_version, kept)
            kept[_ROOT] = kept.pop(id(found), (None, "", {}))
        return replace(found, schema_version=found.schema_version if newer else VERSION, _kept=kept)

    @classmethod
    @checked_keywords()
    def load(cls, path: str | Path) -> Self:
        """Reads a document from a file.

        Raises:
            UsageError: If the file does not exist, is not such a document, or cannot be read.

        Warns:
            DocumentWarning: If the document has unknown keys, since a newer build wrote it.
        """
        return cls.from_text(reading.document_text(path, cls.noun), path).remember_name(path)

    @classmethod
    def from_text(cls, text: str, path: str | Path) -> Self:
        """Reads a document from the text of a file.

        Args:
            text: Content of the file.
            path: Path of the file, for messages.

        Raises:
            UsageError: If the text is not such a document.

        Warns:
            DocumentWarning: If the document has unknown keys, since a newer build wrote it.
        """
        try:
            return cls.from_dict(reading.parsed(text), str(path))
        except ValueError as error:
            from fastrnns_rs.documents.file_description import find_schema, wrong_kind

            if find_schema(text) != cls.__dataclass_fields__["schema"].default:
                raise wrong_kind(path, cls.noun, reason=str(error)) from error
            shown = str(path)
            raise UsageError(f"not a {cls.noun}: {shown!r}", cls.hint, reason=str(error), value=shown) from error


def _is_newer(plain: object) -> bool:
    """Returns True if a document has a newer minor version than this build writes.

    Raises:
        UsageError: If it has another major version.
    """
    version = plain.get("schema_version") if isinstance(plain, dict) else None
    if not isinstance(plain, dict) or not isinstance(version, str):
        return False  # rejected with its path when the document is read
    major, minor = VERSION.split(".")
    parts = re.fullmatch(r"([0-9]{1,9})\.([0-9]{1,9})", version)
    if parts is not None and parts[1] == major:
        return int(parts[2]) > int(minor)
    from fastrnns_rs._core import __version__

    tool = plain.get("tool")
    # In a capture manifest `tool` is the profiler.
    detail = tool.get("version") if isinstance(tool, dict) and tool.get("name") == "fastrnns-rs" else None
    writer = f"fastrnns-rs {detail[:_LONGEST_VERSION]}, which" if isinstance(detail, str) else "the fastrnns-rs that"
    message = f"schema_version is {version[:_LONGEST_VERSION]}, and fastrnns-rs {__version__} reads {major}.x"
    raise UsageError(visible(message), visible(f"Use {writer} wrote the file."))


def _warn(name: str, version: str, kept: codec.Kept) -> None:
    """Warns about all unknown keys of a document in one warning."""
    paths = [codec.join(path, key) for _, path, unknown in kept.values() for key in unknown]
    # A key that a thousand objects have is named once.
    keys = [*dict.fromkeys(re.sub(r"\[\d+\]", "[]", path) for path in paths)]
    more = f" and {len(keys) - _MOST_NAMED} more" if keys[_MOST_NAMED:] else ""
    detail = (
        f"unknown keys are kept, but not used: {', '.join(key[:_LONGEST_PATH] for key in keys[:_MOST_NAMED])}{more}"
    )
    text = f"{name} has schema_version {version}, and this build reads {VERSION}: {detail}"
    # The place in the code is always the same, so that Python shows the warning once for a file that is read again.
    warnings.warn(visible(text), DocumentWarning, stacklevel=1)
