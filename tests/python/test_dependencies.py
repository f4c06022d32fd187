"""`scripts/check-dependencies`, on dependencies that are wrong."""

from __future__ import annotations

import subprocess
from importlib.machinery import SourceFileLoader
from importlib.util import module_from_spec, spec_from_loader
from pathlib import Path
from types import ModuleType

import pytest
from conftest import ROOT


@pytest.fixture
def script() -> ModuleType:
    loader = SourceFileLoader("check_dependencies", str(ROOT / "scripts" / "check-dependencies"))
    spec = spec_from_loader(loader.name, loader)
    assert spec is not None
    found = module_from_spec(spec)
    loader.exec_module(found)
    return found


@pytest.mark.parametrize(
    ("expression", "allowed"),
    [
        ("MIT", True),
        ("MIT OR Apache-2.0", True),
        ("Unlicense/MIT", True),
        ("GPL-3.0-only", False),
        ("MIT OR GPL-3.0-only", True),
        ("(MIT OR Apache-2.0) AND Unicode-3.0", True),
        ("MIT AND GPL-3.0-only", False),
        ("Apache-2.0 WITH LLVM-exception", True),
        ("", False),
    ],
)
def test_a_licence_is_allowed_if_each_part_offers_one_that_is(
    script: ModuleType, expression: str, *, allowed: bool
) -> None:
    assert script.is_allowed(expression) == allowed


def test_a_crate_from_elsewhere_is_named(script: ModuleType, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "Cargo.toml").write_text('[package]\nname = "mine"\nversion = "0.1.0"\nedition = "2021"\n')
    (tmp_path / "src").mkdir()
    (tmp_path / "src" / "lib.rs").touch()
    lock = tmp_path / "Cargo.lock"
    lock.write_text('version = 4\n\n[[package]]\nname = "mine"\nversion = "0.1.0"\n')
    monkeypatch.setattr(script, "LOCKS", [lock])
    assert [*script.crates()] == ["mine 0.1.0 is not from the registry", "mine 0.1.0 has the licence None"]


def test_a_version_that_was_withdrawn_is_named(script: ModuleType, monkeypatch: pytest.MonkeyPatch) -> None:
    said = "warning: package `url v2.5.3` in Cargo.lock is yanked in registry `crates-io`, consider updating\n"
    monkeypatch.setattr(script.subprocess, "run", lambda *_, **__: subprocess.CompletedProcess([], 0, "", said))
    assert [*script.withdrawn()] == ["url v2.5.3 is withdrawn"]
