"""`ab` from end to end: two sides of real processes, their file, and an interpreter with a torch of its own."""

from __future__ import annotations

import json
import shlex
import signal
import subprocess
import sys
import sysconfig
import time
from dataclasses import replace
from pathlib import Path
from typing import Any

import pretended_workers
import pytest
from commands import command_with_facts, run_pretended, run_with_facts
from conftest import PLANTED, TINY, run_cli
from jsonschema import Draft202012Validator

from fastrnns_rs.documents.run_file import Run
from fastrnns_rs.processes.listener import Answer
from fastrnns_rs.verbs.compare.conditions import hash_setting
from fastrnns_rs.verbs.compare.environment_keys import flatten

ROOT = Path(__file__).resolve().parents[2]
#: The least that gives a verdict, in as little time as that takes.
SMALL = ["--runner-file", str(PLANTED), "--device", "cpu", "--processes", "3", "--nloops", "12", "--warmup", "2", *TINY]


def test_two_sides_their_file_and_every_way_to_see_them(anywhere: Path) -> None:
    words = ["ab", "sound", "--b", "--seqLength 4", *SMALL, "--json", "--run-file", "ab.json"]
    done = run_pretended(*words, cwd=anywhere)
    assert done.status == 0, done.stderr
    document = done.json()
    schema = json.loads((ROOT / "docs/schemas/comparison.schema.json").read_text())
    Draft202012Validator(schema).validate(document)
    assert [row["phase"] for row in document["rows"]] == ["forward", "backward"]
    assert all(row["baseline"]["n_processes"] == row["candidate"]["n_processes"] == 3 for row in document["rows"])
    assert all(row["verdict"] in {"faster", "slower", "equivalent", "inconclusive"} for row in document["rows"])
    assert (document["baseline"]["label"], document["candidate"]["label"]) == ("sound", "sound --seqLength 4")
    run = Run.load(anywhere / "ab.json")
    assert [(one.runner, one.side, len(one.processes)) for one in run.results] == [("sound", "a", 3), ("sound", "b", 3)]
    assert [one.problem.seq_length for one in run.results] == [3, 4]
    sides = {one.order: result.side for result in run.results for one in result.processes}
    order = "".join(sides[index] for index in range(6))
    assert all(order[place : place + 2] in {"ab", "ba"} for place in (0, 2, 4))
    again = run_cli("compare", "ab.json", "--json", cwd=anywhere)
    assert again.json()["rows"] == document["rows"]
    shown = run_cli("show", "ab.json", cwd=anywhere)
    assert "sound (a)" in shown.stdout
    assert "sound (b)" in shown.stdout


def test_each_side_is_recorded_with_its_own_settings(anywhere: Path) -> None:
    """The history had a session with one fuser among those with the other."""
    base = ["--nloops", "3", "--processes", "3", "--device", "cpu", *TINY]
    for name, words in {
        "ab": ["ab", "jit", "--a", "--fuser te", "--b", "--fuser none --threads 1"],
        "te": ["bench", "--rnns", "jit", "--fuser", "te"],
        "none": ["bench", "--rnns", "jit", "--fuser", "none", "--threads", "1"],
    }.items():
        done = run_pretended(*words, *base, "--run-file", f"{name}.json", cwd=anywhere)
        assert done.status == 0, done.stderr
    run = Run.load(anywhere / "ab.json")
    assert [(one.threads, one.jit and one.jit.fuser) for one in run.sides] == [(None, "te"), (1, "none")]
    settings = [hash_setting(run, side) for side in "ab"]
    assert settings == [hash_setting(Run.load(anywhere / f"{name}.json"), None) for name in ("te", "none")]
    shown = " ".join(run_cli("show", "ab.json", cwd=anywhere).stdout.split())
    assert f"{run.sides[0].environment.num_threads} threads and 1 thread" in shown
    other = replace(run.sides[1], environment=replace(run.sides[1].environment, torch_version="2.1.0+cpu"))
    version = run.environment.torch_version.partition("+")[0]
    assert f"torch {version} and 2.1.0;" in " ".join(replace(run, sides=[run.sides[0], other]).render().split())
    found = run_cli("compare", "ab.json", "--json", cwd=anywhere).json()
    assert {"plan.jit.fuser", "plan.threads"} <= {one["key"] for one in found["environment_differences"]}
    # An older build recorded the settings of side a alone.
    plain = run.to_dict()
    for side in plain["sides"]:
        side |= {"threads": None, "affinity": None, "jit": None}
    older = Run.from_dict(plain)
    assert [flatten(older, one)["plan.jit.fuser"] for one in older.sides] == ["te", "te"]
    assert hash_setting(older, "a") == settings[0]


@pytest.mark.long("bench")
def test_other_variables_reach_one_side_alone(anywhere: Path) -> None:
    words = ["ab", "sound", "--b-env", "OMP_NUM_THREADS=1", "--b-env", "TORCH_SHOW=1", *SMALL, "--run-file", "ab.json"]
    done = run_cli(*words, cwd=anywhere, OMP_NUM_THREADS="2")
    assert done.status == 0, done.stderr
    first, second = Run.load(anywhere / "ab.json").sides
    assert (first.environment.num_threads, second.environment.num_threads) == (2, 1)
    assert "TORCH_SHOW" not in first.environment.variables
    assert second.environment.variables["TORCH_SHOW"] == "1"
    assert "num_threads" in done.stdout


@pytest.mark.long("bench")
def test_another_folder_of_modules_reaches_one_side_alone(anywhere: Path) -> None:
    """As one gives a side another torch: ahead of what is installed."""
    folder = anywhere / "modules"
    folder.mkdir()
    (folder / "torchvision").mkdir()
    (folder / "torchvision" / "__init__.py").write_text("raise ImportError('not this one')\n")
    for side, flags in (("b", ["--b-env", f"PYTHONPATH={folder}"]), ("a", ["--a-env", "PYTHONPATH=modules"])):
        done = run_with_facts("ab", "resnet18", *flags, *SMALL, "--json", cwd=anywhere)
        assert done.status == 1, done.stderr
        assert all("not this one" in row["reason"] for row in done.json()["rows"]), side


@pytest.mark.long("kills")
def test_an_interrupted_comparison_gives_no_verdict(anywhere: Path) -> None:
    words = ["ab", "sound", "prints", *SMALL, "--processes", "20", "--json", "--run-file", "ab.json"]
    worker = subprocess.Popen(command_with_facts(*words), stdout=subprocess.PIPE, text=True)
    deadline = time.monotonic() + 120
    while time.monotonic() < deadline and worker.poll() is None:
        measured = Run.load("ab.json").results if Path("ab.json").exists() else []
        if sum(len(one.processes) for one in measured) >= 2:
            break
        time.sleep(0.05)
    worker.send_signal(signal.SIGINT)
    said, _ = worker.communicate(timeout=60)
    assert (worker.returncode, said) == (130, "")
    done = run_cli("compare", "ab.json", cwd=anywhere)
    assert done.status == 2
    assert done.stderr.startswith("error: interrupted run: 'ab.json' ")
    resumed = run_cli("bench", "--group", "rnns", "--resume", "ab.json", cwd=anywhere)
    assert resumed.stderr.startswith("error: cannot resume a run of ab")


def test_a_margin_that_was_never_measured_is_told_beforehand(anywhere: Path) -> None:
    words = ["ab", "sound", "prints", *SMALL, "--margin", "noise-floor"]
    done = run_pretended(*words, cwd=anywhere, XDG_STATE_HOME=anywhere)
    assert done.status == 5
    assert "noise floor not measured: 'cpu' (--margin)" in done.stderr
    assert "importing" not in done.stderr
    assert not done.stderr.startswith("2 runners")


def test_a_side_that_fails_is_no_verdict_and_exit_one(anywhere: Path) -> None:
    done = run_with_facts("ab", "sound", "raises", *SMALL, "--json", cwd=anywhere)
    assert "\nwarning[runner_failed]: " in done.stderr
    assert done.status == 1, done.stderr
    for row in done.json()["rows"]:
        assert row["verdict"] is None
        assert row["reason"]


def test_a_side_that_never_began_is_not_called_interrupted(anywhere: Path) -> None:
    def dies(_job: dict[str, Any]) -> Answer:
        return Answer({}, "died", "the process was killed", "")

    words = ["ab", "sound", "prints", *SMALL, "--run-file", "a b.json", "--no-history"]
    done = run_cli(*words, cwd=anywhere, executor=pretended_workers.each(dies))
    assert done.status == 1
    run = Run.load(anywhere / "a b.json")
    by_status = {one.status: one for one in run.results}
    assert {*by_status} == {"failed", "skipped"}
    assert by_status["skipped"].reason == "the other side failed"
    assert "interrupted" not in done.stdout + done.stderr
    # The hint names the file, and its command works.
    [command] = [line.partition("fastrnns-rs ")[2] for line in done.stderr.splitlines() if "'a b.json'" in line]
    assert run_cli(*shlex.split(command), cwd=anywhere).stdout.count("the other side failed") == 1


def test_a_side_with_few_processes_is_measured_again_by_the_same_command(anywhere: Path) -> None:
    words = ["ab", "sound", "--b", "--seq-length 4", *SMALL, "--processes", "1", "--no-history"]
    done = run_pretended(*words, cwd=anywhere)
    hint = " ".join(done.stderr.split()).partition("hint: Run: fastrnns-rs ")[2].partition(" warning[")[0]
    again = run_pretended(*shlex.split(hint.partition(" 2 processes in ")[0]), "--json", cwd=anywhere)
    assert again.status == 0, again.stderr
    assert [row["candidate"]["n_processes"] for row in again.json()["rows"]] == [10, 10]
    assert [row["problem"]["seq_length"] for row in again.json()["rows"]] == [3, 3]


def test_the_last_line_of_ab_is_a_command_that_works(anywhere: Path) -> None:
    few = run_pretended("ab", "sound", "prints", *SMALL, "--processes", "1", "--history", "kept here", cwd=anywhere)
    assert few.status == 0
    stored = run_cli("compare", "@last", "--history", "kept here", cwd=anywhere).stderr.splitlines()[-1]
    shown = run_cli(*shlex.split(stored.partition("fastrnns-rs ")[2]), cwd=anywhere)
    assert (shown.status, shown.stdout.count("sound (a)")) == (0, 1)
    assert "kept here/runs" not in stored
    done = run_pretended("ab", "sound", "prints", *SMALL, "--history", "kept here", cwd=anywhere)
    command = done.stderr.splitlines()[-1].partition("fastrnns-rs ")[2]
    assert "'kept here'" in command
    assert run_cli(*shlex.split(command), cwd=anywhere).status == 0


def test_an_interrupted_ab_shows_its_times_and_starts_again(anywhere: Path) -> None:
    left = [1]

    def stops(job: dict[str, Any]) -> Answer:
        if not left:
            raise KeyboardInterrupt
        left.pop()
        return pretended_workers.rising(job)

    words = ["ab", "sound", "prints", *SMALL, "--history", "kept here"]
    done = run_cli(*words, cwd=anywhere, executor=pretended_workers.each(stops))
    assert done.status == 130
    assert done.stdout.count("1 of 3") == 1
    again = shlex.split(done.stderr.partition("Start again:")[2])
    assert again == ["fastrnns-rs", *words]
    refused = run_cli("compare", "@last", "--history", "kept here", cwd=anywhere)
    assert refused.status == 2
    assert refused.stderr.startswith("error: interrupted run: '@last'")
    shown = run_cli("show", "@last", "--history", "kept here", cwd=anywhere)
    assert shlex.split(shown.stderr.partition("Start again:")[2]) == again


@pytest.fixture(scope="module")
def another_python(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An environment that has torch, by way of ours, and nothing of this package."""
    folder = tmp_path_factory.mktemp("another")
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", folder / "venv"], check=True)
    lent = folder / "lent"
    lent.mkdir()
    for one in Path(sysconfig.get_path("purelib")).iterdir():
        if "fastrnns" not in one.name.lower() and one.suffix not in {".pth", ".virtualenv"}:
            (lent / one.name).symlink_to(one)
    (site,) = (folder / "venv" / "lib").glob("python*/site-packages")
    (site / "lent.pth").write_text(f"{lent}\n")
    return folder / "venv" / "bin" / "python"


@pytest.mark.long("bench")
def test_an_interpreter_with_torch_only_is_a_side(another_python: Path, anywhere: Path) -> None:
    lacks = subprocess.run([another_python, "-c", "import fastrnns_rs"], capture_output=True, check=False, cwd="/")
    assert lacks.returncode, "the other interpreter is to have no package of ours"
    words = ["ab", "sound", "--b-python", another_python, *SMALL, "--run-file", "ab.json"]
    done = run_cli(*words, cwd=anywhere)
    assert done.status == 0, done.stderr
    run = Run.load(anywhere / "ab.json")
    assert run.sides[0].python is None
    assert run.sides[1].python == str(another_python)
    assert all(result.status == "ok" for result in run.results)


def test_an_interpreter_without_torch_is_told_beforehand(tmp_path: Path, anywhere: Path) -> None:
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", tmp_path / "bare"], check=True)
    done = run_cli("ab", "sound", "--b-python", tmp_path / "bare" / "bin" / "python", *SMALL, cwd=anywhere)
    assert (done.status, done.stdout) == (5, "")
    assert "error: package not installed: 'torch'" in done.stderr.splitlines()
