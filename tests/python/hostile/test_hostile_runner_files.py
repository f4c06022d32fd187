"""Files of runners that are hostile where the command itself loads them."""

from __future__ import annotations

from pathlib import Path

import pytest
from commands import run_pretended, run_process, run_with_facts

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


def test_output_of_a_file_is_no_result_and_the_streams_that_it_closes_are_opened_again(tmp_path: Path) -> None:
    """Programs that it starts wrote in front of the JSON, and the error was lost."""
    file = tmp_path / "file.py"
    file.write_text(
        "import fastrnns_rs, os, sys\nos.write(1, b'raw\\n')\nos.system('echo child')\nprint('text')\n"
        "sys.stdout.close()\nsys.stderr.close()\n@fastrnns_rs.runner('silent')\ndef silent(problem): ...\n"
    )
    done = run_process("bench", "nothing", "--json", "--runner-file", file)
    assert (done.status, done.stdout) == (2, "")
    assert {"raw", "child", "text"} <= {*done.stderr.splitlines()}
    assert "error: unknown runner: 'nothing'" in done.stderr


NOTES = {
    "leaves": ("exit(0)", "its note failed: SystemExit: 0"),
    "has_no_text": (
        "type('N', (), {'__str__': lambda self: 1 / 0})()",
        "its note failed: ZeroDivisionError: division by zero",
    ),
    "prints": ("print('a note') or 'x'", "x"),
    "moves": ("os.chdir('/') or 'x'", "x"),
    "ends": ("os._exit(0)", None),
}
MODEL = """import os, fastrnns_rs
def build(problem):
    import torch
    layer = torch.nn.Linear(2, 2)
    return fastrnns_rs.ModelDef(inputs=[torch.zeros(1, 2)], params=[], forward=layer)
"""


def test_a_note_costs_no_other_row(tmp_path: Path) -> None:
    """It ended the command, with exit code 0 too, or wrote in front of the JSON."""
    file = tmp_path / "file.py"
    noted = [
        f"@fastrnns_rs.runner({name!r}, note=lambda problem: {code})\ndef {name}(problem):\n    return build(problem)\n"
        for name, (code, _) in NOTES.items()
    ]
    file.write_text(MODEL + "".join(noted))
    words = ("--device", "cpu", "--processes", 1, "--warmup", 1, "--nloops", 2, "--json", "--no-history")
    done = run_with_facts("bench", *NOTES, *words, "--runner-file", file, "--run-file", "run.json", cwd=tmp_path)
    assert done.status == 1, done.stderr
    rows = {row["runner"]: row for row in done.json()["results"]}
    assert {name: row["note"] for name, row in rows.items()} == {name: note for name, (_, note) in NOTES.items()}
    assert {row["status"] for name, row in rows.items() if name != "ends"} == {"ok"}
    assert rows["ends"]["reason"] == "the process exited with status 0 before it had a result"
    assert (tmp_path / "run.json").is_file()
