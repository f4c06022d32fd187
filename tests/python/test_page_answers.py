"""First lines of pages: problem and machine, failures, the answer, warnings before plots; and limits of numbers."""

from __future__ import annotations

import re
import time
from dataclasses import replace
from pathlib import Path

import pytest
from comparison_documents import of_runs, with_rows
from kineto_traces import call, document, fill, kernel, write
from page_documents import page, readme_run, run_of, sweep
from run_files import both, failed, result, run

import fastrnns_rs
from fastrnns_rs.documents.comparison import Comparison, GeometricMean
from fastrnns_rs.documents.run_file import Stop
from fastrnns_rs.views.figures import change, estimate_with_interval
from fastrnns_rs.views.page.number_cells import share_text, time_text
from fastrnns_rs.views.page.pages import html_page
from fastrnns_rs.views.scale import Scale

pytest.importorskip("matplotlib")
pytest.importorskip("jinja2")


#: Threads of the two runs of the README.
_THREADS = {"baseline": "2 threads", "candidate": "1 thread"}


def paragraphs(text: str, role: str) -> list[str]:
    return re.findall(rf'<p class="{role}">(.*?)</p>', text)


def headings(text: str) -> list[str]:
    return re.findall("<h2>(.*?)</h2>", text)


@pytest.mark.long("pages")
def test_two_thousand_rows_have_a_page_within_seconds() -> None:
    made = run_of(1, 3, 30)
    made = replace(made, results=[replace(made.results[0], runner=f"r{place}") for place in range(2_000)])
    start = time.process_time()
    text = html_page(made)
    assert time.process_time() - start < 60
    assert text.count("<svg") <= 2 + 2 * 20
    assert "The first 60 of 2,000 runners are drawn" in text
    assert text.count("<caption>Processes</caption>") == 2_000
    assert "--plot-row ROW" in text
    assert "--filter CONDITION" in text


def compared() -> Comparison:
    return fastrnns_rs.compare(readme_run("before"), readme_run("after"), history=False)


def test_a_comparison_says_what_was_measured_and_where() -> None:
    comparison = compared()
    sizes, *machines = paragraphs(html_page(comparison), "context")[2:]
    assert sizes == "lstm (preset cpu): seq 64, layers 1, input 256, hidden 256, batch 16"
    # The runs of the README have different numbers of threads.
    wanted = [f"{name}: cpu (AMD EPYC), {threads}, float32, torch 2.15.0" for name, threads in _THREADS.items()]
    assert machines == wanted
    environment = readme_run("before").environment
    assert comparison.baseline.environment["cpu_count"] == environment.cpu_count
    # Equal sides have one line.
    equal = replace(comparison.candidate, environment=comparison.baseline.environment)
    found = html_page(replace(comparison, candidate=equal))
    assert paragraphs(found, "context")[3:] == ["cpu (AMD EPYC), 2 threads, float32, torch 2.15.0"]
    assert "<h2>Machine</h2>" in found


def test_a_document_without_environments_has_its_problems() -> None:
    comparison = compared()
    sides = {name: replace(getattr(comparison, name), environment={}) for name in ("baseline", "candidate")}
    context = paragraphs(html_page(replace(comparison, **sides)), "context")
    assert context[2].startswith("lstm")
    assert context[3:] == ["cpu, float32"]


def test_the_environment_is_read_back() -> None:
    comparison = compared()
    again = Comparison.from_dict(comparison.to_dict())
    assert again.baseline.environment == comparison.baseline.environment
    assert again.baseline.environment["torch_version"] == readme_run("before").environment.torch_version


def test_failures_are_the_first_sentences_of_a_run() -> None:
    text = html_page(run([*run_of(1, 3, 10).results, failed("jit", "no <b>memory</b>")], status="failed"))
    found = paragraphs(text, "alert")
    assert found[0] == "The run failed."
    assert found[1].startswith("jit: ")
    assert "no &lt;b&gt;memory&lt;/b&gt;" in found[1]
    assert text.index('class="alert"') < text.index("<svg")
    interrupted = html_page(run([result("cudnn", processes=2)], status="interrupted"))
    [sentence] = paragraphs(interrupted, "alert")
    assert re.fullmatch(r"The run was interrupted: 2 of \d+ planned processes were measured\.", sentence)
    skipped = html_page(run([result("cudnn", processes=2), failed("jit", status="skipped")], status="interrupted"))
    assert paragraphs(skipped, "alert")[0] == "The run was interrupted: 2 of 10 planned processes were measured."
    # Precision decides the number of processes.
    plan = replace(run([]).plan, stop=Stop(rule="precision", parameters={"half_width": 0.01}))
    [sentence] = paragraphs(html_page(run([result("cudnn", processes=23)], status="interrupted", plan=plan)), "alert")
    assert sentence == "The run was interrupted: 23 processes measured."
    assert not paragraphs(page("run"), "alert")
    none = html_page(run([failed("jit")]))
    assert paragraphs(none, "answer") == ["No runner was measured."]


def test_the_answer_of_a_run_has_the_shortest_and_the_longest_time() -> None:
    made = run_of(2, 3, 10)
    found = paragraphs(html_page(made), "answer")
    assert [one.split(" takes ")[0] for one in found] == ["Forward", "Backward"]
    assert re.search(r"\(runner0\) to .* \(runner1\), ×2\.\d+\.$", found[0])
    assert headings(page("hostile run"))[:2] == ["Answer", "Warnings"]
    for name in ("comparison", "capture"):
        assert headings(page(name))[0] == "Answer"
        assert "Warnings" not in headings(page(name))[2:]


def test_titles_name_the_kind_of_run_and_long_names_are_cut() -> None:
    assert "<h1>Sweep of 2 runners over hidden-size (4 values)</h1>" in html_page(sweep())
    summaries = re.findall("<summary>(.*?)</summary>", page("hostile run"))
    assert max(map(len, summaries)) < 200
    assert any("…" in one for one in summaries)


@pytest.mark.parametrize(
    ("value", "low", "high", "text"),
    [
        (26e6, 245711, 2701e6, "26 [0.246, 2,701]"),
        (1e6, 1.0, 1e9, "1 [0.00000100, 1,000]"),
        (1e6, 0.0, 2e9, "1 [0, 2,000]"),
    ],
)
def test_bounds_are_not_shown_as_zero(value: float, low: float, high: float, text: str) -> None:
    assert estimate_with_interval(value, low, high, 1e6) == text


@pytest.mark.parametrize(
    ("ratios", "text"),
    [
        ((0.88, 0.76, 0.996), "-12 [-24, -0.4]"),
        ((1.12, 1.004, 1.24), "+12 [+0.4, +24]"),
        ((1.0003, 1.0001, 1.0005), "+0.03 [+0.01, +0.05]"),
        ((1.05, 0.9997, 1.1), "+5.0 [-0.03, +10.0]"),
        ((1.0003, 1.0, 1.0005), "+0.0 [+0.0, +0.05]"),
        ((1.2, 1 - 1e-9, 1.4), "+20 [+0, +40]"),
    ],
)
def test_an_interval_of_a_change_is_on_its_side_of_zero(ratios: tuple[float, float, float], text: str) -> None:
    assert change(*ratios) == text


def test_a_ratio_near_one_is_on_its_side_in_the_wide_table() -> None:
    row = replace(of_runs().rows[0], ratio=1.00003, ratio_ci_low=1.00001, ratio_ci_high=1.00005)
    assert "1.00003  [1.00001, 1.0001]" in with_rows([row]).render(wide=True, width=200)


def test_small_numbers_of_a_column_are_not_shown_as_zero() -> None:
    scale = Scale([144.6e9, 2e9])
    assert time_text(144.59685e12, scale) == "144,596.9"
    assert float(time_text(245711, scale)) > 0
    assert [time_text(ns, Scale([1733e6, 4e6, 900e6])) for ns in (1733e6, 3.908e6, 45.6e6)] == ["1,733", "3.91", "46"]
    assert time_text(0, scale) == "0"
    assert [share_text(one) for one in (0.0, 1e-9, 0.0005, 1.0)] == ["0.0", "<0.1", "0.1", "100.0"]
    assert change(0.00561, 0.0000534, 0.59) == "×0.00561 [×5.34e-05, ×0.59]"


def test_a_mean_that_changed_without_a_changed_row_has_a_sentence() -> None:
    comparison = fastrnns_rs.compare(both(result("cudnn"), result("cudnn", seed=1)), history=False)
    mean = GeometricMean(ratio=1.05, ratio_ci_low=1.02, ratio_ci_high=1.08, n=1)
    rows = [replace(one, verdict="inconclusive", conditional_verdict=None) for one in comparison.rows]
    text = html_page(replace(comparison, rows=rows, geometric_mean=mean))
    assert "The geometric mean of 1 runner changed all the same: +5.0 [+2.0, +8.0] %." in text
    held = replace(mean, ratio=1.01, ratio_ci_low=0.98)
    assert "changed all the same" not in html_page(replace(comparison, rows=rows, geometric_mean=held))
    assert "Hollow mark" not in text


def test_overruled_rows_are_in_the_plural() -> None:
    comparison = compared()
    changes = {"verdict": "inconclusive", "conditional_verdict": None, "ratio": 0.9, "ratio_ci_high": 0.95}
    reason = "faster by itself, but not among 2 rows"
    rows = [replace(one, **changes, ratio_ci_low=0.85, reason=reason) for one in comparison.rows[:2]]
    names = " and ".join(f"{one.runner}/{one.phase}" for one in rows)
    wanted = f"inconclusive: {names} are faster by themselves, but not among 2 rows"
    assert wanted in html_page(replace(comparison, rows=rows, geometric_mean=None))


def test_a_plot_of_one_of_many_rows_is_that_row() -> None:
    row = compared().rows[0]
    medians = [replace(row, runner=f"r{place}") for place in range(3)]
    assert row.candidate is not None
    other = replace(row.candidate, process_medians_ns=[7.77e6] * 5, estimate_ns=7.77e6)
    medians[2] = replace(medians[2], candidate=other)
    text = html_page(replace(compared(), rows=medians, geometric_mean=None))
    plots = {name: text.partition(f'aria-label="Median of each process of {name}')[2] for name in ("r1", "r2")}
    assert "7.77" in plots["r2"].partition("</svg>")[0]
    assert "7.77" not in plots["r1"].partition("</svg>")[0]


def test_captures_of_different_jobs_are_told_apart(tmp_path: Path) -> None:
    paths = []
    for name, process, gap in (("one", 7, 5), ("two", 8, 9)):
        events = [call(process=process), kernel("a", 10, 2), kernel("a", 12 + gap, 2), fill(40, 1)]
        paths.append(write(tmp_path / f"{name}.json", document(events, host_name="host")))
    found = fastrnns_rs.read(*paths)
    plain = found.to_dict()
    text = found.render("html")
    # Of files without ranks, none is the slowest.
    assert "<h2>Ranks</h2>" not in text
    assert "slowest" not in text
    assert "<h2>Files</h2>" in text
    assert "Time and shares of the answer are means of 2 rows, one for each process of a GPU." in text
    # Each GPU has its causes of idle time and its file.
    causes = [row["total_ns"] for device in plain["devices"] for row in device["budget"]["idle"]]
    idle = text[text.index("<caption>Idle time</caption>") :].partition("</table>")[0]
    assert [int(one) for one in re.findall(r'data-value="(\d+)">[\d.,]+</td><td>[\d.]+ %', idle)] == causes
    assert [Path(device["path"]).name for device in plain["devices"]] == ["one.json", "two.json"]
    devices = text[text.index("<caption>Devices</caption>") :].partition("</table>")[0]
    assert [name in devices for name in ("one.json", "two.json")] == [True, True]
    # A sum over both is no row without a name.
    memory = text[text.index("<caption>Memory operations</caption>") :].partition("</table>")[0]
    assert ">-</td>" not in memory


def test_shares_have_a_base_and_numbers_have_commas(tmp_path: Path) -> None:
    events = [kernel(f"k{place}", 10 * place, 2) for place in range(1_500)]
    events += [kernel("same", 20_000 + 10 * place, 2) for place in range(2_020)]
    text = fastrnns_rs.read(write(tmp_path / "one.json", events)).render("html")
    assert '<th scope="col">share, %</th>' not in text
    assert '<th scope="col">of kernel time, %</th>' in text
    assert 'data-value="2020">2,020</td>' in text
    assert ">2020</td>" not in text
    # Rows of the plot and all rows are the same kernels: the second table is folded.
    assert "<summary>All statistics: 1,501 kernels</summary>" in text
