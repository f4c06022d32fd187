"""Diagnosis of `doctor`: machine, profilers and configuration."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import TYPE_CHECKING

from fastrnns_rs.documents.diagnosis import ConfigEntry, Diagnosis
from fastrnns_rs.documents.file_names import default_folder
from fastrnns_rs.documents.warning import make_warning
from fastrnns_rs.errors import FastrnnsError, UsageError
from fastrnns_rs.machine import environment, health, noise
from fastrnns_rs.verbs.profile.tools import describe_all

if TYPE_CHECKING:
    from pathlib import Path

    from fastrnns_rs.documents.codec import RunWarning
    from fastrnns_rs.documents.noise_floor import NoiseFloor
    from fastrnns_rs.documents.run_file import Environment
    from fastrnns_rs.machine.facts import Facts


#: Steps of a diagnosis. Importing torch takes most of the time.
STEPS = ("importing torch", "checking the machine", "searching for profilers")


def diagnose(
    config: list[ConfigEntry],
    *,
    programs: Mapping[str, str | None],
    captures: Path | None = None,
    on_step: Callable[[str], None] = lambda _step: None,
) -> Diagnosis:
    """Diagnoses this machine.

    Args:
        config: Options of every command.
        programs: Path of the program that `profile` would use, by profiler; None for the newest found.
        captures: Folder in which `profile` would store captures; None for its default.
        on_step: Function called with each of `STEPS` as it begins.

    Raises:
        KeyboardInterrupt: If Ctrl-C was pressed while torch was probed.
    """
    found: Facts | FastrnnsError
    try:
        on_step(STEPS[0])
        found = environment.probe("auto", "float32")
    except FastrnnsError as error:
        found = error
    on_step(STEPS[1])
    checks = health.check_all(found, captures or default_folder())
    on_step(STEPS[2])
    with _variables({f"FASTRNNS_PROFILE_{name.upper()}_PATH": path for name, path in programs.items() if path}):
        profilers = describe_all(None if isinstance(found, FastrnnsError) else found)
    known = None if isinstance(found, FastrnnsError) else environment.describe(found, looks_for_changes=False)
    floor, warnings = _noise_floor(known)
    return Diagnosis(
        warnings=warnings,
        ok=not any(check.status == "fail" for check in checks),
        environment=known,
        checks=checks,
        profilers=profilers,
        noise_floor=floor,
        config=config,
    )


def _noise_floor(known: Environment | None) -> tuple[NoiseFloor | None, list[RunWarning]]:
    """Returns the stored noise floor of the first GPU, or else of the CPU."""
    warnings = []
    gpus = [f"cuda:{gpu.index}" for gpu in known.gpus[:1]] if known is not None else []
    for device in (*gpus, "cpu"):
        try:
            floor = noise.stored(device, known)
        except UsageError as error:
            warnings.append(make_warning("noise_floor_unreadable", evidence=error.message))
            continue
        if floor is not None:
            return floor, warnings
    return None, warnings


@contextmanager
def _variables(settings: Mapping[str, str]) -> Iterator[None]:
    """Sets environment variables temporarily.

    The search for profilers reads variables, not the configuration.
    """
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
