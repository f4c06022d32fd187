"""Captures with the real nsys, on a machine without a GPU."""

from __future__ import annotations

import hashlib
import json
import math
import os
import signal
import socket
import subprocess
import sys
import time
import uuid
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from conftest import Done, run_cli
from nsys_exports import found
from processes import forget_killed_nsys, left_of, marked
from profile_commands import PLANTED_RUN
from real_nsys import NSYS, check_captured, finished, nsys_is_here, of_nsys, profile, tried

import fastrnns_rs

#: They remove what a killed nsys leaves for all others, and a busy machine is what nsys fails on.
pytestmark = [nsys_is_here, pytest.mark.alone]


@pytest.fixture(autouse=True)
def _a_clean_slate() -> Iterator[None]:
    forget_killed_nsys()
    yield
    forget_killed_nsys()


QUICK = ["--quick", "--nloops", "2", "--warmup", "1", "--sleep-between-seconds", "0"]


def ranges_of(path: Path) -> Counter[str]:
    """The names of start/end ranges, read without the package's own reader."""
    rows = found(path, "SELECT text, start, end FROM NVTX_EVENTS WHERE eventType = 60")
    assert all(end > start for _, start, end in rows)
    return Counter(name for name, _, _ in rows)


def test_a_capture_holds_every_range_and_nothing_else(tmp_path: Path) -> None:
    done, out = profile(tmp_path, "--nsys", "--rnns", "jit", "py", "--quick", "--json")
    record = done.json()
    files = {one["kind"]: Path(one["path"]) for one in record["artefacts"]}
    expected = {f"{one}/{phase}/{i}": 1 for one in ("jit", "py") for phase in ("forward", "backward") for i in range(5)}
    assert ranges_of(files["nsys_sqlite"]) == expected
    summary = fastrnns_rs.read(files["nsys_sqlite"])
    assert summary.captures[0].environment.host_name == socket.gethostname()
    rows = summary.ranges
    phases = [(one, phase) for one in ("jit", "py") for phase in ("forward", "backward")]
    shown = sorted((row.name, row.runner, row.phase, row.count) for row in rows)
    assert shown == sorted((f"{one}/{phase}", one, phase, 5) for one, phase in phases)
    assert set(files) == {"nsys_sqlite", "nsys_report"}
    for one in record["artefacts"]:
        content = Path(one["path"]).read_bytes()
        assert (len(content), hashlib.sha256(content).hexdigest()) == (one["size_bytes"], one["sha256"])
    assert (record["runners"], record["phases"], record["iterations"]) == (["jit", "py"], ["forward", "backward"], 5)
    assert all(check["ok"] for check in record["checks"])
    assert {"ranges", "opens", "event_loss"} <= {check["id"] for check in record["checks"]}
    # On a busy machine five iterations may take any time.
    assert 0 < record["profiled_over_unprofiled"] < math.inf
    stem = files["nsys_sqlite"].with_suffix("")
    assert json.loads(stem.with_suffix(".json").read_text()) == record
    assert fastrnns_rs.Capture.load(stem.with_suffix(".json")).to_dict() == record
    assert "QdstrmImporter" in stem.with_suffix(".log").read_text()
    assert sorted(path.name for path in out.iterdir()) == sorted(
        f"{stem.name}{suffix}" for suffix in (".json", ".log", ".nsys-rep", ".sqlite")
    )


@pytest.mark.long("profilers")
def test_the_raw_capture_is_kept_when_asked(tmp_path: Path) -> None:
    arguments = ["--rnns", "cudnn_layernorm", *QUICK, "--no-unprofiled", "--keep", "--redact"]
    _, out = profile(tmp_path / "redacted", "--nsys", *arguments)
    # Redaction wins: nothing can be taken out of those two. A runner without a backward phase has one range less.
    assert [path.suffix for path in sorted(out.iterdir())] == [".json", ".log", ".sqlite"]
    done, out = profile(tmp_path / "kept", "--nsys", *arguments[:-1])
    kept = sorted(path.suffix for path in out.iterdir())
    assert kept == [".json", ".log", ".nsys-rep", ".qdstrm", ".sqlite"]
    assert "6 of 6 checks passed" in done.stdout
    [record] = out.glob("*.json")
    summary, _, _ = run_cli("report", record).stdout.rpartition("Next: ")
    assert summary
    assert done.stdout.endswith(summary), "the first summary is our own"


@pytest.mark.long("profilers")
def test_a_person_can_put_nsys_in_front(tmp_path: Path) -> None:
    inner = [sys.executable, "-m", "fastrnns_rs", "profile", "--internal-run", "--rnns", "cudnn", *QUICK]

    def attempt(place: Path) -> Path:
        command = [str(NSYS), "profile", "--trace=nvtx", "--sample=none", "--cpuctxsw=none", "-o", str(place / "mine")]
        done = subprocess.run([*command, *inner], capture_output=True, text=True, check=False, timeout=120)
        # What our command says, once nsys has begun it, is not nsys' doing.
        if done.returncode != 0 and "cudnn: building" not in done.stdout + done.stderr:
            raise of_nsys(command, f"exit status {done.returncode}", done.stdout, done.stderr)
        assert done.returncode == 0, done.stderr
        return finished(fastrnns_rs._core.Profiler("nsys", NSYS), place / "mine")

    expected = {f"cudnn/{phase}/{i}": 1 for phase in ("forward", "backward") for i in range(2)}
    assert ranges_of(tried(attempt, tmp_path)) == expected


#: Everything that `profile` does with nsys, around a command that starts in no time and leaves children of all kinds.
CAPTURE = """
import sys
from fastrnns_rs._core import Profiler, run_command
print("launch", flush=True)
tool, stem = Profiler("nsys", sys.argv[1]), sys.argv[2]
leave = "exec >/dev/null 2>&1; sleep 600 & setsid sleep 600 & (setsid sh -c 'trap : TERM; sleep 600; sleep 600' &)"
# nsys waits half a minute for what a command left behind: only where it is killed before.
command = ["sh", "-c", f"({leave}); sleep 60" if sys.argv[3] == "capture" else "sleep 0.2"]
print("capture", flush=True)
done = run_command(tool.wrap(command, stem, cuda=False, capture_range=False), timeout=60)
print(done.exit_status, done.stdout_tail, done.stderr_tail, flush=True)
for stage in ("import", "export"):
    print(stage, flush=True)
    run_command(tool.finish(stem), timeout=60)
print("done", flush=True)
"""
#: Seconds after the beginning of a stage.
POINTS = [
    *(("launch", 0.03 * count) for count in range(12)),
    *(("capture", 0.07 * count) for count in range(22)),
    *(("import", 0.008 * count) for count in range(8)),
    *(("export", 0.003 * count) for count in range(8)),
]


def start(tmp_path: Path, mark: str, stage: str) -> subprocess.Popen[str]:
    command = [sys.executable, "-c", CAPTURE, str(NSYS), str(tmp_path / mark), stage]
    environment = {**os.environ, "FASTRNNS_TEST_MARK": mark}
    return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, env=environment)


def reach(process: subprocess.Popen[str], stage: str) -> bool:
    return any(line.strip() == stage for line in process.stdout)


@pytest.mark.long("kills")
def test_killed_at_any_moment_it_leaves_no_process(tmp_path: Path) -> None:
    assert len(POINTS) == 50

    def left_by(point: tuple[str, float]) -> list[tuple[str, float, tuple[int, str]]] | None:
        stage, delay = point
        mark = uuid.uuid4().hex
        with start(tmp_path, mark, stage) as process:
            reached = reach(process, stage)
            time.sleep(delay)
            process.kill()
        left = [(stage, delay, one) for one in left_of(f"FASTRNNS_TEST_MARK={mark}", 2).items()]
        # An nsys that was killed beside it may have kept this one from starting.
        return left if reached else None

    left, todo = [], [*POINTS]
    for _ in range(40):
        # Several at a time: most of the time is waiting.
        batch, todo = todo[:5], todo[5:]
        with ThreadPoolExecutor(5) as pool:
            for point, still in zip(batch, pool.map(left_by, batch), strict=True):
                if still is None:
                    todo.append(point)
                else:
                    left += still
        forget_killed_nsys()
    assert not left
    assert not todo


@pytest.mark.long("kills")
def test_what_it_would_leave_is_seen_by_this_test(tmp_path: Path) -> None:
    """The count above means something: while the capture runs, nsys' agent and its children carry the mark."""

    def missed(place: Path) -> set[str]:
        mark = uuid.uuid4().hex
        expected = {"supervisor.py", "nsys profile", "--start-agent", "sleep 600"}
        with start(place, mark, "capture") as process:
            deadline = time.monotonic() + 60
            while expected and process.poll() is None and time.monotonic() < deadline:
                seen = [*marked(f"FASTRNNS_TEST_MARK={mark}").values()]
                expected = {part for part in expected if not any(part in command for command in seen)}
            if expected and process.poll() is not None:
                raise of_nsys(["nsys", "profile"], "no child that went on", process.stdout.read())
            process.kill()
        return expected

    assert not tried(missed, tmp_path)


@pytest.mark.long("kills")
@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGTERM, signal.SIGINT])
def test_the_whole_command_leaves_no_process(number: signal.Signals, tmp_path: Path) -> None:
    tried(lambda place: leaves_no_process(number, place), tmp_path)


def leaves_no_process(number: signal.Signals, tmp_path: Path) -> None:
    mark = uuid.uuid4().hex
    ready = tmp_path / "ready"
    command = [sys.executable, "-m", "fastrnns_rs", "profile", "--nsys", *PLANTED_RUN, "--rnns", "hangs"]
    environment = {**os.environ, "FASTRNNS_TEST_MARK": mark, "PLANTED_READY": str(ready)}
    with subprocess.Popen(
        [*command, "--warmup", "1", "--output-dir", str(tmp_path), "--no-unprofiled"],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env=environment,
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.default_int_handler),
    ) as process:
        # Two iterations are recorded by then.
        while not ready.exists() and process.poll() is None:
            time.sleep(0.05)
        early = process.poll()
        process.send_signal(number)
        asked = time.monotonic()
        said = process.stderr.read()
        status = process.wait(20)
    assert not left_of(f"FASTRNNS_TEST_MARK={mark}", max(0.0, asked + 2 - time.monotonic()))
    if early is not None:
        check_captured(Done(early, "", said), tmp_path)
    # nsys wrote what it had seen, and somebody says where.
    captured = [*tmp_path.glob("*.qdstrm"), *tmp_path.glob("*.nsys-rep")]
    if not captured:
        raise of_nsys(["nsys", "profile"], "no capture within the second that it had", said)
    if number != signal.SIGKILL:
        assert status == 130
        assert str(captured[0]) in said
        assert "Traceback" not in said
