"""`compiled_module_main`: generated modules run as programs, with our function in place of torch's."""

from __future__ import annotations

import gzip
import io
import json
import math
import os
import re
import runpy
import subprocess
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import nullcontext, redirect_stderr, redirect_stdout
from pathlib import Path
from types import SimpleNamespace
from typing import Any
from unittest.mock import Mock

import fake_tools
import pytest
from commands import Done, finished
from generated_modules import Modules, calls_of, planted, with_our_main
from test_inductor_running import KERNEL

import fastrnns_rs.inductor
from fastrnns_rs.cli.exit_codes import ExitCode
from fastrnns_rs.documents.inductor_report import InductorReport, ModuleRow
from fastrnns_rs.errors import FastrnnsError
from fastrnns_rs.worker import inductor

torch = pytest.importorskip("torch")
loading = pytest.importorskip("fastrnns_rs.worker.inductor.loader")
measuring = pytest.importorskip("fastrnns_rs.worker.inductor.standalone_measurement")
compiled_module_main = pytest.importorskip("fastrnns_rs.worker.inductor.standalone").compiled_module_main
options = pytest.importorskip("fastrnns_rs.worker.inductor.standalone").options


def run(path: Path, *arguments: str | Path, modules: Modules | None = None) -> Done:
    """Runs a module as a person does."""
    command = [sys.executable, "-W", "ignore", str(path), *map(str, arguments)]
    return finished(command, **(modules.variables if modules else {}))


def run_here(path: Path, *arguments: str | Path) -> Done:
    """The same in this process, whose torch is loaded."""
    out, err, status = io.StringIO(), io.StringIO(), 0
    with pytest.MonkeyPatch.context() as patch, redirect_stdout(out), redirect_stderr(err):
        patch.setattr(sys, "argv", [str(path), *map(str, arguments)])
        try:
            runpy.run_path(str(path), run_name="__main__")
        except SystemExit as ended:
            status = int(ended.code or 0)
    return Done(status, out.getvalue(), err.getvalue())


def row_of(text: str) -> ModuleRow:
    (row,) = InductorReport.from_dict(json.loads(text)).modules
    return row


@pytest.mark.long("inductor")
@pytest.mark.parametrize("graph", ["forward", "backward", "inference"])
def test_a_module_of_inductor_measures_itself(generated_modules: Modules, tmp_path: Path, graph: str) -> None:
    module = getattr(generated_modules, graph)
    path, counts = with_our_main(module, tmp_path), ("--times", "50", "--repeat", "20")
    upstream = run(module, *counts, modules=generated_modules)
    assert upstream.status == 0, upstream.stderr
    done = run(path, *counts, "--json", modules=generated_modules)
    assert (done.status, done.stderr) == (0, "")
    row = row_of(done.stdout)
    assert (row.path, row.graph, row.device, row.status) == (str(path), graph, "cpu", "ok")
    assert (row.times, row.repeat, len(row.samples_ns[0])) == (50, 20, 20)
    assert min(row.samples_ns[0]) <= row.wall.estimate_ns <= max(row.samples_ns[0])
    assert row.first_call_ns > 0
    assert row.peak_memory_bytes > 10_000_000
    # Some microseconds, of which upstream prints whole ones; a busy machine takes several times as long.
    printed = float(upstream.stdout)
    for seconds in (row.wall.estimate_ns / 1e9, row.upstream_ms / 1e3):
        assert printed / 10 - 1e-6 < seconds < printed * 10 + 1e-5


def test_the_table_is_that_of_the_verb(tmp_path: Path) -> None:
    done = run_here(planted(tmp_path), "--times", "2", "--repeat", "6")
    assert (done.status, done.stderr) == (0, "")
    heading, row = done.stdout.splitlines()
    assert heading.split()[:3] == ["module", "graph", "device"]
    assert re.fullmatch(r"planted +0 inference +cpu +[\d.]+ +- .*", row)
    # The first one, a warm-up, the samples, and upstream's.
    assert calls_of(tmp_path / "planted.py") == 1 + 2 + 6 * 2 + 6 * 2


@pytest.mark.parametrize(
    ("arguments", "status", "error", "hint"),
    [
        (["--times", "x"], 2, "invalid integer: 'x' (--times)", "integer"),
        (["--times"], 2, "missing value: --times", "Run: python PATH --help"),
        (["-k=1"], 2, "(--benchmark-kernels)", "Run: python PATH --help"),
        (["--benchmark", "x"], 2, "ambiguous option: --benchmark", "--benchmark-kernels"),
        (["--tims", "2"], 2, "unknown option: --tims", "--times"),
        (["--quite-different"], 2, "unknown option: --quite-different", "Run: python PATH --help"),
        (["--benchmark-kernel", "extra\x1b"], 2, r"unexpected argument: 'extra\x1b'", "Run: python PATH --help"),
        (["--ncu-metrics", "m"], 2, "--ncu-metrics needs --ncu", "--ncu"),
        (["--ncu"], 5, "--ncu needs a CUDA device", "--ncu"),
        (["-p", "--output-dir", "/dev/null/x"], 2, "'/dev/null/x' (--output-dir): Not a directory", "--output-dir"),
    ],
)
def test_what_it_cannot_do_is_told(tmp_path: Path, arguments: list[str], status: int, error: str, hint: str) -> None:
    path = planted(tmp_path)
    done = run_here(path, *arguments)
    assert (done.status, done.stdout) == (status, "")
    first, second = done.stderr.splitlines()
    assert first.startswith("error: ")
    assert error in first
    assert second.startswith("hint: ")
    assert hint.replace("PATH", str(path)) in second
    # Arguments of Python reach nobody who types flags.
    assert "`" not in first + second
    assert calls_of(path) == 0


def test_a_module_that_fails_has_a_row_that_says_so(tmp_path: Path) -> None:
    path = planted(tmp_path, "raise RuntimeError('boom\\nand more')")
    done = run_here(path)
    assert done.status == ExitCode.FAILED
    assert "failed: RuntimeError: boom" in done.stdout
    assert done.stderr == f"error: {path}: RuntimeError: boom\n"


@pytest.mark.long("inductor")
def test_that_nobody_reads_on_is_no_failure(tmp_path: Path) -> None:
    words = [sys.executable, "-W", "ignore", planted(tmp_path), "--times", "1", "--repeat", "1"]
    with subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        process.stdout.close()
        said = process.stderr.read()
        assert (process.wait(120), said) == (0, b"")


def telling(*answers: Any) -> tuple[Callable[..., Any], list[tuple[int, int]]]:
    """A benchmark that gives these answers, the last for good, and prints as torch's does; and what it was asked."""
    asked: list[tuple[int, int]] = []
    following = iter(answers)

    def benchmark(times: int, repeat: int) -> Any:
        asked.append((times, repeat))
        print("0.000010")
        return next(following, answers[-1])

    return benchmark, asked


def measured(benchmark: Callable[..., Any], *arguments: str, capsys: pytest.CaptureFixture[str]) -> ModuleRow:
    done = ended(capsys, ExitCode.DONE, compiled_module_main, "None", benchmark, [*arguments, "--json"])
    assert done.stderr == ""
    return row_of(done.stdout)


def test_each_repeat_is_a_sample(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert measured(telling(0.0)[0], capsys=capsys).samples_ns == [[0] * 10], "a benchmark of nothing"
    benchmark, asked = telling(0.5, 9.0, 1e-6, 2.5e-6, 1.5e-6, 0.002)
    row = measured(benchmark, "--times", "7", "--repeat", "3", capsys=capsys)
    assert asked == [(1, 1), (7, 1), (7, 1), (7, 1), (7, 1), (7, 3)]
    assert row.first_call_ns == 500_000_000
    assert row.samples_ns == [[1000, 2500, 1500]]
    assert row.wall.median_ns == 1500
    assert row.upstream_ms == 2.0
    # A function of somebody else's, in a file that is no module.
    assert (row.path, row.graph) == (__file__, "inference")


def ended(capsys: pytest.CaptureFixture[str], status: ExitCode, call: Callable[..., None], *given: Any) -> Done:
    """What a call said that ends the process, unless all went well."""
    with nullcontext() if status == ExitCode.DONE else pytest.raises(SystemExit, match=f"^{int(status)}$"):
        call(*given)
    said = capsys.readouterr()
    return Done(status, said.out, said.err)


@pytest.mark.parametrize("answer", [None, math.nan, math.inf, -1.0, True, "0.1", [0.1], "x" * 10_000, 10**400])
def test_what_is_no_time_is_refused(capsys: pytest.CaptureFixture[str], answer: Any) -> None:
    done = ended(capsys, ExitCode.FAILED, compiled_module_main, "None", telling(answer)[0], ["--json"])
    row = row_of(done.stdout)
    assert (row.status, row.samples_ns, row.wall) == ("failed", [], None)
    assert "the function that benchmarks the module returned" in row.reason
    assert len(row.reason) < 300
    assert done.stderr.startswith(f"error: {__file__}: ")
    assert done.stderr.count("\n") == 1


@pytest.mark.parametrize(("name", "shown"), [("None", ""), ("", ""), ("resnet\x1b[2J", "resnet\\x1b[2J\n")])
def test_the_name_stands_above_the_table(capsys: pytest.CaptureFixture[str], name: str, shown: str) -> None:
    compiled_module_main(name, telling(1e-3)[0], ["--times", "1", "--repeat", "1"])
    assert capsys.readouterr().out.startswith(f"{shown}module ")


class Running:
    """A planted module as it is when it runs as a program, on a machine whose devices are good for anything."""

    def __init__(self, folder: Path, patch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
        self.patch, self.capsys = patch, capsys
        self.path = planted(folder)
        self.output = folder / "output"
        self.module = loading.load(str(self.path), "cpu").module
        self.module.args = self.module.get_args()
        code = "lambda times, repeat: benchmark_compiled_module(args, times=times, repeat=repeat)"
        self.function = eval(compile(code, self.path, "eval"), vars(self.module))
        patch.setattr(measuring, "check_machine", lambda *_: None)

    def measure(self, *arguments: str, status: ExitCode = ExitCode.DONE) -> tuple[ModuleRow, str]:
        """The row, and what is said on stderr."""
        words = ["--times", "1", "--repeat", "1", "--json", "--output-dir", str(self.output), *arguments]
        done = ended(self.capsys, status, compiled_module_main, "None", self.function, words)
        return row_of(done.stdout), done.stderr


#: How often a module is called for the wall time of one call in one repeat.
WALL = 4


@pytest.fixture
def running(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Running:
    return Running(tmp_path, monkeypatch, capsys)


def test_ncu_calls_its_file_again(running: Running) -> None:
    steps = f"""
import subprocess
Path(call.option("--export")).write_text(call.option("--metrics"))
sys.exit(subprocess.call(call.words[call.words.index({sys.executable!r}):]))
"""
    program = fake_tools.program(running.output.parent / "bin" / "ncu", {"profile": steps})
    running.patch.setenv("PATH", f"{program.parent}{os.pathsep}{os.environ['PATH']}")
    row, _ = running.measure("--ncu", "--ncu-metrics", "m")
    assert Path(row.ncu_report_path).read_text() == "m"
    assert [*running.output.iterdir()] == [Path(row.ncu_report_path)]
    assert calls_of(running.path) == WALL + 2


def test_a_snapshot_is_of_ten_calls(running: Running) -> None:
    recorded: list[int] = []
    running.patch.setattr(torch.cuda.memory, "_record_memory_history", lambda *_, **__: recorded.append(1))
    running.patch.setattr(torch.cuda.memory, "_dump_snapshot", lambda path: Path(path).write_text("pickle"))
    row, _ = running.measure("--cuda-memory-snapshot")
    assert Path(row.memory_snapshot_path).read_text() == "pickle"
    assert (calls_of(running.path), recorded) == (WALL + 10, [1, 1])


def test_kernels_that_could_not_be_told_of_leave_the_wall_time(running: Running) -> None:
    def measure(device: Any, *, all_configs: bool) -> Iterator[dict[str, Any]]:
        assert (str(device), all_configs) == ("cpu", True)
        # Kernels were compiled here, and their modules are there to be found.
        assert torch._inductor.config.compile_threads == 1
        assert sys.modules[running.module.__name__] is not running.module
        yield {**KERNEL}
        raise FastrnnsError("the second kernel has no benchmark", "Set something.")

    running.patch.setattr(inductor, "kernel_times", SimpleNamespace(measure=measure), raising=False)
    with torch._inductor.config.patch(compile_threads=2):
        row, said = running.measure("-c", status=ExitCode.FAILED)
    assert row.reason == "the second kernel has no benchmark. Set something."
    assert said == f"error: {running.path}: {row.reason}\n"
    assert len(row.samples_ns) == 1
    assert [one.name for one in row.kernels] == [KERNEL["name"]]


@pytest.mark.parametrize("pressed_in", ["worker.inductor.wall_time.seconds", "verbs.inductor.ncu.run"])
def test_ctrl_c_keeps_what_was_measured(pressed_in: str, running: Running) -> None:
    in_ncu = "ncu" in pressed_in
    running.patch.setattr(f"fastrnns_rs.{pressed_in}", Mock(side_effect=KeyboardInterrupt))
    row, said = running.measure(*["--ncu"] * in_ncu, status=ExitCode.INTERRUPTED)
    assert (row.status, len(row.samples_ns), said) == ("interrupted", int(in_ncu), "")
    assert [*running.output.glob("*")] == []


@pytest.mark.long("inductor")
def test_a_profile_is_of_the_modules_own_runs(generated_modules: Modules, tmp_path: Path) -> None:
    path, output = with_our_main(generated_modules.forward, tmp_path), tmp_path / "output"
    words = ("-p", "--times", "3", "--repeat", "4", "--output-dir", output)
    done = run(path, *words, modules=generated_modules)
    assert (done.status, done.stderr) == (0, "")
    assert "Output for tabulate: " in done.stdout
    (trace,) = output.iterdir()
    assert trace.name.startswith(f"{path.stem}_forward_")
    events = json.loads(gzip.decompress(trace.read_bytes()))["traceEvents"]
    assert sum(event.get("name") == "aten::mm" for event in events) == 12


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        ([], {"times": 10, "repeat": 10, "kernels": False}),
        (["-kcp"], {"kernels": True, "all_configs": True, "profile": True}),
        (["--benchmark-k"], {"kernels": True, "all_configs": False}),
        (
            ["--ncu", "--ncu-kernel-regex", "^triton_.*", "--ncu-metrics=a,b"],
            {"ncu": True, "ncu_kernel_regex": "^triton_.*", "ncu_metrics": "a,b"},
        ),
        (["--cuda-memory-snapshot", "--times=3", "--repeat=4"], {"memory_snapshot": True, "times": 3, "repeat": 4}),
    ],
)
def test_flags_mean_what_they_mean_to_upstream(arguments: Sequence[str], expected: dict[str, Any]) -> None:
    asked, as_json = options(arguments)
    assert {name: getattr(asked, name) for name in expected} == expected
    assert not as_json


def test_a_name_that_it_has_not_is_an_attribute_error() -> None:
    with pytest.raises(AttributeError, match="no attribute 'perf_profile'"):
        fastrnns_rs.inductor.perf_profile  # noqa: B018
    assert set(fastrnns_rs.inductor.__all__) <= set(dir(fastrnns_rs.inductor))
