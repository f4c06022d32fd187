"""Answers of the profiled process that a runner wrote or replaced: one line, and the rest of the capture is kept."""

from __future__ import annotations

from pathlib import Path

import pytest
from profile_commands import CHECKS, PLANTED_RUN, PRETENDED, bad, checks_of, faked, kept

from fastrnns_rs.documents.capture_manifest import Capture
from fastrnns_rs.verbs.profile.answer_file import read_answer

CYCLE = "{'runner': 'py', 'index': '/../x', 'iterations': [0], 'table': 'a table', 'files': []}"
REPLACED = "the file of its answer was replaced"
DAMAGED = {
    "no list": ("call.answer({'runners': 5})", "runners is 5, not a list"),
    "no status": (
        "call.pretend(status='fine')",
        "runners[0].status is 'fine', not one of pending, running, ok, failed",
    ),
    "few times": ("call.pretend(forward_ns=[1])", "times missing: 'py'"),
    "times before the start": ("call.pretend(backward_ns=[-1] * 2)", "time out of range: 'py'"),
    "a path": (f"call.answer({{'runners': [], 'cycles': [{CYCLE}]}})", "cycles[0].index is '/../x', not an integer"),
    "a pipe": ("import os; os.mkfifo(call._answer)", REPLACED),
    "a device": ("call._answer.symlink_to('/dev/zero')", REPLACED),
    "a folder": ("call._answer.mkdir()", REPLACED),
}


@pytest.mark.parametrize("case", DAMAGED)
def test_it_is_named(case: str, tmp_path: Path) -> None:
    statements, why = DAMAGED[case]
    error, hint = bad(tmp_path, f"{statements}; call.file('.nsys-rep').write_text('{{}}')")
    assert error == f"the answer of the profiled process is damaged: {why}"
    [log] = (tmp_path / "out").glob("*.log")
    assert hint == f"everything that was printed is in {log}"
    capture = Capture.load(log.with_suffix(".json"))
    assert (capture.ok, capture.runners) == (False, ["py"])


def test_others_are_captured(tmp_path: Path) -> None:
    breaks = f"{PRETENDED}call.report(); 'py' in call.names and call.answer({{'runners': 5}})"
    error, _ = bad(tmp_path, breaks, "--separate", runners=("aten", "py", "cudnn"))
    assert "is damaged" in error
    captures = [Capture.load(path) for path in (tmp_path / "out").glob("*.json")]
    assert {one.runners[0]: one.ok for one in captures} == {"aten": True, "py": False, "cudnn": True}


CYCLES = "[{{'runner': 'py', 'index': 0, 'iterations': [], 'table': '', 'files': [[{name!r}, 'torch_table']]}}]"


@pytest.mark.parametrize("name", ["/etc/hostname", "/" + "x" * 300, "/x\0", "/\ud800"])
def test_files_of_others_cost_no_other_capture(name: str, tmp_path: Path) -> None:
    """A table without dots in its name, or a name that no file has, ended the command."""
    answer = f"call.answer({{'runners': [], 'finished': True, 'cycles': {CYCLES.format(name=name)}}})"
    lists = f"{PRETENDED}call.report(); 'py' in call.names and {answer}"
    done = faked(tmp_path, lists, "--separate", runners=("py", "cudnn"))
    assert "fault of fastrnns-rs" not in done.stderr, done.stderr
    assert sorted(Capture.load(path).runners[0] for path in (tmp_path / "out").glob("*.json")) == ["cudnn", "py"]


def test_a_folder_that_is_removed_is_made_again(tmp_path: Path) -> None:
    out = tmp_path / "out"
    removes = f"{PRETENDED}call.report(); import shutil; 'py' in call.names and shutil.rmtree({str(out)!r})"
    done = faked(tmp_path, removes, "--separate", runners=("py", "cudnn"))
    assert done.status == 1
    [kept] = map(Capture.load, out.glob("*.json"))
    assert (kept.runners, kept.ok) == (["cudnn"], True)


def test_names_of_files_keep_their_bytes(tmp_path: Path) -> None:
    path = tmp_path / "answer"
    files = '[["/x/\\udcff", "kineto"]]'
    cycle = f'{{"runner": "py", "index": 0, "iterations": [], "table": "", "files": {files}, "averages": []}}'
    path.write_text(f'{{"runners": [], "cycles": [{cycle}]}}')
    assert read_answer(path, 1)["cycles"][0]["files"] == [["/x/\udcff", "kineto"]]


def test_a_runner_that_ends_the_process_costs_the_others_no_capture(tmp_path: Path) -> None:
    """Nothing was captured. Each falls while it is warmed up, after a runner that does not."""
    waits = "status = call.run(); call.report(); sys.exit(128 - status if status < 0 else status)"
    runners = ("sound", "exits", "crashes")
    error, hint = bad(tmp_path, waits, *PLANTED_RUN, "--warmup", "1", runners=runners)
    why = "the process ended while it was built or warmed up: exit status 3"
    assert error == f"the runner exits failed: {why} (and 1 more)"
    assert hint.startswith("use --separate if another runner is the cause; everything that was printed is in ")
    record, log = kept(tmp_path / "out")
    assert checks_of(record) == {**dict.fromkeys(CHECKS, True), "runners": False}
    assert next(one.found for one in record.checks if one.id == "ranges") == "4 ranges", "those of the first runner"
    again = "starting it again without the runner"
    assert [line for line in log.splitlines() if again in line] == [
        f"# the process ended while the runner {name} was built: {again}" for name in runners[1:]
    ]


@pytest.mark.parametrize("name", ["nobody", "py"])
def test_a_process_is_not_started_without_end(name: str, tmp_path: Path) -> None:
    """A runner may write any name to the report."""
    runner = {"name": name, "status": "running", "step": "warm-up", "phases": []}
    bad(tmp_path, f"call.answer({{'runners': [{runner}]}}); sys.exit(3)", runners=("aten", "py"))
    _, log = kept(tmp_path / "out")
    assert log.count("# under the profiler") == (1 if name == "nobody" else 2)
