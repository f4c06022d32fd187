"""The command `history`: the list, tags, pruning, export and import."""

from __future__ import annotations

import errno
import json
import os
import re
import shutil
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from time import monotonic
from typing import Any

import pytest
from commands import run_cli
from conftest import ROOT
from history_runs import kept, made
from run_files import summarised

from fastrnns_rs import UsageError
from fastrnns_rs.cli.exit_codes import ExitCode
from fastrnns_rs.documents import reading
from fastrnns_rs.documents.codec import to_plain
from fastrnns_rs.documents.history import History
from fastrnns_rs.documents.writer_lock import WriterLocks
from fastrnns_rs.errors import DocumentWarning
from fastrnns_rs.verbs.history import pruning
from fastrnns_rs.verbs.history.run_history import RunHistory
from fastrnns_rs.verbs.history.transfer import import_runs


def test_the_list_the_tags_and_the_document(history: RunHistory, anywhere: Path) -> None:
    assert run_cli("history", COLUMNS="999").stdout == f"no runs in {history.folder}\n"
    kept(history, made(1), made(2))
    tagged, command = run_cli("history", "--tag", "new").stderr.splitlines()
    assert tagged == f"@{'0' * 12} has the tag new"
    assert run_cli(*command.partition("fastrnns-rs ")[2].split()).stdout.count("new") == 1
    assert run_cli("history", "@last~1", "@last", "--tag", "both").status == 0
    lines = run_cli("history").stdout.splitlines()
    assert len(lines) == 3
    assert "both new" in lines[2]
    document = run_cli("history", "@last", "--json").json()
    assert [one["tags"] for one in document["runs"]] == [["both", "new"]]
    assert History.from_dict(document).to_dict() == document
    assert {"run_id", "created_utc", "path", "tags", "commit", "status"} <= document["runs"][0].keys()
    # A program that copies folders has made another file of it.
    texts = [one.read_text() for one in (history.tags_folder / "both").iterdir()]
    (history.tags_folder / "both" / "copy").write_text(f"{max(texts)}\n")
    assert run_cli("history", "--untag", "both").status == 0
    assert [one.tags for one in history.document().runs] == [["both"], ["new"]]
    assert "does not have 'both'" in run_cli("history", "--untag", "both").stderr
    for tag in ("", "../x", "a/b", "-x", "a b", "x" * 65, "\x1b[31m"):
        refused = run_cli("history", f"--tag={tag}")
        assert (refused.status, "(--tag)" in refused.stderr) == (2, True)
    for words, message in (
        (["--tag", "a", "--prune"], "exclude each other"),
        (["--older-than", "3d"], "need --prune"),
        (["--prune"], "needs --older-than or --keep"),
        (["--prune", "--older-than", "soon"], "'soon' (--older-than)"),
        (["--prune", "--keep", "much"], "'much' (--keep)"),
        (["--prune", "--keep", "10"], "'10' (--keep)"),
        (["--prune", "@last", "--keep", "1B"], "'@last' (RUN)"),
        (["run.json"], "'run.json' (RUN)"),
        (["--import"], "missing value: --import"),
    ):
        refused = run_cli("history", *words)
        assert (refused.status, message in refused.stderr) == (2, True), refused.stderr


def test_the_newest_runs_are_listed(history: RunHistory) -> None:
    kept(history, *(made(number) for number in range(23)))
    # A run with two files is one run.
    last = Path(history.document().runs[-1].path)
    last.with_name("copy.json").write_bytes(last.read_bytes())

    def listed(*words: str) -> list[str]:
        return run_cli("history", *words).stdout.splitlines()[1:]

    every = listed("--all")
    assert len(every) == 23
    assert listed() == [*every[-20:], "3 earlier: fastrnns-rs history --all"]
    assert listed("--last", "22") == [*every[1:], "1 earlier: fastrnns-rs history --all"]
    for count in ("23", "24", "1000000000"):
        assert listed("--last", count) == every
    assert listed("@last~22", "@last") == [every[0], every[-1]]
    assert len(run_cli("history", "--json").json()["runs"]) == 23
    assert [one["run_id"] for one in run_cli("history", "--json", "--last", "2").json()["runs"]] == [
        f"{number:032x}" for number in (21, 22)
    ]
    for words, message in (
        (["--last", "0"], "0 (--last)"),
        (["--last", "3", "--all"], "--all and --last"),
        (["@last", "--all"], "--all and --last"),
        (["--tag", "a", "--last", "2"], "--all and --last"),
    ):
        refused = run_cli("history", *words)
        assert (refused.status, message in refused.stderr) == (2, True), refused.stderr


def test_the_document_is_that_of_the_codec(history: RunHistory) -> None:
    kept(history, *(made(number) for number in range(3)))
    history.tag(history.document().runs[:1], "a")
    history.tag(history.document().runs[:2], "b")
    document = history.document()
    strange = {
        "run_id": '"\\\n\x00\x7f\u2028é😀',
        "path": "/\udcff%s%%",
        "tags": ["%d", "é"],
        "runners": [],
        "commit": None,
        "dirty": None,
        "size_bytes": 2**60,
    }
    runs = [*document.runs, replace(document.runs[0], **strange), replace(document.runs[0], dirty=True)]
    for one in (document, document.with_runs([]), document.with_runs(runs)):
        assert json.loads(one.to_json()) == one.to_dict()
        lines = one.to_json().splitlines()
        assert [line.strip().removesuffix(",") for line in lines if line.startswith("    {")] == [
            json.dumps(to_plain(each)) for each in one.runs
        ]


def test_the_runs_of_another_history_are_imported(history: RunHistory, anywhere: Path) -> None:
    kept(history, made(1), made(2))
    back = run_cli("history", "--import", str(history.folder), "--history", "other")
    assert "new in the history: 2 runs" in back.stderr
    (anywhere / "empty").mkdir()
    back = run_cli("history", "--import", "empty", "--history", "other")
    assert back.stderr.startswith("note: skipped: no run file in the folder: 'empty'\n")


def test_runs_go_elsewhere_and_come_back(history: RunHistory, anywhere: Path) -> None:
    ids = kept(history, made(1), made(2), made(3))
    assert "2 run files are in out" in run_cli("history", "@last", "@last~1", "--export", "out").stderr
    assert run_cli("history", "@last", "@last", "--export", "one").stderr == "1 run file is in one\n"
    assert run_cli("history", "@last", "--export", "out").status == 0
    (anywhere / "out" / "notes.json").write_text("{}")
    refused = run_cli("history", "@last", "--export", "out/notes.json")
    assert refused.status == ExitCode.USAGE
    assert refused.stderr.startswith("error: invalid path: 'out/notes.json' (--export): the path is a file\n")
    (anywhere / "out" / "cut.json").write_text(json.dumps(made(9).to_dict())[:500])
    back = run_cli("history", "--import", "out", "--history", "other")
    assert back.stderr.count("note: skipped: not a run file: ") == 2
    assert "new in the history: 2 runs" in back.stderr
    command = back.stderr.splitlines()[-1].partition("fastrnns-rs ")[2]
    assert run_cli(*command.split()).stdout.count("\n") == 3
    assert [one.run_id for one in RunHistory(anywhere / "other").document().runs] == ids[1:]
    again = run_cli("history", "--import", "out", "--history", "other")
    assert "new in the history: 0 runs" in again.stderr
    assert again.stderr.count("note: already in the history: ") == 2
    assert again.stderr.count("note: skipped: ") == 2
    # Another command imports at the same time.
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(RunHistory, "document", lambda _self: History(folder=""))
        _, notes = import_runs(RunHistory(anywhere / "other"), [anywhere / "out"])
    assert sum(one.startswith("already in the history: ") for one in notes) == 2
    assert run_cli("history", "--import", "nowhere").status == 2
    # A run that is measured now is locked.
    begin = monotonic()
    with WriterLocks() as locks:
        for one in RunHistory(anywhere / "other").document().runs:
            locks.hold(Path(one.path))
        _, notes = import_runs(RunHistory(anywhere / "other"), [anywhere / "out"])
    assert sum(one.startswith("already in the history: ") for one in notes) == 2
    assert monotonic() - begin < 20
    # The run has been resumed.
    fuller = next((anywhere / "out").glob("20260101T000003Z*.json"))
    document = json.loads(fuller.read_text())
    fuller.write_text(json.dumps(document))
    note = f"note: skipped: other content of this run is in the history: 'out/{fuller.name}'"
    assert note in run_cli("history", "--import", "out", "--history", "other").stderr
    # A run file of a history may have any name.
    [kept_file] = (anywhere / "other" / "runs").glob(fuller.name)
    kept_file.rename(kept_file.with_name("mine.json"))
    assert note in run_cli("history", "--import", "out", "--history", "other").stderr
    # A run that the history could not list.
    long = made(8)
    replace(long, results=[replace(long.results[0], runner="x" * (1 << 21))]).save(anywhere / "long.json")
    refused = run_cli("history", "--import", "long.json", "--history", "other").stderr
    assert "text of more than" in refused
    assert "new in the history: 0 runs" in refused
    [name] = [one for one in os.listdir("out") if one.startswith("20260101T000003Z")]
    (anywhere / "out" / name).write_text("mine")
    assert f"out/{name}'" in run_cli("history", "@last", "--export", "out").stderr
    assert (anywhere / "out" / name).read_text() == "mine"


def test_a_run_file_of_another_user_does_not_stop_an_import(history: RunHistory, anywhere: Path) -> None:
    (anywhere / "in").mkdir()
    for number in range(3):
        made(number).save(anywhere / "in" / f"{number}.json")
    history.keep(made(0))
    # A run of another ID has this place.
    history.find_place(made(1)).write_text("{}")
    # The index reads the files that it does not know.
    assert len(history.document().runs) == 1
    content = reading.content

    def refused(path: str | os.PathLike[str], most: int | None = None) -> bytes:
        if Path(path).parent == history.runs_folder:
            raise PermissionError(errno.EACCES, "Permission denied", str(path))
        return content(path, most)

    # The tests' own user may be root, who may read all files.
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(reading, "content", refused)
        done = run_cli("history", "--import", "in")
    assert (done.status, "new in the history: 1 run" in done.stderr) == (0, True), done.stderr
    for number in range(2):
        name = history.find_place(made(number)).name
        note = f"note: skipped: cannot read {name!r} in the history (Permission denied): 'in/{number}.json'"
        assert note in done.stderr
    assert [one.run_id for one in history.document().runs] == [made(0).run_id, made(2).run_id]


def test_a_run_with_a_time_of_zero_is_listed(history: RunHistory, anywhere: Path) -> None:
    run = made(8)
    [row] = run.results
    processes = [replace(one, forward_ns=[0] * len(one.forward_ns)) for one in row.processes]
    nothing = replace(row, processes=processes, forward=None)
    replace(run, results=[summarised(nothing)]).save(anywhere / "run.json")
    assert "new in the history: 1 run" in run_cli("history", "--import", "run.json").stderr
    assert [one.run_id for one in history.document().runs] == [run.run_id]
    assert history.document().warnings == []


def test_runs_of_another_time_zone_are_in_order(history: RunHistory) -> None:
    """Runs that other programs wrote: 05:00 at +14:00 is 15:00 UTC of the day before."""
    times = ("2026-01-02T05:00:00+14:00", "2026-01-02T01:00:00Z", "0001-01-01T00:00:00+14:00")
    for number, time in enumerate(times):
        one = made(number)
        history.keep(replace(one, created_utc=time, sessions=[replace(one.sessions[0], started_utc=time)]))
    found = history.document().runs
    assert [int(one.run_id, 16) for one in found] == [2, 0, 1]
    assert [one.last_started_utc for one in found] == [times[2], "2026-01-01T15:00:00Z", times[1]]
    assert Path(found[1].path).name.startswith("20260101T150000Z")


def test_times_in_other_notations_are_in_order(history: RunHistory) -> None:
    times = ("2026-12-31T00:00:00Z", "20260101T000000Z", "2026-06-01T00:00:00.500Z", "2026-06-01T00:00:01Z")
    for number, time in enumerate(times):
        one = made(number)
        history.keep(replace(one, created_utc=time, sessions=[replace(one.sessions[0], started_utc=time)]))
    assert [int(one.run_id, 16) for one in history.document().runs] == [1, 2, 3, 0]


@pytest.mark.parametrize("words", [["--tag", "one"], ["--export", "out"], ["--import", "out"], ["--prune"]])
def test_an_action_has_no_document(history: RunHistory, anywhere: Path, words: list[str]) -> None:
    kept(history, made(1))
    done = run_cli("history", *words, "--json", "--output", "out.json")
    assert done.status == 2
    assert done.stderr.startswith(f"error: --output and {words[0]} exclude each other\n")
    assert not {*os.listdir(anywhere)} & {"out", "out.json"}


def test_old_runs_are_deleted_where_asked(history: RunHistory) -> None:
    kept(history, *(made(number) for number in range(6)))
    history.tag(history.document().runs[:1], "baseline")
    trial = run_cli("history", "--prune", "--keep", "1B", "--dry-run")
    assert "5 of 6 runs would be deleted" in trial.stderr
    assert len(history.document().runs) == 6
    size = history.document().runs[0].size_bytes
    assert "3 of 6 runs were deleted" in run_cli("history", "--prune", "--keep", f"{3 * size + 10}B").stderr
    assert [int(one.run_id, 16) for one in history.document().runs] == [0, 4, 5]
    assert "2 of 3 runs were deleted" in run_cli("history", "--prune", "--older-than", "1w").stderr
    assert [one.tags for one in history.document().runs] == [["baseline"]]


def test_all_files_of_a_run_are_deleted(history: RunHistory) -> None:
    """Of a run with a copy, the copy was the run afterwards."""
    kept(history, *(made(number) for number in range(3)))
    first = history.document().runs[0]
    for name in ("0.json", "copy.json"):
        shutil.copy(first.path, history.runs_folder / name)
    replace(made(1), command=["another"]).save(history.runs_folder / "another.json")
    size = history.document().runs[-1].size_bytes
    with WriterLocks() as locks:
        locks.hold(history.runs_folder / "another.json")
        assert "1 of 3 runs were deleted" in run_cli("history", "--prune", "--keep", f"{size}B").stderr
        assert [int(one.run_id, 16) for one in history.document().runs] == [1, 2]
        assert len(os.listdir(history.runs_folder)) == 4  # with the lock
    assert "1 of 2 runs were deleted" in run_cli("history", "--prune", "--keep", f"{size}B").stderr
    [last] = history.document().runs
    assert os.listdir(history.runs_folder) == [Path(last.path).name]


def test_ages_and_sizes() -> None:
    assert [pruning.parse_age(text).days for text in ("90d", "12W", " 6m", "1y")] == [90, 84, 180, 365]
    sizes = ("5 b", "5B", "2KiB", "1.5 MB", "2gib")
    assert [pruning.parse_size(text) for text in sizes] == [5, 5, 2048, 1_500_000, 2 << 30]
    for text in ("", "d", "-1d", "1", "9999999d", "1e3d"):
        with pytest.raises(UsageError):
            pruning.parse_age(text)
    for text in ("", "5", "-5B", "five", "1TiB", "1e9", "nan"):
        with pytest.raises(UsageError):
            pruning.parse_size(text)
    for text in ("when?", "", "2020-02-30T00:00:00Z", "10000-01-01T00:00:00Z"):
        # Nobody knows how old it is.
        strange = replace_started(text)
        assert pruning.outdated([strange], now=datetime.now(UTC), older_than=timedelta(days=1)) == []
        assert pruning.outdated([strange], now=datetime.now(UTC), keep_bytes=0) == [strange]


def replace_started(text: str) -> Any:
    from fastrnns_rs.documents.history import KeptRun

    return KeptRun(
        run_id="1",
        created_utc=text,
        last_started_utc=text,
        path="x",
        size_bytes=1,
        tags=[],
        commit=None,
        dirty=None,
        status="complete",
        verb="bench",
        runners=[],
        devices=[],
        torch_version="",
        machine_id=None,
    )


def test_keys_of_a_newer_build_are_written_again() -> None:
    run = {**to_plain(replace_started("x")), "novel": 1}
    plain = {**History(folder="x").to_dict(), "schema_version": "1.99", "runs": [run], "kept": {"runs": []}}
    with pytest.warns(DocumentWarning, match="novel"):
        found = History.from_dict(plain)
    assert json.loads(found.to_json()) == found.to_dict() == plain


def test_commands_of_the_page_run(history: RunHistory, anywhere: Path) -> None:
    page = (ROOT / "docs" / "how-to" / "history.md").read_text()
    blocks = re.findall(r"^```sh\n(.*?)^```", page, flags=re.DOTALL | re.MULTILINE)
    lines = [line for block in blocks for line in block.splitlines() if line.startswith("fastrnns-rs history")]
    assert len(lines) >= 8
    kept(history, made(1), made(2))
    history.tag(history.document().runs, "baseline")
    for line in lines:
        done = run_cli(*line.split()[1:])
        assert done.status == 0, (line, done.stderr)
    assert run_cli("history", "--help").stdout.count("fastrnns-rs history") >= 4


@pytest.mark.parametrize(
    "words", [["--tag", "one"], ["--untag", "one"], ["--export", "out"], ["--import", "out"], ["--prune"]]
)
@pytest.mark.parametrize("json_words", [["--json"], ["--format", "json"]])
def test_an_action_writes_no_json(history: RunHistory, anywhere: Path, words: list[str], json_words: list[str]) -> None:
    kept(history, made(1))
    done = run_cli("history", *words, *json_words)
    assert (done.status, done.stdout) == (2, "")
    assert done.stderr.startswith(f"error: {json_words[0]} and {words[0]} exclude each other\n")
    if words[0] == "--tag":
        # A configured format is that of the list.
        assert run_cli("history", *words, FASTRNNS_HISTORY_FORMAT="json").status == 0
