"""How exports of nsys are opened: nothing is written, whatever they are called and wherever they lie."""

from __future__ import annotations

import json
import os
import shutil
import sqlite3
import subprocess
import sys
from contextlib import closing
from pathlib import Path

import fake_tools
import pytest
from conftest import run_cli
from profile_commands import can_mount

import fastrnns_rs
from fastrnns_rs import FastrnnsError

#: Two runs of a kernel, 10 and 30 ns long, as statements for a generated export.
KERNELS = """
CREATE TABLE CUPTI_ACTIVITY_KIND_KERNEL (start INTEGER NOT NULL, end INTEGER NOT NULL, deviceId INTEGER NOT NULL,
  streamId INTEGER NOT NULL, globalPid INTEGER, demangledName INTEGER NOT NULL, shortName INTEGER NOT NULL,
  gridX INTEGER, gridY INTEGER, gridZ INTEGER, blockX INTEGER, blockY INTEGER, blockZ INTEGER);
INSERT INTO StringIds VALUES (9001, 'void tiny_kernel<float>(float *)'), (9002, 'tiny_kernel');
INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL VALUES (100, 110, 0, 7, 16777216, 9001, 9002, 1, 2, 3, 32, 1, 1);
INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL VALUES (200, 230, 0, 7, 16777216, 9001, 9002, 1, 2, 3, 32, 1, 1);
"""
TINY = [("void tiny_kernel<float>(float *)", 2, 40)]
#: Names that a shell, a URI or SQLite could take for something else.
NAMES = [
    "a b.sqlite",
    "50%.sqlite",
    "%41?mode=rwc#x.sqlite",
    'it\'s "q".sqlite',
    "日本 é\u0301.sqlite",
    "-x;`id`.sqlite",
    "back\\slash",
    "new\nline.sqlite",
    "a&b=c;d.sqlite-wal",
]


@pytest.fixture
def export(tmp_path: Path) -> Path:
    """An export of two kernels on one device, alone in a folder."""
    path = tmp_path / "alone" / "tiny.sqlite"
    path.parent.mkdir()
    return fake_tools.nsys_database(path, ["a range"], more=KERNELS)


def state(folder: Path) -> dict[str, tuple[bytes, int]]:
    """All files of a folder, as far as somebody could have changed them."""
    return {os.fsdecode(one): (one.read_bytes(), one.stat().st_mtime_ns) for one in folder.iterdir()}


def kernels_of(path: Path | str) -> list[tuple[str, int, int]]:
    return [(row.name, row.count, row.total_ns) for row in fastrnns_rs.read(path).kernels]


@pytest.mark.parametrize("name", NAMES)
def test_opening_leaves_nothing_beside_the_file_whatever_it_is_called(name: str, export: Path) -> None:
    path = export.rename(export.with_name(name))
    before = state(path.parent)
    assert kernels_of(path) == TINY
    done = run_cli("report", "--json", "--", name, cwd=path.parent)
    assert (done.status, done.json()["captures"][0]["path"]) == (0, name)
    assert state(path.parent) == before


def test_a_read_only_folder_will_do(export: Path) -> None:
    """By its mode, and for root, whom modes do not keep out, by a mount."""
    export.chmod(0o444)
    export.parent.chmod(0o555)
    try:
        assert kernels_of(export) == TINY
    finally:
        export.parent.chmod(0o755)
    can_mount("to have a folder that nobody can write to")
    script = (
        'mount --bind "$1" "$1" && mount -o remount,bind,ro "$1" && ! touch "$1/x" 2>/dev/null && shift && exec "$@"'
    )
    command = [sys.executable, "-m", "fastrnns_rs", "report", str(export), "--json"]
    inside = ["unshare", "--mount", "sh", "-c", script, "sh", str(export.parent), *command]
    done = subprocess.run(inside, capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 0, done.stderr
    assert [row["name"] for row in json.loads(done.stdout)["kernels"]] == [TINY[0][0]]


def test_logs_beside_it_are_left_alone_and_told(export: Path) -> None:
    """What a writer has not brought into the file yet does not count, and is not brought there by a reader."""
    with closing(sqlite3.connect(export)) as writer:
        writer.execute("PRAGMA journal_mode = WAL")
        writer.execute("PRAGMA wal_autocheckpoint = 0")
        writer.execute("INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL SELECT * FROM CUPTI_ACTIVITY_KIND_KERNEL")
        writer.commit()
        copy = shutil.copytree(export.parent, export.parent.with_name("copy"))
    (copy / f"{export.name}-shm").unlink()
    (copy / f"{export.name}-journal").write_bytes(b"\xd9\xd5\x05\xf9")
    before = state(copy)
    assert len(before[str(copy / f"{export.name}-wal")][0]) > 0
    summary = fastrnns_rs.read(copy / export.name)
    assert [(row.name, row.count, row.total_ns) for row in summary.kernels] == TINY
    evidence = [one.evidence for one in summary.warnings if one.code == "unfinished_write"]
    logs = sorted(one.removeprefix(f"{copy / export.name}: ") for one in evidence)
    assert logs == [str(copy / f"{export.name}-{log}") for log in ("journal", "wal")]
    (link := copy.with_name("link.sqlite")).symlink_to(copy / export.name)
    linked = [one.evidence for one in fastrnns_rs.read(link).warnings if one.code == "unfinished_write"]
    assert sorted(linked) == [f"{link}: {log}" for log in logs]
    with pytest.raises(FastrnnsError, match="recent rows may be missing") as refused:
        fastrnns_rs.read(link, strict=True)
    assert refused.value.message.startswith(f"damaged capture: {str(link)!r}: ")
    assert state(copy) == before
