"""Completeness of the kernels in an nsys export, by launches and kernels.

nsys reports losses without their number. Where nothing is missing that was requested, the loss concerns other events.
"""

from __future__ import annotations

import sqlite3
from bisect import bisect_left, bisect_right
from collections import Counter, defaultdict
from collections.abc import Collection
from itertools import chain

#: Name, start, end and process of a range.
_Range = tuple[str, int, int, int]
#: Process, and the number that a call shares with the kernels that it launched.
_Call = tuple[int, int]

_CALLS, _ACTIVITIES = "CUPTI_ACTIVITY_KIND_RUNTIME", ("CUPTI_ACTIVITY_KIND_KERNEL", "CUPTI_ACTIVITY_KIND_GRAPH_TRACE")
_NOTHING = "the number of launches is unknown"


def missing_kernels(database: sqlite3.Connection, tables: set[str], names: Collection[str]) -> str:
    """Returns what is missing of the kernels in ranges; empty if nothing is.

    Every launch in a range must have a kernel or a graph, every kernel of the process must have a launch, and all
    ranges of one runner and phase must have the same number of kernels.

    Args:
        database: Export of nsys.
        tables: Names of its tables.
        names: Names of the ranges, such as `cudnn/forward/0`.
    """
    if not {_CALLS, "StringIds", "NVTX_EVENTS"} <= tables:
        return _NOTHING
    try:
        ranges = [one for one in _ranges(database) if one[0] in names]
        launches, called = _calls(database)
        kernels = _kernels(database, tables)
        return _missing(ranges, launches, called, kernels)
    except (sqlite3.Error, TypeError):
        # Versions of nsys differ in their columns, and a column of SQLite can have values of any type.
        return _NOTHING


def _missing(
    ranges: list[_Range], launches: dict[int, list[tuple[int, int]]], called: set[_Call], kernels: Counter[_Call]
) -> str:
    counts: dict[str, set[int]] = defaultdict(set)
    total = without = 0
    for name, start, end, process in ranges:
        made = launches.get(process, [])
        inside = made[bisect_left(made, (start,)) : bisect_right(made, (end, float("inf")))]
        found = [kernels[process, correlation] for _, correlation in inside]
        total, without = total + len(found), without + found.count(0)
        counts[name.rpartition("/")[0]].add(sum(found))
    if not total:
        return _NOTHING
    if without:
        return f"{without:,} of {total:,} launches have no kernel"
    processes = {process for *_, process in ranges}
    orphans = sum(count for call, count in kernels.items() if call[0] in processes and call not in called)
    if orphans:
        return f"{orphans:,} kernels have no launch"
    uneven = next((name for name, found in counts.items() if len(found) > 1), None)
    if uneven is not None:
        return f"iterations of {uneven} have {min(counts[uneven]):,} to {max(counts[uneven]):,} kernels"
    return ""


def _ranges(database: sqlite3.Connection) -> list[_Range]:
    query = """
        SELECT coalesce(ranges.text, strings.value), ranges.start, ranges.end, ranges.globalTid >> 24
        FROM NVTX_EVENTS AS ranges LEFT JOIN StringIds AS strings ON strings.id = ranges.textId
        WHERE ranges.end IS NOT NULL AND ranges.globalTid IS NOT NULL
    """
    return database.execute(query).fetchall()


def _calls(database: sqlite3.Connection) -> tuple[dict[int, list[tuple[int, int]]], set[_Call]]:
    """Returns the launches of each process by start, and all calls."""
    query = f"""
        SELECT calls.globalTid >> 24, calls.correlationId, calls.start, names.value
        FROM {_CALLS} AS calls LEFT JOIN StringIds AS names ON names.id = calls.nameId
    """  # noqa: S608  # a name of ours
    launches: dict[int, list[tuple[int, int]]] = defaultdict(list)
    called = set()
    for process, correlation, start, name in database.execute(query):
        # A function of the host, which a stream calls, is no kernel. A row that repeats a call has its number.
        if "Launch" in (name or "") and "HostFunc" not in name and (process, correlation) not in called:
            launches[process].append((start, correlation))
        called.add((process, correlation))
    for made in launches.values():
        made.sort()
    return launches, called


def _kernels(database: sqlite3.Connection, tables: set[str]) -> Counter[_Call]:
    """Returns the number of kernels and whole graphs of each call."""
    queries = (f"SELECT globalPid >> 24, correlationId FROM {one}" for one in _ACTIVITIES if one in tables)  # noqa: S608
    return Counter(chain.from_iterable(database.execute(query) for query in queries))
