"""JSON Schema of a dataclass, with descriptions from its docstring."""

from __future__ import annotations

import inspect
import re
import types
from typing import Any, Literal, Union, get_args, get_origin

from fastrnns_rs.documents.codec import SCALARS, list_key_types


def json_schema(document: type, title: str) -> dict[str, Any]:
    """Returns the JSON Schema of a dataclass: all keys required, no other allowed."""
    definitions: dict[str, Any] = {}
    root = _schema(document, definitions)
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": title,
        **root,
        "$defs": dict(sorted(definitions.items())),
    }


def _schema(expected: Any, definitions: dict[str, Any]) -> dict[str, Any]:  # noqa: PLR0911
    origin, arguments = get_origin(expected), get_args(expected)
    if origin in {Union, types.UnionType}:
        if all(option in SCALARS for option in arguments):
            return {"type": [SCALARS[option] for option in arguments]}
        return {"anyOf": [_schema(option, definitions) for option in arguments]}
    if origin is Literal:
        return {"enum": list(arguments)}
    if origin is list:
        return {"type": "array", "items": _schema(arguments[0], definitions)}
    if origin is dict:
        return {"type": "object", "additionalProperties": _schema(arguments[1], definitions)}
    if expected in SCALARS:
        return {"type": SCALARS[expected]}
    name = expected.__name__
    if name not in definitions:
        definitions[name] = {}
        text, attributes = _descriptions(expected)
        hints = list_key_types(expected)
        described = {key: {"description": attributes[key]} if key in attributes else {} for key in hints}
        definitions[name] = {
            "description": text,
            "type": "object",
            "properties": {key: {**described[key], **_schema(hint, definitions)} for key, hint in hints.items()},
            "required": list(hints),
            "additionalProperties": False,
        }
    return {"$ref": f"#/$defs/{name}"}


def _descriptions(document: type) -> tuple[str, dict[str, str]]:
    """Returns the description of a class, and those of its attributes by name.

    Raises:
        ValueError: If an attribute is described that is not a key of the document.
    """
    text, _, section = (inspect.getdoc(document) or "").partition("\n\nAttributes:\n")
    # Examples are for Python; a schema is read in any language.
    text = "\n\n".join(part for part in text.split("\n\n") if not part.startswith(">>>"))
    entries = re.findall(r"^    (\w+): (.*(?:\n {5,}.*)*)", section, flags=re.MULTILINE)
    attributes = {name: " ".join(lines.split()) for name, lines in entries}
    unknown = attributes.keys() - list_key_types(document).keys()
    if unknown:
        raise ValueError(f"unknown attribute: {min(unknown)} ({document.__name__})")
    return " ".join(text.split()), attributes
