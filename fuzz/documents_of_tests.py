"""Writes the documents that tests read, for the fuzzer to begin with: a plug-in of pytest.

Every check of a document has a test. By chance, the fuzzer finds few of the documents that one needs.

    SEEDS=FOLDER PYTHONPATH=fuzz python -m pytest -p documents_of_tests tests/python/test_*sound*.py
"""

from __future__ import annotations

import hashlib
import json
import os
from contextlib import suppress
from pathlib import Path
from typing import Any

from fastrnns_rs.documents.document import Document

_FOLDER = Path(os.environ["SEEDS"])
#: Longest input of the fuzzer, in bytes.
_LONGEST = 32_768
_read = Document.from_dict.__func__


def _write(kind: type[Document], plain: Any) -> None:
    # Some tests read what is no JSON.
    with suppress(TypeError, ValueError, RecursionError):
        text = json.dumps(plain).encode()
        if len(text) <= _LONGEST:
            folder = _FOLDER / f"document-{kind.__dataclass_fields__['schema'].default.rpartition('/')[2]}"
            folder.mkdir(parents=True, exist_ok=True)
            (folder / f"{hashlib.sha256(text).hexdigest()}.json").write_bytes(text)


def _from_dict(kind: type[Document], plain: Any, *more: Any, **named: Any) -> Document:
    _write(kind, plain)
    found: Document = _read(kind, plain, *more, **named)
    return found


Document.from_dict = classmethod(_from_dict)
