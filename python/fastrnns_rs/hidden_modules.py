"""Files that hide a module which is needed: Python imports the first file of a name that is on its path."""

from __future__ import annotations

import os
import sys

TYPE_CHECKING = False  # see the package
if TYPE_CHECKING:
    from collections.abc import Iterator

#: Packages that this one imports. None of them is a single file.
_PACKAGES = {"click", "numpy", "platformdirs", "rich", "torch", "torchvision"}


def explained(error: BaseException) -> tuple[str, str] | None:
    """The message and the hint for an error that a file has caused which hides a module. None for other errors.

    Args:
        error: What an import, or the use of a module, has raised.
    """
    if not isinstance(error, (ImportError, AttributeError, NameError, TypeError)):
        return None
    folders = {os.path.realpath(one) for one in sys.path if isinstance(one, str)}
    folders.discard(os.path.realpath(os.path.split(os.__file__)[0]))
    for file in _files(error):
        folder, name = os.path.split(file)
        module = name.removesuffix(".py")
        is_hidden = module in _PACKAGES or module in sys.stdlib_module_names
        if is_hidden and os.path.realpath(folder) in folders:
            return f"{file} hides the module {module}", "rename that file, or take its folder off PYTHONPATH"
    return None


def _files(error: BaseException) -> Iterator[str]:
    """The files that an error came through, the last first, and those of all modules that are loaded."""
    trace, through = error.__traceback__, []
    while trace is not None:
        through.append(trace.tb_frame.f_code.co_filename)
        trace = trace.tb_next
    yield from reversed(through)
    yield from (str(getattr(one, "__file__", None) or "") for one in [*sys.modules.values()])
