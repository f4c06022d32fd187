"""An interrupted `profile --redact` leaves no unredacted file in the output folder."""

from __future__ import annotations

import errno
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from types import SimpleNamespace

import pytest
from test_redaction import leaks

from fastrnns_rs.problem.torch_profiler import TorchOptions
from fastrnns_rs.runners.profile_request import ProfileRequest
from fastrnns_rs.verbs.profile import private_folder
from fastrnns_rs.verbs.profile.private_folder import PrivateFolder

#: Runner whose process sends a signal to the command as soon as torch has written its trace.
RUNNER = """
import os, time
from pathlib import Path
from fastrnns_rs import ModelDef, runner

@runner("mine")
def mine(problem):
    import torch
    from fastrnns_rs.worker.profile import torch_session
    save = torch_session.TorchSession._save_trace
    def saved(*arguments):
        save(*arguments)
        os.kill(int(Path("pid").read_text()), int(os.environ["THE_SIGNAL"]))
        time.sleep(60)
    torch_session.TorchSession._save_trace = saved
    weight = torch.ones(3, requires_grad=True)
    def forward(x):
        with torch.profiler.record_function(os.environ["THE_TOKEN"]):
            return x * 2
    return ModelDef(inputs=[weight], params=[weight], forward=forward,
                    backward_setup=lambda y: (y.sum(),), backward=lambda total: total.backward())
"""
SIGNALS = [
    signal.SIGKILL,
    pytest.param(signal.SIGINT, marks=pytest.mark.long("kills")),
    pytest.param(signal.SIGTERM, marks=pytest.mark.long("kills")),
    pytest.param(signal.SIGHUP, marks=pytest.mark.long("kills")),
]


def interrupted(folder: Path, number: int, *more: str) -> subprocess.CompletedProcess[str]:
    """Profiles until the trace is written, and then sends the signal."""
    (folder / "mine.py").write_text(RUNNER)
    (folder / "tmp").mkdir()
    quick = ["--quick", "--nloops", "2", "--warmup", "0", "--sleep-between-seconds", "0", "--no-unprofiled"]
    quick += ["--schedule", "wait=0,warmup=0,active=2", "--device", "cpu", "--threads", "1"]
    asked = ["--rnns", "mine", "--runner-file", "mine.py", "--output-dir", "out", "--torch", *quick, *more]
    secrets = {"THE_TOKEN": "zqv-12345 hush", "THE_SIGNAL": str(int(number)), "TMPDIR": str(folder / "tmp")}
    return subprocess.run(
        ["sh", "-c", 'echo $$ > pid; exec "$@"', "sh", sys.executable, "-m", "fastrnns_rs", "profile", *asked],
        env={**os.environ, **secrets},
        cwd=folder,
        capture_output=True,
        text=True,
        timeout=200,
        check=False,
    )


@pytest.mark.parametrize("number", SIGNALS)
def test_no_signal_leaves_an_unredacted_trace(number: int, tmp_path: Path) -> None:
    done = interrupted(tmp_path, number, "--redact")
    assert done.returncode == (-9 if number == signal.SIGKILL else 130), done.stderr
    out = tmp_path / "out"
    assert [*out.glob("*.log")]
    assert not leaks(out)
    if number == signal.SIGKILL:
        # The folder of a killed command is removed by the next command.
        (left,) = (tmp_path / "tmp").glob("fastrnns-rs-profile-*")
        assert left.stat().st_mode & 0o777 == 0o700
    else:
        assert not leaks(tmp_path / "tmp")


@pytest.mark.long("kills")
def test_the_signal_comes_when_a_trace_is_written(tmp_path: Path) -> None:
    """Without redaction the trace is in the output folder."""
    interrupted(tmp_path, signal.SIGINT)
    assert leaks(tmp_path / "out")


def test_folders_of_killed_commands_are_removed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    old, young, link = (tmp_path / f"fastrnns-rs-profile-{digit * 16}" for digit in "abc")
    mine = tmp_path / "fastrnns-rs-profile-mine"
    for folder in (old, young, mine, kept := tmp_path / "kept"):
        folder.mkdir()
        (folder / "trace.json").touch()
    link.symlink_to(kept)
    hour_ago = time.time() - 3600
    with private_folder.private_folder(tmp_path, ProfileRequest()) as busy:
        for folder in (old, busy.path, mine, kept):
            os.utime(folder, (hour_ago, hour_ago))
        with private_folder.private_folder(tmp_path, ProfileRequest()):
            assert not old.exists()
            # Another process uses the folder, or may be about to lock the folder.
            assert busy.path.is_dir()
            assert young.is_dir()
            assert (mine / "trace.json").is_file()
            assert (kept / "trace.json").is_file()
    assert not busy.path.exists()


def test_traces_go_where_they_were_requested(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    request = ProfileRequest(torch=TorchOptions(on_trace_ready="tensorboard:~/board"))
    out = tmp_path / "out"
    out.mkdir()
    with private_folder.private_folder(out, request) as private:
        assert private.path.stat().st_mode & 0o777 == 0o700
        assert private.adapt(request).torch.on_trace_ready == f"tensorboard:{private.path}/traces"
        assert private.final_text(f"{private.traces} {private.path}/x") == f"~/board {out}/x"
        private.traces.mkdir()
        (private.traces / "x.json").write_text("trace")
        (private.path / "x.txt").write_text("table")
        (tmp_path / "elsewhere").touch()
        assert private.move_out(private.traces / "x.json") == tmp_path / "board" / "x.json"
        assert private.move_out(private.path / "x.txt") == out / "x.txt"
        assert private.move_out(tmp_path / "elsewhere") == tmp_path / "elsewhere"
    assert (tmp_path / "board" / "x.json").read_text() == "trace"
    function = ProfileRequest(torch=TorchOptions(on_trace_ready="module:function"))
    with private_folder.private_folder(out, function) as private:
        assert private.adapt(function) is function


def test_a_file_moves_to_another_file_system(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    replace = Path.replace

    def across(self: Path, target: Path) -> Path:
        if self.parent != target.parent:
            raise OSError(errno.EXDEV, "Invalid cross-device link")
        return replace(self, target)

    monkeypatch.setattr(Path, "replace", across)
    (inside := tmp_path / "inside").mkdir()
    (out := tmp_path / "out").mkdir()
    (inside / "x.txt").write_text("table")
    (inside / "x.txt").chmod(0o640)
    assert PrivateFolder(inside, out).move_out(inside / "x.txt") == out / "x.txt"
    assert [one.name for one in out.iterdir()] == ["x.txt"]
    assert (out / "x.txt").stat().st_mode & 0o777 == 0o640
    assert not (inside / "x.txt").exists()
    (inside / "y.txt").write_text("table")
    full = SimpleNamespace(copy2=lambda *_: (_ for _ in ()).throw(OSError(errno.ENOSPC, "full")))
    monkeypatch.setattr(private_folder, "shutil", full)
    with pytest.raises(OSError, match="full"):
        PrivateFolder(inside, out).move_out(inside / "y.txt")
    assert [one.name for one in out.iterdir()] == ["x.txt"]
