"""The commit of the working directory and its changes, without a program of the checkout."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from fastrnns_rs.machine import checkout


def git(*words: str) -> None:
    who = ["-c", "user.name=x", "-c", "user.email=x@example.org", "-c", "init.defaultBranch=main"]
    subprocess.run(["git", *who, *words], check=True, capture_output=True)


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A checkout with one file, in the working directory."""
    folder = tmp_path / "project"
    folder.mkdir()
    monkeypatch.chdir(folder)
    monkeypatch.setenv("GIT_CONFIG_GLOBAL", os.fspath(tmp_path / "gitconfig"))
    git("init", "--quiet")
    (folder / "a.txt").write_text("a\n")
    git("add", "a.txt")
    git("commit", "--quiet", "--message", "first")
    return folder


def touched(project: Path) -> None:
    """Has git compare the file, whose time is another."""
    os.utime(project / "a.txt", (1, 1))


def test_a_change_counts_and_a_file_that_git_does_not_track_does_not(project: Path) -> None:
    touched(project)
    assert checkout.has_changes() is False
    # As a run file of this program.
    (project / "b.txt").write_text("b")
    assert checkout.has_changes() is False
    (project / "a.txt").write_text("b\n")
    assert checkout.has_changes() is True
    commit = checkout.head_commit()
    assert commit is not None
    assert len(commit) == 40


def test_outside_of_a_checkout_nothing_is_known(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("GIT_CEILING_DIRECTORIES", os.fspath(tmp_path.parent))
    assert checkout.head_commit() is None
    assert checkout.has_changes() is None


def test_without_git_nothing_is_known(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", os.fspath(project))
    assert checkout.head_commit() is None
    assert checkout.has_changes() is None


@pytest.mark.parametrize("kind", ["clean", "process", "required", "a.b=c", "monitor", "hook", "fetch", "bundle"])
def test_no_program_that_the_checkout_names_runs(project: Path, tmp_path: Path, kind: str) -> None:
    mark = tmp_path / "executed"
    program = tmp_path / "program"
    program.write_text(f"#!/bin/sh\n: > '{mark}'\nexec cat\n")
    program.chmod(0o755)
    (project / ".gitattributes").write_text("* filter=evil\n")
    (project / ".git" / "hooks").mkdir(exist_ok=True)
    if kind == "monitor":
        git("config", "core.fsmonitor", os.fspath(program))
    elif kind == "hook":
        (project / ".git" / "hooks" / "post-index-change").symlink_to(program)
    elif kind in {"fetch", "bundle"}:
        # Objects of the commit are missing, and would be fetched from where the settings say.
        settings = {
            "core.repositoryFormatVersion": "1",
            "extensions.partialClone": "origin",
            "remote.origin.promisor": "true",
            "remote.origin.url": "ssh://example.org/x",
            "core.sshCommand": os.fspath(program),
        }
        if kind == "bundle":
            # Git asks this server before it looks at protocols, and its password before it connects.
            address = "https://user@127.0.0.1:1/x"
            settings |= {"fetch.bundleURI": address, "http.emptyAuth": "true", "core.askPass": os.fspath(program)}
        for key, value in settings.items():
            git("config", key, value)
        tree = subprocess.run(["git", "rev-parse", "HEAD^{tree}"], capture_output=True, text=True, check=True).stdout
        (project / ".git" / "objects" / tree[:2] / tree[2:].strip()).unlink()
    else:
        name = "evil" if "=" not in kind else "a.b=c"
        (project / ".gitattributes").write_text(f"* filter={name}\n")
        git("config", f"filter.{name}.{'process' if kind == 'process' else 'clean'}", os.fspath(program))
        if kind == "required":
            git("config", f"filter.{name}.required", "true")
    touched(project)
    checkout.head_commit()
    checkout.has_changes()
    assert not mark.exists()


def test_no_monitor_runs_with_a_git_without_variables_for_settings(
    project: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Git has them since version 2.31, and lists scopes since 2.26."""
    real, mark, old = shutil.which("git"), tmp_path / "executed", tmp_path / "old"
    old.mkdir()
    (old / "git").write_text(f'#!/bin/sh\nunset GIT_CONFIG_COUNT\nexec {real} "$@"\n')
    (old / "git").chmod(0o755)
    monkeypatch.setenv("PATH", f"{old}:{os.environ['PATH']}")
    git("config", "core.fsmonitor", f"touch {mark}; false")
    git("config", "filter.evil.clean", f"touch {mark}; cat")
    (project / ".gitattributes").write_text("*.txt filter=evil\n")
    git("add", ".gitattributes")
    git("-c", "core.fsmonitor=", "commit", "--quiet", "--message", "second")
    mark.unlink(missing_ok=True)
    touched(project)
    assert checkout.has_changes() is False
    assert not mark.exists()


def test_a_filter_of_the_user_is_not_a_program_of_the_checkout(
    project: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    mark = tmp_path / "executed"
    git("config", "--global", "filter.large.clean", "git-large")
    (project / "git-large").write_text(f"#!/bin/sh\ntouch {mark}\nexec cat\n")
    (project / "git-large").chmod(0o755)
    (project / ".gitattributes").write_text("*.txt filter=large\n")
    monkeypatch.setenv("PATH", f".:{os.environ['PATH']}")
    touched(project)
    checkout.has_changes()
    assert not mark.exists()


def test_a_filter_of_the_user_imports_no_module_of_the_checkout(project: Path, tmp_path: Path) -> None:
    """Filters run in the root of the checkout."""
    mark = tmp_path / "executed"
    git("config", "--global", "filter.plain.clean", f"{sys.executable} -m base64")
    (project / "base64.py").write_text(f"open({str(mark)!r}, 'w')\n")
    (project / ".gitattributes").write_text("*.txt filter=plain\n")
    touched(project)
    assert checkout.has_changes() is True
    assert not mark.exists()


@pytest.mark.parametrize("key", ["clean", "process"])
def test_the_filter_of_large_files_does_not_run(project: Path, tmp_path: Path, key: str) -> None:
    """It is the user's, but starts programs and writes to folders that the settings of the checkout name."""
    mark = tmp_path / "executed"
    (project / ".gitattributes").write_text("*.txt filter=lfs\n")
    git("add", ".gitattributes")
    git("commit", "--quiet", "--message", "second")
    git("config", "--global", f"filter.lfs.{key}", f"touch {mark}; cat")
    git("config", "--global", "filter.lfs.required", "true")
    touched(project)
    assert checkout.has_changes() is False
    assert not mark.exists()


def test_a_device_in_place_of_a_file_of_git_does_not_fill_the_memory(
    project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(checkout, "_LIMITED", checkout._LIMITED.replace("2097152", "65536"))
    monkeypatch.setattr(checkout, "_TIMEOUT_S", 30)
    (project / ".git" / "commondir").symlink_to("/dev/zero")
    assert checkout.run(("rev-parse", "HEAD"), {}).exit_status == 128


def test_a_file_named_like_the_commit_is_none(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    git("init", "--quiet")
    (tmp_path / "HEAD").touch()
    assert checkout.head_commit() is None


def test_a_program_in_the_place_of_git_names_no_commit(
    project: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "git").write_text("#!/bin/sh\necho main\n")
    (tmp_path / "git").chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:{os.environ['PATH']}")
    assert checkout.head_commit() is None


def test_files_of_a_replaced_commit_differ(project: Path) -> None:
    """With `git replace`, git compares them with another commit than the one that it names."""
    first = checkout.head_commit()
    (project / "a.txt").write_text("b\n")
    git("commit", "--quiet", "--all", "--message", "second")
    git("replace", str(first), "HEAD")
    git("checkout", "--quiet", str(first))
    assert (project / "a.txt").read_text() == "b\n"
    assert (checkout.head_commit(), checkout.has_changes()) == (first, True)


def test_a_filter_with_a_name_of_any_bytes_is_not_run(project: Path) -> None:
    """Its name cannot be switched off, so that git is not asked."""
    mark = project.parent / "executed"
    with (project / ".git" / "config").open("ab") as file:
        file.write(b'[filter "a\xffb"]\n\tclean = touch ' + bytes(mark) + b"; cat\n\trequired = true\n")
    (project / ".gitattributes").write_bytes(b"*.txt filter=a\xffb\n")
    touched(project)
    assert checkout.has_changes() is None
    assert not mark.exists()


def test_a_filter_of_the_user_runs(project: Path) -> None:
    """Without it, each file that it converts would count as changed."""
    git("config", "--global", "filter.upper.clean", "tr a-z A-Z")
    (project / ".gitattributes").write_text("*.txt filter=upper\n")
    git("add", "--renormalize", ".")
    git("add", ".")
    git("commit", "--quiet", "--message", "second")
    touched(project)
    assert checkout.has_changes() is False
