"""The history: runs that `bench` and `ab` keep, their names, and their use in comparisons."""

from __future__ import annotations

import json
import os
import subprocess
import tempfile
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from commands import run_cli, run_pretended, run_with_facts
from conftest import TINY
from history_runs import kept, made
from run_files import ENVIRONMENT, both

import fastrnns_rs
from fastrnns_rs import UsageError, compare
from fastrnns_rs.cli import run_saving
from fastrnns_rs.documents.history import History
from fastrnns_rs.documents.run_file import Git, Run
from fastrnns_rs.verbs.history.run_history import RunHistory, chosen_history, default_folder
from fastrnns_rs.verbs.history.run_names import named_runs, newest_needed

BENCH = ["bench", "--group", "rnns", "--rnns", "cudnn", "--processes", "3", *TINY]


def test_bench_keeps_every_run(history: RunHistory, anywhere: Path) -> None:
    first = run_pretended(*BENCH)
    assert "Saved as @last.\n" in first.stderr
    assert "compare @last~1" not in first.stderr
    second = run_pretended(*BENCH, "--output", "here.json")
    assert "Compare with the run before: fastrnns-rs compare @last~1 @last\n" in second.stderr
    [one, other] = history.document().runs
    assert Run.load(other.path) == Run.load(anywhere / "here.json")
    assert (one.status, one.verb, one.runners, one.devices) == ("complete", "bench", ["cudnn"], ["cpu"])
    assert run_cli("show", "@last").stdout == run_cli("show", "here.json").stdout
    compared = run_cli("compare", "@last~1", "@last", "--json")
    assert compared.json()["baseline"] == {**compared.json()["baseline"], "label": "@last~1", "files": [one.path]}
    assert sorted(os.listdir(history.folder)) == ["runs"]


def test_a_large_history_is_told_of(history: RunHistory, monkeypatch: pytest.MonkeyPatch) -> None:
    assert "GiB" not in run_pretended(*BENCH).stderr
    monkeypatch.setattr(run_saving, "LARGE_BYTES", 1000)
    told = run_pretended(*BENCH).stderr
    assert "note: the history has 0.0 GiB" in told
    assert "fastrnns-rs history --prune --older-than 90d\n" in told
    assert len(history.document().runs) == 2


def test_ab_keeps_its_run(history: RunHistory) -> None:
    done = run_pretended("ab", "cudnn", "aten", "--processes", "3", *TINY)
    assert "Saved as @last.\n" in done.stderr
    assert [one.verb for one in history.document().runs] == ["ab"]
    assert run_cli("compare", "@last", "--json").json()["rows"][0]["basis"] == "interleaved"


def test_without_a_history_nothing_is_left(history: RunHistory, anywhere: Path) -> None:
    for words in (["--no-history"], []):
        variables = {} if words else {"FASTRNNS_NO_HISTORY": "1"}
        assert "Saved" not in run_pretended(*BENCH, *words, **variables).stderr
    assert not history.folder.exists()
    contradiction = run_cli(*BENCH, "--no-history", "--history", "x")
    assert (contradiction.status, "--history and --no-history" in contradiction.stderr) == (2, True)
    # A flag wins over a variable.
    run_pretended(*BENCH, "--history", "own", FASTRNNS_NO_HISTORY="1")
    assert len(RunHistory(anywhere / "own").document().runs) == 1
    for words, variables in ((["--no-history"], {}), ([], {"FASTRNNS_SHOW_NO_HISTORY": "1"})):
        named = run_cli("show", "@last", *words, **variables)
        assert "the history is off" in named.stderr
        assert named.stderr.endswith("\nhint: Use the path of a file, or turn the history on.\n")


def test_a_project_may_have_a_history_of_its_own(monkeypatch: pytest.MonkeyPatch, anywhere: Path) -> None:
    monkeypatch.delenv("FASTRNNS_NO_HISTORY")
    (anywhere / "pyproject.toml").write_text('[tool.fastrnns-rs]\nhistory = "runs of this"\n')
    assert run_pretended(*BENCH).status == 0
    assert len(RunHistory(anywhere / "runs of this").document().runs) == 1
    assert len(run_cli("history", "--json").json()["runs"]) == 1
    assert run_cli("list").status == 0
    (anywhere / "pyproject.toml").write_text("[tool.fastrnns-rs]\nhistory = 3\n")
    assert "'history' (pyproject.toml)" in run_cli("history").stderr
    anywhere.chmod(0o777)
    (anywhere / "pyproject.toml").write_text('[tool.fastrnns-rs]\nhistory = "elsewhere"\n')
    foreign = run_cli("history", "--json", XDG_DATA_HOME=anywhere / "data")
    assert "sets files to write, but " in foreign.stderr
    assert foreign.json()["folder"] == str(anywhere / "data" / "fastrnns-rs" / "history")


def test_an_interrupted_run_is_kept_and_resumed(history: RunHistory) -> None:
    [run_id] = kept(history, Run.from_dict({**made(1).to_dict(), "status": "interrupted"}))
    [one] = history.document().runs
    assert (one.run_id, one.status) == (run_id, "interrupted")
    begun = run_pretended(*BENCH, "--processes", "4").stderr
    assert "Saved as @last." in begun
    last = history.document().runs[-1]
    plain = json.loads(Path(last.path).read_text())
    Path(last.path).write_text(json.dumps({**plain, "status": "interrupted"}))
    os.utime(history.runs_folder)
    resumed = run_with_facts("bench", "--resume", "@last")
    assert resumed.status == 0, resumed.stderr
    assert [one.status for one in history.document().runs] == ["interrupted", "complete"]
    assert len(Run.load(last.path).sessions) == 2


def test_a_resumed_run_is_kept_where_its_command_says(history: RunHistory, anywhere: Path) -> None:
    begun = run_pretended(*BENCH, "--processes", "4", "--run-file", "run.json", "--no-history")
    assert begun.status == 0, begun.stderr
    file = anywhere / "run.json"
    file.write_text(json.dumps({**json.loads(file.read_text()), "status": "interrupted"}))
    resumed = run_with_facts("bench", "--resume", "run.json")
    assert resumed.status == 0, resumed.stderr
    assert "Saved in run.json." in resumed.stderr
    assert history.document().runs == []


def test_a_run_file_does_not_choose_the_folder_that_is_written_to(anywhere: Path) -> None:
    begun = run_pretended(*BENCH, "--processes", "2", "--run-file", "run.json", "--no-history")
    assert begun.status == 0, begun.stderr
    file = anywhere / "run.json"
    made = json.loads(file.read_text())
    command = [*made["command"], "--history", "elsewhere"]
    command.remove("--no-history")
    file.write_text(json.dumps({**made, "status": "interrupted", "command": command}))
    refused = run_with_facts("bench", "--resume", "run.json")
    assert refused.status == 2
    assert "error: run with a history folder: '--history elsewhere' (--resume)" in refused.stderr
    assert "fastrnns-rs bench --resume run.json --history elsewhere" in refused.stderr
    assert not (anywhere / "elsewhere").exists()
    # With code, one hint names both.
    file.write_text(json.dumps({**made, "status": "interrupted", "command": [*command, "--compile-cache", "c"]}))
    for words in ([], ["--history", "elsewhere"], ["--compile-cache", "c"]):
        hint = run_with_facts("bench", "--resume", "run.json", *words).stderr
        assert "--history elsewhere" in hint
        assert "--compile-cache c" in hint
    file.write_text(json.dumps({**made, "status": "interrupted", "command": command}))
    resumed = run_with_facts("bench", "--resume", "run.json", "--history", "elsewhere")
    assert resumed.status == 0, resumed.stderr
    assert (anywhere / "elsewhere").is_dir()


@pytest.mark.usefixtures("anywhere")
def test_runs_are_named(history: RunHistory) -> None:
    kept(history, *(made(number) for number in range(5)))
    runs = history.document().runs
    history.tag(runs[1:3], "baseline")
    runs = history.document().runs

    def named(word: str) -> list[int]:
        return [int(one.run_id, 16) for one in named_runs(word, history, runs)]

    assert [named(word) for word in ("@last", "@last~0", "@last~4")] == [[4], [4], [0]]
    assert named("@tag:baseline") == [1, 2]
    assert named(f"@{3:032x}") == [3]
    for word, kind, message in (
        ("@last~5", UsageError, "the history has 5 runs"),
        ("@tag:basline", UsageError, "no run has this tag"),
        ("@00000000", UsageError, "is the start of 5 IDs"),
        ("@abcdef", UsageError, "'@abcdef'"),
        ("@first", UsageError, "'@first'"),
        ("@", UsageError, "'@'"),
        ("@last~-1", UsageError, "'@last~-1'"),
        ("@like:last~9", UsageError, "the history has 5 runs"),
        ("@like:tag:baseline", UsageError, "@tag:baseline names 2 runs"),
        ("@like:", UsageError, "'@like:'"),
        ("@git:main", UsageError, "'main'"),
        ("@git:--all", UsageError, "'--all'"),
        ("@git:\0", UsageError, "git failed"),
    ):
        with pytest.raises(kind, match=message):
            named(word)
    with pytest.raises(UsageError, match="the history has no runs"):
        named_runs("@last", history, [])
    both = run_cli("show", "@tag:baseline")
    assert both.status == 2
    assert "'@tag:baseline' names 2 runs" in both.stderr


def test_runs_that_measured_the_same_have_a_name(history: RunHistory) -> None:
    other = made(2)
    longer = made(6)
    both = [*longer.results, replace(longer.results[0], runner="another")]
    kept(
        history,
        *(made(0), made(1, status="interrupted")),
        replace(other, results=[replace(one, source_sha256="b" * 64) for one in other.results]),
        replace(made(3), environment=replace(ENVIRONMENT, torch_version="0.1")),
        *(made(4), made(5), replace(longer, results=both), made(7)),
    )
    runs = history.document().runs

    def named(word: str) -> list[int]:
        return [int(one.run_id, 16) for one in named_runs(word, history, runs)]

    assert named("@like:last~2") == [0, 4, 5]
    # A run with more rows has these rows as well, but not the other way round.
    assert named("@like:last") == [0, 4, 5, 6, 7]
    assert named("@like:last~1") == [6]
    # One that was interrupted is compared if it is asked for.
    assert named("@like:last~6") == [0, 1]
    assert named("@like:last~5") == [2]


def test_runs_of_ab_are_not_pooled_with_those_of_bench(history: RunHistory) -> None:
    one = made(1)
    sides = both(one.results[0], one.results[0])
    ab = replace(sides, run_id=f"{1:032x}", created_utc=one.created_utc, sessions=one.sessions)
    kept(history, made(0), ab, made(2), made(3))
    runs = history.document().runs
    assert [int(each.run_id, 16) for each in named_runs("@like:last", history, runs)] == [0, 2, 3]
    assert [int(each.run_id, 16) for each in named_runs("@like:last~2", history, runs)] == [1]


def test_runs_are_named_by_their_commit(history: RunHistory, anywhere: Path) -> None:
    def git(*words: str) -> str:
        own = ["-c", "user.name=a", "-c", "user.email=a@b", "-c", "commit.gpgsign=false"]
        return subprocess.run(["git", *own, *words], capture_output=True, text=True, check=True).stdout.strip()

    git("init", "--quiet", "--initial-branch", "main")
    git("commit", "--quiet", "--allow-empty", "--message", "first")
    commit = git("rev-parse", "HEAD")

    def of_commit(number: int, *, dirty: bool, commit: str = commit, **changes: Any) -> Run:
        environment = replace(ENVIRONMENT, git=Git(commit=commit, dirty=dirty))
        return made(number, environment=environment, **changes)

    kept(history, of_commit(1, dirty=True))
    with pytest.raises(UsageError, match=f"commit {commit[:12]} is complete and without local changes"):
        named_runs("@git:main", history, history.document().runs)
    kept(history, of_commit(2, dirty=False), of_commit(3, dirty=False), of_commit(4, dirty=False, commit="f" * 40))
    kept(history, of_commit(5, dirty=False, status="interrupted"))
    assert [int(one.run_id, 16) for one in named_runs("@git:main", history, history.document().runs)] == [2, 3]
    assert "2 sessions" not in run_cli("compare", "@git:HEAD", "@last").stderr
    git("commit", "--quiet", "--allow-empty", "--message", "second")
    with pytest.raises(UsageError, match="no run of commit"):
        named_runs("@git:HEAD", history, history.document().runs)


def test_names_of_the_newest_runs_read_no_others() -> None:
    for words, count in (
        (["@last"], 1),
        (["@last~3", "run.json", "@last", Path("@tag:a")], 4),
        (["@last", "@tag:a"], None),
        (["@like:last"], None),
        (["@last~1~1"], None),
        (["run.json"], 0),
    ):
        assert newest_needed(words) == count


def test_the_history_is_listed_once_for_all_names(
    history: RunHistory, monkeypatch: pytest.MonkeyPatch, anywhere: Path
) -> None:
    kept(history, *(made(number) for number in range(3)))
    listed: list[int | None] = []
    list_runs = RunHistory.document

    def count(one: RunHistory, newest: int | None = None) -> History:
        listed.append(newest)
        return list_runs(one, newest)

    monkeypatch.setattr(RunHistory, "document", count)
    done = run_cli("show", "@last", "@last~1", "@last~2", "--format", "html", "--output", "page.html")
    assert (done.status, (anywhere / "page.html").exists()) == (0, True), done.stderr
    assert listed == [3]


def test_the_past_decides_a_comparison(history: RunHistory) -> None:
    source = {"source_sha256": "a" * 64}
    levels = [1000, 1008, 991, 1012, 1003, 985, 1020, 997, 1001, 1090]
    made_runs = [made(number, level) for number, level in enumerate(levels)]
    kept(history, *(replace(one, results=[replace(row, **source) for row in one.results]) for one in made_runs))
    plain = run_cli("compare", "@last~1", "@last", "--json", "--fail-on", "regression")
    row = plain.json()["rows"][0]
    assert (plain.status, row["basis"], row["verdict"], row["history_sessions"]) == (3, "history", "slower", 8)
    assert not row["history_pooled"]
    kept(history, *(replace(one, results=[replace(row, **source) for row in one.results]) for one in [made(20, 1030)]))
    left_open = compare("@last~2", "@last")
    [hint] = [one.hint for one in left_open.warnings if one.code == "short_baseline"]
    assert (left_open.rows[0].verdict, hint) == ("inconclusive", "Run: fastrnns-rs compare @like:last~2 @last")
    assert compare("@like:last~2", "@last").rows[0].verdict == "slower"
    [hint] = [one.hint for one in compare("@last~2", "@last", margin=0.02).warnings if one.code == "short_baseline"]
    assert hint == "Run: fastrnns-rs compare @like:last~2 @last --margin 0.02"
    # The first run has no earlier ones, so that another command with its name does not help.
    [hint] = [one.hint for one in compare("@like:last~10", "@last").warnings if one.code == "short_baseline"]
    assert hint == "Measure the baseline again in 3 sessions, with the same code and options."
    files = [one.path for one in history.document().runs]
    [hint] = [one.hint for one in compare(files[-3], files[-1]).warnings if one.code == "short_baseline"]
    assert hint.endswith(": fastrnns-rs compare @like:NAME CANDIDATE")
    os.remove(files[-1])
    without = run_cli("compare", history.document().runs[-2].path, history.document().runs[-1].path, "--no-history")
    assert "(↑ slower)" in without.stdout
    assert "(0 of 8 sessions in the history)" in " ".join(without.stderr.split())
    found = compare("@last~1", "@last")
    assert (found.rows[0].basis, found.baseline.label) == ("history", "@last~1")
    assert compare("@last~1", "@last", history=history.folder).rows == found.rows
    with pytest.raises(UsageError, match="the history is off.*turn the history on"):
        compare("@last~1", "@last", history=False)
    alike = compare("@like:last~1", "@last")
    assert (len(alike.baseline.files), alike.rows[0].history_sessions) == (9, 9)
    history.tag(history.document().runs[:4], "baseline")
    tagged = compare(["@tag:baseline"], "@last")
    assert (len(tagged.baseline.files), tagged.rows[0].history_sessions) == (4, 9)


def test_python_keeps_runs_too(history: RunHistory, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    import pretended_workers

    from fastrnns_rs.api import measurement

    execute: Callable[..., Run] = measurement.execute
    pretended = pretended_workers.each(pretended_workers.rising)
    monkeypatch.setattr(
        measurement, "execute", lambda *given, **more: execute(*given, **{**more, "executor": pretended})
    )
    tiny = {"seq_length": 3, "input_size": 4, "hidden_size": 5, "mini_batch": 2, "processes": 2, "device": "cpu"}
    done = fastrnns_rs.bench("cudnn", **tiny)  # type: ignore[arg-type]
    assert [one.run_id for one in history.document().runs] == [done.run_id]
    fastrnns_rs.bench("cudnn", history=False, **tiny)  # type: ignore[arg-type]
    assert len(history.document().runs) == 1
    (history.folder / "file").write_text("")
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    with pytest.warns(UserWarning, match="the run is not( kept)? in the history") as heard:
        done = fastrnns_rs.bench("cudnn", history=history.folder / "file", **tiny)  # type: ignore[arg-type]
    # The samples are in no other file.
    [place] = tmp_path.glob("fastrnns-rs-run-*.json")
    assert f"the run is not in the history, but in {place}. Run: " in str(heard[-1].message)
    assert Run.load(place) == done
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "missing"))
    with pytest.warns(UserWarning, match="the run is not kept in the history|the run is in no file") as heard:
        fastrnns_rs.bench("cudnn", history=history.folder / "file", **tiny)  # type: ignore[arg-type]
    assert "the run is in no file: no temporary file can be written: No such file" in str(heard[-1].message)


def test_a_relative_history_stays_where_it_was(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """A function for progress that changes the working directory moved the run."""
    monkeypatch.chdir(tmp_path)
    history = chosen_history("history")
    monkeypatch.chdir("/")
    assert history is not None
    assert history.folder == tmp_path / "history"


def test_the_users_own_folder(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path))
    assert default_folder() == tmp_path / "fastrnns-rs" / "history"
    assert chosen_history(None) is None  # as the tests' own variable asks
    for word in ("0", "off", "False", "no", " n "):
        monkeypatch.setenv("FASTRNNS_NO_HISTORY", word)
        assert chosen_history(None) == RunHistory(default_folder())
    assert chosen_history(given=False) is None
