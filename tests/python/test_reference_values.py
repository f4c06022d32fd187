"""Values on the pages of presets, exit codes and variables: those of the code."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

import click
import pytest
from conftest import ROOT

from fastrnns_rs import cli
from fastrnns_rs.cli.configuration import configured
from fastrnns_rs.cli.exit_codes import ExitCode
from fastrnns_rs.problem.problem import PRESETS
from fastrnns_rs.verbs.bench import effort
from fastrnns_rs.verbs.bench.interleaved.side_checks import make_effort
from fastrnns_rs.verbs.verify import verification_plan

REFERENCE = ROOT / "docs" / "reference"
#: Rows of the table of presets, and the field of each.
FIELDS = {
    "Time steps": "seq_length",
    "Layers": "num_layers",
    "Input features": "input_size",
    "Hidden features": "hidden_size",
    "Sequences in a batch": "mini_batch",
    "Images in a batch": "cnn_mini_batch",
    "Height and width of an image": "image_size",
    "Processes per runner": "processes",
    "Measuring time per process, in seconds": "seconds",
    "Warm-up of `profile`, in iterations": "warmup",
}
#: Variables that mark our own child processes. Users do not set them.
INTERNAL = {"FASTRNNS_WORKER", "FASTRNNS_COMMAND", "FASTRNNS_OWN_TMPDIR"}


def page(name: str) -> str:
    return (REFERENCE / f"{name}.md").read_text()


def rows(text: str) -> dict[str, list[str]]:
    """Returns the cells of each row of the tables of a text, by its first cell."""
    found = [[cell.strip() for cell in line.strip("|").split(" | ")] for line in text.splitlines() if line[:1] == "|"]
    return {first: rest for first, *rest in found if not re.fullmatch(r"[-|:]+", first)}


def test_every_number_of_every_preset_is_on_the_page() -> None:
    table = rows(page("presets").split("\n## ")[0])
    names = [cell.strip("`") for cell in table[""][1:]]
    assert names == [*PRESETS]
    assert FIELDS.keys() == table.keys() - {""}
    for label, field in FIELDS.items():
        assert [float(cell) for cell in table[label][1:]] == [getattr(one, field) for one in PRESETS.values()], label


def test_the_budget_is_that_of_the_code() -> None:
    text = " ".join(page("presets").split())
    runners, processes, each = map(
        float,
        re.search(r"For example, (\d+) runners with (\d+) processes each have 600 / 155 = ([\d.]+) s", text).groups(),
    )
    assert effort._DEFAULT_RUN_S == 600
    assert round(600 / (runners * processes), 1) == each
    assert effort.seconds_within(2.0, int(runners * processes), 0.0) < 2.0
    assert f"down to {effort._LEAST_SECONDS} s" in text


@pytest.mark.parametrize(("flags", "count"), [((), 10), (("quick",), 3), (("rigorous",), 20), (("same",), 20)])
def test_processes_of_ab_are_those_of_the_page(flags: tuple[str, ...], count: int) -> None:
    given = {
        "processes": None,
        "order_seed": None,
        "until": None,
        "live": False,
        "nloops": None,
        **{name: name in flags for name in ("quick", "rigorous", "same")},
    }
    assert make_effort(given).processes == count
    cell = rows(page("presets"))["Processes"][1]
    assert re.search(rf"\b{count} per side" if not flags else rf"\b{count} with [^;,]*`--{flags[0]}`", cell)


@pytest.mark.parametrize("verb", ["bench", "ab", "profile", "verify", "inductor"])
def test_limits_and_seeds_are_the_defaults_of_the_options(verb: str) -> None:
    command = cli.root.get_command(click.Context(cli.root), verb)
    assert command is not None
    defaults = {param.name: param.default for param in command.params}
    table = page("presets").split("\n| | `bench`")[1]
    column = [cell.strip(" `") for cell in ("`bench`" + table.splitlines()[0]).strip("| ").split("|")].index(verb)
    cells = rows(table)
    assert cells["Time limit"][column].startswith(f"{float(defaults['timeout']):g} s")
    assert cells["Seed"][column] == str(defaults["seed"])


def test_sizes_of_verify_are_those_of_the_code() -> None:
    text = " ".join(page("presets").split("`verify` has sizes")[1].split())
    numbers = [int(number) for number in re.findall(r"\d+", text)]
    sizes = verification_plan._SIZES
    names = ["seq_length", "input_size", "hidden_size", "mini_batch", "image_size", "image_size"]
    assert numbers == [*(sizes[name] for name in names), verification_plan._LAYERS]


def test_every_exit_code_is_on_the_page() -> None:
    table = rows(page("exit-codes").split("\n## ")[0])
    shown = {int(one) for cell in table if cell != "code" for one in cell.split(" / ")}
    assert shown == {value for name, value in vars(ExitCode).items() if name.isupper()}
    order = [int(one) for one in re.findall(r"\d+", page("exit-codes").split("the first of")[1].split(" is ")[0])]
    assert {*order} == shown - {ExitCode.DONE}


def test_every_variable_that_is_read_is_on_the_page() -> None:
    files = [*(ROOT / "python").rglob("*.py"), *(ROOT / "src").rglob("*.rs")]
    sources = {file: file.read_text() for file in files if "tests" not in file.parts}
    named = {name for text in sources.values() for name in re.findall(r'"(FASTRNNS_[A-Z_]+[A-Z])"', text)}
    options = {f"FASTRNNS_{verb.upper()}_" for verb in cli.VERBS}
    general = {name for name in named if not any(name.startswith(prefix) for prefix in options)} - INTERNAL
    text = page("configuration")
    listed = rows(text.split("## Other variables")[1])
    shown = {name for cell in listed for name in re.findall(r"`([A-Z_]+)`", cell)}
    assert {name for name in shown if name.startswith("FASTRNNS_")} == general
    # platformdirs reads it.
    for name in shown - {"XDG_DATA_HOME", "COLUMNS", "LINES"}:
        assert any(name in source for source in sources.values()), name


def test_the_configuration_of_the_page_is_read(anywhere: Path) -> None:
    text = re.search(r"```toml\n(.*?)```", page("configuration"), flags=re.DOTALL)[1]
    (anywhere / "pyproject.toml").write_text(text)
    command = cli.root.get_command(click.Context(cli.root), "bench")
    assert command is not None
    found = configured("bench", command.params)
    wanted = tomllib.loads(text)["tool"]["fastrnns-rs"]
    assert found["nloops"] == wanted["bench"]["nloops"]
    assert found["group"] == wanted["bench"]["group"]


def test_terms_are_sorted() -> None:
    terms = [term for term in rows(page("glossary")) if term != "term"]
    assert len(terms) > 40
    assert terms == sorted(terms, key=str.lower)
