"""Plain words: rules for docstrings and help texts that a machine can check."""

from __future__ import annotations

import ast
import inspect
import re
from collections.abc import Iterator
from pathlib import Path

import click
import pytest

import fastrnns_rs
from fastrnns_rs import _core
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
    "_core.pyi",
    "_core_stats",
    "counting.py",
    "errors.py",
    "escaping.py",
    "hidden_modules.py",
    "inductor.py",
    "stats.py",
]
#: Rust core: its folders and files. Doc comments of `python` are the docstrings of the extension.
CORE = Path(__file__).parents[2] / "src"
LONGEST = 80
#: Words that open a noun clause instead of naming a thing.
OPENERS = re.compile(r"(What|Who|Whose|Whom|Whether|How|Of|As)\b")
#: Words with a plainer one in the field's own terms.
PRIVATE = re.compile(
    r"\b(told|anew|alike|whoever|nobody|heeds?|heeded|mends?|mended|courier|keeper|cautions?|cautioned|notices?"
    r"|honours?|honoured|asked for|in turns|taken in turn|makes no sense|comes? about|(?-i:is none)|has not"
    r"|have not)\b",
    re.IGNORECASE,
)


#: Words that open a noun clause in a doc comment: "Where an event begins."
CLAUSES = re.compile(r"(Where|Which|When|Why|That)\b")
#: Argument or attribute of a docstring that is described with a noun clause.
ARGUMENT = re.compile(r"(?m)^ +\w+: (?:What|Who|Whose|Whether|How|Of|As|Where|Which|When|Why)\b")
#: More words with a plainer one, which only the core used.
CORE_PRIVATE = re.compile(r"\b(tells?|besides?|somebody|anybody|(?<!power )laws?(?! holds))\b", re.IGNORECASE)


def docstrings(room: str) -> Iterator[tuple[str, str]]:
    """Yields the place and the text of every docstring of a folder or a file."""
    place = PACKAGE / room
    files = [*place.rglob("*.py"), *place.rglob("*.pyi")] if place.is_dir() else [place]
    for file in sorted(files):
        for node in ast.walk(ast.parse(file.read_text())):
            if isinstance(node, (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)):
                text = ast.get_docstring(node)
                if text:
                    name = getattr(node, "name", "module")
                    yield f"{file.relative_to(PACKAGE)}: {name}", text


def doc_comments(file: Path) -> Iterator[tuple[str, str]]:
    """Yields the place and the text of every block of doc comments of a Rust file."""
    block: list[str] = []
    for number, line in enumerate([*file.read_text().splitlines(), ""], 1):
        if found := re.match(r"\s*//[/!](?!/) ?(.*)", line):
            block.append(found[1])
        elif block:
            yield f"{file.relative_to(CORE)}:{number - len(block)}", "\n".join(block)
            block = []


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


def core_faults(text: str) -> list[str]:
    """Returns what is wrong with a doc comment of the core."""
    found = faults(text)
    if opener := CLAUSES.match(text):
        found.append(f"opens with {opener[0]!r}")
    # A sentence of its own in each argument, too.
    found += [f"describes an argument with {one!r}" for one in ARGUMENT.findall(text)]
    return found + [f"has {word!r}" for word in CORE_PRIVATE.findall(text)]


@pytest.mark.parametrize("room", ROOMS)
def test_docstrings_are_plain(room: str) -> None:
    wrong = []
    for place, text in docstrings(room):
        found = faults(text)
        if len(text.splitlines()[0]) >= LONGEST:
            found.append(f"has a summary line of {len(text.splitlines()[0])} characters")
        wrong += [f"{place}: {one}" for one in found]
    assert not wrong, "\n".join(wrong)


@pytest.mark.parametrize("part", sorted(path.name for path in CORE.iterdir()))
def test_doc_comments_of_the_core_are_plain(part: str) -> None:
    place = CORE / part
    files = sorted(place.rglob("*.rs")) if place.is_dir() else [place]
    texts = [one for file in files for one in doc_comments(file)]
    assert texts
    wrong = [f"{place}: {fault}" for place, text in texts for fault in core_faults(text)]
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


@pytest.mark.parametrize(
    ("text", "wrong"),
    [
        ("Where an event begins.", True),
        ("The law of the median.", True),
        ("Fits a power law.", False),
        ("Reads a file.\n\nArgs:\n    path: What to read.", True),
        ("Reads a file.\n\nArgs:\n    path: Path of the file.", False),
    ],
)
def test_the_rules_of_the_core_find_what_they_are_for(text: str, wrong: bool) -> None:
    assert bool(core_faults(text)) is wrong


def test_docstrings_of_the_extension_are_plain() -> None:
    wrong = []
    for name, value in vars(_core).items():
        owned = vars(value).items() if isinstance(value, type) else []
        for place, one in [(name, value), *((f"{name}.{inner}", one) for inner, one in owned)]:
            text = inspect.getdoc(one) if callable(one) or isinstance(one, type) else None
            if text is None or place.rpartition(".")[2].startswith("_"):
                continue
            wrong += [f"{place}: {fault}" for fault in core_faults(text)]
            if len(text.splitlines()[0]) >= LONGEST:
                wrong.append(f"{place}: has a summary line of {len(text.splitlines()[0])} characters")
    assert not wrong, "\n".join(wrong)
