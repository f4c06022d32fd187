"""The verification as objects. Each class is one object of the JSON document, each attribute one of its keys."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import ClassVar, Literal

from fastrnns_rs.documents.codec import Notice
from fastrnns_rs.documents.document import Document
from fastrnns_rs.errors import UsageError, nearest

FORMATS = ("table", "json")

Status = Literal["ok", "failed", "skipped"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Check:
    """One tensor against its reference; of the calls that were looked at, the worst.

    Attributes:
        name: `output`, `state`, `gradient:NAME`; also `input` and `parameter:NAME`, which must be those that the seed
            gives. Of several an index follows: `state[0]`.
        ok: Whether it is what is expected.
        max_absolute: Largest absolute error; None where there is no finite one.
        max_relative: Largest error relative to the expected element, of a gradient to the largest expected one.
        tolerance_absolute: Absolute error that is allowed.
        tolerance_relative: Relative error that is allowed on top.
        worst_index: Where the error is furthest from what is allowed; None where shapes differ.
        shape: The tensor's shape; None where it is missing.
        expected_shape: The reference's shape; None where nothing is expected.
    """

    name: str
    ok: bool
    max_absolute: float | None = None
    max_relative: float | None = None
    tolerance_absolute: float
    tolerance_relative: float
    worst_index: list[int] | None = None
    shape: list[int] | None
    expected_shape: list[int] | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Verified:
    """What was found of one runner. `reason` also tells what a runner that is ok was not checked for."""

    runner: str
    reference: str | None
    dtype: str
    status: Status
    reason: str | None
    checks: list[Check] = field(default_factory=list)


@dataclass(frozen=True, slots=True, kw_only=True)
class Verification(Document):
    """What `verify` found."""

    noun: ClassVar[str] = "verification"
    hint: ClassVar[str] = "verify --json writes one"
    schema: Literal["fastrnns-rs/verification"] = "fastrnns-rs/verification"
    warnings: list[Notice] = field(default_factory=list)
    ok: bool
    results: list[Verified]

    def __getitem__(self, name: str) -> Verified:
        """The row of the runner called `name`.

        Raises:
            KeyError: There is none.
        """
        for one in self.results:
            if one.runner == name:
                return one
        raise KeyError(name)

    def render(self, name: str = "table", *, verbose: bool = False) -> str:
        """The verification as text.

        Args:
            name: `table` or `json`.
            verbose: Whether the table has a line for every check.

        Raises:
            UsageError: There is no such format.
        """
        if name == "json":
            return self.to_json()
        if name not in FORMATS:
            raise UsageError(f"no format is called {name!r}", nearest(name, FORMATS))
        from fastrnns_rs.views.verification import table

        return table(self, verbose=verbose)
