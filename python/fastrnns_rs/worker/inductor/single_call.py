"""What Nsight Compute looks at: `python -m fastrnns_rs.worker.inductor.single_call MODULE DEVICE` calls a module once.

It is called once before, unseen: the configurations that a Triton kernel tries, and the kernels that make the inputs,
would else be in the report, and each would be replayed for every group of metrics. No more than one call is seen, for
that is replayed as often as it takes.
"""

from __future__ import annotations

import sys

import torch

from fastrnns_rs.errors import ExitCode, FastrnnsError, first_line
from fastrnns_rs.escaping import visible
from fastrnns_rs.worker.inductor.loader import load


def call(path: str, device: str) -> None:
    """Loads a module and calls it: unseen, then between the marks that a profiler of CUDA waits for.

    Raises:
        FastrnnsError: It cannot be loaded.
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
    """Calls the module that is named; an error is one line.

    Args:
        arguments: The module's file and the device that it was generated for.
    """
    path, device = arguments
    try:
        call(path, device)
    except FastrnnsError as error:
        return _tell(error.message)
    except Exception as error:  # noqa: BLE001  # a module's code may raise anything
        return _tell(first_line(error))
    return ExitCode.DONE


def _tell(reason: str) -> int:
    print(f"error: {visible(reason)}", file=sys.stderr)  # noqa: T201  # this is what it has to say
    return ExitCode.FAILED


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
