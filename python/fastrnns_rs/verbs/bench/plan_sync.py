"""Plan synchronisation: one plan in one order for all ranks of `torchrun`."""

from __future__ import annotations

import socket
from collections.abc import Iterator
from dataclasses import asdict, replace
from typing import TYPE_CHECKING, Any

from fastrnns_rs.documents.codec import to_plain
from fastrnns_rs.documents.run_file import RunRank
from fastrnns_rs.documents.warning import make_warning
from fastrnns_rs.errors import UsageError
from fastrnns_rs.runners.source_hash import source_sha256
from fastrnns_rs.verbs.bench.plan_record import record_plan
from fastrnns_rs.verbs.bench.resumption import flat

if TYPE_CHECKING:
    from fastrnns_rs.documents.codec import RunWarning
    from fastrnns_rs.documents.run_file import Run
    from fastrnns_rs.verbs.bench.bench_plan import BenchPlan
    from fastrnns_rs.verbs.bench.rank_group import RankGroup

#: Number of differences that fit in a line.
_SHOWN = 4


def agreed(rank_group: RankGroup, plan: BenchPlan, run: Run) -> tuple[BenchPlan, Run]:
    """Returns the plan and the run that all ranks share.

    The order and the time of a process are those of rank 0.

    Args:
        rank_group: Ranks of the run.
        plan: Plan of this rank.
        run: Run of this rank.

    Raises:
        UsageError: If the ranks have different options.
        FastrnnsError: If a rank sent nothing.
        KeyboardInterrupt: If Ctrl-C was pressed.
    """
    world = rank_group.world
    device = plan.tasks[0].problem.device
    reports = rank_group.exchange(
        "hello",
        {
            "rank": asdict(RunRank(rank=world.rank, local_rank=world.local_rank, node=world.node, device=device)),
            "order_seed": plan.order_seed,
            "seconds": plan.loop.seconds,
            "start_s": plan.start_s,
            "plan": _shared(plan),
            "environment": flat("environment", to_plain(run.environment)) | _sources(plan),
            "host": socket.gethostname(),
        },
    )
    first = reports[0]
    for rank, one in enumerate(reports):
        for key, ours, theirs in _differences(first["plan"], one["plan"]):
            message = f"different options of ranks: {key} is {ours} at rank 0 and {theirs} at rank {rank}"
            raise UsageError(message, "Give all ranks the same options and variables.")
    plan = replace(
        plan,
        order_seed=first["order_seed"],
        start_s=first["start_s"],
        loop=replace(plan.loop, seconds=first["seconds"]),
    )
    ranks = [RunRank(**one["rank"]) for one in reports]
    return plan, replace(run, plan=record_plan(plan), ranks=ranks, warnings=[*run.warnings, *_compare_ranks(reports)])


def _shared(plan: BenchPlan) -> dict[str, Any]:
    """Returns the settings that all ranks must share.

    Devices, and values that rank 0 decides for all, are excluded.
    """
    tasks = [replace(one, problem=replace(one.problem, device="")) for one in plan.tasks]
    found = flat("plan", to_plain(record_plan(replace(plan, tasks=tasks))))
    found.pop("plan.stop.parameters.process_seconds", None)
    return found


def _sources(plan: BenchPlan) -> dict[str, str | None]:
    """Returns the hash of each runner's code. Nodes have their own files."""
    return {
        f"source of {one.runner.name}": source_sha256(one.runner.source, one.setting.known_path()) for one in plan.tasks
    }


def _compare_ranks(reports: list[dict[str, Any]]) -> Iterator[RunWarning]:
    first = reports[0]
    found = [
        f"rank {rank}: {key} {theirs}, not {ours}"
        for rank, one in enumerate(reports)
        for key, ours, theirs in _differences(first["environment"], one["environment"])
        # Each rank has CPUs and a GPU of its own.
        if not key.startswith("environment.cpu_affinity") and not key.endswith((".uuid", ".index"))
    ]
    if found:
        more = f"; and {len(found) - _SHOWN} more" if len(found) > _SHOWN else ""
        yield make_warning("ranks_differ", evidence="; ".join(found[:_SHOWN]) + more)
    hosts = len({one["host"] for one in reports})
    if hosts > 1:
        yield make_warning("several_machines", evidence=f"{hosts} machines")


def _differences(ours: dict[str, Any], theirs: dict[str, Any]) -> Iterator[tuple[str, Any, Any]]:
    for key in sorted(ours.keys() | theirs.keys()):
        if ours.get(key) != theirs.get(key):
            yield key, ours.get(key), theirs.get(key)
