"""`fastrnns-rs profile` in a process of its own, mostly with fake profilers, and what it told and left.

Where nothing else is said, the fake only pretends to have run the runners.
"""

from __future__ import annotations

import subprocess
from dataclasses import replace
from pathlib import Path
from typing import Any

import fake_tools
import pytest
from commands import command_with_facts, run_with_facts
from conftest import FACTS, PLANTED, Done

from fastrnns_rs._core import Profiler
from fastrnns_rs.documents.capture_manifest import Capture
from fastrnns_rs.machine.facts import Facts
from fastrnns_rs.runners.plan import Options
from fastrnns_rs.runners.profile_request import ProfileRequest, choice
from fastrnns_rs.verbs.profile import capture_plan

T4 = {"name": "T4", "compute_capability": "7.5"}
WITH_CUDA = replace(FACTS, device="cuda", cuda_device_count=1, cuda_version="13.2", gpus=[T4])
QUICK = ["--quick", "--no-unprofiled", "--nloops", "2", "--warmup", "0", "--sleep-between-seconds", "0"]
PLANTED_RUN = ["--runner-file", str(PLANTED)]
PRETENDED = "call.pretend(); "
REPORTS = PRETENDED + "call.report()"
CHECKS = ["runners", "written", "opens", "ranges", "event_loss"]
#: What profilers complain of, and a part of the advice that is given.
ADVICE = {
    "the disk is full": "give --output-dir on another disk; nsys also writes to the folder that TMPDIR names",
    "the profiler has no permission": "fastrnns-rs doctor says what is missing",
    "the profiler does not know an option": "everything",
    "another profiler is at work in the same process": "take the",
    "nsys cannot start its agent": "remove /dev/shm/NSys-*",
    "the profiler found no GPU that it can use": "doctor",
}


def argv(*arguments: str | Path, facts: Facts = FACTS) -> list[str]:
    """The command line of `profile` in a process of its own."""
    return command_with_facts("profile", *arguments, facts=facts)


def profile_cli(*arguments: str | Path, facts: Facts = FACTS, **variables: str) -> Done:
    """Runs `profile` in this process."""
    return run_with_facts("profile", *arguments, facts=facts, **variables)


def profile(
    tool: Path, out: Path, *more: str | Path, runners: tuple[str, ...] = ("py",), facts: Facts = FACTS, **variables: str
) -> Done:
    """A capture with a fake."""
    asked = [f"--{tool.name}", f"--{tool.name}-path", tool, "--output-dir", out, "--rnns", *runners, *QUICK, *more]
    return profile_cli(*asked, facts=facts, **variables)


def faked(
    folder: Path,
    statements: str = REPORTS,
    *more: str | Path,
    out: str = "out",
    export: str | None = None,
    importer: str | None = None,
    runners: tuple[str, ...] = ("py",),
    facts: Facts = FACTS,
    **variables: str,
) -> Done:
    """A capture with an nsys that does so much; it goes to a folder beside it."""
    steps = {"profile": statements} | ({"export": export} if export is not None else {})
    tool = fake_tools.nsys(folder / "bin" / "nsys", importer=importer, **steps)
    return profile(tool, folder / out, *more, runners=runners, facts=facts, **variables)


def good(folder: Path, *given: str | Path, out: str = "out", **named: Any) -> tuple[Capture, str]:
    """The record and the log of one that succeeds."""
    done = faked(folder, *given, out=out, **named)
    assert done.status == 0, done.stderr
    return kept(folder / out)


def bad(folder: Path, *given: str | Path, status: int = 1, **named: Any) -> tuple[str, str]:
    """The error and the hint of one that fails."""
    return told(faked(folder, *given, **named), status)


def told(done: Done, status: int) -> tuple[str, str]:
    """The one line of an error and its hint, of a command that ended with this status."""
    assert done.status == status, (done.status, done.stdout, done.stderr)
    lines = done.stderr.splitlines()
    assert "Traceback" not in done.stderr
    assert "fault of fastrnns-rs" not in done.stderr
    errors = [index for index, line in enumerate(lines) if line.startswith("error: ")]
    assert len(errors) == 1, done.stderr
    error, *hints = lines[errors[0] :]
    assert len(hints) <= 1
    assert all(line.startswith("hint: ") for line in hints)
    assert len(error) < 700
    return error.removeprefix("error: "), "".join(hints).removeprefix("hint: ")


def kept(out: Path) -> tuple[Capture, str]:
    """The record and the log of the one capture in a folder, which holds nothing that the record is without."""
    records = [*out.glob("*.json")]
    assert len(records) == 1, [*out.iterdir()]
    record = Capture.load(records[0])
    log = records[0].with_suffix(".log")
    listed = {Path(one.path) for one in record.artefacts}
    assert {*out.iterdir()} == {*listed, records[0], log}
    for one in record.artefacts:
        assert Path(one.path).stat().st_size == one.size_bytes
    text = log.read_text()
    assert "# under the profiler\n$ " in text
    return record, text


def prepared_for(
    tool: Profiler, timeout: float = 60.0, *, rnns: tuple[str, ...] = ("cudnn",), nloops: int = 2
) -> capture_plan.Prepared:
    """A request that has passed all checks of what is here, whatever is here."""
    options = Options(choice=choice(rnns=rnns), quick=True, nloops=nloops, warmup=0, timeout=timeout, device="cpu")
    request = ProfileRequest(options=options, tool=tool.name, sleep_between_seconds=0)
    plan = capture_plan.make_plan(options, FACTS)
    return capture_plan.Prepared(request=request, plan=plan, tool=tool, skipped={}, chosen=False, sources={})


def checks_of(record: Capture) -> dict[str, bool]:
    return {one.id.partition(":")[0]: one.ok for one in record.checks}


def without_tools(command: list[str]) -> list[str]:
    """The same, where nothing is in the folders that installers of profilers use."""
    usual = [Path("/usr/lib/nsight-systems"), Path("/opt/nvidia"), *Path("/usr/local").glob("cuda*")]
    folders = {str(path.resolve()) for path in usual if path.is_dir()}
    if not folders:
        return command
    can_mount("to hide what is installed here")
    hide = " && ".join(f"mount -t tmpfs none {folder}" for folder in folders)
    return ["unshare", "--mount", "sh", "-c", f'{hide} && exec "$@"', "sh", *command]


def can_mount(purpose: str) -> None:
    try:
        subprocess.run(["unshare", "--mount", "mount", "-t", "tmpfs", "none", "/mnt"], check=True, capture_output=True)
    except (OSError, subprocess.CalledProcessError):
        pytest.skip(f"needs root and mount namespaces {purpose}")


def pretender(tmp_path: Path) -> Path:
    return fake_tools.nsys(tmp_path / "bin" / "nsys", profile=REPORTS)
