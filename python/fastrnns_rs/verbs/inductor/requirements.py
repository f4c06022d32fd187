"""Refuses what cannot be measured here, before anything runs."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from fastrnns_rs.errors import MissingError

if TYPE_CHECKING:
    from fastrnns_rs.machine.environment import Facts
    from fastrnns_rs.verbs.inductor.module_files import Generated
    from fastrnns_rs.verbs.inductor.request import InductorOptions


def check(modules: Iterable[Generated], facts: Facts, asked: InductorOptions) -> None:
    """Looks whether the devices and the tools are there.

    Args:
        modules: What is to be measured.
        facts: What torch says of this machine.
        asked: What is asked of each.

    Raises:
        MissingError: A module's device or Nsight Compute is not there, or what is asked of a CPU's module needs CUDA.
    """
    for one in modules:
        _check_device(one, facts, asked)
    if asked.ncu:
        from fastrnns_rs.verbs.inductor import ncu

        ncu.find(asked)


def _check_device(one: Generated, facts: Facts, asked: InductorOptions) -> None:
    kind, _, number = one.device.partition(":")
    count = facts.cuda_device_count
    if kind == "cpu":
        flag = "--cuda-memory-snapshot" if asked.memory_snapshot else "--ncu" if asked.ncu else None
        if flag is not None:
            raise MissingError(f"{flag} needs a CUDA device, and {one.path} was generated for the CPU", "leave it out")
        return
    if kind != "cuda":
        message = f"{one.path} was generated for {one.device}, and only the CPU and CUDA are supported"
        raise MissingError(message, "compile the model for one of them")
    if int(number or 0) >= count:
        reason = facts.no_cuda_reason or f"this machine has {count} CUDA device{'s' if count > 1 else ''}"
        message = f"{one.path} was generated for {one.device}, and there is none: {reason}"
        raise MissingError(message, "measure it where there is one, or compile the model for the CPU")
