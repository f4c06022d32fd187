"""Old names of options, which still work and print a warning.

An option has one meaning in all commands; those that had another meaning have new names.
"""

from __future__ import annotations

import os
from collections.abc import Mapping

from fastrnns_rs.cli import shared

#: New flag of each old flag, by command.
RENAMED: Mapping[str, Mapping[str, str]] = {
    "report": {"--filter": "--match", "--device": "--devices"},
    "profile": {"--baseline": "--unprofiled", "--no-baseline": "--no-unprofiled"},
}


def renamed(verb: str, flag: str) -> str | None:
    """Returns the new flag for an old flag, after a warning; None for any other flag.

    Args:
        verb: Name of the command.
        flag: Flag in kebab case, as `--filter`.
    """
    new = RENAMED.get(verb, {}).get(flag)
    if new is not None:
        shared.tell([f"warning: {verb} {flag} has a new name, {new}; the old name will go", f"  hint: Use {new}."])
    return new


def warn_of_variables(verb: str) -> None:
    """Prints a warning for each environment variable with an old name."""
    for old, new in RENAMED.get(verb, {}).items():
        before, after = (_variable(verb, flag) for flag in (old, new))
        if os.environ.get(before) and not old.startswith("--no-"):
            shared.tell([f"warning: {before} has a new name, {after}; the old name will go", f"  hint: Use {after}."])


def variables(verb: str, flag: str) -> list[str]:
    """Returns the environment variables of a renamed option, the new name first."""
    names = [flag, *(old for old, new in RENAMED[verb].items() if new == flag)]
    return [_variable(verb, name) for name in names]


def _variable(verb: str, flag: str) -> str:
    return f"FASTRNNS_{verb.upper()}_{flag.lstrip('-').replace('-', '_').upper()}"


def new_key(verb: str, key: str) -> str:
    """Returns the new key of an option in `pyproject.toml`.

    An old key prints a warning.
    """
    new = renamed(verb, f"--{key}")
    return key if new is None else new.removeprefix("--")
