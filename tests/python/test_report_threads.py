"""Long traces, which are read on several threads: the same comes out however they are read, and on one thread."""

from __future__ import annotations

import gzip
import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

import kineto_reference as reference
import pytest
from kineto_traces import by_dice, document, write

import fastrnns_rs

#: Reads where no thread may be started. What it needs is imported before: it may lose the right to read it.
ALONE = """
import json, os, resource, sys, threading
import fastrnns_rs
fastrnns_rs.read(sys.argv[1])
resource.setrlimit(resource.RLIMIT_NPROC, (0, 0))
if os.geteuid() == 0:
    os.setuid(65534)
try:
    threading.Thread(target=print).start()
except RuntimeError:
    for path in sys.argv[1:]:
        print(json.dumps(fastrnns_rs.read(path).to_dict()))
"""


@pytest.fixture(scope="module")
def long_trace(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Some 20 MB, of which each thread takes several pieces. Lists in arguments look like events."""
    events = by_dice(11, 50_000)
    for event in events[::7]:
        event["args"]["list"] = [{"name": "a", "x": 1}, {"name": "b"}]
    return write(tmp_path_factory.mktemp("long") / "long.json", json.dumps(document(events), indent=2))


def figures(path: Path) -> dict[str, Any]:
    plain = fastrnns_rs.read(path).to_dict()
    return without_file(plain)


def without_file(plain: dict[str, Any]) -> dict[str, Any]:
    for capture in plain["captures"]:
        for key in ("path", "size_bytes", "sha256"):
            del capture[key]
    return plain


def test_pieces_and_streams_are_read_alike(long_trace: Path, tmp_path: Path) -> None:
    assert long_trace.stat().st_size > 10 * 2**20
    packed = tmp_path / "long.json.gz"
    packed.write_bytes(gzip.compress(long_trace.read_bytes(), 1))
    found, expected = figures(long_trace), reference.summarize(long_trace)
    assert found == figures(packed)
    assert found["captures"][0]["events_read"] == expected["events"]
    assert {row["device_id"] for row in found["devices"]} == set(expected["devices"])


@pytest.mark.skipif(not hasattr(os, "setuid"), reason="limits of processes are Unix's")
def test_one_thread_does_where_no_more_may_be_had(long_trace: Path) -> None:
    # In no folder of pytest's, which nobody else may enter.
    with tempfile.TemporaryDirectory() as folder:
        Path(folder).chmod(0o755)
        plain, packed = Path(folder, "x.json"), Path(folder, "x.json.gz")
        plain.write_bytes(long_trace.read_bytes())
        packed.write_bytes(gzip.compress(long_trace.read_bytes(), 1))
        argv = [sys.executable, "-c", ALONE, plain, packed]
        done = subprocess.run(argv, capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == 0, done.stderr
    if not done.stdout:
        pytest.skip("this system gives threads to whom the limit refuses them")
    found = [without_file(json.loads(line)) for line in done.stdout.splitlines()]
    assert found == [figures(long_trace)] * 2
