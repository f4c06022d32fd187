"""One thing that `fastrnns-rs doctor` looks at."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

CheckId = Literal[
    "extension.build_profile",
    "torch.import",
    "torch.cuda",
    "clock.resolution",
    "cpu.governor",
    "cpu.turbo",
    "cpu.load",
    "cpu.threads",
    "gpu.present",
    "gpu.clocks",
    "gpu.throttle",
    "gpu.other_processes",
    "perf.paranoid",
    "disk.output",
]


@dataclass(frozen=True, slots=True, kw_only=True)
class Check:
    """One thing that was looked at; `hint` says what to do about it."""

    id: CheckId
    status: Literal["ok", "warn", "fail", "skipped"]
    value: str | float | None = None
    unit: str | None = None
    message: str
    hint: str | None = None
