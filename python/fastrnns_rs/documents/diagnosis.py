"""Document `fastrnns-rs/doctor`: machine, profilers and configuration."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import ClassVar, Literal

from fastrnns_rs.documents import soundness
from fastrnns_rs.documents.codec import RunWarning
from fastrnns_rs.documents.container import Container
from fastrnns_rs.documents.document import Document
from fastrnns_rs.documents.noise_floor import NoiseFloor
from fastrnns_rs.documents.part import Part
from fastrnns_rs.documents.run_file import Environment
from fastrnns_rs.errors import UsageError

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


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class Check(Part):
    """Check of the machine or the configuration. `hint` says how to fix a problem."""

    id: CheckId
    status: Literal["ok", "warn", "fail", "skipped"]
    value: str | float | None = None
    unit: str | None = None
    message: str
    hint: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class ProfilerEntry(Part):
    """Profiler. `importer_path` is the tool that makes its captures readable."""

    name: str
    path: str | None = None
    version: str | None = None
    status: Literal["usable", "limited", "unusable", "missing"]
    capabilities: list[str] = field(default_factory=list)
    importer_path: str | None = None
    reason: str | None


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class ConfigEntry(Part):
    """Option of a command, as `bench.nloops`; blanks separate values of a list."""

    key: str
    value: str | None
    source: Literal["default", "pyproject", "environment", "flag"]


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class Diagnosis(Container[Check], Document):
    """Checks of this machine. `environment` is null where torch does not work."""

    row_noun: ClassVar[str] = "check"
    place: ClassVar[str] = "in this diagnosis"
    rows_key: ClassVar[str] = "checks"
    schema: Literal["fastrnns-rs/doctor"] = "fastrnns-rs/doctor"
    warnings: list[RunWarning]
    ok: bool
    environment: Environment | None
    checks: list[Check]
    profilers: list[ProfilerEntry]
    noise_floor: NoiseFloor | None
    config: list[ConfigEntry]

    def check(self) -> None:
        """Checks numbers, as any document does, and whether the checks are `ok`.

        Raises:
            UsageError: If a number is out of range, or `ok` is not that of the checks.
        """
        soundness.check_numbers(self)
        failed = [one.id for one in self.checks if one.status == "fail"]
        if self.ok == bool(failed):
            raise UsageError(f"ok is {str(self.ok).lower()}, and failed checks are: {', '.join(failed) or 'none'}")

    def _names(self) -> list[tuple[str, ...]]:
        return [(one.id,) for one in self.checks]
