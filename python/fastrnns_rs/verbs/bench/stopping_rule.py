"""What `--stop` takes: the rule that ends a run. There is none that looks at whether a difference is significant."""

from __future__ import annotations

import math
import re
from dataclasses import dataclass
from typing import Literal

from fastrnns_rs.errors import UsageError

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


def parse(text: str) -> StopRule:
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
