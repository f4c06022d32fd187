"""Where results go: `--output`, `--run-file`, streams, `--quiet`, colours, and old names of options."""

from __future__ import annotations

import json
import os
import shlex
import shutil
import subprocess
import sys
import threading
from pathlib import Path
from typing import Any

import pretended_workers
import pytest
from commands import run_pretended, run_process
from conftest import PLANTED, TINY, run_cli
from kineto_traces import kernel, write
from run_files import restated

from fastrnns_rs.documents.run_file import Run
from fastrnns_rs.processes.listener import Answer

BENCH = ["bench", "sound", "--runner-file", PLANTED, "--device", "cpu", "--processes", "3", "--no-history", *TINY]


def test_the_table_is_on_stdout_and_the_rest_on_stderr() -> None:
    done = run_pretended(*BENCH)
    assert done.status == 0, done.stderr
    context, machine, blank, phases, headings, row = done.stdout.splitlines()
    assert (context.split()[0], machine.split(",")[0], blank) == ("custom", "cpu", "")
    assert (phases.split(), headings.split()[0], row.split()[0]) == (["forward", "backward"], "runner", "sound")
    assert done.stderr.startswith("bench: 1 runner, 3 processes\n")
    assert "3 processes in " in done.stderr
    assert "runner  " not in done.stderr


def test_a_run_file_is_kept_beside_the_table(tmp_path: Path) -> None:
    done = run_pretended(*BENCH, "--run-file", tmp_path / "run.json")
    assert Run.load(tmp_path / "run.json").status == "complete"
    assert f"Saved in {tmp_path / 'run.json'}." in " ".join(done.stderr.split())
    assert "warning: --output" not in done.stderr
    assert "sound " in done.stdout


def test_a_run_that_is_replaced_is_named_unless_the_history_has_it(tmp_path: Path) -> None:
    words, file = [one for one in BENCH if one != "--no-history"], tmp_path / "run.json"
    note = f"note: the other run in {file} is replaced"
    for more, is_noted in (
        (["--no-history"], False),
        (["--no-history"], True),
        (["--history", tmp_path / "kept"], True),
        (["--history", tmp_path / "kept"], False),
        (["--history", tmp_path / "other"], True),
    ):
        done = run_pretended(*words, *more, "--run-file", file)
        assert done.status == 0
        assert (note in " ".join(done.stderr.split())) == is_noted
    plain = json.loads(file.read_text()) | {"status": "interrupted"}
    plain["results"][0]["processes"].pop()
    plain["results"] = [restated(one) for one in plain["results"]]
    file.write_text(json.dumps(plain))
    again = run_pretended("bench", "--resume", file, "--runner-file", PLANTED, "--no-history")
    assert (again.status, note in " ".join(again.stderr.split())) == (0, False)


@pytest.mark.parametrize("flags", [["--json"], ["--format", "json"]])
def test_output_is_the_formatted_document(flags: list[str], tmp_path: Path) -> None:
    done = run_pretended(*BENCH, *flags, "--output", tmp_path / "document.json")
    assert (done.status, done.stdout) == (0, "")
    assert Run.from_dict(json.loads((tmp_path / "document.json").read_text()))["sound"].status == "ok"
    assert "Saved" not in done.stderr


def test_output_of_a_table_is_plain_text_of_80_columns(tmp_path: Path) -> None:
    done = run_pretended(*BENCH, "--format", "table", "--output", tmp_path / "table.txt", "--color", "always")
    text = (tmp_path / "table.txt").read_text()
    assert done.stdout == ""
    assert "\x1b" not in text
    assert max(map(len, text.splitlines())) <= 80


def test_output_without_a_format_writes_the_run_file_with_a_warning(tmp_path: Path) -> None:
    done = run_pretended(*BENCH, "--output", tmp_path / "run.json")
    assert Run.load(tmp_path / "run.json").status == "complete"
    assert "sound " in done.stdout
    assert f"hint: Use --run-file {tmp_path / 'run.json'}" in done.stderr


def test_output_beside_a_run_file_is_the_table(tmp_path: Path) -> None:
    done = run_pretended(*BENCH, "--run-file", tmp_path / "run.json", "--output", tmp_path / "table.txt")
    assert Run.load(tmp_path / "run.json").status == "complete"
    assert (done.stdout, "warning: --output" in done.stderr) == ("", False)
    assert "sound " in (tmp_path / "table.txt").read_text()


@pytest.mark.parametrize("target", ["-", "/dev/stdout"])
def test_stdout_is_a_target_and_is_not_emptied(target: str, tmp_path: Path) -> None:
    run_pretended(*BENCH, "--run-file", tmp_path / "run.json")
    words = [sys.executable, "-m", "fastrnns_rs", "show", tmp_path / "run.json", "--json", "--output", target]
    with (tmp_path / "all.txt").open("w") as file:
        file.write("before\n")
        file.flush()
        subprocess.run(words, stdout=file, check=True)
    before, _, document = (tmp_path / "all.txt").read_text().partition("\n")
    assert before == "before"
    assert json.loads(document)["results"][0]["runner"] == "sound"


def test_a_device_is_a_target() -> None:
    done = run_pretended(*BENCH, "--json", "--output", "/dev/null")
    assert (done.status, done.stdout) == (0, "")


def test_a_pipe_is_a_target_and_is_not_replaced(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    found: list[str] = []
    reader = threading.Thread(target=lambda: found.append(pipe.read_text()))
    reader.start()
    done = run_pretended(*BENCH, "--json", "--output", pipe)
    reader.join(30)
    assert done.status == 0, done.stderr
    assert json.loads(found[0])["schema"] == "fastrnns-rs/run"
    assert pipe.is_fifo()


def test_json_has_the_table_on_stderr() -> None:
    done = run_pretended(*BENCH, "--json")
    assert done.json()["status"] == "complete"
    assert any(line.startswith("sound ") for line in done.stderr.splitlines())


def test_quiet_leaves_results_and_errors() -> None:
    done = run_pretended(*BENCH, "--quiet")
    assert done.stderr == ""
    assert "sound " in done.stdout
    broken = run_pretended(*BENCH, "--quiet", "--threads", "0")
    assert (broken.status, broken.stdout) == (2, "")
    assert broken.stderr.startswith("error: ")


def test_no_progress_leaves_warnings_and_the_end() -> None:
    done = run_pretended(*BENCH, "--no-progress")
    assert "bench: " not in done.stderr
    assert "3 processes in " in done.stderr


@pytest.mark.parametrize(
    ("flags", "variables", "coloured"),
    [
        ([], {}, False),
        (["--color", "always"], {}, True),
        (["--color", "always"], {"NO_COLOR": "1"}, True),
        (["--color", "never"], {"FORCE_COLOR": "1"}, False),
        ([], {"FORCE_COLOR": "1"}, True),
        ([], {"FORCE_COLOR": "1", "NO_COLOR": "1"}, False),
    ],
)
def test_colours_are_requested(flags: list[str], variables: dict[str, str], coloured: bool, tmp_path: Path) -> None:
    run_pretended(*BENCH, "--run-file", tmp_path / "run.json")
    done = run_cli("show", tmp_path / "run.json", *flags, **variables)
    assert done.status == 0, done.stderr
    assert ("\x1b[1m" in done.stdout) is coloured


def test_an_encoding_without_symbols_has_ascii(tmp_path: Path) -> None:
    run_pretended(*BENCH, "--run-file", tmp_path / "run.json")
    done = run_process("show", tmp_path / "run.json", PYTHONIOENCODING="ascii")
    assert done.stdout.isascii()
    assert "+-" in done.stdout


@pytest.mark.parametrize("width", [40, 60, 200])
def test_columns_give_the_width(width: int, tmp_path: Path) -> None:
    run_pretended(*BENCH, "--run-file", tmp_path / "run.json")
    done = run_cli("show", tmp_path / "run.json", "--wide", COLUMNS=str(width))
    assert max(map(len, done.stdout.splitlines())) <= width


def test_upstream_columns() -> None:
    done = run_pretended(*BENCH, "--format", "fastrnns")
    assert done.stdout.split()[:7] == ["name", "avg_fwd", "std_fwd", "info_fwd", "avg_bwd", "std_bwd", "info_bwd"]


def test_old_names_warn_and_work(tmp_path: Path) -> None:
    path = write(tmp_path / "trace.json", [kernel("a_gemm", 0, 10), kernel("copy", 20, 5)])
    new = run_cli("report", path, "--by", "kernel", "--match", "gemm", "--devices", "0")
    old = run_cli("report", path, "--by", "kernel", "--filter", "gemm", "--device=0")
    assert new.status == old.status == 0, old.stderr
    assert new.stdout == old.stdout
    assert new.stderr == ""
    assert old.stderr.count("warning: ") == 2
    by_variable = run_cli("report", path, "--by", "kernel", "--devices", "0", FASTRNNS_REPORT_FILTER="gemm")
    assert by_variable.stdout == new.stdout
    assert by_variable.stderr.startswith("warning: FASTRNNS_REPORT_FILTER has a new name, FASTRNNS_REPORT_MATCH")
    (tmp_path / "pyproject.toml").write_text('[tool.fastrnns-rs.report]\nfilter = "gemm"\n')
    configured = run_cli("report", path, "--by", "kernel", "--devices", "0", cwd=tmp_path)
    assert configured.stdout == new.stdout
    assert "has a new name, --match" in configured.stderr


def test_profile_takes_the_old_name(tmp_path: Path) -> None:
    words = ["profile", "--torch", "cudnn", "--quick", "--dry-run", "--output-dir", tmp_path]
    old = run_cli(*words, "--no-baseline")
    assert old.status == 0, old.stderr
    assert "has a new name, --no-unprofiled" in old.stderr


@pytest.mark.parametrize("place", [["--no-history", "--run-file", "a b.json"], ["--history", "kept here"]])
def test_the_last_line_resumes_an_interrupted_run(place: list[str], tmp_path: Path) -> None:
    def stops(_job: dict[str, Any]) -> Answer:
        return Answer({}, "interrupted", "interrupted", "")

    words = ["bench", "sound", "prints", "--runner-file", PLANTED, "--device", "cpu", "--processes", "3", *place]
    done = run_cli(*words, cwd=tmp_path, executor=pretended_workers.each(stops))
    assert done.status == 130
    command = shlex.split(done.stderr.partition("Continue:")[2])
    assert command[:3] == ["fastrnns-rs", "bench", "--resume"]
    resumed = run_pretended(*command[1:], "--json", cwd=tmp_path)
    assert resumed.status == 0, resumed.stderr
    ended = [[one["status"] for one in row["processes"]].count("ok") for row in resumed.json()["results"]]
    assert ended == [3, 3]
    assert "\n6 processes in " in resumed.stderr
    # The resumed run has one place.

    assert " and in " not in resumed.stderr


def test_a_complete_run_is_followed_by_a_command_that_shows_it(tmp_path: Path) -> None:
    words = ["bench", "sound", "--runner-file", PLANTED, "--device", "cpu", "--processes", "3", "--no-history"]
    done = run_pretended(*words, "--run-file", "a b.json", cwd=tmp_path)
    assert "@last" not in done.stderr
    command = shlex.split(done.stderr.splitlines()[-1].partition("fastrnns-rs ")[2])
    assert "sound" in run_cli(*command, cwd=tmp_path).stdout
    # There is nothing to show where nothing was kept.
    assert "fastrnns-rs show" not in run_pretended(*words, cwd=tmp_path).stderr


def test_the_run_before_is_offered_where_it_can_be_compared(tmp_path: Path) -> None:
    words = ["bench", "sound", "--runner-file", PLANTED, "--device", "cpu", "--processes", "3", "--history", "kept"]
    offers = [run_pretended(*words, *sizes, cwd=tmp_path).stderr for sizes in ([], [], ["--hidden-size", "8"])]
    assert ["compare @last~1 @last" in one for one in offers] == [False, True, False]
    command = shlex.split(offers[1].splitlines()[-1].partition("fastrnns-rs ")[2])
    assert run_cli(*command, cwd=tmp_path).status == 2, "another run is the last run now"
    shutil.rmtree(tmp_path / "kept")
    run_pretended(*words, cwd=tmp_path)
    run_pretended(*words, cwd=tmp_path)
    assert run_cli(*command, cwd=tmp_path).status == 0


@pytest.mark.parametrize(
    ("configured", "typed"),
    [
        ('stop = "time:30s"', ["--nloops", "50"]),
        ('devices = ["cuda:0"]', ["--device", "cpu"]),
        ('axis = ["hidden-size=2,3"]', ["--hidden-size", "4"]),
        ("processes = 3", ["--rigorous"]),
    ],
)
def test_a_resumed_run_keeps_the_flags_that_won_over_configured_options(
    configured: str, typed: list[str], tmp_path: Path
) -> None:
    (tmp_path / "pyproject.toml").write_text(f"[tool.fastrnns-rs.bench]\n{configured}\n")
    stopped = pretended_workers.each(lambda _job: Answer({}, "interrupted", "interrupted", ""))
    done = run_cli("bench", "cudnn", "--history", "kept", *typed, cwd=tmp_path, executor=stopped)
    assert done.status == 130, done.stderr
    command = shlex.split(done.stderr.partition("Continue:")[2])
    resumed = run_pretended(*command[1:], "--json", cwd=tmp_path)
    assert resumed.status == 0, resumed.stderr
    assert resumed.json()["status"] == "complete"
