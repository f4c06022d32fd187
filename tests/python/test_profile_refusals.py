"""What `profile` and the process that is profiled refuse: an exit code and a hint, at once if it can be."""

from __future__ import annotations

import errno
import os
import sys
from pathlib import Path
from typing import Any

import fake_tools
import pytest
from commands import finished
from conftest import FACTS
from parts import few
from profile_commands import QUICK, REPORTS, argv, bad, faked, kept, profile_cli, told, without_tools

import fastrnns_rs
from fastrnns_rs.documents.capture_manifest import Capture
from fastrnns_rs.errors import MissingError, UsageError
from fastrnns_rs.machine import environment
from fastrnns_rs.runners.plan import Options
from fastrnns_rs.runners.profile_request import ProfileRequest, choice
from fastrnns_rs.verbs.profile import capture_plan, capture_storage

#: What the user's module does, which function is asked for, and what is wrong with that.
NO_FUNCTION = {
    "it is nowhere": (None, "keep", "cannot import users_module: ModuleNotFoundError: No module named 'users_module'"),
    "it has no such function": ("", "keep", "users_module has no function keep"),
    "it is no function": ("keep = 3", "keep", "users_module has no function keep"),
    "it is no attribute": ("keep = None", "keep.more", "users_module has no function keep.more"),
    "it fails": ("raise OSError('so\\nand so')", "keep", "cannot import users_module: OSError: so"),
    "it calls exit": ("import sys; sys.exit('bye')", "keep", "cannot import users_module: SystemExit: bye"),
    "it ends the process": ("import os; os._exit(3)", "keep", "cannot import users_module: exit status 3"),
    "it crashes": ("import os; os.abort()", "keep", "cannot import users_module: it was killed by signal 6"),
    "it hangs": ("import time; time.sleep(600)", "keep", "cannot import users_module: its time was up"),
    "it prints": ("print('[1, 2]', end='', flush=True)", "keep", "users_module has no function keep"),
}
NOISY = """
import atexit, sys, time
print("noise", end="", flush=True)
sys.stdout.close()
atexit.register(time.sleep, 600)
def keep(profiler): pass
"""


def users(tmp_path: Path, text: str | None) -> str:
    """A folder with a module of the user's."""
    folder = tmp_path / "users"
    folder.mkdir()
    if text is not None:
        (folder / "users_module.py").write_text(text)
    return str(folder)


@pytest.mark.parametrize("case", few(["it has no such function", "it crashes", "it hangs"], NO_FUNCTION, "profilers"))
def test_a_function_that_is_not_there_is_refused_before_anything_runs(case: str, tmp_path: Path) -> None:
    text, name, message = NO_FUNCTION[case]
    asked = ["--torch", "--on-trace-ready", f"users_module:{name}", "--output-dir", tmp_path / "out"]
    limit = ["--timeout", "2"] if case == "it hangs" else []
    done = profile_cli(*asked, *limit, PYTHONPATH=users(tmp_path, text))
    error, hint = told(done, 2)
    found = "function" in message
    parts = [name, "users_module"] if found else ["'users_module'", message.partition("users_module: ")[2]]
    assert all(part in error for part in parts), error
    assert ("module:function" if found else "PYTHONPATH") in hint
    assert "running" not in done.stderr
    assert not (tmp_path / "out").exists()


def test_a_function_of_a_noisy_module_is_found(tmp_path: Path) -> None:
    """The folder of the runners' file is on the path of the process that is profiled too."""
    folder = Path(users(tmp_path, NOISY))
    text = "from fastrnns_rs import runner\n@runner('mine')\ndef mine(problem): pass\n"
    (folder / "runners.py").write_text(text)
    asked = ["--torch", "--on-trace-ready", "users_module:keep", "--dry-run"]
    for done in (
        profile_cli(*asked, PYTHONPATH=str(folder)),
        profile_cli("--runner-file", folder / "runners.py", *asked, "--rnns", "mine"),
    ):
        assert done.status == 0, done.stderr
        assert "users_module:keep" in done.stdout


@pytest.mark.long("profilers")
def test_a_function_that_the_process_alone_does_not_find(tmp_path: Path) -> None:
    """Whatever could not be known before ends in the same way, only later."""
    once = tmp_path / "once"
    text = f"from pathlib import Path\nPath({os.fspath(once)!r}).touch(exist_ok=False)\ndef keep(profiler): pass\n"
    asked = ["--torch", "--on-trace-ready", "users_module:keep", "--rnns", "py", "--output-dir", tmp_path / "out"]
    done = profile_cli(*asked, "--quick", "--no-unprofiled", PYTHONPATH=users(tmp_path, text))
    error, hint = told(done, 2)
    assert error.endswith(f": FileExistsError: [Errno 17] File exists: '{once}'")
    assert "PYTHONPATH" in hint
    assert kept(tmp_path / "out")[0].exit_status == 2


@pytest.mark.long("profilers")
def test_a_torch_without_ranges_is_5(tmp_path: Path) -> None:
    """Of which torch itself says only that its stand-in has no such attribute."""
    file = tmp_path / "runners.py"
    text = "import torch\ndel torch._C._nvtx\nfrom fastrnns_rs import runner\n"
    file.write_text(f"{text}@runner('mine')\ndef mine(problem): 1 / 0\n")
    tool = fake_tools.nsys(tmp_path / "bin" / "nsys", profile="sys.exit(call.run())")
    asked = ["--nsys", "--nsys-path", tool, "--output-dir", tmp_path / "out", "--rnns", "mine", *QUICK]
    # The file changes torch where it is loaded, in this process too.
    done = finished(argv(*asked, "--runner-file", file))
    error, hint = told(done, 5)
    assert error.endswith("cannot mark ranges: it has no NVTX")
    assert hint.startswith("Use a torch that is built with CUDA, or torch.profiler; everything that was printed is in ")
    record, log = kept(tmp_path / "out")
    assert (record.exit_status, record.ok) == (5, False)
    assert "ZeroDivisionError" not in log, "it is known before anything is built"


@pytest.mark.parametrize(("kind", "code"), [("FastrnnsError", 1), ("UsageError", 2), ("MissingError", 5)])
def test_a_refusal_has_the_code_and_the_hint_that_the_process_gave(kind: str, code: int, tmp_path: Path) -> None:
    """Whatever the tool itself ends with. A runner that failed first is the cause."""
    refusal = {"message": "it cannot be", "hint": "do without", "kind": kind}
    statements = f"call.answer({{'runners': [], 'refusal': {refusal}}}); print('Agent launcher failed'); sys.exit(0)"
    found = bad(tmp_path, statements, status=code)
    [log] = (tmp_path / "out").glob("*.log")
    assert found == ("it cannot be", f"do without; everything that was printed is in {log}")
    failed = {"name": "py", "status": "failed", "reason": "of itself", "hint": "mend it", "phases": []}
    error, hint = bad(tmp_path, f"call.answer({{'runners': [{failed}], 'refusal': {refusal}}})", out="failed")
    assert error == "the runner py failed: of itself"
    assert hint.startswith("mend it; everything")


def test_a_capture_that_is_refused_does_not_end_the_others(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    refusal = {"message": "it cannot be", "hint": "do without", "kind": "MissingError"}
    refused = f"if 'py' in call.names:\n    call.answer({{'runners': [], 'refusal': {refusal}}}); sys.exit(0)\n"
    done = faked(tmp_path, refused + REPORTS, "--separate", runners=("aten", "py", "cudnn"))
    assert (done.status, done.stderr.count("error: ")) == (5, 1)
    assert "error: it cannot be" in done.stderr
    records = [Capture.load(path) for path in (tmp_path / "out").glob("*.json")]
    assert sorted((one.runners, one.ok) for one in records) == [(["aten"], True), (["cudnn"], True), (["py"], False)]
    monkeypatch.setattr(environment, "probe", lambda *_, **__: FACTS)
    given: Any = {"tool": "nsys", "tool_path": tmp_path / "bin" / "nsys", "output_dir": tmp_path / "api"}
    with pytest.raises(MissingError, match="it cannot be"):
        fastrnns_rs.profile(["py", "cudnn"], separate=True, quick=True, baseline=False, progress=False, **given)
    assert len([*(tmp_path / "api").glob("*.json")]) == 2


def test_the_exit_code_of_several_captures_is_the_first_in_order(tmp_path: Path) -> None:
    statements = f"if 'py' in call.names: time.sleep(60)\nif 'aten' in call.names: sys.exit(9)\n{REPORTS}"
    done = faked(tmp_path, statements, "--separate", "--timeout", "3", runners=("cudnn", "py", "aten"))
    assert (done.status, done.stderr.count("error: ")) == (124, 2)
    assert "exit status 9" in done.stderr.partition("error: ")[2].partition("error: ")[0]


def test_a_full_disk_ends_the_others(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def write(path: Path, _text: str) -> None:
        raise OSError(errno.ENOSPC, "No space left on device", str(path))

    monkeypatch.setattr(capture_storage, "_write", write)
    done = faked(tmp_path, REPORTS, "--separate", runners=("cudnn", "py"))
    assert (done.status, done.stderr.count("error: ")) == (1, 1)
    assert "cannot write file" in done.stderr


REFUSED = {
    "nvprof without a GPU": (
        ["--nvprof", "--nvprof-path", "FAKE"],
        5,
        "no NVIDIA GPU was found",
        "nsys or torch.profiler",
    ),
    "no such nsys": (["--nsys", "--nsys-path", "/nonexistent"], 5, "/nonexistent: No such file", "--nsys-path"),
    "two profilers": (["--nsys", "--torch"], 2, "--nsys and --torch", ""),
    "a flag of captures inside": (["--internal-run", "--torch", "--keep"], 2, "--keep and --internal-run", ""),
    "cuda on a CPU": (["--torch", "--activities", "cuda"], 2, "cuda", ""),
    "a schedule too long": (["--torch", "--schedule", "active=9"], 2, "needs 11 iterations, and 5 run", "--nloops 11"),
    "a schedule of too many": (
        ["--torch", "--dry-run", "--nloops", "100001", "--schedule", "repeat=0,wait=0,warmup=0"],
        2,
        "records 100001 iterations (--schedule)",
        "at most 100,000 iterations",
    ),
    "a schedule of nonsense": (["--torch", "--schedule", "activ=9"], 2, "'activ' (--schedule)", "active"),
    "torch's options for nsys": (["--nsys", "--with-stack"], 2, "torch.profiler", "torch.profiler"),
    "a runner that is not there": (["--torch", "--rnns", "cudn"], 2, "'cudn' (--rnns)", "--rnns cudnn"),
    "a group that is not there": (["--torch", "--group", "rns"], 2, "'rns' (--group)", "rnns"),
    "no group": (["--torch", "--group"], 2, "missing value: --group", "fastrnns-rs list"),
    "manifests as one": (["--torch", "--separate", "--json"], 2, "--json and --separate", "--output-dir"),
    "two formats": (["--torch", "--json", "--format", "table"], 2, "--format and --json", ""),
    "nothing to do": (["--torch", "--rnns", "cudnn_dropout", "--num-layers", "1"], 2, "cudnn_dropout", "leave out"),
    "no time": (["--torch", "--timeout", "0"], 2, "timeout", ""),
    "no iteration": (["--torch", "--nloops", "0"], 2, "nloops", ""),
    "a pause that is none": (["--torch", "--sleep-between-seconds", "nan"], 2, "sleep", ""),
    "a pause without end": (["--torch", "--sleep-between-seconds", "inf"], 2, "sleep", ""),
    "a pause of years": (["--torch", "--sleep-between-seconds", "1e11"], 2, "sleep", ""),
    "a pause before": (["--torch", "--sleep-between-seconds", "-1"], 2, "sleep", ""),
}


@pytest.mark.parametrize("case", REFUSED)
def test_what_cannot_be_is_refused_before_anything_runs(case: str, tmp_path: Path) -> None:
    arguments, status, message, advice = REFUSED[case]
    if "FAKE" in arguments:
        arguments = [*arguments[:-1], fake_tools.nvprof(tmp_path / "nvprof")]
    error, hint = told(profile_cli(*arguments, "--output-dir", tmp_path / "out"), status)
    assert message in error
    assert advice in hint
    assert not (tmp_path / "out").exists()


def test_a_number_of_captures_is_checked_before_it_takes_memory(tmp_path: Path) -> None:
    """Steps of the bar were made for each."""
    error, _ = told(
        profile_cli("--torch", "--dry-run", "--processes", f"{10**15}", "--output-dir", tmp_path / "out"), 2
    )
    assert error == f"out of range: {10**15} (--processes)"


def test_iterations_are_not_listed_before_anything_runs() -> None:
    """A list of them took memory without end, also for a dry run."""
    assert len(ProfileRequest(tool="nsys").captured(10**15)) == 10**15


def test_nothing_to_profile(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A group of which every runner lacks a package."""
    from fastrnns_rs.machine import environment
    from fastrnns_rs.runners import runner

    monkeypatch.setattr(environment, "probe", lambda *_, **__: FACTS)
    # Another test may have imported it.
    monkeypatch.delitem(sys.modules, "torchvision", raising=False)
    monkeypatch.setattr(runner.importlib.util, "find_spec", lambda _name: None)
    request = ProfileRequest(options=Options(choice=choice(groups=["cnns"]), nloops=5, timeout=9.0), tool="torch")
    with pytest.raises(
        UsageError,
        match="no runners to profile: runner 'resnet18' needs the package torchvision, which is not installed",
    ):
        capture_plan.prepare(request, {})


def test_a_profiler_that_is_nowhere_is_5(tmp_path: Path) -> None:
    asked = argv("--nsys", "--output-dir", tmp_path / "out")
    done = finished(without_tools(["env", f"PATH={tmp_path}", *asked]))
    error, hint = told(done, 5)
    assert "'nsys'" in error
    assert "--nsys-path" in hint
