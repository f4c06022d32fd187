"""`fastrnns-rs bench` on emulated devices."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from commands import Done, run_process
from emulated_cuda.machine import CallLog, Machine, logs

RUNNERS = Path(__file__).parent / "device_runners.py"
FEW = ("--processes", "1", "--warmup", "2", "--nloops", "5", "--seqLength", "3", "--order-seed", "1")


@dataclass(frozen=True)
class Measured:
    """The output of a command, its run file and the logs of its processes."""

    done: Done
    run: dict[str, Any]
    logs: list[CallLog]

    def result(self, runner: str) -> dict[str, Any]:
        """Returns the row of a runner."""
        [row] = [one for one in self.run["results"] if one["runner"] == runner]
        return row

    def process(self, runner: str) -> dict[str, Any]:
        """Returns its only process."""
        [process] = self.result(runner)["processes"]
        return process

    def log_of(self, runner: str) -> CallLog:
        """Returns the log of its worker: logs and processes are in the order in which they began."""
        measured = sorted((one["processes"][0]["order"], one["runner"]) for one in self.run["results"])
        workers = [one for one in self.logs if one.marks()]
        return workers[[name for _, name in measured].index(runner)]


def bench(
    folder: Path,
    *arguments: object,
    machine: Machine | None = None,
    status: int = 0,
    timeout_s: float = 600,
    **variables: str | Path,
) -> Measured:
    """Runs `bench` with few iterations in one process of each runner.

    Args:
        folder: Where the logs go.
        arguments: Runners, then options.
        machine: Emulated devices; None for one device on the virtual clock.
        status: The exit status that it has to have.
        timeout_s: Time limit in seconds.
        variables: Of the environment.
    """
    names = [one for one in arguments if not str(one).startswith("-")]
    names = names[: next((at for at, one in enumerate(arguments) if str(one).startswith("-")), len(names))]
    words = (
        "--runner-file",
        RUNNERS,
        "--group",
        "rnns",
        "--rnns",
        *names,
        "--device",
        "cuda",
        *arguments[len(names) :],
    )
    done = run_on(folder, "bench", *FEW, *words, "--json", machine=machine, timeout_s=timeout_s, **variables)
    assert done.status == status, done.stderr
    return Measured(done, done.json(), [*logs(folder)])


def run_on(
    folder: Path,
    *arguments: object,
    machine: Machine | None = None,
    timeout_s: float = 600,
    **variables: str | Path,
) -> Done:
    """Runs any command."""
    environment = (machine or Machine()).environment(folder)
    return run_process(*arguments, timeout_s=timeout_s, **environment, **variables)


def verified(folder: Path, *arguments: object, machine: Machine | None = None, status: int = 0) -> dict[str, Any]:
    """Runs `verify` on a device that computes, and returns its rows by runner.

    Args:
        folder: Where the logs go.
        arguments: Runners, then options.
        machine: Other devices.
        status: The exit status that it has to have.
    """
    words = ("verify", *arguments, "--device", "cuda", "--seqLength", "4", "--json")
    done = run_on(folder, *words, machine=machine or Machine(arithmetic=True))
    assert done.status == status, done.stderr
    return {row["runner"]: row for row in done.json()["results"]}
