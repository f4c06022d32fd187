"""Configured values that give way to the command line."""

from __future__ import annotations

import importlib
from pathlib import Path
from typing import Any

import click
import pytest
from commands import run_cli, run_pretended
from run_files import result, run
from run_files import write as write_run
from test_inductor_finding import module
from verb_documents import inductor_report

from fastrnns_rs.cli import root
from fastrnns_rs.cli.configured_values import give_way
from fastrnns_rs.verbs.history.run_history import RunHistory
from fastrnns_rs.verbs.inductor import module_runs


def write(folder: Path, verb: str, text: str) -> None:
    (folder / "pyproject.toml").write_text(f"[tool.fastrnns-rs.{verb}]\n{text}\n")


@pytest.mark.parametrize(
    ("command", "configured", "expected"),
    [
        ("bench py", 'every = "20m"', {"every": None}),
        ("bench py --sessions 3", 'every = "20m"', {"every": "20m", "sessions": 3}),
        ("bench py --every 20m", "", {"every": "20m", "sessions": 1}),
        ("bench py --sessions 3", 'stop = "precision:1%"', {"stop": None, "sessions": 3}),
        ("bench py --sessions 1", 'stop = "precision:1%"', {"stop": "precision:1%"}),
        ("bench py --sessions 3", 'stop = "count:9"', {"stop": "count:9"}),
        ("bench py --stop precision:1%", 'sessions = 3\nevery = "20m"', {"sessions": 1, "every": None}),
        ("bench py --nloops 3", 'stop = "time:1s"', {"stop": None}),
        ("bench py --nloops 3", 'stop = "precision:1%"', {"stop": "precision:1%"}),
        ("bench py", "side-by-side = true", {"side_by_side": False}),
        ("bench py --devices cuda:0 cuda:1", "side-by-side = true", {"side_by_side": True}),
        ("bench py --print-json", "open = true\njson = true", {"open_page": False, "as_json": False}),
        ("bench py --sep ,", "json = true\nopen = true", {"as_json": False, "open_page": False, "sep": ","}),
        ("bench py --sep ,", 'print-json = "oss"', {"print_json": None, "sep": ","}),
        ("bench py --sep ,", 'format = "csv"', {"format_name": None, "sep": ","}),
        ("bench py --sep ,", 'format = "fastrnns"', {"format_name": "fastrnns", "sep": ","}),
        ("bench py --format fastrnns", 'sep = ","', {"format_name": "fastrnns", "sep": ","}),
        ("bench py --open", 'sep = ","', {"open_page": True, "sep": None}),
        ("ab py cudnn --live", "warmup = 20\nnloops = 5", {"warmup": None, "nloops": None}),
        ("ab py cudnn --warmup 0", "live = true", {"live": False, "warmup": 0}),
        ("ab --same", 'until = "decided"', {"until": None}),
        ("inductor --runner py", 'ncu-path = "ncu"\narch = ["sm_90"]', {"ncu_path": None, "architectures": None}),
        ("inductor --runner py --ncu --benchmark-kernels", 'ncu-path = "ncu"\narch = "sm_90"', {"ncu_path": "ncu"}),
        ("report x", 'plot-kind = "budget"', {"plot_kind": None}),
        ("report x --plot x.svg", 'plot-kind = "budget"', {"plot_kind": "budget"}),
        ("compare a b --json", "open = true", {"open_page": False, "as_json": True}),
        ("compare a b --format html", "open = true", {"open_page": True, "format_name": "html"}),
        ("compare a b --format markdown", "open = true", {"open_page": False, "format_name": "markdown"}),
        ("compare a b --open", "json = true", {"open_page": True, "as_json": False}),
        ("compare a b --explain x", 'open = true\nformat = "html"', {"open_page": False, "format_name": None}),
        ("show a --warnings", "open = true", {"open_page": False, "warnings": True}),
        ("show a --json", "warnings = true", {"warnings": False, "as_json": True}),
        (
            "history --tag x",
            'format = "html"\nplot = "x.svg"\nplot-kind = "y"',
            {"format_name": None, "plot_kind": None},
        ),
    ],
)
def test_what_is_configured_gives_way(command: str, configured: str, expected: dict[str, Any], anywhere: Path) -> None:
    verb, *words = command.split()
    write(anywhere, verb, configured)
    found: click.Command = importlib.import_module(f"fastrnns_rs.cli.{verb}").command
    parent = click.Context(root, auto_envvar_prefix="FASTRNNS")
    with found.make_context(verb, words, parent=parent) as context:
        given = give_way(context.params)
    assert {name: given[name] for name in expected} == expected


def test_a_configured_interval_of_sessions_does_not_stop_a_run_of_one(anywhere: Path) -> None:
    write(anywhere, "bench", 'every = "20m"')
    words = ["bench", "cudnn", "--quick", "--device", "cpu", "--json"]
    done = run_pretended(*words)
    assert done.status == 0, done.stderr
    done = run_pretended(*words, "--every", "20m")
    assert (done.status, "--every needs 2 sessions" in done.stderr) == (2, True)


def test_a_configured_ncu_does_not_stop_modules_without_it(anywhere: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module_runs, "measure", lambda *_: inductor_report(kernels=True))
    module(anywhere / "good.py")
    done = run_cli("inductor", "good.py", FASTRNNS_INDUCTOR_NCU_PATH="/somewhere/ncu")
    # A module of the report has failed.
    assert done.status == 1, done.stderr


def test_a_format_on_the_command_line_replaces_a_configured_page(anywhere: Path) -> None:
    file = write_run(anywhere / "run.json", run([result()]))
    write(anywhere, "compare", "open = true")
    done = run_cli("compare", file, file, "--json")
    assert (done.status, done.json()["schema"]) == (0, "fastrnns-rs/comparison"), done.stderr


def test_an_action_on_the_history_replaces_a_configured_page(history: RunHistory, anywhere: Path) -> None:
    run_pretended("bench", "cudnn", "--quick", "--device", "cpu")
    write(anywhere, "history", 'format = "html"\nplot = "x.svg"\noutput = "y"')
    done = run_cli("history", "--tag", "x")
    assert (done.status, "has the tag x" in done.stderr) == (0, True), done.stderr
    assert history.document().runs[0].tags == ["x"]
