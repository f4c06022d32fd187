"""Documents and their parts as they are shown at a Python prompt."""

from __future__ import annotations

from dataclasses import fields, is_dataclass
from functools import cache
from typing import TYPE_CHECKING, Any

from fastrnns_rs.escaping import visible, visible_lines
from fastrnns_rs.views.prompt.line import LIMIT, LONGEST_NAME, prompt_line
from fastrnns_rs.views.text import width

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

_MORE = ", …"


def text(found: object, maker: Callable[[Any], str] | None = None) -> str:
    """Returns the text of a document or of a part of a document.

    The text is one line of at most 78 columns, for some with a table below. The function never raises an error, even
    if the values of the object have wrong types.

    Args:
        found: Object.
        maker: Function that returns the text; None for the function of the object's class.
    """
    kind = type(found)
    try:
        if maker is None:
            makers = _makers()
            maker = next((makers[one] for one in kind.__mro__ if one in makers), _fields)
        return visible_lines(maker(found))
    except Exception:  # noqa: BLE001  # a prompt or a debugger must show any object
        return f"<{kind.__name__}>"


@cache
def _makers() -> dict[type, Callable[[Any], str]]:
    """Returns the functions of all classes that have their own text."""
    from fastrnns_rs.views.prompt import comparison, documents, run, summary

    return {**documents.MAKERS, **run.MAKERS, **comparison.MAKERS, **summary.MAKERS}


def _fields(found: object) -> str:
    """Returns the simple values that fit: `<Git commit='c0ffee', dirty=False>`."""
    name = type(found).__name__
    line = f"<{name}"
    for number, part in enumerate(_values(found)):
        gap = ", " if number else " "
        if width(line + gap + part) + len(_MORE) + 1 > LIMIT:
            return f"{line}{_MORE if number else ' …'}>"
        line += gap + part
    return prompt_line(name, []) if line == f"<{name}" else f"{line}>"


def _values(found: object) -> Iterator[str]:
    """Yields the simple values, then the lengths of lists: `len(axes)=3`."""
    shown = [one for one in fields(found) if one.repr] if is_dataclass(found) else []
    values = {one.name: getattr(found, one.name) for one in shown if one.name not in {"schema", "schema_version"}}
    for name, value in values.items():
        if type(value) in {str, int, float, bool}:
            yield f"{name}={visible(repr(value[:LONGEST_NAME] if isinstance(value, str) else value))}"
    for name, value in values.items():
        if isinstance(value, (list, dict)) and value:
            yield f"len({name})={len(value)}"
