"""`show`: a file again."""

from __future__ import annotations

import gzip
import json
import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import screen_data
from foreign_files import FOLDER
from run_files import PROBLEM, both, exactly, result, run, series, write
from test_compare_command import call, validated

from fastrnns_rs import compare
from fastrnns_rs.documents.codec import RunWarning
from fastrnns_rs.documents.run_file import PlannedRunner, RunRank
from fastrnns_rs.verbs.compare.side import Side
from fastrnns_rs.views import foreign_results, formats

__all__ = ["call"]


@pytest.mark.parametrize("name", formats.RUN)
def test_a_run_is_shown_as_bench_shows_it(name: str, call: Any, tmp_path: Path) -> None:
    made = run([result()])
    path = write(tmp_path / "run.json", made)
    done = call("show", path, "--format", name)
    assert (done.status, done.stdout, done.stderr) == (0, made.remember_name(path).render(name), "")
    output = tmp_path / "out"
    assert call("show", path, "--format", name, "--output", output).stdout == ""
    assert output.read_text() == made.render(name)
    assert call("show", path, "--json").stdout == made.render("json")
    assert call("show", path).stdout == made.render("table")


@pytest.mark.parametrize("name", formats.RUN)
def test_what_a_run_warns_of_is_told_again(name: str, call: Any, tmp_path: Path) -> None:
    notices = [
        RunWarning(code="load", message="other programs \x1b[2J", evidence="load 3.1", hint="stop them"),
        RunWarning(code="odd", message="something is odd", evidence=None, hint=None),
    ]
    done = call("show", write(tmp_path / "x.json", run([result()], warnings=notices)), "--format", name)
    assert done.status == 0
    assert done.stderr.lstrip("\n") == (
        "warning[load]: other programs \\x1b[2J: load 3.1\n  hint: stop them\nwarning[odd]: something is odd\n"
    )


@pytest.mark.parametrize("status", ["interrupted", "failed"])
def test_a_run_that_is_not_whole_says_so(status: Any, call: Any, tmp_path: Path) -> None:
    path = write(tmp_path / "x.json", run([result()], status=status))
    done = call("show", path, "--format", "csv")
    assert (done.status, done.stderr) == (0, f"note: this run is not complete, but {status}\n")
    command = call("show", path).stderr.split("Continue:")[1:]
    assert command == ([f"\n  fastrnns-rs bench --resume {path}\n"] if status == "interrupted" else [])


def test_a_run_of_python_is_continued_in_python(call: Any, tmp_path: Path) -> None:
    path = write(tmp_path / "x.json", replace(run([result()], status="interrupted"), command=["train.py", "--fast"]))
    errors = call("show", path).stderr
    assert errors.endswith(f"Continue in Python, with the same arguments:\n  fastrnns_rs.bench(..., resume='{path}')\n")
    assert "fastrnns-rs bench --resume" not in errors


def test_a_run_of_ranks_is_not_continued(call: Any, tmp_path: Path) -> None:
    """The command would be refused, and that of `torchrun` is not in the file."""
    ranks = [RunRank(rank=rank, local_rank=rank, node=0, device="cpu") for rank in (0, 1)]
    path = write(tmp_path / "x.json", run([result()], status="interrupted", ranks=ranks))
    assert "Continue" not in call("show", path).stderr
    [warning] = [one for one in compare(path, run([result(seed=1)])).warnings if one.code == "run_interrupted"]
    assert not warning.hint


@pytest.mark.parametrize("words", [["--json"], ["--format", "csv"], ["--open"]])
def test_warnings_have_no_document(
    call: Any, words: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = write(tmp_path / "x.json", run([result()]))
    done = call("show", path, "--warnings", *words)
    assert (done.status, done.stdout) == (2, "")
    assert f"error: --warnings and {words[0]} exclude each other" in done.stderr
    monkeypatch.setenv("FASTRNNS_SHOW_WARNINGS", "1")
    if words != ["--open"]:
        assert "no warnings" not in call("show", path, *words).stdout
    monkeypatch.setenv("FASTRNNS_SHOW_FORMAT", "json")
    assert call("show", path, "--warnings").stdout == "no warnings\n"


def test_warnings_need_no_row_that_a_configured_filter_keeps(
    call: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = write(tmp_path / "x.json", run([result()]))
    assert "no rows match the filter" in call("show", path, "--warnings", "--filter", "runner=none").stderr
    monkeypatch.setenv("FASTRNNS_SHOW_FILTER", "runner=none")
    monkeypatch.setenv("FASTRNNS_SHOW_SORT", "none")
    done = call("show", path, "--warnings")
    assert (done.status, done.stdout, done.stderr) == (0, "no warnings\n", "")
    assert call("show", path).status == 2


def test_hints_name_the_run_that_is_shown(call: Any, tmp_path: Path) -> None:
    hint = "Show all figures: fastrnns-rs show @last --wide"
    notices = [RunWarning(code="several_modes", message="two levels", evidence=None, hint=hint)]
    path = write(tmp_path / "a run.json", run([result()], warnings=notices))
    for flags in ([], ["--warnings"], ["--format", "csv"]):
        done = call("show", path, *flags)
        shown = " ".join((done.stdout + done.stderr).split())
        assert f"hint: Show all figures: fastrnns-rs show '{path}' --wide" in shown
        assert "@last" not in shown


def test_hints_name_files_that_begin_with_a_dash_as_files(
    call: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    hint = "Show all figures: fastrnns-rs show @last --wide"
    notices = [RunWarning(code="several_modes", message="two levels", evidence=None, hint=hint)]
    for name in ("-a.json", "--wide"):
        write(tmp_path / name, run([result()], warnings=notices))
    done = call("show", "--", "-a.json")
    assert "fastrnns-rs show ./-a.json --wide" in " ".join(done.stderr.split())
    done = call("compare", "--", "-a.json", "--wide")
    assert "warning of the baseline: fastrnns-rs show ./-a.json\n" in done.stderr
    assert "warning of the candidate: fastrnns-rs show ./--wide\n" in done.stderr


def test_hints_of_a_comparison_do_not_name_its_file(call: Any, tmp_path: Path) -> None:
    hint = "Show all figures: fastrnns-rs show @last --wide"
    notices = [RunWarning(code="several_modes", message="two levels", evidence=None, hint=hint)]
    found = compare(run([result()]), run([result(seed=1)], warnings=notices))
    found.save(tmp_path / "c.json")
    shown = call("show", tmp_path / "c.json", "--warnings").stdout
    assert "warning[several_modes]: candidate: two levels" in shown
    assert "--wide" not in shown


def test_a_run_of_ab_is_followed_by_its_comparison(call: Any, tmp_path: Path) -> None:
    path = write(tmp_path / "ab.json", both(result(), result("jit", level_ns=1.1e6)))
    command = call("show", path).stderr.split("fastrnns-rs ")[-1]
    assert command.split() == ["compare", str(path)]
    assert call(*command.split()).status == 0


@pytest.mark.parametrize(("name", "told"), [("table", True), ("markdown", False), ("json", True), ("junit", True)])
def test_what_a_comparison_warns_of_is_told_once(name: str, told: bool, call: Any, tmp_path: Path) -> None:
    path = tmp_path / "comparison.json"
    sides = [run([exactly([100, 101, 102])]) for _ in "ab"]
    found = compare(*sides)
    assert [one.code for one in found.warnings] == ["same_times"]
    found.save(path)
    done = call("show", path, "--format", name)
    assert done.stderr.count("warning[same_times]: ") == told
    assert done.stderr.count("  hint: ") == told
    assert told or "3 equal process medians in 1 row" in " ".join(done.stdout.split())


def test_a_number_without_sense_is_told(call: Any, tmp_path: Path) -> None:
    made = exactly([100])
    made.processes[0].forward_ns[1] = 10**400
    done = call("show", write(tmp_path / "x.json", run([made])))
    assert (done.status, done.stdout) == (2, "")
    place = "results[0].processes[0].forward_ns[1]"
    assert done.stderr.startswith(f"error: not a run: '{tmp_path}/x.json' (FILE): {place} is 1000")


def test_a_comparison_is_shown_again(call: Any, tmp_path: Path) -> None:
    path = tmp_path / "comparison.json"
    found = compare(run([exactly([100, 101, 102])]), run([exactly([200, 201, 202])]))
    found.save(path)
    done = call("show", path)
    assert (done.status, done.stdout + done.stderr) == (0, found.render("table"))
    assert "peak MiB" not in done.stdout
    assert "adjusted" in call("show", path, "--wide").stdout
    warnings = call("show", path, "--warnings").stdout
    assert warnings == "no warnings\n"
    assert validated(call("show", path, "--json").stdout) == found.to_dict()
    refused = call("show", path, "--format", "oss")
    assert (refused.status, refused.stdout) == (2, "")
    assert f"error: unsupported format: 'oss' (--format): '{path}' is a comparison\n" in refused.stderr
    path.write_text(json.dumps({**found.to_dict(), "kind": "x"}))
    assert f"error: damaged comparison: '{path}' (FILE): kind is 'x'" in call("show", path).stderr


def test_what_another_tool_measured_is_a_plain_table(call: Any) -> None:
    rows = [
        series("sort \x1b[2J", [1e6, 3e6, 2e6]),
        series("alone", [5e3], lack="no process level: descriptive only"),
        series("broken", [], reason="failed: exit status 1"),
    ]
    side = Side(label="x", files=["x"], series=rows, environment={}, warnings=[])
    lines = foreign_results.table(side).splitlines()
    assert " ".join(lines[0].split()) == "benchmark processes samples median (ms) min (ms) max (ms) note"
    assert lines[1].split() == ["sort", "\\x1b[2J", "3", "30", "2", "1", "3"]
    assert lines[2].split(maxsplit=6) == ["alone", "-", "10", *["0.005"] * 3, "no process level: descriptive only"]
    assert lines[3].split(maxsplit=6) == ["broken", "-", "0", "-", "-", "-", "failed: exit status 1"]
    sides = [series("x", [1e6, 2e6, 3e6], samples_ns=[[1e6, 5e5], [2e6, 9e6], [3e6]])]
    lines = foreign_results.table(replace(side, series=sides)).splitlines()
    # The shortest and longest sample, not process.
    assert lines[1].split() == ["x", "3", "30", "2", "0.5", "9"]
    refused = call("show", FOLDER / "pyperf.json", "--json")
    assert (refused.status, refused.stdout) == (2, "")
    assert "error: unsupported format: 'json' (--format): " in refused.stderr


def test_a_result_that_was_not_planned_is_described(call: Any, tmp_path: Path) -> None:
    made = screen_data.candidate()
    [first, *others] = made.results
    sizes = {one.problem.hidden_size for one in made.plan.runners}
    assert 4096 not in sizes
    changed = replace(first, problem=replace(first.problem, hidden_size=4096))
    run = replace(made, results=[changed, *others], plan=replace(made.plan, stopped_by="count", precision=0.001))
    run.save(tmp_path / "run.json")
    shown = " ".join(call("show", tmp_path / "run.json", "--wide").stdout.split())
    assert "4096" in shown.replace("4,096", "4096")
    # The widest of the intervals in the file, whatever the plan says.
    assert "widest 95 % CI ±" in shown
    assert "widest 95 % CI ±0.1 %" not in shown


def test_other_files_are_refused(call: Any, tmp_path: Path) -> None:
    path = tmp_path / "x.json"
    path.write_text('{"schema": "fastrnns-rs/capture"}')
    done = call("show", path)
    assert (done.status, done.stdout, "is a capture manifest (FILE)\n" in done.stderr) == (2, "", True)
    assert call("show", tmp_path / "nothing").status == 2
    packed = tmp_path / "pyperf.json.gz"
    packed.write_bytes(gzip.compress((FOLDER / "pyperf.json").read_bytes()))
    assert call("show", packed).stderr.splitlines()[-2:] == [
        f"error: not a run or comparison: '{packed}' is results of pyperf, compressed; gunzip unpacks it (FILE)",
        "hint: Use a run or comparison.",
    ]


def test_runners_that_a_filter_hides_are_not_described(call: Any, tmp_path: Path) -> None:
    planned = [PlannedRunner(runner=one, side=None, source="builtin", problem=PROBLEM) for one in ("cudnn", "py")]
    made = run([result("cudnn"), result("py")])
    path = write(tmp_path / "run.json", replace(made, plan=replace(made.plan, runners=planned)))
    first = call("show", path, "--filter", "runner=py").stdout.splitlines()[0]
    assert first.split()[0] == "lstm"


def test_several_documents_are_one_page(call: Any, tmp_path: Path) -> None:
    first, second = (write(tmp_path / f"{name}.json", run([result()])) for name in ("one", "two"))
    comparison = tmp_path / "comparison.json"
    comparison.write_text(compare(first, second, force=True, history=False).to_json())
    page = tmp_path / "page.html"
    done = call("show", first, second, comparison, "--format", "html", "--output", page)
    assert (done.status, done.stdout, done.stderr) == (0, "", "")
    text = page.read_text()
    contents = text.partition("<nav")[2].partition("</nav>")[0]
    assert [f'href="#document-{number}"' in contents for number in (1, 2, 3)] == [True] * 3
    assert first in contents
    assert text.count("<article ") == 3
    # Identifiers are unique in the page.
    names = re.findall(r' id="([^"]+)"', text)
    assert len({*names}) == len(names)


@pytest.mark.parametrize(
    ("words", "message", "hint"),
    [
        ((), "several files need --format html: 2 files (show)", "--format html --output page.html"),
        (("--json",), "several files need --format html: 2 files (show)", "--format html --output page.html"),
        (("--format", "html", "--plot", "x.svg"), "--plot needs one file, and there are 2", "Leave out --plot."),
        (("--warnings",), "--warnings needs one file, and there are 2", "Leave out --warnings."),
    ],
)
def test_only_a_page_has_several_documents(
    words: tuple[str, ...], message: str, hint: str, call: Any, tmp_path: Path
) -> None:
    path = write(tmp_path / "x.json", run([result()]))
    done = call("show", path, path, *words)
    assert (done.status, done.stdout) == (2, "")
    assert message in done.stderr
    assert hint in done.stderr


def test_results_of_other_tools_are_no_part_of_a_page(call: Any, tmp_path: Path) -> None:
    path = write(tmp_path / "x.json", run([result()]))
    foreign = FOLDER / "hyperfine_2.0.json"
    done = call("show", path, foreign, "--format", "html")
    assert (done.status, done.stdout) == (2, "")
    assert "is what another tool measured" in done.stderr


def test_the_plot_is_chosen(call: Any, tmp_path: Path) -> None:
    path = write(tmp_path / "x.json", run([result("cudnn"), result("py")]))
    plot = tmp_path / "plot.svg"
    done = call("show", path, "--plot", plot, "--plot-kind", "samples", "--plot-row", "py/backward")
    assert done.status == 0
    assert "backward, " in plot.read_text()
    samples = ("--plot-kind", "samples")
    for words, first in (((), "cudnn"), (("--filter", "runner=py"), "py"), (("--sort", "-name"), "py")):
        assert call("show", path, "--plot", plot, *samples, *words).status == 0
        assert re.findall(r">(cudnn|py)\b", plot.read_text())[0] == first
    wrong = call("show", path, "--plot", plot, "--plot-kind", "samples", "--plot-row", "pi/backward")
    assert (wrong.status, "(--plot-row)" in wrong.stderr) == (2, True)
    wrong = call("show", path, "--plot-kind", "samples")
    assert (wrong.status, "--plot-kind needs --plot" in wrong.stderr) == (2, True)


@pytest.mark.parametrize("name", ["sort", "filter"])
def test_configured_rows_are_for_runs_alone(name: str, call: Any, anywhere: Path) -> None:
    files = [write(anywhere / f"{one}.json", run([result(seed=one)])) for one in range(2)]
    call("compare", *files, "--format", "json", "--output", "comparison.json")
    (anywhere / "pyproject.toml").write_text('[tool.fastrnns-rs.show]\nsort = "-forward"\nfilter = "runner=cudnn"\n')
    for shown in ("comparison.json", files[0]):
        done = call("show", shown)
        assert done.status == 0, done.stderr
    refused = call("show", "comparison.json", f"--{name}", "runner=cudnn")
    assert f"error: --{name} needs a run, and 'comparison.json' is not a run" in refused.stderr
