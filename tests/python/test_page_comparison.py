"""Pages of comparisons: their tables have the numbers of the document, and names in them are text."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest
import screen_data
from captured_sides import GEMM, RNN
from comparison_documents import HOSTILE, nasty_rows, of_captures, of_runs, with_rows
from conftest import run_cli
from foreign_files import plain as foreign
from run_files import both, result, run

from fastrnns_rs import Comparison, compare
from fastrnns_rs.views.comparison import words
from fastrnns_rs.views.comparison.answer import answer
from fastrnns_rs.views.page.charts import MOST_ROWS

pytest.importorskip("matplotlib")
pytest.importorskip("jinja2")


class Page(HTMLParser):
    """Tables by their captions, with the text and the number of each cell; texts, and elements."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.tables: list[tuple[str, list[str], list[list[tuple[str, float | None]]]]] = []
        self.texts: list[str] = []
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self._open: list[str] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: Any) -> None:
        found = dict(attrs)
        self.tags.append((tag, found))
        if tag not in {"meta", "input", "br"}:
            self._open.append(tag)
        if tag == "table":
            self.tables.append(("", [], []))
        elif tag == "tr" and "tbody" in self._open:
            self.tables[-1][2].append([])
        elif tag == "td":
            number = found.get("data-value")
            self.tables[-1][2][-1].append(("", None if number is None else float(number)))

    def handle_endtag(self, tag: str) -> None:
        while self._open and self._open.pop() != tag:
            pass

    def handle_data(self, data: str) -> None:
        inside = self._open[-1] if self._open else ""
        if inside in {"p", "h1", "pre", "summary", "dd", "li", "title"}:
            self.texts.append(data)
        if inside == "caption":
            self.tables[-1] = (data, *self.tables[-1][1:])
        elif inside == "th":
            self.tables[-1][1].append(data)
        elif "td" in self._open:
            # A long text has a box in its cell.
            text, number = self.tables[-1][2][-1][-1]
            self.tables[-1][2][-1][-1] = (text + data, number)

    def table(self, caption: str, place: int = 0) -> list[dict[str, tuple[str, float | None]]]:
        """The rows of a table by their headings."""
        found = [one for one in self.tables if one[0] == caption][place]
        return [dict(zip(found[1], row, strict=True)) for row in found[2]]


def page(comparison: Comparison) -> Page:
    return Page(comparison.render("html"))


def numbers(row: dict[str, tuple[str, float | None]], *headings: str) -> list[float | None]:
    return [row[one][1] for one in headings]


def test_the_table_of_ratios_equals_the_document() -> None:
    comparison = of_runs()
    found = page(comparison)
    *rows, mean = found.table("Ratios")
    for cells, row in zip(rows, comparison.rows, strict=True):
        assert (cells["runner"][0], cells["phase"][0]) == (row.runner, row.phase)
        assert cells["verdict"][0] == words.verdict(row)
        assert row.baseline is not None
        assert row.candidate is not None
        wanted = [
            row.baseline.estimate_ns,
            row.candidate.estimate_ns,
            row.ratio,
            row.ratio_ci_low,
            row.ratio_ci_high,
            row.cliffs_delta,
        ]
        assert numbers(cells, "baseline, ms", "candidate, ms", "ratio", "CI low", "CI high", "Cliff's delta") == wanted
    assert comparison.geometric_mean is not None
    ends = (comparison.geometric_mean.ratio_ci_low, comparison.geometric_mean.ratio_ci_high)
    assert numbers(mean, "ratio", "CI low", "CI high") == [comparison.geometric_mean.ratio, *ends]
    # The columns are those of Markdown.
    headings = next(line for line in comparison.render("markdown").splitlines() if line.startswith("| runner"))
    for name in (
        "runner",
        "phase",
        "baseline, ms",
        "candidate, ms",
        "change, %",
        "Cliff's delta",
        "processes",
        "verdict",
    ):
        assert name in headings
        assert name in rows[0]


def test_the_tables_of_each_row_equal_the_document() -> None:
    comparison = of_runs()
    found = page(comparison)
    for place, row in enumerate(comparison.rows):
        *processes, estimate, low, high = found.table("Medians of processes", place)
        for number, name in enumerate(("baseline", "candidate"), 1):
            side = getattr(row, name)
            cells = [[*one.values()][number][1] for one in (*processes, estimate, low, high)]
            assert cells == [*side.process_medians_ns, side.estimate_ns, side.ci_low_ns, side.ci_high_ns]
        deciles = [[number for _, number in one.values()] for one in found.table("Deciles of all timed samples", place)]
        assert deciles == [[one.level, one.baseline_ns, one.candidate_ns, one.shift_ns] for one in row.deciles]
    assert len([one for one in found.tags if one[0] == "svg"]) == 1 + 2 * len(comparison.rows)


def test_the_answer_comes_first_with_its_certainty() -> None:
    comparison = of_runs()
    found = page(comparison)
    said = (
        "jit/forward is slower: +4.2 [+3.1, +5.2] %; cudnn/forward is faster: -3.1 [-3.8, -2.4] % "
        "(95 % intervals; only if the sessions do not differ)."
    )
    assert answer(comparison) == said
    paragraphs = [one for one in found.texts if one.strip()]
    assert paragraphs.index(said) < 8
    assert "1 slower, 1 faster, 2 equivalent (within ±1 %), 2 inconclusive" in found.texts
    assert words.BASES["two_sessions"] in found.texts
    [difference] = found.table("Differences")
    assert [text for text, _ in difference.values()] == ["variables.OMP_WAIT_POLICY", "unset", "ACTIVE"]
    for one in comparison.warnings:
        assert any(one.message in text for text in found.texts)


@pytest.mark.parametrize(
    ("verdicts", "start"),
    [
        ([], "Nothing to compare."),
        (["equivalent", "equivalent"], "No row is faster or slower: 2 equivalent (within ±1 %)."),
        (["inconclusive", None], "No row is faster or slower: 1 inconclusive, 1 without a verdict."),
        (["slower"], "r0/forward is slower: -3.1 [-3.8, -2.4] % (95 % interval)."),
        (["faster"] * 5, "r0/forward is faster: -3.1 [-3.8, -2.4] %; r1/forward is faster: -3.1 [-3.8, -2.4] %; "),
    ],
)
def test_the_answer_of_any_rows(verdicts: list[Any], start: str) -> None:
    row = of_runs().rows[0]
    rows = [replace(row, runner=f"r{n}", verdict=one, conditional_verdict=None) for n, one in enumerate(verdicts)]
    found = answer(with_rows(rows))
    assert found.startswith(start)
    assert ("2 more rows changed" in found) == (len(verdicts) == 5)


def test_each_basis_has_its_sentence_and_the_history_its_figures() -> None:
    row = of_runs().rows[0]
    rows = [replace(row, runner=f"r{place}", basis=basis) for place, basis in enumerate(words.BASES)]
    rows[0] = replace(rows[0], session_stddev=0.0061, history_sessions=11)
    found = page(with_rows(rows))
    for place, sentence in enumerate(words.BASES.values()):
        assert f"r{place}/forward: {sentence}" in found.texts
    [history] = found.table("Variation between sessions")
    assert [number for _, number in history.values()] == [None, 0.0061, 11, None]


def test_the_title_has_the_labels_of_an_ab() -> None:
    made = both(result(), result(seed=1))
    labels = zip(made.sides, ("cudnn", "cudnn LD_PRELOAD=/lib/z.so"), strict=True)
    text = compare(replace(made, sides=[replace(one, label=label) for one, label in labels])).render("html")
    assert "<title>Comparison of cudnn and cudnn LD_PRELOAD=/lib/z.so" in text


@pytest.mark.parametrize("rows", [nasty_rows(), nasty_rows()[3:], []], ids=["all", "one side", "none"])
def test_nasty_rows_are_shown_as_text(rows: list[Any]) -> None:
    comparison = with_rows(rows, geometric_mean=None)
    warning = replace(comparison.warnings[0], message=HOSTILE[0], evidence=HOSTILE[1], hint=HOSTILE[2])
    sides = {
        name: replace(getattr(comparison, name), label=HOSTILE[0], files=["-x y"]) for name in ("baseline", "candidate")
    }
    text = replace(comparison, warnings=[warning], **sides).render("html")
    found = Page(text)
    assert len([one for one, _ in found.tags if one == "script"]) == 1
    assert not [one for one, _ in found.tags if one in {"b", "img"}]
    assert not re.search(r"[\x00-\x08\x0b-\x1f\u202e]", text)
    assert not [name for _, attributes in found.tags for name in attributes if name == "style" or name.startswith("on")]
    if rows:
        assert [cells["ratio"][1] for cells in found.table("Ratios")] == [row.ratio for row in rows]
        assert "Reason: failed: <b>memory</b>." in found.texts


@pytest.mark.long("pages")
def test_many_rows_have_tables_and_the_largest_changes_have_plots() -> None:
    row = of_runs().rows[0]
    rows = [replace(row, runner=f"r{place}", ratio=1.0, ratio_ci_low=None, ratio_ci_high=None) for place in range(41)]
    rows[40] = replace(rows[40], ratio=2.0)
    rows = [replace(one, conditional_verdict=None) for one in rows]
    found = page(with_rows(rows, geometric_mean=None))
    assert len([one for one in found.tables if one[0] == "Medians of processes"]) == 41
    labels = [attributes["aria-label"] or "" for tag, attributes in found.tags if tag == "svg"]
    assert len(labels) == 1 + 2 * 20
    assert any("r40/forward" in one for one in labels)
    start = "Plots of the 20 rows with the largest changes; tables of all rows."
    assert any(one.startswith(start) and "--plot-row ROW" in one for one in found.texts)


@pytest.mark.long("pages")
def test_the_command_repeats_the_comparison(tmp_path: Path) -> None:
    for name, one in (("a b.json", screen_data.baseline()), ("c.json", screen_data.candidate())):
        one.save(tmp_path / name)
    done = run_cli("compare", tmp_path / "a b.json", tmp_path / "c.json", "--margin", "2%", "--format", "html")
    assert done.status == 0
    command = f"fastrnns-rs compare '{tmp_path / 'a b.json'}' {tmp_path / 'c.json'} --margin 0.02"
    assert command in Page(done.stdout).texts
    # Runs that are in no file have no command.
    assert not [one for one in page(of_runs()).texts if one.startswith("fastrnns-rs compare")]
    several = compare([tmp_path / "a b.json"], [tmp_path / "c.json"], history=False)
    side = replace(several.candidate, files=["c.json", "d.json"])
    assert any("--candidate c.json d.json" in one for one in page(replace(several, candidate=side)).texts)


@pytest.mark.long("pages")
def test_show_and_compare_write_equal_pages(tmp_path: Path) -> None:
    for name, one in (("a.json", screen_data.baseline()), ("b.json", screen_data.candidate())):
        one.save(tmp_path / name)
    words = ("compare", tmp_path / "a.json", tmp_path / "b.json")
    shown = run_cli(*words, "--format", "html")
    (tmp_path / "c.json").write_text(run_cli(*words, "--json").stdout)
    assert shown.stdout.startswith("<!doctype html>")
    assert run_cli("show", tmp_path / "c.json", "--format", "html").stdout == shown.stdout


def test_files_of_other_tools_and_older_documents_have_a_page(tmp_path: Path) -> None:
    paths = [tmp_path / "a.json", tmp_path / "b.json"]
    for path in paths:
        path.write_text(json.dumps(foreign("pytest_benchmark.json")))
    found = page(compare(*paths, history=False))
    assert "Medians of processes" not in [one[0] for one in found.tables]
    assert len(found.table("Deciles of all timed samples")) == 9
    plain = of_runs().to_dict()
    for row in plain["rows"]:
        del row["deciles"]
    found = page(Comparison.from_dict(plain))
    assert {one[0] for one in found.tables} == {"Ratios", "Medians of processes", "Differences"}


def test_the_tables_of_captures_equal_the_document(tmp_path: Path) -> None:
    comparison = of_captures(tmp_path, slower={GEMM: 1.5, RNN: 0.9})
    found = page(comparison)
    assert comparison.device_time is not None
    for caption, changes in (("Kernels and copies", comparison.kernels), ("Categories", comparison.categories)):
        rows = found.table(caption)
        for cells, row in zip(rows, [*changes, comparison.device_time], strict=True):
            assert row.baseline is not None
            assert row.candidate is not None
            assert numbers(cells, "change, ms", "CI low, ms", "CI high, ms", "ratio", "CI low", "CI high") == [
                row.delta_ns,
                row.delta_ci_low_ns,
                row.delta_ci_high_ns,
                row.ratio,
                row.ratio_ci_low,
                row.ratio_ci_high,
            ]
            assert numbers(cells, "baseline, ms", "candidate, ms", "of the whole change, %") == [
                row.baseline.total_ns,
                row.candidate.total_ns,
                row.contribution,
            ]
    names = {whole for cells in found.table("Whole names") for whole, _ in [cells["whole name"]]}
    assert names == {one.name for one in comparison.kernels if len(one.name) > 36}
    *causes, idle, span = found.table("Idle time of a capture, on average")
    for name in ("baseline", "candidate"):
        side = getattr(comparison, name)
        [time] = [one for one in idle if one.startswith(name) and "%" not in one]
        assert [cells[time][1] for cells in causes] == [one.total_ns for one in side.idle_times]
        assert [cells[f"{name}, % of span"][1] for cells in causes] == [one.span_fraction for one in side.idle_times]
        assert (idle[time][1], span[time][1]) == (side.idle_ns, side.span_ns)
    assert len([one for one, _ in found.tags if one == "svg"]) == 3
    assert any(one.startswith("GPU time per capture: ") for one in found.texts)


def test_hostile_and_many_kernels_are_text(tmp_path: Path) -> None:
    comparison = of_captures(tmp_path, 1)
    kernel = comparison.kernels[0]
    names = [*HOSTILE, *(f"kernel_{place}" for place in range(200))]
    kernels = [replace(kernel, name=one, short_name=one) for one in names]
    text = replace(comparison, kernels=kernels).render("html")
    found = Page(text)
    assert len([one for one, _ in found.tags if one == "script"]) == 1
    assert len(found.table("Kernels and copies")) == len(names) + 1
    assert "x" * 10_000 in [cells["whole name"][0] for cells in found.table("Whole names")]
    assert not re.search(r"[\x00-\x08\x0b-\x1f\u202e]", text)
    # Intervals and verdicts of one capture per side are unknown.
    assert "CI low" not in found.table("Kernels and copies")[0]


@pytest.mark.long("pages")
def test_a_page_of_twenty_runners_is_small() -> None:
    runners = [f"runner{place}" for place in range(20)]
    sides = [run([result(one, seed=seed, processes=20) for one in runners]) for seed in range(2)]
    assert len(compare(*sides, history=False).render("html").encode()) < 1_000_000


def test_rows_of_one_name_have_no_more_plots_than_others() -> None:
    row = replace(of_runs().rows[0], deciles=[])
    found = page(with_rows([row] * 30))
    assert len([one for one, _ in found.tags if one == "svg"]) == 1 + MOST_ROWS


def test_the_answer_leaves_out_empty_counts_of_a_measured_margin() -> None:
    found = of_runs()
    row = replace(found.rows[0], verdict="inconclusive", conditional_verdict=None)
    rows = with_rows([row], method=replace(found.method, margin_source="noise_floor"))
    assert answer(rows) == "No row is faster or slower: 1 inconclusive."


def test_the_answer_tells_rows_with_long_names_apart() -> None:
    row = of_runs().rows[0]
    names = [f"a_cell_with_a_name_of_many_words_{one}_and_an_end_of_as_many_words" for one in "AB"]
    first, second, *_ = answer(with_rows([replace(row, runner=one) for one in names])).split("; ")
    assert first.partition(" is ")[0] != second.partition(" is ")[0]
