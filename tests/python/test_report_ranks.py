"""Several files and folders of them: read at once as one after the other, and the ranks of a job side by side."""

from __future__ import annotations

import json
import os
import random
from pathlib import Path

import fake_tools
import pytest
from conftest import run_cli
from corpus import captures
from interrupting import interrupt
from kineto_traces import annotation, by_dice, call, copy, document, kernel, write
from test_report_nvprof_csv import PER_GPU
from test_report_nvprof_metrics import LAUNCHES
from test_report_opening import KERNELS

import fastrnns_rs
from fastrnns_rs import FastrnnsError, Summary, UsageError
from fastrnns_rs._core import Trace
from fastrnns_rs.errors import MissingError
from fastrnns_rs.verbs.report.capture_folders import natural
from fastrnns_rs.views.plots.summary_devices import with_budget
from fastrnns_rs.views.plots.summary_ranks import ranks
from fastrnns_rs.views.summary.plain import make_plain

BASE = {"baseTimeNanoseconds": 1_700_000_000_000_000_000}


def job(folder: Path, busy: list[float]) -> list[Path]:
    """A file for each rank, whose device is busy for so many microseconds, in two kernels and a copy."""
    folder.mkdir(exist_ok=True)
    paths = []
    for rank, took in enumerate(busy):
        part = took / 4
        events = [call(process=100 + rank), kernel("a", 10, part), kernel("b", 10 + part, 2 * part)]
        events += [kernel("b", 10 + part, part), copy("HtoD", 1000, part)]
        info = {"backend": "nccl", "rank": rank, "world_size": len(busy)}
        paths.append(write(folder / f"worker{rank}.json", document(events, **BASE, distributedInfo=info)))
    return paths


def codes(summary: Summary) -> list[str]:
    # Of the kernels of a made job most have no launch.
    return [warning.code for warning in summary.warnings if warning.code != "unmatched_launches"]


def mixed(folder: Path) -> list[Path]:
    """Files of every format, damaged ones, ones that share a clock, and one that is there twice."""
    paths = []
    for seed in range(4):
        trace = document(by_dice(seed, 300, process=100 + seed % 2), **(BASE if seed < 3 else {}))
        paths.append(write(folder / f"{seed}.json{'.gz' if seed % 2 else ''}", trace))
    text = json.dumps(document(by_dice(9)))
    paths.append(write(folder / "cut.json", text[: len(text) // 2]))
    sqlite = folder / "x.sqlite"
    fake_tools.nsys_database(sqlite, more=KERNELS)
    for name, text in (("totals.csv", PER_GPU), ("metrics.csv", LAUNCHES)):
        (folder / name).write_text(text)
        paths.append(folder / name)
    paths += [sqlite, write(folder / "none.json", [call(), annotation("range", 0, 9)]), sqlite, paths[0]]
    return paths


@pytest.mark.parametrize("seed", range(3))
def test_any_number_of_threads_reads_the_same(seed: int, tmp_path: Path) -> None:
    """To the last bit: what each file is read into is put together in the order of the files."""
    paths = mixed(tmp_path)
    random.Random(seed).shuffle(paths)
    expected = fastrnns_rs.read(*paths, workers=1).to_json()
    for workers in (2, 5, None):
        assert fastrnns_rs.read(*paths, workers=workers).to_json() == expected


def test_files_apart_are_what_they_are_together(tmp_path: Path) -> None:
    """An export of nsys has a clock of its own, also where it is read twice."""
    paths = mixed(tmp_path)
    alone = [fastrnns_rs.read(path) for path in paths]
    together = fastrnns_rs.read(*paths)
    assert sum(row.count for row in together.kernels) == sum(row.count for one in alone for row in one.kernels)
    assert sum(row.total_ns for row in together.kernels) == sum(row.total_ns for one in alone for row in one.kernels)
    assert [one.events_read for one in together.captures] == [one.captures[0].events_read for one in alone]
    sqlite = [one for one in alone if one.captures[0].format == "nsys-sqlite"]
    rows = [(row.process_id, row.start_ns, row.busy_ns) for one in sqlite for row in one.devices]
    found = [(row.process_id, row.start_ns, row.busy_ns) for row in together.devices]
    assert all(found.count(row) >= rows.count(row) for row in rows)


@pytest.mark.parametrize("workers", [1, 3])
def test_the_first_file_that_fails_is_named(workers: int, tmp_path: Path) -> None:
    good = write(tmp_path / "good.json", document(by_dice(0, 3000)))
    bad = [write(tmp_path / f"bad{number}.txt", "no capture") for number in range(3)]
    with pytest.raises(FastrnnsError, match=r"bad0\.txt"):
        fastrnns_rs.read(good, good, good, bad[0], good, *bad[1:], workers=workers)


def test_the_ranks_of_a_job_stand_side_by_side(tmp_path: Path) -> None:
    paths = job(tmp_path, [100, 104, 160, 96])
    summary = fastrnns_rs.read(*paths)
    assert [(one.rank, one.world_size) for one in summary.captures] == [(rank, 4) for rank in range(4)]
    rows = summary.ranks
    assert [(row.path, row.rank) for row in rows] == [(str(path), rank) for rank, path in enumerate(paths)]
    # The two that overlap count once where it says busy.
    assert [(row.busy_ns, row.kernel_count, row.kernel_total_ns) for row in rows] == [
        (busy * 1000, 3, busy * 1000) for busy in (100, 104, 160, 96)
    ]
    assert [row.span_ns for row in rows] == [int(990_000 + busy * 250) for busy in (100, 104, 160, 96)]
    assert [row.busy_ratio for row in rows] == [pytest.approx(busy / 102) for busy in (100, 104, 160, 96)]
    assert [row.slowest for row in rows] == [False, False, True, False]
    assert codes(summary) == ["rank_skew"]
    warning = summary.warnings[0]
    assert warning.message.startswith("rank 2 is the slowest")
    assert "1.57 times" in warning.message
    assert str(paths[2]) in warning.evidence


def test_ranks_that_do_alike_are_nothing_to_tell(tmp_path: Path) -> None:
    summary = fastrnns_rs.read(*job(tmp_path, [100, 104, 108, 96]))
    assert codes(summary) == []
    assert [row.slowest for row in summary.ranks] == [False, False, True, False]
    assert fastrnns_rs.read(tmp_path / "worker0.json").ranks == []


def test_what_is_chosen_is_what_ranks_are_held_by(tmp_path: Path) -> None:
    summary = fastrnns_rs.read(*job(tmp_path, [100, 200, 100]), pattern="^a$")
    assert [(row.busy_ns, row.kernel_count) for row in summary.ranks] == [(25_000, 1), (50_000, 1), (25_000, 1)]


@pytest.mark.parametrize("value", ["-1", "1e99", '"3"', "null", "[1]", "18446744073709551616"])
def test_what_a_file_says_of_its_job_is_not_trusted(value: str, tmp_path: Path) -> None:
    info = {"rank": "~", "world_size": "~"}
    texts = [
        json.dumps(document([kernel(start=start)], distributedInfo=info)).replace('"~"', value) for start in (0, 1)
    ]
    summary = fastrnns_rs.read(write(tmp_path / "x.json", texts[0]), write(tmp_path / "y.json", texts[1]))
    assert [row.rank for row in summary.ranks] == [None, None]
    assert [warning.code for warning in summary.warnings] == (["names_damaged"] * 2 if value == "-1" else [])
    # A rank below 0 made a document that could not be read again.
    saved = write(tmp_path / "summary.json", json.dumps(summary.to_dict()))
    assert fastrnns_rs.load(saved).to_dict() == summary.to_dict()


def test_a_capture_that_is_given_twice_is_told_of(tmp_path: Path) -> None:
    """As it is or compressed: nothing is left out, since the files may have been named on purpose."""
    events = [kernel(), kernel(start=5)]
    plain, packed = write(tmp_path / "x.json", events), write(tmp_path / "y.json.gz", events)
    other = write(tmp_path / "z.json", [kernel(), kernel(start=6)])
    for paths, count in (((plain, plain), 1), ((plain, other, packed, packed), 2), ((plain, other), 0)):
        summary = fastrnns_rs.read(*paths)
        found = [warning for warning in summary.warnings if warning.code == "same_capture_twice"]
        assert [one.evidence.count(" and ") for one in found] == ([count] if count else [])
        assert sum(row.count for row in summary.kernels) == 2 * len(paths)
    assert codes(fastrnns_rs.read(*[write(tmp_path / f"{name}.json", [call()]) for name in "ab"])) == [
        "same_capture_twice"
    ]
    # Both are of one rank, too, which goes without saying.
    rank = job(tmp_path / "job", [100.0])[0]
    assert codes(fastrnns_rs.read(rank, rank)) == ["same_capture_twice"]


@pytest.mark.parametrize("path", captures("kineto/hta_v100_ddp.json.gz"))
def test_a_rank_of_the_field_says_so(path: Path) -> None:
    [one] = fastrnns_rs.read(path).captures
    assert (one.rank, one.world_size) == (1, 2)


def test_a_folder_is_every_capture_in_it(tmp_path: Path) -> None:
    folder = tmp_path / "job"
    paths = job(folder, [100] * 12)
    for number, path in enumerate(paths):
        path.rename(folder / f"rank{number}.bin")
    (folder / ".hidden").write_text("nothing")
    (folder / "below").mkdir()
    write(folder / "below" / "x.json", [kernel("below")])
    summary = fastrnns_rs.read(folder)
    assert [row.path for row in summary.ranks] == [str(folder / f"rank{number}.bin") for number in range(12)]
    assert codes(summary) == []
    (folder / "notes.txt").write_text("what I did")
    (folder / "cut.gz").write_bytes(b"\x1f\x8b\x08")
    write(folder / "other.json", '{"schema": "fastrnns-rs/capture"}')
    summary = fastrnns_rs.read(folder)
    assert len(summary.ranks) == 12
    assert codes(summary) == ["files_left_out"]
    warning = summary.warnings[0]
    assert warning.message == "figures do not include 3 files: not a readable capture"
    assert "notes.txt: the file is text" in warning.evidence
    # A file that is named must be one.
    with pytest.raises(FastrnnsError, match=r"notes\.txt"):
        fastrnns_rs.read(folder, folder / "notes.txt")


@pytest.mark.parametrize(("late", "slowest"), [(3, 3), (1, 1)])
def test_a_rank_that_waits_for_others_is_not_the_slowest(late: int, slowest: int, tmp_path: Path) -> None:
    """All end the collective at once: those that are early are in it for longer, and busy for longer in all."""
    for rank in range(4):
        took = 60.0 if rank == late else 20.0
        collective = kernel("ncclDevKernel_AllReduce_Sum_f32_RING_LL(ncclDevComm*)", took, 100 - took + rank)
        info = {"backend": "nccl", "rank": rank, "world_size": 4}
        write(tmp_path / f"w{rank}.json", document([kernel("k", 0, took), collective], **BASE, distributedInfo=info))
    found = fastrnns_rs.read(tmp_path)
    assert [row.rank for row in found.ranks if row.slowest] == [slowest]
    assert [row.work_ns for row in found.ranks] == [60_000 if rank == late else 20_000 for rank in range(4)]
    [warning] = [one for one in found.warnings if one.code == "rank_skew"]
    assert "3.00 times" in warning.message


@pytest.mark.parametrize("name", ["timeline.json", "timeline.json.gz"])
def test_a_drawn_trace_is_no_capture_of_its_folder(name: str, tmp_path: Path) -> None:
    [path] = job(tmp_path, [8.0])
    assert run_cli("report", path, "--trace", tmp_path / name).status == 0
    summary = fastrnns_rs.read(tmp_path)
    assert [one.path for one in summary.captures] == [str(path)]
    left_out = [one.evidence for one in summary.warnings if one.code == "files_left_out"]
    assert left_out == [str(tmp_path / name)]
    # Alone it is one.
    path.unlink()
    alone = fastrnns_rs.read(tmp_path)
    assert [row.count for row in alone.kernels] == [row.count for row in summary.kernels]
    assert "files_left_out" not in codes(alone)


def test_a_link_without_a_file_is_left_out_by_name(tmp_path: Path) -> None:
    """As a rank on a disk that is not mounted; and pipes and devices."""
    job(tmp_path, [8.0, 9.0])
    (tmp_path / "rank2.json").symlink_to(tmp_path / "not_mounted" / "rank2.json")
    os.mkfifo(tmp_path / "rank3.json")
    (tmp_path / "rank4.json").symlink_to("/dev/zero")
    # No file has such a long name.
    (tmp_path / "rank5.json").symlink_to("a" * 300)
    summary = fastrnns_rs.read(tmp_path)
    assert len(summary.ranks) == 2
    [warning] = [one for one in summary.warnings if one.code == "files_left_out"]
    assert warning.message == "figures do not include 4 paths without a regular file"
    assert warning.evidence == "; ".join(str(tmp_path / f"rank{number}.json") for number in (2, 3, 4, 5))


def test_a_folder_without_captures_is_an_error(tmp_path: Path) -> None:
    (tmp_path / "subfolder").mkdir()
    with pytest.raises(FastrnnsError, match=r"no file in folder: .* subfolders are skipped"):
        fastrnns_rs.read(tmp_path)
    (tmp_path / "notes.txt").write_text("what I did")
    (tmp_path / "more.txt").write_text("what I did")
    with pytest.raises(FastrnnsError, match=r"no capture in folder: .*more\.txt' and 1 more file: the file is text"):
        fastrnns_rs.read(tmp_path)
    done = run_cli("report", tmp_path)
    assert (done.status, done.stdout, len(done.stderr.splitlines())) == (2, "", 2)


def test_a_report_and_its_export_are_one_capture(tmp_path: Path) -> None:
    (tmp_path / "x.nsys-rep").write_bytes(b"NVIDIA Tegra Profiler Report 1.\n")
    fake_tools.nsys_database(tmp_path / "x.sqlite", more=KERNELS)
    summary = fastrnns_rs.read(tmp_path)
    assert [Path(one.path).name for one in summary.captures] == ["x.sqlite"]
    # One that nobody can export is left out of a folder.
    (tmp_path / "y.nsys-rep").write_bytes(b"NVIDIA Tegra Profiler Report 1.\n")
    summary = fastrnns_rs.read(tmp_path, nsys_path=str(tmp_path / "no_nsys"))
    assert [Path(one.path).name for one in summary.captures] == ["x.sqlite"]
    assert codes(summary) == ["files_left_out"]
    with pytest.raises((FastrnnsError, MissingError)):
        fastrnns_rs.read(tmp_path / "y.nsys-rep", nsys_path=str(tmp_path / "no_nsys"))


def test_names_are_in_their_natural_order() -> None:
    names = ["rank10", "b", "rank2", "a10b2", "a10b10", "a9", "2", "10", "rank02", "²", ""]
    assert sorted(names, key=natural) == ["", "2", "10", "a9", "a10b2", "a10b10", "b", "rank2", "rank02", "rank10", "²"]


@pytest.mark.parametrize("word", ["0", "-1", "many", "1.5", ""])
def test_workers_are_a_number_or_ray(word: str, tmp_path: Path) -> None:
    path = write(tmp_path / "x.json", [kernel()])
    done = run_cli("report", path, f"--workers={word}")
    assert (done.status, done.stdout) == (2, "")
    assert run_cli("report", path, "--workers", "3").status == 0
    with pytest.raises(UsageError):
        fastrnns_rs.read(path, workers=0)


def test_a_file_less_than_there_are_threads_is_no_trouble(tmp_path: Path) -> None:
    path = write(tmp_path / "x.json", document(by_dice(1)))
    trace = Trace([(path, "x")], threads=64, first=7)
    assert (trace.capture_count, trace.left_out) == (1, [])


def test_ctrl_c_ends_reading_many_files(tmp_path: Path) -> None:
    """The same files again and again, which takes half a minute."""
    paths = [str(write(tmp_path / f"{seed}.json", document(by_dice(seed, 2000)))) for seed in range(2)]
    interrupt("import fastrnns_rs", f"fastrnns_rs.read(*({paths} * 40_000))")


@pytest.mark.parametrize(
    ("places", "evidence"),
    [
        ([(0, 4), (1, 8)], "{0}: rank 0 of 4, {1}: rank 1 of 8"),
        ([(0, 4), (9, 4)], "{1}: rank 9 of 4"),
        ([(0, 4), (1, 4)], None),
    ],
)
def test_files_of_several_jobs_are_reported(
    places: list[tuple[int, int]], evidence: str | None, tmp_path: Path
) -> None:
    paths = []
    for number, (rank, size) in enumerate(places):
        info = {"rank": rank, "world_size": size}
        paths.append(write(tmp_path / f"{number}.json", document([kernel(start=number)], distributedInfo=info)))
    found = [one.evidence for one in fastrnns_rs.read(*paths).warnings if one.code == "ranks_disagree"]
    assert found == ([] if evidence is None else [evidence.format(*paths)])


def test_the_slowest_of_many_ranks_is_busy_longest_without_communication(tmp_path: Path) -> None:
    """Ranks that wait in a collective for the slowest rank are busy for longer."""
    nccl = "ncclDevKernel_AllReduce_Sum_f32_RING_LL(ncclDevComm*)"
    paths = []
    for rank in range(9):
        work, waited = (95, 3) if rank == 3 else (60, 40)
        info = {"backend": "nccl", "rank": rank, "world_size": 9}
        events = [kernel("gemm", 10, work), kernel(nccl, 10 + work, waited), kernel("gemm", 200, 1)]
        paths.append(write(tmp_path / f"rank{rank}.json", document(events, **BASE, distributedInfo=info)))
    summary = fastrnns_rs.read(*paths)
    assert [row.rank for row in summary.ranks if row.slowest] == [3]
    lines = summary.render(width=80).splitlines()
    (slowest,) = (line for line in lines if "(slowest)" in line)
    (fastest,) = (line for line in lines if "(fastest)" in line)
    assert slowest.split()[0] == "3"
    assert fastest.split()[0] != "3"
    plain = make_plain(summary.document)
    assert next(label for label, _ in with_budget(plain)) == "rank 3 (slowest)"
    assert next(label for label, _ in ranks(plain)) == "rank 3 (slowest)"
