"""Ctrl-C while a profiler is asked for its version, and it does not answer."""

from __future__ import annotations

import signal
import subprocess
import sys
import time
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path

ASK = 'import sys; from fastrnns_rs._core import Profiler; Profiler("nsys", sys.argv[1])'


def test_a_profiler_that_does_not_answer_need_not_be_waited_for(tmp_path: Path) -> None:
    program, asked = tmp_path / "nsys", tmp_path / "asked"
    program.write_text(f"#!/bin/sh\ntouch '{asked}'\nexec sleep 60\n")
    program.chmod(0o755)
    with subprocess.Popen([sys.executable, "-c", ASK, str(program)], stderr=subprocess.PIPE, text=True) as process:
        deadline = time.monotonic() + 30
        while not asked.exists() and time.monotonic() < deadline:
            time.sleep(0.01)
        begin = time.monotonic()
        process.send_signal(signal.SIGINT)
        _, said = process.communicate(timeout=30)
    # Unasked, it gives up after twenty seconds.
    assert time.monotonic() - begin < 10
    assert said.splitlines()[-1] == "KeyboardInterrupt"
