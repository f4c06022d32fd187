"""Settings of a worker's process: threads, CPUs, interpreter and environment."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path

from fastrnns_rs.errors import FastrnnsError
from fastrnns_rs.processes.module_path import own_path
from fastrnns_rs.processes.programs import absolute_environment

#: Variable set in every worker: a runner's file that calls `bench` on import would start workers without end.
MARK = "FASTRNNS_WORKER"
#: Variable with the profiled process's `TMPDIR` if the profiler has another one; empty for no `TMPDIR`.
OWN_TMPDIR = "FASTRNNS_OWN_TMPDIR"


@dataclass(frozen=True, slots=True, kw_only=True)
class Setting:
    """Settings of a worker's process.

    Attributes:
        threads: Number of threads that its numeric libraries may start; None for their defaults.
        affinity: CPUs that the worker may use; None for those of this process.
        python: Path of the interpreter; None for that of this process. Another interpreter has its own torch, and gets
            only this package from here.
        variables: Environment variables in addition to those of this process.
    """

    threads: int | None = None
    affinity: tuple[int, ...] | None = None
    python: str | None = None
    variables: Mapping[str, str] = field(default_factory=dict)

    def environment(self) -> dict[str, str]:
        """Returns all environment variables of the worker."""
        found = {**guarded_environment(), **self.variables, MARK: "1"}
        if self.threads is not None:
            found.update(OMP_NUM_THREADS=str(self.threads), MKL_NUM_THREADS=str(self.threads))
        if self.python is not None:
            # It is for our interpreter, as is PYTHONPATH.
            found.pop("PYTHONHOME", None)
        if self.python is not None or "PYTHONPATH" in self.variables:
            # Folders of the worker may hold another version of this package, and our folder another torch.
            found["PYTHONPATH"] = python_path([_make_package_folder(), *self._folders()])
        return found

    def sys_path(self) -> list[str] | None:
        """Returns the worker's module search path; None for that of its interpreter."""
        return None if self.python is not None else [*self._folders(), *own_path()]

    def known_path(self) -> list[str]:
        """Returns the known part of the worker's module search path."""
        # That of another interpreter is unknown.
        return self._folders() if self.python is not None else [*self._folders(), *own_path()]

    def _folders(self) -> list[str]:
        """Returns the module folders for this worker only, which may hold another torch."""
        return [os.path.abspath(one) for one in self.variables.get("PYTHONPATH", "").split(os.pathsep) if one]  # noqa: PTH100


def python_path(folders: Iterable[str]) -> str:
    """Returns the value of `PYTHONPATH` for folders of modules.

    Folders whose name has its separator are left out: Python would take the parts for other folders, which may be of
    other users.
    """
    return os.pathsep.join(one for one in folders if one and os.pathsep not in one)


def guarded_environment() -> dict[str, str]:
    """Returns this process's variables, without ways to code of others.

    Raises:
        FastrnnsError: If other users may write to torch's cache, and no other folder can be created.
    """
    # The first screen of a run starts no worker, and this module is slow to load.
    from fastrnns_rs.processes.temporary_folder import torch_variables

    # torch starts compilers and `python -c`: programs, modules and headers are not those of the working directory.
    return {**absolute_environment(), "PYTHONSAFEPATH": "1", **torch_variables()}


@cache
def _make_package_folder() -> str:
    """Returns a folder with only this package, for interpreters with other packages."""
    from fastrnns_rs.processes.temporary_folder import make_kept_folder, temporary_root

    if os.pathsep in str(temporary_root()):
        message = f"temporary folder with {os.pathsep!r} in its name: {str(temporary_root())!r}"
        raise FastrnnsError(message, "Set TMPDIR to another folder.", reason="it becomes a part of PYTHONPATH")
    folder = make_kept_folder()
    package = Path(__file__).parent.parent
    (Path(folder) / package.name).symlink_to(package, target_is_directory=True)
    return folder
