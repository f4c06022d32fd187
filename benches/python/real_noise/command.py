"""How the program is called: every part of the validation measures the same problem, by the command line."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

RUNNERS = Path(__file__).with_name("runners.py")
#: Some milliseconds a phase, and a second of them a process, which then takes three or four with torch's import.
PROBLEM = ["--device", "cpu", "--seq-length", "100", "--input-size", "128", "--hidden-size", "128"]
PROBLEM += ["--num-layers", "1", "--mini-batch", "4", "--threads", "1", "--nloops", "300"]


def tell(text: str) -> None:
    """Progress: on standard error, where no table goes."""
    print(text, file=sys.stderr, flush=True)


def fastrnns_rs(*arguments: str | Path, state: Path | None = None) -> tuple[int, str]:
    """Runs `fastrnns-rs`; its progress goes where ours goes.

    Args:
        arguments: After the program's name.
        state: Where it keeps what it knows of the machine; None for the user's own folder.

    Returns:
        Its exit status and what it wrote to standard output.
    """
    variables = {**os.environ, **({} if state is None else {"XDG_STATE_HOME": str(state.resolve())})}
    command = [sys.executable, "-m", "fastrnns_rs", *map(str, arguments)]
    done = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=False, env=variables)
    return done.returncode, done.stdout


def document(path: Path) -> dict[str, Any] | None:
    """The JSON object of an earlier attempt, or None where there is none that is whole."""
    try:
        plain = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return None
    return plain if isinstance(plain, dict) else None
