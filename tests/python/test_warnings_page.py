"""Warning codes: the table has every code of the sources, its texts follow the rules, and the page shows the table."""

from __future__ import annotations

import ast
import re
import runpy
import shlex
from collections.abc import Iterator
from pathlib import Path

import click
import pytest
from conftest import ROOT
from test_words import PRIVATE

from fastrnns_rs import cli
from fastrnns_rs.documents.warning import make_warning
from fastrnns_rs.documents.warning_table import ROWS, TOPICS

PACKAGE = ROOT / "python" / "fastrnns_rs"
#: Functions whose first argument is a code.
MAKERS = {"make_warning", "report_findings", "report_check"}
#: Commands whose warnings a folder makes.
FOLDERS = {
    "machine/warnings": "bench",
    "verbs/ab": "ab",
    "verbs/bench": "bench",
    "verbs/compare": "compare",
    "verbs/doctor": "doctor",
    "verbs/history": "history",
    "verbs/inductor": "inductor",
    "verbs/profile": "profile",
    "verbs/report": "report",
    "runners": "list",
}
WIDEST = 80


def calls(path: Path) -> Iterator[ast.Call]:
    """Yields the calls of functions by name in a file."""
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
            yield node


def python_codes() -> Iterator[tuple[str, str]]:
    """Yields the folder and the code of each warning that Python emits."""
    for path in sorted(PACKAGE.rglob("*.py")):
        place = path.relative_to(PACKAGE).as_posix()
        for call in calls(path):
            if call.func.id in MAKERS and place not in {"documents/warning.py", "machine/warnings/findings.py"}:
                code = call.args[0]
                assert isinstance(code, ast.Constant), f"{place}:{call.lineno}: the code is not a text"
                yield next(folder for folder in FOLDERS if place.startswith(folder)), str(code.value)


def rust_codes() -> Iterator[str]:
    """Yields the code of each warning that the core emits."""
    for path in sorted((ROOT / "src" / "trace").rglob("*.rs")):
        if "tests" in path.parts or path.name == "tests.rs":
            continue
        text = re.split(r"(?m)^#\[cfg\(test\)\]\s+mod \w+ \{", path.read_text())[0]
        made = re.findall(r"(?<!struct )(?<!-> )\bWarning \{(.*?)\}", text, flags=re.DOTALL)
        for one in made:
            code = re.match(r'\s*code: "(\w+)"', one)
            assert code, f"{path.name}: the code of a warning is not its first field: {one[:60]}"
            yield code[1]


def test_the_table_has_every_code_that_is_emitted_and_no_other() -> None:
    emitted = {code for _, code in python_codes()} | {*rust_codes()}
    assert len(emitted) > 70
    assert emitted == ROWS.keys()
    assert len(ROWS) == sum(len(topic.rows) for topic in TOPICS)


def test_rows_name_the_commands_that_emit_them() -> None:
    assert all({*row.verbs} <= cli.VERBS.keys() for row in ROWS.values())
    for folder, code in python_codes():
        # Sides of a comparison, and plug-ins, also belong to other commands.
        assert FOLDERS[folder] in ROWS[code].verbs, (folder, code)
    for code in rust_codes():
        assert "report" in ROWS[code].verbs, code


def test_warnings_of_python_are_made_from_the_table() -> None:
    # Warnings of captures come from the core.
    known = {"documents/warning.py", "verbs/compare/captures/capture_side.py"}
    made = {
        path.relative_to(PACKAGE).as_posix()
        for path in PACKAGE.rglob("*.py")
        if any(call.func.id == "RunWarning" for call in calls(path))
    }
    assert made == known


@pytest.mark.parametrize("code", ROWS)
def test_texts_follow_the_rules(code: str) -> None:
    row = ROWS[code]
    for text in (row.effect, row.evidence, row.short):
        assert text[0].islower() or text.startswith(("GPU ", "`")), text
        assert not text.endswith((".", ":")), text
    assert row.hint[0].isupper()
    # Other hints end with a command to copy.
    assert not row.hint.endswith(".") or row.hint.endswith(" .")
    assert not row.details or row.details.endswith(".")
    for text in (row.effect, row.evidence, row.hint, *re.split(r"(?<=[.?!]) ", row.details)):
        assert len(text.split()) <= 30, text
        assert not PRIVATE.search(text), text
    assert len(row.effect.split()) <= 25


@pytest.mark.parametrize("code", [code for code, row in ROWS.items() if "fastrnns-rs " in row.hint])
def test_commands_of_hints_are_understood(code: str, anywhere: Path) -> None:
    """Their options exist and take these values; a number stands for N."""
    _, verb, *words = shlex.split(re.sub(r"\bN\b", "2", "fastrnns-rs " + ROWS[code].hint.partition("fastrnns-rs ")[2]))
    command = cli.root.get_command(click.Context(cli.root), verb)
    assert command is not None
    for file in [word for word in words if word.isupper()]:
        (anywhere / file).touch()
    command.make_context(verb, words, auto_envvar_prefix=None)


def test_hints_have_their_placeholders() -> None:
    filled = {
        (str(call.args[0].value), keyword.arg)
        for path in PACKAGE.rglob("*.py")
        for call in calls(path)
        if call.func.id in MAKERS and call.args and isinstance(call.args[0], ast.Constant)
        for keyword in call.keywords
        if keyword.arg and keyword.arg.isupper()
    }
    assert filled
    assert all(name in ROWS[code].hint for code, name in filled)


def test_texts_of_a_case_replace_those_of_the_table() -> None:
    usual = make_warning("drift", evidence="+4.9 %")
    assert (usual.message, usual.hint) == (ROWS["drift"].effect, ROWS["drift"].hint)
    other = make_warning("drift", evidence="", message="effect", hint="do this")
    assert (other.message, other.evidence, other.hint) == ("effect", None, "do this")
    assert make_warning("drift", hint=None).hint is None
    filled = make_warning("plugin_failed", PACKAGE="extra").hint
    assert "extra" in str(filled)
    assert "PACKAGE" not in str(filled)
    with pytest.raises(KeyError):
        make_warning("no_such_code")


def test_the_page_is_that_of_the_table() -> None:
    script = runpy.run_path(str(ROOT / "scripts" / "write_warnings_page.py"))
    assert (ROOT / "docs" / "reference" / "warnings.md").read_text() == script["text"]()


def test_links_to_codes_lead_to_their_entry() -> None:
    for page in [ROOT / "README.md", *(ROOT / "docs").rglob("*.md")]:
        for code in re.findall(r"warnings\.md#([\w-]+)\)", page.read_text()):
            assert code in ROWS, f"{page.name}: {code}"
