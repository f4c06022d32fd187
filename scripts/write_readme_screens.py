"""Writes the screens of the README from kept run files. A test compares both.

A line `$ fastrnns-rs …` of the README is a command, and the lines below it, up to the next command, are its output.
`show` prints the table that `bench` printed.
"""

from __future__ import annotations

import os
import re
import shlex
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
README = ROOT / "README.md"
RUNS = ROOT / "benches" / "readme"
_SCREEN = re.compile(r"^\$ fastrnns-rs (.*)\n((?:(?!\$ fastrnns-rs |```).*\n)*)", re.MULTILINE)


def text() -> str:
    """Returns the text of the README with the screens of this build."""
    return _SCREEN.sub(lambda found: f"$ fastrnns-rs {found[1]}\n{_output(shlex.split(found[1]))}", README.read_text())


def _output(words: list[str]) -> str:
    """Returns the output of a command that reads kept runs; no history adds to it."""
    words = ["show", words[-1]] if words[0] == "bench" else words
    with tempfile.TemporaryDirectory() as empty:
        settings = {**os.environ, "XDG_DATA_HOME": empty, "XDG_CACHE_HOME": empty, "COLUMNS": "120", "NO_COLOR": "1"}
        command = [sys.executable, "-m", "fastrnns_rs", *words]
        return subprocess.run(command, cwd=RUNS, env=settings, capture_output=True, text=True, check=True).stdout


if __name__ == "__main__":
    README.write_text(text())
