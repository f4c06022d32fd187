"""Documents of every kind, which the tests of pages and the gallery show."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

import run_files
import screen_data

import fastrnns_rs
from fastrnns_rs.documents.run_file import Run
from fastrnns_rs.verbs.bench.phase_summary import summary
from fastrnns_rs.views.page.pages import html_page

README_RUNS = Path(__file__).resolve().parents[2] / "benches" / "readme"
#: Names that are markup, that reorder text, and that no column is wide enough for.
HOSTILE = ("</script><script>alert(1)</script>", "a\u202eb\x1b[31m&amp;", "x" * 10_000, '"><img src="https://a.test/">')


def run_of(results: int, processes: int, samples: int) -> Run:
    """A run of any size, with summaries."""
    made = [
        _with_summaries(run_files.result(f"runner{one}", processes=processes, count=samples, level_ns=1e6 * (1 + one)))
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


def _with_summaries(result: Any) -> Any:
    found = {
        phase: summary([[list(one.samples_ns(phase, timed=True))] for one in result.processes])
        for phase in ("forward", "backward")
    }
    return replace(result, **found)


def _hostile_comparison() -> Any:
    both = screen_data.baseline(), screen_data.candidate()
    renamed = [
        replace(run, results=[replace(run.results[one % 3], runner=name) for one, name in enumerate(HOSTILE)])
        for run in both
    ]
    return fastrnns_rs.compare(*renamed, history=False)


def _readme_run(name: str) -> Run:
    run = fastrnns_rs.load(README_RUNS / f"{name}.json")
    assert isinstance(run, Run)
    return run


#: Documents of each page, by name. A page of a new kind is one line here.
PAGES: dict[str, Callable[[], list[Any]]] = {
    "run": lambda: [_readme_run("after")],
    "run of many rows": lambda: [run_of(7, 2, 20)],
    "hostile run": lambda: [hostile_run()],
    "comparison": lambda: [fastrnns_rs.compare(_readme_run("before"), _readme_run("after"), history=False)],
    "hostile comparison": lambda: [_hostile_comparison()],
    "several documents": lambda: [screen_data.partial(), screen_data.candidate()],
}


@cache
def page(name: str) -> str:
    """The page with this name."""
    return html_page(*PAGES[name]())
