"""Different modules of the same name, which runners of one process import.

Python keeps one module of each name. A runner would use the module of another runner's file.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from importlib.machinery import BuiltinImporter, FrozenImporter, ModuleSpec, PathFinder
from pathlib import Path
from typing import TYPE_CHECKING

from fastrnns_rs.errors import UsageError
from fastrnns_rs.runners.registry import is_importable, is_shared
from fastrnns_rs.runners.source_hash import find_root, list_names

if TYPE_CHECKING:
    from fastrnns_rs.runners.runner import Source

#: File of a module, or folders of a namespace package; empty if there is no module.
_Places = frozenset[str]

#: Folders of the loaded files that are in front of the module path, with the last file first.
_folders: list[str] = []
#: Modules that were imported before the first file was loaded. All files use them.
_imported: set[str] = set()


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
            if bool(own) != bool(other) or not (own <= other or other <= own):
                reason = f"{first!r} and {source.file!r} import different modules of this name in one process"
                raise UsageError(f"two modules with the same name: {name!r}", hint, reason=reason)


@contextmanager
def own_modules(source: Source, *, with_folder: bool) -> Iterator[None]:
    """Lets a file import the modules that it would find alone, in a block.

    Its folder stays in front of the module path, because runners also import modules when they are built.

    Args:
        source: Source of the file.
        with_folder: True if the modules in the folder of the file are importable.
    """
    if _imported:
        _forget_others(source)
    else:
        _imported.update(sys.modules)
    folder, others = str(Path(source.file).parent), [one for one in _folders if one in sys.path]
    sys.path[:] = [*([folder] if with_folder else []), *_path_without_files()]
    if with_folder:
        _folders.insert(0, folder)
    try:
        yield
    finally:
        # The file may have changed the path.
        place = sys.path.index(folder) + 1 if folder in sys.path else 0
        sys.path[place:place] = others


def _forget_others(source: Source) -> None:
    """Forgets imported modules that a file would not find alone.

    Modules that were imported before the first file stay.
    """
    for name, own in _find_alone(source).items():
        found = _places(getattr(sys.modules.get(name), "__spec__", None))
        # Other importers, such as those of editable packages, may have found a module that is not on the path.
        if not found or not (own or found & _places(_find(name, _folders))):
            continue
        others = tuple(f"{one}{os.sep}" for one in found - own)
        for one in [one for one in sys.modules if one.partition(".")[0] == name]:
            places = _places(getattr(sys.modules[one], "__spec__", None))
            # A namespace package keeps the modules of folders that both files have.
            if not found & own or any(place.startswith(others) for place in places):
                del sys.modules[one]


def _find_alone(source: Source) -> dict[str, _Places]:
    """Returns the modules that a file would import in a process of its own.

    The imports of the modules beside it count, too.
    """
    root, path = find_root(source), _path_without_files()
    try:
        if not is_importable(source) and not is_shared(root):
            path.insert(0, str(root))
        names = list_names(source, root)
    except OSError:
        # The import of the file reports the error.
        return {}
    return {name: _places(_find(name, path)) for name in names if name not in _imported or name not in sys.modules}


def _path_without_files() -> list[str]:
    """Returns the module path without the folders of the loaded files."""
    path = [*sys.path]
    for folder in _folders:
        # The first one is that of the file.
        if folder in path:
            path.remove(folder)
    return path


def _find(name: str, path: Sequence[str]) -> ModuleSpec | None:
    return BuiltinImporter.find_spec(name) or FrozenImporter.find_spec(name) or PathFinder.find_spec(name, path)


def _places(spec: ModuleSpec | None) -> _Places:
    """Returns the real paths of a module: two names of one file are the same module."""
    if spec is None:
        return frozenset()
    found = [spec.origin] if spec.origin is not None else spec.submodule_search_locations or ()
    return frozenset(map(os.path.realpath, found))
