"""First guesses of a new user at a Python prompt: each works, or the error names the right way."""

from __future__ import annotations

import ast
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import screen_data
import torch
from conftest import ROOT
from kineto_traces import kernel, write

import fastrnns_rs
from fastrnns_rs import UsageError, stats
from fastrnns_rs.verbs.history.run_history import RunHistory


@pytest.fixture
def names(tmp_path: Path, history: RunHistory, monkeypatch: pytest.MonkeyPatch) -> dict[str, Any]:
    """What a guess may use."""
    monkeypatch.chdir(tmp_path)
    screen_data.baseline().save("before.json")
    history.keep(screen_data.candidate())
    summary = fastrnns_rs.load(write(tmp_path / "trace.json", [kernel("scan", 5, 2)]))
    run = screen_data.candidate()
    comparison = fastrnns_rs.compare(screen_data.baseline(), run, history=False)
    known = {"run": run, "comparison": comparison, "summary": summary, "np": np, "torch": torch}
    return {**known, "fastrnns_rs": fastrnns_rs, "stats": stats}


WORKS = [
    'fastrnns_rs.load("@last")["jit"].forward.median_ns',
    'fastrnns_rs.load("trace.json")["scan"].count',
    "len(run.samples()['time_ns'])",
    'run.render("html")',
    "run.plot()",
    'run.render(format="markdown")',
    'run.render(view="warnings")',
    'summary.render(view="idle")',
    "summary.columns()['total_ns'].sum()",
    "comparison.columns()['ratio'].max()",
    "[row.verdict for row in comparison]",
    'fastrnns_rs.Run.load("before.json").status',
    "stats.summarize(run.samples()['time_ns']).median",
    'fastrnns_rs.compare("before.json", run)["jit/forward"].ratio',
]
MISTAKES = [
    ('fastrnns_rs.bench("cudnn", hiddenSize=64)', r"did you mean 'hidden_size'\?"),
    ('fastrnns_rs.bench("cudnn", batch_size=4)', r"did you mean 'mini_batch'\?"),
    ('fastrnns_rs.bench("cudnn", seq_len=4)', r"did you mean 'seq_length'\?"),
    ('fastrnns_rs.bench("cudnn", iterations=4)', r"did you mean 'nloops'\?"),
    ('fastrnns_rs.verify("cudnn", tolerance=4)', r"did you mean 'rtol'\?"),
    ('fastrnns_rs.ab("cudnn", "py", n_processes=3)', r"did you mean 'processes'\?"),
    ('fastrnns_rs.bench("cudnn", "py")', r"use a list for several runners"),
    ('fastrnns_rs.trainbench("py", hidden_size=3)', r"did you mean 'hiddenSize'\?"),
    ('fastrnns_rs.bench("cudnn", device="gpu")', r"invalid value: 'gpu' \(device\)\. Use 'cuda'"),
    ('fastrnns_rs.bench("cudnn", dtype="fp16")', r"invalid value: 'fp16' \(dtype\)\. Use 'float16'"),
    ('fastrnns_rs.bench("cudnn", mode="eval")', r"Use 'inference'"),
    ('fastrnns_rs.bench("lstm")', r"'lstm' is a family of runners\. Use '\w+'"),
    ('fastrnns_rs.bench(groups="rnn")', r"unknown group: 'rnn' \(groups\)\. Use 'rnns'"),
    ('fastrnns_rs.bench("cudnn", axes={"hiden_size": [1, 2]})', r"\(axes\)\. Use 'hidden-size'"),
    ('fastrnns_rs.bench("cudnn", filter="hidden-size")', r"has no operator \(filter\)\. Use KEY, an operator"),
    ('fastrnns_rs.profile("cudnn", tool="pytorch")', r"Use 'torch'"),
    ('fastrnns_rs.load("trce.json")', r"file not found: 'trce.json' \(source\)\. Use 'trace.json'"),
    ('fastrnns_rs.compare("before.json")', r"Use 2 files: baseline and candidate"),
    ('fastrnns_rs.report("trace.json")', r"use fastrnns_rs\.read\(path\)\.render\(\)"),
    ("fastrnns_rs.doctor()", r"use the command fastrnns-rs doctor"),
    ("fastrnns_rs.runner(print)", r'Decorate with a name: @fastrnns_rs\.runner\("name"\)'),
    ("fastrnns_rs.inductor()", r"Use the path of a module, or `from_cache=True`"),
    ('fastrnns_rs.compare("before.json", run, marign=0.02)', r"did you mean 'margin'\?"),
    ('fastrnns_rs.read("trace.json", device=[0])', r"did you mean 'devices'\?"),
    ('fastrnns_rs.load("@last", histroy=False)', r"did you mean 'history'\?"),
    ('fastrnns_rs.runner("x", familly="lstm")', r"did you mean 'family'\?"),
    ("stats.mean([1.0])", r"use summarize\(samples\)\.mean"),
    ("run[0]", r"use a name, or list\(\.\.\.\)\[0\]"),
    ('run["jti"]', r"did you mean 'jit'\?"),
    ('comparison["jit"]', r"'jit' names 2 rows: jit/forward, jit/backward"),
    ("run.to_pandas()", r"use pandas\.DataFrame\(run\.samples\(\)\)"),
    ("comparison.to_df()", r"use pandas\.DataFrame\(comparison\.columns\(\)\)"),
    ("summary.to_pandas()", r"use pandas\.DataFrame\(summary\.columns\(\)\)"),
    ("run.hist()", r"use plot\(\), or the arrays of run\.samples\(\)"),
    ('comparison.render("csv")', r"Use table, json, markdown, html or junit"),
    ('summary.columns("kernel")', r"Use 'kernels'"),
]


@pytest.mark.parametrize("guess", WORKS)
def test_guesses_that_work(guess: str, names: dict[str, Any]) -> None:
    assert eval(guess, names)


@pytest.mark.usefixtures("_no_torch")
@pytest.mark.parametrize(("guess", "message"), MISTAKES)
def test_guesses_that_name_the_right_way(guess: str, message: str, names: dict[str, Any]) -> None:
    with pytest.raises((UsageError, TypeError, KeyError, AttributeError), match=message) as raised:
        eval(guess, names)
    assert not re.search(r"(?<![\w-])--[a-z]", str(raised.value)), "no option of the command line"


#: Options of other programs.
FOREIGN = re.compile(r"nsys export|QdstrmImporter|torchrun|pip install|ray start|FASTRNNS_DEBUG|python")


def test_no_error_names_an_option() -> None:
    """Texts of errors that a function of the package can raise; the command line translates their arguments."""
    package = ROOT / "python" / "fastrnns_rs"
    wrong = []
    for room in ("api", "documents", "machine", "problem", "runners", "verbs"):
        for path in sorted((package / room).rglob("*.py")):
            for node in ast.walk(ast.parse(path.read_text())):
                if not isinstance(node, ast.Call) or not getattr(node.func, "id", "").endswith("Error"):
                    continue
                given = [*node.args, *(one.value for one in node.keywords if one.arg != "command_hint")]
                texts = [str(one.value) for each in given for one in ast.walk(each) if isinstance(one, ast.Constant)]
                found = [text for text in texts if re.search(r"(?<![\w-])--[a-z]", text) and not FOREIGN.search(text)]
                wrong += [f"{path.relative_to(package)}:{node.lineno}: {text}" for text in found]
    assert not wrong, "\n".join(wrong)
