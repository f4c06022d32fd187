"""What several tests need: the command, and small problems."""

from __future__ import annotations

import contextlib
import json
import os
import random
import signal
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from generated_modules import Modules, compiled
from hypothesis import settings
from processes import marked

from fastrnns_rs import environment
from fastrnns_rs.environment import Facts

#: Modules whose assertions are told as those of tests are.
pytest.register_assert_rewrite("capture_files", "profile_commands", "supervised")

# The same examples in every run, on a busy machine too: a change is judged by what it does.
settings.register_profile("fixed", derandomize=True, deadline=None)
settings.load_profile("fixed")

ROOT = Path(__file__).resolve().parents[2]
PLANTED = Path(__file__).parent / "planted_runners.py"
#: What a machine without a GPU says of itself.
FACTS = Facts(
    python_version="3.12.0",
    torchvision_version=None,
    torch_version="2.15.0",
    cuda_version=None,
    cudnn_version=None,
    num_threads=2,
    device="cpu",
    cuda_device_count=0,
    no_cuda_reason="no NVIDIA GPU was found",
    dtype_problem=None,
    tf32_problem=None,
    gpus=[],
)
#: A problem that a CPU does in a millisecond.
TINY = ["--seqLength", "3", "--inputSize", "4", "--hiddenSize", "5", "--miniBatch", "2", "--image-size", "33"]


@dataclass(frozen=True)
class Done:
    """What a command printed, and its exit status."""

    status: int
    stdout: str
    stderr: str

    def json(self) -> Any:
        return json.loads(self.stdout)


def run_cli(*arguments: str | Path, cwd: Path | None = None, **variables: str) -> Done:
    """Runs `fastrnns-rs` as a person does, in a process of its own."""
    done = subprocess.run(
        [sys.executable, "-m", "fastrnns_rs", *map(str, arguments)],
        capture_output=True,
        text=True,
        cwd=cwd,
        env={**os.environ, **variables},
        timeout=600,
        check=False,
    )
    return Done(done.returncode, done.stdout, done.stderr)


@pytest.fixture
def anywhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty working directory, without a `pyproject.toml` above it."""
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture
def _no_torch(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nobody asks torch what is here, which takes seconds; commands in a process of their own: see told_commands.py."""
    monkeypatch.setattr(environment, "probe", lambda *_: FACTS)


@pytest.fixture(scope="session")
def generated_modules(tmp_path_factory: pytest.TempPathFactory) -> Modules:
    """Modules that Inductor generated on the CPU, the same for all workers."""
    base = tmp_path_factory.getbasetemp()
    return compiled(base.parent if "PYTEST_XDIST_WORKER" in os.environ else base)


@pytest.fixture(autouse=True, scope="session")
def _no_noise_floor(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """What is known of this machine's noise is its user's: tests neither see nor replace it."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("XDG_STATE_HOME", str(tmp_path_factory.mktemp("state")))
        yield


@pytest.fixture
def mark() -> Iterator[str]:
    """A number of seconds that no other process sleeps for; what a failing test leaves is ended."""
    text = f"{random.randrange(10**5, 10**6)}.{random.randrange(10**11, 10**12)}"
    yield text
    for pid in marked(text):
        with contextlib.suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)


def pytest_configure(config: pytest.Config) -> None:
    # A script that starts the tests with `&` has these ignored, in all that they start too.
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)
    if signal.getsignal(signal.SIGQUIT) is signal.SIG_IGN:
        signal.signal(signal.SIGQUIT, signal.SIG_DFL)
    # That another program failed and was tried again is to be seen, and is no failure; see real_nsys.py.
    config.addinivalue_line("filterwarnings", "always:nsys failed by itself:UserWarning")


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--alone", choices=["only", "never"], help="tests that are marked alone: no others, or all others")


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Leaves out what the other part of scripts/test runs, and skips, loudly, what needs a device that is missing."""
    if wanted := config.getoption("--alone"):
        apart: dict[bool, list[pytest.Item]] = {True: [], False: []}
        for item in items:
            apart[(item.get_closest_marker("alone") is not None) is (wanted == "only")].append(item)
        config.hook.pytest_deselected(items=apart[False])
        items[:] = apart[True]
    marked = [item for item in items if item.get_closest_marker("gpu")]
    if not marked:
        return
    from fastrnns_rs.context import cuda_device_count

    if not cuda_device_count():
        for item in marked:
            item.add_marker(pytest.mark.skip(reason="needs a CUDA device; torch.cuda.is_available() is False"))
