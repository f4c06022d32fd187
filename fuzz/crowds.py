"""Captures of much: many devices, queues, threads, processes, steps and names, in no order, with many equal times.

Sorting and hash maps take other paths for many than for few, which a fuzzer finds one at a time, for hours. Most of it
is in the first microsecond, which is what the targets select.
"""

from __future__ import annotations

import gzip
import json
import random
from typing import Any

from kineto_traces import NAMES, annotation, call, copy, document, kernel, operator

#: Names of every category of Inductor's benchmark, of copies, and of many others.
MANY_NAMES = [*NAMES, *(f"triton_{kind}_fused_{place}" for place in range(4) for kind in ("poi", "red", "per", "xyz"))]


def _places(seed: int, count: int, *below: int) -> list[tuple[int, ...]]:
    """`count` times a number below each of `below`, by dice."""
    dice = random.Random(seed)
    return [tuple(dice.randrange(limit) for limit in below) for _ in range(count)]


def trace(seed: int) -> bytes:
    """A compressed trace: its text would be longer than an input may be."""
    events: list[dict[str, Any]] = []
    for number, (name, at, lasts, device, stream, thread) in enumerate(_places(seed, 150, 24, 1500, 30, 4, 6, 9)):
        start, duration = at / 1000, lasts / 1000
        place = {"device": device, "stream": stream, "correlation": number}
        launch = {**call(start=start - 0.004, duration=0.003), "pid": 100 + thread % 4, "tid": thread}
        launch["args"] = {"correlation": number}
        events += [
            launch,
            copy(start=start, duration=duration, **place)
            if name % 7 == 0
            else kernel(MANY_NAMES[name], start, duration, **place),
        ]
        if number % 3 == 0:
            around = annotation(f"r{name % 5}", start - 0.009, 2 * duration, thread)
            events.append({**around, "pid": 100 + thread % 4})
    for step in range(30):
        start = step * 0.05
        events += [annotation(f"ProfilerStep#{step}", start, 0.03 + 0.02 * (step % 9 == 0))]
        events += [operator("enumerate(DataLoader)#_SingleProcessDataLoaderIter.__next__", start, step / 1000)]
    random.Random(seed).shuffle(events)
    return gzip.compress(json.dumps(document(events), separators=(",", ":")).encode(), mtime=0)


def _values(rows: list[tuple[Any, ...]]) -> str:
    return ", ".join(f"({', '.join(map(str, row))})" for row in rows)


def export(seed: int) -> str:
    """Statements that fill tables of nsys."""
    at = _places(seed, 54, 1500, 30, 4, 6, 24, 3, 9)
    kernels = [(s, s + d, gpu, q, n, i, p << 24) for i, (s, d, gpu, q, n, p, _) in enumerate(at)]
    calls = [(s - 4, s - 1, (p << 24) + t, i, 1 + t % 3) for i, (s, _, _, _, _, p, t) in enumerate(at)]
    ranges = [(s - 9, s + 2 * d, 59, n, (p << 24) + t) for s, d, _, _, n, p, t in at[::2]]
    names = [(place, f"'{name}'") for place, name in enumerate(MANY_NAMES)]
    return f"""
        CREATE TABLE StringIds (id INTEGER PRIMARY KEY, value);
        CREATE TABLE CUPTI_ACTIVITY_KIND_KERNEL
            (start, end, deviceId, streamId, demangledName, correlationId, globalPid);
        CREATE TABLE CUPTI_ACTIVITY_KIND_RUNTIME (start, end, globalTid, correlationId, nameId);
        CREATE TABLE NVTX_EVENTS (start, end, eventType, textId, globalTid);
        INSERT INTO StringIds VALUES {_values(names)};
        INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL VALUES {_values(kernels)};
        INSERT INTO CUPTI_ACTIVITY_KIND_RUNTIME VALUES {_values(calls)};
        INSERT INTO NVTX_EVENTS VALUES {_values(ranges)};
    """


def profile(seed: int) -> str:
    """Statements that fill tables of nvprof."""
    at = _places(seed, 36, 1500, 30, 4, 6, 24, 3, 9)
    kernels = [(s, s + d, gpu, q, 1 + n, i) for i, (s, d, gpu, q, n, _, _) in enumerate(at)]
    calls = [(211 - t % 2, s - 4, s - 1, p, t, i) for i, (s, _, _, _, _, p, t) in enumerate(at)]
    marks = [
        mark
        for i, (s, d, _, _, n, p, t) in enumerate(at[::2], 1)
        for mark in ((2, s - 9, i, 1 + n, _thread(p, t)), (4, s + 2 * d, i, 0, _thread(p, t)))
    ]
    names = [(place, f"'{name}'") for place, name in enumerate(MANY_NAMES, 1)]
    return f"""
        CREATE TABLE StringTable (_id_ INTEGER PRIMARY KEY, value); CREATE TABLE Version (version);
        CREATE TABLE CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL (start, end, deviceId, streamId, name, correlationId);
        CREATE TABLE CUPTI_ACTIVITY_KIND_RUNTIME (cbid, start, end, processId, threadId, correlationId);
        CREATE TABLE CUPTI_ACTIVITY_KIND_MARKER (flags, timestamp, id, name, objectId, objectKind DEFAULT 2);
        INSERT INTO StringTable VALUES {_values(names)};
        INSERT INTO CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL VALUES {_values(kernels)};
        INSERT INTO CUPTI_ACTIVITY_KIND_RUNTIME VALUES {_values(calls)};
        INSERT INTO CUPTI_ACTIVITY_KIND_MARKER (flags, timestamp, id, name, objectId) VALUES {_values(marks)};
    """


def _thread(process: int, thread: int) -> str:
    return f"x'{(process.to_bytes(4, 'little') + thread.to_bytes(4, 'little')).hex()}'"


def rows(seed: int) -> str:
    """A table of nvprof with every operation."""
    head = '"Start","Duration","Size","Device","Context","Stream","Name","Correlation_ID"\nns,ns,MB,,,,,\n'
    return head + "".join(
        f'{start},{duration},1,"G ({device})","1","{stream}","{MANY_NAMES[name]}",{number}\n'
        for number, (start, duration, device, stream, name) in enumerate(_places(seed, 120, 1500, 9, 3, 6, 24))
    )


def totals() -> str:
    """A table of nvprof with totals of each name."""
    head = '"Type","Time(%)","Time","Calls","Avg","Min","Max","Name"\n,%,us,,us,us,us,\n'
    return head + "".join(
        f'"GPU activities",4,{4 * (20 + place * 7 % 24)},4,{20 + place * 7 % 24},1,{21 + place * 7 % 24},"{name}"\n'
        for place, name in enumerate(MANY_NAMES)
    )
