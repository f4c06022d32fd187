"""The importer that makes a report of what nsys recorded: which program has one, and which is taken."""

from __future__ import annotations

import os
from pathlib import Path

import fake_tools
import pytest
from real_nsys import NSYS

from fastrnns_rs._core import Profiler
from fastrnns_rs.verbs.profile import tools

PACKAGED = Path("/usr/lib/nsight-systems/host-linux-x64/QdstrmImporter")


@pytest.mark.parametrize("folder", ["host-linux-x64", "Host-x86_64"])
def test_the_importer_beside_the_program(folder: str, tmp_path: Path) -> None:
    program = fake_tools.nsys(tmp_path / "2022.4" / "target" / "nsys", importer="pass")
    link = tmp_path / "bin" / "nsys"
    link.parent.mkdir()
    link.symlink_to(program)
    (tmp_path / "2022.4" / "host-linux-x64").rename(tmp_path / "2022.4" / folder)
    importer = tmp_path / "2022.4" / folder / "QdstrmImporter"
    for path in (program, link):
        tool = Profiler("nsys", path)
        assert tool.importer_path == importer
        assert "import_qdstrm" in tool.capabilities
    # As in packages where the program itself is one folder further down.
    deeper = fake_tools.nsys(tmp_path / "2022.4" / "target" / "bin" / "nsys")
    assert Profiler("nsys", deeper).importer_path == importer
    importer.chmod(0o644)
    assert Profiler("nsys", program).importer_path != importer


@pytest.mark.skipif(os.geteuid() != 0, reason="needs root, for a file of another user")
def test_the_importer_of_another_user_is_not_taken(tmp_path: Path) -> None:
    """Others may put a folder of that name into a shared folder above nsys."""
    program = fake_tools.nsys(tmp_path / "mine" / "nsys", "2001.1", importer="pass")
    importer = tmp_path / "host-linux-x64" / "QdstrmImporter"
    assert Profiler("nsys", program).importer_path == importer
    os.chown(importer, 65534, 65534)
    assert Profiler("nsys", program).importer_path is None
    # What an administrator without the rights of root has installed is of one user.
    os.chown(program, 65534, 65534)
    assert Profiler("nsys", program).importer_path == importer


def test_the_importer_is_no_link_to_another_program(tmp_path: Path) -> None:
    program = fake_tools.nsys(tmp_path / "mine" / "nsys", "2001.1")
    importer = tmp_path / "host-linux-x64" / "QdstrmImporter"
    importer.parent.mkdir()
    importer.symlink_to("/bin/sh")
    assert Profiler("nsys", program).importer_path is None


def test_the_nsys_of_nsight_compute_is_not_preferred(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """It is newer, but has no importer, so that it leaves a stream that nothing can read."""
    whole = fake_tools.nsys(tmp_path / "systems" / "target" / "nsys", "2024.6", importer="pass")
    bare = fake_tools.nsys(tmp_path / "compute" / "target" / "nsys", "2025.3")
    monkeypatch.setenv("PATH", f"{bare.parent}:{whole.parent}")
    assert [one.path for one in tools.search("nsys") if tmp_path in Path(one.path).parents] == [str(whole), str(bare)]
    assert "import_qdstrm" not in Profiler("nsys", bare).capabilities


@pytest.mark.skipif(
    NSYS is None or not PACKAGED.exists(),
    reason="no importer of a distribution is installed; scripts/install-profilers does that",
)
def test_the_importer_of_a_distribution_is_that_of_its_version_alone(tmp_path: Path) -> None:
    """An importer refuses the stream of any other version."""
    real = Profiler("nsys", NSYS)
    same = fake_tools.nsys(tmp_path / "same" / "nsys", str(real.version))
    other = fake_tools.nsys(tmp_path / "other" / "nsys", "2022.4.2.2-df9881f")
    assert real.importer_path == PACKAGED
    assert Profiler("nsys", same).importer_path == PACKAGED
    assert Profiler("nsys", other).importer_path is None
