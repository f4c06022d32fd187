"""The document `fastrnns-rs/list`: the runners and groups."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

from fastrnns_rs.documents.codec import Notice, since
from fastrnns_rs.documents.document import Document


@dataclass(frozen=True, slots=True, kw_only=True)
class RunnerEntry:
    """A runner. `group` is the value of `--group` that picks it; null for one that is picked by name only.

    `honours` are the modes that it has of those that few have, `lacks` those that it has not of those that most have,
    `package` the name and version of the package that adds it, and `missing` what it needs and is not installed.
    """

    name: str
    group: str | None
    family: str
    devices: list[str]
    description: str
    source: str
    honours: list[str] = field(default_factory=list, metadata=since("1.1"))
    lacks: list[str] = field(default_factory=list, metadata=since("1.1"))
    reference: str | None = field(default=None, metadata=since("1.1"))
    compiles: bool = field(default=False, metadata=since("1.1"))
    package: str | None = field(default=None, metadata=since("1.1"))
    missing: list[str] = field(default_factory=list, metadata=since("1.1"))


@dataclass(frozen=True, slots=True, kw_only=True)
class GroupEntry:
    """A group and its runners, in the order in which they run."""

    name: str
    runners: list[str]


@dataclass(frozen=True, slots=True, kw_only=True)
class Catalogue(Document):
    """What can be run."""

    schema: Literal["fastrnns-rs/list"] = "fastrnns-rs/list"
    warnings: list[Notice]
    runners: list[RunnerEntry]
    groups: list[GroupEntry]
