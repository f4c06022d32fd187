"""The document of `fastrnns-rs list`: which runners and groups there are."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from fastrnns_rs import registry
from fastrnns_rs.documents import Notice


@dataclass(frozen=True, slots=True, kw_only=True)
class RunnerEntry:
    """A runner. `group` is the value of `--group` that picks it; null for one that is picked by name only."""

    name: str
    group: str | None
    family: str
    devices: list[str]
    description: str
    source: str


@dataclass(frozen=True, slots=True, kw_only=True)
class GroupEntry:
    """A group and its runners, in the order in which they run."""

    name: str
    runners: list[str]


@dataclass(frozen=True, slots=True, kw_only=True)
class Catalogue:
    """What can be run."""

    schema: Literal["fastrnns-rs/list"]
    schema_version: str
    warnings: list[Notice]
    runners: list[RunnerEntry]
    groups: list[GroupEntry]


def catalogue() -> Catalogue:
    """Everything that is registered."""
    runners = [
        RunnerEntry(
            name=one.name,
            group=one.group,
            family=one.family,
            devices=list(one.devices),
            description=one.description,
            source=str(one.source),
        )
        for one in registry.all_runners().values()
    ]
    names = (*registry.GROUPS, registry.ALL)
    return Catalogue(
        schema="fastrnns-rs/list",
        schema_version="1.0",
        warnings=[],
        runners=runners,
        groups=[GroupEntry(name=name, runners=registry.members(name)) for name in names],
    )
