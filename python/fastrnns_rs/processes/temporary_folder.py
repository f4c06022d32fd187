"""Temporary folders that are removed even after an interrupt.

Some of them are caches of `torch.compile`.
"""

from __future__ import annotations

import atexit
import getpass
import os
import re
import secrets
import signal
import tempfile
import threading
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, suppress
from functools import cache
from pathlib import Path

from fastrnns_rs.errors import FastrnnsError
from fastrnns_rs.processes.folder_removal import remove_folder
from fastrnns_rs.processes.ownership import others_may_add

#: Variables that name the folder for temporary files, and folders that Python tries next.
_VARIABLES = ("TMPDIR", "TEMP", "TMP")
_USUAL = ("/tmp", "/var/tmp", "/usr/tmp")  # noqa: S108  # names to compare with
#: Number of attempts at what must be done: each Ctrl-C interrupts an attempt.
_TRIES = 5
#: Signals that end a command.
_STOPS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT)


@contextmanager
def temporary_folder(prefix: str) -> Iterator[str]:
    """Creates a new and empty folder for the length of a `with` block.

    Unlike `tempfile.TemporaryDirectory` it removes the folder even if Ctrl-C comes while it is created or removed.

    Args:
        prefix: First letters of the folder's name.

    Yields:
        Path of the folder.

    Raises:
        FastrnnsError: If the folder cannot be created.
    """
    folder, process = temporary_root() / f"{prefix}{secrets.token_hex(8)}", os.getpid()
    try:
        # The folder is created within `try`, since a signal's handler may raise before the call returns.
        try:
            # Its parent is created too, since a runner may have removed it.
            folder.mkdir(mode=0o700, parents=True)
        except OSError as error:
            raise _not_created(error) from None
        yield str(folder)
    finally:
        _insist(lambda: _remove_own(str(folder), process))


def _insist(action: Callable[[], None]) -> None:
    """Performs an action despite interrupts, and raises the last one at its end."""
    interrupt: BaseException | None = None
    for _ in range(_TRIES):
        try:
            action()
            break
        except BaseException as error:  # noqa: BLE001  # a signal's handler may raise here too
            interrupt = error
    if interrupt is not None:
        raise interrupt


def temporary_root() -> Path:
    """Returns the folder for temporary files.

    Raises:
        FastrnnsError: If no folder can be written to.
    """
    try:
        return find_temporary_root()
    except OSError as error:
        raise _not_created(error) from None


def find_temporary_root() -> Path:
    """Returns the folder for temporary files.

    Raises:
        OSError: If no folder can be written to.
    """
    if tempfile.tempdir is None:
        # Python first tries each folder with a file, which an interrupt could leave there.
        with _signals_deferred():
            tempfile.gettempdir()
    return Path(tempfile.gettempdir())


@contextmanager
def _signals_deferred() -> Iterator[None]:
    """Calls the handlers of signals that come in the block after it.

    Blocked signals would go to other threads, such as those of numpy, and their handlers would run at once.
    """
    if threading.current_thread() is not threading.main_thread():
        # Handlers run in the main thread.
        yield
        return
    handlers = {one: handler for one in _STOPS if callable(handler := signal.getsignal(one))}
    came: list[int] = []

    def restore() -> None:
        for one, handler in handlers.items():
            signal.signal(one, handler)

    try:
        for one in handlers:
            signal.signal(one, lambda number, _frame: came.append(number))
        yield
    finally:
        _insist(restore)
        for number in came:
            signal.raise_signal(number)


def is_working_directory() -> bool:
    """Returns True if the folder for temporary files is only the last resort.

    Python takes the working directory where it can write to no other folder. Its files may be of others, such as those
    of an archive.

    Raises:
        FastrnnsError: If no folder can be written to.
    """
    root = str(temporary_root())
    named = {os.path.abspath(one) for name in _VARIABLES if (one := os.environ.get(name))}  # noqa: PTH100
    if root in named or root in _USUAL:
        return False
    try:
        return root in {os.curdir, os.getcwd()}  # noqa: PTH109
    except OSError:
        return False


def make_kept_folder() -> str:
    """Creates a new folder that is removed when this process ends.

    Raises:
        FastrnnsError: If the folder cannot be created.
    """
    try:
        folder = tempfile.mkdtemp(prefix="fastrnns-rs-", dir=temporary_root())
    except OSError as error:
        raise _not_created(error) from None
    atexit.register(_remove_own, folder, os.getpid())
    return folder


def _remove_own(folder: str, process: int) -> None:
    """Removes a folder, but not in a fork of the process that made it."""
    if os.getpid() == process:
        remove_folder(folder)


def torch_cache() -> Path:
    """Returns the default folder of Inductor's cache, by the rule of torch.

    Raises:
        FastrnnsError: If no temporary folder can be written to.
    """
    try:
        user = getpass.getuser()
    except (KeyError, ModuleNotFoundError, OSError):
        user = f"uid_{os.getuid()}"
    safe = re.sub(r'[\\/:*?"<>|]', "_", user)
    return temporary_root() / f"torchinductor_{safe}"


def torch_variables() -> dict[str, str]:
    """Returns environment variables for a process that may compile.

    Whatever `TORCHINDUCTOR_CACHE_DIR` names, torch has precompiled headers in its default cache, whose name anyone can
    guess. If other users may write to that folder, or it would be in the working directory, the process gets another
    temporary folder. If others may write to the folders above it, another one would not help. An empty
    `TORCHINDUCTOR_CACHE_DIR`, which torch takes for the working directory, becomes the default.

    Raises:
        FastrnnsError: If that folder cannot be created.
    """
    try:
        folder = torch_cache()
        is_own = (
            not is_working_directory()
            and not folder.is_symlink()
            and (not folder.exists() or (folder.is_dir() and others_may_add(folder) is None))
        )
    except (FastrnnsError, OSError):
        # torch cannot use the folder either.
        return {}
    found = {} if is_own else {"TMPDIR": _own_root(folder)}
    if os.environ.get("TORCHINDUCTOR_CACHE_DIR") == "":
        found["TORCHINDUCTOR_CACHE_DIR"] = str(Path(found.get("TMPDIR", folder.parent)) / folder.name)
    return found


@cache
def _own_root(_foreign: Path) -> str:
    return make_kept_folder()


def _not_created(error: OSError) -> FastrnnsError:
    hint = "Set TMPDIR to a folder that can be written to."
    return FastrnnsError("cannot create temporary folder", hint, reason=error.strerror or str(error))


#: Variables for the folders of Inductor and Triton, with the name of each folder.
_PARTS = {"TORCHINDUCTOR_CACHE_DIR": "inductor", "TRITON_CACHE_DIR": "triton"}
VARIABLES = frozenset(_PARTS)


def variables_for(folder: str | Path) -> dict[str, str]:
    """Returns environment variables that make a process keep its files in a folder."""
    return {name: str(Path(folder).resolve() / part) for name, part in _PARTS.items()}


def compiler_folder() -> AbstractContextManager[str]:
    """Creates a new and empty folder for the compiled code of a child process.

    It is removed after the process has ended. torch's own cache, which is used too, is created before another user can
    create it.
    """
    with suppress(FastrnnsError, OSError):
        if not is_working_directory():
            torch_cache().mkdir(mode=0o700)
    return temporary_folder("fastrnns-rs-compile-")
