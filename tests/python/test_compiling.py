"""What compiling costs and computes: what is recorded, how long it may take, where its files are. It takes long."""

from __future__ import annotations

import random
import re
import warnings
from dataclasses import replace
from pathlib import Path
from typing import Any

import profile_commands
import pytest
from conftest import FACTS, TINY, Done, run_cli
from models_under_test import Outcome, problem_of, run_once
from processes import left_of
from profile_commands import QUICK

from fastrnns_rs.documents.run_file import Run
from fastrnns_rs.errors import UsageError
from fastrnns_rs.machine import environment
from fastrnns_rs.models.compiled import FIRST_RIGHT_SCAN
from fastrnns_rs.processes.worker_setting import Setting
from fastrnns_rs.runners import registry
from fastrnns_rs.runners.plan import Choice, Options
from fastrnns_rs.verbs.bench.bench_plan import BenchPlan, plan_bench
from fastrnns_rs.verbs.bench.compile_limits import compiling
from fastrnns_rs.verbs.bench.effort import Effort
from fastrnns_rs.verbs.bench.resumption import resumed
from fastrnns_rs.verbs.bench.run_init import new_run

RUNNERS = Path(__file__).parent / "compiled_runners.py"
FEW = ["--nloops", "6", "--warmup", "1", "--processes", "1", "--threads", "1", "--device", "cpu", *TINY]


def compiled(*names: str, flags: list[str], **variables: str) -> Done:
    given = ["--runner-file", RUNNERS, "--group", "rnns", "--rnns", *names, *flags, *FEW, "--json"]
    return run_cli("bench", *given, **variables)


def compile_line(done: Done) -> str:
    """Compile times below the table of a run."""
    _, mark, rest = Run.from_dict(done.json()).render(wide=True, width=1000).partition("\ncompile time: ")
    assert mark
    return rest.partition("\n")[0]


@pytest.fixture(scope="module")
def planted(tmp_path_factory: pytest.TempPathFactory) -> tuple[Done, Path, str]:
    """One run of every planted runner; its temporary folder, and the mark of what it starts."""
    place = tmp_path_factory.mktemp("planted")
    mark = f"{random.randrange(10**5, 10**6)}.5"
    names = ["whole", "broken_graph", "compiles_again", "never_compiled"]
    variables = {"TMPDIR": str(place), "PLANTED_MARK": mark, "PLANTED_FOLDERS": str(place / "folders")}
    # Time enough for the others on a busy machine.
    return compiled(*names, flags=["--compile-timeout", "15"], **variables), place, mark


@pytest.mark.long("inductor")
def test_compiling_is_timed_counted_and_warned_of(planted: tuple[Done, Path, str]) -> None:
    done = planted[0]
    rows = {row["runner"]: row["processes"][0]["compile"] for row in done.json()["results"]}
    found = [rows[name] for name in ("whole", "broken_graph", "compiles_again")]
    assert all(one["cold_ns"] > one["warm_ns"] > 0 for one in found)
    assert [one["graph_breaks"] for one in found] == [0, 1, 0]
    # Calls 3 to 9 are the loop: they are given 1, 2 and 3.
    assert [one["recompilations"] for one in found] == [0, 0, 3]
    shown = compile_line(done)
    assert all(part in shown for part in ("1 graph break", "compiles_again", "3 recompilations"))
    evidence = {one["code"]: one["evidence"] for one in done.json()["warnings"]}
    assert (evidence["recompiled"], evidence["graph_breaks"]) == (
        "compiles_again: 3 recompilations",
        "broken_graph: 1 graph break",
    )


@pytest.mark.long("inductor")
def test_a_runner_past_its_time_to_compile_is_a_row_that_says_so(planted: tuple[Done, Path, str]) -> None:
    done, place, mark = planted
    rows = {row["runner"]: row for row in done.json()["results"]}
    assert done.status == 1
    assert rows["never_compiled"]["status"] == "timed_out"
    assert rows["never_compiled"]["reason"] == "compiling took longer than 15 s: give --compile-timeout"
    assert [rows[name]["status"] for name in ("whole", "broken_graph", "compiles_again")] == ["ok"] * 3
    assert not left_of(mark)
    assert done.json()["plan"]["compile_timeout_s"] == 15
    # Each worker has a folder of its own that does not stay.
    (line,) = (place / "folders").read_text().splitlines()
    inductor, triton = map(Path, line.split())
    assert inductor.parent == triton.parent
    assert inductor.parent.parent == place
    assert list(place.glob("fastrnns-rs-compile-*")) == []


@pytest.mark.long("inductor")
def test_a_folder_that_is_given_is_shared_and_stays(tmp_path: Path) -> None:
    folders, cache = tmp_path / "folders", tmp_path / "cache"
    flags = ["--compile-cache", str(cache)]
    run = compiled("whole", flags=flags, PLANTED_FOLDERS=str(folders)).json()
    assert folders.read_text().split() == [str(cache / "inductor"), str(cache / "triton")]
    assert cache.is_dir()
    found = run["results"][0]["processes"][0]["compile"]
    assert found["cold_ns"] is None
    assert found["warm_ns"] > 0
    assert run["plan"]["compile_cache"] == str(cache)


@pytest.mark.long("inductor")
def test_profile_compiles_before_the_capture_in_a_folder_of_its_own(tmp_path: Path) -> None:
    folders = tmp_path / "folders"
    asked = ["--torch", "--runner-file", RUNNERS, "--rnns", "whole", *QUICK, "--warmup", "1", "--nloops", "5"]
    words = [*asked, "--output-dir", tmp_path / "out"]
    done = profile_commands.profile_cli(*words, TMPDIR=str(tmp_path), PLANTED_FOLDERS=str(folders))
    assert done.status == 0, done.stderr
    (line,) = folders.read_text().splitlines()
    assert Path(line.split()[0]).parent.parent == tmp_path
    assert list(tmp_path.glob("fastrnns-rs-compile-*")) == []


@pytest.mark.long("inductor")
def test_without_a_compiler_the_row_names_one(tmp_path: Path) -> None:
    done = compiled("needs_compiler", flags=[], PATH=str(tmp_path), CXX="")
    (row,) = done.json()["results"]
    assert row["reason"] == "torch.compile needs a C++ compiler, such as g++, and none was found"


def plan_of(name: str, **options: Any) -> BenchPlan:
    if name == "whole":
        registry.load_file(str(RUNNERS))
    asked = Options(choice=Choice(groups=(), names=[name]), quick=True, device="cpu", **options)
    return plan_bench(asked, Effort(order_seed=5), FACTS, Setting())


@pytest.mark.parametrize("error", [KeyboardInterrupt, OSError])
def test_the_folder_is_gone_however_the_worker_ends(error: type[BaseException]) -> None:
    plan = plan_of("whole")
    with pytest.raises(error), compiling(plan.tasks[0], plan) as arranged:
        folder = Path(arranged.setting.variables["TORCHINDUCTOR_CACHE_DIR"]).parent
        assert (folder.is_dir(), arranged.shared) == (True, False)
        raise error
    assert not folder.exists()
    # One of one side alone is not ours to replace.
    task = replace(plan.tasks[0], setting=Setting(variables={"TORCHINDUCTOR_CACHE_DIR": "/elsewhere"}))
    with compiling(task, plan) as arranged:
        assert (arranged.setting.variables["TORCHINDUCTOR_CACHE_DIR"], arranged.shared) == ("/elsewhere", True)


def test_a_runner_that_compiles_nothing_has_neither_folder_nor_limit() -> None:
    plan = plan_of("py")
    with compiling(plan.tasks[0], plan) as arranged:
        assert arranged == (plan.tasks[0].setting, False, {})


def test_a_run_is_resumed_with_its_own_limit_and_folder(tmp_path: Path) -> None:
    plan = plan_of("py")
    run = new_run(plan, environment.describe(FACTS, Setting()), ["test"])
    for options in ({"compile_timeout": 7.0}, {"compile_cache": str(tmp_path)}):
        with pytest.raises(UsageError, match="compile_"):
            resumed(run, plan_of("py", **options), run)


@pytest.mark.parametrize(
    "given",
    [
        *({"compile_timeout": seconds} for seconds in (0, -1, float("nan"), float("inf"), True, "3")),
        *({"compile_cache": folder} for folder in ("", "a\0b", f"{__file__}/below")),
    ],
)
def test_a_limit_or_a_folder_that_cannot_be_is_refused(given: dict[str, Any]) -> None:
    [(name, value)] = given.items()
    with pytest.raises(UsageError, match=re.escape(f"{value!r} ({name})")) as raised:
        plan_of("py", **given)
    # The reason of the system has no path of its own.
    assert raised.value.message.endswith(": Not a directory") is str(value).endswith("below")


torch = pytest.importorskip("torch")

SIZES = {"seq_length": 3, "input_size": 4, "hidden_size": 8, "mini_batch": 2}
#: With float64 a difference is one of mathematics.
LAYERS = {"compile_scan": 1, "compile_unrolled": 1}


@pytest.fixture(scope="module")
def outcomes() -> dict[str, Outcome]:
    """One process and one folder for all: what they share is compiled once."""
    from torch._inductor.utils import fresh_cache

    with warnings.catch_warnings(), fresh_cache():
        # The compiler's own, which differ from version to version.
        warnings.simplefilter("ignore")
        found = {name: run_once(name, num_layers=LAYERS[name], dtype="float64", **SIZES) for name in LAYERS}
    torch.compiler.reset()
    return found


@pytest.mark.long("models")
@pytest.mark.parametrize("name", LAYERS)
def test_they_compute_what_nn_lstm_computes(outcomes: dict[str, Outcome], name: str) -> None:
    reference = run_once("cudnn", num_layers=LAYERS[name], dtype="float64", **SIZES)
    found = outcomes[name]
    assert found.output.shape == reference.output.shape
    torch.testing.assert_close(found.output, reference.output, rtol=1e-12, atol=1e-12)
    torch.testing.assert_close(list(found.states), list(reference.states), rtol=1e-12, atol=1e-12)
    assert len(found.gradients) == len(reference.gradients)
    torch.testing.assert_close(found.gradients, reference.gradients, rtol=1e-11, atol=1e-12)


@pytest.mark.long("inductor")
def test_compiling_ends_before_the_loop_begins_and_files_save_most_of_it() -> None:
    few = ["--nloops", "3", "--warmup", "1", "--processes", "1", "--threads", "1", "--device", "cpu", *TINY, "--json"]
    done = run_cli("bench", "--group", "rnns", "--rnns", "compile_cell", *few)
    assert done.status == 0, done.stderr
    (process,) = done.json()["results"][0]["processes"]
    cost, first = process["compile"], process["first_call"]
    assert cost["graph_breaks"] == cost["recompilations"] == 0
    assert first["forward_ns"] + first["backward_ns"] < cost["warm_ns"] < cost["cold_ns"] / 2
    assert all(part in compile_line(done) for part in ("compile_cell", "cold", "warm"))


def test_a_scan_is_not_trained_where_its_gradients_are_wrong(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(torch, "__version__", torch.torch_version.TorchVersion("2.12.1+cu130"))
    creator = registry.find("compile_scan").creator
    with pytest.raises(RuntimeError, match=r"torch 2\.12\.1\+cu130 computes wrong gradients of scan: use torch 2\.13"):
        creator(problem_of("compile_scan", device="cpu"))
    assert creator(problem_of("compile_scan", device="cpu", mode="inference")).backward is not None
    monkeypatch.setattr(torch, "__version__", torch.torch_version.TorchVersion(FIRST_RIGHT_SCAN))
    assert creator(problem_of("compile_scan", device="cpu")).backward is not None


@pytest.mark.gpu(emulated="long")
@pytest.mark.skipif(torch.__version__ < FIRST_RIGHT_SCAN, reason="torch computes wrong gradients of scan")
def test_weights_inside_a_scan_share_no_memory() -> None:
    """cuDNN makes them views of one buffer, and Dynamo refuses inputs of `scan` that share memory."""
    model = registry.find("compile_scan").creator(problem_of("compile_scan", device="cuda"))
    storages = [one.untyped_storage().data_ptr() for one in model.params]
    assert len({*storages}) == len(storages) > 1
