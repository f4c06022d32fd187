"""Data of SVG paths in fewer characters."""

from __future__ import annotations

import re
from collections.abc import Iterator

_COMMAND = re.compile(r"([A-Za-z])([^A-Za-z]*)")
_NUMBER = re.compile(r"-?\d+\.\d+(?:e[-+]?\d+)?")
#: Shorter paths are markers and ticks, which are kept as they are but for their decimals.
_FEW = 4


def shorten(data: str) -> str:
    """Returns the data of a path with one decimal.

    A path through many points has relative coordinates, which are shorter. Each is relative to the rounded point
    before, so that errors do not add up.

    >>> shorten("M 1 2 L 3.04 2 L 4 5 L 4 6.5 z")
    'M1 2h2l1 3v1.5z'
    """
    commands = [(name, [float(one) for one in numbers.split()]) for name, numbers in _COMMAND.findall(data)]
    if len(commands) < _FEW or any(name not in "MLz" for name, _ in commands):
        return " ".join(_NUMBER.sub(_rounded, data).split())
    return "".join(_relative(commands))


def round_numbers(text: str) -> str:
    """Returns an attribute with one decimal for each number."""
    return _NUMBER.sub(_rounded, text)


def _relative(commands: list[tuple[str, list[float]]]) -> Iterator[str]:
    here = start = (0, 0)
    before = ""
    for name, numbers in commands:
        if name == "z":
            here, before = start, name
            yield name
            continue
        # Tenths as integers add up without an error.
        x, y = (round(10 * one) for one in numbers)
        if name == "M":
            here = start = (x, y)
            before = ""
            yield f"M{_tenths(x)}{_separated(y)}"
        elif (x, y) != here:
            step = (x - here[0], y - here[1])
            here = (x, y)
            found = "h" if not step[1] else "v" if not step[0] else "l"
            text = "".join(map(_separated, step if found == "l" else [one for one in step if one]))
            yield text if found == before else f"{found}{text.lstrip()}"
            before = found


def _separated(tenths: int) -> str:
    """Returns a number that a sign or a space separates from the number before."""
    return _tenths(tenths) if tenths < 0 else f" {_tenths(tenths)}"


def _tenths(tenths: int) -> str:
    whole, part = divmod(abs(tenths), 10)
    text = f"{whole or ''}.{part}" if part else f"{whole}"
    return f"-{text}" if tenths < 0 else text


def _rounded(found: re.Match[str]) -> str:
    text = f"{float(found[0]):.1f}".removesuffix(".0")
    return "0" if text == "-0" else text
