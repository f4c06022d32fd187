"""What is known of several devices, asked of as few child processes as it takes."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from fastrnns_rs.errors import UsageError
from fastrnns_rs.machine import environment
from fastrnns_rs.problem.problem import resolve
from fastrnns_rs.processes.launcher import Executor, launch_together

if TYPE_CHECKING:
    from collections.abc import Sequence

    from fastrnns_rs.machine.environment import Facts
    from fastrnns_rs.processes.launcher import Setting
    from fastrnns_rs.runners.plan import Options


def facts_of(
    options: Options, devices: Sequence[str] | None, setting: Setting, *, executor: Executor = launch_together
) -> list[Facts]:
    """What is known of torch and of each device; of the one that `options` name where there are no others.

    Args:
        options: The device, if it is one, and the dtype.
        devices: The devices, if they are several.
        setting: What the child that is asked runs in.
        executor: Runs the child.

    Raises:
        UsageError: One device is asked for, and several are.
        MissingError: Torch is not installed.
        FastrnnsError: Torch does not work.
        KeyboardInterrupt: Ctrl-C.
    """
    if not devices:
        return [environment.probe(options.device, options.computed_dtype, setting, executor=executor)]
    if options.device != "auto":
        raise UsageError("--device and --devices both say where to run", "give one of them")
    first = environment.probe(devices[0], options.computed_dtype, setting, executor=executor)
    return [first, *(_another(first, one, options.computed_dtype, setting, executor) for one in devices[1:])]


def _another(known: Facts, device: str, dtype: str, setting: Setting, executor: Executor) -> Facts:
    """What is known of a further device: the same as of a first one of its kind, without asking."""
    found = resolve(device, known.cuda_device_count)
    kinds = [None if one is None else _kind(known, one) for one in (known.device, found)]
    if kinds[0] == kinds[1] or found is None:
        return replace(known, device=found)
    return environment.probe(device, dtype, setting, executor=executor)


def _kind(facts: Facts, device: str) -> object:
    if not device.startswith("cuda"):
        return device
    gpu = facts.gpus[int(device.partition(":")[2] or 0)]
    return gpu["name"], gpu["compute_capability"]
