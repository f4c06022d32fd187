"""Options of pages and plots: files, terminals, browsers, and documents that `show` reads."""

from __future__ import annotations

import os
import pty
import subprocess
import sys
import webbrowser
from dataclasses import replace
from pathlib import Path
from typing import Any

import pretended_workers
import pytest
from commands import run_cli
from kineto_traces import kernel, write
from page_documents import readme_run
from run_files import both, failed, result, run
from run_files import write as write_run
from test_compare_command import call
from test_inductor_finding import module
from verb_documents import inductor_report

import fastrnns_rs
from fastrnns_rs.processes.listener import Answer
from fastrnns_rs.verbs.inductor import module_runs

pytest.importorskip("matplotlib.pyplot")
pytest.importorskip("matplotlib.backends.backend_svg")
pytest.importorskip("jinja2")

__all__ = ["call"]


@pytest.fixture
def file(tmp_path: Path) -> Path:
    """A run file with samples."""
    path = tmp_path / "a.json"
    readme_run("after").save(path)
    return path


def test_a_plot_and_an_output_are_two_files(call: Any, file: Path, tmp_path: Path) -> None:
    same = tmp_path / "y.svg"
    (tmp_path / "folder").mkdir()
    for output in (same, tmp_path / "folder" / ".." / "y.svg"):
        for words in (("show", file), ("compare", file, file)):
            done = call(*words, "--plot", same, "--output", output, "--format", "html")
            assert done.status == 2
            assert done.stderr.startswith(f"error: two outputs for one file: '{same}' (--plot)")
            assert not same.exists()
    assert call("show", file, "--plot", same, "--output", tmp_path / "x.html", "--format", "html").status == 0
    assert same.exists()


@pytest.mark.parametrize("words", [("--plot-kind", "nope"), ("--plot-kind", "samples", "--plot-row", "nope")])
def test_a_wrong_plot_is_reported_before_the_table(
    words: tuple[str, ...], call: Any, file: Path, tmp_path: Path
) -> None:
    for command in (("show", file), ("compare", file, file)):
        done = call(*command, "--plot", tmp_path / "x.svg", *words)
        assert (done.status, done.stdout) == (2, "")
        assert "'nope'" in done.stderr or command[0] == "compare"


def test_open_names_the_format_that_works(call: Any, file: Path) -> None:
    done = call("show", file, "--open", "--format", "csv")
    assert (done.status, done.stderr.splitlines()[1]) == (2, "hint: Use --format html.")
    done = call("show", file, "--open", "--json")
    assert (done.status, done.stderr.splitlines()[1]) == (2, "hint: Leave out --json or use --format html.")


def test_without_a_browser_the_path_is_printed_even_with_quiet(file: Path) -> None:
    variables = {**os.environ, "BROWSER": "/bin/false"}
    words = [sys.executable, "-m", "fastrnns_rs", "show", str(file), "--open", "--quiet"]
    done = subprocess.run(words, env=variables, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")
    path = Path(done.stdout.strip())
    assert path.read_text().startswith("<!doctype html>")
    path.unlink()


def test_a_page_that_is_not_written_leaves_no_file(tmp_path: Path) -> None:
    assert run_cli("show", tmp_path / "missing.json", "--open", TMPDIR=tmp_path).status == 2
    assert not [*tmp_path.iterdir()]


def test_a_page_is_not_written_to_a_terminal(file: Path) -> None:
    main, other = pty.openpty()
    words = [sys.executable, "-m", "fastrnns_rs", "show", str(file), "--format", "html"]
    done = subprocess.run(words, stdout=other, stderr=subprocess.PIPE, text=True, check=False)
    os.close(other)
    os.close(main)
    assert done.returncode == 2
    assert done.stderr.splitlines() == [
        "error: --format html needs a file: stdout is a terminal",
        "hint: Add --output page.html or --open.",
    ]
    piped = subprocess.run(words, capture_output=True, text=True, check=True)
    assert piped.stdout.startswith("<!doctype html>")


def test_show_reads_a_summary_of_captures(call: Any, tmp_path: Path) -> None:
    summary = fastrnns_rs.read(write(tmp_path / "trace.json", [kernel("k", 5, 2), kernel("k", 9, 2)]))
    path = tmp_path / "rep.json"
    path.write_text(summary.to_json())
    done = call("show", path)
    assert (done.status, done.stderr) == (0, "")
    assert "GPU idle for" in done.stdout
    assert "<h1>Time of trace.json</h1>" in call("show", path, "--format", "html").stdout
    assert call("show", path, path, "--format", "html").stdout.count("<h2>Time of trace.json</h2>") == 2
    assert call("show", path, "--warnings").status == 0
    refused = call("show", path, "--format", "csv")
    assert (refused.status, refused.stderr.splitlines()[1]) == (2, "hint: Use table, json or html.")
    path.write_text('{"schema": "fastrnns-rs/summary"}')
    assert call("show", path).stderr.startswith(f"error: damaged summary: '{path}' (")
    # Other verbs read runs only.
    assert call("compare", path, path).status == 2


def test_the_command_of_a_comparison_has_both_operands(call: Any, tmp_path: Path) -> None:
    path = write_run(tmp_path / "s.json", run([failed("cudnn", "not supported", "skipped")]))
    text = call("compare", path, path, "--format", "html").stdout
    assert f"fastrnns-rs compare {path} {path}</pre>" in text


def test_the_command_of_a_comparison_of_equal_sides_has_one_operand(call: Any, tmp_path: Path) -> None:
    """The sides of `ab --same` have one label, and the command with two files was refused."""
    made = both(result(), result(seed=1, side="b"))
    path = write_run(tmp_path / "s.json", replace(made, sides=[replace(one, label="cudnn") for one in made.sides]))
    text = call("compare", path, "--format", "html").stdout
    assert f"fastrnns-rs compare {path}</pre>" in text


def test_a_plot_of_another_tool_is_refused(call: Any, tmp_path: Path) -> None:
    from foreign_files import FOLDER

    found = next(iter(sorted(FOLDER.glob("pyperf*.json"))))
    done = call("show", found, "--plot", tmp_path / "x.svg")
    assert (done.status, done.stdout) == (2, "")
    assert result("cudnn").status == "ok"


@pytest.mark.parametrize("words", [(), ("--output", "page.html")])
def test_inductor_opens_its_page(words: tuple[str, ...], anywhere: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    opened: list[str] = []
    monkeypatch.setattr(webbrowser, "open", lambda address: opened.append(address) or True)
    monkeypatch.setattr(module_runs, "measure", lambda *_: inductor_report(kernels=True))
    module(anywhere / "good.py")
    done = run_cli("inductor", "good.py", "--open", *words, TMPDIR=anywhere)
    assert done.stdout == ""
    [address] = opened
    page = Path(address.removeprefix("file://"))
    assert page.read_text().startswith("<!doctype html>")
    assert page.name.startswith("fastrnns-rs-") or words


@pytest.mark.parametrize("is_written", [True, False])
def test_only_a_page_of_this_command_is_opened(
    is_written: bool, anywhere: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    opened: list[str] = []
    monkeypatch.setattr(webbrowser, "open", lambda address: opened.append(address) or True)
    (anywhere / "page.html").write_text("<p>An earlier page.</p>")

    def stops(job: dict[str, Any]) -> Answer:
        if is_written:
            return pretended_workers.rising(job)
        raise KeyboardInterrupt

    words = ["cudnn", "py", "--quick", "--device", "cpu", "--open", "--output", "page.html"]
    done = run_cli("ab", *words, executor=pretended_workers.each(stops))
    assert done.status == (0 if is_written else 130), done.stderr
    assert bool(opened) == is_written


@pytest.mark.parametrize("browser", [" ", "firefox '%s"])
def test_a_browser_that_is_no_command_is_no_browser(
    browser: str, anywhere: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module_runs, "measure", lambda *_: inductor_report(kernels=True))
    module(anywhere / "good.py")
    # The module reads the variable when a browser is opened for the first time.
    monkeypatch.setattr(webbrowser, "_tryorder", None)
    done = run_cli("inductor", "good.py", "--open", "--output", "page.html", BROWSER=browser)
    assert done.stderr.endswith("note: no browser found; the page is page.html\n")
