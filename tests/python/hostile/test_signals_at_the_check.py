"""A signal ends every command as Ctrl-C does.

One that comes while an output file is checked leaves no file, although nothing runs yet.
"""

from __future__ import annotations

import signal
import subprocess
import sys
from pathlib import Path

import pytest
from processes import AT_ONCE_S
from run_files import exactly, run, write
from supervised import listening

from fastrnns_rs.cli import VERBS

COMMANDS = {
    "bench": ["bench", "py", "--quick", "--device", "cpu", "--run-file", "new.json"],
    "show": ["show", "run.json", "--output", "new.txt"],
}
#: The check renames a file, in the middle of which the signal comes.
CODE = """
import os
rename = os.rename
os.rename = lambda *paths: (os.kill(os.getpid(), NUMBER), rename(*paths))
from fastrnns_rs.__main__ import main
main()
"""


@pytest.mark.parametrize("number", [signal.SIGHUP, signal.SIGTERM, signal.SIGINT], ids=lambda one: one.name)
@pytest.mark.parametrize("verb", COMMANDS)
def test_it_leaves_no_file(verb: str, number: signal.Signals, tmp_path: Path) -> None:
    write(tmp_path / "run.json", run([exactly([1000, 1100, 1200])]))
    command = [sys.executable, "-c", CODE.replace("NUMBER", str(int(number))), *COMMANDS[verb]]
    # Under nohup, SIGHUP would stay ignored.
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, preexec_fn=listening, check=False)
    assert done.returncode == 130, done.stderr.decode()
    assert [path.name for path in tmp_path.iterdir()] == ["run.json"]


#: Words without which a command is refused.
NEEDED = {"report": ["trace.json"], "show": ["run.json"], "explain": ["drift"]}
#: The command sends itself the signal instead of its work.
ITS_OWN = """
import importlib, os, sys
from fastrnns_rs.__main__ import main
command = importlib.import_module(f"fastrnns_rs.cli.{sys.argv[1]}").command
command.callback = lambda **_: os.kill(os.getpid(), NUMBER)
main()
"""


@pytest.mark.parametrize("verb", VERBS)
def test_every_command_ends_as_by_ctrl_c(verb: str, tmp_path: Path) -> None:
    """Otherwise temporary files stay behind, and a terminal has no cursor."""
    code = ITS_OWN.replace("NUMBER", str(int(signal.SIGTERM)))
    command = [sys.executable, "-c", code, verb, *NEEDED.get(verb, [])]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, preexec_fn=listening, check=False)
    assert done.returncode == 130, done.stderr.decode()


def test_a_profiled_process_has_the_signals_of_its_profiler(tmp_path: Path) -> None:
    code = ITS_OWN.replace("NUMBER", str(int(signal.SIGTERM)))
    command = [sys.executable, "-c", code, "profile", "--internal-run"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, preexec_fn=listening, check=False)
    assert done.returncode == -signal.SIGTERM


#: It sends itself another signal while it handles the first, and one while Python ends.
AGAIN = ITS_OWN.replace(
    "main()\n",
    """
import atexit
from fastrnns_rs import cli
tell = cli._tell
cli._tell = lambda error: (os.kill(os.getpid(), NUMBER), tell(error))
atexit.register(lambda: os.kill(os.getpid(), NUMBER))
main()
""",
)


@pytest.mark.parametrize("number", [signal.SIGHUP, signal.SIGTERM, signal.SIGINT], ids=lambda one: one.name)
def test_more_signals_are_no_traceback(number: signal.Signals, tmp_path: Path) -> None:
    """A service that stops gets SIGTERM and SIGHUP at once, and people press Ctrl-C twice."""
    command = [sys.executable, "-c", AGAIN.replace("NUMBER", str(int(number))), "list"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, preexec_fn=listening, check=False)
    assert (done.returncode, done.stdout, done.stderr.strip()) == (130, b"", b"")


#: A thread of a runner file that does not end, and says when the command waits for it.
WAITING = """
import os, sys, threading, time
from traceback import walk_stack
from fastrnns_rs import __main__ as command
command._PATIENCE_S = {patience}
def work():
    main = threading.main_thread().ident
    while "_leave_threads" not in [frame.f_code.co_name for frame, _ in walk_stack(sys._current_frames()[main])]:
        time.sleep(0.01)
    os.write(2, b"waiting\\n")
    time.sleep(1000)
threading.Thread(target=work, name="endless").start()
command.main()
"""


@pytest.mark.parametrize("number", [signal.SIGHUP, signal.SIGTERM, signal.SIGINT], ids=lambda one: one.name)
def test_a_signal_ends_waiting_for_threads(number: signal.Signals, tmp_path: Path) -> None:
    command, pipe = [sys.executable, "-c", WAITING.format(patience=1000), "list"], subprocess.PIPE
    with subprocess.Popen(command, cwd=tmp_path, stdout=pipe, stderr=pipe, preexec_fn=listening) as process:
        assert process.stderr is not None
        assert b"waiting\n" in process.stderr
        try:
            process.send_signal(number)
            assert process.wait(AT_ONCE_S) == 130
        finally:
            process.kill()
        assert process.stdout is not None
        assert b"cudnn" in process.stdout.read()


@pytest.mark.parametrize(("words", "status"), [(["list"], 0), (["list", "--nothing"], 2)])
def test_a_thread_that_does_not_end_is_left(words: list[str], status: int, tmp_path: Path) -> None:
    command = [sys.executable, "-c", WAITING.format(patience=0.5), *words]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, timeout=30, check=False)
    assert done.returncode == status
    assert done.stderr.endswith(b"note: ended beside a thread of a runner file or plug-in: 'endless'\n")
    assert (b"cudnn" in done.stdout) == (status == 0)
