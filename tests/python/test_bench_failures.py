"""What goes wrong around a bench: runners that break, machines that lack something, output that leads nowhere."""

from __future__ import annotations

import json
import shlex
import subprocess
import sys
from pathlib import Path

import pytest
from commands import command_with_facts, run_with_facts
from conftest import PLANTED, TINY, run_cli

from fastrnns_rs.documents.run_file import Run
from fastrnns_rs.worker.torch_settings import cuda_device_count

#: For a shell: the folder may have a space in its name.
PYTHON = shlex.quote(sys.executable)
FAST = ["--device", "cpu", "--processes", "1", "--nloops", "2", "--warmup", "1", *TINY]
PLANTED_RUN = ["bench", "--group", "rnns", "--runner-file", PLANTED, *FAST]


@pytest.mark.long("bench")
@pytest.mark.alone
def test_planted_failures_are_rows_and_all_others_run(tmp_path: Path) -> None:
    """The whole of what can go wrong, in one run that hangs twice."""
    before = grandchildren()
    planted = {
        "raises": "RuntimeError: the model could not be built",
        "crashes": "the process was killed by signal 11 (SIGSEGV)",
        "exits": "the process exited with status 3 before it had a result",
        "calls_exit": "sys.exit(4) was called",
        "returns_nan": "output holds 3 values that are not finite, the first nan at [0]",
        "hides_nan": "output['y'][0] holds 1 values that are not finite, the first nan at []",
        "nan_gradient": "gradient[0] holds 3 values that are not finite, the first nan at [0]",
        "no_model": "the runner returned int, not a ModelDef",
        "mute": "RuntimeError",
        "escapes": "ValueError: odd \\udcff  [31m letters",
        "no_gradient": "1 of 2 parameters have no gradient after backward, first 1",
        "is_killed": "the process was killed by signal 9 (SIGKILL); the kernel does this when memory runs out",
        "kills_supervisor": "the command could not be supervised: its supervisor was killed",
        "hangs": "no result after 12 s",
        "hangs_deaf": "no result after 12 s",
    }
    output = tmp_path / "run.json"
    names = ["sound", *planted, "shouts", "garbles", "eats_memory", "prints"]
    done = run_with_facts(*PLANTED_RUN, "--rnns", *names, "--timeout", "12", "--json", "--run-file", output)
    assert done.status == 1
    run = Run.from_dict(done.json())
    assert run == Run.load(output)
    assert run.status == "failed"
    assert [result.runner for result in run.results] == names
    assert len(run["shouts"].reason) == 400
    shown = " ".join(done.stderr.split())
    for name, reason in planted.items():
        result = run[name]
        assert result.reason == reason
        assert result.status == ("timed_out" if name.startswith("hangs") else "failed")
        assert result.forward is None
        assert " ".join(f"{name} {result.status.replace('_', ' ')}: {reason}".split()) in shown
    assert run["eats_memory"].reason.startswith("out of memory: ")
    assert run["sound"].status == run["prints"].status == run["garbles"].status == "ok"
    assert run["garbles"].note.startswith("its note failed: ZeroDivisionError: ")
    # It hung in its third iteration: the two before are kept.
    assert len(run["hangs"].processes[0].forward_ns) == 2
    assert grandchildren() <= before


def grandchildren() -> set[Path]:
    """Processes that the runner `hangs_deaf` started, of this test or of any other."""

    def read(path: Path) -> bytes:
        try:
            return path.read_bytes()
        except OSError:
            return b""

    return {path for path in Path("/proc").glob("[0-9]*/cmdline") if b"planted-grandchild" in read(path)}


@pytest.mark.long("bench")
def test_it_measures_though_nobody_looks(tmp_path: Path) -> None:
    """Standard error closed, full, or with bytes that are no text; output that the locale cannot write."""
    output = tmp_path / "run.json"
    words = [*PLANTED_RUN, "--rnns", "sound", "--json", "--run-file", output]
    # The first asks torch too, without a standard error.
    lines = [
        f"{PYTHON} -m fastrnns_rs {shlex.join(map(str, words))} 2>&-",
        f"{shlex.join(command_with_facts(*words))} 2>/dev/full",
        f"PYTHONIOENCODING=latin-1 TORCH_X=$'\\xff' {shlex.join(command_with_facts(*words))}",
    ]
    for line in lines:
        done = subprocess.run(["bash", "-c", line], capture_output=True, check=False)
        assert done.returncode == 0, done.stderr
        assert json.loads(done.stdout)["status"] == "complete"
        assert Run.load(output).status == "complete"


def test_a_deleted_folder_is_no_obstacle(tmp_path: Path) -> None:
    folder = tmp_path / "gone"
    folder.mkdir()
    gone = shlex.quote(str(folder))
    line = f"cd {gone} && rmdir {gone} && exec {PYTHON} -m fastrnns_rs list"
    assert subprocess.run(["sh", "-c", line], capture_output=True, check=False).returncode == 0


@pytest.mark.long("bench")
def test_what_a_runner_file_prints_is_no_result(tmp_path: Path) -> None:
    path = tmp_path / "runners_without_suffix"
    path.write_text("print('hello')\n" + PLANTED.read_text())
    done = run_with_facts("bench", "--group", "rnns", "--runner-file", path, *FAST, "--rnns", "sound", "--json")
    assert done.json()["status"] == "complete"


def test_a_failing_file_is_the_users(anywhere: Path) -> None:
    path = anywhere / "mine.py"
    path.write_text("import no_such_module\n")
    done = run_cli("bench", "--runner-file", path)
    assert done.status == 2
    assert f"'{path}' (--runner-file): ModuleNotFoundError: No module named 'no_such_module'" in done.stderr


@pytest.mark.long("bench")
def test_a_runner_that_reads_finds_nothing_and_debugging_shows_its_traceback() -> None:
    done = run_with_facts(*PLANTED_RUN, "--rnns", "reads", "raises", "--timeout", "60", "--json", FASTRNNS_DEBUG="1")
    assert [row["status"] for row in done.json()["results"]] == ["ok", "failed"]
    assert "Traceback" in done.stderr
    assert "and here is more" in done.stderr


@pytest.mark.long("bench")
def test_a_disk_that_fills_up_does_not_end_the_run(tmp_path: Path) -> None:
    """The folder goes away when the first runner has run."""
    folder = tmp_path / "folder"
    folder.mkdir()
    done = run_with_facts(
        *PLANTED_RUN, "--rnns", "removes", "sound", "--run-file", folder / "r", "--json", PLANTED_REMOVES=str(folder)
    )
    assert done.status == 1
    assert [row["status"] for row in done.json()["results"]] == ["ok", "ok"]
    assert f"cannot write file: '{folder / 'r'}'" in done.stderr


def test_what_a_runner_prints_stays_out_of_the_results() -> None:
    done = run_with_facts(*PLANTED_RUN, "--rnns", "prints", "--json")
    assert done.status == 0
    assert done.json()["results"][0]["status"] == "ok"
    assert "from Python" not in done.stdout + done.stderr


def test_a_missing_device_is_5_and_says_which_case(anywhere: Path) -> None:
    if cuda_device_count():
        done = run_cli("bench", "--device", "cuda:99")
        assert "cuda:0" in done.stderr
    else:
        done = run_cli("bench", "--device", "cuda:99")
        assert run_cli("bench", "--device", "cuda").status == 5
    assert done.status == 5
    error, hint = done.stderr.splitlines()[-2:]
    assert error.startswith("error: ")
    assert "'cuda:99' (--device): " in error
    assert "--device cpu" in hint


def test_without_torch_it_says_so(anywhere: Path) -> None:
    (anywhere / "torch.py").write_text("raise ModuleNotFoundError(\"No module named 'torch'\")")
    done = run_cli("bench", "--quick", PYTHONPATH=str(anywhere))
    assert done.status == 5
    error, hint = done.stderr.splitlines()[-2:]
    assert error.startswith("error: ")
    assert "'torch'" in error
    assert "pip install torch torchvision" in hint
    assert run_cli("list", PYTHONPATH=str(anywhere)).status == 0


def test_a_closed_pipe_is_silent() -> None:
    command = [sys.executable, "-m", "fastrnns_rs", "list", "--json"]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    process.stdout.close()
    with process.stderr:
        assert process.stderr.read() == b""
    process.wait()


def test_a_fault_of_ours_is_one_line_too(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    from fastrnns_rs import cli
    from fastrnns_rs.cli import list as verb
    from fastrnns_rs.runners import listing

    def broken() -> listing.Catalogue:
        raise ZeroDivisionError("planted\nin two lines")

    monkeypatch.setattr(verb, "catalogue", broken)
    with pytest.raises(SystemExit) as stopped:
        cli.main(["list"])
    assert stopped.value.code == 1
    error, hint = capsys.readouterr().err.splitlines()
    assert error == "error: ZeroDivisionError: planted in two lines"
    assert "FASTRNNS_DEBUG=1" in hint
    # Many tests search for these words, to find such errors.
    assert "is a fault of fastrnns-rs" in hint
