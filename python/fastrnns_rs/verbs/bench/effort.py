"""Amount of measurements: processes, time per process, stop rule and CPUs."""

from __future__ import annotations

import math
import os
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Literal

from fastrnns_rs.errors import UsageError, exclusive
from fastrnns_rs.problem.loop import Loop
from fastrnns_rs.problem.problem import check_count, check_device

#: Default time limit of a run with the stop rule precision.
DEFAULT_LIMIT_S = 600.0
_SECONDS = {"ms": 0.001, "s": 1.0, "m": 60.0, "h": 3600.0}
_HINT = "Use precision:1%, precision:1%:20m, time:30s or count:100."
#: A half width as large as the estimate is not a target; a process cannot run for a year.
_LARGEST = {"precision": 1.0, "time": 3.2e7}


@dataclass(frozen=True, slots=True, kw_only=True)
class StopRule:
    """Stop rule of a run.

    Attributes:
        rule: `count`, `time`, `precision` or `decided`.
        value: Timed iterations of a process (`count`); measuring time of all processes of a runner together, in seconds
            (`time`); relative half width of a runner's interval (`precision`); or largest number of pairs (`decided`).
        limit_s: Time limit of a run by precision, in seconds.
    """

    rule: Literal["count", "time", "precision", "decided"]
    value: float
    limit_s: float = DEFAULT_LIMIT_S


def parse_rule(text: str) -> StopRule:
    """Parses `precision:1%`, `precision:0.5%:20m`, `time:30s` or `count:100`.

    Raises:
        UsageError: If the text has another form.
    """
    rule, _, rest = text.strip().partition(":")
    value, _, limit = rest.partition(":")
    wrong = UsageError(f"invalid value: {text!r}", _HINT, where="stop", value=text)
    if (limit and rule != "precision") or rest.endswith(":"):
        raise wrong
    if rule == "count" and re.fullmatch(r"[1-9]\d{0,9}", value):
        return StopRule(rule="count", value=int(value))
    if rule == "time":
        return StopRule(rule="time", value=_seconds(value, wrong))
    if rule == "precision":
        number, is_percent = value.removesuffix("%"), value.endswith("%")
        target = _positive(number, wrong) / (100 if is_percent else 1)
        if not 0 < target < _LARGEST["precision"]:
            raise wrong
        return StopRule(rule="precision", value=target, limit_s=_seconds(limit, wrong) if limit else DEFAULT_LIMIT_S)
    raise wrong


def _seconds(text: str, wrong: UsageError) -> float:
    found = re.fullmatch(r"([0-9.]+)(ms|s|m|h)", text)
    if not found:
        raise wrong
    seconds = _positive(found[1], wrong) * _SECONDS[found[2]]
    if not 0 < seconds < _LARGEST["time"]:
        raise wrong
    return seconds


def _positive(text: str, wrong: UsageError) -> float:
    try:
        value = float(text)
    except ValueError:
        raise wrong from None
    if not (math.isfinite(value) and value > 0):
        raise wrong
    return value


RIGOROUS_PROCESSES = 20
#: A larger number is a mistake: the run would take days at least.
MOST_PROCESSES = 100_000
MOST_SESSIONS = 1000
#: Interval in which conditions shared by a session, such as temperature and other tenants, can change.
DEFAULT_EVERY = "10m"
#: Minimum number of processes for an interval that can stop a run.
LEAST_FOR_PRECISION = 5
#: Approximate time limit of a default run on a CPU.
_DEFAULT_RUN_S = 600.0
_LEAST_SIDE_BY_SIDE = 2
_LEAST_SECONDS = 0.5
#: Maximum number of iterations if only time ends a process: enough for any phase, and limits the size of the file.
_MOST_BY_TIME = 50_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Effort:
    """Requested amount of measurements.

    Attributes:
        processes: Number of fresh processes of each runner in each session; None for the preset's.
        rigorous: Use many processes.
        stop: Stop rule, in the syntax of `parse_rule`; None for the preset's.
        affinity: CPUs that workers may use, such as `0,2-3`; None for no restriction.
        order_seed: Seed of the order of processes; None for a random seed.
        devices: Devices, if each runner runs on several; otherwise None.
        side_by_side: True if the devices measure at the same time, False if one after the other.
        sessions: Number of sessions.
        every: Time from the start of one session to the start of the next, such as `20m`; None for 10 minutes.
        live: Keep both processes of a pair of `ab` alive, and measure them alternately.
        until_decided: Stop as soon as every row of an `ab` has a verdict; `processes` is then the largest number.
    """

    processes: int | None = None
    rigorous: bool = False
    stop: str | None = None
    affinity: str | None = None
    order_seed: int | None = None
    devices: Sequence[str] | None = None
    side_by_side: bool = False
    sessions: int = 1
    every: str | None = None
    until_decided: bool = False
    live: bool = False

    def __post_init__(self) -> None:
        check_count("sessions", self.sessions, least=1, most=MOST_SESSIONS)
        self.every_s()
        if self.every is not None and self.sessions == 1:
            raise UsageError("`every` needs 2 sessions or more", "Add `sessions=3`.")
        check_count("processes", self.processes, least=1, most=MOST_PROCESSES)
        check_count("order_seed", self.order_seed, least=0, most=(1 << 32) - 1)
        if self.stop is not None and not isinstance(self.stop, str):
            raise UsageError(f"invalid value: {self.stop!r}", _HINT, where="stop", value=self.stop)
        if self.sessions > 1 and (self.stop or "").strip().startswith("precision"):
            message = "`sessions` needs a fixed number of processes, and `stop=precision` decides the number"
            raise UsageError(message, "Use `processes` in place of `stop`.")
        if self.devices is not None:
            _check_devices(self.devices)
        if self.side_by_side and len(self.devices or ()) < _LEAST_SIDE_BY_SIDE:
            raise UsageError("`side_by_side` needs 2 devices or more", "Add `devices=cuda:0,cuda:1`.")

    def rule(self) -> StopRule | None:
        """Returns the requested stop rule.

        Raises:
            UsageError: If the rule is invalid.
        """
        if self.until_decided:
            return StopRule(rule="decided", value=self.processes or 0)
        return None if self.stop is None else parse_rule(self.stop)

    def every_s(self) -> float:
        """Returns the time from one session's start to the next, in seconds.

        Raises:
            UsageError: If the time is invalid.
        """
        text = str(self.every or DEFAULT_EVERY)
        return _seconds(
            text, UsageError(f"invalid value: {text!r}", "Use a time, such as 20m, 1h or 90s.", where="every")
        )

    def cpus(self) -> tuple[int, ...] | None:
        """Returns the requested CPUs; None if none are requested.

        Raises:
            UsageError: If the list is invalid, or this process may not use one of the CPUs.
        """
        return None if self.affinity is None else _cpus(self.affinity)

    def count_processes(self, preset: int, *, quick: bool) -> int:
        """Returns the number of processes of a runner.

        Raises:
            UsageError: If `quick` and `rigorous` are both requested.
        """
        if quick and self.rigorous:
            raise exclusive("quick", "rigorous")
        rule = self.rule()
        least = LEAST_FOR_PRECISION if rule is not None and rule.rule == "precision" else 1
        return max(least, self.processes or (RIGOROUS_PROCESSES if self.rigorous else preset))


def make_loop(
    rule: StopRule | None,
    *,
    warmup: int | None,
    nloops: int | None,
    processes: int,
    seconds: float,
) -> Loop:
    """Returns the loop of each process.

    Args:
        rule: Requested stop rule.
        warmup: Requested number of warm-up iterations; None to detect it.
        nloops: Requested number of timed iterations; None if not requested.
        processes: Number of processes that share the time of a runner.
        seconds: Default measuring time of a process.

    Raises:
        UsageError: If the rule and `nloops` contradict each other.
    """
    if rule is not None and rule.rule in {"count", "time"}:
        if nloops is not None:
            raise exclusive("nloops", "stop")
        if rule.rule == "count":
            check_count("count", int(rule.value), least=1)
            return Loop(warmup=warmup, nloops=int(rule.value), seconds=seconds)
        return Loop(warmup=warmup, nloops=None, seconds=rule.value / processes, most=_MOST_BY_TIME)
    return Loop(warmup=warmup, nloops=nloops, seconds=seconds)


def seconds_within(seconds: float, processes: int, start_s: float) -> float:
    """Returns the time of a process with which a default run keeps its limit.

    The result is at most `seconds`. A process without a steady state takes its time twice. The time before the loop is
    estimated as the import time of torch.
    """
    each = _DEFAULT_RUN_S / max(1, processes)
    return min(seconds, max(_LEAST_SECONDS, (each - start_s) / 2))


def _check_devices(devices: Sequence[str]) -> None:
    hint = "Use each device once, such as `devices=cuda:0,cuda:1`."
    if isinstance(devices, str) or not isinstance(devices, Iterable):
        wanted = 'Use a list, such as ["cuda:0", "cuda:1"].'
        raise UsageError(f"invalid value: {devices!r}", wanted, where="devices", value=devices)
    for one in devices:
        check_device(one)
        if one == "auto":
            raise UsageError("invalid value: 'auto'", hint, where="devices", value=one)
    if not devices:
        raise UsageError("missing value: `devices`", hint)
    names = ["cuda:0" if one == "cuda" else one for one in devices]
    twice = next((one for one in names if names.count(one) > 1), None)
    if twice is not None:
        raise UsageError(f"duplicate device: {twice!r}", hint, where="devices", value=twice)


def _cpus(text: str) -> tuple[int, ...]:
    hint = "Use CPUs that this process may use, such as 0 or 0,2-3."
    found: set[int] = set()
    for part in str(text).split(","):
        ends = re.fullmatch(r"\s*(\d{1,5})(?:-(\d{1,5}))?\s*", part)
        if not ends or int(ends[2] or ends[1]) < int(ends[1]):
            raise UsageError(f"invalid list of CPUs: {text!r}", hint, where="affinity", value=text)
        found |= {*range(int(ends[1]), int(ends[2] or ends[1]) + 1)}
    beyond = found - os.sched_getaffinity(0)
    if beyond:
        raise UsageError(f"CPU not available: {min(beyond)}", hint, where="affinity", value=min(beyond))
    return tuple(sorted(found))
