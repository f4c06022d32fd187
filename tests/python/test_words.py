"""Plain words: rules for docstrings and help texts that a machine can check."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import click
import pytest

import fastrnns_rs
from fastrnns_rs.cli import root

PACKAGE = Path(fastrnns_rs.__file__).parent
#: Rooms whose docstrings are checked.
ROOMS = [
    "views",
    "machine",
    "problem",
    "runners",
    "cli",
    "verbs",
    "documents",
    "api",
    "processes",
    "models",
    "worker",
]
LONGEST = 80
#: Words that open a noun clause instead of naming a thing.
OPENERS = re.compile(r"(What|Who|Whose|Whom|Whether|How|Of|As)\b")
#: Words with a plainer one in the field's own terms.
PRIVATE = re.compile(
    r"\b(told|anew|alike|whoever|nobody|heeds?|heeded|mends?|mended|courier|keeper|cautions?|cautioned|notices?"
    r"|honours?|honoured|asked for|in turns|taken in turn|makes no sense|comes? about|is none|has not|have not)\b",
    re.IGNORECASE,
)


def docstrings(room: str) -> Iterator[tuple[str, str]]:
    """Yields the place and the text of every docstring of a folder."""
    for file in sorted((PACKAGE / room).rglob("*.py")):
        for node in ast.walk(ast.parse(file.read_text())):
            if isinstance(node, (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)):
                text = ast.get_docstring(node)
                if text:
                    name = getattr(node, "name", "module")
                    yield f"{file.relative_to(PACKAGE)}: {name}", text


def helps(command: click.Command, path: str) -> Iterator[tuple[str, str]]:
    """Yields the help of a command, of its options and of its commands."""
    yield path, command.help or ""
    for parameter in command.params:
        if isinstance(parameter, click.Option):
            yield f"{path} {parameter.opts[0]}", parameter.help or ""
    if isinstance(command, click.Group):
        context = click.Context(command)
        for name in command.list_commands(context):
            found = command.get_command(context, name)
            assert found is not None
            yield from helps(found, f"{path} {name}".strip())


def faults(text: str) -> list[str]:
    """Returns what is wrong with a text."""
    found = []
    if opener := OPENERS.match(text):
        found.append(f"opens with {opener[0]!r}")
    # Names of arguments are names, not words.
    found += [f"has {word!r}" for word in PRIVATE.findall(re.sub(r"(?m)^ +\w+:", "", text))]
    return found


@pytest.mark.parametrize("room", ROOMS)
def test_docstrings_are_plain(room: str) -> None:
    wrong = []
    for place, text in docstrings(room):
        found = faults(text)
        if len(text.splitlines()[0]) >= LONGEST:
            found.append(f"has a summary line of {len(text.splitlines()[0])} characters")
        wrong += [f"{place}: {one}" for one in found]
    assert not wrong, "\n".join(wrong)


def test_help_texts_are_plain() -> None:
    wrong = [f"{place}: {one}" for place, text in helps(root, "") for one in faults(text)]
    assert not wrong, "\n".join(wrong)


#: Classes of errors that print their texts.
ERRORS = {"UsageError", "FastrnnsError", "MissingError", "RunnerError", "DiskError", "unknown", "file_not_found"}
#: Rooms whose errors reach Python users.
CALLED = ["api", "documents", "machine", "problem", "processes", "runners", "verbs"]
#: An option in a sentence; whole commands to copy, and options of other programs in them, are exempt.
FLAG = re.compile(r"(?<![\w-])--[a-z]")
COMMAND = re.compile(r"(?:fastrnns-rs|nsys|torchrun|pip) .*")
#: Phrases that no error has.
VAGUE = re.compile(r"makes? no sense|cannot do this|\bgive it\b|\bleave it out\b|\bone of them\b|\bno \w+ is called\b")


def raised_texts(room: str) -> Iterator[tuple[str, str]]:
    """Yields the place and the text of every literal in the errors of a folder."""
    for file in sorted((PACKAGE / room).rglob("*.py")):
        for node in ast.walk(ast.parse(file.read_text())):
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in ERRORS:
                for inner in ast.walk(node):
                    if isinstance(inner, ast.Constant) and isinstance(inner.value, str):
                        yield f"{file.relative_to(PACKAGE)}:{inner.lineno}", inner.value


@pytest.mark.parametrize("room", [*CALLED, "cli"])
def test_errors_are_plain(room: str) -> None:
    texts = [*raised_texts(room)]
    wrong = [f"{place}: has {found[0]!r}" for place, text in texts if (found := VAGUE.search(text))]
    if room != "cli":
        wrong += [f"{place}: names an option" for place, text in texts if FLAG.search(COMMAND.sub("", text))]
    assert not wrong, "\n".join(wrong)


@pytest.mark.parametrize(
    ("text", "wrong"),
    [
        ("What a bench wrote.", True),
        ("Returns what is told.", True),
        ("Results of a bench, as stored in a run file.", False),
        ("However large, a file is read in pieces.", False),
    ],
)
def test_the_rules_find_what_they_are_for(text: str, wrong: bool) -> None:
    assert bool(faults(text)) is wrong
