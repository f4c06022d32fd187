"""Command that measured a run, for hints that change its options."""

from __future__ import annotations

import shlex
from collections.abc import Mapping, Sequence


def find_option(command: Sequence[str], flag: str) -> list[str]:
    """Returns an option of a command as words, each time that it is given.

    >>> find_option(["fastrnns-rs", "bench", "--runner-file", "r.py", "mine"], "--runner-file")
    ['--runner-file', 'r.py']
    """
    end = command.index("--") if "--" in command else len(command)
    pairs = zip(command[:end], [*command[1:end], ""], strict=True)
    return [
        part
        for word, after in pairs
        for part in ((word, after) if word == flag else (word,) if word.startswith(f"{flag}=") else ())
    ]


def with_options(command: Sequence[str], options: Mapping[str, str]) -> str | None:
    """Returns the command line of `bench` or `ab` with other values of options.

    >>> with_options(["fastrnns-rs", "ab", "--processes", "1", "cudnn", "py"], {"--processes": "10"})
    'fastrnns-rs ab cudnn py --processes 10'

    Args:
        command: Command of a run, as in its document.
        options: Flags with their new values.

    Returns:
        The command line; None if the run was not measured by such a command, as in Python.
    """
    if command[:1] != ["fastrnns-rs"] or command[1:2] not in (["bench"], ["ab"]):
        return None
    # Words behind two dashes are runners.
    end = command.index("--") if "--" in command else len(command)
    pairs = zip(("", *command), command[:end], strict=False)
    kept = [word for before, word in pairs if before not in options and word.partition("=")[0] not in options]
    return shlex.join([*kept, *(word for pair in options.items() for word in pair), *command[end:]])
