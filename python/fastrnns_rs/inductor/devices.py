"""Whether the devices are there that modules were generated for; asked before anything runs."""

from __future__ import annotations

from typing import TYPE_CHECKING

from fastrnns_rs.errors import MissingError

if TYPE_CHECKING:
    from collections.abc import Iterable

    from fastrnns_rs.environment import Facts
    from fastrnns_rs.inductor.finding import Generated
    from fastrnns_rs.inductor.planning import InductorOptions


def check_devices(modules: Iterable[Generated], asked: InductorOptions, facts: Facts) -> None:
    """Refuses modules that cannot run here, and what their devices cannot do.

    Raises:
        MissingError: A device is not there.
    """
    for one in modules:
        kind, _, number = one.device.partition(":")
        if kind == "cpu":
            _check_cpu(one, asked)
        elif kind != "cuda":
            message = f"{one.path} was generated for {one.device}, and only the CPU and CUDA are supported"
            raise MissingError(message, "compile the model for one of them")
        elif int(number or 0) >= facts.cuda_device_count:
            message = f"{one.path} was generated for {one.device}, and there is none: {_why(facts)}"
            raise MissingError(message, "measure it where there is one, or compile the model for the CPU")


def _check_cpu(one: Generated, asked: InductorOptions) -> None:
    if asked.memory_snapshot:
        message = f"--cuda-memory-snapshot needs CUDA's allocator, and {one.path} was generated for the CPU"
        raise MissingError(message, "leave it out")


def _why(facts: Facts) -> str:
    count = facts.cuda_device_count
    return facts.no_cuda_reason or f"this machine has {count} CUDA device{'s' if count > 1 else ''}"
