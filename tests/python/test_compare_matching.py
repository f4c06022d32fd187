"""Which series are compared with which: repeated runners, several files, `ab`; and what is refused."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from conftest import ROOT
from run_files import ENVIRONMENT, PROBLEM, both, failed, result, run, write

from fastrnns_rs import UsageError, compare
from fastrnns_rs.cli.exit_codes import find_exit_code
from fastrnns_rs.documents.comparison import Comparison
from fastrnns_rs.documents.run_file import Result


def codes(comparison: Comparison) -> set[str]:
    return {one.code for one in comparison.warnings}


def changed(**changes: Any) -> Result:
    return result(seed=1, problem=replace(PROBLEM, **changes))


CONFLICTS = [
    (result(timing_mode="cuda_events"), "timing mode cpu_wall and cuda_events"),
    (changed(device="cuda:1"), "device cpu and cuda:1"),
    (changed(dtype="float16"), "dtype float32 and float16"),
    (changed(hidden_size=128), "hidden-size 64 and 128"),
    (result(mode="inference"), "mode train and inference"),
]


@pytest.mark.parametrize(("other", "reason"), CONFLICTS)
def test_what_does_not_belong_together_is_refused_or_labelled(other: Result, reason: str) -> None:
    with pytest.raises(UsageError) as raised:
        compare(run([result()]), run([other]))
    assert raised.value.message.startswith(f"different problems: {reason} (cudnn/forward")
    assert "force" in raised.value.hint
    assert find_exit_code(raised.value) == 2
    found = compare(run([result(), result("fine")]), run([other, result("fine")]), force=True)
    rows = [row for row in found.rows if row.runner == "cudnn" and row.ratio is not None]
    assert rows
    assert all(row.label == f"forced: {reason}" for row in rows)
    assert found["fine/forward"].label is None
    assert found.method.forced
    assert "forced" in codes(found)
    with pytest.raises(UsageError, match="method.forced is false, and a warning is that the comparison was forced"):
        Comparison.from_dict(replace(found, method=replace(found.method, forced=False)).to_dict())
    assert not compare(run([result()]), run([result(seed=1)]), force=True).method.forced


def test_another_way_to_compile_is_what_one_compares() -> None:
    plan = run([]).plan
    other = run([result()], plan=replace(plan, jit=replace(plan.jit, fuser="old")))
    found = compare(run([result()]), other)
    changed = [(one.key, one.baseline, one.candidate) for one in found.environment_differences]
    assert changed == [("plan.jit.fuser", "te", "old")]
    assert not found.method.forced


def test_one_device_may_have_two_names_and_another_seed_is_told() -> None:
    found = compare(run([changed(device="cuda")]), run([changed(device="cuda:0", seed=7)]))
    assert [(one.key, one.baseline, one.candidate) for one in found.environment_differences] == [("problem.seed", 0, 7)]


def test_every_pair_of_seeds_is_a_difference() -> None:
    baseline, candidate = (
        run([changed(hidden_size=size, seed=seed) for size, seed in zip((32, 64, 128), seeds, strict=True)])
        for seeds in ((0, 1, 0), (7, 8, 7))
    )
    found = compare(baseline, candidate).environment_differences
    assert [(one.baseline, one.candidate) for one in found if one.key == "problem.seed"] == [(0, 7), (1, 8)]


def test_repeated_runners_are_paired_by_their_problems() -> None:
    sizes = [32, 64, 128]
    first = run(changed(hidden_size=size) for size in sizes)
    second = run(changed(hidden_size=size) for size in [*reversed(sizes), 256])
    found = compare(first, second)
    assert [row.problem.hidden_size for row in found.rows if row.phase == "forward"] == [*sizes, 256]
    assert {row.ratio for row in found.rows if row.verdict} == {1.0}
    assert "geometric mean: of 3 combinations of runner and problem, both" in found.render(wide=True)
    assert "geometric mean: of 1 runner, both" in compare(run([changed()]), run([changed()])).render(wide=True)
    assert [row.reason for row in found.rows if row.verdict is None] == ["only in the candidate"] * 2


def test_rows_of_one_runner_have_their_problems_in_their_names() -> None:
    first = run(changed(hidden_size=size) for size in (32, 64))
    second = run(result(processes=2, seed=2, problem=replace(PROBLEM, hidden_size=size)) for size in (32, 64))
    found = compare(first, second)
    (few,) = (one.evidence for one in found.warnings if one.code == "too_few_processes")
    names = [f"cudnn/{phase} (hidden_size {size})" for phase in ("forward", "backward") for size in (32, 64)]
    assert few == ", ".join(names) + ": 10 and 2 processes"
    assert found["cudnn/forward (hidden_size 64)"] is found.rows[1]
    with pytest.raises(KeyError):
        found["cudnn/forward"]


def test_problems_that_differ_are_refused_however_many_there_are() -> None:
    first = run(changed(hidden_size=size) for size in (32, 64))
    second = run(changed(hidden_size=size) for size in (128, 256))
    with pytest.raises(UsageError, match="hidden-size 32 and 128 .cudnn/forward .*, 3 more rows"):
        compare(first, second)
    found = compare(first, second, force=True)
    assert len(found.rows) == 4
    assert all(row.label is not None for row in found.rows)
    assert not any("only in" in row.reason for row in found.rows)


@pytest.mark.parametrize("interrupted", [False, True])
def test_of_two_sweeps_the_points_that_both_have_are_compared(interrupted: bool) -> None:
    first = run(changed(hidden_size=size) for size in (32, 64))
    second = run(changed(hidden_size=size) for size in (32, 256))
    if interrupted:
        # A point where no process came to its end is that point all the same.
        cut = replace(second.results[0], status="failed", timing_mode=None, reason="it broke", forward=None)
        second = replace(second, results=[replace(cut, backward=None, processes=[]), *second.results[1:]])
    found = compare(first, second)
    only = [row.reason for row in found.rows if "only in" in row.reason]
    assert len(found.rows) == 6
    assert sorted({reason.partition(":")[0] for reason in only}) == ["only in the baseline", "only in the candidate"]
    assert len(only) == 4


def test_runners_without_a_common_problem_are_told_in_what() -> None:
    first = run(changed(hidden_size=size) for size in (32, 64))
    second = run(changed(hidden_size=size, dtype="float16") for size in (128, 256, 512))
    with pytest.raises(UsageError) as raised:
        compare(first, second, force=True)
    assert raised.value.message.endswith(": cudnn differs in hidden-size, dtype")


def test_a_run_on_both_sides_is_refused(tmp_path: Path) -> None:
    files = [write(tmp_path / f"{index}.json", run([result(seed=index)])) for index in range(3)]
    with pytest.raises(UsageError) as raised:
        compare(files[:2], files[1:])
    assert f"{files[1]!r} (baseline) and {files[1]!r} (candidate)" in raised.value.message
    # What was measured of a run until it was interrupted, and the whole of it.
    whole = run([result()])
    part = replace(whole, results=[result(processes=4)])
    with pytest.raises(UsageError, match="contain the same run"):
        compare(part, whole)
    # Processes of a copy would count twice.
    with pytest.raises(UsageError, match="contain the same run"):
        compare([whole, replace(whole, run_id="another")], [run([result(seed=1)])])
    assert "same_times" in codes(compare(files[:2], files[:2]))
    foreign = ROOT / "tests" / "data" / "foreign"
    with pytest.raises(UsageError, match=r"pyperf\.json.* contain the same run"):
        compare([foreign / "pyperf.json"], [foreign / "pyperf_memory.json", foreign / "pyperf.json"])


def test_a_runner_that_one_file_skipped_or_was_interrupted_in_has_the_processes_of_the_others() -> None:
    whole, other = result(), run([result(seed=9)])
    for spoilt in (result(processes=0), failed("cudnn", status="skipped")):
        for files in ([run([whole]), run([spoilt])], [run([spoilt]), run([whole])]):
            found = compare(files, other)
            assert found["cudnn/forward"].baseline.n_processes == 10
            assert found["cudnn/forward"].verdict is not None
    found = compare([run([result(processes=0)]), run([failed("cudnn", status="skipped")])], other)
    assert found.rows[0].reason == "interrupted: no process came to its end (in the baseline)"


def test_processes_of_several_files_are_added_together(tmp_path: Path) -> None:
    parts = [result(seed=seed, processes=4) for seed in range(3)]
    files = [write(tmp_path / f"{index}.json", run([part])) for index, part in enumerate(parts)]
    whole = replace(parts[0], processes=[one for part in parts for one in part.processes])
    other = run([result(seed=9)])
    pooled, single = compare(files, other), compare(run([whole]), other)
    assert pooled.rows == single.rows
    assert pooled.rows[0].baseline.n_processes == 12
    assert (pooled.baseline.files, pooled.baseline.label) == (files, f"{files[0]} and 2 more")
    (tmp_path / "copy.json").write_bytes(Path(files[0]).read_bytes())
    for again in (files[0], tmp_path / "copy.json"):
        with pytest.raises(UsageError, match="duplicate run: "):
            compare([files[0], again], other)
    # A runner that failed in one of them is not saved by the others.
    found = compare(run([result()]), [run([result()]), run([failed("cudnn")])])
    assert found.rows[0].reason == "failed: out of memory (in the candidate)"
    assert found.exit_code == 1
    # Its first process may have failed, so that its timing mode is unknown.
    broken = run([replace(failed("cudnn"), timing_mode=None)])
    for files in ([run([result()]), broken], [broken, run([result()])]):
        found = compare(files, run([result(seed=9)]))
        assert [(row.runner, row.phase, row.verdict) for row in found.rows] == [
            ("cudnn", "forward", None),
            ("cudnn", "backward", None),
        ]
        assert found.rows[0].reason == "failed: out of memory (in the baseline)"


def test_files_of_one_side_that_differ_are_told() -> None:
    environment = replace(ENVIRONMENT, torch_version="2.14.0")
    found = compare([run([result()]), run([result(seed=1)], environment=environment)], run([result(seed=2)]))
    assert "pooled_files_differ" in codes(found)
    runs = [run([result(seed=seed, source_sha256=source * 64)]) for seed, source in enumerate("aab")]
    assert "pooled_files_differ" not in codes(compare(runs[:2], runs[2]))
    [warning] = [one for one in compare(runs[1:], runs[0]).warnings if one.code == "pooled_files_differ"]
    assert str(warning.evidence).endswith(": source of cudnn")
    (difference,) = found.environment_differences
    assert (difference.key, difference.baseline, difference.candidate) == ("torch_version", "2.14.0 | 2.15.0", "2.15.0")


def test_a_file_of_ab_has_both_sides(tmp_path: Path) -> None:
    path = write(tmp_path / "ab.json", both(result(), result(seed=1, level_ns=1.1e6)))
    found = compare(path)
    assert [row.verdict for row in found.rows] == ["slower", "slower"]
    assert (found.baseline.label, found.candidate.label) == ("a: cudnn", "b: cudnn")
    with pytest.raises(UsageError, match="contains baseline and candidate"):
        compare(path, path)
    with pytest.raises(UsageError, match="is a baseline only"):
        compare(write(tmp_path / "run.json", run([result()])))
    with pytest.raises(UsageError, match="not a run of ab"):
        compare(replace(both(result(), result()), sides=both(result(), result()).sides[:1]))


def test_sides_of_ab_may_differ_in_runner_and_problem_and_say_so() -> None:
    found = compare(both(result("cudnn"), result("jit", problem=replace(PROBLEM, dtype="float16"))))
    assert [row.runner for row in found.rows] == ["cudnn / jit"] * 2
    assert found.rows[0].label == "dtype float32 and float16"
    assert not found.method.forced
    with pytest.raises(UsageError, match="timing mode cpu_wall and cuda_events .cudnn / jit/forward"):
        compare(both(result("cudnn"), result("jit", timing_mode="cuda_events")))


def test_a_result_under_another_seed_counts_once() -> None:
    """Sides are pooled whatever their seeds are: twelve processes became seventy-two."""
    row = result(seed=1)
    copied = replace(row, problem=replace(row.problem, seed=7))
    with pytest.raises(UsageError, match="contains a process twice"):
        compare(run([row, copied]), run([result(seed=2)]))
    other = result(seed=3, problem=replace(row.problem, seed=7))
    assert compare(run([row, other]), run([result(seed=2)])).rows
