"""Runners that attack what runs them: each costs its own row, and all others are measured.

The workers are real processes without torch; `test_bench_failures.py` has runners that break with it.
"""

from __future__ import annotations

import io
import os
import subprocess
from pathlib import Path
from typing import NoReturn

import fake_tools
import pretended_processes
import pytest
from conftest import Done
from hostile_runners import ACTS
from parts import few
from processes import left_of
from profile_commands import PRETENDED, told
from test_inductor_finding import module

from fastrnns_rs.documents.run_file import Run
from fastrnns_rs.documents.verification import Verification
from fastrnns_rs.worker.channel import Channel

RUNNERS = Path(__file__).with_name("hostile_runners.py")
LOST = "the command could not be supervised: its supervisor was killed"
DAMAGED = "the result of its worker is damaged: "
#: Why the row of a runner has failed; None where it is measured as if nothing had happened.
REASONS: dict[str, str | None] = {
    "kills_its_supervisor": LOST,
    "ends_supervisor": LOST,
    "aborts": "the process was killed by signal 6 (SIGABRT)",
    "exits_well": "the process exited with status 0 before it had a result",
    "starts_daemons": None,
    "writes_megabytes": None,
    "closes_descriptors": "the process exited with status 1 before it had a result",
    "replaces_streams": None,
    "removes_streams": None,
    "replaces_streams_and_raises": "ValueError: the reason",
    "forks": None,
    "exhausts_memory": "MemoryError",
    "changes_process": None,
    "stops_supervisor": None,
    "raises_mute": "_MuteError: its message cannot be shown: SystemExit",
    "raises_base": "BaseException: neither an Exception",
    "raises_interrupt": "KeyboardInterrupt",
    "raises_generator_exit": "GeneratorExit",
    "many_phases": "its worker gave no reason",
    "forges_nothing": "its worker gave no reason",
    "forges_ok": f"{DAMAGED}steady_from is None, and forward_ns has 0 samples",
    "forges_text": f"{DAMAGED}forward_ns is 'abc', not a list",
    "forges_words": f"{DAMAGED}forward_ns[0] is 'a', not an integer",
    "forges_fractions": f"{DAMAGED}forward_ns[0] is 0.5, not an integer",
    "forges_nan": f"{DAMAGED}forward_ns[0] is nan, not an integer",
    "forges_negative": f"{DAMAGED}forward_ns[0] is -5, not a time from 0 to 2⁶² ns",
    "forges_huge": f"{DAMAGED}forward_ns[0] is 1{'0' * 38}…, not a time from 0 to 2⁶² ns",
    "forges_unequal": f"{DAMAGED}backward_ns has 1 samples, and forward_ns has 2",
    "forges_start": f"{DAMAGED}steady_from is 77, and forward_ns has 2 samples",
    "forges_start_text": f"{DAMAGED}steady_from is 'x', not an integer",
    "forges_compile": f"{DAMAGED}missing key: compile.cold_ns",
    "forges_compile_text": f"{DAMAGED}compile is 'x', not an object",
    "forges_memory": f"{DAMAGED}peak_memory_bytes is 'much', not an integer",
    "forges_mode": f"{DAMAGED}timing_mode is 3, not a string",
    "forges_class": f"{DAMAGED}warmup_class is {{'a': 1}}, not a string",
    "forges_status": "its worker gave no reason",
    "forges_reason": "{'a': ['\\x1b[2J']}",
    "forges_kinds": "the process exited with status 0 before it had a result",
    "../../etc/passwd": None,
    "\x1b[2Jclears": None,
    "\u202egnp": None,
    "日本語😀": None,
    "x" * 5000: None,
    "sound[hidden-size=8]": None,
}
#: Runners that take all of their time, and why their rows have timed out.
TIMED_OUT = {
    "keeps_supervisor_stopped": "it measured, but its process did not end in time",
    "parts_without_end": "no result after 5 s",
    "holds_interpreter": "no result after 5 s",
}
ELSEWHERE = {"sound", "kills_bench", "removes_temporary_folder"}
WORDS = ["--group", "rnns", "--runner-file", RUNNERS, "--device", "cpu"]
FAST = [*WORDS, "--processes", "1", "--nloops", "2"]


def named(*runners: str) -> list[str]:
    return [f"--rnns={name}" for name in runners]


def checked(done: Done) -> Run:
    """The run that a bench wrote to stdout, which has said nothing of faults of its own."""
    assert "Traceback" not in done.stderr
    assert "fault of fastrnns-rs" not in done.stderr
    return Run.from_dict(done.json())


def test_every_act_is_tested() -> None:
    assert {*REASONS, *TIMED_OUT, *ELSEWHERE} == {*ACTS}


def test_each_costs_its_own_row_and_leaves_nothing(mark: str, tmp_path: Path) -> None:
    output = tmp_path / "run.json"
    words = ["bench", *FAST, *named("sound", *REASONS), "--timeout", "60", "--json", "--run-file", output]
    done = pretended_processes.run(*words, HOSTILE_MARK=mark)
    run = checked(done)
    assert done.status == 1
    assert run == Run.load(output)
    assert (run.status, run["sound"].status) == ("failed", "ok")
    found = {one.runner: (one.status, one.reason) for one in run.results if one.runner != "sound"}
    assert found == {name: ("failed" if reason else "ok", reason) for name, reason in REASONS.items()}
    # What acts on a terminal comes from us alone.
    assert "\x1b" not in done.stderr
    assert not left_of(mark)


def test_a_forked_copy_of_a_worker_ends(monkeypatch: pytest.MonkeyPatch) -> None:
    """It would measure beside the worker, and answer in its place."""

    def leave(_status: int) -> NoReturn:
        raise InterruptedError

    stream = io.StringIO()
    channel = Channel(stream)
    channel.phase("build")
    sent = stream.getvalue()
    monkeypatch.setattr(os, "getpid", lambda: 0)
    monkeypatch.setattr(os, "_exit", leave)
    with pytest.raises(InterruptedError):
        channel.phase("measure")
    assert stream.getvalue() == sent != ""


@pytest.mark.parametrize("runner", few(["parts_without_end"], TIMED_OUT, "kills"))
def test_each_has_the_time_of_its_row_alone(runner: str, mark: str) -> None:
    done = pretended_processes.run(
        *("bench", *FAST, *named(runner, "sound"), "--timeout", "5", "--order-seed", "1", "--json"), HOSTILE_MARK=mark
    )
    run = checked(done)
    found = run[runner].status, run[runner].reason
    # A supervisor is woken again and again: it may win the race against what stops it.
    assert found == ("timed_out", TIMED_OUT[runner]) or (runner, found) == ("keeps_supervisor_stopped", ("ok", None))
    assert done.status == (0 if found[0] == "ok" else 1)
    assert run["sound"].status == "ok"
    assert not left_of(mark)


def test_a_temporary_folder_that_is_removed_is_made_again(tmp_path: Path) -> None:
    """The next runner that compiles needs one."""
    folder = tmp_path / "temporary"
    folder.mkdir()
    (folder / "may-be-removed").touch()
    words = ["bench", *FAST, *named("removes_temporary_folder", "compile_scan"), "--json"]
    given = {"TMPDIR": str(folder), "HOSTILE_REMOVES": str(folder)}
    for seed in ("1", "2"):
        run = checked(pretended_processes.run(*words, "--order-seed", seed, **given))
        assert [one.status for one in run.results] in (["ok", "ok"], ["ok", "failed"], ["failed", "ok"])
        assert run["compile_scan"].status == "ok", run["compile_scan"].reason


def test_ab_ends_with_both_rows(mark: str) -> None:
    done = pretended_processes.run(
        *("ab", "kills_its_supervisor", "sound", *WORDS[2:], "--processes", "2", "--nloops", "2", "--json"),
        HOSTILE_MARK=mark,
    )
    assert done.status == 1, done.stderr
    said = " ".join(done.stderr.split())
    assert LOST in said
    assert "kills_its_supervisor / sound" in said
    assert "fault of fastrnns-rs" not in done.stderr
    assert not left_of(mark)


def test_verify_goes_on(mark: str) -> None:
    done = pretended_processes.run(
        *("verify", *WORDS, *named("kills_its_supervisor", "sound", "exits_well"), "--json"), HOSTILE_MARK=mark
    )
    assert done.status == 1, done.stderr
    found = Verification.from_dict(done.json())
    assert {one.runner: (one.status, one.reason) for one in found.results} == {
        "kills_its_supervisor": ("failed", LOST),
        "sound": ("ok", None),
        "exits_well": ("failed", "the process exited with status 0 before it had a result"),
    }
    assert not left_of(mark)


def test_inductor_goes_on(tmp_path: Path, mark: str) -> None:
    first, second = module(tmp_path / "a.py"), module(tmp_path / "b.py")
    for path, act in ((first, "os.kill(os.getppid(), signal.SIGKILL); time.sleep(60)"), (second, "")):
        # The first line is the head of a generated module.
        head, rest = path.read_text().split("\n", 1)
        path.write_text(f"{head}\nimport os, signal, time\nAsyncCompile = object\n{act}\n{rest}")
    done = pretended_processes.run("inductor", first, second, "--processes", "1", "--json", HOSTILE_MARK=mark)
    assert done.status == 1, done.stderr
    rows = done.json()["modules"]
    assert [(one["status"], one["reason"]) for one in rows] == [("failed", LOST), ("ok", None)]
    assert not left_of(mark)


def test_profile_goes_on_to_the_next_capture(tmp_path: Path, mark: str) -> None:
    """The fake profiler acts as a runner would that is profiled."""
    attack = "import os, signal\nif 'py' in call.names: os.kill(os.getppid(), signal.SIGKILL); time.sleep(60)\n"
    tool = fake_tools.nsys(tmp_path / "bin" / "nsys", profile=f"{attack}{PRETENDED}\ncall.report()")
    out = tmp_path / "out"
    words = ["profile", "--nsys", "--nsys-path", tool, "--output-dir", out, "--rnns", "py", "cudnn", "--separate"]
    words += ["--quick", "--no-unprofiled", "--nloops", "2", "--warmup", "0", "--device", "cpu", "--no-report"]
    done = pretended_processes.run(*words, HOSTILE_MARK=mark)
    message, _ = told(done, 1)
    assert message == f"nsys ended without having run anything: {LOST}"
    assert "6 of 6 checks passed" in done.stdout
    logs = [path.read_text() for path in out.glob("*.log")]
    assert len(logs) == 2
    assert sum(f"# {LOST}" in log for log in logs) == 1
    assert not left_of(mark)


def test_a_bench_that_its_runner_kills_can_be_resumed(tmp_path: Path, mark: str) -> None:
    """Nothing survives it, and its file has what was measured before."""
    output = tmp_path / "run.json"
    words = ["bench", *WORDS, "--processes", "2", "--nloops", "2", "--order-seed", "3", *named("sound", "kills_bench")]
    variables = {**os.environ, "HOSTILE_MARK": mark, "HOSTILE_ONCE": str(tmp_path / "once")}
    ends = []
    for more in (["--output", str(output)], ["--resume", str(output)]):
        command = pretended_processes.command(*words, *more)
        ends.append(subprocess.run(command, capture_output=True, text=True, check=False, env=variables))
        assert not left_of(mark)
        if more[0] == "--output":
            before = Run.load(output)
            assert before.status == "interrupted"
    assert [one.returncode for one in ends] == [-9, 0], ends[1].stderr
    run = Run.load(output)
    assert run.status == "complete"
    assert {name: len(run[name].processes) for name in ("sound", "kills_bench")} == {"sound": 2, "kills_bench": 2}
    for result in before.results:
        assert run[result.runner].processes[: len(result.processes)] == result.processes
