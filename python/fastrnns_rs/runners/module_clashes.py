"""Different modules of the same name, which runners of one process import.

Python keeps one module of each name. A runner would use the module beside another runner's file.
"""

from __future__ import annotations

import sys
from collections.abc import Collection, Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from fastrnns_rs.errors import UsageError
from fastrnns_rs.runners.source_hash import find_root, list_imported

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
    for name, first, second in _clashes(sources):
        reason = f"{first!r} and {second!r} import different modules of this name in one process"
        raise UsageError(f"two modules with the same name: {name!r}", hint, reason=reason)


def forget_clashes(sources: Collection[Source]) -> None:
    """Forgets imported modules that clash, so that the last file imports its own.

    Modules that lie elsewhere, such as those of an installed package, stay.
    """
    roots = {find_root(source) for source in sources}
    for name in {name for name, *_ in _clashes(sources)}:
        module = sys.modules.get(name)
        places = [getattr(module, "__file__", None) or "", *getattr(module, "__path__", ())]
        if any(Path(place).parent in roots for place in places):
            for one in [one for one in sys.modules if one.partition(".")[0] == name]:
                del sys.modules[one]


def _clashes(sources: Iterable[Source]) -> Iterator[tuple[str, str, str]]:
    """Yields the name of each module, and the two files that import it."""
    known: dict[str, tuple[Path, str]] = {}
    for source in dict.fromkeys(sources):
        if source.is_built_in:
            continue
        root = find_root(source)
        try:
            # The first one is the runner's own file.
            _, *imported = list_imported(source, root)
        except OSError:
            # The import of the file reports the error.
            continue
        for file, *_ in imported:
            name = file.relative_to(root).parts[0].removesuffix(".py")
            other, first = known.setdefault(name, (root, source.file))
            if other != root:
                yield name, first, source.file
