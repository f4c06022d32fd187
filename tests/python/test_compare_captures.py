"""`compare` of captures: which kernels made the difference, by how much, and how sure that is."""

from __future__ import annotations

import gzip
import json
import xml.etree.ElementTree as ET
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from captured_sides import ADD, GEMM, MODEL, RNN, capture
from conftest import ROOT, run_cli
from corpus import captures
from kineto_traces import kernel
from run_files import result, run, write

from fastrnns_rs import compare
from fastrnns_rs.documents.comparison import Comparison
from fastrnns_rs.errors import FastrnnsError, UsageError
from fastrnns_rs.verbs.compare.captures.capture_stats import NormalisedTimes
from fastrnns_rs.verbs.compare.captures.kernel_matching import match
from fastrnns_rs.verbs.report.capture_reader import read

SCHEMA = json.loads((ROOT / "docs" / "schemas" / "comparison.schema.json").read_text())


def call(*words: str | Path) -> tuple[int, str, str]:
    """Runs the command: its exit status, and what it wrote to stdout and stderr."""
    done = run_cli("compare", *words)
    return done.status, done.stdout, done.stderr


def made(folder: Path, name: str, count: int, **more: Any) -> list[Path]:
    first = sum(name.encode()) * 1000
    return [capture(folder / f"{name}{place}.json", seed=first + place, **more) for place in range(count)]


def exact(found: Comparison) -> None:
    """What every comparison of captures must fulfil."""
    assert found.kind == "capture"
    assert found.device_time is not None
    whole = found.device_time.delta_ns
    for rows in (found.kernels, found.categories):
        assert sum(one.delta_ns for one in rows) == whole
        for one in rows:
            before, after = (0 if side is None else side.total_ns for side in (one.baseline, one.candidate))
            assert one.delta_ns == after - before
            assert one.contribution == (one.delta_ns / whole if whole else None)
    sizes = [abs(one.delta_ns) for one in found.kernels]
    assert sizes == sorted(sizes, reverse=True)
    jsonschema.validate(found.to_dict(), SCHEMA)
    assert Comparison.from_dict(json.loads(found.render("json"))) == found


def test_a_slow_kernel_is_named_first_with_its_verdict(tmp_path: Path) -> None:
    before, after = made(tmp_path, "before", 6), made(tmp_path, "after", 6, slower={GEMM: 1.2})
    found = compare(before, after)
    exact(found)
    first = found.kernels[0]
    assert (first.name, first.verdict, first.matched_by, found.basis) == (GEMM, "slower", "name", "per_capture")
    assert first.ratio is not None
    assert first.ratio_ci_low is not None
    assert first.ratio_ci_high is not None
    assert first.ratio_ci_low < 1.2 < first.ratio_ci_high
    # Four launches of 40 µs, a fifth longer.
    assert first.delta_ns == pytest.approx(4 * 40_000 * 0.2, rel=0.1)
    assert first.baseline is not None
    assert (first.baseline.count, first.baseline.launches, first.baseline.n_repeats) == (24, 4.0, 6)
    assert {one.name: one.verdict for one in found.categories}["gemm"] == "slower"
    assert found.method.name == "welch_log_captures"
    assert found.baseline.captures == found.candidate.captures == 6


def test_totals_are_means_of_captures_by_an_independent_reading(tmp_path: Path) -> None:
    before, after = made(tmp_path, "one", 3, launches=5), made(tmp_path, "two", 3, slower={RNN: 0.9})
    found = compare(before, after)
    exact(found)
    for row in found.kernels:
        for side, files in ((row.baseline, before), (row.candidate, after)):
            events = [event for file in files for event in json.loads(file.read_text())["traceEvents"]]
            named = [
                one
                for one in events
                if one["name"] == row.name or (row.name == "memcpy HtoD" and "Memcpy" in one["name"])
            ]
            assert side is not None
            assert side.count == len(named)
            assert abs(side.total_ns - sum(round(one["dur"] * 1000) for one in named) / 3) < 1
            assert side.launches == pytest.approx(len(named) / 3)


def test_one_capture_a_side_gives_no_verdict_and_says_so_once(tmp_path: Path) -> None:
    before = capture(tmp_path / "before.json")
    after = capture(tmp_path / "after.json.gz", slower={RNN: 2.0}, seed=1)
    found = compare(before, after)
    exact(found)
    assert found.basis == "total"
    assert found.kernels[0].name == RNN
    assert {one.verdict for one in found.kernels} == {None}
    assert {one.reason for one in found.kernels} == {"fewer than 3 independent captures per side: no verdict"}
    assert found.warnings == []
    _, text, _ = call(before, after)
    assert text.count("No verdict: one capture per side.") == 1
    assert "RNN_blockPersist" in text


def test_two_captures_a_side_are_too_few(tmp_path: Path) -> None:
    found = compare(made(tmp_path, "a", 2), made(tmp_path, "b", 2))
    exact(found)
    assert {one.reason for one in found.kernels} == {"fewer than 3 independent captures per side: no verdict"}
    assert "\nNo verdict: 2 and 2 captures." in found.render("table")


def test_a_renamed_template_is_found_by_its_shape(tmp_path: Path) -> None:
    renamed = RNN.replace("float, 1", "float, 2")
    before, after = made(tmp_path, "a", 3), made(tmp_path, "b", 3, rename={RNN: renamed}, slower={RNN: 1.5})
    found = compare(before, after)
    exact(found)
    first = found.kernels[0]
    assert (first.matched_by, first.baseline_name, first.candidate_name) == ("shape", RNN, renamed)
    assert (first.presence, first.verdict, first.name) == ("both", "slower", renamed)
    assert "matched_by_shape" in [one.code for one in found.warnings]
    for name in ("table", "markdown", "junit"):
        text = found.render(name, wide=True)
        assert "was" in text or "shape" in text


@pytest.mark.parametrize(
    ("what", "after"),
    [
        ("another grid", kernel("void cudnn::rnn::RNN_x<float, 2>(int)", 9e5, 3, grid=[3, 1, 1])),
        ("another category", kernel("ncclDevKernel_AllReduce_RNN_x(int)", 9e5, 3, grid=[2, 1, 1])),
        ("another name", kernel("void zzz<char>()", 9e5, 3, grid=[2, 1, 1])),
    ],
)
def test_what_is_not_alike_appeared_and_vanished(what: str, after: Any, tmp_path: Path) -> None:
    before = kernel("void cudnn::rnn::RNN_x<float, 1>(int)", 9e5, 3, grid=[2, 1, 1])
    found = compare(
        capture(tmp_path / "a.json", more=[before]), capture(tmp_path / "b.json", more=[after], without=(ADD,))
    )
    exact(found)
    presence = {one.name: (one.presence, one.matched_by, one.reason) for one in found.kernels}
    assert presence[before["name"]] == ("vanished", None, "only in the baseline"), what
    assert presence[after["name"]] == ("appeared", None, "only in the candidate")
    assert presence[ADD][0] == "vanished"
    assert "+ appeared" in found.render("table", wide=True)
    assert "GPU time: " in found.render("table")


def test_very_many_names_are_not_all_compared() -> None:
    """Files of 4 kB took minutes: 300 kernels, in three launch shapes, with long names that are nearly alike."""

    def kernels(side: str, names: int, shapes: int) -> list[NormalisedTimes]:
        found = []
        for number in range(names * shapes):
            name, size = f"{'a' * 190}{side}{number:03}", number % shapes + 1
            times = {"count": 1, "total_ns": 1, "mean_ns": 1.0, "launches": 1.0, "values_ns": list[float]()}
            shape = ((size, 1, 1), (1, 1, 1))
            found.append(NormalisedTimes(key=(name, True), short_name=name, category="other", shape=shape, **times))
        return found

    for names, matched_by in ((10, "shape"), (100, None)):
        assert {one.matched_by for one in match(kernels("x", names, 3), kernels("y", names, 3))} == {matched_by}


def test_a_kernel_with_far_more_launches_is_another_one(tmp_path: Path) -> None:
    many = [kernel("void f<2>(int)", 9e5 + place, 0.5, grid=[2, 1, 1]) for place in range(40)]
    found = compare(
        capture(tmp_path / "a.json", more=[kernel("void f<1>(int)", 9e5, 3, grid=[2, 1, 1])]),
        capture(tmp_path / "b.json", more=many),
    )
    assert {one.presence for one in found.kernels if one.name.startswith("void f")} == {"appeared", "vanished"}


def test_other_devices_are_refused_unless_forced(tmp_path: Path) -> None:
    before = capture(tmp_path / "a.json")
    after = capture(tmp_path / "b.json", device="Tesla V100-SXM2-16GB", seed=1)
    message = "the GPUs differ: A100-SXM4-40GB and V100-SXM2-16GB"
    with pytest.raises(UsageError, match=message):
        compare(before, after)
    found = compare(before, after, force=True)
    exact(found)
    assert found.method.forced
    assert found.environment_differences[0].key == "devices"
    for wide in (False, True):
        assert f"\nwarning[forced]: {message}\n" in found.render("table", wide=wide)
    # A document that says otherwise is refused, with the warning or without it.
    other = found.to_dict()
    other["method"]["forced"] = False
    with pytest.raises(UsageError, match="method.forced is false, and a warning is that the comparison was forced"):
        Comparison.from_dict(other)
    other["warnings"] = [one for one in other["warnings"] if one["code"] != "forced"]
    names = r"\['NVIDIA A100-SXM4-40GB'\] and \['Tesla V100-SXM2-16GB'\]"
    with pytest.raises(UsageError, match=f"method.forced is false, and the devices are {names}"):
        Comparison.from_dict(other)


def test_runs_and_captures_are_not_mixed(tmp_path: Path) -> None:
    measured = write(tmp_path / "run.json", run([result()]))
    traced = capture(tmp_path / "trace.json")
    for sides in ((measured, traced), (traced, measured)):
        with pytest.raises(UsageError) as caught:
            compare(*sides)
        assert str(traced) in caught.value.message
        assert str(measured) in caught.value.message
    with pytest.raises(UsageError, match="is a baseline only"):
        compare(traced)
    status, _, said = call(measured, measured, "--iteration-range", "x")
    assert (status, "--iteration-range" in said) == (2, True)
    for name in ("iteration_range", "nsys_path"):
        with pytest.raises(UsageError, match=f"`{name}` needs captures"):
            compare(measured, measured, **{name: "x"})
    (tmp_path / "pyproject.toml").write_text('[tool.fastrnns-rs.compare]\niteration-range = "x"\n')
    assert run_cli("compare", measured, measured, cwd=tmp_path).status == 0


def test_a_capture_counts_once(tmp_path: Path) -> None:
    one = capture(tmp_path / "a.json")
    copied, packed = tmp_path / "copy.json", tmp_path / "packed.json.gz"
    copied.write_bytes(one.read_bytes())
    packed.write_bytes(gzip.compress(one.read_bytes()))
    for again in (copied, packed):
        with pytest.raises(UsageError, match="contain the same capture"):
            compare([one, again], capture(tmp_path / "b.json", seed=3))
    assert "same_capture" in [notice.code for notice in compare(one, packed).warnings]
    assert "same_capture" in [notice.code for notice in compare(one, copied).warnings]


def test_a_capture_counts_once_in_a_folder(tmp_path: Path) -> None:
    """Its GPU time was doubled."""
    folder = tmp_path / "side"
    folder.mkdir()
    one, other = capture(folder / "a.json"), capture(tmp_path / "b.json", seed=3)
    (folder / "a.json.gz").write_bytes(gzip.compress(one.read_bytes()))
    for sides in ((folder, other), (other, folder), (read(folder), other)):
        with pytest.raises(UsageError, match="contains the same capture twice") as caught:
            compare(*sides)
        assert str(caught.value).count(str(one)) == 2
    status, _, said = call(folder, other)
    assert (status, "a.json.gz" in said) == (2, True)


def test_files_of_a_folder_that_cannot_be_read_are_named(tmp_path: Path) -> None:
    """They were left out in silence."""
    before, after = tmp_path / "before", tmp_path / "after"
    for folder in (before, after):
        folder.mkdir()
        made(folder, folder.name, 2)
    cut = after / "after2.json.gz"
    cut.write_bytes(gzip.compress((after / "after1.json").read_bytes())[:30])
    for sides in ((before, after), (after, before)):
        found = compare(*sides)
        exact(found)
        assert [str(cut) in one.evidence for one in found.warnings if one.code == "files_left_out"] == [True]


def test_files_that_are_none_are_named(tmp_path: Path) -> None:
    good, bad = capture(tmp_path / "a.json"), tmp_path / "bad.sqlite"
    bad.write_bytes(b"SQLite format 3\0")
    with pytest.raises(FastrnnsError, match=r"bad\.sqlite"):
        compare(good, bad)
    empty = tmp_path / "empty.json"
    empty.write_text('{"traceEvents": []}')
    with pytest.raises(UsageError, match=r"no GPU activity in capture: .*empty\.json"):
        compare(empty, good)
    with pytest.raises(UsageError, match=r"'noise-floor' \(margin\)"):
        compare(good, good, margin="noise-floor")


def test_a_kernel_may_be_called_as_copies_are(tmp_path: Path) -> None:
    """Neither takes the place of the other."""
    before = capture(tmp_path / "a.json", more=[kernel("memcpy HtoD", 9e5, 5)])
    after = capture(tmp_path / "b.json", more=[kernel("memcpy HtoD", 9e5, 12)])
    found = compare(before, after)
    exact(found)
    assert found.device_time is not None
    assert found.device_time.delta_ns == 7000
    assert sorted(one.delta_ns for one in found.kernels if one.name == "memcpy HtoD") == [0, 7000]


def test_summaries_of_nvprof_are_totals(tmp_path: Path) -> None:
    head = '==1== Profiling result:\n"Type","Time(%)","Time","Calls","Avg","Min","Max","Name"\n,%,ns,,ns,ns,ns,\n'
    files = []
    for name, took in (("a", 3000), ("b", 5000)):
        rows = [
            ("GPU activities", took, "f(int)"),
            ("GPU activities", 70, "[CUDA memset]"),
            ("API calls", 9, "cudaFree"),
        ]
        text = "".join(f'"{kind}",50,{total},1,{total},{total},{total},"{called}"\n' for kind, total, called in rows)
        files.append(tmp_path / f"{name}.csv")
        files[-1].write_text(head + text)
    found = compare(*files)
    exact(found)
    assert [(one.name, one.delta_ns, one.verdict) for one in found.kernels] == [
        ("f(int)", 2000, None),
        ("memset", 0, None),
    ]


def test_exit_codes_and_formats(tmp_path: Path) -> None:
    before = made(tmp_path, "before", 4)
    after = made(tmp_path, "after", 4, slower={GEMM: 1.5, ADD: 0.5})
    files = ["--baseline", *before, "--candidate", *after]
    assert call(*files)[0] == 0
    assert call(*files, "--fail-on", "regression")[0] == 3
    assert call(before[0], after[0], "--fail-on=inconclusive")[0] == 4
    assert call(before[0], after[0], "--fail-on=regression")[0] == 0
    suite = ET.fromstring(compare(before, after).render("junit")).find("testsuite")  # our own
    assert suite is not None
    failed = [case.get("name") for case in suite.iter("testcase") if case.find("failure") is not None]
    assert GEMM in failed
    assert ADD not in failed
    assert len([*suite.iter("testcase")]) == len(MODEL) + 2


def test_explaining_a_kernel(tmp_path: Path) -> None:
    before, after = made(tmp_path, "before", 4), made(tmp_path, "after", 4, slower={GEMM: 1.5})
    files = ["--baseline", *before, "--candidate", *after, "--explain"]
    for name in (GEMM, "sgemm", "RNN_blockPersist_fp_LSTM", "gemm", "device time"):
        assert "\n1. Geometric means: " in call(*files, name)[1]
    _, text, _ = call(*files, GEMM)
    row = compare(before, after).kernels[0]
    assert text.startswith(f"{GEMM}: slower by +50 [+4")
    assert "\ncategory: gemm\n" in text
    assert f"\ndifference: {row.delta_ns:+,d} ns" in text
    assert "\nCaptures, µs (4 per side, sorted)\n  baseline   " in text
    assert f" Ratio {row.ratio:.3f}" in text
    status, _, said = call(*files, "nothing")
    assert (status, "unknown row: 'nothing' (--explain)" in said) == (2, True)


def test_long_lists_are_cut_where_people_read(tmp_path: Path) -> None:
    many = [kernel(f"kernel_{place:03}_{'x' * 150}_end{place}", 9e5 + place, 0.1 + place / 1000) for place in range(40)]
    found = compare(capture(tmp_path / "a.json"), capture(tmp_path / "b.json", more=many, seed=1))
    exact(found)
    assert "\n41 others " in found.render("table")
    text = found.render("table", wide=True)
    assert "… and 24 more, which changed less" in text
    assert "…" in next(line for line in text.splitlines() if "_end39" in line)
    assert len(found.kernels) == 44


@pytest.mark.parametrize("path", captures("nsys/mfu_2gpu_before_2026.2.sqlite"))
def test_an_export_of_nsys_against_its_report(path: Path, tmp_path: Path) -> None:
    other = capture(tmp_path / "b.json")
    found = compare(path, other, force=True)
    exact(found)
    summary = read(path)
    totals: dict[str, int] = {}
    for kernel_row in summary.kernels:
        totals[kernel_row.name] = totals.get(kernel_row.name, 0) + kernel_row.total_ns
    for memory_row in summary.memory_operations:
        totals[memory_row.kind] = totals.get(memory_row.kind, 0) + memory_row.total_ns
    assert {one.baseline_name: one.baseline.total_ns for one in found.kernels if one.baseline} == totals
