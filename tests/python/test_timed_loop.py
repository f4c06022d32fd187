"""Runners that the timed loop rejects, in this process."""

from __future__ import annotations

import math
import os
import sys
from collections.abc import Callable, Collection, Iterator
from contextlib import AbstractContextManager, nullcontext, suppress
from dataclasses import asdict
from pathlib import Path
from typing import Any, cast

import pytest
import torch
from torch._subclasses.fake_tensor import FakeTensorMode

from fastrnns_rs import ModelDef, Problem
from fastrnns_rs.errors import RunnerError
from fastrnns_rs.problem.jit_settings import JitSettings
from fastrnns_rs.runners import registry
from fastrnns_rs.worker import timed_loop
from fastrnns_rs.worker.channel import Progress
from fastrnns_rs.worker.finite import check_finite
from fastrnns_rs.worker.jobs import bench
from fastrnns_rs.worker.problem_tensors import check_tensors
from fastrnns_rs.worker.recorded_settings import RecordedSettings, _as_ranges
from fastrnns_rs.worker.timed_loop import Measurement, exactly, measure
from fastrnns_rs.worker.torch_settings import DETERMINISTIC, lower_precisions_on_cpu, problem_settings, tf32_allowed

ONEDNN = cast("Any", torch.backends.mkldnn)


@pytest.fixture
def threads() -> Iterator[int]:
    """The number of torch's threads, which is the same after the test."""
    found = torch.get_num_threads()
    yield found
    torch.set_num_threads(found)


@pytest.mark.parametrize("place", ["build", "forward"])
def test_a_runner_that_changes_the_threads_is_refused(place: str, threads: int) -> None:
    other = threads + 2

    def creator(_problem: Problem) -> ModelDef:
        def forward(given: torch.Tensor) -> torch.Tensor:
            if place == "forward":
                torch.set_num_threads(other)
            return given + 1

        if place == "build":
            torch.set_num_threads(other)
        return ModelDef(inputs=[torch.ones(3)], params=[], forward=forward, backward_setup=None, backward=None)

    problem = Problem(mini_batch=1, device="cpu", mode="inference")
    message = f"changed the number of torch's threads from {threads} to {other}: set the number before"
    with pytest.raises(RunnerError, match=message):
        measure(creator, problem, JitSettings(), Measurement(3), exactly(3))


@pytest.mark.parametrize(
    ("inputs", "dtype", "device", "reason"),
    [
        ([torch.ones(3)], "float64", "cpu", "inputs and parameters are float32, not float64: use problem.dtype"),
        (
            [{"x": torch.ones(3).half()}, torch.ones(3).bfloat16()],
            "float32",
            "cpu",
            "are bfloat16, float16, not float32",
        ),
        ([torch.ones(3, device="meta")], "float32", "cpu", "are on meta, not on cpu: use problem.device in the runner"),
        ([torch.ones(3).half(), (torch.ones(3), torch.ones(3, device="meta"))], "float32", "cpu", None),
        ([torch.ones(3, dtype=torch.int64)], "float16", "cpu", None),
        ([3, "text", None], "float16", "cpu", None),
    ],
)
def test_a_runner_that_ignores_the_dtype_or_the_device_is_refused(
    inputs: list[Any], dtype: str, device: str, reason: str | None
) -> None:
    """The run would record a dtype or a device that was not measured."""

    def creator(_problem: Problem) -> ModelDef:
        return ModelDef(inputs=inputs, params=[], forward=lambda *_: None)

    problem = Problem(mini_batch=1, device=device, dtype=dtype, mode="inference")
    with pytest.raises(RunnerError, match=reason) if reason else nullcontext():
        measure(creator, problem, JitSettings(), Measurement(3), exactly(3))


@pytest.mark.parametrize(
    ("device", "current", "is_ok"), [("cuda:1", 0, True), ("cuda:0", 1, False), ("cuda", 1, True), ("cuda", 0, False)]
)
def test_a_runner_on_another_device_of_the_same_kind_is_refused(
    device: str, current: int, *, is_ok: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(torch.cuda, "current_device", lambda: current)
    with FakeTensorMode():
        model = ModelDef(inputs=[torch.ones(3, device="cuda:1")], params=[], forward=lambda x: x)
    problem = Problem(mini_batch=1, device=device, mode="inference")
    with nullcontext() if is_ok else pytest.raises(RunnerError, match=f"are on cuda:1, not on {device}: use"):
        check_tensors(model, problem)


@pytest.mark.parametrize("left_out", [(), {1}])
def test_samples_of_a_running_loop_are_of_the_same_iterations(
    left_out: Collection[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    """On Ctrl-C another thread reads them."""

    class Running:
        """Stopwatch that ends another iteration whenever it is read."""

        timing_mode, resolution_ns, unjoined_ns = "cuda_events", 1, 0
        done = 3

        @property
        def iterations(self) -> int:
            self.done += 1
            return self.done

        def durations_ns(self, *_edges: int) -> list[int]:
            return [*range(self.iterations)]

        host_durations_ns = durations_ns

    monkeypatch.setattr(timed_loop, "stopwatch", lambda *_, **__: Running())
    measurement = Measurement(9)
    measurement.begin("cuda", has_backward=True)
    measurement.left_out = left_out
    found = measurement.samples()
    expected = [one for one in range(4) if one not in left_out]
    assert [found[f"{phase}_ns"] for phase in ("forward", "backward", "forward_host", "backward_host")] == [
        expected
    ] * 4


def test_large_tensors_are_checked_in_pieces(monkeypatch: pytest.MonkeyPatch) -> None:
    """On a CPU, the memory of the check is in the peak of the process."""
    sizes: list[int] = []
    real = torch.isfinite

    def isfinite(tensor: torch.Tensor) -> torch.Tensor:
        sizes.append(tensor.numel())
        return real(tensor)

    monkeypatch.setattr(torch, "isfinite", isfinite)
    shapes = [torch.ones(700, 1, 701), torch.ones(700, 701).t(), torch.ones(1).expand(700, 701), torch.ones(490_700)]
    for tensor in shapes:
        sizes.clear()
        check_finite("output", tensor)
        assert sum(sizes) == 490_700
        assert max(sizes) <= 1 << 18
    shapes[0][699, 0, 3], shapes[0][699, 0, 5] = math.nan, math.inf
    with pytest.raises(RunnerError, match=r"output holds 2 .*, the first nan at \[699, 0, 3\]"):
        check_finite("output", shapes[0])


@pytest.mark.parametrize(
    ("dtype", "amp", "is_ok"), [("float32", False, True), ("float32", True, True), ("float64", False, False)]
)
def test_the_tensors_of_a_module_count(dtype: str, *, amp: bool, is_ok: bool) -> None:
    """In inference, params may be empty, and inputs integers or a mask of another dtype."""

    def creator(_problem: Problem) -> ModelDef:
        return ModelDef(inputs=[torch.tensor([1, 2])], params=[], forward=torch.nn.Embedding(3, 4))

    problem = Problem(mini_batch=1, device="cpu", dtype=dtype, mode="inference", amp=amp)
    with nullcontext() if is_ok else pytest.raises(RunnerError, match="are float32, not float64"):
        measure(creator, problem, JitSettings(), Measurement(3), exactly(3))


def run(
    forward: Callable[[torch.Tensor], Any], context: Callable[[], AbstractContextManager[Any]] = nullcontext
) -> None:
    """Runs three iterations of a forward pass."""

    def creator(_problem: Problem) -> ModelDef:
        return ModelDef(inputs=[torch.ones(3)], params=[], forward=forward, context=context)

    problem = Problem(mini_batch=1, device="cpu", mode="inference")
    measure(creator, problem, JitSettings(), Measurement(3), exactly(3))


@pytest.fixture
def settings_restored() -> Iterator[None]:
    """The CPUs and settings of this process are the same after the test."""
    cpus = os.sched_getaffinity(0)
    yield
    os.sched_setaffinity(0, cpus)
    torch.use_deterministic_algorithms(mode=False)
    torch.set_float32_matmul_precision("highest")
    ONEDNN.conv.fp32_precision = "none"


@pytest.mark.usefixtures("settings_restored")
@pytest.mark.parametrize(
    ("change", "message"),
    [
        (
            lambda: torch.use_deterministic_algorithms(mode=True),
            "changed deterministic algorithms from off to on: set it before, as --deterministic does",
        ),
        (
            lambda: setattr(ONEDNN.matmul, "fp32_precision", "bf16"),
            "changed the precision of float32 on CPUs from float32 to bf16: leave it as it is",
        ),
        (
            lambda: setattr(ONEDNN.conv, "fp32_precision", "tf32"),
            "changed the precision of float32 on CPUs from float32 to tf32",
        ),
        pytest.param(
            lambda: os.sched_setaffinity(0, {min(os.sched_getaffinity(0))}),
            "the CPUs of the process changed from .*: set the CPUs before, as --affinity .* does",
            marks=pytest.mark.skipif(len(os.sched_getaffinity(0)) < 2, reason="needs two CPUs"),
        ),
    ],
)
def test_a_runner_that_changes_what_the_run_records_is_refused(
    change: Callable[[], None], message: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    def forward(given: torch.Tensor) -> torch.Tensor:
        change()
        return given + 1

    for name in ("OMP_PROC_BIND", "OMP_PLACES", "KMP_AFFINITY", "GOMP_CPU_AFFINITY"):
        monkeypatch.delenv(name, raising=False)
    with pytest.raises(RunnerError, match=message):
        run(forward)


def test_a_library_that_binds_threads_from_now_on_changes_no_recorded_setting(monkeypatch: pytest.MonkeyPatch) -> None:
    def forward(given: torch.Tensor) -> torch.Tensor:
        monkeypatch.setenv("KMP_AFFINITY", "granularity=fine")
        return given + 1

    for name in ("OMP_PROC_BIND", "OMP_PLACES", "KMP_AFFINITY", "GOMP_CPU_AFFINITY"):
        monkeypatch.delenv(name, raising=False)
    run(forward)


@pytest.mark.usefixtures("settings_restored")
def test_precision_that_a_file_allows_as_it_is_loaded_is_not_used() -> None:
    """The row says float32; many files allow less, for GPUs."""
    seen = []
    # As `torch.set_float32_matmul_precision` does, which sets CUDA too.
    ONEDNN.matmul.fp32_precision = "bf16"
    run(lambda given: seen.append(lower_precisions_on_cpu()) or given + 1)
    assert seen[0] == {}
    assert [*lower_precisions_on_cpu().values()] == ["bf16"]


@pytest.mark.parametrize("value", [True, False])
def test_deterministic_algorithms_of_cudnn_are_those_of_the_problem(
    value: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A file may have set them as it was loaded."""
    monkeypatch.setattr(torch.cuda, "device", lambda _device: nullcontext())
    monkeypatch.setattr(torch.backends.cudnn, "deterministic", not value)
    with problem_settings(Problem(mini_batch=1, device="cuda", deterministic=value)):
        assert torch.backends.cudnn.deterministic is value
        recorded = RecordedSettings("cuda")
        recorded.check()
        torch.backends.cudnn.deterministic = not value
        with pytest.raises(RunnerError, match="changed deterministic algorithms of cuDNN from .*deterministic does"):
            recorded.check()
    assert torch.backends.cudnn.deterministic is not value


@pytest.mark.usefixtures("settings_restored")
@pytest.mark.parametrize("mode", ["default", "warn", "error"])
def test_deterministic_algorithms_are_required_whatever_a_file_sets_as_it_is_loaded(mode: str) -> None:
    torch.set_deterministic_debug_mode(mode)
    before = torch.get_deterministic_debug_mode()
    with problem_settings(Problem(mini_batch=1, device="cpu", deterministic=True)):
        assert torch.get_deterministic_debug_mode() == DETERMINISTIC
        assert torch.utils.deterministic.fill_uninitialized_memory is False
        recorded = RecordedSettings("cpu")
        torch.use_deterministic_algorithms(mode=True, warn_only=True)
        with pytest.raises(RunnerError, match="algorithms from on to warnings only: .* --deterministic does"):
            recorded.check()
    assert torch.get_deterministic_debug_mode() == before
    assert torch.utils.deterministic.fill_uninitialized_memory is True
    with problem_settings(Problem(mini_batch=1, device="cpu")):
        assert torch.get_deterministic_debug_mode() == 0


@pytest.mark.usefixtures("settings_restored")
@pytest.mark.skipif(len(os.sched_getaffinity(0)) < 2, reason="needs two CPUs")
def test_a_file_that_changes_the_cpus_as_it_is_loaded_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("OMP_PROC_BIND", "OMP_PLACES", "KMP_AFFINITY", "GOMP_CPU_AFFINITY"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr(registry, "_runners", dict(registry.all_runners()))
    monkeypatch.setattr(sys, "path", [*sys.path])
    file = tmp_path / "pins.py"
    file.write_text(
        "import os, fastrnns_rs\n"
        "os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})\n"
        "@fastrnns_rs.runner('pins')\n"
        "def pins(problem):\n"
        "    raise NotImplementedError\n"
    )
    source = {"module": f"{registry.FILE_MODULE}pins", "file": str(file)}
    job = {"problem": asdict(Problem(mini_batch=1, device="cpu")), "threads": None, "runner": "pins", "source": source}
    with pytest.raises(RunnerError, match="the CPUs of the process changed from .* as --affinity .* does"):
        bench.answer(job, cast("Any", None), Progress())


def test_cpus_are_shown_as_ranges() -> None:
    assert [_as_ranges(one) for one in ([0], [0, 1, 2, 5], [1, 3], [*range(128)])] == ["0", "0-2,5", "1,3", "0-127"]


@pytest.mark.usefixtures("settings_restored")
@pytest.mark.parametrize("change", ["older", "newer", "precision"])
@pytest.mark.parametrize("allowed", [True, False])
def test_a_change_of_tf32_by_any_of_its_names_is_refused(change: str, allowed: bool) -> None:
    """Even if it is one of several kinds of work."""
    for kind in ("matrix products", "recurrent layers"):
        with tf32_allowed(allowed):
            recorded = RecordedSettings("cuda")
            recorded.check()
            if kind == "recurrent layers":
                cast("Any", torch.backends.cudnn).rnn.fp32_precision = "ieee" if allowed else "tf32"
            elif change == "older":
                torch.backends.cuda.matmul.allow_tf32 = not allowed
            elif change == "newer":
                torch.backends.cuda.matmul.fp32_precision = "ieee" if allowed else "tf32"
            else:
                torch.set_float32_matmul_precision("highest" if allowed else "high")
            words = ("on to off", "--no-allow-tf32") if allowed else ("off to on", "--allow-tf32")
            with pytest.raises(RunnerError, match=f"changed TF32 of {kind} from {words[0]}: .* {words[1]} does"):
                recorded.check()


def test_a_context_does_not_hide_an_error() -> None:
    """The row would be of the iterations before it, and `verify` would have checked nothing."""

    def forward(given: torch.Tensor) -> torch.Tensor:
        raise ValueError("hidden")

    with pytest.raises(ValueError, match="hidden"):
        run(forward, lambda: suppress(Exception))


async def _coroutine(given: torch.Tensor) -> torch.Tensor:
    return given + 1


@pytest.mark.filterwarnings("ignore:coroutine")
@pytest.mark.parametrize(
    ("forward", "message"),
    [
        (lambda given: (yield given), "output is a generator, whose work did not run"),
        (_coroutine, "output is a coroutine, whose work did not run"),
        (lambda given: torch.complex(given * math.nan, given), "output holds 3 values that are not finite"),
        (lambda given: torch.diag(given * math.nan).to_sparse(), "output.values holds . values that are not finite"),
        (lambda given: torch.diag(given * math.inf).to_sparse_csr(), "output.values holds . values that are not"),
        (
            lambda given: torch.nested.nested_tensor([given, given[:2] * math.nan]),
            r"output\[1\] holds 2 values that are not finite",
        ),
    ],
)
@pytest.mark.filterwarnings("ignore:.*(beta|prototype)")
def test_outputs_that_are_refused(forward: Callable[[torch.Tensor], Any], message: str) -> None:
    with pytest.raises(RunnerError, match=message):
        run(forward)


@pytest.mark.filterwarnings("ignore:.*(beta|prototype)")
@pytest.mark.parametrize(
    "forward",
    [
        lambda given: torch.complex(given, given),
        lambda given: torch.diag(given).to_sparse(),
        lambda given: torch.diag(given).to_sparse_csr(),
        lambda given: torch.nested.nested_tensor([given, given[:2]]),
        lambda given: torch.nested.nested_tensor([given, given[:2]], layout=torch.jagged),
        lambda given: given > 0,
    ],
)
def test_outputs_of_every_layout_are_checked(forward: Callable[[torch.Tensor], Any]) -> None:
    run(forward)
