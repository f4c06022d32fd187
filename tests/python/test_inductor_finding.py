"""From what is named, a file, a folder or a runner, to generated modules: before anything of them runs."""

from __future__ import annotations

import errno
import os
import re
import tempfile
from dataclasses import asdict
from pathlib import Path
from typing import Any
from unittest.mock import Mock

import pytest
from conftest import FACTS

from fastrnns_rs.errors import FastrnnsError, UsageError
from fastrnns_rs.problem.modes import Modes
from fastrnns_rs.problem.problem import Sizes
from fastrnns_rs.processes.launcher import Start
from fastrnns_rs.processes.listener import Answer
from fastrnns_rs.processes.phases import COMPILE
from fastrnns_rs.processes.temporary_folder import torch_cache
from fastrnns_rs.processes.worker_setting import guarded_environment
from fastrnns_rs.runners import registry
from fastrnns_rs.runners.plan import Choice, Options
from fastrnns_rs.verbs.inductor import compiled_runners, module_files
from fastrnns_rs.verbs.inductor.request import InductorOptions

HARNESS = "def get_args():\n    pass\n\n\ndef benchmark_compiled_module(args, times=10, repeat=10):\n    pass\n"


def module(
    path: Path,
    header: str = "['0_forward']",
    inputs: str = "primals_1",
    device: str = "cpu",
    age: int = 0,
    size: int = 2,
) -> Path:
    """A file that looks like Inductor's, as old as so many seconds."""
    path.parent.mkdir(parents=True, exist_ok=True)
    head = f"# AOT ID: {header}\n" if header else ""
    made = f"    {inputs} = rand_strided(({size}, ), (1, ), device='{device}', dtype=torch.float32)\n"
    text = f"{head}async_compile = AsyncCompile()\n\n\ndef call(args):\n    {inputs}, = args\n\n\n"
    path.write_text(text + HARNESS.replace("    pass\n", made, 1))
    then = 10**9 - age
    os.utime(path, (then, then))
    return path


@pytest.mark.parametrize(
    ("told", "inputs", "graph", "number"),
    [
        ("['0_forward']", "arg0_1", "forward", "0"),
        ("['12_backward']", "primals_1", "backward", "12"),
        ("['model__3_inference_7']", "arg0_1", "inference", "3"),
        (f"['{'1' * 100_000}x_inference']", "arg0_1", "inference", None),
        ("", "primals_1", "forward", None),
        ("", "tangents_1", "backward", None),
        ("", "arg0_1", "inference", None),
        ("[]", "arg0_1", "inference", None),
    ],
)
def test_graphs_are_told_apart(told: str, inputs: str, graph: str, number: str | None, tmp_path: Path) -> None:
    found = module_files.generated(module(tmp_path / "x.py", told, inputs))
    assert (found.graph, found.graph_id) == (graph, number)


def test_the_device_is_that_of_its_inputs_or_where_it_allocates(tmp_path: Path) -> None:
    for device in ("cpu", "cuda:0", "cuda:3", "xpu:0"):
        assert module_files.generated(module(tmp_path / "x.py", device=device)).device == device
    path = module(tmp_path / "x.py")
    path.write_text(path.read_text() + "\nbuf0 = empty_strided_cuda((2, ), (1, ), torch.float32)\n")
    assert module_files.generated(path).device == "cuda"


REFUSED = {
    "print(1)\n": "not a generated module",
    "": "an empty file",
    "# AOT ID: ['0_forward']\n\ndef call(args):\n    pass\n": "benchmark_harness is off",
    "@triton_heuristics.pointwise(size_hints=[4])\n@triton.jit\ndef triton_poi(x):\n    pass\n": "is a Triton kernel",
    "def call(args):\n    pass\n\ndef benchmark_compiled_module(times=10, repeat=10):\n    pass\n": "before 2.11",
}


@pytest.mark.parametrize("text", REFUSED)
def test_what_is_none_is_told_for_what_it_is(text: str, tmp_path: Path) -> None:
    path = tmp_path / "x.py"
    path.write_text(text)
    with pytest.raises(FastrnnsError, match=REFUSED[text]) as raised:
        module_files.generated(path)
    assert str(path) in raised.value.message
    assert raised.value.hint
    assert "\n" not in str(raised.value)


#: As Inductor writes it with TORCHINDUCTOR_BENCHMARK_KERNEL=1.
KERNEL = """
import triton
from torch._inductor.runtime import triton_heuristics

@triton_heuristics.pointwise(size_hints={'x': 128}, filename=__file__, triton_meta={'device': 'cuda:0'})
@triton.jit
def triton_poi_fused_add_0(in_ptr0, out_ptr0, xnumel, XBLOCK):
    pass

def get_args():
    arg_0 = rand_strided((100, ), (1, ), device='cuda:0', dtype=torch.float32)
    return arg_0,

def call(args):
    triton_poi_fused_add_0.run(*args, stream=0)

def benchmark_all_configs(args):
    return triton_poi_fused_add_0.benchmark_all_configs(*args)
"""


def test_kernels_with_benchmarks_of_their_own_are_no_modules(tmp_path: Path) -> None:
    wrapper = module(tmp_path / "ab" / "wrapper.py", "['0_inference']", age=5)
    (tmp_path / "cd").mkdir()
    kernel = tmp_path / "cd" / "kernel.py"
    kernel.write_text(KERNEL)
    with pytest.raises(FastrnnsError, match="is a Triton kernel"):
        module_files.generated(kernel)
    assert [one.path for one in module_files.find([tmp_path])] == [wrapper]
    assert [one.path for one in module_files.newest(tmp_path)] == [wrapper]
    # The source of a kernel stands in the module that calls it, and is not what the module itself has.
    inner = f"async_compile.triton('k', '''{KERNEL}''')\n"
    wrapper.write_text(f"# AOT ID: ['0_forward']\n{inner}\ndef call(args):\n    pass\n")
    with pytest.raises(FastrnnsError, match="benchmark_harness is off"):
        module_files.generated(wrapper)
    wrapper.write_text(f"{inner}\ndef call(args):\n    pass\n\ndef benchmark_compiled_module(times=10):\n    pass\n")
    with pytest.raises(FastrnnsError, match=r"before 2\.11"):
        module_files.generated(wrapper)


def test_what_cannot_be_read_is_told(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe.py")
    (tmp_path / "x.py").write_bytes(b"\xff\xfe\x00call")
    with (tmp_path / "large.py").open("wb") as file:
        file.truncate(1 << 40)
    for path, told in {
        tmp_path / "pipe.py": "not a file",
        Path("/dev/zero"): "not a file",
        tmp_path / "large.py": "too large",
        tmp_path / "nothing.py": "file not found",
        tmp_path / "x.py": "not UTF-8",
        "a\0b": "embedded null",
    }.items():
        with pytest.raises(FastrnnsError, match=told) as raised:
            module_files.generated(path)
        assert repr(str(path)) in raised.value.message
    with pytest.raises(FastrnnsError, match=re.escape(repr(str(tmp_path)))):
        module_files.find([tmp_path])


def test_a_folder_has_its_modules_from_the_oldest_to_the_newest(tmp_path: Path) -> None:
    newer = module(tmp_path / "ab" / "newer.py", age=1)
    older = module(tmp_path / "cd" / "older.py", age=9)
    (tmp_path / "cd" / "kernel.py").write_text("@triton.jit\ndef triton_(x):\n    pass\n")
    (tmp_path / "cd" / "bytes.py").write_bytes(b"\xff")
    (tmp_path / "folder.py").mkdir()
    (tmp_path / "away.py").symlink_to(tmp_path / "nowhere")
    assert [one.path for one in module_files.find([tmp_path])] == [older, newer]
    assert [one.path for one in module_files.find([newer, tmp_path, newer])] == [newer, older]


def test_the_newest_backward_comes_with_its_forward(tmp_path: Path) -> None:
    module(tmp_path / "a.py", "['1_forward']", age=9)
    forward = module(tmp_path / "b.py", "['1_forward']", age=8)
    module(tmp_path / "c.py", "['2_forward']", age=7)
    backward = module(tmp_path / "d.py", "['1_backward']", age=6)
    assert [one.path for one in module_files.newest(tmp_path)] == [forward, backward]
    inference = module(tmp_path / "e.py", "['3_inference']", age=5)
    assert [one.path for one in module_files.newest(tmp_path)] == [inference]
    alone = module(tmp_path / "f.py", "['9_backward']", age=4)
    assert [one.path for one in module_files.newest(tmp_path)] == [alone]
    unnamed = module(tmp_path / "g.py", "", "tangents_1", age=3)
    assert [one.path for one in module_files.newest(tmp_path)] == [unnamed]


def test_a_forward_of_another_program_is_no_pair(tmp_path: Path) -> None:
    """Programs share the cache, and each counts its compilations from 0."""
    ours = module(tmp_path / "a.py", "['0_forward']", age=9, size=9)
    module(tmp_path / "b.py", "['0_forward']", age=8, size=7)
    backward = module(tmp_path / "c.py", "['0_backward']", age=7, size=9)
    assert [one.path for one in module_files.newest(tmp_path)] == [ours, backward]
    alone = module(tmp_path / "d.py", "['0_backward']", age=6, size=6)
    assert [one.path for one in module_files.newest(tmp_path)] == [alone]


def test_an_empty_cache_is_told_with_its_place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TORCHINDUCTOR_CACHE_DIR", str(tmp_path / "nowhere"))
    with pytest.raises(FastrnnsError, match="no generated module") as raised:
        module_files.newest()
    assert str(tmp_path / "nowhere") in raised.value.message


def test_modules_that_cannot_be_measured_are_the_reason(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TORCHINDUCTOR_CACHE_DIR", str(tmp_path))
    for name in ("a", "b"):
        path = module(tmp_path / f"{name}.py")
        path.write_text(path.read_text().replace("module(args, ", "module("))
    reason = "2 modules cannot be measured: torch before 2.11 generated the module"
    for search in (module_files.newest, lambda: module_files.find([tmp_path])):
        with pytest.raises(FastrnnsError) as raised:
            search()
        assert raised.value.reason == reason


@pytest.mark.parametrize("variables", [{}, {"TORCHINDUCTOR_CACHE_DIR": "somewhere"}, {"LOGNAME": 'a:b/"c"'}])
def test_the_cache_is_torchs(variables: dict[str, str], anywhere: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    cache_dir_utils = pytest.importorskip("torch._inductor.runtime.cache_dir_utils")
    # torch sets it; only a variable that was set before is removed again at the end.
    monkeypatch.setenv("TORCHINDUCTOR_CACHE_DIR", "")
    monkeypatch.delenv("TORCHINDUCTOR_CACHE_DIR")
    monkeypatch.setattr(tempfile, "tempdir", str(anywhere))
    for name, value in variables.items():
        monkeypatch.setenv(name, value)
    ours = module_files.cache_folder()
    # torch makes the folder when it is asked for it.
    assert str(ours) == cache_dir_utils.cache_dir()


def test_an_empty_variable_names_no_cache(anywhere: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """torch takes it for the working directory, whose modules may be of an archive."""
    monkeypatch.setenv("TORCHINDUCTOR_CACHE_DIR", "")
    (anywhere / "temporary").mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(anywhere / "temporary"))
    expected = torch_cache()
    assert module_files.cache_folder() == expected
    assert guarded_environment()["TORCHINDUCTOR_CACHE_DIR"] == str(expected)


def modules_of(
    monkeypatch: pytest.MonkeyPatch, *answers: Answer, kernels: bool = False, **more: Any
) -> tuple[Any, list[Start]]:
    starts: list[Start] = []
    following = iter(answers)

    def launch(start: Start) -> Answer:
        starts.append(start)
        return next(following)

    monkeypatch.setattr(compiled_runners, "launch", launch)
    names = ["compile_cell", "compile_scan"][: len(answers)]
    options = Options(choice=Choice(groups=(), names=names), quick=True, threads=3, compile_timeout=7.0)
    return compiled_runners.compile_modules(options, FACTS, kernels=kernels, **more), starts


def done(*paths: Path) -> Answer:
    return Answer({"status": "ok", "modules": [str(one) for one in paths]}, "answered", None, "")


@pytest.mark.parametrize("kernels", [False, True])
def test_kernels_are_compiled_with_benchmarks_where_they_are_to_be_timed(
    kernels: bool, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    paths = [module(tmp_path / "a.py"), module(tmp_path / "b.py", "['0_backward']")]
    (modules, failed), [start] = modules_of(monkeypatch, done(*paths), kernels=kernels)
    assert ([one.path for one in modules], failed) == (paths, [])
    assert {one.runner for one in modules} == {"compile_cell"}
    assert [asdict(one.problem) for one in modules] == [start.job["problem"]] * 2
    assert start.setting.variables == ({"TORCHINDUCTOR_BENCHMARK_KERNEL": "1"} if kernels else {})
    assert (start.setting.threads, start.job["threads"]) == (3, 3)
    assert start.terms.limits[COMPILE].seconds == 7.0
    # A compilation ends by its own limit.
    assert start.terms.timeout == Options().timeout + 7.0
    assert (start.job["kind"], start.job["runner"]) == ("compile", "compile_cell")
    assert start.job["problem"]["hidden_size"] > 0


def test_a_runner_that_fails_leaves_the_others(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    path = module(tmp_path / "a.py")
    broken = Answer({"status": "failed"}, "answered", "RuntimeError: boom", "")
    begun: list[tuple[str, int, int]] = []
    (modules, failed), _ = modules_of(monkeypatch, broken, done(path), on_runner=lambda *said: begun.append(said))
    assert begun == [("compile_cell", 0, 2), ("compile_scan", 1, 2)]
    assert [(one.runner, one.path) for one in modules] == [("compile_scan", path)]
    [warning] = failed
    assert warning.code == "runner_failed"
    assert "'compile_cell'" in warning.evidence
    assert warning.evidence.endswith("RuntimeError: boom")
    (modules, failed), _ = modules_of(monkeypatch, done())
    assert modules == []
    [warning] = failed
    assert warning.evidence.startswith("no generated module")
    assert warning.evidence.endswith("'compile_cell'")


def test_the_hint_of_a_failed_runner_names_its_file(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(registry, "_runners", dict(registry.all_runners()))
    path = tmp_path / "my runners.py"
    path.write_text(
        "from fastrnns_rs import runner\n@runner('boom', compiles=True)\ndef boom(_):\n    raise NotImplementedError\n"
    )
    registry.load_file(str(path))
    monkeypatch.setattr(compiled_runners, "launch", lambda _: Answer({"status": "failed"}, "answered", "boom", ""))
    options = Options(choice=Choice(groups=(), names=["boom"]), quick=True)
    _, [warning] = compiled_runners.compile_modules(options, FACTS, kernels=False)
    assert warning.hint == f"Run: FASTRNNS_DEBUG=1 fastrnns-rs bench --quick --runner-file '{path}' boom"


def test_the_hint_of_a_failed_runner_compiles_the_same_problem(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(compiled_runners, "launch", lambda _: Answer({"status": "failed"}, "answered", "boom", ""))
    sizes, modes = Sizes(hidden_size=7), Modes(mode="inference")
    options = Options(
        choice=Choice(groups=(), names=["compile_cell"]), sizes=sizes, modes=modes, dtype="float64", device="cpu"
    )
    _, [warning] = compiled_runners.compile_modules(options, FACTS, kernels=False)
    words = "--processes 1 --device cpu --hidden-size 7 --dtype float64 --mode inference compile_cell"
    assert warning.hint == f"Run: FASTRNNS_DEBUG=1 fastrnns-rs bench {words}"


@pytest.mark.parametrize("flag", ["--compile-timeout", "--timeout"])
def test_the_hint_after_a_time_limit_names_the_limit(flag: str, monkeypatch: pytest.MonkeyPatch) -> None:
    def launch(start: Start) -> Answer:
        by_total = "no result after 1800 s"
        reason = start.terms.limits[COMPILE].reason if flag == "--compile-timeout" else by_total
        return Answer({}, "timed_out", reason, "")

    monkeypatch.setattr(compiled_runners, "launch", launch)
    options = Options(choice=Choice(groups=(), names=["compile_cell"]), quick=True)
    _, [warning] = compiled_runners.compile_modules(options, FACTS, kernels=False)
    assert warning.hint == f"Use a longer time limit: {flag}"


def test_a_runner_without_a_process_leaves_the_others(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(compiled_runners, "launch", Mock(side_effect=BlockingIOError(errno.EAGAIN, "wait")))
    options = Options(choice=Choice(groups=(), names=["compile_cell", "compile_scan"]), quick=True)
    _, failed = compiled_runners.compile_modules(options, FACTS, kernels=False)
    assert [one.evidence for one in failed] == ["the system has no more processes or threads: wait"] * 2


def test_ctrl_c_ends_it(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(KeyboardInterrupt):
        modules_of(monkeypatch, Answer({}, "interrupted", "interrupted", ""))


def test_a_folder_that_vanishes_during_the_search_is_skipped(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("a", "b"):
        (tmp_path / name).mkdir()
    listed = os.scandir

    def scandir(path: Any) -> Any:
        if str(path) == str(tmp_path / "a"):
            raise FileNotFoundError(path)
        return listed(path)

    monkeypatch.setattr(os, "scandir", scandir)
    assert module_files._below(tmp_path) == []


@pytest.mark.parametrize(
    "asked",
    [
        *({"times": 0}, {"times": 2.5}, {"repeat": 0}, {"repeat": True}, {"processes": 0}, {"threads": 0}),
        *({"timeout": 0.0}, {"timeout": float("nan")}, {"timeout": float("inf")}),
        *({"timeout": "5"}, {"timeout": None}, {"timeout": True}),
        *({"ncu_metrics": "x"}, {"ncu_kernel_regex": "x"}),
    ],
)
def test_options_that_make_no_sense_are_refused(asked: dict[str, Any]) -> None:
    with pytest.raises(UsageError):
        InductorOptions(**asked)
