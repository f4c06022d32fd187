"""Pages that are written from help texts and docstrings: they are current, and complete."""

from __future__ import annotations

import re
import runpy

import click
import pytest
from conftest import ROOT

import fastrnns_rs
from fastrnns_rs import cli, models, stats

REFERENCE = ROOT / "docs" / "reference"
STALE = "is stale: make reference"


def test_the_page_of_commands_is_current() -> None:
    script = runpy.run_path(str(ROOT / "scripts" / "write_cli_page.py"))
    assert (REFERENCE / "cli.md").read_text() == script["text"](), f"cli.md {STALE}"


def test_the_pages_of_the_api_are_current() -> None:
    script = runpy.run_path(str(ROOT / "scripts" / "write_api_pages.py"))
    for name, text in script["texts"]().items():
        assert (REFERENCE / name).read_text() == text, f"{name} {STALE}"


def test_the_screens_of_the_readme_are_those_of_its_run_files() -> None:
    script = runpy.run_path(str(ROOT / "scripts" / "write_readme_screens.py"))
    assert len(script["_SCREEN"].findall((ROOT / "README.md").read_text())) == 2
    assert (ROOT / "README.md").read_text() == script["text"](), f"README.md {STALE}"


def test_every_option_of_every_command_is_on_the_page() -> None:
    page = (REFERENCE / "cli.md").read_text()
    common = {"--quiet", "--no-progress", "--color", "--help-all"}
    assert all(f"`{name}" in page for name in common - {"--help-all"})
    for verb in cli.VERBS:
        section = page.split(f"\n## {verb}\n")[1].split("\n## ")[0]
        command = cli.root.get_command(click.Context(cli.root), verb)
        assert command is not None
        for param in command.params:
            if isinstance(param, click.Option) and not param.hidden:
                for name in {*param.opts, *param.secondary_opts} - common:
                    assert re.search(rf"`{re.escape(name)}[` ]", section), f"{verb} {name}"


@pytest.mark.parametrize(("page", "module"), [("api", fastrnns_rs), ("stats", stats), ("models", models)])
def test_every_public_name_has_a_section(page: str, module: object) -> None:
    headings = set(re.findall(r"^### (\w+)$", (REFERENCE / f"{page}.md").read_text(), flags=re.MULTILINE))
    assert headings == {name for name in module.__all__ if not name.startswith("__")} - {"models", "stats"}  # type: ignore[attr-defined]


def test_a_table_has_the_arguments_of_its_function() -> None:
    page = (REFERENCE / "api.md").read_text()
    section = page.split("\n### profile\n")[1].split("\n### ")[0]
    rows = {line.split("`")[1]: line.split(" | ") for line in section.splitlines() if line.startswith("| `")}
    assert rows["nloops"][1:3] == ["`SupportsIndex \\| None`", "`5`"]
    assert "captured iterations" in rows["nloops"][3]
