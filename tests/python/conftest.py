"""What several tests need: the command, and small problems."""

from __future__ import annotations

import contextlib
import gc
import os
import random
import signal
from collections.abc import Iterator
from pathlib import Path

import pytest
from browser import _running, chromium
from commands import Done, run_cli
from facts import FACTS
from generated_modules import Modules, compiled
from gpu_tests import GpuTests, part_of, why_not
from history_guard import HistoryGuard
from hypothesis import settings
from parts import FIRST, PARTS
from processes import marked

from fastrnns_rs.machine import environment
from fastrnns_rs.verbs.history.run_history import RunHistory

__all__ = ["FACTS", "PLANTED", "ROOT", "TINY", "Done", "_running", "chromium", "run_cli"]

#: Modules whose assertions are told as those of tests are.
pytest.register_assert_rewrite("capture_files", "profile_commands", "supervised")

# The same examples in every run, on a busy machine too: a change is judged by what it does.
settings.register_profile("fixed", derandomize=True, deadline=None)
settings.load_profile("fixed")
# Other examples in every run: `scripts/test --all simulations` looks for what the fixed ones miss.
settings.register_profile("searching", derandomize=False, deadline=None, print_blob=True)

ROOT = Path(__file__).resolve().parents[2]
PLANTED = Path(__file__).parent / "planted_runners.py"
#: A problem that a CPU does in a millisecond.
TINY = ["--seqLength", "3", "--inputSize", "4", "--hiddenSize", "5", "--miniBatch", "2", "--image-size", "33"]


@pytest.fixture
def anywhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty working directory, without a `pyproject.toml` above it."""
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture
def _no_torch(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nobody asks torch what is here, which takes seconds; commands in a process of their own: see commands.py."""
    monkeypatch.setattr(environment, "probe", lambda *_, **__: FACTS)


@pytest.fixture(scope="session")
def generated_modules(tmp_path_factory: pytest.TempPathFactory) -> Modules:
    """Modules that Inductor generated on the CPU, the same for all workers."""
    base = tmp_path_factory.getbasetemp()
    return compiled(base.parent if "PYTEST_XDIST_WORKER" in os.environ else base)


@pytest.fixture(autouse=True, scope="session")
def _nothing_of_the_user(tmp_path_factory: pytest.TempPathFactory) -> Iterator[HistoryGuard]:
    """Noise floors, the history and its index are their user's: tests neither see nor replace them."""
    with pytest.MonkeyPatch.context() as patch:
        for name in ("XDG_STATE_HOME", "XDG_DATA_HOME", "XDG_CACHE_HOME"):
            patch.setenv(name, str(tmp_path_factory.mktemp(name.lower())))
        for name in [one for one in os.environ if one.startswith("FASTRNNS_") and one.endswith("_HISTORY")]:
            patch.delenv(name)
        patch.setenv("FASTRNNS_NO_HISTORY", "1")
        yield HistoryGuard()


@pytest.fixture(autouse=True)
def _keeps_no_run(_nothing_of_the_user: HistoryGuard) -> Iterator[None]:
    """A test that keeps a run names its history; see the fixture `history`."""
    yield
    _nothing_of_the_user.check()


@pytest.fixture
def history(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> RunHistory:
    """An empty history, which commands use."""
    monkeypatch.delenv("FASTRNNS_NO_HISTORY")
    monkeypatch.setenv("FASTRNNS_HISTORY", str(tmp_path / "history"))
    return RunHistory(tmp_path / "history")


@pytest.fixture
def mark() -> Iterator[str]:
    """A number of seconds that no other process sleeps for; what a failing test leaves is ended."""
    text = f"{random.randrange(10**5, 10**6)}.{random.randrange(10**11, 10**12)}"
    yield text
    for pid in marked(text):
        with contextlib.suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)


def pytest_collection_finish() -> None:
    """Keeps what is loaded by now out of garbage collections: each loop that is timed begins with one."""
    gc.collect()
    gc.freeze()


def pytest_configure(config: pytest.Config) -> None:
    # A script that starts the tests with `&` has these ignored, in all that they start too.
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)
    if signal.getsignal(signal.SIGQUIT) is signal.SIG_IGN:
        signal.signal(signal.SIGQUIT, signal.SIG_DFL)
    # That another program failed and was tried again is to be seen, and is no failure; see real_nsys.py.
    config.addinivalue_line("filterwarnings", "always:nsys failed by itself:UserWarning")
    config.pluginmanager.register(GpuTests(config.getoption("--emulated-reports")))
    if (path := config.getoption("--skipped-to")) and not hasattr(config, "workerinput"):
        config.pluginmanager.register(SkippedTests(path))


class SkippedTests:
    """Adds the name of each skipped test to a file, a line each."""

    def __init__(self, path: str) -> None:
        self._path = Path(path)

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        if report.skipped:
            with self._path.open("a", encoding="utf-8") as file:
                file.write(f"{report.nodeid}\n")


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--alone", choices=["only", "never"], help="tests that are marked alone: no others, or all others")
    parser.addoption("--skipped-to", metavar="FILE", help="add the names of skipped tests to this file")
    parser.addoption("--emulated-reports", metavar="FILE", help="of gpu_tests.py: add reports to this file")
    parser.addoption("--part", choices=PARTS, help="the tests that are marked long(PART), instead of the quick ones")


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Selects the tests of one call of scripts/test, and skips, loudly, what needs a device that is missing."""
    wanted_part, wanted_alone = config.getoption("--part"), config.getoption("--alone")
    # A test that is named on the command line runs, whatever its part.
    is_named = any("::" in word for word in config.getoption("file_or_dir") or ())

    def is_wanted(item: pytest.Item) -> bool:
        alone = item.get_closest_marker("alone")
        in_part = (is_named and wanted_part is None) or part_of(item) == wanted_part
        return in_part and (wanted_alone is None or (alone is not None) is (wanted_alone == "only"))

    others = [item for item in items if not is_wanted(item)]
    if others:
        config.hook.pytest_deselected(items=others)
        items[:] = [item for item in items if is_wanted(item)]
    items.sort(key=lambda item: FIRST.index(item.path.name) if item.path.name in FIRST else len(FIRST))
    for item in items:
        if reason := why_not(item):
            item.add_marker(pytest.mark.skip(reason=reason))
