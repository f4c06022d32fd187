"""`inductor --ncu`: what Nsight Compute is asked to do, and what is made of how it ends. The program is a fake."""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Callable
from contextlib import nullcontext
from dataclasses import replace
from pathlib import Path
from typing import Any
from unittest.mock import Mock

import fake_tools
import pytest
from commands import run_with_facts
from conftest import FACTS
from generated_modules import calls_of, planted
from processes import left_of

from fastrnns_rs.cli.exit_codes import ExitCode
from fastrnns_rs.documents.inductor_report import InductorReport, ModuleRow
from fastrnns_rs.errors import FastrnnsError, MissingError
from fastrnns_rs.machine import environment
from fastrnns_rs.processes.launcher import Start
from fastrnns_rs.processes.listener import Answer
from fastrnns_rs.verbs.inductor import module_runs, ncu
from fastrnns_rs.verbs.inductor.module_files import Generated
from fastrnns_rs.verbs.inductor.request import InductorOptions

torch = pytest.importorskip("torch")
once = pytest.importorskip("fastrnns_rs.worker.inductor.single_call")

#: What the fake does: notes its words, runs what it is to run, and writes a report where it is told to.
NOTE = "import json, subprocess; Path({place!r}).write_text(json.dumps(call.words))\n"
RUN = f"status = subprocess.call(call.words[call.words.index({sys.executable!r}):])\n"
REPORT = "Path(call.option('--export').replace('%%', '%')).write_text('report')\n"
REFUSED = (
    "print('==ERROR== ERR_NVGPUCTRPERM - The user does not have permission to access NVIDIA GPU Performance Counters "
    "on the target device 0. For instructions see https://developer.nvidia.com/ERR_NVGPUCTRPERM')\n"
)
Verb = Callable[..., InductorReport]
SAMPLES = [2000, 1000, 3000]
DONE = Answer({"status": "ok"}, "answered", None, "")
WITH_GPU = replace(FACTS, device="cuda:0", cuda_device_count=1, no_cuda_reason=None)


class Ncu:
    """A fake ncu, a module, and the empty file that its report goes to."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.output = folder / "output"
        self.said = folder / "words.json"
        self.report = folder / "module_forward_20260101T000000Z.ncu-rep"
        self.report.touch()
        self.program = folder / "bin" / "ncu"
        self.module = planted(folder)

    def does(self, *steps: str) -> Ncu:
        fake_tools.program(self.program, {"profile": "".join([NOTE.format(place=str(self.said)), *steps])})
        return self

    def run(self, **changes: Any) -> str:
        asked = InductorOptions(**{"ncu": True, "ncu_path": str(self.program), "timeout": 120.0, **changes})
        return ncu.run(row_of(self.module), asked, self.report)

    @property
    def words(self) -> list[str]:
        found: list[str] = json.loads(self.said.read_text())
        return found

    @property
    def reports(self) -> list[Path]:
        return [*self.folder.glob("**/*.ncu-rep*")]


def row_of(path: Path, device: str = "cpu") -> ModuleRow:
    return ModuleRow(path=str(path), graph="forward", device=device, status="ok", reason=None, times=1, repeat=1)


@pytest.fixture
def fake(tmp_path: Path) -> Ncu:
    return Ncu(tmp_path)


def test_the_command_is_upstreams_with_our_child_behind_it(fake: Ncu) -> None:
    assert fake.does(REPORT).run() == str(fake.report)
    assert fake.report.read_text() == "report"
    assert fake.words == [
        *("--target-processes", "all", "--replay-mode", "kernel", "--kernel-name-base", "function"),
        *("--profile-from-start", "off", "--print-units", "base", "--import-source", "yes", "--force-overwrite"),
        *("--export", str(fake.report), "--set", "full"),
        *(sys.executable, "-P", "-m", "fastrnns_rs.worker.start_in", str(Path.cwd())),
        *("fastrnns_rs.worker.inductor.single_call", str(fake.module), "cpu"),
    ]


def test_it_starts_where_no_user_can_put_modules_and_the_module_in_the_working_directory(fake: Ncu) -> None:
    places = [fake.folder / "of_ncu", fake.folder / "of_module"]
    fake.module = planted(fake.folder, f"import os, pathlib; pathlib.Path({str(places[1])!r}).write_text(os.getcwd())")
    fake.does(f"import os; Path({str(places[0])!r}).write_text(os.getcwd())\n", RUN, REPORT).run()
    assert [one.read_text() for one in places] == ["/", str(Path.cwd())]


def test_words_reach_it_whatever_is_in_them(tmp_path: Path) -> None:
    """A percent sign begins no placeholder, and a suffix that ncu adds is taken away."""
    folder = tmp_path / "50%q{HOME} ü '--set"
    folder.mkdir()
    fake = Ncu(folder).does("Path(call.option('--export').replace('%%', '%') + '.ncu-rep').write_text('added')")
    asked = {"ncu_kernel_regex": "^triton_.*; touch $HOME '\"", "ncu_metrics": "dram__bytes.sum,gpu__time.max"}
    assert fake.run(**asked) == str(fake.report)
    words = fake.words
    assert words[words.index("--kernel-name") + 1] == "regex:^triton_.*; touch $HOME '\""
    assert words[words.index("--metrics") + 1] == "dram__bytes.sum,gpu__time.max"
    assert "--set" not in words
    assert words[words.index("--export") + 1] == str(fake.report).replace("%", "%%")
    assert (fake.report.read_text(), fake.reports) == ("added", [fake.report])


@pytest.mark.parametrize(
    ("steps", "asked", "message", "hint"),
    [
        (["pass"], {}, "no kernel", "fastrnns-rs inductor --profile"),
        (["pass"], {"ncu_kernel_regex": "a\x1b"}, r"'a\x1b'", "function names"),
        ([REFUSED], {}, "ERR_NVGPUCTRPERM", "CAP_SYS_ADMIN"),
        ([REFUSED, REPORT, "sys.exit(1)"], {}, "ERR_NVGPUCTRPERM", "NVreg_"),
        ([REPORT, "sys.exit(3)"], {}, "ncu failed: exit status 3", ""),
        (["import os; os.kill(os.getpid(), 9)"], {}, "ncu failed: it was killed by signal 9", ""),
        (["print('==ERROR== no\\x1b[2J room')", "\nsys.exit(1)"], {}, r"ncu failed: no\x1b[2J room", ""),
        # What the module says comes before what ncu says.
        ([RUN, "print('==ERROR== It ended.'); sys.exit(status)"], {}, "ncu failed: SystemError: boom", ""),
    ],
)
def test_no_report_is_one_line(fake: Ncu, steps: list[str], asked: dict[str, Any], message: str, hint: str) -> None:
    fake.module = planted(fake.folder, "raise SystemError('boom\\nand more')")
    with pytest.raises(FastrnnsError) as caught:
        fake.does(*steps).run(**asked)
    assert message in caught.value.message
    assert hint in caught.value.hint
    assert str(caught.value).isprintable()
    assert fake.reports == []


def test_when_time_is_up_nothing_stays_behind(fake: Ncu, mark: str) -> None:
    with pytest.raises(FastrnnsError, match=r"^ncu .*\b0\.5 s\b"):
        fake.does(REPORT, f"subprocess.call(['sleep', {mark!r}])").run(timeout=0.5)
    assert not left_of(mark)
    assert fake.reports == []


def test_what_is_no_program_is_one_line(fake: Ncu) -> None:
    fake.program.parent.mkdir()
    fake.program.write_bytes(b"\x7fELF is what it says")
    fake.program.chmod(0o755)
    with pytest.raises(FastrnnsError, match=re.escape(f"{str(fake.program)!r}: Exec format error")):
        fake.run()
    with pytest.raises(FastrnnsError, match="NUL"):
        fake.does(REPORT).run(ncu_metrics="a\0b")


@pytest.fixture
def nowhere(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    """An empty path, and the root of an empty disk."""
    monkeypatch.setenv("PATH", str(tmp_path / "none"))
    return tmp_path


def program(path: Path) -> str:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("#!/bin/sh\n")
    path.chmod(0o755)
    return str(path)


def test_it_is_looked_for_on_the_path_and_then_elsewhere(nowhere: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    asked = InductorOptions(ncu=True)
    with pytest.raises(MissingError, match=r"'ncu' \(PATH\)") as caught:
        ncu.find(asked, nowhere)
    assert "`ncu_path`" in caught.value.hint
    program(nowhere / "opt/nvidia/nsight-compute/2024.3.1/ncu")
    newest = program(nowhere / "opt/nvidia/nsight-compute/2024.10.0/ncu")
    program(nowhere / "usr/local/cuda-13.0/bin/ncu")
    (nowhere / "opt/nvidia/nsight-compute/2025.1.0").mkdir()
    assert ncu.find(asked, nowhere) == newest
    on_path = program(nowhere / "bin/ncu")
    monkeypatch.setenv("PATH", str(nowhere / "bin"))
    assert ncu.find(asked, nowhere) == on_path
    # One that is named is taken or refused.
    named = program(nowhere / "ncu-2024")
    assert ncu.find(InductorOptions(ncu=True, ncu_path=named), nowhere) == named
    # It starts in another folder than that of a relative path.
    monkeypatch.chdir(nowhere)
    assert ncu.find(InductorOptions(ncu=True, ncu_path="./ncu-2024"), nowhere) == named
    Path(named).chmod(0o644)
    for path in (named, str(nowhere), str(nowhere / "missing"), "no-such-ncu", ""):
        with pytest.raises(MissingError, match=re.escape(f"{path!r} (ncu_path)")):
            ncu.find(InductorOptions(ncu=True, ncu_path=path))


def test_a_missing_ncu_is_told_before_anything_runs(tmp_path: Path) -> None:
    module, output = planted(tmp_path, device="cuda:0"), tmp_path / "output"
    asked = ("--ncu", "--ncu-path", tmp_path / "ncu", "--output-dir", output)
    done = run_with_facts("inductor", module, *asked, facts=WITH_GPU)
    assert (done.status, done.stdout) == (ExitCode.MISSING, "")
    *_progress, error, hint = done.stderr.splitlines()
    assert error.startswith("error: ")
    assert f"{str(tmp_path / 'ncu')!r} (--ncu-path)" in error
    assert hint.startswith("hint: ")
    assert "--ncu-path" in hint
    assert calls_of(module) == 0
    assert not output.exists()


@pytest.fixture
def verb(fake: Ncu, monkeypatch: pytest.MonkeyPatch) -> Verb:
    """The verb on a machine that says it has a GPU, where the module's own process only says that all went well."""

    def measure(samples: list[int] = SAMPLES, answer: Answer = DONE) -> InductorReport:
        def launch(start: Start) -> Answer:
            start.terms.on_part({"samples_ns": samples, "timing_mode": "cpu_wall_per_call"} if samples else {})
            return answer

        monkeypatch.setattr(environment, "probe", lambda *_, **__: WITH_GPU)
        monkeypatch.setattr(module_runs, "launch", launch)
        asked = InductorOptions(ncu=True, ncu_path=str(fake.program), output_dir=fake.output)
        module = Generated(path=fake.module, graph="forward", device="cuda:0", compilation=None)
        return module_runs.measure([module], asked)

    return measure


def test_the_row_says_where_the_report_is(fake: Ncu, verb: Verb) -> None:
    fake.does(REPORT)
    report = verb()
    (row,) = report.modules
    (written,) = fake.output.iterdir()
    assert (row.status, row.ncu_report_path) == ("ok", str(written))
    assert written.name.startswith("planted_forward_")
    assert fake.words[-2:] == [str(fake.module), "cuda:0"]
    assert f"report of Nsight Compute: {written}" in " ".join(report.render().split())
    assert InductorReport.from_dict(report.to_dict()) == report


def test_that_ncu_failed_costs_neither_the_wall_time_nor_a_traceback(fake: Ncu, verb: Verb) -> None:
    fake.does(REFUSED)
    (row,) = verb().modules
    assert (row.status, row.samples_ns, row.ncu_report_path) == ("failed", [SAMPLES], None)
    assert "ERR_NVGPUCTRPERM" in row.reason
    assert "\n" not in row.reason
    assert [*fake.output.iterdir()] == []


def test_an_ncu_that_puts_folders_in_place_of_its_report_costs_its_row(fake: Ncu, verb: Verb) -> None:
    fake.does("place = Path(call.option('--export')); place.unlink(); place.mkdir(); Path(f'{place}.ncu-rep').touch()")
    (row,) = verb().modules
    assert (row.status, row.samples_ns, row.ncu_report_path) == ("failed", [SAMPLES], None)
    assert "Is a directory" in row.reason


def test_what_could_not_be_called_is_not_called_under_ncu(fake: Ncu, verb: Verb) -> None:
    fake.does(REPORT)
    (row,) = verb([], Answer({}, "timed_out", "it was not loaded after 600 s", "")).modules
    assert (row.status, row.reason) == ("timed_out", "it was not loaded after 600 s")
    assert not fake.said.exists()
    assert [*fake.output.iterdir()] == []


def test_ctrl_c_during_ncu_keeps_what_was_measured(fake: Ncu, verb: Verb, monkeypatch: pytest.MonkeyPatch) -> None:
    fake.does(REPORT)
    monkeypatch.setattr(ncu, "run_command", Mock(side_effect=KeyboardInterrupt))
    with pytest.raises(module_runs.Interrupted) as caught:
        verb()
    (row,) = caught.value.report.modules
    assert (row.status, row.samples_ns) == ("interrupted", [SAMPLES])
    assert [*fake.output.iterdir()] == []


def test_on_a_gpu_one_call_is_seen_and_one_is_not(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    module = planted(tmp_path, device="cuda:1")
    seen: list[tuple[str, int]] = []

    def note(what: str) -> Callable[..., None]:
        return lambda *_: seen.append((what, calls_of(module)))

    monkeypatch.setattr(torch.cuda, "synchronize", note("wait"))
    monkeypatch.setattr(torch.cuda, "device", lambda _: nullcontext())
    monkeypatch.setattr(torch.cuda.profiler, "start", note("start"))
    monkeypatch.setattr(torch.cuda.profiler, "stop", note("stop"))
    assert once.main([str(module), "cuda:1"]) == ExitCode.DONE
    # The device is idle when the marks are set: nothing of the first call is seen, all of the second.
    assert seen == [("wait", 1), ("start", 1), ("wait", 2), ("stop", 2)]


@pytest.mark.parametrize(
    ("statement", "said"),
    [
        ("raise ValueError", "error: ValueError\n"),
        ("raise RuntimeError('\\x1b[2J\\nmore')", "error: RuntimeError: \\x1b[2J\n"),
        ("pass", ""),
        (None, "error: it has no call that torch"),
    ],
)
def test_the_child_says_one_line_or_nothing(
    tmp_path: Path, capfd: pytest.CaptureFixture[str], statement: str | None, said: str
) -> None:
    path = planted(tmp_path, statement or "pass")
    if statement is None:
        path.write_text("x = 1\n")
    assert once.main([str(path), "cpu"]) == (ExitCode.FAILED if said else ExitCode.DONE)
    out, err = capfd.readouterr()
    assert out == ""
    assert err == said if statement else err.startswith(said)
