"""Code that a user names: its source alone is run, and no program of the working directory."""

from __future__ import annotations

import importlib.util
import os
import py_compile
import re
import shutil
import subprocess
import sys
from pathlib import Path

from conftest import ROOT

from fastrnns_rs.runners.source_loader import load_source


def test_bytecode_beside_a_named_file_is_neither_run_nor_written(anywhere: Path) -> None:
    """Others may have put it there, and it may be that of an earlier source with the same size and time."""
    named, other = anywhere / "mine.py", anywhere / "theirs.py"
    named.write_text("VALUE = 'named'\n")
    other.write_text("VALUE = 'beside'\n")
    beside = importlib.util.cache_from_source(str(named))
    py_compile.compile(str(other), beside, invalidation_mode=py_compile.PycInvalidationMode.UNCHECKED_HASH)
    content = Path(beside).read_bytes()
    assert vars(load_source("named_file", named))["VALUE"] == "named"
    assert Path(beside).read_bytes() == content
    shutil.rmtree(Path(beside).parent)
    load_source("named_file", named)
    assert not Path(beside).parent.exists()


def test_a_package_may_be_a_named_file(anywhere: Path) -> None:
    (anywhere / "__init__.py").write_text("from .beside import VALUE\n")
    (anywhere / "beside.py").write_text("VALUE = 3\n")
    assert vars(load_source("named_package", anywhere / "__init__.py"))["VALUE"] == 3


def test_everything_that_loads_a_named_file_loads_its_source() -> None:
    package = ROOT / "python" / "fastrnns_rs"
    used = {
        path.relative_to(package).as_posix()
        for path in package.rglob("*.py")
        if re.search(r"SourceFileLoader|spec_from_file_location|run_path", path.read_text(encoding="utf-8"))
    }
    # Modules that a named file imports may have caches of this user.
    assert used == {"runners/source_loader.py", "runners/neighbor_caches.py"}


def test_no_browser_of_the_working_directory_is_started(anywhere: Path) -> None:
    program = anywhere / "www-browser"
    program.write_text("#!/bin/sh\ntouch executed\n")
    program.chmod(0o755)
    variables = {"PATH": f":.:{os.environ['PATH']}", "TERM": "xterm"}
    kept = {name: value for name, value in os.environ.items() if name not in {"BROWSER", "DISPLAY", "WAYLAND_DISPLAY"}}
    words = [sys.executable, "-m", "fastrnns_rs", "show", str(ROOT / "benches" / "readme" / "after.json"), "--open"]
    done = subprocess.run(words, env={**kept, **variables}, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert not (anywhere / "executed").exists()
    Path(done.stderr.split()[-1]).unlink()
