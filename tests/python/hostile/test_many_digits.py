"""Integers of more digits than Python converts, wherever a command takes one."""

from __future__ import annotations

from pathlib import Path

import pytest
from commands import run_cli
from kineto_traces import kernel, write

NINES = "9" * 5000


@pytest.fixture
def trace(anywhere: Path) -> Path:
    write(anywhere / "trace.json", [kernel()])
    return anywhere / "trace.json"


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--devices", NINES], "integer of more than 64 bits (--devices)"),
        (["--since", f"{NINES}ms"], "out of range: "),
        (["--since", f"1.{NINES}ms"], None),
        (["--top", NINES], "invalid integer: "),
    ],
    ids=lambda one: " ".join(one)[:12] if isinstance(one, list) else "",
)
def test_report_takes_or_refuses_them(trace: Path, words: list[str], message: str | None) -> None:
    done = run_cli("report", trace, *words)
    assert "fault of" not in done.stderr
    assert done.status == (0 if message is None else 2), done.stderr
    assert message is None or done.stderr.startswith(f"error: {message}")


@pytest.mark.parametrize("name", ["COLUMNS", "LINES"])
def test_a_terminal_of_any_size_is_shown(trace: Path, name: str) -> None:
    assert run_cli("report", trace, **{name: NINES}).status == 0


@pytest.mark.usefixtures("_no_torch")
@pytest.mark.parametrize(
    ("flag", "value"), [("--schedule", f"wait={NINES}"), ("--device", f"cuda:{NINES}"), ("--nloops", NINES)]
)
def test_profile_refuses_them(anywhere: Path, flag: str, value: str) -> None:
    done = run_cli("profile", "py", "--torch", "--dry-run", "--output-dir", anywhere, flag, value)
    assert done.status == 2, done.stderr
    assert "fault of" not in done.stderr


@pytest.mark.parametrize("key", ["top", "by", "unknown"])
def test_a_project_that_has_them_is_refused(anywhere: Path, trace: Path, key: str) -> None:
    (anywhere / "pyproject.toml").write_text(f"[tool.fastrnns-rs.report]\n{key} = 0x{'f' * 4000}\n")
    done = run_cli("report", trace)
    assert (done.status, "fault of" in done.stderr) == (2, False)
    assert "pyproject.toml" in done.stderr


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("one.nsys-rep", f"NVIDIA Tegra Profiler Report 2023@{NINES}@1"),
        ("one.qdstrm", f"U3w[END]NVIDIA X Stream 2023.{NINES}.1 "),
        ("module.py", f"# device='cuda:{NINES}'\ndef call(a): pass\ndef benchmark_compiled_module(args): pass\n"),
    ],
)
def test_files_that_have_them_are_refused(anywhere: Path, name: str, content: str) -> None:
    (anywhere / name).write_text(content)
    done = run_cli("inductor" if name.endswith(".py") else "report", anywhere / name)
    assert done.status in {1, 2, 5}
    assert "fault of" not in done.stderr


def test_a_list_that_takes_a_file_is_a_mistake_in_every_spelling(anywhere: Path, trace: Path) -> None:
    for words in ([f"--fail-on={trace}"], ["--fail-on", f"regression,{trace}"], ["--fail-on", trace]):
        done = run_cli("compare", trace, trace, *words)
        assert (done.status, "fault of" in done.stderr) == (2, False), done.stderr
    done = run_cli("compare", trace, trace, FASTRNNS_COMPARE_FAIL_ON=trace)
    assert (done.status, "fault of" in done.stderr) == (2, False), done.stderr


def test_the_name_of_an_output_does_not_move_a_terminal(anywhere: Path) -> None:
    done = run_cli("history", "--history", "empty", "--export", "a\x1b[31mb")
    assert "\x1b" not in done.stderr
