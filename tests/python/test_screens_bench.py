"""Screens of `bench`, character by character: before, during and after the run."""

from __future__ import annotations

import io
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import screen_data
from conftest import ROOT
from facts import FACTS
from run_files import failed, result
from screens import screen

from fastrnns_rs.cli.results_file import ResultsFile
from fastrnns_rs.cli.run_output import end_lines
from fastrnns_rs.cli.run_saving import RunSaver
from fastrnns_rs.documents.run_file import Run
from fastrnns_rs.processes import phases
from fastrnns_rs.processes.worker_setting import Setting
from fastrnns_rs.runners.plan import Choice, Options
from fastrnns_rs.verbs.bench.bench_plan import BenchPlan, plan_bench
from fastrnns_rs.verbs.bench.effort import Effort
from fastrnns_rs.verbs.history.run_history import RunHistory
from fastrnns_rs.views import screen as screen_lines
from fastrnns_rs.views.bench_terminal import BenchTerminal
from fastrnns_rs.views.progress import Progress, TimeLeft, bar_line, text_line
from fastrnns_rs.views.run import run_screen, run_table

SIZES = (40, 60, 80, 200)


def planned(*runners: str, **options: Any) -> BenchPlan:
    return plan_bench(Options(choice=Choice(groups=(), names=runners), **options), Effort(), FACTS, Setting())


def expected_run() -> Run:
    return replace(screen_data.candidate(), results=[], warnings=[])


def observer(now: list[float] | None = None) -> BenchTerminal:
    clock = now or [0.0]
    return BenchTerminal("bench", shown=False, width=lambda: 80, clock=lambda: clock[0])


def frame(terminal: BenchTerminal, width: int = 80, height: int = 24) -> str:
    assert terminal.progress is not None
    return terminal.progress.frame(width, height)


def test_the_first_frame_has_every_row_before_torch_is_imported() -> None:
    terminal = observer()
    terminal.expects(expected_run(), planned("cudnn", "jit", "py"))
    assert frame(terminal) == screen("bench: first frame")


def test_the_first_frame_that_is_drawn_has_the_step(monkeypatch: pytest.MonkeyPatch) -> None:
    stream = io.StringIO()
    monkeypatch.setattr(stream, "isatty", lambda: True)
    monkeypatch.setattr(sys, "stderr", stream)
    monkeypatch.setenv("TERM", "xterm")
    terminal = BenchTerminal("bench", shown=True, width=lambda: 80)
    terminal.expects(expected_run(), planned("cudnn", "jit", "py"))
    drawn = stream.getvalue()
    terminal.close()
    assert "0 of 15  cudnn: importing torch" in drawn


def test_rows_are_refined_in_place() -> None:
    now = [0.0]
    terminal = observer(now)
    plan = planned("cudnn", "jit", "py")
    terminal.begins(expected_run(), plan)
    tasks = {task.label: task for task in plan.tasks}
    partial = screen_data.partial()
    for number, runner in enumerate(["jit", "cudnn", "py", "cudnn", "jit", "py", "jit", "cudnn"]):
        terminal.process_begins(tasks[runner], number)
        now[0] += 38.0 / 7
        terminal.process_ends(partial.results[0].processes[0], "")
    for row in partial.results:
        terminal.row_changes(row)
    terminal.process_begins(tasks["py"], 2)
    terminal.phase(phases.WARM_UP)
    assert frame(terminal) == screen("bench: after 8 processes")


def test_an_interrupted_process_of_a_resumed_run_is_not_counted() -> None:
    terminal = observer()
    partial = screen_data.partial()
    cut = replace(partial.results[0].processes[0], status="interrupted")
    first = replace(partial.results[0], processes=[*partial.results[0].processes, cut])
    terminal.begins(replace(partial, results=[first, *partial.results[1:]]), planned("cudnn", "jit", "py"))
    assert " 8 of 15" in frame(terminal)


def test_a_runner_whose_first_process_was_interrupted_did_not_fail() -> None:
    partial = screen_data.partial()
    cut = replace(partial.results[2].processes[0], status="interrupted", reason="interrupted")
    last = replace(partial.results[2], status="failed", reason="interrupted", forward=None, backward=None)
    run = replace(partial, results=[*partial.results[:2], replace(last, processes=[cut])])
    [row] = [line.text for line in run_table.lines(run_table.rows(run), 80) if line.text.startswith("py")]
    assert "failed" not in row
    assert "0 of 5" in row


def test_a_mark_does_not_touch_the_processes_so_far() -> None:
    run = replace(screen_data.partial(), warnings=[screen_data.SEVERAL_MODES])
    rows = [line.text for line in run_table.lines(run_table.rows(run), 80)]
    assert any(" ! 2 of 5 " in one for one in rows), rows


def kept(run: Run, folder: Path, seconds: float, *, earlier: bool = False) -> str:
    """The whole screen of a run that the history keeps."""
    history = RunHistory(folder)
    if earlier:
        with ResultsFile(None) as results, RunSaver(results, history) as keeping:
            keeping.save(screen_data.baseline())
    with ResultsFile(None) as results, RunSaver(results, history) as keeping:
        keeping.save(run)
        lines = [*run_screen.lines(run, 80), *end_lines(run, keeping, seconds, 80)]
    return screen_lines.plain(lines)


def test_the_end_has_table_warnings_place_and_next_command(tmp_path: Path) -> None:
    command = ["fastrnns-rs", "bench", "cudnn", "jit", "py"]
    run = replace(screen_data.candidate(), command=command)
    assert kept(run, tmp_path, 81.6, earlier=True) == screen("bench: end")


def test_a_quick_run_with_a_failure(tmp_path: Path) -> None:
    quick = replace(screen_data.PROBLEM, seq_length=16, input_size=64, hidden_size=64, mini_batch=4)
    made = screen_data.made({"cudnn": ([0.2292], [0.3641])}, "2026-11-22T09:14:00Z", status="failed")
    reason = "process 1 was killed by signal 11 (SIGSEGV)"
    broken = replace(made.results[0].processes[0], status="failed", reason=reason)
    jit = replace(failed("jit", reason), processes=[broken], problem=quick)
    cudnn = replace(made.results[0], problem=quick, peak_memory_bytes=589 << 20)
    runners = [replace(one, problem=quick) for one in made.plan.runners if one.runner != "py"]
    plan = replace(made.plan, preset="quick", processes=1, runners=runners)
    run = replace(made, results=[cudnn, jit], plan=plan)
    assert kept(run, tmp_path, 6.9) == screen("bench: quick, with a failure")


def test_an_interrupted_run_says_how_to_resume(tmp_path: Path) -> None:
    run = screen_data.partial()
    text = kept(run, tmp_path, 40)
    assert text.partition("\n\n")[2] == screen("bench: interrupted")
    skipped = replace(
        run.results[-1], status="skipped", reason="no backward", processes=[], forward=None, backward=None
    )
    [first, *_] = run_screen.end(replace(run, results=[*run.results[:-1], skipped]), 40, "", 80)
    assert first.text.endswith(" of 10 processes.")


def test_lines_where_there_is_no_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    stream = io.StringIO()
    with Progress("bench", "3 runners, 15 processes", total=15, stream=stream):
        pass
    lines = [text_line("bench", done, 15, "processes", left) for done, left in ((3, 65.4), (6, 49.5))]
    assert stream.getvalue() + "\n".join(lines) + "\n" == screen("bench: without a terminal")


def runs() -> dict[str, Run]:
    """Runs with long names, failures, huge and tiny times."""
    row = screen_data.candidate().results[0]
    assert row.forward is not None
    long = replace(row, runner="a_runner_of_" + 40 * "x", label=None)
    other = replace(row, runner="a_runner_of_" + 39 * "x" + "y")
    slow = replace(row.forward, estimate_ns=5e12, ci_low_ns=4.9e12, ci_high_ns=5.2e12)
    wide = replace(row.forward, ci_low_ns=row.forward.estimate_ns / 9, ci_high_ns=9 * row.forward.estimate_ns)
    failed = result("py", processes=0, status="failed", reason="word " * 40)
    base = screen_data.candidate()
    return {
        "plain": base,
        "long names": replace(base, results=[long, other]),
        "huge": replace(base, results=[row, replace(row, runner="slow", forward=slow)]),
        "wide": replace(base, results=[replace(row, forward=wide)]),
        "failed": replace(base, results=[row, failed]),
        "empty": replace(base, results=[]),
        "golden": Run.load(ROOT / "tests" / "data" / "views" / "run.json"),
    }


@pytest.mark.parametrize("limit", SIZES)
@pytest.mark.parametrize("name", runs())
def test_nothing_is_wider_than_the_terminal(name: str, limit: int) -> None:
    run = replace(runs()[name], sweep=None)
    for wide in (False, True):
        lines = run_screen.lines(run, limit, wide=wide)
        assert max(len(one.text) for one in lines) <= limit, "\n".join(one.text for one in lines)


def test_two_long_names_stay_distinct() -> None:
    lines = [one.text for one in run_table.lines(run_table.rows(runs()["long names"]), 80)]
    assert lines[2].split()[0] != lines[3].split()[0]


def test_a_wide_interval_has_no_figure() -> None:
    assert ">±50 %" in run_table.lines(run_table.rows(runs()["wide"]), 80)[2].text


def test_rows_that_changed_last_stay_where_the_terminal_is_low() -> None:
    terminal = observer()
    names = ["cudnn", "aten", "jit", "py", "jit_premul", "cudnn_lstm_proj"][:5]
    plan = planned(*names)
    terminal.begins(expected_run(), plan)
    for name in names:
        terminal.row_changes(replace(screen_data.candidate().results[0], runner=name))
    text = frame(terminal, height=10)
    assert len(text.splitlines()) <= 10
    assert [line.split()[0] for line in text.splitlines()[5:7]] == names[-2:]


def test_a_hostile_phase_cannot_act_on_the_terminal() -> None:
    terminal = observer()
    terminal.begins(expected_run(), planned("cudnn"))
    terminal.phase("\x1b]0;title\x07")
    assert "\x1b" not in frame(terminal)


def test_symbols_become_ascii_and_columns_stay() -> None:
    lines = run_screen.lines(screen_data.candidate(), 80)
    text = screen_lines.drawn(lines, ascii_only=True, limit=80)
    assert text.isascii()
    assert [len(one) for one in text.splitlines()] == [len(one.text) for one in lines]
    bar = screen_lines.drawn([screen_lines.Line(bar_line(8, 15, "py", 38, 80))], ascii_only=True)
    assert bar.startswith("#" * 21 + "-" * 19)


def test_colours_repeat_marks() -> None:
    text = screen_lines.drawn(run_screen.lines(screen_data.candidate(), 80), colour=True)
    assert "\x1b[33m !\x1b[39m" in text
    assert "\x1b[1mrunner" in text
    plain = screen_lines.plain(run_screen.lines(screen_data.candidate(), 80))
    assert screen_lines.drawn(run_screen.lines(screen_data.candidate(), 80)) == plain


def test_the_time_left_improves_with_each_step() -> None:
    left = TimeLeft(10.0)
    assert left.estimate({"a": 2, "b": 2}) == 40.0
    left.add("a", 2.0)
    assert left.estimate({"a": 1, "b": 2}) == 6.0
    left.add("b", 6.0)
    assert left.estimate({"a": 1, "b": 1}, running_s=1.0) == 7.0
    assert left.estimate({"a": 0, "b": 1}, running_s=100.0) == 0.0
    assert TimeLeft().estimate({"a": 1}) is None


@pytest.mark.parametrize("limit", [20, 40, 60, 80, 200])
@pytest.mark.parametrize("total", [None, 3, 1500])
def test_the_bar_fits(limit: int, total: int | None) -> None:
    assert len(bar_line(2, total, "a_long_runner_name: compiling", 3700, limit)) <= max(limit, 35)


def test_the_bar_has_words_before_anything_is_known() -> None:
    assert bar_line(0, None, "", None, 80) == "starting"
    assert bar_line(0, None, "importing torch", None, 80) == "importing torch"
    assert bar_line(3, None, "py", None, 80) == "3 done  py"


def test_a_closed_stderr_stops_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    stream = io.StringIO()
    monkeypatch.setattr(sys, "stderr", stream)
    with Progress("bench", "1 runner", total=1) as progress:
        stream.close()
        progress.write("a line")
        progress.advance()
    assert progress.done == 1
