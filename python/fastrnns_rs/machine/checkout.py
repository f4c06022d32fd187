"""Git checkout in the working directory.

Nothing that its own settings name is executed.
"""

from __future__ import annotations

import os
import re

from fastrnns_rs._core import Completed, run_command
from fastrnns_rs.processes.programs import program_path

#: Settings in the checkout's own files. Others are the user's or the system's.
_OWN = {"local", "worktree"}
_FILTER = re.compile(r"filter\.(.*)\.(clean|process|required)", re.DOTALL)
#: Variable with the number of settings that variables replace.
_COUNT = "GIT_CONFIG_COUNT"
_TIMEOUT_S = 10
#: Kept bytes of an output, of which earlier ones are lost.
_KEPT_BYTES = 64 * 1024


def head_commit() -> str | None:
    """Returns the commit that is checked out; None without a checkout or git."""
    return output("rev-parse", "HEAD")


def has_changes() -> bool | None:
    """Returns True if files differ from the commit; None if git does not tell.

    Commands of the checkout's own filters do not run, so that a file which such a filter converts may count as changed.
    Changes within submodules do not count.
    """
    listed = output("config", "--list", "--null", "--show-scope", "--name-only")
    if listed is None or not _is_whole(listed):
        return None
    words = listed.split("\0")
    own = [name for scope, name in zip(words[::2], words[1::2], strict=False) if scope in _OWN]
    filters = [name for name in own if _FILTER.fullmatch(name)]
    off = {name: "false" if name.endswith("required") else "" for name in filters}
    # A submodule has settings of its own.
    status = output("status", "--porcelain", "--ignore-submodules=dirty", settings=off)
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
    """Runs a git command for 10 s at most.

    It runs without the programs that a checkout may name: a file system monitor, hooks, which a refreshed index has,
    and commands that fetch missing objects.

    Raises:
        OSError: If git cannot be started.
        RuntimeError: If the supervisor of commands cannot be started.
        ValueError: If a word contains a null character.
    """
    replaced = {"core.fsmonitor": "false", "core.hooksPath": os.devnull, **settings}
    # The user may have set some in the same way.
    given = os.environ.get(_COUNT, "")
    first = int(given[:9]) if given.isdecimal() else 0
    variables = {"GIT_OPTIONAL_LOCKS": "0", "GIT_ALLOW_PROTOCOL": "none", _COUNT: str(first + len(replaced))}
    for number, (name, value) in enumerate(replaced.items(), first):
        variables |= {f"GIT_CONFIG_KEY_{number}": name, f"GIT_CONFIG_VALUE_{number}": value}
    return run_command([program_path("git"), *words], env={**os.environ, **variables}, timeout=_TIMEOUT_S)


def _is_whole(text: str) -> bool:
    """Returns True if an output is complete, with all its bytes.

    A name that is missing could be that of a filter.
    """
    return len(text.encode()) < _KEPT_BYTES and "\ufffd" not in text
