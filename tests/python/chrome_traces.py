"""The rules of Chrome's trace event format, as far as viewers refuse or misdraw what breaks them."""

from __future__ import annotations

import gzip
import json
from collections import Counter, defaultdict
from decimal import Decimal
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pathlib import Path

Event = dict[str, Any]

#: The keys that an event of a phase must have, besides `ph` and `name`.
KEYS = {
    "X": {"cat", "pid", "tid", "ts", "dur", "args"},
    "M": {"pid", "tid", "ts", "args"},
    "s": {"cat", "pid", "tid", "ts", "id"},
    "f": {"cat", "pid", "tid", "ts", "id", "bp"},
}
METADATA = {
    "process_name": "name",
    "thread_name": "name",
    "process_sort_index": "sort_index",
    "thread_sort_index": "sort_index",
}


def load(path: Path) -> dict[str, Any]:
    """The document, with its numbers as the text has them."""
    content = path.read_bytes()
    text = gzip.decompress(content) if path.suffix == ".gz" else content
    found: dict[str, Any] = json.loads(text, parse_float=Decimal, parse_constant=lambda name: 1 / len(name[:0]))
    return found


def nanoseconds(time: Decimal) -> int:
    whole = time * 1000
    assert isinstance(time, Decimal)
    assert whole == int(whole)
    return int(whole)


def slices(events: list[Event], category: str | None = None) -> list[Event]:
    return [event for event in events if event["ph"] == "X" and category in {None, event["cat"]}]


def check(document: dict[str, Any]) -> list[Event]:
    """Its events, which keep every rule."""
    assert document["displayTimeUnit"] in {"ms", "ns"}
    assert isinstance(document["baseTimeNanoseconds"], int)
    events: list[Event] = document["traceEvents"]
    tracks: dict[tuple[int, int], list[tuple[int, int]]] = defaultdict(list)
    named: Counter[tuple[str, int, int | None]] = Counter()
    for event in events:
        assert event.keys() == KEYS[event["ph"]] | {"ph", "name"}, event
        assert isinstance(event["name"], str)
        assert {type(event["pid"]), type(event["tid"])} == {int}
        if event["ph"] == "M":
            kind = type(event["args"][METADATA[event["name"]]])
            assert kind is (str if event["name"].endswith("name") else int)
            named[event["name"], event["pid"], event["tid"] if event["name"].startswith("thread") else None] += 1
        if event["ph"] == "X":
            start, duration = nanoseconds(event["ts"]), nanoseconds(event["dur"])
            assert start >= 0 <= duration
            tracks[event["pid"], event["tid"]].append((start, -duration))
    check_nesting(tracks)
    check_flows(events, {(track, start) for track, found in tracks.items() for start, _ in found})
    for process, thread in tracks:
        assert named["process_name", process, None] == 1 == named["process_sort_index", process, None]
        assert named["thread_name", process, thread] == 1 == named["thread_sort_index", process, thread]
    return events


def check_nesting(tracks: dict[tuple[int, int], list[tuple[int, int]]]) -> None:
    """Slices of a thread lie side by side or one in the other."""
    for track, found in tracks.items():
        open_until: list[int] = []
        for start, negative in sorted(found):
            while open_until and open_until[-1] <= start:
                open_until.pop()
            end = start - negative
            assert not open_until or end <= open_until[-1], (track, start, end)
            open_until.append(end)


def check_flows(events: list[Event], begun: set[tuple[tuple[int, int], int]]) -> None:
    """Each flow has one start and one end, and both lie where a slice begins."""
    ends: dict[str, Counter[int]] = {"s": Counter(), "f": Counter()}
    for event in events:
        if event["ph"] in ends:
            ends[event["ph"]][event["id"]] += 1
            assert ((event["pid"], event["tid"]), nanoseconds(event["ts"])) in begun
            assert event.get("bp", "e") == "e"
    assert ends["s"] == ends["f"]
    assert {*ends["s"].values()} <= {1}
