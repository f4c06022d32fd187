"""Traces as bytes, and reading on a Ray cluster: what comes of it is what reading here gives.

The cluster is one of this machine, and is there for these tests alone. Without Ray they are skipped by name.
"""

from __future__ import annotations

import os
import pickle
import shutil
import socket
import subprocess
import sys
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path

import pytest
from conftest import run_cli
from kineto_traces import by_dice, document, write
from test_report_ranks import job, mixed

import fastrnns_rs
from fastrnns_rs import FastrnnsError
from fastrnns_rs._core import Trace

needs_ray = pytest.mark.skipif(find_spec("ray") is None, reason="Ray is not installed: pip install 'fastrnns-rs[ray]'")


def named(paths: list[Path]) -> list[tuple[str, str]]:
    return [(str(path), str(path)) for path in paths]


def test_a_trace_comes_back_from_its_bytes(tmp_path: Path) -> None:
    trace = Trace(named(mixed(tmp_path)))
    expected = trace.summarize().to_json()
    assert Trace.from_bytes(trace.to_bytes()).summarize().to_json() == expected
    assert pickle.loads(pickle.dumps(trace)).summarize().to_json() == expected


@pytest.mark.parametrize("size", [1, 2, 3, 100])
def test_shares_joined_are_the_whole(size: int, tmp_path: Path) -> None:
    """In any grouping, to the last bit: medians and percentiles are those of all, not of what shares had."""
    files = named(mixed(tmp_path))
    parts = (Trace(files[at : at + size], first=at).to_bytes() for at in range(0, len(files), size))
    assert Trace.joined(parts).summarize().to_json() == Trace(files).summarize().to_json()


def test_files_that_are_none_are_told_of_together(tmp_path: Path) -> None:
    text = write(tmp_path / "notes.txt", "no capture")
    files = named([*job(tmp_path, [1, 2]), text, text])
    whole = Trace(files, optional=[True] * 4)
    parts = [Trace([file], optional=[True], first=at).to_bytes() for at, file in enumerate(files)]
    joined = Trace.joined(parts)
    assert (joined.capture_count, joined.left_out) == (2, whole.left_out)
    assert [path for path, _ in joined.left_out] == [str(text)] * 2
    assert joined.summarize().to_json() == whole.summarize().to_json()


def test_bytes_are_not_trusted(tmp_path: Path) -> None:
    content = Trace(named(job(tmp_path, [1]))).to_bytes()
    head = content.index(b"\n") + 1
    for bad in (b"", b"x", content[:-1], content + b"\0", b"fastrnns-rs trace 0.0.0\n" + content[head:]):
        with pytest.raises(ValueError, match="not a packed trace"):
            Trace.from_bytes(bad)
        with pytest.raises(ValueError, match="not a packed trace"):
            Trace.joined([content, bad])
    with pytest.raises(TypeError):
        Trace.joined(["text"])


def test_without_ray_one_line_says_so(tmp_path: Path) -> None:
    (tmp_path / "ray.py").write_text("raise ImportError('none')")
    path = write(tmp_path / "x.json", document(by_dice(0)))
    variables = {"PYTHONPATH": os.pathsep.join([str(tmp_path), os.environ.get("PYTHONPATH", "")])}
    done = run_cli("report", path, "--workers", "ray", **variables)
    assert (done.status, done.stdout) == (5, "")
    error, hint = done.stderr.splitlines()
    assert error.startswith("error: ")
    assert "'ray' (--workers)" in error
    assert "fastrnns-rs[ray]" in hint


@pytest.fixture(scope="module")
def cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The address of a cluster of one node with two cores, whose workers find what this process finds."""
    program = [sys.executable, "-m", "ray.scripts.scripts"]
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    # Sockets lie there, and their names must be short.
    folder = Path("/tmp") / f"fastrnns-ray-{os.getpid()}"
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path), "RAY_USAGE_STATS_ENABLED": "0"}
    command = [*program, "start", "--head", "--block", f"--port={port}", "--num-cpus=2", "--include-dashboard=false"]
    command += [f"--temp-dir={folder}", "--object-store-memory=100000000", "--node-ip-address=127.0.0.1"]
    log = tmp_path_factory.mktemp("ray") / "log"
    with log.open("wb") as output:
        node = subprocess.Popen(command, env=environment, stdout=output, stderr=output)
    try:
        address = f"127.0.0.1:{port}"
        wait = [*program, "health-check", "--address", address]
        for _ in range(60):
            assert node.poll() is None, log.read_text()
            if subprocess.run(wait, env=environment, capture_output=True, check=False).returncode == 0:
                break
        yield address
    finally:
        node.terminate()
        node.wait(60)
        shutil.rmtree(folder, ignore_errors=True)


@needs_ray
def test_a_cluster_reads_what_this_machine_reads(cluster: str, tmp_path: Path) -> None:
    folder = tmp_path / "job"
    folder.mkdir()
    mixed(folder)
    job(folder, [100 + seed for seed in range(20)])
    (folder / "notes.txt").write_text("what I did")
    here = run_cli("report", folder, "--json")
    there = run_cli("report", folder, "--json", "--workers", "ray", RAY_ADDRESS=cluster)
    assert (there.status, there.stdout) == (0, here.stdout), there.stderr
    assert there.stderr == here.stderr
    # The first file in the order in which they were given is named, whoever met it.
    bad = [write(folder / f"bad{number}.txt", "no capture") for number in range(2)]
    done = run_cli("report", folder / "0.json", *bad, "--workers", "ray", RAY_ADDRESS=cluster)
    assert (done.status, done.stdout) == (1, "")
    assert done.stderr == run_cli("report", folder / "0.json", *bad).stderr
    assert "bad0.txt" in done.stderr


@needs_ray
def test_no_cluster_is_one_line(tmp_path: Path) -> None:
    path = write(tmp_path / "x.json", document(by_dice(0)))
    done = run_cli("report", path, "--workers", "ray", RAY_ADDRESS="127.0.0.1:1")
    assert (done.status, done.stdout) == (5, ""), done
    error, hint = done.stderr.splitlines()
    assert error.startswith("error: no Ray cluster answers at 127.0.0.1:1")
    assert "ray start --head" in hint


@needs_ray
def test_reports_of_nsys_are_not_sent_away(tmp_path: Path) -> None:
    path = tmp_path / "x.nsys-rep"
    path.write_bytes(b"NVIDIA Tegra Profiler Report 1.\n")
    with pytest.raises(FastrnnsError):
        fastrnns_rs.read(path, workers="ray")
