"""The page of a summary has the numbers of its JSON, and names of captures are text."""

from __future__ import annotations

import re
import subprocess
import sys
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest
from conftest import run_cli
from kineto_traces import annotation, kernel, operator, write
from plotted_captures import HOSTILE, events, ranks, summary
from summary_documents import empty

import fastrnns_rs
from fastrnns_rs.documents.summary import SummaryDocument
from fastrnns_rs.views.page.pages import html_page
from fastrnns_rs.views.summary.plain import PlainSummary


class Page(HTMLParser):
    """Tables by caption, section headings, and the number of plots of a page."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.tables: dict[str, list[list[tuple[str, str | None]]]] = {}
        self.headings: list[str] = []
        self.plots = 0
        self.answer = ""
        self._caption = ""
        self._into: list[str] = []
        self._is_answer = False
        self._value: str | None = None
        self._row: list[tuple[str, str | None]] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = dict(attrs)
        self._is_answer = tag == "p" and given.get("class") == "answer"
        if tag in {"caption", "td", "h2"} or self._is_answer:
            self._into, self._value = [], given.get("data-value")
        elif tag == "tr":
            self._row = []
        elif tag == "svg":
            self.plots += 1

    def handle_data(self, data: str) -> None:
        self._into.append(data)

    def handle_endtag(self, tag: str) -> None:
        text = "".join(self._into).strip()
        if tag == "caption":
            self._caption = text
            self.tables[text] = []
        elif tag == "td":
            self._row.append((text, self._value))
        elif tag == "tr" and self._row:
            self.tables[self._caption].append(self._row)
            self._row = []
        elif tag == "h2":
            self.headings.append(text)
        elif tag == "p" and self._is_answer:
            self.answer = text

    def numbers(self, caption: str) -> list[list[float]]:
        """The exact numbers of each row of a table."""
        return [[float(value) for _, value in row if value is not None] for row in self.tables[caption]]


def page_of(found: Any) -> Page:
    return Page(found.render("html"))


def test_the_tables_have_the_numbers_of_the_document(tmp_path: Path) -> None:
    found = summary(tmp_path, devices=2)
    page = page_of(found)
    plain = found.to_dict()
    kernels = page.numbers("Kernels")
    assert len(kernels) == len(plain["kernels"])
    for numbers, row in zip(kernels, plain["kernels"], strict=True):
        for key in ("kernel_time_fraction", "total_ns", "count", "mean_ns", "median_ns", "min_ns", "max_ns", "p95_ns"):
            assert row[key] in numbers
    budget = page.numbers("Time budget")
    times = [numbers[-1] for numbers in budget]
    for device in plain["devices"]:
        parts = [row for key in ("kernels", "copies", "idle") for row in device["budget"][key]]
        wanted = [device["span_ns"], device["busy_ns"], device["idle_ns"], *(row["total_ns"] for row in parts)]
        assert {*wanted} <= {*times}
        activity = device["activity"]
        label = f"GPU {device['device_id']}"
        [caption] = [one for one in page.tables if one.startswith(f"Activity of {label} ")]
        bins = page.numbers(caption)
        assert [row[1] for row in bins] == activity["busy_ns"]
        lanes = [*activity["kernels"], *activity["copies"]]
        assert [row[2:] for row in bins] == [[*one] for one in zip(*(lane["bins_ns"] for lane in lanes), strict=True)]
    nested = page.numbers("Ranges within ranges")
    wanted = [[row["gpu_inclusive_ns"], row["gpu_exclusive_ns"]] for row in plain["nested_ranges"]]
    assert [row[1:3] for row in nested] == wanted
    launches = plain["launches"]
    counts = [row[-1] for row in page.numbers("Launch latencies")]
    histograms = (launches["latency_histogram"], launches["queue_histogram"])
    assert sum(counts) == 2 * launches["matched_count"]
    assert counts == [
        count for one in histograms for count in (*filter(None, one["counts"]), one["negative_count"]) if count
    ]
    longest = page.numbers("Longest kernels, all GPUs")
    assert sum(row[0] for row in longest) == sum(row["total_ns"] for row in plain["kernels"])
    assert longest[-1][2] == pytest.approx(1)


def test_columns_without_a_value_are_left_out_and_zeros_stay(tmp_path: Path) -> None:
    found = fastrnns_rs.read(write(tmp_path / "trace.json", [kernel("k", 5, 0)]))
    page = page_of(found)
    [row] = page.tables["Kernels"]
    assert [text for text, _ in row].count("0") >= 5
    assert "-" not in [text for text, _ in row]
    [launches] = page.numbers("Launches")
    assert launches == [0, 1]


def test_every_plot_is_there_and_the_answer_is_first(tmp_path: Path) -> None:
    found = summary(tmp_path)
    page = page_of(found)
    assert page.plots == 7
    assert page.headings[:6] == [
        "Answer",
        "Warnings",
        "Where the time went",
        "Utilization over time",
        "Timeline",
        "Ranges",
    ]
    from fastrnns_rs.views.summary.answer import answer

    assert answer(found.to_dict()) in found.render("html")
    text = found.render("html")
    assert text.index('class="answer"') < text.index("<svg")
    assert "the farthest, iteration 11" in text


def test_the_document_has_the_page_of_the_summary(tmp_path: Path) -> None:
    found = summary(tmp_path)
    document = SummaryDocument.from_dict(found.to_dict())
    tables = [page_of(one).tables for one in (found, document)]
    assert tables[0] == tables[1]
    assert Page(html_page(document)).tables == tables[0]


def test_hostile_names_are_text(tmp_path: Path) -> None:
    made = events(names=HOSTILE) + [annotation(name, 10 + place, 20) for place, name in enumerate(HOSTILE)]
    text = fastrnns_rs.read(write(tmp_path / "trace.json", made), iteration_range="forward").render("html")
    assert text.count("<script") == text.count("</script>") == 1
    assert "alert(1)" in text
    assert "\u202e" not in text
    assert "\x1b" not in text
    assert not re.search(r" style=| on\w+=", re.sub(r">[^<]*<", "><", text))
    # The name of 10,000 characters is cut.
    assert "x" * 700 not in text


@pytest.mark.long("pages")
def test_two_thousand_kernels_are_listed_and_more_are_counted(tmp_path: Path) -> None:
    made = [kernel(f"kernel_{place}", 10 * place, 1 + place / 1000) for place in range(2100)]
    found = fastrnns_rs.read(write(tmp_path / "trace.json", made))
    text = found.render("html")
    page = Page(text)
    assert len(page.tables["Kernels"]) == 2000
    assert "The first 2,000 rows of 2,100" in text
    assert len(text) < 3_000_000


def test_captures_without_a_gpu_have_a_page(tmp_path: Path) -> None:
    made = [operator(f"aten::op{place}", 10 * place, 5) for place in range(5)]
    page = page_of(fastrnns_rs.read(write(tmp_path / "trace.json", made)))
    assert "No GPU activity" in page.answer
    assert page.tables["CPU operators"]
    nothing = Page(html_page(PlainSummary(empty())))
    assert nothing.plots == 0


def test_documents_of_earlier_versions_have_a_page() -> None:
    folder = Path(__file__).parents[1] / "data" / "documents"
    files = sorted(folder.glob("summary_*.json"))
    assert files
    for path in files:
        assert "<h1>" in fastrnns_rs.load(path).render("html")


@pytest.mark.long("pages")
def test_of_many_gpus_three_have_a_timeline(tmp_path: Path) -> None:
    found = summary(tmp_path, devices=6)
    text = found.render("html")
    page = Page(text)
    assert sum(one.startswith("Activity of") for one in page.tables) == 3
    for place, device in enumerate(found.devices):
        cells = [row[2 * place + 1][1] for row in page.tables["Busy time in bins"]]
        assert [int(one) for one in cells if one is not None] == device.activity.busy_ns
    assert len(text) < 1_000_000


def test_many_ranks(tmp_path: Path) -> None:
    page = page_of(ranks(tmp_path, 12))
    assert len(page.tables["Ranks"]) == 12
    assert "Ranks" in page.headings


def test_the_command_writes_a_page_and_a_plot(tmp_path: Path) -> None:
    path = write(tmp_path / "trace.json", events())
    page, plot = tmp_path / "page.html", tmp_path / "budget.svg"
    done = run_cli("report", str(path), "--format", "html", "--output", str(page), "--plot", str(plot))
    assert (done.status, done.stderr) == (0, "")
    assert Page(page.read_text()).plots == 7
    assert "<svg" in plot.read_text()
    done = run_cli("report", path, "--plot", plot, "--plot-kind", "timeline", "--plot-row", "GPU 0")
    assert done.status == 0
    for words in (["--plot", tmp_path / "x.bmp"], ["--plot-kind", "kernels"], ["--plot", plot, "--plot-kind", "ranks"]):
        assert run_cli("report", path, *words).status == 2
    linked = tmp_path / "linked.svg"
    linked.symlink_to(path)
    assert "cannot overwrite input" in run_cli("report", path, "--plot", linked).stderr


def test_a_notebook_needs_neither_jinja_nor_matplotlib(tmp_path: Path) -> None:
    path = write(tmp_path / "trace.json", events())
    code = (
        "import sys; sys.modules['jinja2'] = sys.modules['matplotlib'] = None; import fastrnns_rs;"
        f"text = fastrnns_rs.read({str(path)!r})._repr_html_(); print(text)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=120)
    assert done.stdout.startswith("<p")
    assert "<svg" not in done.stdout
    assert len(done.stdout) < 10_000
