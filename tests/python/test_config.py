"""Options in `pyproject.toml`."""

from __future__ import annotations

import importlib
import os
from pathlib import Path
from typing import Any, NoReturn

import click
import pytest
from commands import run_pretended
from conftest import PLANTED, run_cli

from fastrnns_rs.cli import report, root
from fastrnns_rs.cli.configuration import configuration_file
from fastrnns_rs.errors import FastrnnsError
from fastrnns_rs.verbs.verify import verification_run
from fastrnns_rs.verbs.verify.verification_plan import VerifyOptions


def write(folder: Path, text: str) -> None:
    (folder / "pyproject.toml").write_text(text)


def test_a_flag_wins_over_what_is_configured_and_contradicts_it(tmp_path: Path) -> None:
    sizes = 'hiddenSize = 5\ninputSize = 4\nseqLength = 3\nprocesses = 1\ndevice = "cpu"\n'
    write(
        tmp_path,
        f'[tool.fastrnns-rs.bench]\nstop = "time:1s"\nrigorous = true\ngroup = "rnns"\nrnns = "cudnn"\n{sizes}',
    )
    done = run_pretended("bench", "--nloops", "3", "--quick", "--json", cwd=tmp_path)
    assert done.status == 0, done.stderr
    plan = done.json()["plan"]
    assert (plan["stop"], plan["preset"]) == ({"rule": "count", "parameters": {"nloops": 3}}, "quick")


def test_a_tilde_is_the_home_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    home, project = tmp_path / "home", tmp_path / "project"
    project.mkdir()
    monkeypatch.setenv("HOME", str(home))
    write(project, '[tool.fastrnns-rs]\nhistory = "~/a"\n')
    for words, variables in (((), {}), (("--history=~/a",), {}), ((), {"FASTRNNS_HISTORY": "~/a"})):
        done = run_cli("history", "--json", *words, cwd=project, **variables)
        assert done.json()["folder"] == str(home / "a"), (words, variables)


def test_options_are_found_above_and_flags_and_variables_win(tmp_path: Path) -> None:
    write(
        tmp_path,
        f"""
[tool.fastrnns-rs.bench]
rnns = ["sound", "prints"]
group = "rnns"
runner-file = ["{PLANTED}"]
nloops = 4
seqLength = 3
hidden_size = 5
quick = true
device = "cpu"
""",
    )
    below = tmp_path / "a" / "b"
    below.mkdir(parents=True)
    found = run_pretended("bench", "--json", cwd=below)
    assert found.status == 0, found.stderr
    document = found.json()
    assert [row["runner"] for row in document["results"]] == ["sound", "prints"]
    assert document["plan"]["preset"] == "quick"
    assert document["plan"]["stop"]["parameters"] == {"nloops": 4}
    problem = document["results"][0]["problem"]
    assert (problem["seq_length"], problem["hidden_size"], problem["input_size"]) == (3, 5, 64)
    found = run_pretended(
        "bench", "--json", "--rnns", "sound", cwd=below, FASTRNNS_BENCH_NLOOPS="3", FASTRNNS_BENCH_SEQ_LENGTH="2"
    )
    assert len(found.json()["results"]) == 1
    assert found.json()["plan"]["stop"]["parameters"] == {"nloops": 3}
    assert found.json()["results"][0]["problem"]["seq_length"] == 2


@pytest.mark.parametrize(
    ("text", "message", "hint"),
    [
        ("[tool.fastrnns-rs.bench]\nhidden-sise = 3", "'hidden-sise' (pyproject.toml, tool.fastrnns-rs.bench)", ""),
        ("[tool.fastrnns-rs.bench]\nhelp = true", "'help' (pyproject.toml, tool.fastrnns-rs.bench)", ""),
        ("[tool.fastrnns-rs.bnch]\nnloops = 3", "'bnch' (pyproject.toml)", ""),
        ("[tool.fastrnns-rs]\nbench = 3", "'bench' (pyproject.toml)", ""),
        ("[tool]\nfastrnns-rs = 3", "'tool.fastrnns-rs' (pyproject.toml)", ""),
        (
            "[tool.fastrnns-rs.bench\n",
            "pyproject.toml'",
            "",
        ),
        (f"x = {'[' * 100_000}", "pyproject.toml'", ""),
        # Python's parser takes 5 GB for these.
        ("a." * 50_000 + "b = 1", "a key has more than 32 parts", ""),
        ("['a'." + '"b c" . ' * 50_000 + "b]", "a key has more than 32 parts", ""),
        (f"x = [{{{'a.' * 50_000}b = 1}}]", "a key has more than 32 parts", ""),
        ("'a'" + r'."\""' * 50_000 + " = 1", "a key has more than 32 parts", ""),
        ("x = " + r"\"" * 100_000, "pyproject.toml'", ""),
        (f"[tool.fastrnns-rs.bench]\ntimeout = {'9' * 400}", "(pyproject.toml, tool.fastrnns-rs.bench.timeout)", ""),
        ("[tool.fastrnns-rs.bench]\nnloops = 'many'", "'many' (pyproject.toml, tool.fastrnns-rs.bench.nloops)", ""),
        ("[tool.fastrnns-rs.bench]\nnloops = 0", "0 (pyproject.toml, tool.fastrnns-rs.bench.nloops)", ""),
        ("[tool.fastrnns-rs.bench]\nnloops = true", "True (pyproject.toml, tool.fastrnns-rs.bench.nloops)", ""),
        ("[tool.fastrnns-rs.bench]\nnloops = 2.5", "2.5 (pyproject.toml, tool.fastrnns-rs.bench.nloops)", ""),
        ("[tool.fastrnns-rs.bench]\nquick = 1", "1 (pyproject.toml, tool.fastrnns-rs.bench.quick)", ""),
        ("[tool.fastrnns-rs.bench]\noutput = 3", "3 (pyproject.toml, tool.fastrnns-rs.bench.output)", ""),
        ("[tool.fastrnns-rs.bench]\nrunner-file = ['']", "empty path: '' (pyproject.toml, ", "Leave out the key."),
        (
            "[tool.fastrnns-rs.bench]\nseqLength = 3\nseq_length = 4",
            "'seq-length' (pyproject.toml, tool.fastrnns-rs.bench)",
            "",
        ),
        ("[tool.fastrnns-rs.bench]\nnloops = [1, 2]", "[1, 2] (pyproject.toml, tool.fastrnns-rs.bench.nloops)", ""),
        ("[tool.fastrnns-rs.bench]\ndevice = 'coda'", "'coda' (pyproject.toml)", ""),
    ],
)
def test_mistakes_are_one_line_and_a_hint(text: str, message: str, hint: str, anywhere: Path) -> None:
    write(anywhere, text)
    done = run_cli("bench", cwd=anywhere)
    assert done.status == 2
    error, advice = done.stderr.splitlines()
    assert message in error
    assert hint in advice


def test_a_format_on_the_command_line_replaces_that_of_the_file(tmp_path: Path) -> None:
    write(tmp_path, '[tool.fastrnns-rs.doctor]\nformat = "table"\n')
    assert "checks" in run_cli("doctor", "--json", cwd=tmp_path).json()
    write(tmp_path, '[tool.fastrnns-rs.bench]\nformat = "csv"\nseq-length = 2\nhidden-size = 2\n')
    done = run_pretended("bench", "cudnn", "--quick", "--device", "cpu", "--json", cwd=tmp_path)
    assert done.json()["status"] == "complete", done.stderr


def test_an_error_of_the_file_or_of_a_variable_does_not_change_an_equal_word(anywhere: Path) -> None:
    write(anywhere, "[tool.fastrnns-rs.bench]\nnlops = 1\n")
    done = run_cli("bench", "nlops", cwd=anywhere)
    assert done.stderr.splitlines()[1] == "hint: Use 'nloops'."
    write(anywhere, "")
    done = run_cli("bench", "float", cwd=anywhere, FASTRNNS_BENCH_DTYPE="float")
    assert done.stderr.splitlines() == [
        "error: invalid value: 'float' (FASTRNNS_BENCH_DTYPE)",
        "hint: Use 'float32'.",
    ]


def test_an_error_names_the_variable_that_is_set(anywhere: Path) -> None:
    (anywhere / "file").write_text("")
    done = run_cli("show", "@last", cwd=anywhere, FASTRNNS_HISTORY="file")
    assert done.stderr.startswith("error: invalid path: 'file' (FASTRNNS_HISTORY)")


def test_help_and_other_projects_files_are_left_alone(anywhere: Path) -> None:
    write(anywhere, "[project]\nname = 'other'\n")
    assert run_cli("list", cwd=anywhere).status == 0
    write(anywhere, "not toml at all")
    assert run_cli("bench", "--help", cwd=anywhere).status == 0
    assert run_cli("--help", cwd=anywhere).status == 0


def test_a_folder_that_may_not_be_searched_has_no_configuration(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    here = tmp_path / "private" / "here"
    here.mkdir(parents=True)
    monkeypatch.chdir(here)
    (tmp_path / "private").chmod(0)
    user = os.geteuid()
    try:
        # Root may search any folder.
        os.seteuid(65534 if user == 0 else user)
        assert configuration_file() is None
    finally:
        os.seteuid(user)
        (tmp_path / "private").chmod(0o700)


@pytest.mark.parametrize(
    ("configured", "typed", "expected"),
    [
        ("processes = 3", ["--rigorous"], (20, "rigorous")),
        ("rigorous = true", ["--processes", "3"], (3, "cpu")),
        ("processes = 3", ["--rigorous", "--processes", "2"], (2, "rigorous")),
    ],
)
def test_a_typed_number_of_processes_is_that_of_its_preset(
    configured: str, typed: list[str], expected: tuple[int, str], tmp_path: Path
) -> None:
    write(tmp_path, f'[tool.fastrnns-rs.bench]\n{configured}\ndevice = "cpu"\n')
    plan = run_pretended("bench", "cudnn", "--nloops", "2", "--json", *typed, cwd=tmp_path).json()["plan"]
    assert (plan["processes"], plan["preset"]) == expected


@pytest.mark.parametrize(
    ("configured", "typed"),
    [('stop = "precision:90%"', ["--nloops", "7"]), ("nloops = 7", ["--stop", "precision:90%"])],
)
def test_precision_and_iterations_of_a_process_do_not_contradict_each_other(
    configured: str, typed: list[str], tmp_path: Path
) -> None:
    write(tmp_path, f'[tool.fastrnns-rs.bench]\n{configured}\ndevice = "cpu"\n')
    stop = run_pretended("bench", "cudnn", "--json", *typed, cwd=tmp_path).json()["plan"]["stop"]
    assert (stop["rule"], stop["parameters"]["nloops"]) == ("precision", 7)


@pytest.mark.parametrize(("typed", "is_inference"), [(["--mode", "train"], False), ([], True)])
def test_a_typed_mode_wins_over_configured_inference(typed: list[str], is_inference: bool, tmp_path: Path) -> None:
    write(tmp_path, "[tool.fastrnns-rs.profile]\ninference = true\n")
    words = ["profile", "py", "--torch", "--dry-run", "--quick", "--device", "cpu", "--json", *typed]
    [command] = run_cli(*words, cwd=tmp_path).json()["commands"]
    assert ("--mode=inference" in command) is is_inference


@pytest.mark.parametrize(
    ("typed", "checks"),
    [
        (["--check-grad"], True),
        (["--check-grad", "--no-check-grad"], False),
        (["--check-grad", "False"], False),
        ([], False),
    ],
)
def test_typed_gradients_are_checked_where_the_file_leaves_them_out(
    typed: list[str], checks: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(asked: VerifyOptions, _observer: object) -> NoReturn:
        raise FastrnnsError(f"check_grad: {asked.check_grad}", "")

    monkeypatch.setattr(verification_run, "verify", refuse)
    for setting in ("no-check-grad = true", 'check-grad = "false"', "check-grad = false"):
        write(tmp_path, f"[tool.fastrnns-rs.verify]\n{setting}\n")
        assert f"check_grad: {checks}\n" in run_cli("verify", "py", *typed, cwd=tmp_path).stderr


@pytest.mark.parametrize(("typed", "variables"), [(["--quiet"], {}), ([], {"FASTRNNS_REPORT_QUIET": "1"})])
def test_quiet_of_the_user_silences_warnings_before_the_options_are_read(
    typed: list[str], variables: dict[str, str], anywhere: Path
) -> None:
    anywhere.chmod(0o777)
    write(anywhere, '[tool.fastrnns-rs.report]\nfilter = "gemm"\noutput = "x"\nquiet = true\n')
    words = ["report", "missing.json", "--device", "0"]
    done = run_cli(*words, cwd=anywhere)
    assert done.stderr.count("warning: ") == 3
    done = run_cli(*words, *typed, cwd=anywhere, **variables)
    assert "warning: " not in done.stderr


def test_numbers_of_the_file_need_no_quotes(anywhere: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[dict[str, Any]] = []
    monkeypatch.setattr(
        report, "_check_outputs", lambda given: asked.append(given) or click.get_current_context().exit()
    )
    write(anywhere, "[tool.fastrnns-rs.report]\nwall-time-ms = 1.5\nworkers = 4\nstream = [7, 8]\n")
    done = run_cli("report", "trace.json")
    assert done.status == 0, done.stderr
    assert (asked[0]["wall_time_ms"], asked[0]["workers"], asked[0]["stream"]) == (1.5, 4, ("7", "8"))
    for text in ("workers = true", "workers = 0", "wall-time-ms = 'long'", "output = 3", "format = 3"):
        write(anywhere, f"[tool.fastrnns-rs.report]\n{text}\n")
        done = run_cli("report", "trace.json")
        assert (done.status, f"tool.fastrnns-rs.report.{text.split()[0]})" in done.stderr) == (2, True), done.stderr


@pytest.mark.parametrize(("command", "text"), [("profile py", "on-trace-ready = 3"), ("compare a", "baseline = [5]")])
def test_a_number_is_not_the_place_of_a_file(command: str, text: str, anywhere: Path) -> None:
    verb, *words = command.split()
    write(anywhere, f"[tool.fastrnns-rs.{verb}]\n{text}\n")
    done = run_cli(verb, *words)
    assert done.status == 2
    value, place = text[-2:].strip(" ]"), f"pyproject.toml, tool.fastrnns-rs.{verb}.{text.split(maxsplit=1)[0]}"
    assert done.stderr == f"error: invalid value: {value} ({place})\nhint: Use a string.\n"


@pytest.mark.parametrize(
    ("verb", "name", "text", "words"),
    [
        ("bench", "group", "rnns,cnns rnns", ("rnns", "cnns", "rnns")),
        ("report", "stream", "7,8 9", ("7", "8", "9")),
        ("bench", "runner_file", "a b.py:c.py", ("a b.py", "c.py")),
        ("ab", "b_env", "A=1,2 B=3", ("A=1,2", "B=3")),
        ("bench", "filter", "runner=py,cudnn dtype=float32", ("runner=py,cudnn", "dtype=float32")),
        ("compare", "baseline", "a,b.json c.json", ("a,b.json", "c.json")),
    ],
)
def test_lists_in_variables_are_separated_as_the_documentation_explains(
    verb: str, name: str, text: str, words: tuple[object, ...], anywhere: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for file in ("a b.py", "c.py"):
        (anywhere / file).touch()
    monkeypatch.setenv(f"FASTRNNS_{verb.upper()}_{name.upper()}", text)
    command: click.Command = importlib.import_module(f"fastrnns_rs.cli.{verb}").command
    arguments = ["x"] if verb in {"report", "ab"} else []
    with command.make_context(verb, arguments, parent=click.Context(root, auto_envvar_prefix="FASTRNNS")) as context:
        assert context.params[name] == words
