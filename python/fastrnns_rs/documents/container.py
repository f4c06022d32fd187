"""Documents whose rows are found by name."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any, ClassVar, Generic, TypeVar

from fastrnns_rs.documents.row_names import find_places
from fastrnns_rs.errors import ambiguous_key, missing_attribute_hint, unknown_key

Row_co = TypeVar("Row_co", covariant=True)


class Container(Generic[Row_co]):
    """Document that iterates over its rows, has a length and finds rows by name.

    Attributes:
        row_noun: Kind of row, such as `runner`, for errors.
        place: Container in words, such as `in this run`, for errors.
        rows_key: Attribute with the list of rows.
        columns_call: Call that returns arrays, as an example for `pandas.DataFrame`; empty where there is no such call.
    """

    # Without slots of its own, so that dataclasses with slots may inherit.
    __slots__ = ()

    row_noun: ClassVar[str]
    place: ClassVar[str]
    rows_key: ClassVar[str]
    columns_call: ClassVar[str] = ""

    # A type checker would accept any attribute.
    if not TYPE_CHECKING:

        def __getattr__(self, name: str) -> Any:
            hint = missing_attribute_hint(name, self.columns_call)
            message = f"{type(self).__name__!r} object has no attribute {name!r}{hint}"
            raise AttributeError(message, name=name, obj=self)

    def _rows(self) -> Sequence[Row_co]:
        rows: Sequence[Row_co] = getattr(self, self.rows_key)
        return rows

    def _names(self) -> list[tuple[str, ...]]:
        """Returns the names of each row, its title first."""
        raise NotImplementedError

    def __getitem__(self, name: str) -> Row_co:
        """Returns the row with this name.

        Raises:
            KeyError: If no row, or more than one row, has the name. The message names the nearest row, or all rows.
        """
        names = self._names()
        # An array would be compared element by element.
        found = find_places(name, names) if isinstance(name, str) else []
        if len(found) == 1:
            return self._rows()[found[0]]
        if found:
            raise ambiguous_key(name, [names[place][0] for place in found])
        known = dict.fromkeys(one for each in names for one in each)
        raise unknown_key(self.row_noun, name, known, self.place)

    def __len__(self) -> int:
        """Returns the number of rows."""
        return len(self._rows())

    def __iter__(self) -> Iterator[Row_co]:
        """Returns an iterator over the rows."""
        return iter(self._rows())

    def __reversed__(self) -> Iterator[Row_co]:
        """Returns an iterator over the rows, the last first."""
        return reversed(self._rows())

    def __contains__(self, name: object) -> bool:
        """Returns True if at least one row has this name, or is this object."""
        if isinstance(name, str):
            return any(name in names for names in self._names())
        return any(name is row or (type(name) is type(row) and name == row) for row in self._rows())

    def __bool__(self) -> bool:
        """Returns True: a document without rows is a document."""
        return True
