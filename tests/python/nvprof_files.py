"""Profiles as nvprof writes them, made up here: small, of every version of the form, with rows that are odd."""

from __future__ import annotations

import random
import sqlite3
import struct
from pathlib import Path
from typing import Any

#: The versions whose layout is known.
VERSIONS = (11, 12, 18, 22, 26)
#: When all of it happens: nanoseconds since 1970, beyond what a float holds.
EPOCH = 1_700_000_000_000_000_000
PROCESS = 4711
#: Threads beyond 2³¹ are stored as negative numbers.
THREAD, OTHER_THREAD = 3_000_000_001, 77

_KERNEL = (
    "cacheConfig! sharedMemoryConfig registersPerThread partitionedGlobalCacheRequested partitionedGlobalCacheExecuted "
    "start end completed deviceId contextId streamId gridX gridY gridZ blockX blockY blockZ staticSharedMemory "
    "dynamicSharedMemory localMemoryPerThread localMemoryTotal correlationId gridId name queued submitted launchType "
    "isSharedMemoryCarveoutRequested sharedMemoryCarveoutRequested @12 sharedMemoryExecuted @18 graphNodeId "
    "shmemLimitConfig graphId pAccessPolicyWindow! channelID channelType clusterX clusterY clusterZ "
    "clusterSchedulingPolicy localMemoryTotal_v2 @22 maxPotentialClusterSize maxActiveClusters"
)
_API = "cbid start end processId threadId correlationId returnValue"
_GRAPH = "@18 graphNodeId graphId channelID channelType"
#: The tables that are made, each with its columns; `@18` before those that come with version 18, `!` behind blobs.
LAYOUT = {
    "MEMCPY": "copyKind srcKind dstKind flags bytes start end deviceId contextId streamId correlationId "
    f"runtimeCorrelationId {_GRAPH} @26 copyCount",
    "MEMSET": f"value bytes start end deviceId contextId streamId correlationId flags memoryKind {_GRAPH}",
    "KERNEL": _KERNEL,
    "DRIVER": _API,
    "RUNTIME": _API,
    "DEVICE": "flags globalMemoryBandwidth globalMemorySize constantMemorySize l2CacheSize numThreadsPerWarp "
    "coreClockRate numMemcpyEngines numMultiprocessors maxIPC maxWarpsPerMultiprocessor maxBlocksPerMultiprocessor "
    "maxSharedMemoryPerMultiprocessor maxRegistersPerMultiprocessor maxRegistersPerBlock maxSharedMemoryPerBlock "
    "maxThreadsPerBlock maxBlockDimX maxBlockDimY maxBlockDimZ maxGridDimX maxGridDimY maxGridDimZ "
    "computeCapabilityMajor computeCapabilityMinor id eccEnabled uuid! name @18 isCudaVisible isMigEnabled "
    "gpuInstanceId computeInstanceId migUuid! @22 isNumaNode numaId",
    "CONTEXT": "contextId deviceId computeApiKind nullStreamId @22 parentContextId isGreenContext @26 "
    "numMultiprocessors cigMode",
    "CONCURRENT_KERNEL": _KERNEL,
    "MARKER": "flags timestamp id objectKind objectId! name domain",
    "MEMCPY2": "copyKind srcKind dstKind flags bytes start end deviceId contextId streamId srcDeviceId srcContextId "
    f"dstDeviceId dstContextId correlationId {_GRAPH}",
    "OVERHEAD": "overheadKind objectKind objectId! start end @22 correlationId overheadData!",
}
_BLOBS = {"cacheConfig": 1, "uuid": 16, "migUuid": 16, "objectId": 12}

KERNELS = [
    "_Z4axpyPKfPfif",
    "_ZN4demo3gpu6reduceIdLi256EEEvPKT_PS2_m",
    "lstm_cell_fused",
    'odd "name", with both',
    "größe_π",
    "_Znonsense",
    "_Z4wideIJ" + "f" * 1200 + "EEvv",
]
#: Two names of the linker's that read the same.
TWINS = ["_ZN12_GLOBAL__N_14stepEv", "_ZN12_GLOBAL__N_24stepEv"]
DEVICES = ["Imaginary GPU", "Another GPU"]
RANGES = ["epoch 1", "batch", "cudnn/forward/0", "cudnn/backward/0", "open"]
DOMAIN = "demo"


class Profile:
    """A database that is being made."""

    def __init__(self, path: Path, version: int) -> None:
        """An empty profile."""
        path.unlink(missing_ok=True)
        self.path = path
        self.version = version
        self.database = sqlite3.connect(path)
        self.texts: dict[str, int] = {"-- null --": 0}
        self.columns = {table: _columns(layout, version) for table, layout in LAYOUT.items()}
        for table, columns in self.columns.items():
            listed = ", ".join(f"{name} {kind} NOT NULL" for name, kind in columns)
            self.database.execute(
                f"CREATE TABLE CUPTI_ACTIVITY_KIND_{table} (_id_ INTEGER PRIMARY KEY AUTOINCREMENT, {listed})"
            )
        self.database.execute("CREATE TABLE StringTable (_id_ INTEGER PRIMARY KEY AUTOINCREMENT, value TEXT UNIQUE)")
        self.database.execute("CREATE TABLE Version (version INTEGER)")
        self.database.execute("INSERT INTO Version VALUES (?)", [version])
        for number, name in enumerate(DEVICES):
            self.add("DEVICE", id=number, name=self.text(name), computeCapabilityMajor=7, computeCapabilityMinor=0)
            self.add("CONTEXT", contextId=number + 1, deviceId=number, computeApiKind=1, nullStreamId=7)

    def text(self, value: str) -> int:
        """The number of a text."""
        return self.texts.setdefault(value, len(self.texts))

    def add(self, table: str, **given: Any) -> None:
        """A row; what is not given is 0."""
        values = []
        for name, kind in self.columns[table]:
            empty = bytes(_BLOBS.get(name, 8)) if kind == "BLOB" else 0
            values.append(given.get(name, empty))
        names = ", ".join(name for name, _ in self.columns[table])
        marks = ", ".join("?" * len(values))
        self.database.execute(f"INSERT INTO CUPTI_ACTIVITY_KIND_{table} ({names}) VALUES ({marks})", values)

    def kernel(self, name: str | int, start: int, took: int, correlation: int, **given: Any) -> None:
        """A run of a kernel; its name may be the number of a text that is not there."""
        sizes = {"gridX": 8, "gridY": 2, "gridZ": 1, "blockX": 128, "blockY": 1, "blockZ": 1}
        given = {"deviceId": 0, "contextId": 1, "streamId": 7, "registersPerThread": 32, **sizes, **given}
        number = name if isinstance(name, int) else self.text(name)
        end = start + took
        given = {"start": start, "end": end, "completed": end, "correlationId": correlation, "name": number, **given}
        self.add(given.pop("table", "CONCURRENT_KERNEL"), gridId=correlation, **given)

    def call(self, cbid: int, start: int, took: int, correlation: int, thread: int = THREAD, **given: Any) -> None:
        """A call of the host."""
        table = given.pop("table", "RUNTIME")
        times = {"start": start, "end": start + took}
        self.add(
            table, cbid=cbid, **times, processId=PROCESS, threadId=_signed(thread), correlationId=correlation, **given
        )

    def mark(
        self, flags: int, time: int, number: int, name: str | None, thread: int = THREAD, domain: str = ""
    ) -> None:
        """One end of a range, or an instant."""
        self.add(
            "MARKER",
            flags=flags,
            timestamp=time,
            id=number,
            objectKind=2,
            objectId=struct.pack("<III", PROCESS, thread, 0),
            name=self.text(name) if name else 0,
            domain=self.text(domain) if domain else 0,
        )

    def save(self) -> Path:
        """Writes it."""
        self.database.executemany(
            "INSERT INTO StringTable VALUES (?, ?)", [(n, text) for text, n in self.texts.items()]
        )
        self.database.commit()
        self.database.close()
        return self.path


def write(path: Path, version: int) -> Path:
    """The same events in each version: kernels, copies, calls and ranges, and rows that are odd."""
    profile = Profile(path, version)
    number = 0
    for step in range(40):
        number += 1
        start = EPOCH + 10_000 * step
        # Launched through the driver now and then; ended only after the next has begun.
        through_driver = step % 11 == 10
        cbid, table = (307, "DRIVER") if through_driver else (211, "RUNTIME")
        profile.call(cbid, start, 900 + step, number, table=table, thread=OTHER_THREAD if step % 5 == 4 else THREAD)
        name = [*KERNELS, *TWINS][step % (len(KERNELS) + len(TWINS))]
        second = step % 3 == 2
        place = {"deviceId": 1, "contextId": 2, "streamId": 14} if second else {}
        profile.kernel(name, start + 2_000, 9_000 + 137 * step, number, staticSharedMemory=1024 * (step % 3), **place)
    for step in range(12):
        number += 1
        start = EPOCH + 7_000 + 20_000 * step
        profile.call(41, start, 700, number)
        kind = {"copyKind": 1 + step % 2, "srcKind": 2, "dstKind": 3}
        times = {"start": start + 800, "end": start + 1_900 + step}
        where = {"deviceId": 0, "contextId": 1, "streamId": 7, "correlationId": number}
        profile.add("MEMCPY", **kind, bytes=4096 * (step + 1), **times, **where)
    where = {"deviceId": 0, "contextId": 1, "streamId": 7}
    peers = {"srcDeviceId": 0, "srcContextId": 1, "dstDeviceId": 1, "dstContextId": 2}
    profile.add(
        "MEMCPY2", copyKind=10, bytes=999, start=EPOCH + 31, end=EPOCH + 131, **where, **peers, correlationId=900
    )
    profile.add("MEMSET", bytes=64, start=EPOCH + 32, end=EPOCH + 99, **where, correlationId=901, memoryKind=3)
    _add_odd_rows(profile)
    _add_ranges(profile)
    profile.add("OVERHEAD", overheadKind=1, objectKind=1, start=EPOCH + 1, end=EPOCH + 5)
    return profile.save()


def write_metrics(path: Path) -> Path:
    """Two kernels on their own, each run a few times while an event and two metrics were measured."""
    profile = Profile(path, 18)
    profile.database.executescript(
        """CREATE TABLE CUPTI_ACTIVITY_KIND_METRIC (_id_ INTEGER PRIMARY KEY, id INT, value BLOB, correlationId INT,
            flags INT);
        CREATE TABLE CUPTI_ACTIVITY_KIND_EVENT (_id_ INTEGER PRIMARY KEY, id INT, value INT, domain INT,
            correlationId INT);"""
    )
    insert = "INSERT INTO CUPTI_ACTIVITY_KIND_"
    for number in range(1, 8):
        profile.kernel(KERNELS[2 + number % 2], EPOCH + 1000 * number, 100, number, table="KERNEL", completed=0)
        # The numbers of achieved_occupancy, stall_other and active_cycles.
        for metric in (1205, 1280):
            value = struct.pack("<d", number / 8)
            profile.database.execute(f"{insert}METRIC VALUES (NULL, ?, ?, ?, 0)", [metric, value, number])
        profile.database.execute(f"{insert}EVENT VALUES (NULL, 83886182, ?, 0, ?)", [16 * number, number])
    return profile.save()


def write_ranges(path: Path, choose: random.Random) -> Path:
    """Ranges that overlap and nest on two threads and in two domains, as they may, and kernels launched in them."""
    profile = Profile(path, 18)
    for number in range(1, 61):
        called = EPOCH + choose.randrange(100)
        profile.call(211, called, choose.randrange(30), number, thread=choose.choice((THREAD, OTHER_THREAD)))
        profile.kernel(choose.choice(KERNELS), EPOCH + choose.randrange(500), 1 + choose.randrange(50), number)
    for number in range(1, 25):
        start = choose.randrange(100)
        edges = [(2, EPOCH + start, f"range {choose.randrange(5)}"), (4, EPOCH + start + choose.randrange(1, 40), None)]
        domain = choose.choice(("", DOMAIN))
        if choose.random() < 0.2:
            edges.pop()
        for flags, time, name in choose.sample(edges, len(edges)):
            profile.mark(flags, time, number, name, choose.choice((THREAD, OTHER_THREAD)), domain)
    return profile.save()


#: The rows of `write` that nvprof leaves out, by our reasons.
SKIPPED = {
    "an end that is not after the start": 2,
    "no start: the buffer of the device was full": 1,
    "an end before the start": 1,
    "range without an end": 1,
}


def _add_odd_rows(profile: Profile) -> None:
    # No call launched it; a call that failed; a call that took no time; a function that nobody knows.
    profile.kernel("lonely", EPOCH + 500, 333, 9_999)
    profile.call(20, EPOCH + 10, 40, 8_000, returnValue=2)
    profile.call(165, EPOCH + 60, 0, 8_001)
    profile.kernel("one at a time", EPOCH + 450_000, 77, 8_010, table="KERNEL")
    # Those are left out.
    profile.kernel("lonely", EPOCH + 500, 0, 8_002)
    profile.kernel("lonely", EPOCH + 500, -100, 8_003)
    profile.kernel("lonely", 0, EPOCH, 8_004)
    profile.call(20, EPOCH + 90, -30, 8_005)


def _add_ranges(profile: Profile) -> None:
    # Rows are not in the order of time; ends have no name; one thread may end what another has begun.
    profile.mark(4, EPOCH + 399_000, 1, None)
    profile.mark(2, EPOCH - 10, 1, RANGES[0])
    for step in range(3):
        profile.mark(2, EPOCH + 100_000 * step, 10 + step, RANGES[1], domain=DOMAIN)
        profile.mark(4, EPOCH + 100_000 * step + 60_000, 10 + step, None, thread=OTHER_THREAD, domain=DOMAIN)
    profile.mark(2, EPOCH + 5_000, 20, RANGES[2])
    profile.mark(4, EPOCH + 95_000, 20, None)
    profile.mark(2, EPOCH + 95_000, 21, RANGES[3], thread=OTHER_THREAD)
    profile.mark(4, EPOCH + 195_000, 21, None, thread=OTHER_THREAD)
    profile.mark(2, EPOCH + 5_000, 30, RANGES[4])
    profile.mark(1, EPOCH + 6_000, 31, "instant")


def _columns(layout: str, version: int) -> list[tuple[str, str]]:
    columns, since = [], 0
    for word in layout.split():
        if word.startswith("@"):
            since = int(word[1:])
        elif version >= since:
            columns.append((word.rstrip("!"), "BLOB" if word.endswith("!") else "INT"))
    return columns


def _signed(number: int) -> int:
    return number - (1 << 32) if number >= 1 << 31 else number
