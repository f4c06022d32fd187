"""Times over runs of a history: the document, its plot and its page."""

from __future__ import annotations

import json
import math
import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import matplotlib as mpl
import pytest
from conftest import run_cli
from parts import few
from run_files import CARD, ENVIRONMENT, SESSION, exactly, process, run

from fastrnns_rs.documents.history import History
from fastrnns_rs.documents.history_trends import Trend, TrendPoint, TrendSegment
from fastrnns_rs.documents.run_file import Git, Run, RunSide
from fastrnns_rs.errors import UsageError
from fastrnns_rs.verbs.bench.phase_summary import summary
from fastrnns_rs.verbs.history import trends
from fastrnns_rs.verbs.history.run_history import RunHistory
from fastrnns_rs.verbs.history.trends import with_trends
from fastrnns_rs.views.page.pages import html_page

mpl.use("Agg")
#: Noise of 12 sessions, about 0.5 %.
NOISE = (3, -5, 1, 6, -2, -7, 4, 0, -3, 5, -1, 2)


def made(number: int, level: int, machine: str | None = "m", **changes: Any) -> Run:
    """A run of one session with two runners; the second takes twice as long."""
    started = f"2026-01-{1 + number:02}T10:00:00Z"
    session = replace(SESSION, session_id=f"session {number}", started_utc=started, machine_id=machine)
    rows = []
    for name, factor in (("cudnn", 1), ("py", 2)):
        medians = [factor * (level + step) for step in (-2, 0, 2)]
        one = exactly(medians, name, forward=summary([[[one - 1, one, one + 2]] for one in medians]))
        rows.append(replace(one, processes=[replace(each, session=session.session_id) for each in one.processes]))
    environment = replace(ENVIRONMENT, git=Git(commit=f"{number:040x}", dirty=number == 1))
    given: dict[str, Any] = {"environment": environment, **changes}
    return run(rows, run_id=f"{number:032x}", created_utc=started, sessions=[session], **given)


@pytest.fixture
def history(tmp_path: Path) -> RunHistory:
    return RunHistory(tmp_path / "history")


def kept(history: RunHistory, *runs: Run) -> History:
    for one in runs:
        history.keep(one)
    return with_trends(history.document())


def stepped(history: RunHistory) -> History:
    """Twelve runs; from the eighth, all runners take 10 % longer."""
    levels = [10_000 + noise * 10 + (1_000 if place >= 7 else 0) for place, noise in enumerate(NOISE)]
    return kept(history, *(made(place, level) for place, level in enumerate(levels)))


def test_a_trend_has_the_numbers_of_each_run(history: RunHistory) -> None:
    runs = [made(0, 1000), made(1, 1100), made(2, 1200)]
    history.keep(runs[0])
    history.tag(history.document().runs, "baseline")
    found = kept(history, *runs)
    assert [one.name for one in found.trends] == ["cudnn/forward", "py/forward"]
    assert found.n_trend_runs == 3
    for one, index in zip(found.trends, (0, 1), strict=True):
        for point, of in zip(one.points, runs, strict=True):
            forward = of.results[index].forward
            assert forward is not None
            assert point.run_id == of.run_id
            assert point.estimate_ns == forward.estimate_ns
            assert (point.ci_low_ns, point.ci_high_ns) == (forward.ci_low_ns, forward.ci_high_ns)
            assert point.n_processes == 3
    points = found.trends[0].points
    assert [one.tags for one in points] == [["baseline"], [], []]
    assert [(one.commit, one.dirty) for one in points[:2]] == [(f"{0:040x}", False), (f"{1:040x}", True)]
    # Three points are too few for a change point, and three sessions for their spread.
    assert [(one.begin, one.end) for one in found.trends[0].segments] == [(0, 3)]
    assert found.trends[0].session_stddev is None


def test_points_of_few_processes_have_no_interval(history: RunHistory) -> None:
    runs = []
    for number, medians in enumerate(([1000], [1000, 1004], [1000, 1002, 1004])):
        samples = [[one - 1, one, one + 2] * 20 for one in medians]
        processes = [process(index, one, None) for index, one in enumerate(samples)]
        row = replace(exactly([]), processes=processes, forward=summary([[one] for one in samples]))
        runs.append(replace(made(number, 1000), results=[row]))
    # A process has an interval of its own, and two have a range.
    assert all(one.results[0].forward and one.results[0].forward.ci_low_ns for one in runs)
    [trend] = kept(history, *runs).trends
    assert [(one.n_processes, one.ci_low_ns is None, one.ci_high_ns is None) for one in trend.points] == [
        (1, True, True),
        (2, True, True),
        (3, False, False),
    ]


def test_other_numbers_of_threads_are_other_rows(history: RunHistory) -> None:
    """Those of a variable count as well, which the plan does not have."""
    one_thread = replace(ENVIRONMENT, num_threads=1)
    found = kept(history, made(0, 1000), made(1, 1001), *(made(day, 1800, environment=one_thread) for day in (2, 3)))
    assert [(one.name, len(one.points)) for one in found.trends if "cudnn" in one.name] == [
        ("cudnn/forward, threads=1", 2),
        ("cudnn/forward, threads=2", 2),
    ]


def test_other_settings_of_torchscript_are_other_rows(history: RunHistory) -> None:
    plain = run([]).plan
    other = replace(plain, jit=replace(plain.jit, fuser="none"))
    found = kept(history, made(0, 1000), made(1, 1001), *(made(day, 1800, plan=other) for day in (2, 3)))
    assert [one.name for one in found.trends if "cudnn" in one.name] == [
        "cudnn/forward, fuser=none",
        "cudnn/forward, fuser=te",
    ]


def test_other_processors_are_other_rows(history: RunHistory) -> None:
    plans = [replace(run([]).plan, affinity=cpus) for cpus in ([0, 1], [0, 2])]
    found = kept(history, *(made(day, 1800, plan=plans[day // 2]) for day in range(4)))
    names = [one.name for one in found.trends if "cudnn" in one.name]
    assert names == ["cudnn/forward, affinity=0 1", "cudnn/forward, affinity=0 2"]
    # The text may be long, and rows many: they share it.
    rows = [row for _, row in trends._rows(history.document().runs[0])]
    assert len(rows) == 2
    assert rows[0].known["affinity"] is rows[1].known["affinity"]


def test_other_gpus_are_other_rows(history: RunHistory) -> None:
    """The first of two cards with one number counts, and others of the machine do not."""
    runs = []
    for day in range(4):
        cards = [replace(CARD, index=index, uuid=f"GPU-{day // 2}{place}") for place, index in enumerate((1, 0, 0, 2))]
        one = made(day, 1800, environment=replace(ENVIRONMENT, gpus=cards))
        rows = [replace(row, problem=replace(row.problem, device="cuda")) for row in one.results if row.problem]
        runs.append(replace(one, results=rows))
    names = [one.name for one in kept(history, *runs).trends if "cudnn" in one.name]
    assert names == ["cudnn/forward, gpu=GPU-01", "cudnn/forward, gpu=GPU-11"]


def test_a_change_is_found_and_is_no_spread(history: RunHistory) -> None:
    found = stepped(history)
    for one, factor in zip(found.trends, (1, 2), strict=True):
        assert [(part.begin, part.end) for part in one.segments] == [(0, 7), (7, 12)]
        times = [point.estimate_ns for point in one.points]
        logs = [math.log(time) for time in times[:7]]
        assert one.segments[0].level_ns == pytest.approx(math.exp(sum(logs) / 7))
        assert one.segments[0].level_ns == pytest.approx(10_000 * factor, rel=0.01)
        assert one.session_stddev == pytest.approx(0.0045, abs=0.001)
        assert one.n_sessions == 12


def test_noise_alone_has_no_change(history: RunHistory) -> None:
    found = kept(history, *(made(place, 10_000 + 10 * noise) for place, noise in enumerate(NOISE)))
    assert all(len(one.segments) == 1 for one in found.trends)
    found = kept(history, *(made(place, 10_000) for place in range(12)))
    assert all(len(one.segments) == 1 for one in found.trends)


def test_machines_problems_and_settings_are_never_mixed(history: RunHistory) -> None:
    other = made(3, 1000)
    other = replace(
        other, results=[replace(one, problem=replace(one.problem, hidden_size=99)) for one in other.results]
    )
    more = made(4, 1000)
    more = replace(more, plan=replace(more.plan, threads=7))
    unknown = [made(number, 1000, machine=None) for number in (5, 6)]
    faster = replace(made(7, 1000, machine=None), environment=replace(ENVIRONMENT, cpu_model="another processor"))
    found = kept(history, made(0, 1000), made(1, 1000), made(2, 1000, machine="n"), other, more, *unknown, faster)
    assert [(one.name, one.machine_id, len(one.points)) for one in found.trends if one.runner == "py"] == [
        ("py/forward, machine=a processor, 2 CPUs, Linux 6.1", None, 2),
        ("py/forward, machine=m", "m", 2),
    ]
    assert found.n_trend_runs == 8


def test_rows_of_a_sweep_are_compared_once(history: RunHistory, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each row with each other row would be quadratic: minutes for thousands of sizes."""
    reads = 0

    class Known(dict[str, Any]):
        def __getitem__(self, key: str) -> Any:
            nonlocal reads
            reads += 1
            return super().__getitem__(key)

    known = trends._known
    monkeypatch.setattr(trends, "_known", lambda *row: Known(known(*row)))
    sizes = range(1, 51)
    runs = [
        replace(
            run,
            results=[replace(one, problem=replace(one.problem, hidden_size=n)) for n in sizes for one in run.results],
        )
        for run in (made(0, 1000), made(1, 1000))
    ]
    found = kept(history, *runs)
    names = {f"{name}/forward, hidden-size={size}" for name in ("cudnn", "py") for size in sizes}
    assert {one.name for one in found.trends} == names
    assert reads < 50 * len(names)


def test_seeds_commits_and_versions_of_torch_are_one_trend(history: RunHistory) -> None:
    other = made(1, 1000, environment=replace(ENVIRONMENT, torch_version="2.16.0"))
    other = replace(other, results=[replace(one, problem=replace(one.problem, seed=5)) for one in other.results])
    found = kept(history, made(0, 1000), other)
    assert [[one.torch_version for one in trend.points] for trend in found.trends] == [["2.15.0", "2.16.0"]] * 2


def test_runs_of_ab_and_lost_files_are_left_out(history: RunHistory) -> None:
    sides = [RunSide(name=name, label=name, runner="cudnn", environment=ENVIRONMENT) for name in ("a", "b")]
    both = made(3, 1000)
    both = replace(both, sides=sides, results=[replace(one, side="a") for one in both.results])
    for one in (made(0, 1000), made(1, 1000), made(2, 1000), both):
        history.keep(one)
    document = history.document()
    Path(document.runs[1].path).unlink()
    found = with_trends(document)
    assert [[point.run_id for point in one.points] for one in found.trends] == [[f"{0:032x}", f"{2:032x}"]] * 2
    assert found.n_trend_runs == 3


def test_only_the_newest_runs_are_read(history: RunHistory, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(trends, "MOST_RUNS", 3)
    found = kept(history, *(made(number, 1000) for number in range(5)))
    assert [len(one.points) for one in found.trends] == [3, 3]
    assert found.trends[0].points[0].run_id == f"{2:032x}"
    page = html_page(found)
    assert "Times of the newest 3 runs of bench; the times of 2 runs are left out" in page


def test_the_document_is_written_and_read(history: RunHistory) -> None:
    found = stepped(history)
    assert History.from_dict(json.loads(found.to_json())) == found
    plain = history.document()
    assert (plain.trends, plain.n_trend_runs) == ([], None)


def test_the_plot_holds_the_numbers(history: RunHistory) -> None:
    found = stepped(history)
    axes = found.plot(row="py/forward").axes[0]
    trend = found.trends[1]
    [dots] = [one for one in axes.collections if len(one.get_offsets()) == 12]
    assert [x for x, _ in dots.get_offsets()] == [*range(12)]
    assert [y for _, y in dots.get_offsets()] == pytest.approx([one.estimate_ns / 1000 for one in trend.points])
    assert axes.get_ylabel() == "forward, µs"
    lines = [line for line in axes.get_lines() if line.get_linewidth() == 1.8]
    for number, key in enumerate(("ci_low_ns", "ci_high_ns")):
        ends = [float(line.get_ydata()[number]) for line in lines]
        assert ends == pytest.approx([getattr(one, key) / 1000 for one in trend.points])
    levels = [line.get_ydata() for line in axes.get_lines() if len({*line.get_ydata()}) == 1]
    assert [float(level[0]) for level in levels] == pytest.approx([one.level_ns / 1000 for one in trend.segments])
    changes = [line.get_xdata()[0] for line in axes.get_lines() if line.get_linestyle() == "--"]
    assert changes == [6.5]
    with pytest.raises(UsageError, match="unknown row: 'py/backward'"):
        found.plot(row="py/backward")


def test_the_page_has_the_exact_numbers(history: RunHistory) -> None:
    found = stepped(history)
    page = found.render("html")
    assert page == html_page(found)
    for trend in found.trends:
        table = page.partition(f"<caption>{trend.name}</caption>")[2].partition("</table>")[0]
        rows = [re.findall(r'data-value="([^"]*)"', row) for row in table.split("<tr>")[2:]]
        levels = [one.level_ns for one in trend.segments for _ in range(one.begin, one.end)]
        assert [[float(value) for value in row] for row in rows] == [
            [one.estimate_ns, one.ci_low_ns, one.ci_high_ns, one.n_processes, level]
            for one, level in zip(trend.points, levels, strict=True)
        ]
    assert "std between sessions" in page


def test_the_command_writes_pages_plots_and_trends(history: RunHistory, anywhere: Path) -> None:
    stepped(history)
    words = ["--history", str(history.folder)]
    page, plot = anywhere / "page.html", anywhere / "plot.svg"
    done = run_cli("history", *words, "--format", "html", "--output", str(page), "--plot", str(plot))
    assert (done.status, done.stdout) == (0, "")
    assert "<caption>py/forward</caption>" in page.read_text()
    assert "cudnn/forward" in plot.read_text()
    done = run_cli("history", *words, "--trends", "--json", "--last", "9")
    found = History.from_dict(json.loads(done.stdout))
    assert [len(one.points) for one in found.trends] == [9, 9]
    assert "trends" in json.loads(run_cli("history", *words, "--json").stdout)
    assert json.loads(run_cli("history", *words, "--json").stdout)["trends"] == []
    for wrong, message in (
        (["--trends"], "--trends needs --json or --format html"),
        (["--plot-row", "x"], "--plot-row needs --plot"),
        (["--tag", "x", "--format", "html"], "pages and plots exclude --tag"),
        (["--plot", str(plot), "--plot-row", "cudn/forward"], "unknown row: 'cudn/forward' (--plot-row)"),
    ):
        done = run_cli("history", *words, *wrong)
        assert done.status == 2
        assert message in done.stderr


@pytest.mark.parametrize("count", few([0, 1, 2], [0, 1, 2, 200], "pages"))
def test_nasty_histories_are_drawn(count: int) -> None:
    point = TrendPoint(
        run_id="</script>\u202e",
        started_utc="x" * 10_000,
        commit="\x1b[31m" * 9,
        dirty=None,
        tags=["<b>" + "t" * 10_000],
        torch_version="$x^$",
        n_processes=1,
        estimate_ns=1e-300,
        ci_low_ns=None,
        ci_high_ns=None,
    )
    points = [replace(point, estimate_ns=10.0**place) for place in range(count)]
    segments = [TrendSegment(begin=0, end=count, level_ns=1.0)]
    trend = Trend(
        name="</script><b>" + "n" * 10_000,
        runner="r",
        phase="forward",
        device="cpu",
        machine_id=None,
        points=points,
        segments=segments,
        n_sessions=0,
    )
    found = History(folder="</script>", trends=[trend] if count else [], n_trend_runs=count)
    page = html_page(found)
    assert "</script><b>" not in page
    assert not {"\u202e", "\x1b"} & {*page}
