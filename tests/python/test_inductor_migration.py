"""Every flag and function of `torch._inductor.wrapper_benchmark` has a row that says what to type now."""

from __future__ import annotations

import ast
import importlib.util
import re
from pathlib import Path

import pytest
from conftest import ROOT, run_cli

import fastrnns_rs.inductor
from fastrnns_rs.worker.inductor.standalone_options import options

PAGE = (ROOT / "docs" / "migration.md").read_text()
SECTION = PAGE.split("## Inductor's `wrapper_benchmark`")[1].split("\n## ")[0]


def upstream() -> str:
    spec = importlib.util.find_spec("torch._inductor")
    return (Path(spec.origin).parent / "wrapper_benchmark.py").read_text()


@pytest.mark.parametrize("ours", ["the verb", "compiled_module_main"])
def test_every_flag_has_a_row_and_is_taken(ours: str, capsys: pytest.CaptureFixture[str]) -> None:
    flags = set(re.findall(r'"(--?[a-z][\w-]*)"', upstream().split("def compiled_module_main")[1]))
    assert {"-k", "-c", "-p", "--ncu", "--times"} <= flags
    if ours == "the verb":
        shown = run_cli("inductor", "--help").stdout
    else:
        with pytest.raises(SystemExit, match="0"):
            options(["--help"])
        shown = capsys.readouterr().out
    taken = set(re.findall(r"(?<![\w-])--?[a-z][\w-]*", shown))
    for flag in flags:
        assert re.search(rf"^\|[^|]*`[^`|]*(?<!\S){flag}(?![\w-])", SECTION.replace("`-", "` -"), re.MULTILINE), flag
        assert flag in taken, flag


def test_every_function_has_a_row_and_what_it_names_exists() -> None:
    functions = [one.name for one in ast.parse(upstream()).body if isinstance(one, ast.FunctionDef)]
    assert len(functions) == 9
    rows = dict(re.findall(r"^\| `(\w+)\(.*?\| (.*) \|$", SECTION, flags=re.MULTILINE))
    assert set(rows) == {*functions, "create_bandwidth_info_str"}
    for name, now in rows.items():
        imported = re.search(r"from fastrnns_rs.inductor import (\w+)", now)
        if imported:
            assert imported[1] == name
            assert callable(getattr(fastrnns_rs.inductor, name))
        else:
            [argument] = re.findall(r"benchmark_modules\(MODULE, (\w+)=True\)", now)
            assert argument in fastrnns_rs.benchmark_modules.__kwdefaults__
