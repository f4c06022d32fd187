"""Catalogue of runners and groups."""

from __future__ import annotations

from fastrnns_rs.documents.listing import Catalogue, GroupEntry, RunnerEntry
from fastrnns_rs.runners import registry
from fastrnns_rs.runners.runner import GROUPS

#: Attributes of a runner that the document contains unchanged.
_SAME = ("name", "group", "family", "description", "reference", "compiles")


def catalogue() -> Catalogue:
    """Returns all registered runners and groups."""
    runners = [
        RunnerEntry(
            **{name: getattr(one, name) for name in _SAME},
            devices=list(one.devices),
            source=str(one.source),
            honours=list(one.honours),
            lacks=list(one.lacks),
            package=one.source.package,
            missing=one.missing(),
        )
        for one in registry.all_runners().values()
    ]
    names = (*GROUPS, registry.ALL)
    return Catalogue(
        warnings=registry.plugin_warnings(),
        runners=runners,
        groups=[GroupEntry(name=name, runners=registry.members(name)) for name in names],
    )
