"""Packages that add runners, installed for real: wheels, written by hand and given to pip."""

from __future__ import annotations

import subprocess
import sys
import zipfile
from collections.abc import Iterable, Mapping
from pathlib import Path


def wheel(folder: Path, name: str, version: str, points: Mapping[str, str], files: Mapping[str, str]) -> Path:
    """A wheel with modules and entry points in our group."""
    stem = f"{name.replace('-', '_')}-{version}"
    info = f"{stem}.dist-info"
    every = {
        **files,
        f"{info}/METADATA": f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n",
        f"{info}/WHEEL": "Wheel-Version: 1.0\nGenerator: a test\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
        f"{info}/entry_points.txt": "[fastrnns_rs.runners]\n"
        + "".join(f"{key} = {value}\n" for key, value in points.items()),
    }
    every[f"{info}/RECORD"] = "".join(f"{path},,\n" for path in [*every, f"{info}/RECORD"])
    path = folder / f"{stem}-py3-none-any.whl"
    with zipfile.ZipFile(path, "w") as archive:
        for inside, text in every.items():
            archive.writestr(inside, text)
    return path


def install(what: Iterable[Path], site: Path) -> None:
    """Has pip install wheels or folders into a folder that is to be put on PYTHONPATH, from nowhere but here."""
    command = [sys.executable, "-m", "pip", "install", "--quiet", "--no-index", "--no-deps", "--no-build-isolation"]
    command += ["--disable-pip-version-check", "--no-compile", "--target", str(site), *map(str, what)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
