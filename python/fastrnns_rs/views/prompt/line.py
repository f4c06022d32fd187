"""Line of an object at a Python prompt: class, name and figures."""

from __future__ import annotations

from fastrnns_rs.counting import counted
from fastrnns_rs.escaping import visible
from fastrnns_rs.views import kernel_names
from fastrnns_rs.views.figures import figure
from fastrnns_rs.views.prose import WIDTH
from fastrnns_rs.views.scale import Scale
from fastrnns_rs.views.table import beginning
from fastrnns_rs.views.text import width

TYPE_CHECKING = False  # As in the package: `typing` is slow to load.
if TYPE_CHECKING:
    from collections.abc import Iterable

#: Width of a line: Python adds brackets to an object alone in a list.
LIMIT = WIDTH - 2
#: Characters of a name that are looked at: a longer name is no name, and takes long to shorten.
LONGEST_NAME = 4096
#: Least widths of a name: of any name, and of a name before a sentence.
_LEAST_NAME, _NAME_BEFORE_SENTENCE = 8, 32


def prompt_line(
    kind: str, parts: Iterable[str | None], name: str = "", function: str = "", *, sentence: bool = False
) -> str:
    """Returns `<Kind name: part, part>` of at most 78 columns.

    The name is shortened in its middle, and then the text after the name at its end.

    Args:
        kind: Name of the class.
        parts: Figures and words; empty parts and None are left out.
        name: Name of the object.
        function: Name of the function, for a kernel.
        sentence: True for parts that are sentences: they are cut rather than the name.
    """
    shown = visible(", ".join(filter(None, parts))[:LONGEST_NAME])
    if not name:
        return f"<{_cut(f'{kind}: {shown}' if shown else kind, LIMIT - 2)}>"
    name, function = visible(name[:LONGEST_NAME]), visible(function[:LONGEST_NAME])
    between = ": " if shown else ""
    room = LIMIT - width(f"<{kind} {between}>")
    left = max(room - width(shown), _NAME_BEFORE_SENTENCE if sentence else _LEAST_NAME)
    if width(name) > left:
        name = kernel_names.with_first_arguments(name, function or name, left).strip()
    return f"<{kind} {name}{between}{_cut(shown, room - width(name))}>"


def _cut(text: str, to: int) -> str:
    """Returns a sentence of at most `to` columns, cut at its end."""
    return text if width(text) <= to else f"{beginning(text, to - 1).rstrip()}…"


def file_name(path: str) -> str:
    """Returns the name of a file without its folder."""
    return path.rpartition("/")[2] or path


def duration(ns: float | None, word: str = "") -> str | None:
    """Returns a time with its unit and three digits, as `80.8 ms`.

    Args:
        ns: Time in nanoseconds; None if unknown, which returns None.
        word: Word before the time.
    """
    if ns is None:
        return None
    scale = Scale([ns])
    text = f"{figure(ns / scale.ns)} {scale.unit}"
    return f"{word} {text}" if word else text


def count(number: int | None, noun: str, plural: str | None = None) -> str | None:
    """Returns a number with its noun, as `3 runners`; None if the number is unknown."""
    return None if number is None else counted(number, noun, plural)
