"""What `torch._inductor.wrapper_benchmark` has and says, and ours: flags, functions, categories of kernels, tables."""

from __future__ import annotations

import ast
import inspect
import json
import random
import re
from collections import defaultdict
from dataclasses import replace
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

import kineto_reference as reference
import pytest
from conftest import ROOT, run_cli
from corpus import captures
from hypothesis import given
from hypothesis import strategies as st
from kineto_traces import by_dice, call, copy, kernel, operator, write
from test_inductor_profile import operations, row
from torch._inductor import wrapper_benchmark
from torch._inductor.runtime import triton_heuristics

import fastrnns_rs.inductor
from fastrnns_rs import _core
from fastrnns_rs.api.wrapper_benchmark import parse_profile_event_list
from fastrnns_rs.documents.inductor_report import ModuleRow, TopRow
from fastrnns_rs.documents.inductor_upstream import choose_category
from fastrnns_rs.documents.summary import CategoryRow
from fastrnns_rs.verbs.inductor.module_profiles import parts, view
from fastrnns_rs.verbs.report.capture_reader import Inductor, read
from fastrnns_rs.views.module_profile import profile_text, upstream_text
from fastrnns_rs.worker.inductor import kernel_categories
from fastrnns_rs.worker.inductor.standalone import options

SOURCE = inspect.getsource(wrapper_benchmark)
PAGE = (ROOT / "docs" / "how-to" / "migration.md").read_text()
SECTION = PAGE.split("## Inductor's `wrapper_benchmark`")[1].split("\n## ")[0]


@pytest.mark.parametrize("ours", ["the verb", "compiled_module_main"])
def test_every_flag_has_a_row_and_is_taken(ours: str, capsys: pytest.CaptureFixture[str]) -> None:
    flags = set(re.findall(r'"(--?[a-z][\w-]*)"', SOURCE.split("def compiled_module_main")[1]))
    assert {"-k", "-c", "-p", "--ncu", "--times"} <= flags
    if ours == "the verb":
        shown = run_cli("inductor", "--help-all").stdout
    else:
        with pytest.raises(SystemExit, match="0"):
            options(["--help"])
        shown = capsys.readouterr().out
    taken = set(re.findall(r"(?<![\w-])--?[a-z][\w-]*", shown))
    for flag in flags:
        assert re.search(rf"^\|[^|]*`[^`|]*(?<!\S){flag}(?![\w-])", SECTION.replace("`-", "` -"), re.MULTILINE), flag
        assert flag in taken, flag


def test_every_function_has_a_row_and_what_it_names_exists() -> None:
    functions = [one.name for one in ast.parse(SOURCE).body if isinstance(one, ast.FunctionDef)]
    assert len(functions) == 9
    rows = dict(re.findall(r"^\| `(\w+)\(.*?\| (.*) \|$", SECTION, flags=re.MULTILINE))
    assert set(rows) == {*functions, "create_bandwidth_info_str"}
    for name, now in rows.items():
        imported = re.search(r"from fastrnns_rs.inductor import (\w+)", now)
        if imported:
            assert imported[1] == name
            assert callable(getattr(fastrnns_rs.inductor, name))
        else:
            [argument] = re.findall(r"fastrnns_rs\.inductor\(MODULE, (\w+)=True\)", now)
            assert argument in fastrnns_rs.benchmark_modules.__kwdefaults__


HEURISTICS = ("pointwise", "reduction", "persistent_reduction", "foreach", "split_scan", "template")
#: Others of torch's, and what only looks like one.
OTHERS = ("cooperative_reduction", "user_autotune", "fixed_config", "pointwise_", "Pointwise", " pointwise", "")
PIECES = st.sampled_from([f"{at}triton_heuristics.{name}" for at in ("@", "") for name in (*HEURISTICS, *OTHERS)])


def test_torch_knows_the_same_heuristics() -> None:
    assert set(wrapper_benchmark._kernel_category_choices) == set(HEURISTICS)


@given(st.lists(PIECES | st.text(max_size=9), max_size=5).map("\n".join) | st.text())
def test_any_text_is_told_as_torch_tells_it(source: str) -> None:
    expected = wrapper_benchmark.get_kernel_category_by_source_code(source)
    assert kernel_categories.get_kernel_category_by_source_code(source) == expected


def module(path: Path, source: str) -> ModuleType:
    """A module of a kernel that has not run: its source is in a file."""
    path.write_text(source)
    made = ModuleType("kernel")
    made.__file__ = str(path)
    return made


@pytest.mark.parametrize("name", HEURISTICS)
def test_a_module_is_told_by_its_source_where_upstream_knows_nothing(name: str, tmp_path: Path) -> None:
    made = module(tmp_path / "kernel.py", f"@triton_heuristics.{name}(\n")
    made.triton_heuristics = triton_heuristics  # type: ignore[attr-defined]  # as generated modules import it
    assert kernel_categories.get_kernel_category(made) == name
    assert wrapper_benchmark.get_kernel_category(made) == "unknown"
    # One that imports a single heuristic is told by that.
    made = module(tmp_path / "kernel.py", "")
    setattr(made, name, None)
    assert kernel_categories.get_kernel_category(made) == wrapper_benchmark.get_kernel_category(made) == name


def test_a_module_that_tells_nothing_is_unknown(tmp_path: Path) -> None:
    assert kernel_categories.get_kernel_category(ModuleType("bare")) == "unknown"
    gone = module(tmp_path / "gone.py", "@triton_heuristics.pointwise")
    (tmp_path / "gone.py").unlink()
    assert kernel_categories.get_kernel_category(gone) == "unknown"
    gone.__file__ = "a\0b"
    assert kernel_categories.get_kernel_category(gone) == "unknown"
    two = module(tmp_path / "two.py", "")
    two.pointwise = two.reduction = None  # type: ignore[attr-defined]
    assert kernel_categories.get_kernel_category(two) == wrapper_benchmark.get_kernel_category(two) == "unknown"
    (tmp_path / "two.py").write_bytes(b"\xff\xfe @triton_heuristics.template(")
    assert kernel_categories.get_kernel_category(two) == "template"


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("triton_poi_fused_add_0", "triton_pointwise"),
        ("triton_per_fused_native_layer_norm_3", "triton_persistent_reduction"),
        ("void RNN_blockPersist_fp_LSTM<float, float, float, 128>(PersistParams)", "cudnn_rnn_persistent"),
        ("@triton_heuristics.template", "other"),
    ],
)
def test_a_name_is_told_as_a_report_tells_it(name: str, expected: str, tmp_path: Path) -> None:
    path = write(tmp_path / "trace.json", [kernel(name=name)])
    (row,) = json.loads(run_cli("report", path, "--json").stdout)["kernels"]
    assert row["category"] == expected


def test_text_that_cannot_be_encoded_is_refused() -> None:
    with pytest.raises(UnicodeEncodeError):
        _core.kernel_category_by_source("\ud800")


LONG = "triton_poi_" + "x" * 300


def ran(path: Path) -> list[tuple[str, int, int]]:
    """The device operations of a trace, with start and end, in the order in which torch goes through them."""
    events = [one for one in reference.load(path)["traceEvents"] if one.get("ph") == "X"]
    events = [one for one in events if one.get("cat") in reference.KERNELS | reference.MEMORY]
    times = [(one["name"], *map(reference.nanoseconds, (one["ts"], one["dur"]))) for one in events]
    return sorted([(name, start, start + took) for name, start, took in times], key=lambda one: (one[1], -one[2]))


def averages(path: Path) -> list[Any]:
    """The rows that torch's profiler makes of a trace, with one of the host, which does not count."""
    found: dict[str, list[int]] = defaultdict(list)
    for name, start, end in ran(path):
        found[name].append(end - start)
    rows = [("aten::mm", 9, 9e9, 5.0), *((name, len(took), sum(took) / 1000, 0.0) for name, took in found.items())]
    return [average(*row, device=index > 0) for index, row in enumerate(rows)]


def average(key: str, count: int, device_us: float, cpu_us: float, *, device: bool = False) -> Any:
    from torch.autograd import DeviceType  # type: ignore[attr-defined]

    times = {"self_device_time_total": device_us, "self_cpu_time_total": cpu_us}
    kind = DeviceType.CUDA if device else DeviceType.CPU
    return SimpleNamespace(key=key, count=count, **times, device_type=kind, is_legacy=False)


def torch_says(
    events: Any, name: str, wall_time_ms: float, runs: int, capsys: pytest.CaptureFixture[str], device: str = "cuda"
) -> str:
    from torch._inductor.wrapper_benchmark import parse_profile_event_list as upstream

    capsys.readouterr()
    upstream(name, events, wall_time_ms, runs, device)
    return capsys.readouterr().out


def assert_like_torchs(
    path: Path, name: str, wall_time_ms: float, runs: int, capsys: pytest.CaptureFixture[str]
) -> None:
    """What is said of a trace, and what the function under torch's name prints of the rows that torch makes of it."""
    expected = torch_says(averages(path), name, wall_time_ms, runs, capsys)
    entry = read(path, inductor=Inductor(wall_time_ms=wall_time_ms, runs=runs, name=name)).document.inductor
    assert upstream_text(entry, "cuda") + "\n" == expected
    parse_profile_event_list(name, averages(path), wall_time_ms, runs, "cuda")
    assert capsys.readouterr().out == expected


@pytest.mark.parametrize("seed", range(12))
def test_the_text_is_torchs_own(seed: int, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    dice = random.Random(seed)
    path = write(tmp_path / "x.json", by_dice(seed, dice.choice([1, 20, 500])))
    wall_time_ms = dice.choice([0.001, 1.0005, 2.5, 333.3333, dice.random()])
    assert_like_torchs(path, "bench", wall_time_ms, dice.choice([1, 3, 7, 100]), capsys)


@pytest.mark.parametrize("path", captures("kineto/*.json*"))
def test_the_text_of_a_capture_from_the_field_is_torchs_own(path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert_like_torchs(path, path.name, 12.3456, 3, capsys)


EDGES = {
    "nothing": [call(), operator()],
    "one": [kernel("triton_red_fused_sum_0", 1, 2)],
    "no_time": [kernel("triton_poi_a", 1, 0), kernel("b", 2, 0)],
    # In the file the last to run stands first, and by the alphabet too.
    "ties": [kernel(f"triton_per_{name}", start, 3) for name, start in (("a", 9), ("z", 1), ("c", 5), ("b", 13))],
    "ties_at_once": [kernel("k", 5, 1), kernel("a", 1, 2, stream=1), kernel("b", 1, 3, stream=2), kernel("a", 4, 1)],
    "ties_with_copies": [copy("HtoD", 8, 2), kernel("zz", 20, 2), copy("DtoH", 1, 2), kernel("aa", 4, 2)],
    "more_than_there_is": [kernel("a", 0, 900, stream=stream) for stream in range(4)],
    "long_names": [kernel(LONG, 1, 2), kernel("y" * 121, 5, 7), kernel("y" * 120 + "z", 15, 7)],
    "names_like_numbers": [kernel("1e5", 1, 2), kernel("nan", 5, 7), kernel(" x ", 15, 1), kernel("", 17, 1)],
    "of_triton": [kernel("triton_", 1, 1), kernel("triton_tem_mm", 2, 1), kernel("Triton_poi", 3, 1)],
    "large": [kernel("a", 0, 6e11), kernel("b", 7e11, 0.001)],
}


@pytest.mark.parametrize("name", EDGES)
@pytest.mark.parametrize("wall_time_ms", [0.000001, 0.01, 1234.5678])
def test_the_text_of_the_unusual_is_torchs_own(
    name: str, wall_time_ms: float, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert_like_torchs(write(tmp_path / "x.json", EDGES[name]), "None", wall_time_ms, 3, capsys)


def test_on_a_cpu_the_kernels_are_told_where_torch_tells_zeros(capsys: pytest.CaptureFixture[str]) -> None:
    given = [("aten::mm", 4, 0, 600.0), ("cpp_fused_add_0", 2, 0, 1000.0), ("aten::empty", 2, 0, 0)]
    events = [average(*one) for one in given]
    zeros = torch_says(events, "bench", 1.0, 2, capsys, "")
    assert "No device detected" in zeros
    assert zeros.endswith("bench, 0.00%, 0.00%, 0.00%, 0.00%, 0.00%, 0.00%, 1.000ms\n")
    parse_profile_event_list("bench", events, 1.0, 2, "")
    said = capsys.readouterr().out
    assert re.findall(r"== (\w+) category kernels ==", said) == ["cpp", "operator"]
    assert re.search(r"^cpp_fused_add_0 +0\.5 +1 +50\.00%$", said, re.MULTILINE)
    assert re.search(r"^aten::mm +0\.3 +2 +30\.00%$", said, re.MULTILINE)
    assert "aten::empty" not in said, "it took no time"
    assert "Kernel             Self CPU TIME (ms)" in said
    assert "\nPercent of time when CPU is busy: 80.00%\nTotal wall time 1.000 ms\n" in said
    assert said.endswith("\nOutput for tabulate: bench, 0.00%, 0.00%, 0.00%, 0.00%, 80.00%, 80.00%, 1.000ms\n")
    ran = operations(("aten::mm", "operator", 4, 600_000), ("cpp_fused_add_0", "cpp", 2, 1_000_000))
    entry = view(ran, 1e6, 2, "bench")
    assert upstream_text(entry, "cpu") + "\n" == said
    assert entry.busy_fraction == pytest.approx(0.8)


HOSTILE = ["\x1b[31mred", "triton_poi_\n\r\x07line", "a\u202eb", "tab\there", "\ud800"]


def profiled_row(folder: Path, **more: Any) -> ModuleRow:
    """A row of a CUDA module whose kernels have names that would move a cursor."""
    trace = write(folder / "trace.json", [kernel(name, 10 * at, 3) for at, name in enumerate(HOSTILE)])
    module = folder / "mod\x1b[2Jule.py"
    module.write_text("    compiled_module_main('na\x1bme', lambda times, repeat: 0)\n")
    top = [
        {"name": name * 30, "input_shapes": "[[3]]" * 30, "count": 6, "self_device_ns": 1, "self_cpu_ns": 2}
        for name in HOSTILE
    ]
    ran = operations(*((name, choose_category(name), 6, 3000) for name in HOSTILE))
    made = row(module, [1000, 1000, 1000], "cuda:0")
    return replace(made, **{**parts(made, trace, {"top": top, "runs": 6, "operations": ran}), **more})


def test_nothing_moves_the_cursor(tmp_path: Path) -> None:
    text = profile_text(profiled_row(tmp_path, trace_path="/x/\x1b[2J.gz"))
    assert all(line.isprintable() for line in text.split("\n"))
    text.encode()
    shown = (r"\x1b[31mred", r"triton_poi_\n\r\x07line", r"a\u{202e}b", r"mod\x1b[2Jule", r"\x1b[2J.gz", r"na\x1bme")
    assert [part for part in shown if part not in text] == []
    assert profile_text(profiled_row(tmp_path, profile=None)) == ""


def test_our_tables_are_of_one_call(tmp_path: Path) -> None:
    top = TopRow(name="aten::mm", input_shapes="[[2, 3]]", count=12, self_device_ns=12_000_000, self_cpu_ns=3_000_000)
    category = CategoryRow(name="gemm", count=5, total_ns=15_000, kernel_time_fraction=0.25)
    text = profile_text(profiled_row(tmp_path, top=[top], categories=[category]))
    assert re.search(r"^aten::mm +\[\[2, 3\]\] +2 +2\.000 +500\.0$", text, re.MULTILINE)
    assert "own CUDA ms  own CPU µs" in text
    assert "profile of 6 calls" in text
    assert re.search(r"^gemm +0\.833333 +2\.500 +25\.0 %$", text, re.MULTILINE)


@pytest.mark.parametrize(("category", "noted"), [("cpp", False), ("operator", True), (None, True)])
def test_a_cpu_module_without_kernels_says_what_hides_them(category: str | None, noted: bool, tmp_path: Path) -> None:
    told = [{"name": "x", "category": category, "count": 6, "total_ns": 60}] if category else []
    row = profiled_row(tmp_path, device="cpu", profile=view(told, 100.0, 6, "bench"), categories=[], top=[])
    assert ("enable_kernel_profile" in profile_text(row)) is noted
    assert "enable_kernel_profile" not in profile_text(profiled_row(tmp_path))
