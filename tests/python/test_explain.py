"""`explain`: the entry of a code, the list of codes, and wrong codes."""

from __future__ import annotations

import subprocess
import sys

import pytest
from commands import run_cli, run_process

from fastrnns_rs.documents.warning_table import ROWS


@pytest.mark.parametrize("code", ROWS)
def test_the_entry_of_a_code(code: str) -> None:
    done = run_cli("explain", code)
    assert (done.status, done.stderr) == (0, "")
    row, words = ROWS[code], " ".join(done.stdout.split())
    assert words.startswith(f"warning[{code}]: {row.effect}")
    assert f"Commands: {', '.join(row.verbs)}" in words
    assert words.endswith(f"Hint: {row.hint}")
    assert "](" not in words


@pytest.mark.parametrize("columns", [60, 80, 200])
def test_lines_fit_the_terminal(columns: int) -> None:
    long = [run_cli("explain", code, COLUMNS=str(columns)).stdout.splitlines() for code in ("drift", "several_modes")]
    assert max(len(line) for lines in long for line in lines) <= columns
    assert all(len(lines) > 4 for lines in long)


@pytest.mark.parametrize("columns", [30, 60, 80, 200])
def test_without_a_code_all_codes_are_listed(columns: int) -> None:
    done = run_cli("explain", COLUMNS=str(columns))
    assert done.status == 0
    lines = done.stdout.splitlines()
    assert max(map(len, lines)) <= columns
    # Effects that are too long continue below their first line.
    assert [line.split()[0] for line in lines if line.startswith("  ") and not line.startswith("   ")] == [*ROWS]
    assert all(row.short in " ".join(done.stdout.split()) for row in ROWS.values())
    following = done.stderr.split()
    assert run_cli(*following[following.index("fastrnns-rs") + 1 :]).status == 0


@pytest.mark.parametrize("given", ["warning[drift]", "[drift]", "warning[drift]:"])
def test_a_code_may_have_its_brackets(given: str) -> None:
    assert run_cli("explain", given).stdout == run_cli("explain", "drift").stdout


@pytest.mark.parametrize("variables", [{"LC_ALL": "C"}, {"PYTHONIOENCODING": "ascii"}])
def test_symbols_become_ascii(variables: dict[str, str]) -> None:
    done = run_process("explain", "several_modes", **variables)
    assert (done.status, done.stdout.isascii(), "levels (us, ms or s)" in done.stdout) == (0, True, True)


@pytest.mark.parametrize(
    ("given", "command"),
    [
        ("dritf", "fastrnns-rs explain drift"),
        ("several-modes", "fastrnns-rs explain several_modes"),
        ("Turbo", "fastrnns-rs explain turbo"),
        ("nothing like it", "fastrnns-rs explain"),
        ("[bold]x", "fastrnns-rs explain"),
        ("warning[dritf]", "fastrnns-rs explain drift"),
    ],
)
def test_an_unknown_code_is_a_usage_error(given: str, command: str) -> None:
    done = run_cli("explain", given)
    assert (done.status, done.stdout) == (2, "")
    error, hint = done.stderr.splitlines()
    assert error == f"error: unknown warning code: {given!r} (CODE)"
    assert hint.endswith(f": {command}")


def test_it_loads_neither_torch_nor_numpy() -> None:
    code = """
import sys
from fastrnns_rs.cli import main
try:
    main(["explain", "drift"])
except SystemExit as end:
    assert not end.code
loaded = {"torch", "numpy"} & set(sys.modules)
sys.exit(f"loaded {loaded}" if loaded else 0)
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
