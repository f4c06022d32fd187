"""Help: sections, width, and the overview."""

from __future__ import annotations

import re

import click
import pytest
from commands import run_cli
from screens import screen

from fastrnns_rs.cli import VERBS, root
from fastrnns_rs.cli.help_sections import RARE, SECTIONS


def command_of(verb: str) -> click.Command:
    found = root.get_command(click.Context(root), verb)
    assert found is not None
    return found


def test_without_arguments_the_overview_is_an_error() -> None:
    done = run_cli()
    assert (done.status, done.stdout, done.stderr) == (2, "", screen("overview"))


def test_help_is_the_overview_with_exit_codes() -> None:
    done = run_cli("--help")
    assert (done.status, done.stderr) == (0, "")
    assert done.stdout.startswith(screen("overview"))
    assert "Exit codes: 0 done" in done.stdout


@pytest.mark.parametrize("columns", [40, 60, 79])
def test_the_overview_fits_a_narrow_terminal(columns: int) -> None:
    bare, whole = run_cli(COLUMNS=str(columns)), run_cli("--help", COLUMNS=str(columns))
    for text in (bare.stderr, whole.stdout):
        assert max(map(len, text.splitlines())) <= columns
        assert "  fastrnns-rs bench --quick cudnn py" in text
        assert text.split()[: len(bare.stderr.split())] == bare.stderr.split()
    assert bare.stderr.split() == screen("overview").split()


@pytest.mark.parametrize("flag", ["--help", "--help-all"])
@pytest.mark.parametrize("verb", VERBS)
def test_no_line_is_wider_than_a_terminal(verb: str, flag: str) -> None:
    done = run_cli(verb, flag)
    assert done.status == 0, done.stderr
    assert max(map(len, done.stdout.splitlines())) <= 80
    # A command with few options has one help.
    assert verb in SECTIONS or done.stdout == run_cli(verb, "--help").stdout


@pytest.mark.parametrize("verb", SECTIONS)
def test_every_option_has_one_section(verb: str) -> None:
    names = [name for section in SECTIONS[verb].values() for name in section]
    options = {one.name for one in command_of(verb).params if isinstance(one, click.Option) and not one.hidden}
    assert options - {"help_all"} <= set(names)
    assert len({*names} & options) == len([name for name in names if name in options])


def test_no_name_of_the_table_is_left_over() -> None:
    known = {one.name for verb in SECTIONS for one in command_of(verb).params}
    assert {name for sections in SECTIONS.values() for names in sections.values() for name in names} <= known
    assert known >= RARE


def test_rare_options_are_named_and_described_by_the_whole_help() -> None:
    short, whole = run_cli("bench", "--help").stdout, run_cli("bench", "--help-all").stdout
    assert "--seq-length N" in short
    assert "--seqLength" not in short
    assert "--seqLength, --seq-length N" in whole
    assert "FASTRNNS_BENCH_NLOOPS" in whole
    assert re.search(r"^More options .*:\n(?:  .*\n)*.*--cuda-pointwise-loop-level", short, flags=re.MULTILINE)
    assert "FASTRNNS_BENCH_RESUME" not in whole
