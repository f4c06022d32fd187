"""Files that others remove or replace while a folder of captures is read."""

from __future__ import annotations

import errno
import os
from pathlib import Path
from typing import Any

import pytest
from kineto_traces import document, kernel, write

from fastrnns_rs.verbs.report.capture_folders import files_in


def test_a_link_that_vanishes_while_a_folder_is_read_stops_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write(tmp_path / "a.json", document([kernel("k", 0, 20.0)]))
    (tmp_path / "b.json").symlink_to("a.json")

    def vanished(path: Any) -> Any:
        raise FileNotFoundError(errno.ENOENT, "gone", str(path))

    monkeypatch.setattr(os, "readlink", vanished)
    with pytest.raises(FileNotFoundError):
        (tmp_path / "b.json").resolve()
    # The link is one more file then.
    assert [Path(file).name for file, _ in files_in(tmp_path)] == ["a.json", "b.json"]
