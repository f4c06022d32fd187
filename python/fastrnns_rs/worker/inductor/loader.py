"""Import of a generated module: its code runs here."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from typing import Any

import torch

from fastrnns_rs.errors import FastrnnsError, first_line
from fastrnns_rs.runners.source_loader import load_source

_AGAIN = "it may be another torch's: compile the model again with this one"
#: Upstream sets it before each repeat, so that a module with dropout does the same each time; here the inputs, which a
#: module makes itself, are of it too.
SEED = 1337


@dataclass(frozen=True, slots=True)
class Loaded:
    """Module that can be run.

    Attributes:
        module: Module.
        device: Device that it was generated for.
        arguments: Inputs of its `call`, in order.
    """

    module: ModuleType
    device: torch.device
    arguments: list[Any]

    @property
    def run(self) -> Callable[[], Any]:
        """Makes one call on the inputs. `call` empties the list that it receives."""
        call, arguments = self.module.call, self.arguments
        return lambda: call([*arguments])

    @property
    def current(self) -> AbstractContextManager[Any]:
        """Makes the module's device current inside the block.

        Torch's own benchmark waits for the current device.
        """
        return torch.cuda.device(self.device) if self.device.type == "cuda" else nullcontext()

    @property
    def wait(self) -> Callable[[], None]:
        """Waits until the device has finished all work."""
        device = self.device
        return (lambda: torch.cuda.synchronize(device)) if device.type == "cuda" else _nothing


def load(path: str, device: str) -> Loaded:
    """Imports a module and makes its inputs.

    Raises:
        FastrnnsError: If the module cannot be imported, or its inputs cannot be made.
    """
    module = imported(path)
    try:
        torch.manual_seed(SEED)
        arguments = [*module.get_args()]
    except Exception as error:
        raise FastrnnsError(f"its get_args failed: {first_line(error)}", _AGAIN) from error
    return Loaded(module, torch.device(device), arguments)


def imported(path: str) -> ModuleType:
    """Returns a module; its kernels are compiled if necessary.

    Raises:
        FastrnnsError: If the module cannot be imported.
    """
    name = f"fastrnns_rs_generated_{Path(path).stem}"
    try:
        module = load_source(name, Path(path))
    except Exception as error:
        raise FastrnnsError(
            f"it cannot be imported with torch {torch.__version__}: {first_line(error)}", _AGAIN
        ) from error
    if not callable(getattr(module, "call", None)):
        raise FastrnnsError(f"it has no call that torch {torch.__version__} could run", _AGAIN)
    return module


def _nothing() -> None:
    """Does nothing: a CPU has no work left when a call returns."""
