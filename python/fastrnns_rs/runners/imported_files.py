"""Files of a runner's code: its own, and the Python modules that it imports."""

from __future__ import annotations

import ast
import errno
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
from fastrnns_rs.processes.module_path import own_path, with_additions
from fastrnns_rs.runners.registry import FILE_MODULE, is_shared

if TYPE_CHECKING:
    from fastrnns_rs.runners.runner import Source

#: Folders of installed packages.
_INSTALLED = ("site-packages", "dist-packages")
#: Packages whose versions a run records, also where they are installed as editable.
_RECORDED = {fastrnns_rs.__name__, "torch", "torchvision"}
#: Start of the names of modules with which setuptools finds editable packages.
_EDITABLE = "__editable__"
#: Largest number of files in a hash: a runner may lie beside a copy of torch.
_MOST_FILES = 500
#: Largest file in bytes: a file that code only seems to import may have any size.
MOST_BYTES = 512 << 20
#: Largest number of names that a file imports, and of their parts: generated code may have any number.
_MOST_NAMES, _MOST_PARTS = 2000, 50


class Stamp(NamedTuple):
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


def find_root(source: Source) -> Path:
    """Returns the folder in which the imports of a runner's file are looked up."""
    file, names = Path(source.file), source.module.split(".")
    place = file.parent if file.name == "__init__.py" else file.parent / file.stem
    return place.parents[len(names) - 1] if place.parts[-len(names) :] == tuple(names) else file.parent


def list_imported(source: Source, root: Path, path: Sequence[str] | None = None) -> list[Stamp]:
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
    worker_path = own_path() if path is None else path
    stamps, known, names = [make_stamp(root, file)], {file}, set[str]()
    roots: dict[str, list[Path]] = {}
    # A directory may change more often than the time of its last change.
    PathFinder.invalidate_caches()
    # The list grows.
    for stamp in stamps:
        for name in _imports(stamp):
            first = name.partition(".")[0]
            if name in names:
                continue
            names.add(name)
            if first not in roots:
                own_folder = None if only_top and first != top else str(root)
                roots[first] = _find_roots(first, with_additions(source.file, own_folder, worker_path))
            for place, one in _find_first(roots[first], name):
                if len(stamps) == _MOST_FILES:
                    return stamps
                if one not in known:
                    known.add(one)
                    stamps.append(make_stamp(place, one))
    return stamps


def _find_first(roots: Iterable[Path], name: str) -> list[tuple[Path, Path]]:
    """Returns the files that run when a dotted name is imported, each with its root."""
    found = ([(root, one) for one in _run_by(root, name)] for root in roots)
    return next(filter(None, found), [])


def _find_roots(top: str, path: tuple[list[str], list[str]]) -> list[Path]:
    """Returns the folders with a module that a worker finds on its search path.

    Args:
        top: Name of the module, without a dot.
        path: Folders of the runner before those of the worker, and all.

    Returns:
        None of the standard library, of installed packages, and of packages whose versions a run records.
    """
    own, whole = path
    if top in sys.stdlib_module_names or top in _RECORDED:
        whole = own
    editable = [one for one in sys.meta_path if f"{getattr(one, '__module__', None)}".startswith(_EDITABLE)]
    finders: list[Any] = [PathFinder, *(editable if whole is not own else [])]
    for finder in finders:
        try:
            spec = finder.find_spec(top, whole)
        except (ImportError, ValueError, OSError):
            continue
        if spec is not None:
            places = map(Path, spec.submodule_search_locations or filter(None, [spec.origin]))
            roots = [one.parent for one in places if one.stem == top]
            return [one for one in roots if str(one) in own or not {*_INSTALLED} & {*one.parts}]
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
def _imports(stamp: Stamp) -> tuple[str, ...]:
    """Returns the dotted names that a file imports, all as seen from its root."""
    file = stamp.file
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            tree = ast.parse(content(file, MOST_BYTES))
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


def make_stamp(root: Path, file: Path) -> Stamp:
    """Returns the stamp of a file.

    Raises:
        OSError: If it cannot be read, or is no file.
    """
    found = file.stat()
    if not stat.S_ISREG(found.st_mode):
        # Opening a pipe would wait for its writer.
        raise OSError(errno.EINVAL, "not a file", str(file))
    return Stamp(root, file, found.st_ino, found.st_size, found.st_ctime_ns)
