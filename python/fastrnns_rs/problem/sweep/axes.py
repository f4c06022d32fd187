"""Requested axes, and the points of their product."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from typing import TYPE_CHECKING, Any, TypeVar

from fastrnns_rs.documents.sweep import SweepAxis
from fastrnns_rs.errors import UsageError
from fastrnns_rs.problem.sweep.names import AXES, find, flag
from fastrnns_rs.problem.sweep.values import MOST, parse_values, shown

if TYPE_CHECKING:
    from fastrnns_rs.documents.sweep import Point

T = TypeVar("T")
_HINT = "Use NAME=VALUES, such as hidden-size=128,256 or hidden-size=pow2:6:10."


@dataclass(frozen=True, slots=True, kw_only=True)
class Axis:
    """Option with the values of a sweep.

    Attributes:
        name: Name of the option, as `hidden_size`.
        values: Unique whole numbers, words or truth values.
    """

    name: str
    values: tuple[Any, ...]

    def record(self) -> SweepAxis:
        """Returns the axis in the form of the run file."""
        return SweepAxis(name=flag(self.name), values=[plain(value) for value in self.values])


def parse_axes(given: object) -> tuple[Axis, ...]:
    """Returns the requested axes.

    Args:
        given: Texts as `hidden-size=128,256`, or values by name; None for no axes.

    Raises:
        UsageError: If an axis is invalid or given twice, or all axes together have too many points.
    """
    pairs = [*given.items()] if isinstance(given, Mapping) else [_pair(one) for one in _texts(given)]
    found: list[Axis] = []
    for spelled, values in pairs:
        name = find(spelled, AXES, "axis", "axes")
        if any(axis.name == name for axis in found):
            message = f"duplicate axis: {flag(name)}"
            raise UsageError(message, f"Use one list of values: {flag(name)}=VALUE,VALUE.", where="axes")
        found.append(Axis(name=name, values=parse_values(name, values)))
    count = math.prod(len(axis.values) for axis in found)
    if count > MOST:
        product = " * ".join(str(len(axis.values)) for axis in found)
        message = f"too many points: {product} = {count}, and a sweep supports {MOST}"
        raise UsageError(message, "Use fewer values.", where="axes")
    return tuple(found)


def points(axes: Sequence[Axis]) -> list[dict[str, Any]]:
    """Returns the product of the axes, as values by option.

    The last axis changes first. Without axes there is one empty point.
    """
    names = [axis.name for axis in axes]
    return [dict(zip(names, values, strict=True)) for values in itertools.product(*(axis.values for axis in axes))]


def moved(given: T, point: Mapping[str, Any]) -> T:
    """Returns a dataclass with the values of a point in the fields that both have."""
    # A type variable cannot express that its type is a dataclass.
    changed: Any = given
    moved: T = replace(changed, **{one.name: point[one.name] for one in fields(changed) if one.name in point})
    return moved


def recorded(point: Mapping[str, Any]) -> Point:
    """Returns a point in the form of the run file."""
    return {flag(name): plain(value) for name, value in point.items()}


def plain(value: Any) -> int | str:
    """Returns a value in the form of the run file: a number or a word."""
    return value if isinstance(value, int) and not isinstance(value, bool) else shown(value)


def _texts(given: object) -> list[object]:
    if given is None:
        return []
    if isinstance(given, str):
        return [given]
    if not isinstance(given, Iterable):
        hint = "Use a dict of values by name, or texts such as hidden-size=128,256."
        raise UsageError(f"invalid value: {given!r}", hint, where="axes", value=given)
    return [*given]


def _pair(text: object) -> tuple[str, str]:
    if not isinstance(text, str):
        raise UsageError(f"invalid axis: {text!r}", _HINT, where="axes")
    name, equals, values = text.partition("=")
    if not equals or not name.strip():
        raise UsageError(f"invalid axis: {text!r}", _HINT, where="axes", value=text)
    return name, values
