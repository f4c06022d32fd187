"""Progress of long commands on a terminal, and its absence elsewhere."""

from __future__ import annotations

import subprocess

import pretended_processes
import pytest
from terminals import on_terminal, printed

VERIFY = pretended_processes.command("verify", "cudnn", "--device", "cpu")


@pytest.mark.parametrize("columns", [60, 80])
def test_a_terminal_shows_a_bar_and_the_table_once(columns: int) -> None:
    status, received = on_terminal(VERIFY, columns, 24, {pretended_processes.SECONDS: "1"})
    assert status == 0, received
    text = printed(received)
    assert "0 of 1  importing torch" in text
    assert "0 of 1  cudnn: forward" in text
    # The region is erased before the table.
    assert text.count("worst error") == 1
    assert "\x1b[2K" in received
    lines = [part for line in text.split("\r\n") for part in line.split("\r")]
    assert max(map(len, lines[:-1])) <= columns
    assert lines[-2] == "Time the runners: fastrnns-rs bench cudnn"


def test_elsewhere_stderr_has_lines_and_stdout_the_table() -> None:
    done = subprocess.run(VERIFY, capture_output=True, text=True, check=True)
    assert done.stderr.startswith("verify: 1 runner\n")
    assert "\x1b" not in done.stderr + done.stdout
    assert done.stdout.startswith("runner")
    assert done.stdout.endswith("1 ok\n")


def test_quiet_leaves_the_result() -> None:
    done = subprocess.run([*VERIFY, "--quiet"], capture_output=True, text=True, check=True)
    assert done.stderr == ""
    assert done.stdout.endswith("1 ok\n")
