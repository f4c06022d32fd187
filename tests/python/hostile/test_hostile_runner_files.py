"""Files of runners that are hostile where the command itself loads them."""

from __future__ import annotations

from pathlib import Path

import pytest
from commands import run_pretended

BENCH = ("bench", "py", "--device", "cpu", "--quick", "--json")
FILES = {
    "exits in its error": (
        "class E(Exception):\n    def __str__(self): raise SystemExit(0)\nraise E\n",
        "E: its message cannot be shown: SystemExit",
    ),
    "raises in its error": (
        "class E(BaseException):\n    def __str__(self): raise self\nraise E\n",
        "E: its message cannot be shown: E",
    ),
    "hides the name of its error": (
        (
            "class M(type):\n    __name__ = property(lambda cls: exit(0))\n"
            "class E(Exception, metaclass=M): pass\nraise E('text')\n"
        ),
        "E: text",
    ),
}


@pytest.mark.parametrize("name", FILES)
def test_an_error_that_fails_is_an_error_of_the_file(name: str, tmp_path: Path) -> None:
    """The command ended with exit code 0 and without output."""
    text, reason = FILES[name]
    file = tmp_path / "file.py"
    file.write_text(text)
    done = run_pretended(*BENCH, "--runner-file", file)
    assert (done.status, done.stdout) == (2, "")
    assert f"(--runner-file): {reason}\n" in done.stderr
    assert "Traceback" not in done.stderr


def test_a_file_without_an_end_is_not_waited_for() -> None:
    if not Path("/proc/kmsg").is_file():
        pytest.skip("no /proc/kmsg, whose reading waits for messages of the kernel")
    done = run_pretended(*BENCH, "--runner-file", "/proc/kmsg")
    assert done.status == 2
    assert "cannot load file: '/proc/kmsg'" in done.stderr
