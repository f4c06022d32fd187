"""`fastrnns-rs doctor` looks at what `profile` would use, however that is configured."""

from __future__ import annotations

import json
import os
import shlex
from pathlib import Path
from typing import Any

import fake_tools
import pytest
from conftest import FACTS

from fastrnns_rs.cli import main
from fastrnns_rs.machine import environment


@pytest.fixture(autouse=True)
def _no_torch(monkeypatch: pytest.MonkeyPatch) -> None:
    """Asking it takes seconds, and nothing here is about it."""
    monkeypatch.setattr(environment, "probe", lambda *_, **__: FACTS)
    monkeypatch.delenv("FASTRNNS_PROFILE_NSYS_PATH", raising=False)


def configure(folder: Path, **settings: object) -> None:
    lines = [f"{name.replace('_', '-')} = '{value}'" for name, value in settings.items()]
    (folder / "pyproject.toml").write_text("\n".join(["[tool.fastrnns-rs.profile]", *lines]))


def run(*arguments: str) -> str:
    with pytest.raises(SystemExit) as ended:
        main([*arguments, "--output", "found"])
    assert ended.value.code == 0
    return Path("found").read_text()


def doctor() -> dict[str, Any]:
    found = json.loads(run("doctor", "--json"))
    return {one["name"]: one for one in found["profilers"]} | {one["id"]: one for one in found["checks"]}


def used_by_profile() -> str:
    return shlex.split(run("profile", "--nsys", "--rnns", "py", "--dry-run"))[0]


def test_the_nsys_of_the_configuration_is_looked_at(anywhere: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    ours, theirs = (str(fake_tools.nsys(anywhere / name / "nsys")) for name in ("ours", "theirs"))
    configure(anywhere, nsys_path=ours)
    assert (doctor()["nsys"]["path"], used_by_profile()) == (ours, ours)
    assert "FASTRNNS_PROFILE_NSYS_PATH" not in os.environ
    monkeypatch.setenv("FASTRNNS_PROFILE_NSYS_PATH", theirs)
    assert (doctor()["nsys"]["path"], used_by_profile()) == (theirs, theirs)
    assert os.environ["FASTRNNS_PROFILE_NSYS_PATH"] == theirs


def test_the_disk_is_the_one_that_captures_go_to(anywhere: Path) -> None:
    assert doctor()["disk.output"]["message"].endswith("fastrnns-rs/captures")
    configure(anywhere, output_dir=anywhere / "here")
    assert doctor()["disk.output"]["message"].endswith(f"where captures go: {anywhere / 'here'}")
    (anywhere / "file").touch()
    configure(anywhere, output_dir=anywhere / "file" / "below")
    assert doctor()["disk.output"]["status"] == "fail"
