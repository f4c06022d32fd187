"""Writes files to begin with: `python3 fuzz/seeds.py FOLDER` makes a folder in it for each target.

Small, since a small file is changed and read quickly, and of every form that a reader tells apart. Made up, all.
"""

from __future__ import annotations

import gzip
import json
import sqlite3
import sys
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parents[1] / "tests" / "python"))

import crowds
import nvprof_files
from kineto_traces import NAMES, annotation, by_dice, call, copy, document, fill, kernel, operator

MEBIBYTE = 1 << 20

TEXTS = [
    *NAMES,
    "_ZN2at6native4copyIfEEvPT_i",
    "std::enable_if<(8)>(0), void>::type a::operator()<int>(char const*) [clone .kd]",
    "auto f(int)::{lambda(int)#1}::operator()<(a<b>)1>(int) const",
    "=cmd() | `x` ``",
    "\x1b[31m\u202e漢字 e\u0301\n\r\t\x00\u2028",
]

ORDINARY = [
    {"ph": "M", "name": "process_name", "pid": 0, "args": {"name": "python"}},
    kernel("k", 10.5, 2),
    operator("op }, {", 1, 50),
    call(),
    copy("HtoD", 12, 3.001),
    fill(14, 1),
    kernel("k", 20, 1, **{"registers per thread": 32, "shared memory": 1024}),
]


def launched(number: int, start: float, duration: float, **more: Any) -> list[dict[str, Any]]:
    """A kernel and the call that launched it."""
    launch = call(start=start - 3)
    return [{**launch, "args": {"correlation": number}}, kernel("k", start, duration, correlation=number, **more)]


#: Kernels of cuDNN: all steps at once, and one step.
RECURRENT = ["void RNN_blockPersist_fp_LSTM<float>(int)", "void LSTM_elementWise_fp<float>(int)"]

#: Number of the last step.
LAST = 4


def steps() -> list[dict[str, Any]]:
    """Steps of a training loop: phases, a load of data and a wait; the last step is slow, and on another device too."""
    events = []
    for step in range(LAST + 1):
        start, slow = 100 * step, 60 if step == LAST else 0
        events += [
            annotation(f"ProfilerStep#{step}", start, 90 + slow),
            operator("enumerate(DataLoader)#_SingleProcessDataLoaderIter.__next__", start + 1, 8),
            annotation("forward", start + 10, 30),
            *launched(2 * step + 1, start + 15, 20),
            annotation("backward", start + 45, 40 + slow),
            *launched(2 * step + 2, start + 50, 10 + slow, stream=7 + step % 2),
            call("cudaStreamSynchronize", start + 70, 10),
        ]
    return [*events, kernel("k", 430, 9, device=1, correlation=77), annotation("outer", 0, 400, thread=101)]


def ranges() -> list[dict[str, Any]]:
    """Ranges in each other and across each other, as a joined trace draws them."""
    drawn = [("outer", 1, 40, 0), ("inner", 9, 5, 0), ("crossing", 12, 35, 2), ("## backward ##", 5, 25, 1)]
    reaches = [{"range thread": 100}, {"range reach": "process"}]
    named = {"ph": "M", "pid": 100, "tid": 0, "ts": 0}
    return [
        *({**annotation(*one), "args": reaches[one[0].startswith("#")]} for one in drawn),
        *launched(7, 20, 3),
        {**named, "name": "thread_name", "args": {"name": "ranges of thread 100"}},
        {**named, "name": "process_sort_index", "args": {"sort_index": 1}},
        {**kernel("k", 19, 6), "cat": "gpu_user_annotation", "name": "outer"},
        {"ph": "i", "name": "[memory]", "pid": 0, "tid": 0, "ts": 5, "args": {"Total Allocated": 64, "Device Id": 0}},
    ]


def networks() -> list[dict[str, Any]]:
    """Steps with phases, networks of cuDNN, a clock of the GPU that is behind, and a kernel given twice."""
    events: list[dict[str, Any]] = []
    for step in range(2):
        start, names = 100 * step, RECURRENT[step:] + RECURRENT[:step]
        events += [annotation(f"ProfilerStep#{step}", start, 90)]
        for number, phase in enumerate(("## forward ##", "## backward ##")):
            begin = start + 5 + 45 * number
            late = launched(10 * step + number + 1, begin + 9, 8)
            late[0]["ts"] = begin + 12
            late[1]["name"] = names[number]
            events += [annotation(phase, begin, 40), *late]
    twice = kernel(RECURRENT[0], 170, 9, correlation=88)
    reaches: list[dict[str, Any]] = [{"range thread": 100}, {"range reach": "process"}, {"range thread": 101}]
    events += [{**annotation("r/forward/1", 1 + 20 * place, 60), "args": one} for place, one in enumerate(reaches)]
    return [*events, twice, twice, *launched(90, 40, 70)]


def traces() -> dict[str, bytes]:
    """Texts of JSON, compressed or not."""
    compact = json.dumps(document(ORDINARY), separators=(",", ":")).encode()
    lines = (json.dumps(document([])).replace("[]", "[\n" + ",\n".join(map(json.dumps, ORDINARY)) + "\n]")).encode()
    listed = json.dumps(ORDINARY).encode()
    clock = {"baseTimeNanoseconds": 1_700_000_000_000_000_000, "displayTimeUnit": "ms", "distributedInfo": {"rank": 3}}
    deep = b'[{"a":' * 200
    # What is longer than the reader holds, which only compressed texts can be here.
    long = b'"' + b"y]{" * (2 * MEBIBYTE) + b'"'
    return {
        "compact": compact,
        "lines": lines,
        "list": listed,
        "open-list": listed[:-1] + b",\n",
        "marked": b"\xef\xbb\xbf" + lines,
        "late": json.dumps(
            {"traceEvents": ORDINARY, "schemaVersion": 1, "deviceProperties": [{"id": 0, "name": "G"}], **clock}
        ).encode(),
        "dice": json.dumps(document(by_dice(1, 12))).encode(),
        "steps": json.dumps(document(steps()), separators=(",", ":")).encode(),
        "ranges": json.dumps(document(ranges())).encode(),
        "networks": json.dumps(document(networks())).encode(),
        "amd": compact.replace(b'"gpu_memcpy"', b'"Memcpy"').replace(b"Memcpy HtoD", b"CopyHostToDevice"),
        "damaged": lines.replace(b"cudaLaunchKernel", b'fo"o').replace(b'"ph": "X"', b'"ph" X', 1),
        "names": json.dumps(document([kernel(name) for name in TEXTS])).encode(),
        "escapes": compact.replace(b'"k"', rb'"\u0041\ud83d\ude00\ud800\q\\"'),
        "numbers": compact.replace(b"10.5", b"-9223372036854775.808").replace(b"50", b"1e300").replace(b"12", b'"0.1"'),
        "deep": compact.replace(b'"python"', deep) + deep,
        "trailing": compact + b" {}",
        "no-events": b'{"schemaVersion": 1, "traceEvents": 3}',
        "lines.gz": gzip.compress(lines, mtime=0),
        "members.gz": gzip.compress(lines[:200], mtime=0) + gzip.compress(lines[200:], mtime=0),
        "cut.gz": gzip.compress(lines, mtime=0)[:-40],
        "long-event.gz": gzip.compress(lines.replace(b'"op }, {"', long), mtime=0),
        "long-member.gz": gzip.compress(lines.replace(b'"trace.json"', long), mtime=0),
        "crowd.gz": crowds.trace(1),
        "spaces.gz": gzip.compress(b"[" + b" " * (8 * MEBIBYTE) + b"{}", mtime=0),
    }


KERNELS = (
    "start, end, deviceId, contextId, streamId, globalPid, demangledName, shortName, mangledName, registersPerThread, "
    "gridX, gridY, gridZ, blockX, blockY, blockZ, staticSharedMemory, dynamicSharedMemory, graphNodeId"
)
CORE = f"""
    CREATE TABLE StringIds (id INTEGER NOT NULL PRIMARY KEY, value TEXT NOT NULL);
    INSERT INTO StringIds VALUES (1, 'void gemm<float>(int)'), (2, 'gemm'), (3, 'cudaLaunchKernel_v7000'),
        (4, '_Z4gemm');
    CREATE TABLE TARGET_INFO_GPU (vmId INTEGER NOT NULL, id INTEGER NOT NULL, name TEXT);
    INSERT INTO TARGET_INFO_GPU VALUES (281474976710656, 0, 'Example GPU');
    CREATE TABLE CUPTI_ACTIVITY_KIND_KERNEL ({KERNELS});
    INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL VALUES
        (100, 150, 0, 1, 7, 42 << 24, 1, 2, 4, 32, 4, 5, 6, 128, 1, 1, 16, 1024, NULL),
        (200, 260, 0, 1, 7, 42 << 24, 1, 2, NULL, 32, 4, 5, 6, 128, 1, 1, 16, 1024, 9);
"""
REST = """
    CREATE TABLE CUPTI_ACTIVITY_KIND_RUNTIME (start, end, eventClass, globalTid, correlationId, nameId, returnValue);
    INSERT INTO CUPTI_ACTIVITY_KIND_RUNTIME VALUES (90, 95, 0, 42 << 24, 1, 3, 0), (190, 195, 67, 42 << 24, 2, 3, 700);
    CREATE TABLE CUPTI_ACTIVITY_KIND_MEMCPY (start, end, deviceId, streamId, globalPid, bytes, copyKind);
    INSERT INTO CUPTI_ACTIVITY_KIND_MEMCPY VALUES (300, 310, 0, 7, 42 << 24, 64, 1), (300, 310, 1, 8, 42 << 24, -1, 99);
    CREATE TABLE CUPTI_ACTIVITY_KIND_MEMSET (start, end, deviceId, streamId, globalPid, bytes);
    INSERT INTO CUPTI_ACTIVITY_KIND_MEMSET VALUES (320, 321, 0, 7, 42 << 24, 1 << 40), ('', 4.5, x'00', NULL, -1, 1);
    CREATE TABLE CUPTI_ACTIVITY_KIND_GRAPH_TRACE (start, end);
    INSERT INTO CUPTI_ACTIVITY_KIND_GRAPH_TRACE VALUES (1, 2);
    CREATE TABLE META_DATA_CAPTURE (name, value);
    INSERT INTO META_DATA_CAPTURE VALUES ('PROCESS_0:CUDA_GRAPH_TRACE_OPTIONS:MODE', 'Graph');
    CREATE TABLE META_DATA_EXPORT (name, value);
    INSERT INTO META_DATA_EXPORT VALUES ('EXPORT_SCHEMA_VERSION', '3.11.0'), ('EXPORT_PRODUCT_VERSION', '2024.1.1');
    CREATE TABLE TARGET_INFO_CUDA_DEVICE (gpuId, cudaId, pid);
    INSERT INTO TARGET_INFO_CUDA_DEVICE VALUES (0, 1, 42);
"""
#: Ranges of a bench, and the launches in them; the fourth iteration is slow, and waits for a copy and another device.
STEPS = """
    CREATE TABLE StringIds (id INTEGER NOT NULL PRIMARY KEY, value TEXT NOT NULL);
    INSERT INTO StringIds VALUES (1, 'void gemm<float>(int)'), (2, 'gemm'), (3, 'cudaLaunchKernel_v7000'), (4, 'outer');
    CREATE TABLE NVTX_EVENTS
        (start, end, eventType, text, textId, globalTid, endGlobalTid, domainId, rangeId, category, color);
    CREATE TABLE CUPTI_ACTIVITY_KIND_RUNTIME (start, end, eventClass, globalTid, correlationId, nameId, returnValue);
    CREATE TABLE CUPTI_ACTIVITY_KIND_KERNEL
        (start, end, deviceId, contextId, streamId, correlationId, globalPid, demangledName, shortName, graphNodeId);
    CREATE TABLE CUPTI_ACTIVITY_KIND_MEMCPY
        (start, end, deviceId, contextId, streamId, correlationId, globalPid, bytes, copyKind);
    CREATE TABLE n AS WITH RECURSIVE n(i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i < 6) SELECT i FROM n;
    INSERT INTO NVTX_EVENTS (start, end, eventType, text, globalTid, domainId)
        SELECT 100 * i, 100 * i + 40 + 30 * (i = 3), 60, 'cudnn/forward/' || i, (42 << 24) + 1, 0 FROM n;
    INSERT INTO NVTX_EVENTS VALUES (50, 350, 59, NULL, 4, (42 << 24) + 1, (42 << 24) + 2, 0, 1, 5, 6),
        (60, NULL, 34, 'a mark', NULL, (42 << 24) + 1, NULL, 0, NULL, NULL, NULL);
    INSERT INTO NVTX_EVENTS (start, end, eventType, text, globalTid, domainId) VALUES
        (0, NULL, 75, 'a library', (42 << 24) + 1, 1), (101, NULL, 59, 'aten::to, op_id = 3', (42 << 24) + 1, 0),
        (105, 130, 59, 'aten::to, seq = 1, op_id = 4', (42 << 24) + 1, 0), (90, 115, 60, 'across', (43 << 24) + 5, 1);
    INSERT INTO CUPTI_ACTIVITY_KIND_RUNTIME SELECT 100 * i, 100 * i + 1, 0, (42 << 24) + 1, i + 1, 3, 0 FROM n;
    INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL
        SELECT 100 * i + 2, 100 * i + 12, 0, 1, 7, i + 1, 42 << 24, 1, 2, NULL FROM n;
    INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL VALUES (331, 339, 1, 1, 7, 99, 42 << 24, 1, 2, NULL);
    INSERT INTO CUPTI_ACTIVITY_KIND_MEMCPY VALUES (332, 341, 0, 1, 8, 98, 42 << 24, 64, 1);
    DROP TABLE n;
"""
#: Steps around these iterations, ranges of a thread with the name of one of a process, networks of cuDNN, a GPU whose
#: clock is behind, a kernel given twice, and messages.
NETWORKS = f"""
    INSERT INTO StringIds VALUES (5, '{RECURRENT[0]}'), (6, '{RECURRENT[1]}');
    INSERT INTO NVTX_EVENTS (start, end, eventType, text, globalTid, domainId) VALUES
        (0, 290, 59, 'ProfilerStep#0', (42 << 24) + 1, 0), (300, 690, 59, 'ProfilerStep#1', (42 << 24) + 1, 0),
        (10, 160, 59, 'cudnn/forward/9', (42 << 24) + 1, 0), (110, 310, 59, 'cudnn/forward/9', (42 << 24) + 2, 0);
    UPDATE CUPTI_ACTIVITY_KIND_KERNEL SET demangledName = 5 + rowid % 2, start = start - 9, end = end - 9;
    INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL SELECT * FROM CUPTI_ACTIVITY_KIND_KERNEL LIMIT 1;
    CREATE TABLE DIAGNOSTIC_EVENT (timestamp, text);
    INSERT INTO DIAGNOSTIC_EVENT VALUES (1, 'Not all CUDA events might have been collected.'), (2, 'Lost events: 0'),
        (3, 7);
"""
#: Enough rows for tables of several pages, pages between those too, and numbers of every length.
MANY = """
    WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 120)
    INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL (start, end, deviceId, streamId, demangledName)
    SELECT (i % 7) << i / 2, ((i % 7) << i / 2) + i, i % 3, -i, 1 + i % 9 FROM n;
"""
#: A kernel for each text, as its name in a database.
_PLACED = [(100 + place, text.encode().hex()) for place, text in enumerate(TEXTS)]
NAMED = "".join(
    f"INSERT INTO StringIds VALUES ({place}, CAST(x'{text}' AS TEXT));"
    f"INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL (start, end, demangledName) VALUES ({place}, {place} + 5, {place});"
    for place, text in _PLACED
)
NVPROF_NAMED = "".join(
    f"INSERT INTO StringTable VALUES ({place}, CAST(x'{text}' AS TEXT));"
    f"INSERT INTO CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL (start, end, name) VALUES ({place}, {place} + 5, {place});"
    for place, text in _PLACED
)
#: What somebody who wants to do harm may put in a schema, or who has another one.
HOSTILE = {
    "view": """ALTER TABLE CUPTI_ACTIVITY_KIND_KERNEL RENAME TO hidden; CREATE VIEW CUPTI_ACTIVITY_KIND_KERNEL AS
        WITH RECURSIVE n(start) AS (SELECT 1 UNION ALL SELECT start FROM n) SELECT start, start AS end FROM n;""",
    "computed": """DROP TABLE CUPTI_ACTIVITY_KIND_KERNEL; CREATE TABLE CUPTI_ACTIVITY_KIND_KERNEL (start INTEGER,
        end INTEGER AS (length(hex(zeroblob(100000000)))) VIRTUAL, deviceId INTEGER CHECK (deviceId < 1 << 40));
        INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL (start) VALUES (1);""",
    "trigger": """CREATE TRIGGER t BEFORE INSERT ON CUPTI_ACTIVITY_KIND_KERNEL BEGIN DELETE FROM StringIds; END;
        CREATE INDEX i ON CUPTI_ACTIVITY_KIND_KERNEL (start) WHERE abs(start) > 1;""",
    "no-rowid": """DROP TABLE CUPTI_ACTIVITY_KIND_KERNEL; CREATE TABLE CUPTI_ACTIVITY_KIND_KERNEL
        (start, end, deviceId, PRIMARY KEY (deviceId, end)) WITHOUT ROWID;
        INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL VALUES (1, 2, 0), (3, 5, 0);""",
    "row-number": """DROP TABLE CUPTI_ACTIVITY_KIND_KERNEL; CREATE TABLE CUPTI_ACTIVITY_KIND_KERNEL
        (end, start INTEGER PRIMARY KEY, rowid, deviceId DEFAULT 3); INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL
        VALUES (9, -1, 5, 0), (9, 7, 5, 0);""",
    "added": """ALTER TABLE CUPTI_ACTIVITY_KIND_KERNEL ADD COLUMN more INTEGER DEFAULT 9;
        ALTER TABLE CUPTI_ACTIVITY_KIND_KERNEL DROP COLUMN contextId;""",
    "no-key": """CREATE TABLE other AS SELECT * FROM StringIds; DROP TABLE StringIds;
        ALTER TABLE other RENAME TO StringIds; INSERT INTO StringIds VALUES (1, 'a second one'), ('x', 'y');""",
    "shared": """PRAGMA writable_schema = 1; INSERT INTO sqlite_master
        SELECT type, name || '_2', name || '_2', rootpage, replace(sql, 'KERNEL', 'KERNEL_2')
        FROM sqlite_master WHERE name LIKE '%KERNEL';""",
    "circle": """PRAGMA writable_schema = 1; UPDATE sqlite_master SET rootpage = 1 WHERE name = 'StringIds';
        UPDATE sqlite_master SET rootpage = 4294967296 WHERE name = 'TARGET_INFO_GPU';""",
    "long-text": """INSERT INTO StringIds VALUES (5, hex(zeroblob(2000)));
        UPDATE CUPTI_ACTIVITY_KIND_KERNEL SET demangledName = 5;""",
    "wide": f"""CREATE TABLE CUPTI_ACTIVITY_KIND_OTHER ({", ".join(f"c{column}" for column in range(300))});
        INSERT INTO CUPTI_ACTIVITY_KIND_OTHER DEFAULT VALUES;""",
    "nvprof": "CREATE TABLE StringTable (x); CREATE TABLE Version (x); DROP TABLE StringIds;",
    "no-events": "DROP TABLE CUPTI_ACTIVITY_KIND_KERNEL; DROP TABLE TARGET_INFO_GPU;",
}

#: A profile of nvprof with a row in each table that is read.
PROFILE = """
    CREATE TABLE StringTable (_id_ INTEGER PRIMARY KEY, value TEXT); CREATE TABLE Version (version INT);
    INSERT INTO Version VALUES (18); INSERT INTO StringTable VALUES (1, '_Z4axpyPKfPfif'), (2, 'r/forward/1');
    CREATE TABLE CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL (start, end, deviceId, streamId, name, correlationId, graphId);
    INSERT INTO CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL VALUES (20, 30, 0, 7, 1, 1, 0), (30, 29, 0, 7, 9, 2, 3);
    CREATE TABLE CUPTI_ACTIVITY_KIND_MEMCPY (start, end, bytes, copyKind, deviceId, streamId);
    INSERT INTO CUPTI_ACTIVITY_KIND_MEMCPY VALUES (40, 45, 64, 1, 0, 7), (40, 45, -1, 77, 1, -1);
    CREATE TABLE CUPTI_ACTIVITY_KIND_RUNTIME (cbid, start, end, processId, threadId, correlationId);
    INSERT INTO CUPTI_ACTIVITY_KIND_RUNTIME VALUES (211, 10, 12, 5, -6, 1), (-1, 10, 12, 5, 6, 2);
    CREATE TABLE CUPTI_ACTIVITY_KIND_MARKER (flags, timestamp, id, name, domain, objectKind, objectId);
    INSERT INTO CUPTI_ACTIVITY_KIND_MARKER VALUES (2, 1, 1, 2, 0, 2, x'0500000006000000'), (4, 50, 1, 0, 0, 2, x'05'),
        (2, 60, 2, 2, 0, 1, x''), (4, 3, 3, 0, 0, 0, NULL);
    CREATE TABLE CUPTI_ACTIVITY_KIND_DEVICE (id, name); INSERT INTO CUPTI_ACTIVITY_KIND_DEVICE VALUES (0, 1);
"""
#: Ranges and launches of a bench, as those of nsys.
STEPPED = """
    DELETE FROM CUPTI_ACTIVITY_KIND_MARKER; DELETE FROM CUPTI_ACTIVITY_KIND_RUNTIME;
    DELETE FROM CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL;
    CREATE TABLE n AS WITH RECURSIVE n(i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i < 6) SELECT i FROM n;
    INSERT INTO StringTable SELECT 10 + i, 'cudnn/forward/' || i FROM n;
    INSERT INTO CUPTI_ACTIVITY_KIND_MARKER SELECT 2, 100 * i, i, 10 + i, 0, 2, x'0500000006000000' FROM n;
    INSERT INTO CUPTI_ACTIVITY_KIND_MARKER
        SELECT 4, 100 * i + 40 + 30 * (i = 3), i, 0, 0, 2, x'0500000006000000' FROM n;
    INSERT INTO CUPTI_ACTIVITY_KIND_RUNTIME SELECT 211, 100 * i + 1, 100 * i + 2, 5, 6, i + 1 FROM n;
    INSERT INTO CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL SELECT 100 * i + 4, 100 * i + 20, 0, 7, 1, i + 1, 0 FROM n;
    INSERT INTO CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL VALUES (330, 350, 1, 8, 1, 99, 0);
    DROP TABLE n;
"""
#: The same, and kernels that ran one at a time.
STEPPED_NETWORKS = f"""
    INSERT INTO StringTable VALUES (30, '{RECURRENT[0]}'), (31, '{RECURRENT[1]}'), (32, 'ProfilerStep#0');
    UPDATE CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL
        SET name = 30 + rowid % 2, start = start - 9, end = end - 9, streamId = 7 + rowid % 2;
    INSERT INTO CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL SELECT * FROM CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL LIMIT 1;
    INSERT INTO CUPTI_ACTIVITY_KIND_MARKER VALUES (2, 0, 90, 32, 0, 2, x'0500000006000000'),
        (4, 290, 90, 0, 0, 2, x'0500000006000000'), (2, 10, 91, 11, 0, 1, x'05000000'),
        (4, 160, 91, 0, 0, 1, x'05000000');
    CREATE TABLE CUPTI_ACTIVITY_KIND_GRAPH_TRACE (x); INSERT INTO CUPTI_ACTIVITY_KIND_GRAPH_TRACE VALUES (1);
"""
SERIALIZED = """
    ALTER TABLE CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL RENAME TO CUPTI_ACTIVITY_KIND_KERNEL;
    DELETE FROM CUPTI_ACTIVITY_KIND_RUNTIME;
"""
#: Tables that nvprof prints.
TABLES = {
    "summary": '==1== Profiling result:\n"Type","Time(%)","Time","Calls","Avg","Min","Max","Name"\n,%,ms,,us,us,us,\n'
    '"GPU activities",100.0,0.006,2,3.0,1.0,5,"a "b", c"\n"API calls",100.0,1e-3,1,1,1,1,"cudaMalloc"\n',
    "trace": '"Start","Duration","Grid X","Grid Y","Grid Z","Size","Device","Stream","Name","Correlation_ID"\n'
    's,us,,,,MB,,,,\n0,2.5,1,2,3,,"G (0)","7","k [3]",9\n1,2,,,,0.5,"G (0)","7","[CUDA memcpy HtoD]",\n',
    "metrics": '"Device","Kernel","Invocations","Metric Name","Metric Description","Min","Max","Avg"\n'
    '"G (0)","k<"a",1>",3,"ipc","Executed IPC",1.0%,"Low (2)",3GB/s\n',
    "launches": '"Device","Context","Stream","Kernel","Correlation_ID","ipc","hits"\n,,,,,,%\n'
    '"G (0)","1","7","k<"a",1>",3,1.5,20.0\n"G (0)","1","7","k<"a",1>",4,-1e308,<OVERFLOW>\n',
    "devices": "======== Warning: Found 3 invalid records in the result.\n======== Profiling result:\n\n"
    + "\n".join(
        f'======== Device "G ({number})"\n"Type","Time(%)","Time","Calls","Avg","Min","Max","Name"\n,%,ns,,ns,ns,ns,\n'
        f'"GPU activities",60,600,2,300,1,599,"_ZN4demo3gpu6reduceIdLi256EEEvPKT_PS{number}_m"\n'
        '"GPU activities",40,400,1,400,400,400,"[CUDA memset]"\n'
        for number in range(2)
    ),
    "processes": "".join(
        f'=={process}== Profiling result:\n"Start","Duration","Device","Stream","Name","Correlation_ID"\nms,us,,,,\n'
        f'1.5,1000,"G (0)","7","k{process}",1\n3,9,"G (0)","7","k{process}",2\n\n'
        for process in (100, 200, 100)
    ),
    "copies": '==1== Profiling result:\n"Start","Duration","Size","Throughput","Device","Context","Stream","Name"\n'
    'ns,ns,B,B/s,,,,\n0,106,3868,4970,"G (0)","1","7","[CUDA memcpy HtoD]"\n9,5,,,"G (0)","1","7","k<int=2>(float*)"\n',
    "calls": "==7== NVPROF is profiling process 7, command: ./a\n==7== Profiling result:\n"
    '"Time(%)","Time","Calls (host)","Calls (device)","Avg","Min","Max","Name"\n%,ms,,,us,us,us,\n'
    '60,6e-3,2,1,2,1,3,"k"\nbroken,row\n\n==7== API calls:\n"Time(%)","Time","Calls","Avg","Min","Max","Name"\n'
    '%,ms,,us,us,us,\n100,1.5,3,500,500,500,"cudaMalloc"\n',
    "events": '==1== Event result:\n"Device","Kernel","Invocations","Event Name","Min","Max","Avg","Total"\n'
    '"G (0)","k",4,"active_cycles",16,112,64,256\n\n==1== Metric result:\n'
    '"Device","Kernel","Invocations","Metric Name","Metric Description","Min","Max","Avg"\n'
    '"G (0)","k",4,"ipc","IPC",0.125%,0.875%,0.5%\n',
    "units": "==1== Warning: 5 records have invalid timestamps due to insufficient device buffer space.\n"
    '==1== Metric result:\n"Device","Kernel","Invocations","Metric Name","Metric Description","Min","Max","Avg"\n'
    '"G (0)","k",2,"read","R",900.0MB/s,2.0TB/s,1.0GB/s\n"G (0)","k",2,"size","S",1KB,2.0%,3\n\n'
    '==1== Profiling result:\n"Device","Context","Stream","Kernel","read"\n,,,,KB/s\n'
    '"G (0)","1","7","k",512.0KB/s\n"G (0)","1","7","k",1.5MB/s\n"G (0)","1","7","k",2.0%\n',
    "page": "\n<!DOCTYPE html>\n<html><head><title>Sign in</title></head></html>",
    "text": "==1== Profiling result:\n   Type  Time(%)  Time  Calls  Avg  Min  Max  Name\n"
    " GPU activities:  99.00%  2.5us  2  1.2us  1ns  2.4us  f(int)\n                1.00%  2ns  1  2ns  2ns  2ns  g\n",
}


def database(path: Path, *statements: str, encoding: str = "UTF-8") -> None:
    """Writes a database of small pages, so that it has many for its size."""
    path.unlink(missing_ok=True)
    connection = sqlite3.connect(path, isolation_level=None)
    connection.executescript(f"PRAGMA page_size = 512; PRAGMA encoding = '{encoding}';")
    for statement in statements:
        connection.executescript(statement)
    connection.close()


def main(folder: Path) -> None:
    """Writes them all."""
    for name in ("kineto", "nsys_sqlite", "nvprof_sqlite", "nvprof_csv", "names"):
        (folder / name).mkdir(parents=True, exist_ok=True)
    for name, content in traces().items():
        (folder / "kineto" / name).write_bytes(content)
    exports = folder / "nsys_sqlite"
    database(exports / "core", CORE)
    database(exports / "whole", CORE, REST)
    database(exports / "many", CORE, MANY)
    database(exports / "steps", STEPS)
    database(exports / "networks", STEPS, NETWORKS)
    database(exports / "names", CORE, NAMED)
    database(exports / "crowd", crowds.export(1))
    database(exports / "wide-text", CORE, encoding="UTF-16le")
    for name, statements in HOSTILE.items():
        database(exports / name, CORE, statements)
    nvprof_files.write(folder / "nvprof_sqlite" / "made", 11)
    database(folder / "nvprof_sqlite" / "small", PROFILE)
    database(folder / "nvprof_sqlite" / "steps", PROFILE, STEPPED)
    database(folder / "nvprof_sqlite" / "networks", PROFILE, STEPPED, STEPPED_NETWORKS)
    database(folder / "nvprof_sqlite" / "names", PROFILE, NVPROF_NAMED)
    database(folder / "nvprof_sqlite" / "crowd", crowds.profile(1))
    database(folder / "nvprof_sqlite" / "serialized", PROFILE, SERIALIZED)
    for name, table in {**TABLES, "crowd": crowds.rows(1), "totals": crowds.totals()}.items():
        (folder / "nvprof_csv" / name).write_text(table)
    for place, text in enumerate(TEXTS):
        (folder / "names" / str(place)).write_text(text)


if __name__ == "__main__":
    main(Path(sys.argv[1]))
