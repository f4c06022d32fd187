"""The document `fastrnns-rs/doctor`: this machine, its profilers and the configuration."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

from fastrnns_rs.documents.codec import Notice
from fastrnns_rs.documents.document import Document
from fastrnns_rs.documents.noise_floor import NoiseFloor
from fastrnns_rs.documents.run_file import Environment

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


@dataclass(frozen=True, slots=True, kw_only=True)
class ProfilerEntry:
    """A profiler. `importer_path` is the tool that turns its captures into files that can be read."""

    name: str
    path: str | None = None
    version: str | None = None
    status: Literal["usable", "limited", "unusable", "missing"]
    capabilities: list[str] = field(default_factory=list)
    importer_path: str | None = None
    reason: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class ConfigEntry:
    """An option of a verb, as `bench.nloops`; what a list holds is parted by blanks."""

    key: str
    value: str | None
    source: Literal["default", "pyproject", "environment", "flag"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Diagnosis(Document):
    """Whether numbers of this machine can be trusted. `environment` is null where torch does not work."""

    schema: Literal["fastrnns-rs/doctor"] = "fastrnns-rs/doctor"
    warnings: list[Notice]
    ok: bool
    environment: Environment | None
    checks: list[Check]
    profilers: list[ProfilerEntry]
    noise_floor: NoiseFloor | None
    config: list[ConfigEntry]
