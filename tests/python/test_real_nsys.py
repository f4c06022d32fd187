"""The helper that gives nsys another chance: it takes no failure of ours for one of nsys, and hides none."""

from __future__ import annotations

from pathlib import Path

import fake_tools
import pytest
import real_nsys
from conftest import Done
from real_nsys import NsysFailedError, captured, check_captured, tried

COMMAND = ["/bin/true"]


def failing(tmp_path: Path, times: int, monkeypatch: pytest.MonkeyPatch) -> None:
    # As nsys 2022.4 does on a busy machine.
    fails = fake_tools.at_first(tmp_path / "count", times, "sys.exit('Local Endpoint is not available')")
    tool = fake_tools.nsys(tmp_path / "bin" / "nsys", profile=f"{fails}\ncall.report()")
    monkeypatch.setattr(real_nsys, "NSYS", str(tool))


def test_one_failure_is_told_and_forgiven(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    failing(tmp_path, 1, monkeypatch)
    said = r"^nsys failed by itself in attempt 1 of 3: \S+nsys profile ended with (.|\n)*Local"
    with pytest.warns(UserWarning, match=said):
        assert captured(COMMAND, tmp_path) == tmp_path / "attempt-2" / "x.sqlite"


def test_three_in_a_row_are_a_failure_in_the_words_of_nsys(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    failing(tmp_path, 3, monkeypatch)
    with (
        pytest.warns(UserWarning, match=r"attempt [12] of 3"),
        pytest.raises(NsysFailedError, match="Local Endpoint is not available"),
    ):
        captured(COMMAND, tmp_path)


@pytest.mark.parametrize("said", ["error: nsys ended without having run anything: no such module", ""])
def test_what_may_be_our_fault_is_tried_once(said: str, tmp_path: Path) -> None:
    attempts: list[Path] = []
    with pytest.raises(AssertionError):
        tried(lambda place: check_captured(Done(1, attempts.append(place) or "", said), place), tmp_path)
    assert len(attempts) == 1
