"""Kernel names that fit a column and are unique in a table.

A name that is too long loses its namespaces, then template arguments, then its middle. Where two names would become
equal, the part that differs is kept.
"""

from __future__ import annotations

from collections import Counter

from fastrnns_rs.escaping import visible
from fastrnns_rs.views.table import beginning, fit
from fastrnns_rs.views.text import width

TYPE_CHECKING = False  # As in the package: `typing` is slow to load.
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

_ELLIPSIS = "…"
_OPENING, _CLOSING = "<([{", ">)]}"
_ANONYMOUS = r"\(anonymous namespace\)::"
#: Each word is tried once: names may be long.
_NAMESPACES = rf"(?<!\w)(?:(?:[A-Za-z_]\w*+::|{_ANONYMOUS})(?=[A-Za-z_]|{_ANONYMOUS}))++"
#: nsys writes the type of a number before the number.
_CASTS = r"\((?:unsigned |long )*(?:int|bool|char|long|short)\)(?=[\w-])"
#: Characters kept of the last words of a part that differs.
_LAST = 8
#: Each round compares a narrower part of names that are still equal.
_ROUNDS = 4
#: A shorter part of a template argument is not informative.
_PART = 6


def shortened(names: Sequence[tuple[str, str]], room: int, *, middle: bool = True) -> list[str]:
    """Shortens names to `room` columns, safe for a terminal.

    Args:
        names: Demangled name of each row, with the name of its function.
        room: Width of the column, at least 8.
        middle: True cuts a name without arguments in its middle, False at its end.
    """
    whole = [_Name(visible(full), visible(function)) for full, function in names]
    found = [name.within(room, middle=middle) for name in whole]
    # Long names without arguments and with equal beginnings are compared even if their ends differ.
    long = [row for row, name in enumerate(whole) if _ELLIPSIS in found[row] and not name.arguments]
    _tell_apart(whole, found, _groups(long, lambda row: whole[row].text[: room // 2]), room)
    for _ in range(_ROUNDS):
        groups = _groups(range(len(found)), found.__getitem__)
        if not groups:
            return found
        _tell_apart(whole, found, groups, room)
    _tell_words_apart(whole, found, room)
    for group in _groups(range(len(found)), found.__getitem__):
        for number, row in enumerate(group[1:], 2):
            found[row] = f"{fit(found[row], room - len(str(number)) - 1).rstrip()}#{number}"
    return found


def with_first_arguments(full: str, short: str, room: int) -> str:
    """Shortens a name to `room` columns, and keeps its first template arguments.

    >>> with_first_arguments("void dgrad_engine<float, 512, 6, 5, false>(int)", "dgrad_engine", 29)
    'dgrad_engine<float, 512, …>'
    """
    return _Name(full, short).leading(room)


def function(full: str, short: str) -> str:
    """Returns a name without its template arguments and parameters.

    >>> function("void at::native::copy<4>(int)", "copy")
    'at::native::copy'
    """
    return _Name(full, short).function


class _Name:
    """Parts of a kernel name; `text` has no return type and no parameters."""

    __slots__ = ("arguments", "bare", "function", "text")

    def __init__(self, full: str, short: str) -> None:
        if short not in full:
            # A capture may record the name of another function.
            short = full
        at = _place(full, short)
        begin = at
        while full.endswith("::", 0, begin) and (scope := _scope(full, begin - 2)) < begin - 2:
            begin = scope
        end = at + len(short)
        self.arguments, after = _arguments(full, end)
        self.bare = short
        self.function = full[begin:end]
        self.text = full[begin:after] if short != full else full

    def within(self, room: int, *, middle: bool) -> str:
        """Shortens the name without regard to other names."""
        if width(self.text) <= room:
            return self.text
        if not self.arguments:
            return fit(self.bare, room) if middle else _head(self.bare, room)
        self.arguments = _plain(self.arguments)
        plain = f"{self.bare}<{', '.join(self.arguments)}>"
        return plain if width(plain) <= room else self._fewer(room)

    def leading(self, room: int) -> str:
        """Shortens the name, and keeps as many first template arguments as fit."""
        found = self.within(room, middle=True)
        for count in range(len(self.arguments)) if _ELLIPSIS in found else ():
            shorter = f"{self.bare}<{', '.join([*self.arguments[:count], _ELLIPSIS])}>"
            if width(shorter) > room:
                break
            found = shorter
        return found

    def _fewer(self, room: int) -> str:
        """Keeps as many first and last template arguments as fit, alternately."""
        head, tail = 0, 0

        def drawn(head: int, tail: int, part: str = "") -> str:
            last = self.arguments[len(self.arguments) - tail :]
            kept = [*self.arguments[:head], f"{part}{_ELLIPSIS}", *last]
            return f"{self.bare}<{', '.join(kept)}>"

        goes_on = True
        while goes_on and head + tail < len(self.arguments):
            first = width(drawn(head + 1, tail)) <= room
            head += first
            last = width(drawn(head, tail + 1)) <= room
            tail += last
            goes_on = first and (last or tail == 0)
        found = drawn(head, tail)
        left = room - width(found)
        if head + tail < len(self.arguments) and (left >= _PART or (tail == 0 and left > 0)):
            # A part of an argument that is too long is more informative than an ellipsis.
            return drawn(head, tail, beginning(self.arguments[head], left))
        return fit(found, room)


def _head(text: str, room: int) -> str:
    """Cuts a text that is too wide at its end.

    The cut is at the end of a word where that keeps half of the room.
    """
    head = fit(text, 2 * room)[: room - 1] if text.isascii() else ""
    if not head:
        return fit(text, room)
    word = head.rfind("_")
    whole = text[room - 1 : room] in {"", "_"} or word < room // 2 or not head[word + 1 :].isalnum()
    return f"{head if whole else head[:word]}{_ELLIPSIS}"


def _place(full: str, short: str) -> int:
    """Finds the function's name: after a space or a scope, before its arguments."""
    # Each search is of the whole text: places of a short name may overlap, and be very many.
    before, after = ("", " ", ":", "*", "&"), ("<", "(", " ", "")
    places = [
        at + len(one)
        for one in before
        for other in after
        if (at := _find(full, f"{one}{short}{other}", begins=not one, ends=not other)) >= 0
    ]
    return min(places, default=max(0, full.find(short)))


def _find(full: str, part: str, *, begins: bool, ends: bool) -> int:
    """Returns the first place of a part; -1 for none.

    Args:
        full: Whole name.
        part: Part of it.
        begins: True for the beginning only.
        ends: True for the end only.
    """
    if begins:
        return 0 if full.startswith(part) and (not ends or part == full) else -1
    if ends:
        return len(full) - len(part) if full.endswith(part) else -1
    return full.find(part)


def _scope(full: str, end: int) -> int:
    """Returns the start of the namespace that ends at `end`, else `end`."""
    if full.endswith("(anonymous namespace)", 0, end):
        return end - len("(anonymous namespace)")
    begin = end
    while begin and (full[begin - 1].isalnum() or full[begin - 1] == "_"):
        begin -= 1
    return begin


def _plain(arguments: Sequence[str]) -> list[str]:
    """Removes namespaces and types of numbers from template arguments."""
    import re  # This module is slow to load, and most names fit.

    return [re.sub(_CASTS, "", re.sub(_NAMESPACES, "", one)) for one in arguments]


def _arguments(full: str, at: int) -> tuple[list[str], int]:
    """Returns the template arguments from `at` on, and their end.

    The list is empty if brackets do not match.
    """
    if full[at : at + 1] != "<":
        return [], at
    depth, begin, found = 0, at + 1, []
    for place in range(at, len(full)):
        one = full[place]
        if one in _OPENING:
            depth += 1
        elif one in _CLOSING and full[place - 1] != "-":
            depth -= 1
        if (one == "," and depth == 1) or depth == 0:
            found.append(full[begin:place].strip())
            begin = place + 1
        if depth == 0:
            return [one for one in found if one], place + 1
    return [], at


def _groups(rows: Iterable[int], key: Callable[[int], str]) -> list[list[int]]:
    """Returns the rows of each key that has several rows."""
    groups: dict[str, list[int]] = {}
    for row in rows:
        groups.setdefault(key(row), []).append(row)
    return [group for group in groups.values() if len(group) > 1]


def _tell_apart(whole: Sequence[_Name], found: list[str], groups: Iterable[list[int]], room: int) -> None:
    """Shortens the names of each group so that the part that differs is kept."""
    for group in groups:
        names = [whole[row] for row in group]
        first = names[0]
        if all(name.bare == first.bare and name.arguments for name in names):
            counts = range(min(len(name.arguments) for name in names))
            at = next((at for at in counts if any(name.arguments[at] != first.arguments[at] for name in names)), None)
            if at is not None:
                parts = [name.arguments[at] for name in names]
                back = [f", {_ELLIPSIS}>" if at + 1 < len(name.arguments) else ">" for name in names]
                others = min(max(map(width, parts)), room * 2 // 5) + max(map(len, back)) + 4
                front = f"{fit(first.bare, room - others)}<{f'{_ELLIPSIS}, ' if at else ''}"
                left = room - width(front) - max(map(len, back))
                shown = parts if max(map(width, parts)) <= left else _differing(parts, max(left, 4))
                for row, part, end in zip(group, shown, back, strict=True):
                    found[row] = fit(f"{front}{part}{end}", room)
                continue
        for row, text in zip(group, _differing([name.text for name in names], room), strict=True):
            found[row] = text


def _tell_words_apart(whole: Sequence[_Name], found: list[str], room: int) -> None:
    """Shortens names that are still equal to the words that differ.

    These are the words of all names with the same beginning or, if they do not fit, of the equal names.
    """
    related: dict[str, list[int]] = {}
    for row, name in enumerate(whole):
        related.setdefault(name.text[: room // 2], []).append(row)

    def show_words(rows: Sequence[int]) -> bool:
        """Returns False, and changes nothing, if the words do not fit."""
        texts = _by_words([whole[row].text for row in rows], room)
        for row, text in texts.items():
            found[rows[row]] = text
        return bool(texts)

    fit_all: dict[str, bool] = {}
    for group in _groups(range(len(found)), found.__getitem__):
        if len({whole[row].text for row in group}) == 1:
            # They differ in their parameters only.
            continue
        begin = whole[group[0]].text[: room // 2]
        if begin not in fit_all:
            fit_all[begin] = show_words(related[begin])
        if not fit_all[begin]:
            show_words(group)


def _by_words(texts: Sequence[str], room: int) -> dict[int, str]:
    """Shortens texts that differ in several places to all words that differ.

    Only texts with as many words as the most have a place in the result. It is empty if the words do not fit.

    >>> _by_words(["sum_long_weighted_cta_row<2>", "sum_long_weighted_warp_row<2>", "sum_long_plain_cta_row<5>"], 21)
    {0: 'sum_…weighted…cta…2…', 1: 'sum_…weighted…warp…2…', 2: 'sum_…plain…cta…5…'}
    """
    import re  # This module is rarely needed.

    every = [re.findall(r"[A-Za-z0-9]+|[^A-Za-z0-9]+", text) for text in texts]
    counts = [*map(len, every)]
    [(usual, _)] = Counter(counts).most_common(1)
    rows = [row for row, count in enumerate(counts) if count == usual]
    words = [every[row] for row in rows]
    differing = [at for at, one in enumerate(words[0]) if any(other[at] != one for other in words)]
    parts = [_ELLIPSIS + _ELLIPSIS.join([one[at] for at in differing]) for one in words]
    if differing and differing[-1] + 1 < len(words[0]):
        parts = [f"{one}{_ELLIPSIS}" for one in parts]
    left = room - max(map(width, parts))
    if not differing or left < 1:
        return {}
    head = beginning("".join(words[0][: differing[0]]), left)
    # A word is not cut.
    head = head if width(head) < left else re.sub(r"[A-Za-z0-9]+$", "", head)
    return {row: f"{head}{one}" for row, one in zip(rows, parts, strict=True)}


def _differing(texts: Sequence[str], room: int) -> list[str]:
    """Shortens texts to `room` columns; each keeps the part that differs."""
    begin, end = _common(texts), _common([text[::-1] for text in texts])
    return [_around(text, begin, len(text) - end, room) for text in texts]


def _common(texts: Sequence[str]) -> int:
    """Returns the length of the common beginning.

    A word or a number in which the texts differ is excluded as a whole.
    """
    shortest = min(texts, key=len)
    count = next((at for at, one in enumerate(shortest) if any(text[at] != one for text in texts)), len(shortest))
    kind = str.isdigit if count and shortest[count - 1].isdigit() else str.isalpha
    if any(text[count : count + 1] and kind(text[count]) for text in texts):
        while count and kind(shortest[count - 1]):
            count -= 1
    return count


def _around(text: str, begin: int, end: int, room: int) -> str:
    """Returns the first and last words of the part that differs.

    As much of the beginning as fits precedes the words.
    """
    import re  # This module is rarely needed.

    words = re.split(r"(?<=[^A-Za-z0-9])(?=[A-Za-z0-9])", text[begin : max(begin, end)].strip("_ ,<>"))
    first, last = words[0].rstrip("_ ,<>"), ""
    for place in range(len(words) - 1, 0, -1):
        longer = "".join(words[place:])
        if last and len(longer) > _LAST:
            break
        last = longer
    part = f"{_ELLIPSIS}{first}{_ELLIPSIS if last or end < len(text) else ''}{last}"
    part = fit(part, room // 2 + _LAST)
    left = room - width(part)
    head = text[:begin]
    if width(head) > left:
        head = beginning(head, left)
        # A word is not cut if whole words fit.
        cut = text[len(head) : len(head) + 1].isalnum()
        word = re.search(r"[^A-Za-z0-9][A-Za-z0-9]*$", head) if cut else None
        head = head[: word.start()] if word and word.start() > left // 2 else head
        head = head.rstrip("_")
    return fit(f"{head}{part}", room)
