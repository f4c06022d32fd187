"""Hashes of the code that defines runners: equal hashes mean equal models."""

from __future__ import annotations

import ast
import errno
import hashlib
import os
import stat
import sys
import warnings
from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache
from importlib.machinery import PathFinder
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import fastrnns_rs
from fastrnns_rs.documents.reading import content
from fastrnns_rs.processes.module_path import own_path
from fastrnns_rs.runners.registry import FILE_MODULE, is_shared

if TYPE_CHECKING:
    from fastrnns_rs.runners.runner import Source

_PACKAGE = Path(fastrnns_rs.__file__).parent
#: Code of the runners of this package: the models, and the modules of workers that they import.
_MODELS = ("models/*.py", "worker/cells.py", "worker/recurrence.py", "worker/torch_settings.py")
#: Folders of installed packages.
_INSTALLED = ("site-packages", "dist-packages")
#: Packages whose versions a run records, also where they are installed as editable.
_RECORDED = {fastrnns_rs.__name__, "torch", "torchvision"}
#: Start of the names of modules with which setuptools finds editable packages.
_EDITABLE = "__editable__"
#: Largest number of files in a hash: a runner may lie beside a copy of torch.
_MOST_FILES = 500
#: Largest file in bytes: a file that code only seems to import may have any size.
_MOST_BYTES = 512 << 20
#: Largest number of names that a file imports, and of their parts: generated code may have any number.
_MOST_NAMES, _MOST_PARTS = 2000, 50


class _Stamp(NamedTuple):
    """File, and what changes with its content.

    Attributes:
        root: Folder in which the imports of the file are looked up first.
        file: Path of the file.
        inode: Inode number.
        size: Size in bytes.
        changed_ns: Time of the last change of content or status.
    """

    root: Path
    file: Path
    inode: int
    size: int
    changed_ns: int


def source_sha256(source: Source, path: Sequence[str] | None = None) -> str | None:
    """Returns the hash of the code of a runner. None if a file cannot be read.

    A file of more than 512 MiB is not read either.

    Runners of this package share modules, so that their hash is that of all models, with their cells and time loops.
    For other runners it is the hash of the file that defines the runner, and of the Python modules that it imports, and
    that these import: those beside it (beside a plug-in or an installed module, those of its own top-level package),
    those on the module search path, and those of editable packages. Installed packages are not part of the hash, nor
    are modules that are imported by a computed name, or beyond 500 files, or 2,000 names of one file.

    Args:
        source: Source of the runner.
        path: Module search path of its worker; None for that of this process.
    """
    own = source.module.startswith(f"{fastrnns_rs.__name__}.") and source.package is None
    root = _PACKAGE if own else find_root(source)
    try:
        stamps = _stamp_models() if own else list_imported(source, root, path)
        return _digest(tuple(stamps))
    except OSError:
        return None


def find_change(source: Source, known: str | None, path: Sequence[str] | None = None) -> str | None:
    """Returns why a runner fails whose code is no longer that of a hash.

    What is measured would be of two programs.

    Args:
        source: Source of the runner.
        known: Hash of its code at the start; None if it could not be read.
        path: Module search path of its worker; None for that of this process.

    Returns:
        None if the code is the same, or was not known.
    """
    # The file may be no file any more, or be unreadable: the hash is then None.
    if known is None or known == source_sha256(source, path):
        return None
    return f"{source.file} or a module that it imports changed during the run"


def _stamp_models() -> list[_Stamp]:
    return [_stamp(_PACKAGE, one) for pattern in _MODELS for one in sorted(_PACKAGE.glob(pattern))]


def find_root(source: Source) -> Path:
    """Returns the folder in which the imports of a runner's file are looked up."""
    file, names = Path(source.file), source.module.split(".")
    place = file.parent if file.name == "__init__.py" else file.parent / file.stem
    return place.parents[len(names) - 1] if place.parts[-len(names) :] == tuple(names) else file.parent


def list_imported(source: Source, root: Path, path: Sequence[str] | None = None) -> list[_Stamp]:
    """Returns stamps of a runner's file and its imports, breadth first.

    Args:
        source: Source of the runner.
        root: Folder in which the imports of its file are looked up first.
        path: Module search path of its worker; None for that of this process.

    Raises:
        OSError: If a file cannot be read.
    """
    file, top = Path(source.file), source.module.partition(".")[0]
    # Modules beside a file in a folder such as `/tmp` are not imported.
    alone = source.module.startswith(FILE_MODULE) and is_shared(root)
    only_top = alone or source.package is not None or root.name in _INSTALLED
    stamps, known, names = [_stamp(root, file)], {file}, set[str]()
    places: dict[str, list[Path]] = {}
    folders = own_path() if path is None else path
    # The list grows.
    for stamp in stamps:
        for name in _imports(stamp):
            first = name.partition(".")[0]
            if name in names:
                continue
            names.add(name)
            if first not in places:
                places[first] = [] if only_top and first != top else [root]
                places[first] += _find_other_roots(first, folders)
            for place, one in _find_first(places[first], name):
                if len(stamps) == _MOST_FILES:
                    return stamps
                if one not in known:
                    known.add(one)
                    stamps.append(_stamp(place, one))
    return stamps


def _find_first(places: Iterable[Path], name: str) -> list[tuple[Path, Path]]:
    """Returns the files that run when a dotted name is imported, each with its root."""
    found = ([(place, one) for one in _run_by(place, name)] for place in places)
    return next(filter(None, found), [])


def _find_other_roots(top: str, path: Sequence[str]) -> list[Path]:
    """Returns the folders with a module that a worker finds on its search path.

    Args:
        top: Name of the module, without a dot.
        path: Module search path.

    Returns:
        None of the standard library, of installed packages, and of packages whose versions a run records.
    """
    if top in sys.stdlib_module_names or top in _RECORDED:
        return []
    finders: list[Any] = [one for one in sys.meta_path if f"{getattr(one, '__module__', None)}".startswith(_EDITABLE)]
    for finder in [*finders, PathFinder]:
        try:
            spec = finder.find_spec(top, path)
        except (ImportError, ValueError, OSError):
            continue
        if spec is not None:
            places = map(Path, spec.submodule_search_locations or filter(None, [spec.origin]))
            roots = [one.parent for one in places if one.stem == top]
            return [one for one in roots if not {*_INSTALLED} & {*one.parts}]
    return []


def _run_by(root: Path, name: str) -> Iterator[Path]:
    """Yields the files below a folder that run when a dotted name is imported."""
    place = root
    for part in name.split("."):
        place /= part
        package, module = place / "__init__.py", place.with_name(f"{part}.py")
        # Unlike `Path.is_file`, this is False for a name that is too long.
        if os.path.isfile(package):  # noqa: PTH113
            yield package
        elif os.path.isfile(module):  # noqa: PTH113
            yield module
            return


@lru_cache(maxsize=4096)
def _imports(stamp: _Stamp) -> tuple[str, ...]:
    """Returns the dotted names that a file imports, all as seen from its root."""
    file = stamp.file
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            tree = ast.parse(content(file, _MOST_BYTES))
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        # Nothing can import the file.
        return ()
    folders = file.parent.relative_to(stamp.root).parts
    found: set[str] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            found.update(one.name for one in node.names)
        elif isinstance(node, ast.ImportFrom) and node.level <= len(folders) + 1:
            start = [*folders[: len(folders) + 1 - node.level]] if node.level else []
            start += [node.module] if node.module else []
            # The names may be modules or not.
            found.update(".".join([*start, one.name]) for one in node.names)
    return tuple(sorted(one for one in found if one.count(".") < _MOST_PARTS)[:_MOST_NAMES])


def _stamp(root: Path, file: Path) -> _Stamp:
    found = file.stat()
    if not stat.S_ISREG(found.st_mode):
        # Opening a pipe would wait for its writer.
        raise OSError(errno.EINVAL, "not a file", str(file))
    return _Stamp(root, file, found.st_ino, found.st_size, found.st_ctime_ns)


@lru_cache(maxsize=64)
def _digest(stamps: tuple[_Stamp, ...]) -> str:
    """Returns the hash of files, the first of which has no folder in it."""
    found = hashlib.sha256()
    for number, one in enumerate(stamps):
        name = one.file.relative_to(one.root) if number else one.file.name
        found.update(os.fsencode(name) + b"\0" + content(one.file, _MOST_BYTES) + b"\0")
    return found.hexdigest()
