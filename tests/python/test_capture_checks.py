"""Whether a capture is taken for one: the ranges, the kernels and the lost events of files as profilers write them."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest
from capture_files import EXPECTED, NAMES, by_id, kineto, nsys, trace
from corpus import captures
from fake_tools import nsys_database, nvprof_database

from fastrnns_rs.documents.capture_manifest import CheckEntry
from fastrnns_rs.verbs.profile import capture_checks

ODD = [
    "a/b",
    "forward",
    "new\nline",
    "ünïcode 日本",
    "quote'\"`",
    "%s %n",
    "x" * 300,
    " ",
    "py/forward/0",
    "-",
    "\x1b[31m",
]


def loss(path: Path) -> CheckEntry:
    return nsys(path, Counter())["event_loss"]


def test_the_expected_ranges_are_each_phase_of_each_iteration() -> None:
    names = {"py/forward/0", "py/forward/1", "py/backward/0", "py/backward/1", "jit/forward/0", "jit/forward/1"}
    assert Counter(names) == EXPECTED
    assert capture_checks.expected_marks(["forward"], 3) == {"## forward ##": 3}


@pytest.mark.parametrize("by_name", [True, False])
@pytest.mark.parametrize("runner", ["py", *ODD])
def test_ranges_are_found_whatever_the_runner_is_called(runner: str, tmp_path: Path, *, by_name: bool) -> None:
    expected = capture_checks.expected_ranges({runner: ["forward", "backward"]}, range(3))
    path = nsys_database(tmp_path / "x.sqlite", expected, by_id=not by_name)
    found = nsys(path, expected)
    assert list(found) == ["opens", "ranges", "event_loss"]
    assert all(one.ok for one in found.values()), found
    assert (found["ranges"].expected, found["ranges"].found) == ("6 ranges", "6 ranges")


def test_ranges_of_others_do_not_count(tmp_path: Path) -> None:
    """Neither those of libraries nor those of another kind, such as what a push and a pop make."""
    path = nsys_database(tmp_path / "x.sqlite", [*NAMES, "forward", "py/forward", "py/forward/x", "py/sideways/0", ""])
    assert nsys(path)["ranges"].ok
    assert nsys(nsys_database(path, NAMES, kind=59))["ranges"].found.startswith("0 ranges, 6 missing: ")


def test_what_is_missing_or_too_many_is_named(tmp_path: Path) -> None:
    path = tmp_path / "x.sqlite"
    found = nsys(nsys_database(path, NAMES[1:]))["ranges"]
    assert (found.ok, found.found) == (False, f"5 ranges, 1 missing: {NAMES[0]}")
    found = nsys(nsys_database(path, [*NAMES, NAMES[2], "aten/forward/0"]))["ranges"]
    assert (found.ok, found.found) == (False, f"8 ranges, 2 too many: {NAMES[2]}, aten/forward/0")
    found = nsys(nsys_database(path))["ranges"]
    assert (found.ok, found.found) == (False, f"0 ranges, 6 missing: {', '.join(NAMES[:3])}, …")
    found = nsys(nsys_database(path, NAMES[2:], unended=NAMES[:2]))["ranges"]
    assert (found.ok, found.found) == (False, f"4 ranges, 2 missing: {', '.join(NAMES[:2])}")


def test_a_runner_that_failed_may_have_any_ranges(tmp_path: Path) -> None:
    path = nsys_database(tmp_path / "x.sqlite", [*NAMES, "raises/forward/0"])
    assert not nsys(path)["ranges"].ok
    assert nsys(path, failed={"raises"})["ranges"].ok
    assert not nsys(path, failed={"raise", "raises/forward"})["ranges"].ok
    path = nvprof_database(tmp_path / "x.nvvp", [*NAMES, "raises/forward/0"], kernels=1)
    assert by_id(capture_checks.nvprof_profile(path, EXPECTED, failed={"raises"}))["ranges"].ok


@pytest.mark.parametrize("drop", ["NVTX_EVENTS", "StringIds"])
def test_tables_come_into_being_with_their_first_row(drop: str, tmp_path: Path) -> None:
    path = nsys_database(tmp_path / "x.sqlite", NAMES, more=f"DROP TABLE {drop}")
    found = nsys(path)
    assert found["opens"].ok
    assert found["ranges"].ok == (drop == "StringIds")


@pytest.mark.parametrize(("kernels", "graphs"), [(0, 0), (2, 0), (0, 2), (5, 1)])
def test_with_a_gpu_there_are_kernels_or_graphs(kernels: int, graphs: int, tmp_path: Path) -> None:
    path = nsys_database(tmp_path / "x.sqlite", NAMES, kernels=kernels, graphs=graphs)
    assert "kernels" not in nsys(path)
    found = nsys(path, cuda=True)["kernels"]
    assert (found.ok, found.found) == (kernels + graphs > 0, f"{kernels} kernels, {graphs} graphs")


#: As nsys 2022.4 words it.
LOSSES = [
    "Not all CUDA events might have been collected.",
    "Not all NVTX events might have been collected.",
    "Some events (\t12) were lost. Certain charts (including CPU utilization) may be wrong.",
    "Sampling events were lost in the interval 1 - 9 (8) ns. Try reducing the sampling rate.",
    "CUPTI dropped 7 records. Some CUPTI events might be missing.",
    "Number of incomplete CUPTI events dropped: 3. Incomplete events appear when GPU timestamps are missing.",
    "12 NVTX annotations were discarded because they contained at least one invalid string handle.",
    "4 GPU events were discarded as their timestamps could not be converted.",
    "EventRequestor: Lost events=12",
]
NO_LOSSES = [
    "NVTX profiling started",
    "Number of CUDA events collected: 3,442.",
    "Number of lost events: 0",
    "Lost events = 0",
    "No events were lost",
    "Process 12 was launched by the profiler",
]
#: Strings that are no messages.
STRINGS = [
    "void lost::events<float>(dropped const*, events)",
    "void at::native::vectorized_elementwise_kernel<4, events lost>",
    "events_dropped(float *, int)",
    "_NOTE=not all events were lost",
    "HOME=/root\0NOTE=12 events were lost\0",
]


@pytest.mark.parametrize("text", LOSSES)
def test_lost_events_are_seen(text: str, tmp_path: Path) -> None:
    path = tmp_path / "x.sqlite"
    for found in (
        loss(nsys_database(path, diagnostics=["fine", text, "fine too"])),
        loss(nsys_database(path, strings=["fine too", text])),
    ):
        assert (found.ok, found.found) == (False, " ".join(text.split()))


def test_what_sounds_like_a_loss_and_is_none(tmp_path: Path) -> None:
    path = tmp_path / "x.sqlite"
    assert loss(nsys_database(path, diagnostics=NO_LOSSES, strings=LOSSES)).ok, "the table says all that is to be said"
    assert loss(nsys_database(path, strings=[*NO_LOSSES, *STRINGS])).ok
    printed = "CREATE TABLE {0} ({1} INTEGER); INSERT INTO {0} SELECT id FROM StringIds"
    for more in (printed.format("ProcessStreams", "contentId"), printed.format("ThreadNames", "nameId")):
        assert loss(nsys_database(path, strings=LOSSES, more=more)).ok, "said by the process, not by nsys"
    ranges = capture_checks.expected_ranges({"all records were lost": ["forward"]}, range(1))
    assert all(one.ok for one in nsys(nsys_database(path, ranges, by_id=True), ranges).values())


@pytest.mark.parametrize("name", ["x.json", "x.json.gz"])
def test_a_trace_holds_the_marks(name: str, tmp_path: Path) -> None:
    path = tmp_path / name
    expected = capture_checks.expected_marks(["forward", "backward"], 2)
    marks = [*expected.elements()]
    found = kineto(path, trace(*marks, "ProfilerStep#3", "Optimizer.step"), expected)
    assert [*found] == [f"opens:{name}", f"ranges:{name}"]
    assert all(one.ok for one in found.values())
    assert found[f"opens:{name}"].found == "6 events"
    for names, said in (
        (marks[1:], "3 ranges, 1 missing: ## forward ##"),
        ([*marks, "## up ##"], "5 ranges, 1 too many: ## up ##"),
        ([], "0 ranges, 4 missing: ## forward ##, ## backward ##"),
    ):
        found = kineto(path, trace(*names), expected)
        assert (found[f"ranges:{name}"].ok, found[f"ranges:{name}"].found) == (False, said)


def test_a_profile_of_nvprof(tmp_path: Path) -> None:
    path = tmp_path / "x.nvvp"
    found = by_id(capture_checks.nvprof_profile(nvprof_database(path, NAMES, kernels=2), EXPECTED))
    assert [(one.id, one.ok) for one in found.values()] == [("opens", True), ("kernels", True), ("ranges", True)]
    found = by_id(capture_checks.nvprof_profile(nvprof_database(path, NAMES[1:], unended=NAMES[:1]), EXPECTED))
    assert (found["kernels"].ok, found["kernels"].found) == (False, "0 kernels")
    assert found["ranges"].found == f"5 ranges, 1 missing: {NAMES[0]}"
    path.write_text("<?xml version='1.0'?><session/>")
    assert not by_id(capture_checks.nvprof_profile(path, EXPECTED))["opens"].ok


@pytest.mark.parametrize(("content", "found"), [(None, "no file"), (b"", "an empty file"), (b"abc", "3 bytes")])
def test_a_file_is_written(content: bytes | None, found: str, tmp_path: Path) -> None:
    path = tmp_path / "a b.x"
    if content is not None:
        path.write_bytes(content)
    one = capture_checks.written(path)
    assert (one.id, one.found, one.ok) == ("written:a b.x", found, content == b"abc")
    assert not capture_checks.written(tmp_path).ok


@pytest.mark.parametrize("path", captures("nsys/*.sqlite"))
def test_public_exports_open_and_lost_nothing(path: Path) -> None:
    found = nsys(path, Counter(), cuda=True)
    assert found["opens"].ok
    assert found["ranges"].ok, "no range has a name of ours"
    assert found["event_loss"].found == "none"
    assert found["kernels"].ok is (path.name != "cpuonly_2023.4.sqlite")


@pytest.mark.parametrize("path", captures("nvprof/*.prof"))
def test_public_profiles_open(path: Path) -> None:
    found = by_id(capture_checks.nvprof_profile(path, Counter()))
    assert found["opens"].ok
    assert found["kernels"].ok


@pytest.mark.parametrize("path", captures("kineto/hta_cpu_only.json.gz"))
def test_public_traces_open(path: Path) -> None:
    assert by_id(capture_checks.kineto(path, Counter()))[f"opens:{path.name}"].ok
