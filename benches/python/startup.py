"""Start of commands, and the first screen of `bench`, compared with an interpreter that does nothing."""

from __future__ import annotations

import contextlib
import os
import pty
import signal
import statistics
import subprocess
import sys
import time
from pathlib import Path

from paired import in_turn, ratio, seconds, verdict

COMMAND = Path(sys.executable).with_name("fastrnns-rs")


def run(*command: str | Path) -> None:
    subprocess.run([str(part) for part in command], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=True)


def first_frame() -> float:
    """Seconds from the start of `bench` until its terminal has the first screen."""
    begin = time.perf_counter()
    process, terminal = pty.fork()
    if not process:
        os.execv(COMMAND, [str(COMMAND), "bench", "cudnn", "--device", "cpu", "--history", os.devnull])  # noqa: S606  # the terminal is the process's own
    received = b""
    while b"importing torch" not in received:
        received += os.read(terminal, 65536)
    found = time.perf_counter() - begin
    os.kill(process, signal.SIGINT)
    # A terminal without programs raises an error.
    with contextlib.suppress(OSError):
        while os.read(terminal, 65536):
            pass
    os.close(terminal)
    os.waitpid(process, 0)
    return found


def main() -> None:
    found = in_turn(
        40,
        nothing=lambda: seconds(lambda: run(sys.executable, "-c", "pass")),
        help=lambda: seconds(lambda: run(COMMAND, "--help")),
        list=lambda: seconds(lambda: run(COMMAND, "list")),
        frame=first_frame,
    )
    labels = {"nothing": "python -c pass", "help": "fastrnns-rs --help", "list": "fastrnns-rs list"}
    for name, label in {**labels, "frame": "first screen of fastrnns-rs bench"}.items():
        print(f"{label}: {statistics.median(found[name]) * 1e3:.1f} ms")
    verdict("--help / python -c pass", ratio(found["help"], found["nothing"]), 6)
    verdict("list / python -c pass", ratio(found["list"], found["nothing"]), 9)
    verdict("first screen of bench / python -c pass", ratio(found["frame"], found["nothing"]), 14)


if __name__ == "__main__":
    main()
