"""Runners that attack what runs them. Loaded with `--runner-file`; they act when they are built."""

import ctypes
import json
import locale
import os
import resource
import shutil
import signal
import subprocess
import sys
import time

from fastrnns_rs import runner

_FORGED = {"kind": "result", "status": "ok", "forward_ns": [1000, 1001], "backward_ns": [1000, 1001], "steady_from": 1}


def _checked(pid: int, program: bytes) -> int:
    """The number of a process that runs this file. No other process is to be attacked by mistake."""
    with open(f"/proc/{pid}/cmdline", "rb") as file:
        assert program in file.read(), pid
    return pid


def _supervisor() -> int:
    return _checked(os.getppid(), b"/supervisor.py\0")


def _bench() -> int:
    return _checked(int(_status(_supervisor())[1]), b"/pretended_processes.py\0")


def _status(pid: int) -> list[str]:
    """State and parent of a process, and more."""
    with open(f"/proc/{pid}/stat") as file:
        return file.read().rpartition(")")[2].split()


def _kills_supervisor() -> None:
    _starts_daemons()
    os.kill(_supervisor(), signal.SIGKILL)
    time.sleep(60)


def _ends_supervisor() -> None:
    os.kill(_supervisor(), signal.SIGTERM)
    time.sleep(60)


def _kills_bench() -> None:
    try:
        os.close(os.open(os.environ["HOSTILE_ONCE"], os.O_CREAT | os.O_EXCL))
    except FileExistsError:
        return
    _starts_daemons()
    os.kill(_bench(), signal.SIGKILL)
    time.sleep(60)


def _stops_supervisor() -> None:
    os.kill(_supervisor(), signal.SIGSTOP)


def _keeps_supervisor_stopped() -> None:
    code = f"import os\nwhile True: os.kill({_supervisor()}, {int(signal.SIGSTOP)})"
    subprocess.Popen([sys.executable, "-S", "-c", code])
    while _status(_supervisor())[0] != "T":
        time.sleep(0.01)


def _holds_interpreter() -> None:
    ctypes.PyDLL(None).sleep(3600)


def _starts_daemons() -> None:
    """Fifty children, a third of them in sessions of their own, a third orphans in sessions of their own."""
    for index in range(50):
        words = [["sleep", "3600"], ["setsid", "sleep", "3600"], ["sh", "-c", "(setsid sleep 3600 &)"]][index % 3]
        subprocess.Popen(words, stdin=subprocess.DEVNULL)


def _writes_megabytes() -> None:
    for descriptor in (1, 2):
        for _ in range(20):
            os.write(descriptor, b"x" * 1_000_000)


def _forges(*messages: object) -> None:
    """Writes messages to every pipe that there is, as whole lines, and ends."""
    text = "".join(message if isinstance(message, str) else json.dumps(message) + "\n" for message in messages)
    for descriptor in range(3, 30):
        try:
            os.write(descriptor, text.encode())
        except OSError:
            continue
    os._exit(0)


def _closes_descriptors() -> None:
    os.closerange(0, 1000)


class _Broken:
    """Stands in for a stream, and has none of its signatures."""

    def write(self) -> None:
        """Takes no text."""

    def flush(self, _hard: bool) -> None:
        """Needs an argument."""


def _replaces_streams() -> None:
    sys.stdout = sys.stderr = _Broken()


def _removes_streams() -> None:
    del sys.stdout, sys.stderr


def _replaces_streams_and_raises() -> None:
    _replaces_streams()
    raise ValueError("the reason")


def _exhausts_memory() -> None:
    with open("/proc/self/statm") as file:
        pages = int(file.read().split()[0])
    limit = pages * resource.getpagesize() + (64 << 20)
    resource.setrlimit(resource.RLIMIT_AS, (limit, limit))
    kept = []
    while True:
        kept.append(bytearray(1 << 20))


def _changes_process() -> None:
    os.chdir("/")
    os.umask(0o777)
    for number in set(signal.Signals) - {signal.SIGKILL, signal.SIGSTOP}:
        signal.signal(number, signal.SIG_IGN)
    locale.setlocale(locale.LC_ALL, "C")
    os.environ.clear()
    resource.setrlimit(resource.RLIMIT_NOFILE, (3, 3))
    for name in [name for name in sys.modules if name.startswith(("fastrnns_rs", "json"))]:
        del sys.modules[name]
    sys.path.clear()
    sys.setrecursionlimit(50)


def _removes_temporary_folder() -> None:
    # Only one that a test has made for this: what tempfile would name may be everybody's.
    folder = os.environ["HOSTILE_REMOVES"]
    assert os.path.isfile(os.path.join(folder, "may-be-removed"))
    shutil.rmtree(folder)


class _MuteError(Exception):
    def __str__(self) -> str:
        raise SystemExit(7)

    __repr__ = __str__


def _raises(error: BaseException) -> None:
    raise error


def _many_phases() -> None:
    phases = [{"kind": "phase", "name": f"{index}\x1b[2J" * 100} for index in range(300)]
    _forges(*phases, {**_FORGED, "status": "failed"})


def _parts_without_end() -> None:
    while True:
        for descriptor in range(3, 30):
            try:
                os.write(descriptor, b'{"kind": "part", "index": 0}\n' * 100)
            except OSError:
                continue
        time.sleep(0.01)


ACTS = {
    "sound": lambda: None,
    "kills_its_supervisor": _kills_supervisor,
    "ends_supervisor": _ends_supervisor,
    "aborts": os.abort,
    "exits_well": lambda: os._exit(0),
    "starts_daemons": _starts_daemons,
    "writes_megabytes": _writes_megabytes,
    "closes_descriptors": _closes_descriptors,
    "replaces_streams": _replaces_streams,
    "removes_streams": _removes_streams,
    "replaces_streams_and_raises": _replaces_streams_and_raises,
    "forks": os.fork,
    "exhausts_memory": _exhausts_memory,
    "changes_process": _changes_process,
    "raises_mute": lambda: _raises(_MuteError()),
    "raises_base": lambda: _raises(BaseException("neither an Exception\nnor one line")),
    "raises_interrupt": lambda: _raises(KeyboardInterrupt()),
    "raises_generator_exit": lambda: _raises(GeneratorExit()),
    "many_phases": _many_phases,
    "forges_nothing": lambda: _forges({"kind": "result"}),
    "forges_ok": lambda: _forges({"kind": "result", "status": "ok"}),
    "forges_text": lambda: _forges({**_FORGED, "forward_ns": "abc"}),
    "forges_words": lambda: _forges({**_FORGED, "forward_ns": ["a", "b"]}),
    "forges_fractions": lambda: _forges({**_FORGED, "forward_ns": [0.5, 1.5]}),
    "forges_nan": lambda: _forges({**_FORGED, "forward_ns": [float("nan"), float("inf")]}),
    "forges_negative": lambda: _forges({**_FORGED, "forward_ns": [-5, -6], "backward_ns": [-5, -6]}),
    "forges_huge": lambda: _forges({**_FORGED, "forward_ns": [10**40, 10**40], "backward_ns": [10**40, 10**40]}),
    "forges_unequal": lambda: _forges({**_FORGED, "backward_ns": [1000]}),
    "forges_start": lambda: _forges({**_FORGED, "steady_from": 77}),
    "forges_start_text": lambda: _forges({**_FORGED, "steady_from": "x"}),
    "forges_compile": lambda: _forges({**_FORGED, "compile": {"x": 1}}),
    "forges_compile_text": lambda: _forges({**_FORGED, "compile": "x"}),
    "forges_memory": lambda: _forges({**_FORGED, "peak_memory_bytes": "much", "timing_mode": 3}),
    "forges_mode": lambda: _forges({**_FORGED, "timing_mode": 3, "timer_resolution_ns": []}),
    "forges_class": lambda: _forges({**_FORGED, "warmup_class": {"a": 1}}),
    "forges_status": lambda: _forges({**_FORGED, "status": ["ok"]}),
    "forges_reason": lambda: _forges({**_FORGED, "status": "failed", "reason": {"a": ["\x1b[2J"]}}),
    "forges_kinds": lambda: _forges("[]\n3\n", '{"kind": []}\n{"kind": null}\n', "[" * 100_000 + "\n"),
    "removes_temporary_folder": _removes_temporary_folder,
    # Odd names, as text that shells, paths, tables and patterns read otherwise.
    "../../etc/passwd": lambda: None,
    "\x1b[2Jclears": lambda: None,
    "\u202egnp": lambda: None,
    "日本語😀": lambda: None,
    "x" * 5000: lambda: None,
    "sound[hidden-size=8]": lambda: None,
    # These take all of their time.
    "stops_supervisor": _stops_supervisor,
    "keeps_supervisor_stopped": _keeps_supervisor_stopped,
    "parts_without_end": _parts_without_end,
    "holds_interpreter": _holds_interpreter,
    "kills_bench": _kills_bench,
}
# Not where a test imports them: other files of tests have runners of these names.
if __name__ != "hostile_runners":
    for _name, _act in ACTS.items():
        runner(_name, reference="eager")(lambda _problem, act=_act: act())
