"""When a profiler is told to begin and to end, and whether it saw anything in between. The GPU is a stand-in."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import fake_tools
import pytest
import torch
from conftest import FACTS
from profile_commands import PRETENDED, WITH_CUDA, kept, profile

from fastrnns_rs._core import Profiler
from fastrnns_rs.runners.plan import Options, make_plan
from fastrnns_rs.runners.profile_request import ProfileRequest, choice
from fastrnns_rs.verbs.profile import assessment
from fastrnns_rs.verbs.profile.attempt import Attempt
from fastrnns_rs.worker.jobs import profile as profile_job
from fastrnns_rs.worker.profile import ranges
from fastrnns_rs.worker.profile.answer import Answer


@pytest.fixture
def events(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """What happens, in its order: the window, ranges, pauses, and what is written."""
    seen: list[str] = []

    @contextmanager
    def window(device: str) -> Iterator[None]:
        seen.append("open")
        yield
        seen.append("close")

    def save(answer: Answer, path: Path | None) -> None:
        seen.append("save " + " ".join(one.status for one in answer.runners))

    def range_start(name: str) -> int:
        seen.append(name)
        return 0

    monkeypatch.setattr(profile_job, "capture_window", window)
    monkeypatch.setattr(Answer, "save", save)
    monkeypatch.setattr(profile_job.time, "sleep", lambda seconds: seen.append(f"pause {seconds}"))
    monkeypatch.setattr(torch.cuda.nvtx, "range_start", range_start)
    monkeypatch.setattr(torch.cuda.nvtx, "range_end", lambda _opened: None)
    return seen


def run(events: list[str], tmp_path: Path, *runners: str) -> Answer:
    options = Options(choice=choice(rnns=runners), quick=True, nloops=2, warmup=1, timeout=60.0, device="cpu")
    request, plan = ProfileRequest(options=options, tool="nsys", sleep_between_seconds=0.25), make_plan(options, FACTS)
    return profile_job.run(request, plan, stem=tmp_path / "stem", answer_path=tmp_path / "answer", say=events.append)


def test_nothing_but_iterations_is_in_the_window(events: list[str], tmp_path: Path) -> None:
    run(events, tmp_path, "py")
    begin, end = events.index("open"), events.index("close")
    assert events[begin - 2 : begin] == ["py: 2 iterations", "save running"]
    assert events[begin + 1 : end] == [f"py/{phase}/{count}" for count in (0, 1) for phase in ("forward", "backward")]
    assert events[end + 1 :] == ["save ok"]


def test_there_is_one_window_for_all_runners(events: list[str], tmp_path: Path) -> None:
    """nsys takes no notice of a second one. All else that can be outside is."""
    answer = run(events, tmp_path, "py", "cudnn")
    assert answer.finished
    begin, end = events.index("open"), events.index("close")
    assert events.count("open") == 1
    between = [event for event in events[begin:end] if "/" not in event]
    assert between == ["open", "save ok pending", "pause 0.25", "cudnn: 2 iterations", "save ok running"]
    assert events[end - 1] == "cudnn/backward/1"
    assert events[end + 1 :] == ["save ok ok"]


@pytest.mark.parametrize("at", ["open", "close"])
def test_a_window_that_fails_is_told_in_the_answer(at: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """torch raises what is no error of ours; the runner at work is not to blame."""

    @contextmanager
    def window(device: str) -> Iterator[None]:
        if at == "open":
            raise RuntimeError("CUDA driver\nerror")
        yield
        raise RuntimeError("CUDA driver\nerror")

    monkeypatch.setattr(profile_job, "capture_window", window)
    with pytest.raises(RuntimeError):
        run([], tmp_path, "py")
    said: dict[str, Any] = json.loads((tmp_path / "answer").read_text())
    assert said["refusal"] == {"message": "RuntimeError: CUDA driver error", "hint": "", "kind": "FastrnnsError"}
    assert [one["status"] for one in said["runners"]] == ["running" if at == "open" else "ok"]
    assert not said["finished"]


@pytest.mark.parametrize("fails", [True, False])
def test_the_window_of_a_gpu(monkeypatch: pytest.MonkeyPatch, *, fails: bool) -> None:
    """What was begun has ended before it opens, and before it closes."""
    seen: list[str] = []
    monkeypatch.setattr(torch.cuda, "synchronize", lambda device: seen.append(f"wait for {device}"))
    monkeypatch.setattr(torch.cuda.profiler, "start", lambda: seen.append("start"))
    monkeypatch.setattr(torch.cuda.profiler, "stop", lambda: seen.append("stop"))
    with suppress(ZeroDivisionError), ranges.capture_window("cuda:1"):
        seen.append("inside")
        _ = 1 // (not fails)
    assert seen == ["wait for cuda:1", "start", "inside", "wait for cuda:1", "stop"]
    seen.clear()
    with ranges.capture_window("cpu"):
        pass
    assert not seen


def test_a_report_that_was_not_read_may_hold_ranges(tmp_path: Path) -> None:
    (tmp_path / "stem.nsys-rep").write_bytes(b"x")
    tool = Profiler("nsys", fake_tools.nsys(tmp_path / "bin" / "nsys"))
    assert not assessment.holds_no_range(tool, Attempt(tmp_path / "stem", 1.0))


#: What a profiler does in the range that it is given, and whether that shows that it saw none of the iterations.
SEEN = {
    "nothing": ("pass", True),
    "no range": ("call.WRITE(ranges=[])", True),
    "ranges of others": ("call.WRITE(ranges=['aten::mm', 'py/update/0'])", True),
    "ranges that have not ended": ("call.WRITE(ranges=[], unended=['py/forward/0'])", True),
    "one range": ("call.WRITE(ranges=['py/forward/0'])", False),
    "what cannot be read": ("call.file('SUFFIX').write_bytes(b'x' * 600)", False),
}


@pytest.mark.parametrize("case", SEEN)
@pytest.mark.parametrize(
    ("name", "flag", "write", "suffix"),
    [
        ("nsys", "--capture-range=cudaProfilerApi", "report", ".sqlite"),
        ("nvprof", "--profile-from-start", "profile", ".nvvp"),
    ],
)
def test_a_range_in_which_nothing_was_seen_is_taken_away(
    name: str, flag: str, write: str, suffix: str, case: str, tmp_path: Path
) -> None:
    """With a GPU only the iterations are captured; where none of them was seen, everything is."""
    inside, everything = SEEN[case]
    inside = inside.replace("WRITE", write).replace("SUFFIX", suffix)
    statements = f"{PRETENDED}\nif {flag!r} in call.words: {inside}\nelse: call.{write}()"
    done = profile(getattr(fake_tools, name)(tmp_path / name, profile=statements), tmp_path / "out", facts=WITH_CUDA)
    record, log = kept(tmp_path / "out")
    assert done.status == (0 if everything else 1), done.stderr
    assert [one.code for one in record.warnings] == ["range_yielded_nothing"] * everything
    assert log.count("# under the profiler") == 1 + everything
