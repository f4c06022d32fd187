"""`bench --resume` of a run in several places: its run file, the history, and copies of either."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import Any

import pretended_workers
import pytest
import run_files
from commands import Done, run_cli, run_pretended

from fastrnns_rs.documents.run_file import Run
from fastrnns_rs.processes.listener import Answer

BENCH = ["bench", "cudnn", "py", "--device", "cpu", "--processes", "3"]
_INTERRUPTED = Answer({}, "interrupted", "interrupted", "")


def run_interrupted(*words: object, after: int = 3, **variables: str | Path) -> Done:
    """Runs a command that Ctrl-C ends after so many processes."""
    measured: list[str] = []

    def measure(job: dict[str, Any]) -> Answer:
        measured.append(job["runner"])
        return _INTERRUPTED if len(measured) > after else pretended_workers.rising(job)

    done = run_cli(*words, executor=pretended_workers.each(measure), **variables)
    assert done.status == 130, done.stderr
    return done


def n_measured(file: str | Path) -> int:
    """Number of complete processes of a run file."""
    return sum(one.status == "ok" for row in Run.load(file).results for one in row.processes)


@pytest.mark.usefixtures("anywhere")
def test_a_run_file_with_more_than_the_history_is_not_replaced_without_a_note() -> None:
    note = "note: the other run in a.json is replaced"
    for again, told in (
        ([*BENCH, "--history", "H"], note),
        (["bench", "--resume", "@last", "--history", "H"], "note: another state of this run in a.json is replaced"),
    ):
        run_interrupted(*BENCH, "--history", "H", "--run-file", "a.json")
        resumed = run_pretended("bench", "--resume", "a.json", "--no-history")
        assert (resumed.status, n_measured("a.json"), note in resumed.stderr) == (0, 6, False)
        done = run_pretended(*again, "--run-file", "a.json")
        assert (done.status, told in done.stderr) == (0, True), done.stderr
    # The history has all of it now.
    done = run_pretended(*BENCH, "--history", "H", "--run-file", "a.json")
    assert (done.status, note in done.stderr) == (0, False)


@pytest.mark.usefixtures("anywhere")
@pytest.mark.parametrize("name", ["@last", "by path"])
def test_a_resumed_run_of_the_history_with_another_run_file_is_kept_in_both(name: str) -> None:
    run_interrupted(*BENCH, "--history", "H")
    [kept] = Path("H/runs").glob("*.json")
    done = run_pretended("bench", "--resume", kept if name == "by path" else name, "--history", "H", "--run-file", "b")
    assert (done.status, "warning: the run is not kept" in done.stderr) == (0, False), done.stderr
    assert (n_measured(kept), n_measured("b")) == (6, 6)
    assert {one.name for one in Path().rglob("*") if one.is_file()} == {kept.name, "b"}


@pytest.mark.usefixtures("anywhere")
@pytest.mark.parametrize("file", ["before.json", "@before.json"])
def test_an_interrupted_run_is_continued_in_its_run_file_and_in_the_history(file: str) -> None:
    done = run_interrupted(*BENCH, "--history", "H", "--run-file", file)
    command = shlex.split(done.stderr.partition("Continue:")[2])
    assert Path(command[3]) == Path(file)
    resumed = run_pretended(*command[1:])
    assert resumed.status == 0, resumed.stderr
    [kept] = Path("H/runs").glob("*.json")
    assert (n_measured(kept), n_measured(file)) == (6, 6)


@pytest.mark.usefixtures("anywhere")
def test_a_resumed_run_keeps_the_options_of_the_measurement_and_not_those_of_the_output() -> None:
    run_interrupted(*BENCH, "--seed", "7", "--json", "--output", "first.json", "--run-file", "a", "--history", "H")
    written = Path("first.json").read_bytes(), Path("a").read_bytes()
    done = run_pretended("bench", "--resume", "@last", "--history", "H")
    assert (done.status, done.stdout.startswith("{")) == (0, False)
    assert (Path("first.json").read_bytes(), Path("a").read_bytes()) == written
    [kept] = Path("H/runs").glob("*.json")
    assert Run.load(kept).plan.runners[0].problem.seed == 7


@pytest.mark.usefixtures("anywhere")
def test_a_resumed_run_is_quiet_only_if_its_new_command_is() -> None:
    for typed in ([], ["--quiet"]):
        run_interrupted(*BENCH, "--quiet", "--no-progress", "--run-file", "a.json", "--no-history")
        done = run_pretended("bench", "--resume", "a.json", "--no-history", *typed)
        assert (done.status, "Saved in a.json." in done.stderr) == (0, not typed), done.stderr


@pytest.mark.usefixtures("anywhere")
@pytest.mark.parametrize("typed", [["--order-seed", "1"], []])
def test_another_order_is_not_resumed(typed: list[str]) -> None:
    run_interrupted(*BENCH, *typed, "--no-history", "--run-file", "a.json")
    seed = Run.load("a.json").plan.order_seed
    refused = run_pretended("bench", "--resume", "a.json", "--order-seed", "7")
    assert refused.status == 2
    assert f"error: cannot resume the run: plan.order_seed was {seed} and is 7 now" in refused.stderr
    done = run_pretended("bench", "--resume", "a.json", *(["--order-seed", str(seed)] if typed else []))
    assert (done.status, Run.load("a.json").plan.order_seed) == (0, seed), done.stderr


@pytest.mark.usefixtures("anywhere")
def test_the_hint_for_a_named_run_of_a_history_folder_works(monkeypatch: pytest.MonkeyPatch) -> None:
    run_interrupted(*BENCH, "--history", "H")
    monkeypatch.delenv("FASTRNNS_NO_HISTORY")
    refused = run_pretended("bench", "--resume", "@last", FASTRNNS_HISTORY="H")
    assert refused.status == 2
    error, hint = refused.stderr.splitlines()
    assert error == "error: run with a history folder: '--history H' (--resume)"
    assert hint.startswith("hint: Run: fastrnns-rs bench --resume ")
    assert run_pretended(*shlex.split(hint)[3:]).status == 0
    [kept] = Path("H/runs").glob("*.json")
    assert n_measured(kept) == 6


@pytest.mark.usefixtures("anywhere")
@pytest.mark.parametrize(
    ("words", "reason"),
    [
        (["--of-another-version"], "unknown option: --of-another-version (bench)"),
        (["--hidden-sise=3"], "unknown option: --hidden-sise (bench)"),
        (["--warmup"], "missing value: --warmup (bench)"),
        (["--hidden-size", "many"], "invalid integer: 'many' (--hidden-size)"),
        # These values are parsed after all words.
        (["--stop", "xyz"], "invalid value: 'xyz' (--stop)"),
        (["--affinity", "99999"], "CPU not available: 99999 (--affinity)"),
        (["--axis", "hidden-size=x"], "invalid value of hidden-size: 'x' (--axis)"),
        (["nothing"], "unknown runner: 'nothing' (RUNNER)"),
    ],
)
def test_an_option_of_the_run_that_is_wrong_here_is_named_with_the_file(words: list[str], reason: str) -> None:
    made = run_files.run([run_files.result()], status="interrupted", command=["fastrnns-rs", *BENCH, *words])
    made.save(Path("a.json"))
    refused = run_pretended("bench", "--resume", "a.json", "--no-history")
    assert (refused.status, refused.stderr.splitlines()) == (
        2,
        [
            f"error: cannot repeat the command of the run: 'a.json' (--resume): {reason}",
            "hint: Resume the run on its machine with the version that began it, or start it again.",
        ],
    )


@pytest.mark.usefixtures("anywhere")
def test_a_value_of_this_command_line_is_named_alone() -> None:
    command = ["fastrnns-rs", *BENCH, "--stop", "xyz"]
    run_files.run([run_files.result()], status="interrupted", command=command).save(Path("a.json"))
    refused = run_pretended("bench", "--resume", "a.json", "--no-history", "--stop", "other")
    assert (refused.status, refused.stderr.splitlines()[0]) == (2, "error: invalid value: 'other' (--stop)")
