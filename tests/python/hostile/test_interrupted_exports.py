"""A comparison whose nsys does not end: signals end it, with nsys and its files."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import fake_tools
import pytest
from processes import AT_ONCE_S, left_of
from supervised import listening
from test_report_sources import OLD, temporary

from fastrnns_rs._core import Stop, run_command

__all__ = ["temporary"]


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP], ids=lambda one: one.name)
def test_a_comparison_ends_with_its_exports(number: signal.Signals, temporary: Path, tmp_path: Path, mark: str) -> None:
    export = f"Path(call.option('--output')).touch(); import subprocess; subprocess.run(['sleep', '{mark}'])"
    tool = fake_tools.nsys(tmp_path / "nsys", export=export)
    for name in ("a.nsys-rep", "b.nsys-rep"):
        (tmp_path / name).write_bytes(OLD + name.encode())
    words = ["compare", "a.nsys-rep", "b.nsys-rep", "--nsys-path", str(tool)]
    with subprocess.Popen(
        [sys.executable, "-m", "fastrnns_rs", *words], cwd=tmp_path, stderr=subprocess.PIPE, preexec_fn=listening
    ) as process:
        # Each report is exported on a thread of its own.
        deadline = time.monotonic() + 60
        while len([*temporary.glob("*/capture.sqlite")]) < 2:
            assert time.monotonic() < deadline
            assert process.poll() is None, process.communicate()
            time.sleep(0.02)
        process.send_signal(number)
        try:
            process.communicate(timeout=AT_ONCE_S)
        finally:
            process.kill()
    assert process.returncode == 130
    assert not left_of(mark)


def test_a_request_ends_calls_of_its_threads_alone() -> None:
    stop = Stop()
    stop.request()
    assert run_command(["true"], env={"PATH": os.defpath}).exit_status == 0
    stop.watch()
    try:
        with pytest.raises(KeyboardInterrupt):
            run_command(["sleep", "60"])
    finally:
        # The request would end all further calls of this thread.
        Stop().watch()
    assert run_command(["true"]).exit_status == 0
