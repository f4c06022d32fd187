"""What the process that is profiled refuses: the command has its exit code and its hint, at once if it can."""

from __future__ import annotations

import os
from pathlib import Path

import fake_tools
import pytest
from test_profile_failures import QUICK, argv, kept, profile, run, told

from fastrnns_rs.profiling import trace_handler

#: What the user's module does, which function is asked for, and what is wrong with that.
NO_FUNCTION = {
    "it is nowhere": (None, "keep", "cannot import users_module: ModuleNotFoundError: No module named 'users_module'"),
    "it has no such function": ("", "keep", "users_module has no function keep"),
    "it is no function": ("keep = 3", "keep", "users_module has no function keep"),
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


@pytest.mark.parametrize("case", NO_FUNCTION)
def test_a_function_that_is_not_there_is_refused_before_anything_runs(case: str, tmp_path: Path) -> None:
    text, name, message = NO_FUNCTION[case]
    asked = ["--torch", "--on-trace-ready", f"users_module:{name}", "--output-dir", tmp_path / "out"]
    limit = ["--timeout", "2"] if case == "it hangs" else []
    done = run(argv(*asked, *limit), PYTHONPATH=users(tmp_path, text))
    error, hint = told(done, 2)
    assert error == message
    assert hint == ("--on-trace-ready takes module:function" if "function" in message else trace_handler._FOLDER_HINT)
    assert "running" not in done.stderr
    assert not (tmp_path / "out").exists()


def test_a_function_of_a_noisy_module_is_found(tmp_path: Path) -> None:
    asked = ["--torch", "--on-trace-ready", "users_module:keep", "--dry-run"]
    done = run(argv(*asked), PYTHONPATH=users(tmp_path, NOISY))
    assert done.status == 0, done.stderr
    assert "users_module:keep" in done.stdout


def test_a_function_beside_the_runners_file_is_found(tmp_path: Path) -> None:
    """The folder of that file is on the path of the process that is profiled."""
    folder = Path(users(tmp_path, "def keep(profiler): pass"))
    text = "from fastrnns_rs import runner\n@runner('mine')\ndef mine(problem): pass\n"
    (folder / "runners.py").write_text(text)
    asked = ["--torch", "--on-trace-ready", "users_module:keep", "--dry-run", "--rnns", "mine"]
    done = run(argv("--runner-file", folder / "runners.py", *asked))
    assert done.status == 0, done.stderr


def test_a_function_that_the_process_alone_does_not_find(tmp_path: Path) -> None:
    """Whatever could not be known before ends in the same way, only later."""
    once = tmp_path / "once"
    text = f"from pathlib import Path\nPath({os.fspath(once)!r}).touch(exist_ok=False)\ndef keep(profiler): pass\n"
    asked = ["--torch", "--on-trace-ready", "users_module:keep", "--rnns", "py", "--output-dir", tmp_path / "out"]
    done = run(argv(*asked, "--quick", "--no-baseline"), PYTHONPATH=users(tmp_path, text))
    error, hint = told(done, 2)
    assert error == f"cannot import users_module: FileExistsError: [Errno 17] File exists: '{once}'"
    assert hint.startswith("put its folder on PYTHONPATH; everything that was printed is in ")
    assert kept(tmp_path / "out")[0].exit_status == 2


def test_a_torch_without_ranges_is_5(tmp_path: Path) -> None:
    """Of which torch itself says only that its stand-in has no such attribute."""
    file = tmp_path / "runners.py"
    text = (
        "import torch\ndel torch._C._nvtx\nfrom fastrnns_rs import runner\n@runner('mine')\ndef mine(problem): 1 / 0\n"
    )
    file.write_text(text)
    tool = fake_tools.nsys(tmp_path / "bin" / "nsys", profile="sys.exit(call.run())")
    done = profile(tool, tmp_path / "out", "--runner-file", file, runners=("mine",))
    error, hint = told(done, 5)
    assert error.endswith("cannot mark ranges: it has no NVTX")
    assert hint.startswith("use a torch that is built with CUDA, or --torch; everything that was printed is in ")
    record, log = kept(tmp_path / "out")
    assert (record.exit_status, record.ok) == (5, False)
    assert "ZeroDivisionError" not in log, "it is known before anything is built"


@pytest.mark.parametrize("code", [1, 2, 5])
def test_a_refusal_has_the_code_and_the_hint_that_the_process_gave(code: int, tmp_path: Path) -> None:
    """Whatever the tool itself ends with."""
    refusal = {"message": "it cannot be", "hint": "do without", "exit_code": code}
    statements = f"call.answer({{'runners': [], 'refusal': {refusal}}}); print('Agent launcher failed'); sys.exit(0)"
    done = profile(fake_tools.nsys(tmp_path / "nsys", profile=statements), tmp_path / "out")
    log = next((tmp_path / "out").glob("*.log"))
    assert told(done, code) == ("it cannot be", f"do without; everything that was printed is in {log}")


def test_a_runner_that_failed_first_is_the_cause(tmp_path: Path) -> None:
    refusal = {"message": "it cannot be", "hint": "do without", "exit_code": 2}
    failed = {"name": "py", "status": "failed", "reason": "of itself", "hint": "mend it", "phases": []}
    answer = f"call.answer({{'runners': [{failed}], 'refusal': {refusal}}})"
    error, hint = told(profile(fake_tools.nsys(tmp_path / "nsys", profile=answer), tmp_path / "out"), 1)
    assert error == "the runner py failed: of itself"
    assert hint.startswith("mend it; everything")


def test_the_hint_of_a_function_that_fails_is_told(tmp_path: Path) -> None:
    quick = [word for word in QUICK if word not in {"--nloops", "2"}]
    asked = ["--torch", "--on-trace-ready", "users_module:refuse", "--rnns", "py", "--output-dir", tmp_path / "out"]
    text = "def refuse(profiler): raise ValueError('not this one')"
    done = run(argv(*asked, *quick, "--nloops", "5"), PYTHONPATH=users(tmp_path, text))
    error, hint = told(done, 1)
    assert error == "the runner py failed: users_module:refuse failed: ValueError: not this one"
    assert hint.startswith("it is called with torch's profiler; everything that was printed is in ")
