"""Loads arithmetic.py after torch, in a process whose PYTHONPATH has this folder."""

from __future__ import annotations

import sys
from importlib.abc import Loader, MetaPathFinder
from importlib.machinery import ModuleSpec, PathFinder
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from types import ModuleType
from typing import Any

_ARITHMETIC = Path(__file__).parents[1] / "arithmetic.py"


class _AfterTorch(MetaPathFinder, Loader):
    """Finds torch as Python does; arithmetic begins when torch has been executed."""

    _torch: Loader

    def find_spec(self, fullname: str, path: Any, target: ModuleType | None = None) -> ModuleSpec | None:
        if fullname != "torch":
            return None
        spec = PathFinder.find_spec(fullname, path, target)
        if spec is not None and spec.loader is not None:
            self._torch, spec.loader = spec.loader, self
        return spec

    def create_module(self, spec: ModuleSpec) -> ModuleType | None:
        return self._torch.create_module(spec)

    def exec_module(self, module: ModuleType) -> None:
        spec = module.__spec__
        assert spec is not None
        # Not earlier: who asks whether there is a torch may not import it.
        sys.meta_path.remove(self)
        # Torch asks its own loader for its files.
        module.__loader__ = spec.loader = self._torch
        self._torch.exec_module(module)
        spec = spec_from_file_location("emulated_cuda_arithmetic", _ARITHMETIC)
        assert spec is not None
        assert spec.loader is not None
        arithmetic = module_from_spec(spec)
        sys.modules[spec.name] = arithmetic
        spec.loader.exec_module(arithmetic)
        arithmetic.begin()


sys.meta_path.insert(0, _AfterTorch())
