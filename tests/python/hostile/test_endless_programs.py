"""Programs that describe the machine and print without end: they cost neither memory nor the run."""

from __future__ import annotations

import resource
from pathlib import Path

import pytest

from fastrnns_rs.errors import FastrnnsError, UsageError
from fastrnns_rs.machine import checkout, nvidia
from fastrnns_rs.verbs.history import run_names

_MEBIBYTE = 1 << 20


@pytest.fixture
def _endless(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("git", "nvidia-smi"):
        program = tmp_path / name
        program.write_text("#!/bin/sh\nexec tr '\\0' y </dev/zero\n")
        program.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:/usr/bin:/bin")
    monkeypatch.setattr(checkout, "_TIMEOUT_S", 0.5)
    monkeypatch.setattr(nvidia, "_TIMEOUT_S", 0.5)


@pytest.mark.usefixtures("_endless")
def test_their_output_is_not_kept() -> None:
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    assert (checkout.head_commit(), checkout.has_changes()) == (None, None)
    with pytest.raises(FastrnnsError, match=r"^nvidia-smi timed out: 0\.5 s"):
        nvidia.ask("--query-gpu=uuid", fields=1)
    with pytest.raises(UsageError, match="git timed out: '@commit:x'"):
        run_names._commit("@commit:x", "x")
    # In kibibytes. All of it would be hundreds of megabytes.
    assert (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) * 1024 < 50 * _MEBIBYTE


def test_a_list_of_settings_that_is_cut_is_no_list(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A filter whose name is lost could be executed."""
    for printed in ("local\\0a.b\\0%070000d", "local\\0filter.\\377.clean\\0"):
        program = tmp_path / "git"
        program.write_text(
            f'#!/bin/sh\ncase "$*" in *config*) ;; *) touch "{tmp_path}/status" ;; esac\nprintf "{printed}" 0\n'
        )
        program.chmod(0o755)
        monkeypatch.setenv("PATH", f"{tmp_path}:/usr/bin:/bin")
        assert checkout.has_changes() is None
        assert not (tmp_path / "status").exists()
