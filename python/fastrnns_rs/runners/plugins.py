"""Plug-ins: runners of other packages, found by their entry points and imported.

A package adds runners with an entry point in the group `fastrnns_rs.runners` that names a module. The name of the entry
point is the name of the plug-in. A plug-in that fails does not affect other plug-ins.
"""

from __future__ import annotations

import importlib
import os
import stat
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from fastrnns_rs.documents.reading import content
from fastrnns_rs.errors import first_line
from fastrnns_rs.escaping import print_traceback, visible
from fastrnns_rs.processes.module_path import additions_noted
from fastrnns_rs.processes.process_state import process_restored, standard_output_elsewhere

if TYPE_CHECKING:
    from fastrnns_rs.documents.codec import RunWarning

GROUP = "fastrnns_rs.runners"
#: Largest length of a reason: an exception may have megabytes of text.
_REASON_LENGTH = 300
#: Largest size of the file with the entry points of a package, in bytes.
_MOST_BYTES = 1 << 20
#: Largest size of the description of a package, in bytes.
_MOST_DESCRIPTION = 1 << 24


@dataclass(frozen=True, slots=True, kw_only=True)
class Plugin:
    """Entry point of an installed package.

    Attributes:
        name: Name of the entry point.
        value: Module that the entry point names.
        package: Name and version of the package, as `extra 1.0`.
    """

    name: str
    value: str
    package: str

    def __str__(self) -> str:
        return f"{self.name} = {self.value} of the package {self.package}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Failure:
    """Plug-in that could not be loaded, with the reason in one line."""

    plugin: Plugin
    reason: str

    def warning(self) -> RunWarning:
        """Returns the warning about the failure."""
        from fastrnns_rs.documents.warning import make_warning

        package = self.plugin.package.partition(" ")[0]
        return make_warning("plugin_failed", evidence=f"{self.plugin}: {self.reason}", PACKAGE=package)


def installed() -> tuple[list[Plugin], list[Failure]]:
    """Returns all plug-ins, and packages whose entry points cannot be read.

    Plug-ins are sorted by the names of package and entry point, so that their order does not depend on the disk.
    """
    found: dict[str, list[Plugin] | Failure] = {}
    # Python ignores entries that are not strings. An empty one is the working directory, which installs no package.
    for folder in (one for one in sys.path if isinstance(one, str) and one):
        for place in _mentioning(folder):
            name, points = _read(place)
            # If a package is installed twice, the first on sys.path counts, as in Python.
            found.setdefault(name, points)
    damaged = [one for one in found.values() if isinstance(one, Failure)]
    plugins = [plugin for one in found.values() if not isinstance(one, Failure) for plugin in one]
    return sorted(plugins, key=lambda one: (one.package, one.name)), damaged


def load(plugin: Plugin) -> Failure | None:
    """Imports the module of a plug-in, and returns the failure if there is one.

    Raises:
        KeyboardInterrupt: If the user presses Ctrl-C.
    """
    reasons = []
    try:
        # A priority that the plug-in changed counts for other runners, also if the import fails.
        with process_restored("the plug-in"), additions_noted():
            reasons += _import_failure(plugin.value)
    except Exception as error:  # noqa: BLE001
        reasons.append(_reason(error))
    return Failure(plugin=plugin, reason="; ".join(reasons)) if reasons else None


def _import_failure(value: str) -> list[str]:
    """Imports a plug-in, and returns the reason of a failure, if there is one."""
    try:
        with standard_output_elsewhere():
            import_value(value)
    except KeyboardInterrupt:
        raise
    # A module may also call sys.exit.
    except BaseException as error:  # noqa: BLE001
        if os.environ.get("FASTRNNS_DEBUG"):
            print_traceback(error)
        return [_reason(error)]
    return []


def import_value(value: str) -> None:
    """Imports the module of an entry point, and gets its attribute.

    The entry point has the form `module` or `module:attribute`.
    """
    module, _, attributes = value.partition("[")[0].partition(":")
    found = importlib.import_module(module.strip())
    for name in filter(None, attributes.strip().split(".")):
        found = getattr(found, name)


def _reason(error: BaseException) -> str:
    """Returns one line that describes an error."""
    line = visible(first_line(error))
    return line if len(line) <= _REASON_LENGTH else line[: _REASON_LENGTH - 1] + "…"


def _mentioning(folder: str) -> list[Path]:
    """Returns packages in a folder of `sys.path` that may have our entry points.

    `importlib.metadata` takes as long as the rest of `list`; reading the files takes a tenth of that.
    """
    wanted = f"[{GROUP}]".encode()
    found = []
    try:
        names = [name for name in os.listdir(folder) if name.endswith((".dist-info", ".egg-info"))]
    except (OSError, ValueError):
        return []
    for name in names:
        place = Path(folder, name)
        try:
            file = place / "entry_points.txt"
            # Reading a pipe or a device could take for ever.
            if stat.S_ISREG(file.stat().st_mode) and wanted in content(file, _MOST_BYTES):
                found.append(place)
        except OSError:
            continue
    return found


def _check_file(file: Path) -> None:
    """Rejects a description that Python could read for ever, such as a pipe."""
    try:
        found = file.stat()
    except FileNotFoundError:
        return
    if not stat.S_ISREG(found.st_mode) or found.st_size > _MOST_DESCRIPTION:
        raise OSError(f"{file.name} is not a file of at most {_MOST_DESCRIPTION >> 20} MiB")


def _read(place: Path) -> tuple[str, list[Plugin] | Failure]:
    """Returns a package's name as Python compares it, and its plug-ins."""
    from importlib.metadata import Distribution

    # The folder is named like `extra-1.0.dist-info`.
    name, _, version = place.stem.partition("-")
    label = f"{name} {version}".strip()
    try:
        for one in ("METADATA", "PKG-INFO"):
            _check_file(place / one)
        package = Distribution.at(place)
        label = f"{package.metadata['Name'] or name} {package.metadata['Version'] or version}".strip()
        points = package.entry_points.select(group=GROUP)
        plugins = [Plugin(name=one.name, value=one.value, package=label) for one in points]
    except Exception as error:  # noqa: BLE001  # the files of another package may be invalid in any way
        return name.lower(), Failure(plugin=Plugin(name="?", value="?", package=label), reason=_reason(error))
    return name.lower(), plugins
