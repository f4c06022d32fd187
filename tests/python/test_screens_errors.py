"""Errors of the command line, character by character: the golden screen `errors`."""

from __future__ import annotations

import fcntl
import gzip
import json
import os
import pty
import shlex
import struct
import subprocess
import sys
import termios
from dataclasses import replace
from pathlib import Path

import pytest
from commands import command_with_facts, finished, run_process, run_with_facts
from facts import FACTS
from run_files import PROBLEM, result, run
from screens import screen

from fastrnns_rs.cli.exit_codes import ExitCode

BLOCKS = screen("errors").rstrip("\n").split("\n\n")
NO_DRIVER = replace(FACTS, no_cuda_reason="no NVIDIA driver is loaded")
ON_A_CPU = "bench --device cuda"


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Returns a folder with the files that the commands name."""
    made = tmp_path_factory.mktemp("errors")
    for name, hidden_size in (("before", 64), ("after", 64), ("small", 32), ("large", 64)):
        problem = replace(PROBLEM, hidden_size=hidden_size)
        run([result("cudnn", problem=problem), result("py", problem=problem)]).save(made / f"{name}.json")
    trace = {"schemaVersion": 1, "deviceProperties": [], "traceEvents": []}
    (made / "trace.json.gz").write_bytes(gzip.compress(json.dumps(trace).encode()))
    return made


def words_of(block: str) -> list[str]:
    first = block.partition("\n")[0]
    assert first.startswith("$ fastrnns-rs ")
    return shlex.split(first)[2:]


@pytest.mark.parametrize("block", BLOCKS, ids=lambda block: block.partition("\n")[0][2:])
def test_errors_are_those_of_the_page(block: str, folder: Path) -> None:
    done = run_with_facts(*words_of(block), cwd=folder, facts=NO_DRIVER, FASTRNNS_HISTORY=folder / "history")
    # With progress on stderr, the error is the end.
    assert done.stderr.endswith(block.partition("\n")[2] + "\n"), done.stderr
    assert done.stdout == ""
    assert done.status == (ExitCode.MISSING if ON_A_CPU in block and "gpu" not in block else ExitCode.USAGE)


@pytest.mark.parametrize("place", [0, 4, 6])
def test_a_process_prints_the_same(place: int, folder: Path) -> None:
    words, expected = words_of(BLOCKS[place]), BLOCKS[place].partition("\n")[2] + "\n"
    if ON_A_CPU in BLOCKS[place]:
        done = finished(command_with_facts(*words, facts=NO_DRIVER), cwd=folder)
    else:
        done = run_process(*words, cwd=folder)
    assert (done.stderr.endswith(expected), done.stdout) == (True, "")


def test_hints_are_commands_that_correct_the_error(folder: Path) -> None:
    for block in BLOCKS:
        hint = block.rpartition("hint: ")[2]
        if (
            hint.startswith("Run: ")
            and "--help" not in hint
            and "cpu" not in hint
            and not hint.startswith("Run: fastrnns-rs bench")
        ):
            done = run_with_facts(*shlex.split(hint)[2:], cwd=folder, FASTRNNS_HISTORY=folder / "history")
            assert done.status != ExitCode.USAGE, (hint, done.stderr)


def test_a_command_is_no_option_of_its_name(folder: Path) -> None:
    done = run_with_facts("history", "--export", cwd=folder, FASTRNNS_HISTORY=folder / "history")
    assert done.stderr.startswith("error: missing value: --export (history)\n")


def test_options_of_other_meaning_are_no_correction(folder: Path) -> None:
    done = run_with_facts("ab", "--resume", "before.json", cwd=folder)
    assert done.stderr.splitlines()[0] == "error: unknown option: --resume (ab)"
    assert "--same" not in done.stderr


@pytest.mark.parametrize("words", [("bench", "--runner"), ("ab", "--runners"), ("report", "--file")])
def test_an_option_of_the_name_of_an_argument_is_to_be_left_out(words: tuple[str, str], folder: Path) -> None:
    verb, option = words
    done = run_with_facts(verb, option, "cudnn", cwd=folder)
    noun = "files" if verb == "report" else "runners"
    assert done.stderr == (
        f"error: unknown option: {option} ({verb})\nhint: Leave out {option}: {noun} need no option.\n"
    )


def test_values_of_variables_and_files_name_their_place(tmp_path: Path) -> None:
    done = run_with_facts("bench", "cudnn", cwd=tmp_path, FASTRNNS_BENCH_DTYPE="fp16")
    assert done.stderr == "error: invalid value: 'fp16' (FASTRNNS_BENCH_DTYPE)\nhint: Use 'float16'.\n"
    (tmp_path / "pyproject.toml").write_text('[tool.fastrnns-rs.bench]\ndtype = "fp16"\n')
    done = run_with_facts("bench", "cudnn", cwd=tmp_path)
    assert done.stderr == (
        "error: invalid value: 'fp16' (pyproject.toml, tool.fastrnns-rs.bench.dtype)\nhint: Use 'float16'.\n"
    )
    (tmp_path / "pyproject.toml").write_text("[tool.fastrnns-rs.x]\n")
    done = run_with_facts("bench", "cudnn", cwd=tmp_path)
    assert done.stderr.startswith("error: unknown table: 'x' (pyproject.toml)\n")


MISSING = {
    "show": ["show", "none.json"],
    "compare": ["compare", "before.json", "none.json"],
    "report": ["report", "none.json"],
    "resume": ["bench", "--resume", "none.json"],
    "baseline": ["compare", "--baseline", "none.json", "--candidate", "after.json"],
    "import": ["history", "--import", "none"],
    "inductor": ["inductor", "none.py"],
    "runner file": ["verify", "--runner-file", "none.py"],
    "bench": ["bench", "--runner-file", "none.py"],
    "profile": ["profile", "--runner-file", "none.py", "cudnn"],
    "categories": ["report", "trace.json.gz", "--categories", "none"],
}


@pytest.mark.parametrize("words", MISSING.values(), ids=MISSING)
def test_a_missing_file_is_a_usage_error_in_every_command(words: list[str], folder: Path) -> None:
    done = run_with_facts(*words, cwd=folder, FASTRNNS_HISTORY=folder / "history")
    assert done.status == ExitCode.USAGE
    assert done.stderr.startswith("error: file not found: 'none"), done.stderr


#: Contents of other kinds of files: kind in the message, and the command that reads the file.
SCHEMAS = {
    "run": ("a run", "show"),
    "comparison": ("a comparison", "show"),
    "capture": ("a capture manifest", "report"),
    "summary": ("a summary of captures", "show"),
    "verification": ("a verification", None),
    "inductor": ("a report of inductor", None),
    "list": ("a list of runners", None),
    "doctor": ("a report of doctor", None),
    "noise-floor": ("a noise floor", None),
    "history": ("a list of runs", None),
}
KINDS = {
    **{name: (json.dumps({"schema": f"fastrnns-rs/{name}"}).encode(), *found) for name, found in SCHEMAS.items()},
    "trace": (b'{"schemaVersion": 1, "traceEvents": []}', "a torch.profiler trace", "report"),
    "nsys report": (b"NVIDIA Tegra Profiler Report 2026.2.1", "an nsys report", "report"),
    "nvprof log": (b"==1234== NVPROF is profiling process 1234\n", "output of nvprof", "report"),
    "nvprof table": (b'"Type","Time(%)","Time","Calls"\n', "output of nvprof", "report"),
    "ncu table": (b'"ID","Process ID","Process Name","Kernel Name"\n', "output of ncu", None),
    "Python": (b"import torch\n", "a Python file", None),
    "empty": (b"", "an empty file", None),
}
READERS = {
    "show": (["show", "FILE"], "run or comparison"),
    "report": (["report", "FILE"], "capture"),
    "resume": (["bench", "--resume", "FILE"], "run file"),
    "inductor": (["inductor", "FILE"], "generated module"),
}


@pytest.mark.parametrize("reader", READERS)
@pytest.mark.parametrize("kind", KINDS)
def test_a_file_of_another_kind_names_its_kind_and_its_command(reader: str, kind: str, tmp_path: Path) -> None:
    content, noun, verb = KINDS[kind]
    words, wanted = READERS[reader]
    if verb == words[0] or (reader == "resume" and kind == "run") or (reader, kind) == ("inductor", "Python"):
        return
    (tmp_path / "FILE").write_bytes(content)
    done = run_with_facts(*words, cwd=tmp_path, FASTRNNS_HISTORY=tmp_path / "history")
    assert done.status == ExitCode.USAGE, done.stderr
    assert done.stderr.startswith(f"error: not a {wanted}: 'FILE' is {noun} ("), done.stderr
    hint = done.stderr.rpartition("hint: ")[2].strip()
    alone = "Use a torch.profiler trace, " if wanted == "capture" else f"Use a {wanted}."
    assert hint.startswith(alone if verb is None else f"Run: fastrnns-rs {verb} FILE")


def test_a_correction_is_another_file_of_the_same_folder(folder: Path) -> None:
    inside = os.path.join(str(folder), "aftr.json")
    done = run_with_facts("compare", folder / "before.json", inside)
    assert f"hint: Run: fastrnns-rs compare {folder}/before.json {folder}/after.json" in done.stderr
    # A file compared with itself is no correction.
    done = run_with_facts("compare", "before.json", "befor.json", cwd=folder)
    assert "hint: Run" not in done.stderr


def test_errors_are_wrapped_to_a_terminal_and_commands_are_not(folder: Path) -> None:
    ours, theirs = pty.openpty()
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 24, 60, 0, 0))
    words = ["show", "before.json", "--format", "junit"]
    longer = ["bench", "--hiden-size", "128", "cudnn", "--run-file", "a_long_name_of_a_run_file_in_this_folder.json"]
    for given, widest in ((words, 60), (longer, 200)):
        command = [sys.executable, "-m", "fastrnns_rs", *given]
        variables = {name: value for name, value in os.environ.items() if name != "COLUMNS"}
        process = subprocess.Popen(command, cwd=folder, stderr=theirs, env=variables)
        assert process.wait() == ExitCode.USAGE
        lines = os.read(ours, 65536).decode().splitlines()
        assert max(map(len, lines)) <= widest
        assert (len(lines) > 2) == (widest == 60)
    os.close(ours)
    os.close(theirs)
