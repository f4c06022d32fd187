"""Machines as users have them: odd streams, folders, languages, limits, variables and modules.

`test_system_refusals.py` has limits of processes, `test_full_disk.py` full disks.
"""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

import pretended_processes
import pytest
import run_files
from commands import finished, run_process
from parts import few
from terminals import on_terminal, printed

from fastrnns_rs import FastrnnsError, Run, cli
from fastrnns_rs.cli.results_file import ResultsFile
from fastrnns_rs.cli.run_saving import RunSaver
from fastrnns_rs.machine import environment
from fastrnns_rs.processes.listener import Answer
from fastrnns_rs.processes.temporary_folder import compiler_folder
from fastrnns_rs.processes.worker_setting import Setting
from fastrnns_rs.verbs.history.run_history import RunHistory

#: Commands of a shell before it becomes the command.
ENVIRONMENTS = {
    "no stdin": 'exec "$@" <&-',
    "no stdout": 'exec "$@" >&-',
    "no stderr": 'exec "$@" 2>&-',
    "no streams": 'exec "$@" <&- >&- 2>&-',
    "nothing is read": 'exec "$@" > >(true)',
    "no home": 'unset HOME; exec "$@"',
    "home is a file": 'HOME=/etc/passwd exec "$@"',
    "no variables": 'exec env -i "$@"',
    "no temporary folder": 'TMPDIR=/nonexistent exec "$@"',
    "unwritable temporary folder": 'TMPDIR=/proc exec "$@"',
    "unwritable user folders": 'XDG_STATE_HOME=/proc/x XDG_DATA_HOME=/proc/x XDG_CACHE_HOME=/proc/x exec "$@"',
    "deleted folder": 'mkdir gone && cd gone && rmdir ../gone && exec "$@"',
    "language C": 'LC_ALL=C LANG=C exec "$@"',
    "language POSIX, ASCII": 'LC_ALL=POSIX PYTHONUTF8=0 PYTHONCOERCECLOCALE=0 exec "$@"',
    "language that is missing": 'exec env LC_ALL=xx_YY.nope "$@"',
    "streams in ASCII": 'PYTHONIOENCODING=ascii exec "$@"',
    "streams in Latin-1": 'PYTHONIOENCODING=latin-1 exec "$@"',
    "one column": 'COLUMNS=1 LINES=1 exec "$@"',
    "no columns": 'COLUMNS=0 LINES=0 exec "$@"',
    "columns that are no number": 'COLUMNS=abc LINES=-5 exec "$@"',
    "columns without end": 'COLUMNS=99999999999 exec "$@"',
    "dumb terminal": 'TERM=dumb exec "$@"',
    "unknown terminal": "TERM=$'\\xff' exec \"$@\"",
    "without docstrings and assertions": 'PYTHONOPTIMIZE=2 exec "$@"',
    "hashes that do not change": 'PYTHONHASHSEED=0 exec "$@"',
    "warnings are errors": 'PYTHONWARNINGS=error exec "$@"',
    "development mode": 'PYTHONDEVMODE=1 exec "$@"',
    "odd threads": 'OMP_NUM_THREADS=abc CUDA_VISIBLE_DEVICES=nope exec "$@"',
    "odd command": "FASTRNNS_COMMAND=$'a=b \\xff/' exec \"$@\"",
    "odd names": "FASTRNNS_X=$'\\xff' FASTRNNS_BENCH_NO_SUCH=1 exec \"$@\"",
    "a variable without a name": 'exec env =x=1 "$@"',
    "empty values": 'FASTRNNS_BENCH_NLOOPS= FASTRNNS_BENCH_DEVICE= FASTRNNS_DEBUG= exec "$@"',
    "no right to anything": 'umask 777; exec "$@"',
    "signals are ignored": "trap '' INT TERM HUP PIPE CHLD USR1; exec \"$@\"",
    "no programs": 'PATH= exec "$@"',
    "small stack": 'ulimit -s 256; exec "$@"',
    **{f"{count} open files": f'ulimit -n {count}; exec "$@"' for count in (6, 8, 12, 20)},
}
#: Those that every change is tested with.
OFTEN = (
    *("no streams", "no variables", "deleted folder", "language POSIX, ASCII", "unwritable temporary folder"),
    *("without docstrings and assertions", "warnings are errors", "12 open files"),
)
#: Of these a bench may be refused, in one line.
REFUSES_BENCH = {f"{count} open files" for count in (6, 8, 12, 20)}
#: Variables of this package with invalid values, and the command that refuses them.
REFUSED = {
    "FASTRNNS_BENCH_NLOOPS=abc": "bench",
    "FASTRNNS_BENCH_GROUP=nope": "bench",
    "FASTRNNS_BENCH_DEVICE=abacus": "bench",
    "FASTRNNS_SHOW_FORMAT=nope": "show",
    "FASTRNNS_MAX_DOCUMENT_MIB=-1": "show",
}
#: Modules of Python and of others that a user's file may hide.
HIDDEN = (
    "json",
    "click",
    "platformdirs",
    "numpy",
    "pathlib",
    "dataclasses",
    "typing",
    "re",
    "enum",
    "random",
    "fastrnns",
)
LONGEST_S = 120.0


@pytest.fixture(scope="module")
def run_file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("run") / "run.json"
    run_files.run([run_files.result("日本語")]).save(path)
    return path


@pytest.fixture(scope="module")
def runner_file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("runner") / "runners.py"
    path.write_text(
        "from fastrnns_rs import runner\nrunner('odd', note=lambda problem: '日本語 ±')(lambda problem: None)\n"
    )
    return path


def ended(line: str, command: list[str], folder: Path) -> tuple[int, str, str]:
    """Runs a command in an environment, and returns its status and both streams."""
    words = ["bash", "-c", line, "bash", *command]
    done = subprocess.run(words, capture_output=True, cwd=folder, timeout=LONGEST_S, check=False)
    out, err = (text.decode(errors="replace") for text in (done.stdout, done.stderr))
    for text in (out, err):
        assert "Traceback" not in text, text
        assert "fault of fastrnns-rs" not in text, text
    return done.returncode, out, err


@pytest.mark.parametrize("name", few(OFTEN, ENVIRONMENTS, "bench"))
def test_commands_that_measure_nothing(name: str, run_file: Path, tmp_path: Path) -> None:
    line, ours = ENVIRONMENTS[name], [sys.executable, "-m", "fastrnns_rs"]
    assert ended(line, [*ours, "list"], tmp_path)[0] == 0
    assert ended(line, [*ours, "show", str(run_file)], tmp_path)[0] == 0
    assert ended(line, [*ours, "bench", "--help"], tmp_path)[0] == 0
    status, _, errors = ended(line, [*ours, "bench", "--no-such-option"], tmp_path)
    assert status == 2
    assert not errors or re.match(r"error: .*--no-such-option \(bench\)\nhint: ", errors)


def test_an_interrupt_while_a_class_is_made_is_an_interrupt(capsys: pytest.CaptureFixture[str]) -> None:
    class Field:
        def __set_name__(self, owner: type, name: str) -> None:
            raise KeyboardInterrupt

    with pytest.raises((RuntimeError, KeyboardInterrupt)) as raised:
        type("Tally", (), {"reasons": Field()})
    # Newer versions of Python pass the interrupt on.
    if isinstance(raised.value, RuntimeError):
        assert cli._tell(raised.value) == 130
    assert capsys.readouterr() == ("", "")


def test_a_variable_without_a_name_is_passed_on(tmp_path: Path) -> None:
    line = ENVIRONMENTS["a variable without a name"]
    assert ended(line, [sys.executable, "-m", "fastrnns_rs", "doctor"], tmp_path)[0] == 0


def bench_of(runner_file: Path, *words: object) -> list[str]:
    """Command line of a bench with one process of the runner in a file."""
    which = ["--group", "rnns", "--rnns", "odd", "--runner-file", runner_file]
    return pretended_processes.command(
        "bench", *which, "--device", "cpu", "--nloops", 2, "--processes", 1, "--no-history", *words
    )


@pytest.mark.parametrize(
    "name",
    few(
        ["no streams", "no variables", "unwritable temporary folder", "deleted folder", "8 open files"],
        ENVIRONMENTS,
        "bench",
    ),
)
def test_a_bench_measures_or_is_refused(name: str, runner_file: Path, tmp_path: Path) -> None:
    output = tmp_path / "out.json"
    command = bench_of(runner_file, "--output", output)
    status, _, errors = ended(ENVIRONMENTS[name], command, tmp_path)
    if name in REFUSES_BENCH and status:
        # A worker that cannot be started costs its row, and the run is kept. A runner file may not be read either.
        assert status in {1, 2}
        assert "Too many open files" in (output.read_text() if output.exists() else errors)
    else:
        assert status == 0, errors
        assert output.stat().st_size


def test_a_folder_that_a_runner_removes_costs_no_other_row(tmp_path: Path) -> None:
    """torch's libraries cannot be loaded in a folder without a path: all later processes failed."""
    source = """import os, shutil
from fastrnns_rs import runner
runner("removes")(lambda problem: shutil.rmtree(os.environ["REMOVED"], ignore_errors=True))
runner("sound")(lambda problem: os.getcwd())
"""
    (tmp_path / "runners.py").write_text(source)
    (folder := tmp_path / "removed").mkdir()
    words = ["--runner-file", "../runners.py", "--device", "cpu", "--nloops", 2, "--processes", 3, "--json"]
    done = pretended_processes.run("bench", "removes", "sound", *words, cwd=folder, REMOVED=folder)
    assert done.status == 0, done
    assert [(row["status"], len(row["processes"])) for row in done.json()["results"]] == [("ok", 3)] * 2
    assert not folder.exists()


def test_an_interpreter_without_torch_is_named() -> None:
    """The torch of this environment is not that of another interpreter."""

    def probe(reason: str, setting: Setting) -> str:
        with pytest.raises(FastrnnsError) as raised:
            environment.probe("cpu", "float32", setting, executor=lambda _: [Answer({}, "answered", reason, "")])
        return raised.value.hint

    other = Setting(python="/a b/python", variables={"X": "1 2"})
    missing = "ModuleNotFoundError: No module named 'torch'"
    assert probe(missing, Setting()) == "Run: pip install torch torchvision"
    assert probe(missing, other) == "Run: '/a b/python' -m pip install torch torchvision"
    assert probe("ValueError: x", Setting()) == "Run: python -c 'import torch'"
    assert probe("ValueError: x", other) == "Run: X='1 2' '/a b/python' -c 'import torch'"


def test_no_file_can_be_written_in_a_removed_working_directory(run_file: Path, tmp_path: Path) -> None:
    command = [sys.executable, "-m", "fastrnns_rs", "show", str(run_file), "--output", "x.txt"]
    status, out, errors = ended(ENVIRONMENTS["deleted folder"], command, tmp_path)
    assert (status, out) == (2, "")
    assert errors.startswith("error: cannot write file: 'x.txt' (--output): No such file or directory\n"), errors


def test_a_working_directory_that_is_removed_during_a_run_costs_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    temporary, folder = tmp_path / "a folder", tmp_path / "removed"
    monkeypatch.setattr(tempfile, "tempdir", str(temporary))
    temporary.mkdir()
    folder.mkdir()
    monkeypatch.chdir(folder)
    measured = run_files.run([run_files.exactly([1000])])
    with ResultsFile(None) as results, RunSaver(results, RunHistory(Path("history"))) as saver:
        saver.save(measured)
        shutil.rmtree(folder)
        saver.save(measured)
        assert saver.sentence(measured) == ""
    [kept] = temporary.iterdir()
    assert Run.load(kept) == measured
    errors = capsys.readouterr().err
    assert errors.startswith("warning: the run is not kept in the history: cannot write file: ")
    assert errors.endswith(f"hint: fastrnns-rs history --import '{kept}'\n")


@pytest.mark.parametrize("given", REFUSED)
def test_a_variable_that_makes_no_sense_is_named(given: str, run_file: Path, tmp_path: Path) -> None:
    verb = REFUSED[given]
    name, value = given.split("=")
    done = run_process(verb, *([run_file] if verb == "show" else []), cwd=tmp_path, **{name: value})
    assert done.status == 2
    error, hint = done.stderr.splitlines()
    assert error.startswith("error: ")
    assert error.endswith(f": {value!r} ({name})")
    assert hint.startswith("hint: ")


@pytest.mark.parametrize("text", ["raise ImportError('planted')\n", ""], ids=["raises", "empty"])
@pytest.mark.parametrize("module", few(["json", "click", "enum"], HIDDEN, "bench"))
def test_a_file_in_the_working_directory_hides_nothing(module: str, text: str, run_file: Path, tmp_path: Path) -> None:
    (tmp_path / f"{module}.py").write_text(text)
    done = run_process("show", run_file, "--json", cwd=tmp_path)
    assert (done.status, done.json()["schema"]) == (0, "fastrnns-rs/run"), done.stderr


@pytest.mark.parametrize("module", ["json", "click", "platformdirs", "pathlib", "re"])
def test_a_file_on_the_path_that_hides_a_module_is_named(module: str, run_file: Path, tmp_path: Path) -> None:
    for text in ("raise ImportError('planted')\n", "", "print 1\n"):
        path = tmp_path / f"{module}.py"
        path.write_text(text)
        main = "from fastrnns_rs.__main__ import main; main()"
        words = [sys.executable, "-P", "-c", main, "show", str(run_file)]
        done = finished(words, cwd=Path("/"), PYTHONPATH=tmp_path)
        if done.status:
            assert done.status == 2
            error, hint = done.stderr.splitlines()
            assert error.startswith("error: ")
            assert error.endswith(f" {module}: '{path}'")
            assert "PYTHONPATH" in hint


@pytest.mark.long("bench")
def test_a_torch_in_the_working_directory_is_not_imported(tmp_path: Path) -> None:
    for name in ("torch", "json", "numpy"):
        (tmp_path / f"{name}.py").write_text("raise ImportError('planted')\n")
    words = [
        "bench",
        "--quick",
        "--group",
        "rnns",
        "--rnns",
        "aten",
        "--device",
        "cpu",
        "--processes",
        "1",
        "--nloops",
        "2",
    ]
    done = run_process(*words, "--json", cwd=tmp_path)
    assert done.status == 0, done.stderr


@pytest.mark.parametrize(
    ("columns", "rows", "variables"),
    few(
        [(0, 0, {}), (1, 1, {}), (80, 24, {"COLUMNS": "abc", "LINES": "abc"}), (80, 24, {"TERM": "dumb"})],
        [
            (0, 0, {}),
            (1, 1, {}),
            (80, 24, {"COLUMNS": "abc", "LINES": "abc"}),
            (80, 24, {"COLUMNS": "0", "LINES": "0"}),
            (80, 24, {"COLUMNS": "-5"}),
            (80, 24, {"TERM": "dumb"}),
            (80, 24, {"TERM": ""}),
            (80, 24, {"NO_COLOR": "1"}),
            (80, 24, {"FORCE_COLOR": "1"}),
        ],
        "bench",
    ),
)
def test_terminals_of_any_size(columns: int, rows: int, variables: dict[str, str], runner_file: Path) -> None:
    command = bench_of(runner_file)
    status, received = on_terminal(command, columns, rows, variables)
    text = printed(received)
    assert status == 0, text
    assert "Traceback" not in text
    assert " odd " in text.replace("\r\n", " ")


def test_a_name_that_the_streams_cannot_write_is_shown_by_numbers(run_file: Path, tmp_path: Path) -> None:
    line = 'PYTHONIOENCODING=latin-1 LC_ALL=C PYTHONUTF8=0 PYTHONCOERCECLOCALE=0 exec "$@"'
    status, out, _ = ended(line, [sys.executable, "-m", "fastrnns_rs", "bench", "--help"], tmp_path)
    assert (status, "\\u2026" in out) == (0, True)
    # A document is UTF-8 whatever the terminal is.
    status, out, _ = ended(line, [sys.executable, "-m", "fastrnns_rs", "show", str(run_file), "--json"], tmp_path)
    assert (status, "日本語" in out) == (0, True)


def test_a_lack_of_temporary_folders_names_what_to_set(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    def nowhere() -> str:
        raise FileNotFoundError(2, "No usable temporary directory found in ['/tmp']")

    (tmp_path / "file").touch()
    for root in (nowhere, lambda: str(tmp_path / "file")):
        monkeypatch.setattr(tempfile, "gettempdir", root)
        with pytest.raises(FastrnnsError, match="^cannot create temporary folder") as raised, compiler_folder():
            pass
        assert raised.value.hint == "Set TMPDIR to a folder that can be written to."


@pytest.mark.parametrize("name", ["plot.svg", "plot.pdf"])
@pytest.mark.parametrize("value", ["abc", "99999999999999999999", "-99999999999999"])
def test_plots_have_no_date(run_file: Path, tmp_path: Path, name: str, value: str) -> None:
    done = run_process("show", run_file, "--plot", tmp_path / name, cwd=tmp_path, SOURCE_DATE_EPOCH=value)
    assert done.status == 0, done.stderr
    assert (tmp_path / name).stat().st_size > 1000


@pytest.mark.parametrize("variable", ["MPLBACKEND", "MPLCONFIGDIR"])
def test_a_variable_that_matplotlib_cannot_bear_is_named(variable: str, run_file: Path, tmp_path: Path) -> None:
    loop = tmp_path / "loop"
    loop.symlink_to("loop")
    done = run_process("show", run_file, "--plot", tmp_path / "plot.svg", cwd=tmp_path, **{variable: loop})
    assert done.status == 1
    assert done.stderr.startswith("error: cannot import Python package: 'matplotlib'"), done.stderr
    assert variable in done.stderr
