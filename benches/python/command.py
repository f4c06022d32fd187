"""A command under supervision against `subprocess.run`: from its start to its end, and 100 MB of output."""

from __future__ import annotations

import os
import statistics
import subprocess
import sys

from paired import in_turn, ratio, seconds, verdict

from fastrnns_rs._core import run_command

TRUE = ["/bin/true"]
BYTES = 100_000_000
FLOOD = ["head", "-c", str(BYTES), "/dev/zero"]
#: Prints by how many MiB its memory had grown at most while a command ran.
PEAK = """
import subprocess, sys
from fastrnns_rs._core import run_command
def peak():
    with open("/proc/self/status") as file:
        return next(int(line.split()[1]) for line in file if line.startswith("VmHWM"))
def ours(argv):
    run_command(argv)
def theirs(argv):
    subprocess.run(argv, capture_output=True, check=True)
call = globals()[sys.argv[1]]
call(["/bin/true"])
before = peak()
call(sys.argv[2:])
print((peak() - before) / 1024)
"""


def ours(argv: list[str]) -> None:
    if run_command(argv).exit_status != 0:
        raise RuntimeError(argv)


def theirs(argv: list[str]) -> None:
    subprocess.run(argv, capture_output=True, check=True)


def spawn() -> None:
    """The floor: what the kernel takes, without output and without supervision."""
    os.waitpid(os.posix_spawn(TRUE[0], TRUE, os.environ), 0)


def drain() -> None:
    """The floor: the bytes are read and forgotten."""
    with subprocess.Popen(FLOOD, stdout=subprocess.PIPE, bufsize=0, pipesize=1024 * 1024) as process:
        buffer = bytearray(256 * 1024)
        while process.stdout and process.stdout.readinto(buffer):  # type: ignore[attr-defined]
            pass


def peak(who: str) -> float:
    command = [sys.executable, "-c", PEAK, who, *FLOOD]
    return float(subprocess.run(command, capture_output=True, text=True, check=True).stdout)


def main() -> None:
    found = in_turn(
        500,
        ours=lambda: seconds(lambda: ours(TRUE)),
        theirs=lambda: seconds(lambda: theirs(TRUE)),
        floor=lambda: seconds(spawn),
    )
    for name, label in (("ours", "run_command"), ("theirs", "subprocess.run"), ("floor", "posix_spawn and wait")):
        print(f"{label} of true: {statistics.median(found[name]) * 1e3:.3f} ms")
    print(f"posix_spawn and wait / subprocess.run: {ratio(found['floor'], found['theirs']):.2f}x")
    verdict("run_command / subprocess.run of true", ratio(found["ours"], found["theirs"]), 1.2)

    found = in_turn(
        20,
        ours=lambda: seconds(lambda: ours(FLOOD)),
        theirs=lambda: seconds(lambda: theirs(FLOOD)),
        floor=lambda: seconds(drain),
    )
    for name, label in (("ours", "run_command"), ("theirs", "subprocess.run"), ("floor", "read and forgotten")):
        print(f"{label} of 100 MB: {BYTES / 1e9 / statistics.median(found[name]):.2f} GB/s")
    print(f"speed of reading and forgetting / of subprocess.run: {ratio(found['theirs'], found['floor']):.2f}x")
    verdict("speed of run_command / of subprocess.run", ratio(found["theirs"], found["ours"]), 0.8, at_most=False)
    print(f"peak memory of 100 MB: run_command {peak('ours'):.1f} MiB, subprocess.run {peak('theirs'):.1f} MiB")


if __name__ == "__main__":
    main()
