"""JSON of a summary with warnings that the core does not know."""

from __future__ import annotations

import json
import textwrap

from fastrnns_rs.escaping import json_safe

TYPE_CHECKING = False  # see the package
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from typing import Any

#: Beginning of the warnings in the document, near its start. Texts in JSON contain no line feeds.
_MARK = b'\n  "warnings": ['


def insert_warnings(write: Callable[[bytes], object], rows: Sequence[dict[str, Any]]) -> Callable[[bytes], object]:
    """Returns a function that passes a document on with further warnings.

    It takes the pieces of the document, which may be larger than memory.

    Args:
        write: Function that takes the pieces.
        rows: Warnings to insert before the warnings of the document.
    """
    texts = [textwrap.indent(json_safe(json.dumps(row, indent=2)), "    ") for row in rows]
    inserted = ("\n" + ",\n".join(texts)).encode()
    held: bytes | None = b""

    def pass_on(piece: bytes) -> None:
        nonlocal held
        if held is None:
            write(piece)
            return
        held += piece
        before, mark, after = held.partition(_MARK)
        if after:
            write(before + mark + inserted + (b"\n  " if after.startswith(b"]") else b",") + after)
            held = None

    return pass_on
