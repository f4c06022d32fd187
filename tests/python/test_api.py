"""What `import fastrnns_rs` offers."""

from __future__ import annotations

import signal
import subprocess
import sys
import textwrap
import threading
import time
from pathlib import Path
from typing import Any

import planted_runners
import pytest
import run_files
import torch
from test_upstream_faults_models import UpstreamModelDef

import fastrnns_rs
from fastrnns_rs import MissingError, ModelDef, Problem, Run, UsageError
from fastrnns_rs.api.run_saver import RunSaver
from fastrnns_rs.errors import RunnerError
from fastrnns_rs.machine import environment
from fastrnns_rs.runners import registry
from fastrnns_rs.worker.torch_settings import cuda_device_count

TINY = {"seq_length": 3, "input_size": 4, "hidden_size": 5, "mini_batch": 2, "device": "cpu"}
TINY |= {"nloops": 6, "warmup": 1, "processes": 1, "order_seed": 0}


@pytest.mark.usefixtures("_no_torch")
def test_bench_takes_names_functions_and_groups() -> None:
    run = fastrnns_rs.bench(["cudnn", planted_runners.sound], **TINY)
    assert isinstance(run, Run)
    assert [result.runner for result in run.results] == ["cudnn", "sound"]
    assert run.status == "complete"
    assert run["cudnn"].problem.hidden_size == 5
    forward = run["cudnn"].forward
    assert forward.ci_low_ns <= forward.median_ns == forward.estimate_ns <= forward.ci_high_ns
    assert run.to_dict()["results"][0]["forward"]["n_samples"] == 6
    assert [result.runner for result in fastrnns_rs.bench("py", **TINY).results] == ["py"]


@pytest.mark.usefixtures("_no_torch")
def test_a_failure_is_a_result_not_an_exception() -> None:
    run = fastrnns_rs.bench(planted_runners.exits, **TINY)
    assert run.status == "failed"
    assert run["exits"].reason == "the process exited with status 3 before it had a result"


def test_mistakes_are_named() -> None:
    with pytest.raises(UsageError, match=r"unknown runner: 'cudn' \(runners\)\. Use 'cudnn'\."):
        fastrnns_rs.bench("cudn")
    with pytest.raises(ValueError, match=r"out of range: 0 \(nloops\)"):
        fastrnns_rs.bench("cudnn", nloops=0)
    with pytest.raises(UsageError, match="not a runner: problem_of"):
        from models_under_test import problem_of

        fastrnns_rs.bench([problem_of])
    with pytest.raises(UsageError, match="unknown group: 'rnn'"):
        fastrnns_rs.bench(groups="rnn")
    with pytest.raises(UsageError, match=r"invalid value: 1.5 \(groups\)"):
        fastrnns_rs.bench(groups=1.5)  # type: ignore[arg-type]
    if not cuda_device_count():
        with pytest.raises(MissingError, match="device not available: 'cuda'"):
            fastrnns_rs.bench("cudnn", device="cuda")


def script(folder: Path, text: str) -> subprocess.CompletedProcess[str]:
    path = folder / "mine.py"
    path.write_text(textwrap.dedent(text))
    return subprocess.run([sys.executable, path], capture_output=True, text=True, timeout=120, check=False, cwd="/")


@pytest.mark.long("bench")
def test_a_script_may_define_and_bench_its_own_runner(tmp_path: Path) -> None:
    (tmp_path / "neighbour.py").write_text("FACTOR = 3")
    done = script(
        tmp_path,
        """
        import neighbour
        import fastrnns_rs

        @fastrnns_rs.runner("mine")
        def mine(problem):
            import torch
            weight = torch.ones(problem.hidden_size, requires_grad=True)
            return fastrnns_rs.ModelDef(
                inputs=[weight], params=[weight], forward=lambda w: (w * neighbour.FACTOR).sum(),
                backward=lambda output: output.backward(),
            )

        if __name__ == "__main__":
            run = fastrnns_rs.bench([mine, "cudnn"], quick=True, device="cpu")
            print(run.status, [(one.runner, one.group, one.status) for one in run.results])
        """,
    )
    assert done.stdout == "complete [('mine', 'custom', 'ok'), ('cudnn', 'lstm', 'ok')]\n", done.stderr


@pytest.mark.long("bench")
def test_a_script_without_a_guard_does_not_start_workers_for_ever(tmp_path: Path) -> None:
    done = script(
        tmp_path,
        """
        import fastrnns_rs

        @fastrnns_rs.runner("mine")
        def mine(problem):
            raise AssertionError

        run = fastrnns_rs.bench(mine, quick=True, device="cpu")
        print(run["mine"].reason)
        """,
    )
    assert "bench: a worker process imports the file of the runner" in done.stdout


@pytest.mark.long("bench")
@pytest.mark.usefixtures("_no_torch")
def test_the_memory_of_a_worker_is_its_own() -> None:
    """Not that of the process that started it."""
    ballast = bytearray(3_000_000_000)
    peak = fastrnns_rs.bench("cudnn", **TINY)["cudnn"].processes[0].peak_memory_bytes
    assert 50_000_000 < peak < len(ballast) / 2


@pytest.mark.parametrize(
    "arguments",
    [
        {"runners": 5},
        {"runners": "cudnn", "dtype": torch.complex64},
        {"runners": "cudnn", "device": torch.device("meta")},
        {"runners": "cudnn", "progress": "yes"},
        {"runners": "cudnn", "device": None},
        {"runners": "cudnn", "timeout": "x"},
        {"runners": "cudnn", "seed": None},
        {"runners": "cudnn", "nloops": 1 << 40},
    ],
)
def test_wrong_types_are_usage_errors(arguments: dict[str, object]) -> None:
    with pytest.raises(UsageError):
        fastrnns_rs.bench(**arguments)


def test_a_runner_that_no_process_could_find_is_refused() -> None:
    @fastrnns_rs.runner("local")
    def local(_problem: Problem) -> ModelDef:
        raise AssertionError

    with pytest.raises(UsageError, match="runner not at the top level of a file: 'local'"):
        fastrnns_rs.bench(local)


@pytest.mark.parametrize("name", ["<stdin>", "<string>", "<python-input-0>", "ipykernel_1/2.py"])
def test_a_file_with_the_name_of_a_prompt_is_not_run(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Another user may have put it into the working directory, or made the folder of a notebook's cells."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(registry, "_runners", {**registry.all_runners()})
    text = "import fastrnns_rs\n@fastrnns_rs.runner('prompted')\ndef prompted(problem): pass\n"
    path = tmp_path / name
    path.parent.mkdir(exist_ok=True)
    path.write_text(text)
    given: dict[str, Any] = {"__name__": "__main__"}
    exec(compile(text, name if name.startswith("<") else str(path), "exec"), given)
    with pytest.raises(UsageError, match="runner not at the top level of a file: 'prompted'"):
        fastrnns_rs.bench(given["prompted"])
    with pytest.raises(UsageError, match="runner not at the top level of a file: "):
        registry.load(registry.all_runners()["prompted"].source)


def test_only_functions_are_runners() -> None:
    with pytest.raises(UsageError, match="not a function: <class"):
        fastrnns_rs.runner("callable")(planted_runners.Problem)
    fastrnns_rs.runner("twice")(lambda _problem: None)
    with pytest.raises(UsageError, match="duplicate runner: 'twice'"):
        fastrnns_rs.runner("twice")(test_only_functions_are_runners)


@pytest.mark.long("kills")
@pytest.mark.usefixtures("_no_torch")
def test_ctrl_c_carries_what_was_measured(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    ready = tmp_path / "ready"
    monkeypatch.setenv("PLANTED_READY", str(ready))

    def interrupt() -> None:
        while not ready.exists():
            time.sleep(0.05)
        signal.raise_signal(signal.SIGINT)

    # Who runs the tests in the background may have Ctrl-C ignored.
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    threading.Thread(target=interrupt, daemon=True).start()
    try:
        with pytest.raises(KeyboardInterrupt) as raised:
            fastrnns_rs.bench([planted_runners.sound, planted_runners.hangs], **TINY, timeout=60)
    finally:
        signal.signal(signal.SIGINT, before)
    assert raised.value.run.status == "interrupted"
    assert raised.value.run["sound"].status == "ok"


@pytest.mark.parametrize("names", [("bench", "cudnn"), ("ab", "cudnn", "py")])
def test_ctrl_c_before_the_first_process_carries_none(names: tuple[str, ...], monkeypatch: pytest.MonkeyPatch) -> None:
    """An `except` that reads the attribute must not fail."""

    def interrupt(*_: object, **__: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(environment, "probe", interrupt)
    with pytest.raises(KeyboardInterrupt) as raised:
        getattr(fastrnns_rs, names[0])(*names[1:], history=False, progress=False)
    assert raised.value.run is None


def test_ctrl_c_after_the_last_process_carries_the_run() -> None:
    """Such as while the sides of `ab` are compared."""
    run = run_files.run([run_files.result()])
    with pytest.raises(KeyboardInterrupt) as raised, RunSaver(None) as saver:
        saver.save(run)
        raise KeyboardInterrupt
    assert raised.value.run is run


def slow(_problem: Problem) -> ModelDef:
    return ModelDef(inputs=[], params=[], forward=lambda: time.sleep(0.01), backward=lambda _: time.sleep(0.005))


def test_trainbench_has_upstreams_seven_fields_in_milliseconds() -> None:
    found = fastrnns_rs.trainbench("slow", slow, nloops=4, warmup=1, device="cpu")
    assert found._fields == ("name", "avg_fwd", "std_fwd", "info_fwd", "avg_bwd", "std_bwd", "info_bwd")
    assert found.name == "slow"
    # It sleeps 10 and 5 ms; a busy machine may wake it late, but not by what another unit would be off.
    assert 9 < found.avg_fwd < 500
    assert 4 < found.avg_bwd < 500
    assert len(found.info_fwd) == len(found.info_bwd) == 4
    assert found.info_fwd.mean().item() == pytest.approx(found.avg_fwd)
    assert found.info_fwd.std().item() == pytest.approx(found.std_fwd)


def test_trainbench_leaves_the_random_numbers_of_the_caller() -> None:
    torch.manual_seed(7)
    expected = torch.rand(3)
    torch.manual_seed(7)
    fastrnns_rs.trainbench("py", nloops=1, warmup=1, seqLength=2, hiddenSize=4, inputSize=4, device="cpu")
    assert torch.rand(3).equal(expected)


def test_trainbench_runs_ours_by_name_and_upstreams_creators() -> None:
    sizes = {"seqLength": 3, "inputSize": 4, "hiddenSize": 5, "miniBatch": 2, "nloops": 2, "warmup": 0, "device": "cpu"}
    assert fastrnns_rs.trainbench("jit", **sizes).avg_bwd > 0
    assert fastrnns_rs.trainbench("cudnn_layernorm", **sizes)[4:] == (None, None, None)
    heard = {}

    def upstream_creator(**kwargs: object) -> ModelDef:
        heard.update(kwargs)
        return slow(None)

    fastrnns_rs.trainbench("theirs", lambda problem: upstream_creator(**problem.upstream_arguments()), **sizes, seed=0)
    given = {name: value for name, value in sizes.items() if name not in {"nloops", "warmup"}}
    assert heard == {**given, "numLayers": 1, "seed": 0}
    for mistake, message in (
        ({"nloops": 0}, "out of range: 0"),
        ({"hiddenSize": 0}, r"out of range: 0 \(hidden_size\)"),
        ({"warmup": -1}, "warmup"),
    ):
        with pytest.raises(UsageError, match=message):
            fastrnns_rs.trainbench("jit", **{**sizes, **mistake})
    with pytest.raises(RunnerError, match="no gradient"):
        fastrnns_rs.trainbench("x", planted_runners.no_gradient, **sizes)
    with pytest.raises(UsageError, match="runner 'jit_dropout' supports 2 layers or more, not 1"):
        fastrnns_rs.trainbench("jit_dropout", **sizes)
    with pytest.raises(UsageError, match="invalid value: 'coda'"):
        fastrnns_rs.trainbench("jit", **{**sizes, "device": "coda"})
    with pytest.raises(UsageError, match="out of range: -1"):
        fastrnns_rs.trainbench("jit", **sizes, seed=-1)
    if not cuda_device_count():
        with pytest.raises(MissingError, match="device not available: 'cuda'"):
            fastrnns_rs.trainbench("jit", **{**sizes, "device": "cuda"})


def test_trainbench_takes_upstreams_own_model_definition() -> None:
    weight = torch.ones(2, requires_grad=True)

    def creator(**_kwargs: object) -> object:
        def setup(y: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
            return y, torch.ones_like(y)

        return UpstreamModelDef([weight], iter([weight]), lambda w: w * 2, setup, torch.Tensor.backward)

    def adapted(problem: Problem) -> object:
        return creator(**problem.upstream_arguments())

    found = fastrnns_rs.trainbench("theirs", adapted, 3, 0, device="cpu")
    assert found.avg_bwd > 0
    assert not weight.grad.any()


def test_settings_of_the_process_are_left_as_they_were() -> None:
    before = torch.backends.cudnn.enabled, torch.backends.cudnn.allow_tf32, torch.get_num_threads()
    fastrnns_rs.trainbench(
        "aten", nloops=1, warmup=0, seqLength=2, inputSize=2, hiddenSize=2, miniBatch=2, device="cpu"
    )
    assert (torch.backends.cudnn.enabled, torch.backends.cudnn.allow_tf32, torch.get_num_threads()) == before
