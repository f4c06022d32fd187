"""Git checkout in the working directory.

Nothing that its own settings name is executed.
"""

from __future__ import annotations

import os
import re

from fastrnns_rs._core import Completed, run_command
from fastrnns_rs.processes.programs import absolute_environment, program_path

#: Settings in the checkout's own files. Others are the user's or the system's.
_OWN = {"local", "worktree"}
_FILTER = re.compile(r"filter\.(.*)\.(clean|process|required)", re.DOTALL)
#: The filter of git-lfs, which never runs: settings of the checkout name programs that it starts and folders that it
#: writes to. git-lfs reads settings in another way than git, so that their names need not be in git's list.
_LFS_FILTER = ["filter.lfs.clean", "filter.lfs.process", "filter.lfs.required"]
_COMMIT = re.compile(r"[0-9a-f]{40}|[0-9a-f]{64}")
_TIMEOUT_S = 10
#: Command of a shell that limits its memory to 2 GiB, then becomes git. Git reads some files of a checkout whole, and
#: a link to /dev/zero in place of one would fill the memory. Mapped files, such as those of objects, do not count.
_LIMITED = 'ulimit -d 2097152 2>/dev/null; exec "$@"'
#: Kept bytes of an output, of which earlier ones are lost.
_KEPT_BYTES = 64 * 1024


def head_commit() -> str | None:
    """Returns the commit that is checked out; None without a checkout or git."""
    # Without --verify, a file of this name in a checkout without commits is the answer.
    found = output("rev-parse", "--verify", "HEAD")
    return found if found is not None and _COMMIT.fullmatch(found) else None


def has_changes() -> bool | None:
    """Returns True if files differ from the commit; None if git does not tell.

    Commands of the checkout's own filters, and git-lfs, do not run. A file that such a command converts may count as
    changed. Changes within submodules do not count, nor do files that git does not track: run files are such files.
    """
    listed = output("config", "--list", "--null", "--show-scope", "--name-only")
    if listed is None or not _is_whole(listed):
        return None
    words = listed.split("\0")
    own = [name for scope, name in zip(words[::2], words[1::2], strict=False) if scope in _OWN]
    filters = [*_LFS_FILTER, *(name for name in own if _FILTER.fullmatch(name))]
    if any("=" in name for name in filters):
        # No option of git replaces such a setting.
        return None
    off = {name: "false" if name.endswith("required") else "" for name in filters}
    # A submodule has settings of its own.
    status = output("status", "--porcelain", "--ignore-submodules=dirty", "--untracked-files=no", settings=off)
    return None if status is None else bool(status.strip())


def output(*words: str, settings: dict[str, str] | None = None) -> str | None:
    """Returns the end of the output of a git command.

    Args:
        words: Words after `git`.
        settings: Settings that replace those of the checkout.

    Returns:
        None if the command fails or takes too long, or git is missing.
    """
    try:
        done = run(words, settings or {})
    except (OSError, RuntimeError, ValueError):
        return None
    return done.stdout_tail.strip("\n") if done.exit_status == 0 else None


def run(words: tuple[str, ...], settings: dict[str, str]) -> Completed:
    """Runs a git command for 10 s at most, in 2 GiB of memory.

    It runs without the programs that a checkout may name: a file system monitor, hooks, which a refreshed index has,
    and commands that fetch missing objects.

    Raises:
        OSError: If git cannot be started.
        RuntimeError: If the supervisor of commands cannot be started.
        ValueError: If a word contains a null character.
    """
    # Options, because git before 2.31 ignores the variables for settings. Such a git would run `false` as a monitor.
    # One without `GIT_NO_LAZY_FETCH` would ask the bundle server before it checks the protocol.
    replaced = {"core.fsmonitor": "", "core.hooksPath": os.devnull, "fetch.bundleURI": "", **settings}
    options = [word for name, value in replaced.items() for word in ("-c", f"{name}={value}")]
    variables = {
        "GIT_OPTIONAL_LOCKS": "0",
        "GIT_NO_LAZY_FETCH": "1",
        "GIT_ALLOW_PROTOCOL": "none",
        # The commit is that of the files, not of another commit that replaces it.
        "GIT_NO_REPLACE_OBJECTS": "1",
        # They run in the checkout: one of Python would import its modules.
        "PYTHONSAFEPATH": "1",
    }
    command = ["/bin/sh", "-c", _LIMITED, "sh", program_path("git"), *options, *words]
    return run_command(command, env={**absolute_environment(), **variables}, timeout=_TIMEOUT_S)


def _is_whole(text: str) -> bool:
    """Returns True if an output is complete, with all its bytes.

    A name that is missing could be that of a filter.
    """
    return len(text.encode()) < _KEPT_BYTES and "\ufffd" not in text
