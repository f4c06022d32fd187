"""`inductor --profile`: modules under torch's profiler, and what becomes of the trace."""

from __future__ import annotations

import gzip
import json
import re
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any
from unittest.mock import MagicMock

import pytest
import torch
from conftest import run_cli
from generated_modules import Modules
from kineto_traces import by_dice, write
from torch.autograd import DeviceType  # type: ignore[attr-defined]

from fastrnns_rs.api.wrapper_benchmark import parse_profile_event_list
from fastrnns_rs.documents.inductor_report import InductorReport, ModuleRow
from fastrnns_rs.errors import FastrnnsError
from fastrnns_rs.verbs.inductor.module_profiles import benchmark_name, parts
from fastrnns_rs.verbs.inductor.module_rows import described
from fastrnns_rs.verbs.report.capture_reader import Inductor, read
from fastrnns_rs.worker.inductor import profiled_calls
from fastrnns_rs.worker.inductor.loader import Loaded, load

#: As Inductor writes them, with a C++ kernel that is Python here, takes two milliseconds and tells how long it did.
MODULE = """
import time
import torch

SPENT = []

def cpp_fused_spin_0(given, number):
    begin = time.perf_counter_ns()
    while time.perf_counter_ns() - begin < 2_000_000:
        pass
    SPENT.append(time.perf_counter_ns() - begin)
    if FAILS:
        raise ValueError("no more")

FAILS = False
cpp_constant = 3

def call(args):
    (given,) = args
    args.clear()
    product = torch.mm(given, given)
    cpp_fused_spin_0(product, 2**64)
    return (product,)

def get_args():
    return [torch.ones(8, 8)]

def benchmark_compiled_module(args, times=10, repeat=10):
    return 0.002

if __name__ == "__main__":
    from torch._inductor.wrapper_benchmark import compiled_module_main
    args = get_args()
    compiled_module_main('None', lambda times, repeat: benchmark_compiled_module(args, times=times, repeat=repeat))
"""


def loaded(folder: Path, text: str = MODULE) -> Loaded:
    path = folder / "module.py"
    path.write_text(text)
    return load(str(path), "cpu")


def reserved(folder: Path) -> Path:
    path = folder / "x.trace.json.gz"
    path.touch()
    return path


def test_a_kernel_is_seen_under_its_name_with_its_own_time(tmp_path: Path) -> None:
    module, trace = loaded(tmp_path), reserved(tmp_path)
    before = module.module.cpp_fused_spin_0
    found = profiled_calls.profile(module, 5, 4, str(trace))
    json.dumps(found, allow_nan=False)
    assert found["runs"] == 20
    by_name = {one["name"]: one for one in found["operations"]}
    [name] = [name for name, one in by_name.items() if one["category"] == "cpp"]
    assert name == "cpp_fused_spin_0"
    spent = module.module.SPENT
    assert len(spent) == 21, "one call warmed up, and is not in the profile"
    assert by_name[name]["count"] == by_name["aten::mm"]["count"] == 20
    # It ran within what the profiler saw; a busy machine may have stopped it at the edge of that.
    assert sum(spent[1:]) <= by_name[name]["total_ns"] <= sum(spent[1:]) * 1.5
    assert module.module.cpp_fused_spin_0 is before
    [first, *_] = found["top"]
    assert (first["name"], first["input_shapes"], first["count"]) == (name, "[[8, 8]]", 20)
    assert first["self_cpu_ns"] == pytest.approx(by_name[name]["total_ns"], abs=1)
    assert len(found["top"]) <= 10
    events = json.loads(gzip.decompress(trace.read_bytes()))["traceEvents"]
    assert sum(one.get("name") == name for one in events) == 20
    assert [one.name for one in tmp_path.iterdir() if "json" in one.name] == [trace.name]


def test_the_function_under_torchs_name_tells_of_kernels(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    module = loaded(tmp_path)
    with profiled_calls.named_kernels(module.module), torch.profiler.profile(record_shapes=True) as profiler:
        module.run()
        module.run()
    events = profiler.key_averages(group_by_input_shape=True)
    parse_profile_event_list("bench", events, 2.0, 2, profiler.use_device or "")
    said = capsys.readouterr().out
    [milliseconds, count] = re.findall(r"^cpp_fused_spin_0 +(\S+) +(\S+) ", said, re.MULTILINE)[0]
    assert float(milliseconds) >= 2
    assert count == "1"
    assert re.search(r"^aten::mm ", said, re.MULTILINE)


def test_events_of_the_legacy_profiler_are_refused() -> None:
    with pytest.raises(FastrnnsError, match="legacy"):
        parse_profile_event_list("bench", [SimpleNamespace(is_legacy=True)], 1.0, 1, "cuda")


def test_kernels_are_put_back_after_a_failure(tmp_path: Path) -> None:
    module = loaded(tmp_path, MODULE.replace("FAILS = False", "FAILS = True"))
    before = module.module.cpp_fused_spin_0
    with pytest.raises(ValueError, match="no more"):
        profiled_calls.profile(module, 1, 1, str(reserved(tmp_path)))
    assert module.module.cpp_fused_spin_0 is before
    assert module.module.cpp_constant == 3


def test_kernels_that_tell_the_profiler_themselves_are_not_told_of_twice(tmp_path: Path) -> None:
    source = "# torch::aot_inductor::RAIIAtenRecordFunctionHandle record_graph_0_cpp_fused_spin_0_\n"
    module = loaded(tmp_path, MODULE + source)
    found = profiled_calls.profile(module, 1, 2, str(reserved(tmp_path)))
    assert not [one for one in found["operations"] if "cpp" in one["name"]]


def test_kernels_are_known_by_their_names() -> None:
    cpp = ["cpp_fused_add_0", "cpp_CppMicroGemmFP32Vec_1", "graph_0_cpp_fused_add_0", "graph_12_template_cpp_fused_1"]
    others = ["aten::mm", "mkl::cpp_linear", "graph_cpp_", ""]
    assert [name for name in [*cpp, *others] if profiled_calls.cpu_category(name) == "cpp"] == cpp


def test_a_cuda_module_is_profiled_on_its_device(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """By a profiler in place of torch's, which records nothing of a device that is not there."""
    log: list[Any] = []
    rows = [
        SimpleNamespace(
            key=f"k{number}",
            input_shapes="" if number % 2 else [[number]],
            count=number,
            device_type=DeviceType.CPU if number == 14 else DeviceType.CUDA,
            self_device_time_total=float(number % 7),
            self_cpu_time_total=1000.0 - number,
        )
        for number in range(15)
    ]

    def profiler(*, activities: Any, record_shapes: bool) -> Any:
        assert record_shapes
        log.append(activities)
        made = MagicMock()
        made.__enter__.side_effect = lambda *_: log.append("begin")
        made.__exit__.side_effect = lambda *_: log.append("end")
        made.export_chrome_trace.side_effect = lambda path: Path(path).write_text('{"traceEvents": []}')
        made.key_averages.return_value = rows
        return made

    monkeypatch.setattr(torch.profiler, "profile", profiler)
    monkeypatch.setattr(torch.cuda, "synchronize", lambda _device: log.append("wait"))
    module = replace(loaded(tmp_path), device=torch.device("cuda", 0))
    found = profiled_calls.profile(module, 2, 3, str(reserved(tmp_path)))
    both = [torch.profiler.ProfilerActivity.CPU, torch.profiler.ProfilerActivity.CUDA]
    # The first warms up, and each call ends within the profile.
    assert log == [both, "wait", "begin", "wait", "end", both, "wait", "begin", *["wait"] * 6, "end"]
    # All that ran there, as torch's own tables have it, the longest first, and what took as long in torch's order.
    longest = [operation for operation in found["operations"] if operation["total_ns"] == 6000]
    assert longest == operations(("k6", "unknown", 6, 6000), ("k13", "unknown", 13, 6000))
    times = [operation["total_ns"] for operation in found["operations"]]
    assert times == sorted(times, reverse=True)
    assert len(times) == 14, "what ran on the host is not among them"
    assert [one["self_device_ns"] for one in found["top"]] == [6e3, 6e3, 5e3, 5e3, 4e3, 4e3, 3e3, 3e3, 2e3, 2e3]
    first = {"name": "k6", "input_shapes": "[[6]]", "count": 6, "self_device_ns": 6000.0, "self_cpu_ns": 994000.0}
    assert (found["top"][0], found["top"][1]["input_shapes"]) == (first, "")


def test_a_trace_that_cannot_be_written_is_told_in_one_line(tmp_path: Path) -> None:
    with pytest.raises(FastrnnsError, match=r"cannot write .*/x\.trace\.json\.gz: No such file"):
        profiled_calls.profile(loaded(tmp_path), 1, 1, str(tmp_path / "nowhere" / "x.trace.json.gz"))


def row(path: Path, samples: list[int], device: str = "cpu") -> ModuleRow:
    return ModuleRow(
        path=str(path),
        graph="forward",
        device=device,
        status="ok",
        reason=None,
        times=2,
        repeat=3,
        samples_ns=[samples],
        wall=described([samples]) if samples else None,
    )


def operations(*given: tuple[str, str, int, int]) -> list[dict[str, Any]]:
    keys = ("name", "category", "count", "total_ns")
    return [dict(zip(keys, one, strict=True)) for one in given]


def test_parts_of_a_cuda_module_are_those_of_its_trace(tmp_path: Path) -> None:
    module, trace = tmp_path / "chash.py", write(tmp_path / "x.trace.json.gz", by_dice(3))
    module.write_text(MODULE.replace("'None'", "'resnet50'"))
    expected = read(trace, inductor=Inductor(wall_time_ms=2.0, runs=6, name="resnet50")).document
    ran = [
        (kernel.name, category.name, kernel.count, kernel.total_ns)
        for category in expected.inductor.categories
        for kernel in category.kernels
    ]
    found = {"top": [], "runs": 6, "operations": operations(*ran)}
    made = parts(row(module, [9_000_000, 1_000_000, 2_000_000], "cuda:0"), trace, found)
    profile, categories = expected.inductor, expected.categories
    assert made == {"profile": profile, "categories": categories, "top": [], "trace_path": str(trace)}
    assert made["profile"].tabulate_line.startswith("Output for tabulate: resnet50, ")
    assert made["categories"]


def test_parts_of_a_cpu_module_are_its_kernels_and_operators(tmp_path: Path) -> None:
    module = tmp_path / "chash.py"
    module.write_text(MODULE)
    told = operations(("aten::a", "operator", 6, 100), ("cpp_0", "cpp", 6, 300), ("aten::b", "operator", 1, 200))
    top = [{"name": "cpp_0", "input_shapes": "", "count": 6, "self_device_ns": 0, "self_cpu_ns": 300}]
    made = parts(row(module, [200, 200, 200]), tmp_path / "t", {"top": top, "runs": 6, "operations": told})
    profile = made["profile"]
    assert (profile.runs, profile.wall_time_ns, profile.busy_fraction) == (6, 200, pytest.approx(0.5))
    assert [(one.name, one.count, one.total_ns) for one in profile.categories] == [
        ("cpp", 6, 300),
        ("operator", 7, 300),
    ]
    assert [one.name for one in profile.categories[1].kernels] == ["aten::b", "aten::a"]
    assert profile.tabulate_line.endswith("chash, 0.00%, 0.00%, 0.00%, 0.00%, 50.00%, 50.00%, 0.000ms")
    assert [(one.name, one.kernel_time_fraction) for one in made["categories"]] == [("cpp", 0.5), ("operator", 0.5)]
    assert made["top"][0].self_cpu_ns == 300
    idle = parts(row(module, [10]), tmp_path / "t", {"top": [], "runs": 6, "operations": []})
    assert (idle["profile"].categories, idle["profile"].busy_fraction, idle["categories"]) == ([], 0, [])


@pytest.mark.parametrize("samples", [[], [0, 0, 0]])
def test_without_a_wall_time_there_is_no_profile(samples: list[int], tmp_path: Path) -> None:
    with pytest.raises(FastrnnsError, match="resolution of the clock"):
        parts(row(tmp_path / "x.py", samples), tmp_path / "t", {"top": [], "runs": 6, "operations": []})


@pytest.mark.parametrize(
    ("written", "name"),
    [
        ("    compiled_module_main('resnet50', lambda times, repeat: 0)", "resnet50"),
        ('    compiled_module_main("a, b", lambda times, repeat: 0)', "a, b"),
        ("    compiled_module_main('None', lambda times, repeat: 0)", "chash"),
        ("    compiled_module_main('', lambda times, repeat: 0)", "chash"),
        ("    # compiled_module_main('no', it is said)", "chash"),
        ("", "chash"),
    ],
)
def test_a_benchmark_is_called_what_its_module_says(written: str, name: str, tmp_path: Path) -> None:
    path = tmp_path / "chash.py"
    path.write_text(written + "\n")
    assert benchmark_name(path) == name


@pytest.mark.long("inductor")
def test_a_compiled_module_is_profiled_end_to_end(generated_modules: Modules, tmp_path: Path) -> None:
    flags = ("--profile", "--times", "4", "--repeat", "5", "--threads", "1", "--output-dir", tmp_path)
    done = run_cli("inductor", generated_modules.forward, *flags, "--json", **generated_modules.variables)
    assert done.status == 0, done.stderr
    [module] = InductorReport.from_dict(done.json()).modules
    profile = module.profile
    assert (profile.runs, profile.wall_time_ns) == (20, module.wall.median_ns)
    cpp, operator = profile.categories
    assert (cpp.name, operator.name) == ("cpp", "operator")
    kernels = [one.name for one in cpp.kernels]
    assert {one.count for one in cpp.kernels} == {20}
    assert all(name.startswith("cpp_fused_") for name in kernels)
    assert "aten::mm" in {one.name for one in operator.kernels}
    # A busy machine may stop any of the calls, of which the wall time is the median.
    assert 0.01 < profile.busy_fraction < 10
    assert module.top[0].name in {"aten::mm", *kernels}
    assert f"Output for tabulate: {module.name}, 0.00%, " in profile.tabulate_line
    trace = Path(str(module.trace_path))
    assert re.fullmatch(rf"{module.name}_forward_\d{{8}}T\d{{6}}Z\.trace\.json\.gz", trace.name)
    assert trace.parent == tmp_path
    events = json.loads(gzip.decompress(trace.read_bytes()))["traceEvents"]
    assert sum(one.get("name") == kernels[0] for one in events) == 20
    shown = run_cli("report", trace)
    assert shown.status == 0, shown.stderr
