"""Loads a Python file from its source alone, as `python FILE` does."""

from __future__ import annotations

import sys
from importlib.machinery import SourceFileLoader
from importlib.util import module_from_spec, spec_from_loader
from pathlib import Path
from types import CodeType, ModuleType

from fastrnns_rs.documents.reading import content


class SourceLoader(SourceFileLoader):
    """Loader that ignores a `__pycache__` beside the file.

    Others may have put code there, and code of an earlier source with the same size and time.
    """

    def get_data(self, path: str) -> bytes:
        """Reads the source; some files of `/proc` have no end."""
        return content(path)

    def get_code(self, fullname: str) -> CodeType:
        """Compiles the source."""
        path = self.get_filename(fullname)
        code: CodeType = self.source_to_code(self.get_data(path), path)
        return code


def load_source(name: str, path: Path) -> ModuleType:
    """Runs a file as a module.

    Args:
        name: Name of the module in `sys.modules`, where it stays even if its code fails.
        path: File with its source, whatever its suffix.

    Returns:
        The module.

    Raises:
        BaseException: What its code raises.
    """
    file = str(path.absolute())
    loader = SourceLoader(name, file)
    spec = spec_from_loader(name, loader)
    if spec is None:
        raise ImportError(f"not a Python file: {file!r}")
    module = sys.modules[name] = module_from_spec(spec)
    loader.exec_module(module)
    return module
