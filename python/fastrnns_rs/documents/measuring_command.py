"""Command that measured a run, for hints that change its options."""

from __future__ import annotations

import shlex
from collections.abc import Mapping, Sequence


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
