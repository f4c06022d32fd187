"""Kernel categories by source and by name, beside torch's own."""

from __future__ import annotations

import json
from pathlib import Path
from types import ModuleType

import pytest
from conftest import run_cli
from hypothesis import given
from hypothesis import strategies as st
from kineto_traces import kernel, write
from torch._inductor import wrapper_benchmark
from torch._inductor.runtime import triton_heuristics

from fastrnns_rs import _core
from fastrnns_rs.worker.inductor import kernel_categories

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
        ("", "other"),
    ],
)
def test_a_name_is_told_as_a_report_tells_it(name: str, expected: str, tmp_path: Path) -> None:
    assert kernel_categories.get_kernel_category_by_name(name) == expected
    if name:
        path = write(tmp_path / "trace.json", [kernel(name=name)])
        (row,) = json.loads(run_cli("report", path, "--json").stdout)["kernels"]
        assert row["category"] == expected


def test_text_that_cannot_be_encoded_is_refused() -> None:
    with pytest.raises(UnicodeEncodeError):
        _core.kernel_category_by_source("\ud800")
