"""`fastrnns-rs inductor` from end to end, on modules that torch.compile really writes."""

from __future__ import annotations

import inspect
import json
import os
import re
import signal
import subprocess
import sys
from dataclasses import fields
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from conftest import ROOT, Done, run_cli
from generated_modules import Modules
from processes import left_of, wait_for
from test_inductor_finding import module

import fastrnns_rs
from fastrnns_rs import InductorReport, UsageError
from fastrnns_rs.cli.inductor import command
from fastrnns_rs.verbs.inductor.request import InductorOptions

SCHEMA = json.loads((ROOT / "docs" / "schemas" / "inductor.schema.json").read_text())


def inductor(*words: str | Path, generated: Modules, cwd: Path | None = None, **variables: str) -> Done:
    return run_cli("inductor", *words, cwd=cwd, **{**generated.variables, **variables})


def document(done: Done) -> InductorReport:
    plain = done.json()
    jsonschema.Draft202012Validator(SCHEMA).validate(plain)
    return InductorReport.from_dict(plain)


@pytest.mark.long("inductor")
def test_forward_and_backward_are_timed_and_told_apart(generated_modules: Modules) -> None:
    done = inductor(generated_modules.cache, "--json", "--times", "20", "--repeat", "12", generated=generated_modules)
    assert done.status == 0, done.stderr
    report = document(done)
    assert {Path(one.path): one.graph for one in report.modules} == {
        generated_modules.forward: "forward",
        generated_modules.backward: "backward",
        generated_modules.inference: "inference",
    }
    for one in report.modules:
        assert (one.status, one.device, one.times, one.repeat) == ("ok", "cpu", 20, 12)
        [samples] = one.samples_ns
        assert len(samples) == 12
        assert 0 < one.wall.min_ns <= one.wall.median_ns <= one.wall.max_ns
        # The same work by the same rule right after, in the same unit; on a busy machine they may be far apart.
        assert 1e-3 < one.upstream_ms * 1e6 / one.wall.median_ns < 1e3
        assert one.first_call_ns > one.wall.min_ns
        assert one.peak_memory_bytes > 50_000_000
    assert report.environment.torch_version
    [warning] = report.warnings
    assert (warning.code, done.stderr.count("warning[one_process]")) == ("one_process", 1)
    assert "fastrnns-rs inductor --processes 5" in warning.hint


@pytest.mark.long("inductor")
def test_the_newest_in_the_cache(generated_modules: Modules, anywhere: Path) -> None:
    cache = anywhere / "cache" / "xx"
    cache.mkdir(parents=True)
    for age, path in enumerate((generated_modules.inference, generated_modules.backward, generated_modules.forward)):
        copy = cache / path.name
        copy.write_text(path.read_text())
        os.utime(copy, (10**9 + age, 10**9 + age))
    words = ("--from-cache", "--times", "1", "--repeat", "3", "--output", "report.json", "--json")
    done = inductor(*words, generated=generated_modules, cwd=anywhere, TORCHINDUCTOR_CACHE_DIR=str(cache.parent))
    assert (done.status, done.stdout) == (0, ""), done.stderr
    report = InductorReport.from_dict(json.loads((anywhere / "report.json").read_text()))
    assert [one.path for one in report.modules] == [str(cache / generated_modules.forward.name)]


@pytest.mark.long("inductor")
def test_a_runner_is_compiled_and_its_modules_are_timed(anywhere: Path) -> None:
    words = ("inductor", "--runner", "compile_cell", "--quick", "--device", "cpu", "--times", "2", "--repeat", "3")
    done = run_cli(*words, "--json", cwd=anywhere, TORCHINDUCTOR_CACHE_DIR=str(anywhere / "cache"))
    assert done.status == 0, done.stderr
    report = document(done)
    assert {one.graph for one in report.modules} == {"forward", "backward"}
    assert {one.runner for one in report.modules} == {"compile_cell"}
    # They stay where Inductor keeps them, to be looked at.
    assert all(Path(one.path).is_relative_to(anywhere / "cache") and Path(one.path).exists() for one in report.modules)


#: What is put at the end of a module, and what is then told of it.
BROKEN = {
    "raise ValueError('no good')": "it cannot be imported with torch .*: ValueError: no good",
    "from torch import no_such_name": "it cannot be imported with torch .*: ImportError: cannot import name",
    "import sys; sys.exit(3)": "exit",
    "import os; os._exit(3)": "status 3",
    "import os; os.kill(os.getpid(), 11)": "SIGSEGV",
    "def get_args(): return [1, 2, 3]": "AssertionError|TypeError|RuntimeError",
    "def get_args(): raise KeyError('s0')": "its get_args failed: KeyError: 's0'",
    "call = 3": "it has no call",
    "def benchmark_compiled_module(args, times, repeat): raise OSError('no')": "compiled_module failed: OSError: no",
    "def benchmark_compiled_module(args, times, repeat): return float('nan')": "returned nan",
    "def benchmark_compiled_module(args, times, repeat): return -1.0": "returned -1.0",
}


@pytest.mark.long("inductor")
@pytest.mark.parametrize("line", BROKEN)
def test_a_module_that_fails_is_one_clear_line(line: str, generated_modules: Modules, tmp_path: Path) -> None:
    text, main, rest = generated_modules.forward.read_text().partition('if __name__ == "__main__":')
    path = tmp_path / "broken.py"
    path.write_text(f"{text}{line}\n\n{main}{rest}")
    done = inductor(path, "--json", "--times", "1", "--repeat", "3", generated=generated_modules)
    assert done.status == 1
    [row] = document(done).modules
    assert row.status == "failed"
    assert re.search(BROKEN[line], row.reason), row.reason
    assert "\n" not in row.reason
    [error] = [one for one in done.stderr.splitlines() if one.startswith("error: ")]
    assert str(path) in error
    # What was measured before it failed is kept.
    assert (row.wall is not None) == line.startswith("def benchmark_compiled")


@pytest.mark.long("inductor")
def test_a_module_that_hangs_ends_with_its_time(generated_modules: Modules, tmp_path: Path, mark: str) -> None:
    path = tmp_path / "hanging.py"
    path.write_text(f"{generated_modules.forward.read_text()}\nimport time\ntime.sleep({mark})\n")
    done = inductor(path, "--timeout", "2", "--json", generated=generated_modules, MARK=mark)
    assert done.status == 1
    [row] = document(done).modules
    assert (row.status, row.reason) == ("timed_out", "no result after 2 s")
    assert f"error: {path}: no result after 2 s\n" in done.stderr
    assert not left_of(mark)


@pytest.mark.long("inductor")
def test_ctrl_c_keeps_what_was_measured(generated_modules: Modules, tmp_path: Path, mark: str) -> None:
    path = tmp_path / "hanging.py"
    text = f"{generated_modules.forward.read_text()}\nimport subprocess\nsubprocess.run(['sleep', '{mark}'])\n"
    path.write_text(text)
    command = [sys.executable, "-m", "fastrnns_rs", "inductor", generated_modules.forward, path, "--json"]
    variables = {**os.environ, **generated_modules.variables}
    with subprocess.Popen(command, env=variables, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        # The first module takes long where a machine is busy.
        wait_for(mark, 1, within=120)
        process.send_signal(signal.SIGINT)
        stdout, stderr = process.communicate(timeout=60)
    assert process.returncode == 130, stderr
    report = InductorReport.from_dict(json.loads(stdout))
    assert [one.status for one in report.modules] == ["ok", "interrupted"]
    assert not left_of(mark)


@pytest.mark.parametrize(
    ("words", "status", "told"),
    [
        ([], 2, "missing argument: MODULE"),
        (["nothing.py"], 2, "file not found: 'nothing.py' (MODULE)"),
        (["plain.py"], 2, "'plain.py' (MODULE)"),
        (["folder"], 2, "'folder' (MODULE)"),
        (["gpu.py"], 5, "'cuda:7' of module"),
        pytest.param(
            *(["good.py", "--cuda-memory-snapshot"], 5, "--cuda-memory-snapshot needs a CUDA device"),
            marks=pytest.mark.long("inductor"),
        ),
        (["good.py", "--ncu"], 5, "--ncu needs a CUDA device"),
        (["good.py", "--profile", "--output-dir", "plain.py"], 2, "'plain.py' (--output-dir)"),
        (["good.py", "--times", "0"], 2, "--times"),
        (["good.py", "--seqLength", "3"], 2, "--seq-length needs --runner"),
        (["good.py", "--ncu-metrics", "x"], 2, "--ncu-metrics needs --ncu"),
        (["good.py", "--ncu-path", "x"], 2, "--ncu-path needs --ncu"),
        (["good.py", "--json", "--format", "table"], 2, "--format and --json"),
        (["good.py", "--output", "good.py"], 2, "'good.py' (--output)"),
        (["good.py", "--output", "folder"], 2, "'folder' (--output)"),
        (["--runner"], 2, "--runner"),
        (["--runner", "cudnn"], 2, "'cudnn' (--runner)"),
        (["--runner", "compile_sell"], 2, "'compile_sell'"),
        (["--no-such-flag"], 2, "--no-such-flag (inductor)"),
    ],
)
def test_bad_input_is_one_line_and_a_hint(words: list[str], status: int, told: str, anywhere: Path) -> None:
    (anywhere / "plain.py").write_text("print(1)\n")
    (anywhere / "folder").mkdir()
    module(anywhere / "good.py")
    module(anywhere / "gpu.py", device="cuda:7")
    done = run_cli("inductor", *words, cwd=anywhere)
    assert (done.status, done.stdout) == (status, ""), done
    # The progress may have begun: what needs torch is checked after torch is imported.
    *progress, error, hint = done.stderr.splitlines()
    assert progress in ([], ["inductor: 1 module"])
    assert error.startswith("error: ")
    assert told in error
    assert hint.startswith("hint: ")


@pytest.mark.long("inductor")
def test_the_api_returns_the_same(generated_modules: Modules, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name, value in generated_modules.variables.items():
        monkeypatch.setenv(name, value)
    calls: list[tuple[int, int | None, str]] = []
    report = fastrnns_rs.inductor(generated_modules.forward, times=2, repeat=3, progress=lambda *one: calls.append(one))
    assert {done <= (total or 0) for done, total, _ in calls} == {True}
    assert any("timing" in label for *_, label in calls)
    [row] = report.modules
    assert (row.status, row.graph, len(row.samples_ns[0])) == ("ok", "forward", 3)
    report.save(tmp_path / "report.json")
    plain: Any = json.loads((tmp_path / "report.json").read_text())
    assert InductorReport.from_dict(plain) == report


#: Each way to the function, in a new process: Python keeps a module that was imported once.
WAYS = [
    "import fastrnns_rs; call = fastrnns_rs.inductor",
    "from fastrnns_rs import inductor as call",
    "import fastrnns_rs.inductor; call = fastrnns_rs.inductor",
    "from fastrnns_rs.inductor import __all__; import fastrnns_rs; call = fastrnns_rs.inductor",
    "import fastrnns_rs; fastrnns_rs.inductor; import fastrnns_rs.inductor as call",
    "from fastrnns_rs import benchmark_modules as call",
]


@pytest.mark.parametrize("way", WAYS)
def test_the_module_and_the_function_have_one_name(way: str) -> None:
    code = f"""
import inspect, sys
{way}
from fastrnns_rs.api.modules import inductor
assert inspect.signature(call) == inspect.signature(inductor)
try:
    call(allConfigs=True)
except TypeError as error:
    assert "did you mean 'all_configs'?" in str(error), error
import fastrnns_rs.inductor as module
assert {{"compiled_module_main", "get_kernel_category"}} <= {{*dir(module)}}
"""
    done = subprocess.run([sys.executable, "-W", "error", "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


def test_a_call_without_modules_names_the_argument() -> None:
    with pytest.raises(UsageError, match="`paths`"):
        fastrnns_rs.inductor()


def test_every_flag_is_an_argument_of_the_function() -> None:
    arguments = inspect.signature(fastrnns_rs.inductor).parameters
    options = {one.name: one.default for one in fields(InductorOptions)}
    assert options == {name: arguments[name].default for name in options}
    assert set(arguments) - {"paths", "from_cache", "progress"} == set(options)
    assert set(options) <= {param.name for param in command.params}
