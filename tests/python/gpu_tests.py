"""Tests marked `gpu`: on a GPU where there is one, else on an emulated device, in a process of its own.

`@pytest.mark.gpu` needs a GPU. `@pytest.mark.gpu(emulated="quick")` also runs on an emulated device, `emulated="long"`
only with the part `emulated` of scripts/test; `arithmetic=True` has operators computed there. The id of a test ends
with the device that it runs on: the name of the GPU, or `emulated`.

One process executes all tests of a session that run on an emulated device, and another those with arithmetic: torch
finds its devices when it is loaded. Both write pytest's reports, which this process shows as its own.
"""

from __future__ import annotations

import fcntl
import json
import os
import subprocess
import sys
from collections.abc import Iterable
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from emulated_cuda import building
from emulated_cuda.machine import Machine

EMULATED = "emulated"
_PARAMETER = "device_kind"
#: Kernels whose times tests look at: products that take longer than their launch, and traffic that memory can move.
_DURATIONS_NS = {"*gemm*": 1_000_000, "triton_*": 10_000}
_LIMIT_S = 3600
_SHOWN = 4000


@cache
def device_kind() -> str | None:
    """Returns the name of the GPU, `emulated` in a process that has emulated devices, or None."""
    if "EMULATED_CUDA" in os.environ:
        return EMULATED
    import torch

    from fastrnns_rs.worker.torch_settings import cuda_device_count

    return torch.cuda.get_device_name(0) if cuda_device_count() else None


def part_of(item: pytest.Item) -> str | None:
    """Returns the part of scripts/test that a test belongs to; None for quick tests."""
    gpu, long = _mark_of(item), item.get_closest_marker("long")
    if gpu is not None and gpu.kwargs.get("emulated") and _kind_of(item) == EMULATED:
        return "emulated" if gpu.kwargs["emulated"] == "long" else None
    return long.args[0] if long else None


def few(
    kept: Iterable[str], values: Iterable[str], *, only_gpu: Iterable[str] = (), arithmetic: bool = False
) -> list[Any]:
    """Values of a parameter of a test marked `gpu(emulated="long")`.

    Args:
        kept: Those that are quick on an emulated device.
        values: All of them.
        only_gpu: Those that need a GPU.
        arithmetic: As of the test.
    """
    quick, gpu = pytest.mark.gpu(emulated="quick", arithmetic=arithmetic), pytest.mark.gpu
    marks = {**dict.fromkeys(only_gpu, gpu), **dict.fromkeys(kept, quick)}
    return [pytest.param(one, marks=marks[one]) if one in marks else one for one in values]


def fuser_on(kind: str) -> str:
    """Returns TorchScript's fuser of a device: nothing computes the kernels of one on an emulated device."""
    return "none" if kind == EMULATED else "te"


def why_not(item: pytest.Item) -> str | None:
    """Returns why a test marked `gpu` is skipped."""
    gpu = _mark_of(item)
    if gpu is None or _is_elsewhere(item):
        return None
    if device_kind() is None:
        return "needs a CUDA device; torch.cuda.is_available() is False"
    if device_kind() == EMULATED and not gpu.kwargs.get("emulated"):
        return "needs a GPU, not an emulated device"
    if device_kind() == EMULATED and gpu.kwargs.get("arithmetic") and not _computes():
        return "needs an emulated device with arithmetic"
    return None


class GpuTests:
    """A plugin that names the device of tests, and runs those of an emulated device in their own process."""

    def __init__(self, reports_to: str | None) -> None:
        self._reports_to = reports_to
        self._reports: dict[bool, dict[str, list[Any]]] = {}

    @pytest.fixture
    def device_kind(self, request: pytest.FixtureRequest) -> str:
        """The device that a test marked `gpu` runs on."""
        kind: str = request.param
        return kind

    @pytest.hookimpl(trylast=True)
    def pytest_generate_tests(self, metafunc: pytest.Metafunc) -> None:
        mark = metafunc.definition.get_closest_marker("gpu")
        if mark is None:
            return
        kind = device_kind() or (EMULATED if mark.kwargs.get("emulated") and building.compiler() else None)
        if kind is not None:
            if _PARAMETER not in metafunc.fixturenames:
                metafunc.fixturenames.append(_PARAMETER)
            metafunc.parametrize(_PARAMETER, [kind], indirect=True)

    def pytest_runtest_protocol(self, item: pytest.Item, nextitem: pytest.Item | None) -> bool | None:
        if not _is_elsewhere(item):
            return None
        computes = _wants_arithmetic(item)
        if computes not in self._reports:
            wanted = [one for one in item.session.items if _is_elsewhere(one) and _wants_arithmetic(one) == computes]
            self._reports[computes] = _executed(item.config, wanted, computes=computes)
        item.ihook.pytest_runtest_logstart(nodeid=item.nodeid, location=item.location)
        for data in self._reports[computes].get(item.nodeid, []):
            report = item.config.hook.pytest_report_from_serializable(config=item.config, data=data)
            if report.skipped:
                # JSON made a list of it, and `pytest -rs` wants a tuple.
                report.longrepr = tuple(report.longrepr)
            item.ihook.pytest_runtest_logreport(report=report)
        item.ihook.pytest_runtest_logfinish(nodeid=item.nodeid, location=item.location)
        # The test before left what it shares with this one, and so perhaps not with the next.
        item.session._setupstate.teardown_exact(nextitem)
        return True

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        if self._reports_to is not None:
            with Path(self._reports_to).open("a", encoding="utf-8") as file:
                file.write(json.dumps(report._to_json() | {"$report_type": "TestReport"}, default=str) + "\n")

    def pytest_terminal_summary(self, terminalreporter: Any) -> None:
        passed = terminalreporter.stats.get("passed", [])
        if count := sum(one.nodeid.endswith(f"{EMULATED}]") for one in passed):
            terminalreporter.write_line(f"tests marked gpu that passed on an emulated device, which is no GPU: {count}")


def _mark_of(item: pytest.Item) -> pytest.Mark | None:
    """Returns the mark `gpu` of a value of a parameter, else that of the test."""
    of_values = getattr(getattr(item, "callspec", None), "marks", ())
    return next((one for one in of_values if one.name == "gpu"), item.get_closest_marker("gpu"))


def _kind_of(item: pytest.Item) -> str | None:
    """Returns the device that a test was made for."""
    callspec = getattr(item, "callspec", None)
    return None if callspec is None else callspec.params.get(_PARAMETER)


def _is_elsewhere(item: pytest.Item) -> bool:
    mark = _mark_of(item)
    is_emulated = mark is not None and mark.kwargs.get("emulated") and _kind_of(item) == EMULATED
    return bool(is_emulated) and device_kind() is None


def _wants_arithmetic(item: pytest.Item) -> bool:
    mark = _mark_of(item)
    return mark is not None and bool(mark.kwargs.get("arithmetic"))


def _computes() -> bool:
    import torch  # noqa: F401  # arithmetic begins with it

    return "emulated_cuda_arithmetic" in sys.modules


def _executed(config: pytest.Config, items: list[pytest.Item], *, computes: bool) -> dict[str, list[Any]]:
    """Returns the reports of tests, by their ids. Processes of one session share them.

    Args:
        config: The session's.
        items: All tests of the session that one process executes.
        computes: Whether operators are computed.
    """
    base: Path = config._tmp_path_factory.getbasetemp()  # type: ignore[attr-defined]
    shared = base.parent if "PYTEST_XDIST_WORKER" in os.environ else base
    folder = shared / ("emulated-arithmetic" if computes else "emulated")
    folder.mkdir(exist_ok=True)
    reports, said = folder / "reports", folder / "output"
    with (folder / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not (folder / "done").exists():
            _execute(config, [one.nodeid for one in items], folder, computes=computes)
            (folder / "done").touch()
    found: dict[str, list[Any]] = {}
    for data in map(json.loads, reports.read_text(encoding="utf-8").splitlines()):
        found.setdefault(data["nodeid"], []).append(data)
    tail = said.read_text(encoding="utf-8", errors="replace")[-_SHOWN:]
    for item in items:
        listed = found.setdefault(item.nodeid, [])
        if not any(one["when"] == "teardown" for one in listed):
            listed.append(_lost(item, tail))
    return found


def _execute(config: pytest.Config, names: list[str], folder: Path, *, computes: bool) -> None:
    machine = Machine(clock="real", arithmetic=computes, durations_ns=_DURATIONS_NS)
    inherited = {name: value for name, value in os.environ.items() if not name.startswith("PYTEST_")}
    reports = folder / "reports"
    reports.touch()
    words = ("-m", "pytest", "-p", "no:cacheprovider", f"--emulated-reports={reports}", *names)
    with (folder / "output").open("wb") as output:
        subprocess.run(
            [sys.executable, *words],
            cwd=config.rootpath,
            env=inherited | machine.environment(folder / "machine"),
            stdout=output,
            stderr=subprocess.STDOUT,
            timeout=_LIMIT_S,
            check=False,
        )


def _lost(item: pytest.Item, output: str) -> dict[str, Any]:
    """The report of a test whose process ended before it did."""
    report = pytest.TestReport(
        nodeid=item.nodeid,
        location=item.location,
        keywords={},
        outcome="failed",
        longrepr=f"the process of the emulated device ended before this test did:\n{output}",
        when="call",
    )
    data: dict[str, Any] = report._to_json() | {"$report_type": "TestReport"}
    return data
