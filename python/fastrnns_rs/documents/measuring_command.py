"""Command that measured a run, for hints that change its number of processes."""

from __future__ import annotations

import shlex
from collections.abc import Sequence

_FLAG = "--processes"


def with_processes(command: Sequence[str], processes: int) -> str | None:
    """Returns the command line of `bench` or `ab` with another number of processes.

    >>> with_processes(["fastrnns-rs", "ab", "--processes", "1", "cudnn", "py"], 10)
    'fastrnns-rs ab cudnn py --processes 10'

    Args:
        command: Command of a run, as in its document.
        processes: Number of processes per runner or side.

    Returns:
        The command line; None if the run was not measured by such a command.
    """
    if command[:1] != ["fastrnns-rs"] or command[1:2] not in (["bench"], ["ab"]):
        return None
    pairs = zip(("", *command), command, strict=False)
    kept = [word for before, word in pairs if _FLAG not in {before, word} and not word.startswith(f"{_FLAG}=")]
    # Words behind two dashes are runners.
    end = kept.index("--") if "--" in kept else len(kept)
    return shlex.join([*kept[:end], _FLAG, str(processes), *kept[end:]])
