"""Different modules of the same name, which runners of one process import.

Python keeps one module of each name. A runner would use the module of another runner's file.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable
from importlib.machinery import ModuleSpec, PathFinder
from pathlib import Path
from typing import TYPE_CHECKING

from fastrnns_rs.errors import UsageError
from fastrnns_rs.runners.registry import file_folders, is_neighbor, is_shared, modules_before
from fastrnns_rs.runners.source_hash import find_root, list_names

if TYPE_CHECKING:
    from fastrnns_rs.runners.runner import Source

#: File of a module, or folders of a namespace package.
_Places = frozenset[str]


def check_clashes(sources: Iterable[Source], hint: str = "Rename one of the modules.") -> None:
    """Rejects runners that cannot run in one process.

    Args:
        sources: Sources of the runners.
        hint: Hint of the error.

    Raises:
        UsageError: If two files import different modules of the same name.
    """
    known: dict[str, tuple[_Places, str]] = {}
    for source in dict.fromkeys(sources):
        for name, own in ({} if source.is_built_in else _find_alone(source)).items():
            other, first = known.setdefault(name, (own, source.file))
            # Folders of a namespace package that only one file has do not disturb the other.
            if not (own <= other or other <= own):
                reason = f"{first!r} and {source.file!r} import different modules of this name in one process"
                raise UsageError(f"two modules with the same name: {name!r}", hint, reason=reason)


def forget_neighbors(file: Path) -> None:
    """Forgets modules beside other files, for which a file has its own."""
    others = {folder for folder in file_folders if folder != str(file.parent)}
    for name in [name for name in sys.modules if "." not in name and is_neighbor(file, name)]:
        places = _places(getattr(sys.modules[name], "__spec__", None))
        if any(str(Path(place.removesuffix("/__init__.py")).parent) in others for place in places):
            for one in [one for one in sys.modules if one.partition(".")[0] == name]:
                del sys.modules[one]


def _find_alone(source: Source) -> dict[str, _Places]:
    """Returns the modules that a file would find on the path in a process of its own.

    The imports of the modules beside it count, too.
    """
    root, path = find_root(source), [*sys.path]
    try:
        for folder in file_folders:
            # The first one is that of the file.
            if folder in path:
                path.remove(folder)
        if not is_shared(root):
            path.insert(0, str(root))
        names = list_names(source, root)
    except OSError:
        # The import of the file reports the error.
        return {}
    # Modules that were imported before the first file are used by all.
    found = {name: _places(PathFinder.find_spec(name, path)) for name in names if name not in modules_before}
    return {name: places for name, places in found.items() if places}


def _places(spec: ModuleSpec | None) -> _Places:
    """Returns the real paths of a module: two names of one file are the same module."""
    if spec is None:
        return frozenset()
    found = [spec.origin] if spec.origin is not None else spec.submodule_search_locations or ()
    return frozenset(map(os.path.realpath, found))
