"""The two sides of `ab`: what each is told, what is refused before anything runs, and other interpreters."""

from __future__ import annotations

import re
import shlex
import shutil
import subprocess
import sys
from dataclasses import asdict
from pathlib import Path
from typing import Any

import pretended_workers
import pytest
from commands import run_with_facts
from conftest import ROOT
from facts import FACTS

from fastrnns_rs import _core
from fastrnns_rs.cli.ab import command
from fastrnns_rs.cli.error_text import CommandError
from fastrnns_rs.cli.side_options import requests
from fastrnns_rs.errors import FastrnnsError, MissingError, UsageError
from fastrnns_rs.machine import environment
from fastrnns_rs.machine.facts import PACKAGE
from fastrnns_rs.processes.listener import Answer
from fastrnns_rs.processes.worker_setting import Setting
from fastrnns_rs.verbs.bench.interleaved.interleaved_plan import SideRequest, check_interpreter, start, variables
from fastrnns_rs.verbs.bench.interleaved.side_checks import make_effort
from fastrnns_rs.verbs.compare.environment_keys import differences, flatten


def given(*words: str) -> dict[str, Any]:
    return command.make_context("ab", [*words]).params


def sides(*words: str) -> tuple[SideRequest, SideRequest]:
    return requests(given(*words))


def test_two_runners_are_two_sides() -> None:
    first, second = sides("cudnn", "jit_premul", "--hiddenSize", "7")
    assert (first.runners, second.runners) == (("cudnn",), ("jit_premul",))
    assert first.options.sizes.hidden_size == second.options.sizes.hidden_size == 7
    assert (first.name, first.label, second.label) == ("a", "cudnn", "jit_premul")


def test_flags_of_a_side_win_over_those_of_both() -> None:
    words = ("jit", "--threads", "2", "--fuser", "old", "--b", "--threads 1 --fuser=none --hidden_size 9")
    first, second = sides(*words)
    assert (first.options.threads, second.options.threads) == (2, 1)
    assert (first.options.jit.fuser, second.options.jit.fuser) == ("old", "none")
    assert (first.options.sizes.hidden_size, second.options.sizes.hidden_size) == (None, 9)
    assert second.label == "jit --threads 1 --fuser=none --hidden_size 9"
    assert second.words == ["--threads", "1", "--fuser=none", "--hidden_size", "9"]


def test_variables_of_a_side() -> None:
    first, second = sides("cudnn", "--b-env", "OMP_WAIT_POLICY=ACTIVE", "--b-env", "EMPTY=", "--a-env", "X=a=b c")
    assert first.variables == {"X": "a=b c"}
    assert second.variables == {"OMP_WAIT_POLICY": "ACTIVE", "EMPTY": ""}
    assert second.label == "cudnn OMP_WAIT_POLICY=ACTIVE EMPTY="


@pytest.mark.parametrize(
    "words",
    [
        ("--b-env", "A=1"),
        ("--a-env", "A=1"),
        ("--b", "--threads 1"),
        ("--a", "--seq-length 4"),
        ("--b-python", sys.executable),
        ("--a-python", sys.executable),
    ],
)
def test_an_option_of_one_side_compares_each_runner_with_itself(words: tuple[str, str]) -> None:
    first, second = sides("cudnn", "jit", "py", "jit", *words)
    assert first.runners == second.runners == ("cudnn", "jit", "py")
    assert first.options.choice.names == ["cudnn", "jit", "py"]
    labels = {first.label, second.label}
    assert any(one in {"a", "b"} for one in labels)
    assert any(one.startswith((f"{words[0][2]} ",)) for one in labels)


def test_two_runners_with_an_option_of_one_side_warn_of_the_new_meaning(anywhere: Path) -> None:
    def warn(*words: str) -> str:
        # The interpreter is missing, so that nothing is measured.
        return run_with_facts("ab", *words, "--a-python", "no-such-python", cwd=anywhere).stderr

    found = warn("cudnn", "py", "--b-env", "A=1=2", "--b", "--threads 1")
    assert found.startswith("warning: an option for one side now compares cudnn and py each with itself\n  hint: ")
    call = "fastrnns_rs.ab('cudnn', 'py', baseline_python='no-such-python', candidate_options={'threads': 1}, "
    assert f"cudnn against py is {call}candidate_env={{'A': '1=2'}})." in found
    for words in (("cudnn",), ("cudnn", "cudnn"), ("cudnn", "py", "jit"), ("cudnn", "py", "--quiet")):
        assert "warning" not in warn(*words), words
    # Without such an option, nothing changed.
    assert "warning" not in run_with_facts("ab", "cudnn", "py", "--device", "cuda:77", cwd=anywhere).stderr


@pytest.mark.parametrize("flag", ["--a-python", "--b-python"])
def test_an_interpreter_is_no_output(flag: str, anywhere: Path) -> None:
    python = anywhere / "python.json"
    python.write_text("#!/bin/sh\n")
    for words in (["--json", "--output", python], ["--run-file", python]):
        done = run_with_facts("ab", "cudnn", "py", flag, "./python.json", *words, cwd=anywhere)
        assert done.status == 2
        assert "error: cannot overwrite input: 'python.json'" in done.stderr.replace(f"{anywhere}/", "")
    assert python.read_text() == "#!/bin/sh\n"


def test_two_outputs_are_two_files(anywhere: Path) -> None:
    words = ["--json", "--output", "run.json", "--run-file", f"../{anywhere.name}/run.json"]
    done = run_with_facts("ab", "cudnn", "py", *words, cwd=anywhere)
    assert (done.status, "error: two outputs for one file: 'run.json' (--output)" in done.stderr) == (2, True)
    assert [*anywhere.iterdir()] == []


def test_without_a_runner_the_quickest_is_measured_against_itself() -> None:
    first, second = sides("--same")
    assert first.runners == second.runners == ("cudnn",)
    assert make_effort(given("--same")).processes == 20


@pytest.mark.parametrize(
    ("words", "expected"),
    [([], 10), (["--quick"], 3), (["--rigorous"], 20), (["--quick", "--same"], 20), (["--processes", "4"], 4)],
)
def test_numbers_of_processes(words: list[str], expected: int) -> None:
    assert make_effort(given("cudnn", "py", *words)).processes == expected


@pytest.mark.parametrize(
    ("words", "message", "hint"),
    [
        ((), "missing argument: RUNNER (ab)", "fastrnns-rs ab --quick cudnn py"),
        (("cudnn", "cudnn"), "baseline and candidate are equal", ""),
        (("cudnn", "--b", "--seed 0"), "baseline and candidate are equal", ""),
        (("cudnn", "py", "jit"), "'cudnn py jit' (runners)", "Name 2 runners, or add an option for one side"),
        (("cudnn", "py", "jit", "--same"), "'cudnn py jit' (runners)", ""),
        (("cudnn", "py", "--b", "--seed 0"), "baseline and candidate are equal", ""),
        (("cudnn", "py", "--b", "--seed 0", "--same"), "too many runners: 'cudnn py'", "Name 1 runner with --same."),
        (("cudnn", "nothing", "--b-env", "A=1"), "'nothing' (runners)", ""),
        (("cudnn", "py", "--same"), "--same needs equal sides, and baseline and candidate differ", ""),
        (("nothing", "py"), "'nothing' (runners)", ""),
        (("cudnn", "--b", "--nonsense 3"), "--nonsense (--b)", ""),
        (("cudnn", "--b", "--processes 3"), "--processes (--b)", ""),
        (("cudnn", "--a", "--threads many"), "'many' (--a, --threads)", "integer"),
        (("cudnn", "--b", "--fuser xx"), "'xx' (--b, --fuser)", "Use te, "),
        (("cudnn", "--a", "--threads"), "--threads (--a)", ""),
        (("cudnn", "--a", "'"), '"\'" (only_a)', "quotes"),
        (("cudnn", "--a", "stray"), "'stray' (--a)", ""),
        (("cudnn", "--b-env", "NAME"), "'NAME'", "NAME=VALUE"),
    ],
)
def test_what_makes_no_two_sides_is_refused(words: tuple[str, ...], message: str, hint: str) -> None:
    with pytest.raises(FastrnnsError) as refused:
        sides(*words)
    assert message in refused.value.message
    assert hint in refused.value.hint


def test_a_noise_floor_of_few_processes_is_refused() -> None:
    with pytest.raises(UsageError, match="too few processes: 19"):
        make_effort(given("--same", "--processes", "19"))
    with pytest.raises(UsageError, match="exclude each other"):
        make_effort(given("cudnn", "py", "--quick", "--rigorous"))


def test_refusals_come_before_anything_runs(anywhere: Path) -> None:
    for words, status, message in (
        (["cudnn", "py", "--margin", "99"], 2, "'99' (--margin)"),
        (["cudnn", "py", "--fail-on", "slower"], 2, "invalid value: 'slower' (--fail-on)"),
        (["cudnn", "py", "--fail-on"], 2, "missing value: --fail-on"),
        (["cudnn", "py", "--json", "--format", "table"], 2, "--format and --json exclude each other"),
        (["cudnn", "py", "--run-file", "no/such/folder/x"], 2, "cannot write file: 'no/such/folder/x' (--run-file)"),
        (["cudnn", "--b-python", "no-such-python"], 5, "program not found: 'no-such-python' (--b-python)"),
        (["cudnn", "--b", "--device cuda:77"], 5, "device not available: 'cuda:77' (--b)"),
        (["cudnn", "--b", "--dtype float99"], 2, "float99"),
    ):
        done = run_with_facts("ab", *words, cwd=anywhere)
        assert (done.status, done.stdout) == (status, ""), done.stderr
        assert message in done.stderr
        assert "Traceback" not in done.stderr


def test_variables_are_read_or_refused() -> None:
    assert variables([]) == {}
    assert variables(["_a1=x", "B="]) == {"_a1": "x", "B": ""}
    for wrong in ("1A=x", "A B=1", "=1", "é=1", "A\n=1", "A=\0"):
        with pytest.raises(UsageError):
            variables([wrong])


def program(path: Path, text: str) -> str:
    path.write_text(text)
    path.chmod(0o755)
    return str(path)


def test_an_interpreter_that_can_load_us_is_taken() -> None:
    assert check_interpreter(sys.executable) == sys.executable


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("#!/bin/sh\necho fastrnns-rs asks: 3 10\n", "is Python 3.10"),
        ("#!/bin/sh\necho fastrnns-rs asks: 2 7; exit 1\n", "is Python 2.7"),
        ("#!/bin/sh\necho welcome; echo fastrnns-rs asks: 3 9\n", "is Python 3.9"),
        ("#!/bin/sh\necho hello\n", "not a Python interpreter: "),
        ("#!/bin/sh\nexit 3\n", "not a Python interpreter: "),
        (
            "#!/bin/sh\necho fastrnns-rs asks: 3 13; echo 'ImportError: wrong ELF class' >&2; exit 1\n",
            ": ImportError: wrong ELF class",
        ),
        ("no program at all", "cannot run program: "),
    ],
)
def test_what_cannot_run_our_worker_is_told_in_one_line(tmp_path: Path, text: str, message: str) -> None:
    with pytest.raises(UsageError) as refused:
        check_interpreter(program(tmp_path / "python", text))
    assert message in refused.value.message
    assert "\n" not in refused.value.message
    with pytest.raises(MissingError):
        check_interpreter(str(tmp_path / "nothing"))


def test_the_commands_of_the_page_have_two_sides() -> None:
    page = (ROOT / "docs" / "how-to" / "comparing.md").read_text()
    lines = re.findall(r"^fastrnns-rs ab (.*)$", page, flags=re.MULTILINE)
    assert len(lines) >= 7
    for line in lines:
        assert sides(*shlex.split(line))


def test_flags_of_a_side_are_no_flags_of_ours() -> None:
    """Whatever `--a` takes, `ab` takes for both."""
    from fastrnns_rs.cli.side_options import _SideFlags

    both = {param.name for param in command.params}
    assert {param.name for param in _SideFlags().params} <= both
    with pytest.raises(CommandError):
        given("cudnn", "--b", "x", "--stop", "count:3")


@pytest.mark.parametrize("python", [None, sys.executable])
def test_folders_of_a_side_do_not_hold_the_package(python: str | None, tmp_path: Path) -> None:
    """An environment with another torch has another version of this package, too."""
    (tmp_path / "fastrnns_rs").mkdir()
    (tmp_path / "fastrnns_rs" / "__init__.py").write_text("raise ImportError('another version')\n")
    (tmp_path / "other.py").touch()
    setting = Setting(python=python, variables={"PYTHONPATH": str(tmp_path)})
    code = "import other, fastrnns_rs._core as core; print(core.__file__)"
    done = subprocess.run(
        [sys.executable, "-P", "-c", code],
        env=setting.environment(),
        cwd="/",
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert Path(done.stdout.strip()).samefile(str(_core.__file__))


@pytest.mark.parametrize(
    ("words", "name"),
    [
        (("--threads", "1", "--b-env", "OMP_NUM_THREADS=4"), "OMP_NUM_THREADS"),
        (("--b-env", "FASTRNNS_WORKER=0"), "FASTRNNS_WORKER"),
    ],
)
def test_a_variable_without_effect_is_no_difference(words: tuple[str, ...], name: str) -> None:
    """The table would name a difference that no worker has."""
    executor = pretended_workers.each(lambda _job: Answer({}, "answered", None, ""))
    with pytest.raises(UsageError, match=f"variable has no effect: '{name}'"):
        start(sides("cudnn", *words), make_effort(given("cudnn", *words)), command=[], executor=executor)


@pytest.mark.parametrize("flag", ["--a-env", "--b-env"])
@pytest.mark.parametrize("name", ["MYVAR", "PYTHONPATH"])
@pytest.mark.parametrize("value", ["1", "my secret", None])
def test_a_variable_of_one_side_has_its_own_value_on_the_other(
    flag: str, name: str, value: str | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A value of the shell may be a secret: it is recorded only if the other side has the same."""
    monkeypatch.setenv("OTHER", "secret")
    monkeypatch.delenv(name, raising=False)
    if value is not None:
        monkeypatch.setenv(name, value)
    monkeypatch.setattr(environment, "probe", lambda *_, **__: FACTS)
    words = ("cudnn", flag, f"{name}=1")
    _, run = start(sides(*words), make_effort(given(*words)), command=[])
    found = [(one.key, one.baseline, one.candidate) for one in differences(*(flatten(run, one) for one in run.sides))]
    shown = None if value is None else "another value"
    both = (shown, "1") if flag == "--b-env" else ("1", shown)
    assert found == ([] if value == "1" else [(f"variables.{name}", *both)])
    assert "secret" not in run.to_json()


def test_another_interpreter_has_no_python_path_of_the_shell(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PYTHONPATH", "/shell")
    monkeypatch.setattr(environment, "probe", lambda *_, **__: FACTS)
    words = ("cudnn", "--a-python", sys.executable, "--b-env", "PYTHONPATH=/b")
    _, run = start(sides(*words), make_effort(given(*words)), command=[])
    assert [flatten(run, one).get("variables.PYTHONPATH") for one in run.sides] == [None, "/b"]


@pytest.mark.parametrize(
    "facts",
    [
        *(None, [1], {"x": 1}, {"num_threads": -5}, {"num_threads": "many"}, {"gpus": [{"x": 1}]}),
        *({"device": "cuda:x"}, {"device": "cuda"}, {"cuda_device_count": 2}),
    ],
)
def test_facts_that_no_worker_sends_are_an_error_of_torch(facts: Any) -> None:
    """Another interpreter may answer what it likes."""
    known = {name: value for name, value in asdict(FACTS).items() if name != "start_s"}
    sent = {**known, **facts} if isinstance(facts, dict) else facts
    answer = Answer({"status": "ok", "package": str(PACKAGE), "facts": sent}, "answered", None, "")
    with pytest.raises(FastrnnsError, match="torch fails: the result of its worker is damaged"):
        environment.probe("cpu", "float32", executor=lambda _starts: [answer])
    known_answer = Answer({"status": "ok", "package": str(PACKAGE), "facts": known}, "answered", None, "")
    assert environment.probe("cpu", "float32", executor=lambda _starts: [known_answer]).device == "cpu"


def test_a_worker_with_another_copy_of_the_package_is_an_error(tmp_path: Path) -> None:
    """Its samples would be those of another program."""
    copy, program = tmp_path / "fastrnns_rs", tmp_path / "python"
    shutil.copytree(PACKAGE, copy, ignore=shutil.ignore_patterns("__pycache__"))
    program.write_text(f'#!/bin/sh\nPYTHONPATH={tmp_path} exec {sys.executable} "$@"\n')
    program.chmod(0o755)
    setting = Setting(python=check_interpreter(str(program)))
    with pytest.raises(FastrnnsError, match="a worker has another copy of fastrnns-rs, in .*/fastrnns_rs'"):
        environment.probe("cpu", "float32", setting)
    probe = copy / "worker" / "jobs" / "probe.py"
    probe.write_text(probe.read_text().replace('"package"', '"unknown"'))
    with pytest.raises(FastrnnsError, match="a worker has another copy of fastrnns-rs, of another version"):
        environment.probe("cpu", "float32", setting)
