"""Documents of every kind, which the tests of pages and the gallery show."""

from __future__ import annotations

import contextlib
import random
import tempfile
from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

import run_files
import screen_data
from kineto_traces import annotation, kernel, write
from parts import few
from training_trace import BACKWARD, training_trace
from verb_documents import inductor_report

import fastrnns_rs
from fastrnns_rs.documents.comparison import Comparison
from fastrnns_rs.documents.history import History
from fastrnns_rs.documents.run_file import Result, Run
from fastrnns_rs.documents.sweep import SweepAxis
from fastrnns_rs.documents.sweep_findings import summarize_sweep
from fastrnns_rs.verbs.bench.phase_summary import summary
from fastrnns_rs.verbs.history.run_history import RunHistory
from fastrnns_rs.verbs.history.trends import with_trends
from fastrnns_rs.views.page.pages import html_page
from fastrnns_rs.views.summary.plain import PlainSummary

_README_RUNS = Path(__file__).resolve().parents[2] / "benches" / "readme"
#: Names that are markup, that reorder text, and that no column is wide enough for.
HOSTILE = ("</script><script>alert(1)</script>", "a\u202eb\x1b[31m&amp;", "x" * 10_000, '"><img src="https://a.test/">')


def run_of(results: int, processes: int, samples: int) -> Run:
    """A run of any size, with summaries."""
    made = [
        with_summaries(run_files.result(f"runner{one}", processes=processes, count=samples, level_ns=1e6 * (1 + one)))
        for one in range(results)
    ]
    return run_files.run(made)


def hostile_run() -> Run:
    """A run whose every name is hostile."""
    run = screen_data.candidate()
    warning = replace(run.warnings[0], message=HOSTILE[0], evidence=HOSTILE[1], hint=HOSTILE[2])
    return replace(
        run,
        results=[replace(run.results[one % 3], runner=name) for one, name in enumerate(HOSTILE)]
        + [run_files.failed("jit", HOSTILE[0])],
        warnings=[warning],
        command=["fastrnns-rs", *HOSTILE],
        environment=replace(run.environment, cpu_model=HOSTILE[0], os=HOSTILE[2]),
    )


def with_summaries(result: Result) -> Result:
    found = {
        phase: summary([[list(one.samples_ns(phase, timed=True))] for one in result.processes])
        for phase in ("forward", "backward")
        if all(one.samples_ns(phase) for one in result.processes)
    }
    return replace(result, **found)


def _hostile_comparison() -> Any:
    both = screen_data.baseline(), screen_data.candidate()
    renamed = [
        replace(run, results=[replace(run.results[one % 3], runner=name) for one, name in enumerate(HOSTILE)])
        for run in both
    ]
    return fastrnns_rs.compare(*renamed, history=False)


def readme_run(name: str) -> Run:
    """One of the two real runs of the README: `before` or `after`."""
    run = fastrnns_rs.load(_README_RUNS / f"{name}.json")
    assert isinstance(run, Run)
    return run.remember_name(f"{name}.json")


def sweep() -> Run:
    """A run of two runners over four sizes."""
    sizes = [64, 128, 256, 512]
    results = []
    for name, level, power in (("cudnn", 4e5, 1.1), ("py", 2e6, 1.4)):
        for size in sizes:
            time_ns = level * (size / 64) ** power
            made = run_files.result(name, processes=5, count=20, seed=size, level_ns=time_ns, backward=False)
            made = replace(made, problem=replace(made.problem, hidden_size=size))
            results.append(
                replace(with_summaries(made), point={"hidden-size": size}, label=f"{name}[hidden-size={size}]")
            )
    return replace(
        run_files.run(results), sweep=summarize_sweep([SweepAxis(name="hidden-size", values=[*sizes])], results)
    )


def history() -> History:
    """Runs of two weeks, with a slower level from the ninth on."""
    generator = random.Random(1)
    with tempfile.TemporaryDirectory() as folder:
        kept = RunHistory(Path(folder))
        for number in range(14):
            level = 1e6 * (1.0 if number < 9 else 1.07) * generator.lognormvariate(0, 0.004)
            results = [
                with_summaries(run_files.result(name, seed=number, level_ns=level * factor))
                for name, factor in (("cudnn", 1.0), ("py", 4.0))
            ]
            kept.keep(_dated(results, number))
        return replace(with_trends(kept.document()), folder="/home/someone/runs")


def _dated(results: list[Result], number: int) -> Run:
    """A run of a day, in a session of its own."""
    day = f"2026-11-{number + 1:02}T09:00:00Z"
    session = replace(run_files.SESSION, session_id=f"session {number}", started_utc=day)
    own = [
        replace(one, processes=[replace(each, session=session.session_id) for each in one.processes]) for one in results
    ]
    return run_files.run(own, run_id=f"{number:032x}", created_utc=day, sessions=[session])


@contextlib.contextmanager
def _temporary_folder() -> Iterator[None]:
    """Makes a temporary folder the working directory, so that pages show names without folders."""
    with tempfile.TemporaryDirectory() as folder, contextlib.chdir(folder):
        yield


def summary_of(path: Path) -> PlainSummary:
    """The summary of a capture, as its page has it."""
    read = fastrnns_rs.load(path)
    assert isinstance(read, fastrnns_rs.Summary)
    return PlainSummary(read.to_dict())


def capture() -> PlainSummary:
    """A summary of a trace of a training loop."""
    with _temporary_folder():
        return summary_of(training_trace(Path("step.json")))


def compared_captures() -> Comparison:
    """A comparison of three traces with three traces whose longest kernel is slower."""
    with _temporary_folder():
        sides = [
            [training_trace(Path(f"{side}{seed}.json"), seed=seed, factors={BACKWARD[0][0]: factor}) for seed in seeds]
            for side, seeds, factor in (("before", range(3), 1.0), ("after", range(3, 6), 1.12))
        ]
        return fastrnns_rs.compare(*sides)


def hostile_capture() -> PlainSummary:
    """A summary of a trace with these names of kernels."""
    with _temporary_folder():
        events = [kernel(name, 100.0 * place, 10.0 + place) for place, name in enumerate([*HOSTILE, *HOSTILE])]
        events += [annotation(name, 100.0 * place, 50.0) for place, name in enumerate(HOSTILE)]
        return summary_of(write(Path("trace.json"), events))


#: Documents of each page, by name. A page of a new kind is one line here.
PAGES: dict[str, Callable[[], list[Any]]] = {
    "run": lambda: [readme_run("after")],
    "hostile run": lambda: [hostile_run()],
    "sweep": lambda: [sweep()],
    "comparison": lambda: [fastrnns_rs.compare(readme_run("before"), readme_run("after"), history=False)],
    "hostile comparison": lambda: [_hostile_comparison()],
    "captures compared": lambda: [compared_captures()],
    "capture": lambda: [capture()],
    "hostile capture": lambda: [hostile_capture()],
    "history": lambda: [history()],
    "inductor": lambda: [inductor_report(kernels=True, profile=True)],
    "several documents": lambda: [
        replace(run, results=run.results[:1]) for run in (screen_data.partial(), screen_data.candidate())
    ],
}
#: Names of pages, of which some are tested with every change.
EACH = few(("capture", "hostile comparison"), PAGES, "pages")


@cache
def page(name: str) -> str:
    """The page with this name."""
    return html_page(*PAGES[name]())
