"""The runners and groups that exist."""

from __future__ import annotations

from fastrnns_rs.documents.listing import Catalogue, GroupEntry, RunnerEntry
from fastrnns_rs.runners import registry


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
            honours=list(one.honours),
            lacks=list(one.lacks),
            reference=one.reference,
            compiles=one.compiles,
            package=one.source.package,
            missing=one.missing(),
        )
        for one in registry.all_runners().values()
    ]
    names = (*registry.GROUPS, registry.ALL)
    return Catalogue(
        warnings=registry.notices(),
        runners=runners,
        groups=[GroupEntry(name=name, runners=registry.members(name)) for name in names],
    )
