"""Files that are replaced by new ones: mode, owner, group, access list, symbolic and hard links."""

from __future__ import annotations

import errno
import os
import stat
import struct
import subprocess
import sys
from pathlib import Path

import pytest
import run_files
from commands import run_cli

from fastrnns_rs.documents.writing import replacing, write

ACCESS_LIST = "system.posix_acl_access"
ALICE, BOB = 54321, 54322


@pytest.fixture
def old(tmp_path: Path) -> Path:
    path = tmp_path / "run.json"
    path.write_text("old")
    return path


def mode(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


@pytest.mark.parametrize("kept", [0o600, 0o640, 0o444, 0o666, 0o400])
def test_a_command_keeps_the_mode(old: Path, kept: int) -> None:
    old.chmod(kept)
    run = old.with_name("another.json")
    run_files.run([run_files.result()]).save(run)
    assert run_cli("show", run, "--json", "--output", old).status == 0
    assert mode(old) == kept
    assert old.read_text() == run.read_text()


def test_a_document_is_no_program(old: Path) -> None:
    old.chmod(0o6755)
    write(old, [b"new"])
    assert mode(old) == 0o755


@pytest.mark.parametrize("umask", [0o022, 0o077, 0o002])
def test_a_new_file_is_as_the_umask_says(tmp_path: Path, umask: int) -> None:
    """In a process of its own; it does not change the umask, which threads share."""
    code = (
        "import os, sys, pathlib; from fastrnns_rs.documents.writing import write; "
        "os.umask = None; write(pathlib.Path(sys.argv[1]), [b'new'])"
    )
    path = tmp_path / "new"
    subprocess.run([sys.executable, "-c", code, str(path)], check=True, umask=umask)
    assert mode(path) == 0o666 & ~umask


def test_while_it_is_written_nobody_else_reads_a_private_file(old: Path) -> None:
    old.chmod(0o600)
    with replacing(old) as file:
        (new,) = [one for one in old.parent.iterdir() if one != old]
        assert mode(new) == 0o600
        file.write(b"new")
    assert mode(old) == 0o600


@pytest.mark.skipif(os.geteuid() != 0, reason="only root gives files to another user")
def test_root_keeps_owner_and_group(old: Path) -> None:
    os.chown(old, ALICE, BOB)
    old.chmod(0o660)
    write(old, [b"new"])
    assert (old.stat().st_uid, old.stat().st_gid, mode(old)) == (ALICE, BOB, 0o660)


def test_another_group_may_not_do_what_the_old_one_might(old: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object) -> None:
        raise PermissionError(errno.EPERM, "not yours")

    old.chmod(0o664)
    status = os.stat(old)
    fields = [*status]
    fields[stat.ST_GID] = status.st_gid + 1
    monkeypatch.setattr(os, "fchown", refuse)
    monkeypatch.setattr("fastrnns_rs.documents.writing._status", lambda _path: os.stat_result(fields))
    write(old, [b"new"])
    assert mode(old) == 0o644


def access_list(user: int) -> bytes:
    """Lets the owner and another user read and write, and the group nothing; the mode has the mask in place of that."""
    entries = [(0x01, 6, -1), (0x02, 6, user), (0x04, 0, -1), (0x10, 6, -1), (0x20, 0, -1)]
    return struct.pack("<I", 2) + b"".join(struct.pack("<HHi", *one) for one in entries)


def test_an_access_list_is_kept(old: Path) -> None:
    try:
        os.setxattr(old, ACCESS_LIST, access_list(ALICE))
    except OSError as error:
        pytest.skip(f"needs a file system with access lists: {error.strerror}")
    before = os.getxattr(old, ACCESS_LIST), mode(old)
    write(old, [b"new"])
    assert (os.getxattr(old, ACCESS_LIST), mode(old)) == before
    # A file without one gets none from its folder.
    os.setxattr(old.parent, "system.posix_acl_default", access_list(ALICE))
    plain = old.with_name("plain")
    plain.write_text("old")
    os.removexattr(plain, ACCESS_LIST)
    plain.chmod(0o640)
    write(plain, [b"new"])
    assert mode(plain) == 0o640
    with pytest.raises(OSError, match="No data available"):
        os.getxattr(plain, ACCESS_LIST)


def test_links_are_followed_and_stay(old: Path) -> None:
    folder = old.with_name("folder")
    folder.mkdir()
    (folder / "link").symlink_to(old)
    (folder / "dangling").symlink_to("../new")
    for name in ("link", "dangling"):
        write(folder / name, [b"new"])
        assert (folder / name).is_symlink()
    assert old.read_text() == (folder / "../new").read_text() == "new"
    assert len([*folder.iterdir()]) == 2


def test_a_hard_link_keeps_the_old_content(old: Path) -> None:
    other = old.with_name("other")
    other.hardlink_to(old)
    write(old, [b"new"])
    assert (old.read_text(), other.read_text()) == ("new", "old")


def test_what_fails_leaves_the_old_file_and_no_other(old: Path) -> None:
    with pytest.raises(KeyboardInterrupt), replacing(old) as file:
        file.write(b"new")
        raise KeyboardInterrupt
    assert [*old.parent.iterdir()] == [old]
    assert old.read_text() == "old"


def test_an_input_that_cannot_be_read_is_not_the_output(old: Path) -> None:
    with pytest.raises(IsADirectoryError), replacing(old):
        old.parent.read_bytes()
    assert [*old.parent.iterdir()] == [old]
