"""Document `fastrnns-rs/list`: runners and groups."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import ClassVar, Literal

from fastrnns_rs.documents.codec import RunWarning, since
from fastrnns_rs.documents.container import Container
from fastrnns_rs.documents.document import Document
from fastrnns_rs.documents.part import Part


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class RunnerEntry(Part):
    """Runner. `group` is its value of `--group`; null if it is chosen by name only.

    Attributes:
        package: Name and version of the package that adds the runner.
        missing: Requirements of the runner that are not installed.
    """

    name: str
    group: str | None
    family: str
    devices: list[str]
    description: str
    source: str
    #: Rarely supported modes that this runner supports.
    honours: list[str] = field(default_factory=list, metadata=since("1.1"))
    #: Commonly supported modes that this runner does not support.
    lacks: list[str] = field(default_factory=list, metadata=since("1.1"))
    reference: str | None = field(default=None, metadata=since("1.1"))
    compiles: bool = field(default=False, metadata=since("1.1"))
    package: str | None = field(default=None, metadata=since("1.1"))
    missing: list[str] = field(default_factory=list, metadata=since("1.1"))


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class GroupEntry(Part):
    """Group and its runners, in the order in which they run."""

    name: str
    runners: list[str]


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class Catalogue(Container[RunnerEntry], Document):
    """Available runners and groups."""

    row_noun: ClassVar[str] = "runner"
    place: ClassVar[str] = "in this list"
    rows_key: ClassVar[str] = "runners"
    schema: Literal["fastrnns-rs/list"] = "fastrnns-rs/list"
    warnings: list[RunWarning]
    runners: list[RunnerEntry]
    groups: list[GroupEntry]

    def _names(self) -> list[tuple[str, ...]]:
        return [(one.name,) for one in self.runners]
