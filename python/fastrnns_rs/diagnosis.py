"""The document of `fastrnns-rs doctor`: this machine, its profilers and the configuration."""

from __future__ import annotations

import os
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from fastrnns_rs import environment, health, noise
from fastrnns_rs.documents import Notice
from fastrnns_rs.errors import FastrnnsError, UsageError
from fastrnns_rs.health.check import Check
from fastrnns_rs.noise import NoiseFloor
from fastrnns_rs.profiling.naming import default_folder
from fastrnns_rs.profiling.tools import ProfilerEntry, describe_all
from fastrnns_rs.results import Environment

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from pathlib import Path


@dataclass(frozen=True, slots=True, kw_only=True)
class ConfigEntry:
    """An option of a verb, as `bench.nloops`; what a list holds is parted by blanks."""

    key: str
    value: str | None
    source: Literal["default", "pyproject", "environment", "flag"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Diagnosis:
    """Whether numbers of this machine can be trusted. `environment` is null where torch does not work."""

    schema: Literal["fastrnns-rs/doctor"]
    schema_version: str
    warnings: list[Notice]
    ok: bool
    environment: Environment | None
    checks: list[Check]
    profilers: list[ProfilerEntry]
    noise_floor: NoiseFloor | None
    config: list[ConfigEntry]


def diagnose(
    config: list[ConfigEntry], *, programs: Mapping[str, str | None], captures: Path | None = None
) -> Diagnosis:
    """Looks at this machine.

    Args:
        config: The options of every verb.
        programs: For each profiler the program that `profile` would use; None for the newest that is found.
        captures: Where `profile` would put captures; None for its default.

    Raises:
        KeyboardInterrupt: Ctrl-C while torch was asked.
    """
    found: environment.Facts | FastrnnsError
    try:
        found = environment.probe("auto", "float32")
    except FastrnnsError as error:
        found = error
    checks = health.check_all(found, captures or default_folder())
    with _variables({f"FASTRNNS_PROFILE_{name.upper()}_PATH": path for name, path in programs.items() if path}):
        profilers = describe_all(None if isinstance(found, FastrnnsError) else found)
    known = None if isinstance(found, FastrnnsError) else environment.describe(found, None)
    floor, warnings = _noise_floor(known)
    return Diagnosis(
        schema="fastrnns-rs/doctor",
        schema_version="1.0",
        warnings=warnings,
        ok=not any(check.status == "fail" for check in checks),
        environment=None if isinstance(found, FastrnnsError) else environment.describe(found),
        checks=checks,
        profilers=profilers,
        noise_floor=floor,
        config=config,
    )


def _noise_floor(known: Environment | None) -> tuple[NoiseFloor | None, list[Notice]]:
    """That of the first GPU where there is one and it was measured, else that of the CPU."""
    warnings = []
    gpus = [("cuda", gpu.name) for gpu in known.gpus[:1]] if known is not None else []
    for device, name in (*gpus, ("cpu", None)):
        try:
            floor = noise.stored(device, name)
        except UsageError as error:
            warnings.append(
                Notice(code="noise_floor_unreadable", message=error.message, evidence=None, hint=error.hint)
            )
            continue
        if floor is not None:
            return floor, warnings
    return None, warnings


@contextmanager
def _variables(settings: Mapping[str, str]) -> Iterator[None]:
    """Variables that are set for a while: whoever looks for profilers reads them, not our configuration."""
    before = {name: os.environ.get(name) for name in settings}
    os.environ.update(settings)
    try:
        yield
    finally:
        for name, value in before.items():
            if value is None:
                del os.environ[name]
            else:
                os.environ[name] = value
