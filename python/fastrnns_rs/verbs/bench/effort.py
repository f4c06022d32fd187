"""How much a bench measures: how many processes, how long each, by which rule it ends, and on which CPUs."""

from __future__ import annotations

import math
import os
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Literal

from fastrnns_rs.errors import UsageError
from fastrnns_rs.problem.loop import Loop
from fastrnns_rs.problem.problem import check_count, check_device

#: What a run by precision takes at most where no limit is given.
DEFAULT_LIMIT_S = 600.0
_SECONDS = {"ms": 0.001, "s": 1.0, "m": 60.0, "h": 3600.0}
_HINT = "give precision:1%, precision:1%:20m, time:30s or count:100"
#: A half width of the whole estimate says nothing; a process cannot run for a year.
_LARGEST = {"precision": 1.0, "time": 3.2e7}


@dataclass(frozen=True, slots=True, kw_only=True)
class StopRule:
    """A rule that ends a run.

    Attributes:
        rule: `count`, `time` or `precision`.
        value: Timed iterations of a process; seconds in which the processes of a runner measure, all together; or the
            relative half width of a runner's interval.
        limit_s: Seconds after which a run by precision ends in any case.
    """

    rule: Literal["count", "time", "precision"]
    value: float
    limit_s: float = DEFAULT_LIMIT_S


def parse_rule(text: str) -> StopRule:
    """Reads `precision:1%`, `precision:0.5%:20m`, `time:30s` or `count:100`.

    Raises:
        UsageError: It is none of them.
    """
    rule, _, rest = text.strip().partition(":")
    value, _, limit = rest.partition(":")
    wrong = UsageError(f"no rule to stop by is written {text!r}", _HINT)
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
#: More would be a mistake: at the least some days.
MOST_PROCESSES = 100_000
MOST_SESSIONS = 1000
#: What a session shares, as temperature and other tenants, is to change until the next one.
DEFAULT_EVERY = "10m"
#: An interval from fewer processes is not one to stop by.
LEAST_FOR_PRECISION = 5
#: What a default run on a CPU takes at most, roughly.
_DEFAULT_RUN_S = 600.0
_LEAST_SIDE_BY_SIDE = 2
_LEAST_SECONDS = 0.5
#: Iterations that a process keeps where only time ends it: enough for any phase, and bounded in a file.
_MOST_BY_TIME = 50_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Effort:
    """What a bench is asked to spend; None stands for what the preset says.

    Attributes:
        processes: Fresh processes of each runner, in each session.
        rigorous: Many processes.
        stop: The rule that ends the run, as `parse_rule` takes it.
        affinity: The CPUs that workers may use, as `0,2-3`.
        order_seed: Seed of the order in which processes run; None for a random one.
        devices: The devices, where each runner is to run on several.
        side_by_side: Whether these measure at the same time, rather than one after the other.
        sessions: Number of sessions.
        every: Time from the start of one session to that of the next, as `20m`.
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

    def __post_init__(self) -> None:
        check_count("sessions", self.sessions, least=1, most=MOST_SESSIONS)
        self.every_s()
        if self.every is not None and self.sessions == 1:
            raise UsageError("every is the time between sessions, and there is one", "give sessions, as --sessions 3")
        check_count("processes", self.processes, least=1, most=MOST_PROCESSES)
        check_count("order_seed", self.order_seed, least=0, most=(1 << 32) - 1)
        if self.stop is not None and not isinstance(self.stop, str):
            raise UsageError(f"stop is {self.stop!r}", "give a text as precision:1%")
        if self.sessions > 1 and (self.stop or "").strip().startswith("precision"):
            message = "sessions have a number of processes, and precision decides how many there are"
            raise UsageError(message, "give --processes in place of --stop precision")
        if self.devices is not None:
            _check_devices(self.devices)
        if self.side_by_side and len(self.devices or ()) < _LEAST_SIDE_BY_SIDE:
            raise UsageError("side by side is for several devices", "name them, as --devices cuda:0,cuda:1")

    def rule(self) -> StopRule | None:
        """The rule that was asked for.

        Raises:
            UsageError: There is no such rule.
        """
        return None if self.stop is None else parse_rule(self.stop)

    def every_s(self) -> float:
        """Seconds from the start of one session to that of the next.

        Raises:
            UsageError: It is no time.
        """
        text = str(self.every or DEFAULT_EVERY)
        return _seconds(text, UsageError(f"every is {text!r}", "give a time as 20m, 1h or 90s"))

    def cpus(self) -> tuple[int, ...] | None:
        """The CPUs that were asked for.

        Raises:
            UsageError: It is no list of CPUs, or this process may not use one of them.
        """
        return None if self.affinity is None else _cpus(self.affinity)

    def processes_of(self, preset: int, *, quick: bool) -> int:
        """How many processes of a runner are started.

        Raises:
            UsageError: `quick` and `rigorous` are both asked for.
        """
        if quick and self.rigorous:
            raise UsageError("quick and rigorous contradict each other", "give one of them")
        rule = self.rule()
        least = LEAST_FOR_PRECISION if rule is not None and rule.rule == "precision" else 1
        return max(least, self.processes or (RIGOROUS_PROCESSES if self.rigorous else preset))


def loop_of(
    rule: StopRule | None,
    *,
    warmup: int | None,
    nloops: int | None,
    processes: int,
    seconds: float,
) -> Loop:
    """What ends the loop of each process.

    Args:
        rule: The rule that was asked for.
        warmup: Warm-up iterations, if they were given.
        nloops: Timed iterations, if they were given.
        processes: How many processes share the time of a runner.
        seconds: How long a process measures where nothing else is said.

    Raises:
        UsageError: The rule and `nloops` contradict each other.
    """
    if rule is not None and rule.rule != "precision":
        if nloops is not None:
            raise UsageError("nloops and stop both say when a loop ends", "give one of them")
        if rule.rule == "count":
            check_count("count", int(rule.value), least=1)
            return Loop(warmup=warmup, nloops=int(rule.value), seconds=seconds)
        return Loop(warmup=warmup, nloops=None, seconds=rule.value / processes, most=_MOST_BY_TIME)
    return Loop(warmup=warmup, nloops=nloops, seconds=seconds)


def seconds_within(seconds: float, processes: int, start_s: float) -> float:
    """How long a process may measure, at most `seconds`, so that a default run stays within its time.

    A process without a steady state takes its time twice, and what comes before its loop is taken to be as long as the
    import of torch.
    """
    each = _DEFAULT_RUN_S / max(1, processes)
    return min(seconds, max(_LEAST_SECONDS, (each - start_s) / 2))


def _check_devices(devices: Sequence[str]) -> None:
    hint = "name each device once, as --devices cuda:0,cuda:1"
    if isinstance(devices, str) or not isinstance(devices, Iterable):
        raise UsageError(f"devices is {devices!r}", 'give a list, as ["cuda:0", "cuda:1"]')
    for one in devices:
        check_device(one)
        if one == "auto":
            raise UsageError("--devices names devices, and auto is not the name of one", hint)
    if not devices:
        raise UsageError("--devices needs the name of at least one device", hint)
    names = ["cuda:0" if one == "cuda" else one for one in devices]
    twice = next((one for one in names if names.count(one) > 1), None)
    if twice is not None:
        raise UsageError(f"--devices names {twice} twice", hint)


def _cpus(text: str) -> tuple[int, ...]:
    hint = "give CPUs that this process may use, as 0 or 0,2-3"
    found: set[int] = set()
    for part in str(text).split(","):
        ends = re.fullmatch(r"\s*(\d{1,5})(?:-(\d{1,5}))?\s*", part)
        if not ends or int(ends[2] or ends[1]) < int(ends[1]):
            raise UsageError(f"no list of CPUs is written {text!r}", hint)
        found |= {*range(int(ends[1]), int(ends[2] or ends[1]) + 1)}
    beyond = found - os.sched_getaffinity(0)
    if beyond:
        raise UsageError(f"CPU {min(beyond)} is not among those that this process may use", hint)
    return tuple(sorted(found))
