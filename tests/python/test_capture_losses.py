"""Events that nsys reports as lost: when they void a capture, and when they are a warning."""

from __future__ import annotations

import sqlite3
from collections import Counter
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest
from capture_files import EXPECTED, NAMES, nsys
from commands import run_cli
from fake_tools import nsys_database
from nsys_exports import STARTED, Export, thread

import fastrnns_rs
from fastrnns_rs.documents.capture_manifest import CheckEntry
from fastrnns_rs.verbs.profile import capture_checks

CUDA_LOSS = "Not all CUDA events might have been collected."
MAIN, AUTOGRAD, OTHER = thread(100, 1), thread(100, 2), thread(200, 1)
#: Launches in each range.
LAUNCHES = 3


def loss(path: Path) -> CheckEntry:
    return nsys(path, Counter())["event_loss"]


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


def test_losses_of_another_process_are_not_ours(tmp_path: Path) -> None:
    ours, another = (281 << 40) | (7 << 24), (281 << 40) | (8 << 24)
    path = tmp_path / "x.sqlite"
    for of, is_ours in (("NULL", True), ("0", True), (ours, True), (another, False)):
        more = (
            f"ALTER TABLE DIAGNOSTIC_EVENT ADD COLUMN globalPid INTEGER; UPDATE DIAGNOSTIC_EVENT SET globalPid = {of};"
            f"UPDATE NVTX_EVENTS SET globalTid = {ours + 9}"
        )
        for named in (False, True):
            # A range is missing, so that a loss of ours is one of the capture.
            found = nsys(nsys_database(path, NAMES[1:], diagnostics=LOSSES[:1], more=more, by_id=named))
            assert found["event_loss"].ok is not is_ours, of
            assert (found["event_loss"].found == "none") is not is_ours, of
        # Without ranges no process is known to be another.
        assert not loss(nsys_database(path, diagnostics=LOSSES[:1], more=more)).ok


def test_what_sounds_like_a_loss_and_is_none(tmp_path: Path) -> None:
    path = tmp_path / "x.sqlite"
    assert loss(nsys_database(path, diagnostics=NO_LOSSES, strings=LOSSES)).ok, "the table says all that is to be said"
    assert loss(nsys_database(path, strings=[*NO_LOSSES, *STRINGS])).ok
    printed = "CREATE TABLE {0} ({1} INTEGER); INSERT INTO {0} SELECT id FROM StringIds"
    for more in (printed.format("ProcessStreams", "contentId"), printed.format("ThreadNames", "nameId")):
        assert loss(nsys_database(path, strings=LOSSES, more=more)).ok, "said by the process, not by nsys"
    ranges = capture_checks.expected_ranges({"all records were lost": ["forward"]}, range(1))
    assert all(one.ok for one in nsys(nsys_database(path, ranges, by_id=True), ranges).values())


class Capture(Export):
    """An export with all ranges that are expected, and kernels that autograd's threads launch too."""

    def __init__(self, path: Path) -> None:
        super().__init__(path)
        self.text(9, "cudaLaunchHostFunc_v10000")
        for place, name in enumerate(NAMES):
            start = 1000 * place
            self.range(name, start, start + 500, MAIN, kind=STARTED)
            for index in range(LAUNCHES):
                self.call(
                    start + 10 * index, start + 10 * index + 5, AUTOGRAD if index else MAIN, 10 * place + index + 1
                )
                self.kernel(start + 600, start + 700, MAIN, 10 * place + index + 1)

    def lost(self, more: str = "", expected: Counter[str] = EXPECTED) -> dict[str, CheckEntry]:
        """Returns the checks of this capture after a loss, and further statements."""
        table = "CREATE TABLE DIAGNOSTIC_EVENT (timestamp INTEGER, severity INTEGER, text TEXT, globalPid INTEGER);"
        diagnostics = f"{table} INSERT INTO DIAGNOSTIC_EVENT VALUES (0, 1, '{CUDA_LOSS}', {MAIN & ~0xFFFFFF});"
        path = self.written()
        with closing(sqlite3.connect(path)) as database:
            database.executescript(f"{diagnostics} {more}")
        return nsys(path, expected, cuda=True)


def test_a_loss_without_a_missing_range_or_kernel_voids_nothing(tmp_path: Path) -> None:
    found = Capture(tmp_path / "x.sqlite").lost()
    assert all(one.ok for one in found.values()), found
    assert (found["event_loss"].expected, found["event_loss"].found) == ("none", CUDA_LOSS)


_CALLS, _KERNELS, _GRAPHS = (f"CUPTI_ACTIVITY_KIND_{kind}" for kind in ("RUNTIME", "KERNEL", "GRAPH_TRACE"))
MISMATCHES = {
    "a kernel": (f"DELETE FROM {_KERNELS} WHERE correlationId = 2", "1 of 18 launches have no kernel"),
    "a launch": (f"DELETE FROM {_CALLS} WHERE correlationId = 2", "1 kernels have no launch"),
    "a launch and its kernel": (
        f"DELETE FROM {_KERNELS} WHERE correlationId = 2; DELETE FROM {_CALLS} WHERE correlationId = 2",
        "iterations of py/forward have 2 to 3 kernels",
    ),
    "all calls": (f"DROP TABLE {_CALLS}", "the number of launches is unknown"),
    "all launches": (f"DELETE FROM {_CALLS}", "the number of launches is unknown"),
    "a column": (f"ALTER TABLE {_KERNELS} DROP COLUMN globalPid", "the number of launches is unknown"),
    "sense": (f"UPDATE {_CALLS} SET start = 'now' WHERE correlationId = 2", "the number of launches is unknown"),
    "a process": (f"UPDATE {_KERNELS} SET globalPid = {OTHER & ~0xFFFFFF} WHERE correlationId = 2", "1 of 18 launches"),
}


@pytest.mark.parametrize("case", MISMATCHES)
def test_a_loss_with_other_counts_voids_a_capture(case: str, tmp_path: Path) -> None:
    more, missing = MISMATCHES[case]
    found = Capture(tmp_path / "x.sqlite").lost(more)
    assert [one.id for one in found.values() if not one.ok] == ["event_loss"]
    assert found["event_loss"].found.startswith(f"{CUDA_LOSS} ({missing}")


def test_a_loss_with_a_missing_range_voids_a_capture(tmp_path: Path) -> None:
    found = Capture(tmp_path / "x.sqlite").lost(f"DELETE FROM NVTX_EVENTS WHERE text = '{NAMES[0]}'")
    assert [one.id for one in found.values() if not one.ok] == ["ranges", "event_loss"]
    assert found["event_loss"].found == CUDA_LOSS
    # Where nothing was requested, nothing shows that all of it is there.
    assert not Capture(tmp_path / "y.sqlite").lost("DELETE FROM NVTX_EVENTS", Counter())["event_loss"].ok


HARMLESS: dict[str, Callable[[Capture], None]] = {
    "launches of another process": lambda one: one.call(5, 6, OTHER, 1000),
    "kernels of another process": lambda one: one.kernel(5, 6, OTHER, 1000),
    "launches outside ranges": lambda one: one.call(800, 801, MAIN, 1000),
    "other calls in ranges": lambda one: one.call(5, 6, MAIN, 1000, 4),
    "functions of the host": lambda one: one.call(5, 6, MAIN, 1000, 9),
    "a row that repeats a call": lambda one: one.call(7, 8, MAIN, 1),
}


@pytest.mark.parametrize("case", HARMLESS)
def test_other_counts_do_not_matter(case: str, tmp_path: Path) -> None:
    made = Capture(tmp_path / "x.sqlite")
    HARMLESS[case](made)
    assert made.lost()["event_loss"].ok


def test_whole_graphs_are_kernels_of_their_launch(tmp_path: Path) -> None:
    columns = "start INTEGER, end INTEGER, correlationId INTEGER, globalPid INTEGER"
    graphs = (
        f"CREATE TABLE {_GRAPHS} ({columns}); DELETE FROM {_KERNELS} WHERE correlationId <> 1;"
        f"INSERT INTO {_GRAPHS} SELECT start, end, correlationId, {MAIN & ~0xFFFFFF} FROM {_CALLS}"
    )
    made = Capture(tmp_path / "x.sqlite")
    # The kernel of the first launch is there besides its graph.
    found = made.lost(graphs)["event_loss"].found
    assert found == f"{CUDA_LOSS} (iterations of py/forward have 3 to 4 kernels)"
    assert made.lost(f"{graphs} WHERE correlationId <> 1")["event_loss"].ok
    assert not made.lost(f"{graphs} WHERE correlationId > 2")["event_loss"].ok


@pytest.mark.parametrize("text", [LOSSES[0], NO_LOSSES[2]])
def test_a_report_warns_of_lost_events(text: str, tmp_path: Path) -> None:
    """A capture of any program has no other check."""
    path = nsys_database(tmp_path / "x.sqlite", NAMES, diagnostics=[text, "NVTX profiling started", text])
    found = [one for one in fastrnns_rs.read(path).warning_rows() if one["code"] == "recording_incomplete"]
    lost = text == LOSSES[0]
    assert [one["evidence"] for one in found] == [f"{path}: 2 messages: {text}; {text}"] * lost
    done = run_cli("report", "--strict", path)
    assert (done.status, "damaged capture" in done.stderr) == ((1, True) if lost else (0, False))
