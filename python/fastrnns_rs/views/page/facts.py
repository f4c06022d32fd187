"""Values of a part of a document, by key."""

from __future__ import annotations

from dataclasses import fields, is_dataclass
from typing import TYPE_CHECKING, Any

from fastrnns_rs.documents.layout import flat
from fastrnns_rs.escaping import visible

if TYPE_CHECKING:
    from collections.abc import Iterator


def facts(part: Any) -> Iterator[tuple[str, str]]:
    """Yields the known values of a part of the document, by key."""
    for one in fields(part):
        value = getattr(part, one.name)
        if is_dataclass(value):
            yield from ((f"{one.name}.{name}", text) for name, text in facts(value))
        elif isinstance(value, list) and value and is_dataclass(value[0]):
            for number, inner in enumerate(value):
                yield f"{one.name}[{number}]", ", ".join(f"{name} {text}" for name, text in facts(inner))
        elif value not in (None, [], {}):
            yield one.name, visible(value if isinstance(value, str) else flat(value))
