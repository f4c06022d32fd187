"""Program that calls a module once under Nsight Compute.

Run it with `python -m fastrnns_rs.worker.inductor.single_call MODULE DEVICE`. A first call is not profiled. Otherwise
the report would contain the configurations that a Triton kernel tries and the kernels that make the inputs, and each
would be replayed for every group of metrics. Only one call is profiled, because it is replayed too.
"""

from __future__ import annotations

import sys

import torch

from fastrnns_rs.errors import FastrnnsError, first_line
from fastrnns_rs.escaping import visible
from fastrnns_rs.worker.inductor.loader import load


def call(path: str, device: str) -> None:
    """Loads a module and calls it twice, with marks for the profiler.

    The first call is not profiled. The second is between the marks that a CUDA profiler waits for.

    Raises:
        FastrnnsError: If the module cannot be loaded.
    """
    loaded = load(path, device)
    loaded.run()
    loaded.wait()
    if loaded.device.type != "cuda":
        loaded.run()
        return
    with torch.cuda.device(loaded.device), torch.cuda.profiler.profile():
        loaded.run()
        loaded.wait()


def main(arguments: list[str]) -> int:
    """Calls the given module; an error is one line.

    Args:
        arguments: File of the module, and the device that it was generated for.
    """
    path, device = arguments
    try:
        call(path, device)
    except FastrnnsError as error:
        return _tell(error.message)
    except Exception as error:  # noqa: BLE001  # a module's code may raise anything
        return _tell(first_line(error))
    return 0


def _tell(reason: str) -> int:
    print(f"error: {visible(reason)}", file=sys.stderr)  # noqa: T201  # this is what it has to say
    return 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
