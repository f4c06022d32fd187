"""Modules of one name that different runners import.

Python keeps one module of each name. In one process a runner would use the module beside another runner's file.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING

from fastrnns_rs.errors import UsageError
from fastrnns_rs.runners.imported_files import find_root, list_imported

if TYPE_CHECKING:
    from fastrnns_rs.runners.runner import Source


def check_clashes(sources: Iterable[Source], hint: str = "Rename one of the modules.") -> None:
    """Rejects runners that cannot run in one process.

    Args:
        sources: Sources of the runners.
        hint: Hint of the error.

    Raises:
        UsageError: If two files import different modules of the same name.
    """
    own = [source for source in dict.fromkeys(sources) if not source.is_built_in]
    found = {source: _list_modules(source) for source in own}
    roots = {root for modules in found.values() for root, _ in modules.values()}
    known: dict[str, tuple[str, str]] = {}
    for source, modules in found.items():
        for name, (_, path) in modules.items():
            other, first = known.setdefault(name, (path, source.file))
            # A module from elsewhere, such as the standard library, was imported first: all use it.
            if path != other and not _is_elsewhere(name, roots):
                reason = f"{first!r} and {source.file!r} import different modules of this name in one process"
                raise UsageError(f"two modules with the same name: {name!r}", hint, reason=reason)


def _list_modules(source: Source) -> dict[str, tuple[Path, str]]:
    """Returns the top-level modules that a runner imports, by name.

    Returns:
        For each module its folder, and its real path.
    """
    root = find_root(source)
    try:
        # The first one is the runner's own file.
        _, *imported = list_imported(source, root)
    except OSError:
        # The import of the file reports the error.
        return {}
    found = {}
    for one in imported:
        first, *rest = one.file.relative_to(one.root).parts
        # A namespace, a folder without `__init__.py`, may have a part in each folder of the search path.
        if one.root == root or rest in ([], ["__init__.py"]):
            found[first.removesuffix(".py")] = one.root, os.path.realpath(one.root / first)
    return found


def _is_elsewhere(name: str, roots: Iterable[Path]) -> bool:
    module = sys.modules.get(name)
    file, folders = getattr(module, "__file__", None), [*getattr(module, "__path__", ())]
    parents = [Path(one).parent for one in folders or filter(None, [file])]
    return module is not None and not any(folder in roots for folder in parents)
