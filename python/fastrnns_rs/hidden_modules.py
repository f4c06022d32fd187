"""Files that hide a required module.

Python imports the first file on its path that has the name of the module.
"""

from __future__ import annotations

import os
import sys

TYPE_CHECKING = False  # see the package
if TYPE_CHECKING:
    from collections.abc import Iterator

#: Packages that this one imports. None of them is a single file.
_PACKAGES = {"click", "numpy", "platformdirs", "torch", "torchvision"}


def explained(error: BaseException) -> tuple[str, str] | None:
    """Explains an error that is caused by a file that hides a module.

    Args:
        error: Error of an import, or of the use of a module.

    Returns:
        Message and hint; None for other errors.
    """
    if not isinstance(error, (ImportError, AttributeError, NameError, TypeError, SyntaxError)):
        return None
    folders = {os.path.realpath(one) for one in sys.path if isinstance(one, str)}
    folders.discard(os.path.realpath(os.path.split(os.__file__)[0]))
    for file in _files(error):
        folder, name = os.path.split(file)
        module = name.removesuffix(".py")
        is_hidden = module in _PACKAGES or module in sys.stdlib_module_names
        if is_hidden and os.path.realpath(folder) in folders:
            return f"file hides the module {module}: {file!r}", "Rename the file, or remove its folder from PYTHONPATH."
    return None


def _files(error: BaseException) -> Iterator[str]:
    """Yields the files in a traceback, the last first, then those of loaded modules.

    A file with a syntax error is in no traceback, and comes first.
    """
    if isinstance(error, SyntaxError):
        yield error.filename or ""
    trace, through = error.__traceback__, []
    while trace is not None:
        through.append(trace.tb_frame.f_code.co_filename)
        trace = trace.tb_next
    yield from reversed(through)
    yield from (str(getattr(one, "__file__", None) or "") for one in [*sys.modules.values()])
