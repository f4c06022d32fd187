"""The page about runners of one's own: its files are written, and its commands run, in their order."""

from __future__ import annotations

import os
import re
import shlex
from inspect import signature
from pathlib import Path

import pytest
from conftest import ROOT, TINY, run_cli
from packages import install

from fastrnns_rs import runner
from fastrnns_rs.runners.runner import KNOWN

PAGE = (ROOT / "docs" / "how-to" / "your-own-runner.md").read_text()
BLOCKS = re.findall(r"^```(\w+)\n(.*?)^```", PAGE, flags=re.DOTALL | re.MULTILINE)


@pytest.mark.long("docs")
def test_the_files_and_commands_of_the_page_work_in_their_order(tmp_path: Path) -> None:
    site = tmp_path / "site"
    path = os.pathsep.join([str(site), os.environ.get("PYTHONPATH", "")])
    shown = []
    for kind, block in BLOCKS:
        if kind != "sh":
            name = re.match(r"# ([\w.]+)\n", block)
            assert name, f"a block that is no file: {block}"
            (tmp_path / name[1]).write_text(block)
            continue
        for command in block.splitlines():
            if command == "pip install .":
                # Elsewhere than into this environment.
                install([tmp_path], site)
                continue
            assert command.startswith("fastrnns-rs ")
            words = shlex.split(command)[1:]
            words += [*TINY, "--warmup", "1", "--nloops", "3"] if words[0] == "bench" else []
            done = run_cli(*words, cwd=tmp_path, PYTHONPATH=path, COLUMNS="200")
            assert done.status == 0, done.stderr
            assert "failed" not in done.stderr
            shown.append(done)
    by_file, listed, packaged = shown
    assert re.search(r"^my_gru +[0-9<]", by_file.stdout, flags=re.MULTILINE)
    assert "nn.LSTM with the batch outermost inside (lstm-layouts 1.0)" in listed.stdout
    assert re.search(r"^batch_first +[0-9<]", packaged.stdout, flags=re.MULTILINE)


def test_the_second_example_is_what_its_reference_computes(tmp_path: Path) -> None:
    import torch

    from fastrnns_rs.problem.problem import Problem
    from fastrnns_rs.runners import registry
    from fastrnns_rs.worker.torch_settings import driver_warnings_silenced

    path = tmp_path / "lstm_layouts.py"
    path.write_text(next(block for _, block in BLOCKS if block.startswith(f"# {path.name}")))
    (name,) = registry.load_file(str(path))
    one = registry._runners.pop(name)
    problem = Problem(seq_length=5, num_layers=2, input_size=3, hidden_size=4, mini_batch=2, dtype="float64", seed=7)
    found = []
    for creator in (one.creator, registry.find(str(one.reference)).creator):
        model = creator(problem)
        with driver_warnings_silenced():
            output, states = model.forward(*model.inputs)
            model.backward(*model.backward_setup((output, states)))
        found.append([output, *states, *(param.grad for param in model.params)])
    torch.testing.assert_close(*found)


def test_the_page_has_every_argument_and_every_declaration() -> None:
    arguments = {*signature(runner).parameters} - {"name", "description"}
    rows = re.findall(r"^\| `(\w+)` \|", PAGE, flags=re.MULTILINE)
    assert set(rows) == arguments
    for names in KNOWN.values():
        assert all(name in PAGE for name in names)
