"""Every runner of ours computes what it claims to: in both precisions, and in the modes that it has."""

from __future__ import annotations

from typing import Any

import pytest
import torch
from conftest import run_cli
from models_under_test import OURS, QUICK

from fastrnns_rs.models.compiled import FIRST_RIGHT_SCAN
from fastrnns_rs.runners.registry import find
from fastrnns_rs.runners.runner import EAGER
from fastrnns_rs.worker.verification.references import KNOWN

#: Compiled ones take a quarter of a minute each, and have a test and a process of their own below.
COMPILED = [name for name in OURS if find(name).compiles]


#: A runner of each family, and of each way in which ours are written: these are verified with every change.
FEW = ["cudnn", "jit_premul", "py", "vl_jit", "gru_jit", "rnn_tanh_cudnn", "milstm_jit", "resnet18"]


def verified(*flags: str) -> dict[str, Any]:
    """The rows of a verification, by runner."""
    done = run_cli("verify", "--device", "cpu", "--json", *flags)
    return {row["runner"]: row for row in done.json()["results"]}


@pytest.fixture(scope="module", params=["float32", "float64"])
def rows(request: pytest.FixtureRequest) -> dict[str, Any]:
    return verified("--dtype", request.param, "--rnns", *QUICK)


@pytest.mark.long("models")
def test_a_runner_of_each_family_is_right() -> None:
    assert {find(name).family for name in FEW} == {find(name).family for name in QUICK}
    rows = verified("--dtype", "float64", "--rnns", *FEW)
    assert {name: row["reason"] for name, row in rows.items() if row["status"] != "ok"} == {}
    assert rows.keys() == {*FEW}


@pytest.mark.long("models")
@pytest.mark.parametrize("name", QUICK)
def test_a_runner_is_right(rows: dict[str, Any], name: str) -> None:
    row = rows[name]
    assert row["status"] == "ok", row["reason"]
    names = {check["name"].partition(":")[0].partition("[")[0] for check in row["checks"]}
    wanted = {"input", "parameter", "output"} | (set() if find(name).images else {"state"})
    assert names == wanted | (set() if name == "cudnn_layernorm" else {"gradient"})


@pytest.mark.long("models")
@pytest.mark.parametrize("name", COMPILED)
def test_a_compiled_runner_is_right(name: str) -> None:
    if name == "compile_scan" and torch.__version__ < FIRST_RIGHT_SCAN:
        pytest.skip("torch computes wrong gradients of scan")
    row = verified("--rnns", name, "--seqLength", "4")[name]
    # What the machine has not, a compiler or a GPU, is said.
    assert row["status"] == "ok", row["reason"]


@pytest.mark.gpu(emulated="long", arithmetic=True)
@pytest.mark.parametrize("name", [name for name in OURS if find(name).devices == ("cuda",)])
def test_a_runner_of_cuda_alone_is_right(name: str) -> None:
    done = run_cli("verify", "--device", "cuda", "--json", "--rnns", name)
    assert done.json()["results"][0]["status"] == "ok", done.json()["results"][0]["reason"]


@pytest.mark.parametrize("name", OURS)
def test_every_runner_names_a_reference_that_there_is(name: str) -> None:
    """No runner is exempt."""
    reference = find(name).reference
    assert reference is not None, f"{name} names no reference"
    if reference == EAGER:
        assert find(name.rpartition("_")[0]).reference != EAGER
    else:
        assert reference in KNOWN
        assert find(name).family != "lstm" or "LSTM" in reference


@pytest.mark.long("models")
@pytest.mark.parametrize(("flags", "noted"), [(["--mode", "inference"], True), (["--amp"], False)])
def test_modes_are_right(flags: list[str], noted: bool) -> None:
    names = ["cudnn", "jit", "jit_simple", "py", "jit_layernorm", "resnet18"]
    rows = verified(*flags, "--rnns", *names)
    # Without AVX-512 oneDNN has no LSTM in bfloat16.
    if flags == ["--amp"] and not torch.ops.mkldnn._is_mkldnn_bf16_supported():
        assert "LSTM forward propagation primitive" in rows.pop("cudnn")["reason"]
    for name, row in rows.items():
        assert row["status"] == "ok", (name, row["reason"])
        assert (row["reason"] == "inference: outputs and states only") is noted
        assert (noted or name == "resnet18") is (row["reason"] is not None)


@pytest.mark.long("models")
@pytest.mark.parametrize(
    ("variant", "flags"), [("bidirectional", ["--bidirectional"]), ("proj_size", ["--proj-size", "5"])]
)
def test_variants_are_right_where_a_runner_has_them(variant: str, flags: list[str]) -> None:
    names = [name for name in QUICK if variant in find(name).honours]
    if not names:
        pytest.skip(f"no runner honours {variant}")
    for name, row in verified(*flags, "--dtype", "float64", "--rnns", *names).items():
        assert row["status"] == "ok", (name, row["reason"])
