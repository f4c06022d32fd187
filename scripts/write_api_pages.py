"""Writes the pages of the Python API from docstrings. A test compares both."""

from __future__ import annotations

import inspect
import re
import textwrap
from dataclasses import MISSING, fields, is_dataclass
from functools import cached_property
from pathlib import Path
from types import MethodDescriptorType
from typing import TYPE_CHECKING, Any

import fastrnns_rs
from fastrnns_rs import models, stats
from fastrnns_rs.documents.document import Document

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from types import ModuleType

REFERENCE = Path(__file__).resolve().parents[1] / "docs" / "reference"
WIDTH = 118
#: Public members that Python's own classes have.
_INHERITED = {*dir(tuple), *dir(Exception)}
_SECTIONS = re.compile(r"^(Args|Attributes|Returns|Raises|Warns|Yields|Examples?):\n", re.MULTILINE)
_PACKAGE = """\
# Python API

`make reference` writes this page from docstrings. `help(fastrnns_rs.bench)` prints the same text. [At a Python
prompt](../how-to/python.md) shows how objects print. The classes of documents have one field for each key of
[the JSON document](documents.md).

Importing `fastrnns_rs` imports neither torch nor numpy. The names below are complete: other modules of the package are
private. [`fastrnns_rs.stats`](stats.md) and [`fastrnns_rs.models`](models.md) have their own pages.
`fastrnns_rs.inductor` is also the module with [functions of
`torch._inductor.wrapper_benchmark`](../how-to/migration.md#inductors-wrapper_benchmark).
"""
_STATS = """\
# Python API: `fastrnns_rs.stats`

`make reference` writes this page from docstrings. [Statistics](../explanation/statistics.md) explains which function
answers which question, and derives one verdict by hand.

Samples are a list, a numpy array, a tensor on the CPU, or another sequence of numbers. Results are immutable;
`to_dict()` returns their fields.
"""
_MODELS = """\
# Python API: `fastrnns_rs.models`

`make reference` writes this page from docstrings. The module has parts of models for
[your own runners](../how-to/your-own-runner.md), and replacements for
[functions of PyTorch's fastrnns](../how-to/migration.md#functions).
"""


def texts() -> dict[str, str]:
    """Returns the text of each page, by its name."""
    pages = {"api": (_PACKAGE, fastrnns_rs), "stats": (_STATS, stats), "models": (_MODELS, models)}
    return {f"{name}.md": _page(*page) for name, page in pages.items()}


def _page(head: str, module: ModuleType) -> str:
    """Returns a page: functions first, then classes, then exceptions."""
    objects = [(name, getattr(module, name)) for name in module.__all__ if not name.startswith("__")]
    # A module that was imported may have the name of a function, and is that function then.
    objects = [(name, one.__call__ if inspect.ismodule(one) and callable(one) else one) for name, one in objects]
    objects = [(name, one) for name, one in objects if not inspect.ismodule(one)]
    exceptions = {name for name, one in objects if inspect.isclass(one) and issubclass(one, Exception)}
    classes = {name for name, one in objects if inspect.isclass(one)} - exceptions
    groups = {
        "Functions": [(name, one) for name, one in objects if name not in classes | exceptions],
        "Classes": [(name, one) for name, one in objects if name in classes],
        "Exceptions": [(name, one) for name, one in objects if name in exceptions],
    }
    lines = [head.rstrip()]
    for title, members in groups.items():
        if members:
            lines += ["", f"## {title}"]
        for name, one in members:
            lines += ["", f"### {name}", ""]
            lines += _class(name, one, module) if inspect.isclass(one) else _function(name, one, module)
    return "\n".join(lines) + "\n"


def _function(name: str, function: Any, module: ModuleType) -> Iterator[str]:
    signature = inspect.signature(function)
    yield from _call(f"{module.__name__}.{name}", signature)
    yield from _docstring(inspect.getdoc(function) or "", signature.parameters)


def _class(name: str, kind: type, module: ModuleType) -> Iterator[str]:
    is_document = issubclass(kind, Document)
    signature = inspect.signature(kind) if is_dataclass(kind) and not is_document else None
    if signature is not None:
        yield from _call(f"{module.__name__}.{name}", signature)
    described = inspect.getdoc(kind) or ""
    hints = _hints(kind)
    parameters = signature.parameters if signature is not None else {}
    yield from _docstring(described, parameters, hints)
    rest = {} if "Attributes:" in described else hints
    if is_document and rest:
        yield from ("", *_wrapped("Fields: " + ", ".join(f"`{field}`" for field in rest) + "."))
    elif rest:
        yield from ("", "| attribute | type |", "|---|---|")
        yield from (f"| `{field}` | {_code(hint)} |" for field, hint in rest.items())
    if members := [*_members(kind, {*hints})]:
        yield from ("", "| member | |", "|---|---|", *members)


def _hints(kind: type) -> dict[str, Any]:
    """Returns the type of each public field of a class."""
    if is_dataclass(kind):
        return {one.name: one.type for one in fields(kind) if not one.name.startswith("_")}
    found = getattr(kind, "__annotations__", {})
    return {name: hint for name, hint in found.items() if not name.startswith("_")}


def _members(kind: type, known: set[str]) -> Iterator[str]:
    """Yields a row for each method and property of a class that has a docstring."""
    for name in sorted({*dir(kind)} - known - _INHERITED):
        if name.startswith("_"):
            continue
        member = inspect.getattr_static(kind, name)
        function = getattr(kind, name)
        text = inspect.getdoc(member if isinstance(member, property | cached_property) else function)
        if not text or not isinstance(
            member, property | cached_property | classmethod | staticmethod | MethodDescriptorType
        ) | inspect.isroutine(member) | inspect.isgetsetdescriptor(member):
            continue
        call = "" if not callable(function) else _arguments(function)
        yield f"| `{name}{call}` | {_escaped(_summary(text))} |"


def _arguments(function: Any) -> str:
    try:
        signature = inspect.signature(function)
    except ValueError:
        return "()"
    names = [
        _parameter(one)
        for one in signature.parameters.values()
        if one.name != "self" and one.kind is not inspect.Parameter.VAR_KEYWORD
    ]
    return f"({', '.join(names)})"


def _parameter(parameter: inspect.Parameter) -> str:
    star = {inspect.Parameter.VAR_POSITIONAL: "*"}.get(parameter.kind, "")
    default = "" if parameter.default is inspect.Parameter.empty else f"={_default(parameter.default)}"
    return f"{star}{parameter.name}{default}"


def _call(name: str, signature: inspect.Signature) -> Iterator[str]:
    """Yields the block with the call: positional arguments, and the others if they are few."""
    most = 6
    shown, keyword = [], inspect.Parameter.KEYWORD_ONLY
    parameters = [one for one in signature.parameters.values() if not one.name.startswith("_")]
    for one in parameters:
        if one.kind is keyword and "*" not in shown and not any(part.startswith("*") for part in shown):
            shown.append("*")
        if one.kind is keyword and len(parameters) > most:
            shown.append("...")
            break
        shown.append(_parameter(one))
    result = signature.return_annotation
    arrow = "" if result is inspect.Signature.empty or result == "None" else f" -> {_type(result)}"
    yield from ("```text", f"{name}({', '.join(shown)}){arrow}", "```", "")


def _docstring(text: str, parameters: Any, hints: dict[str, Any] | None = None) -> Iterator[str]:
    """Yields the text of a docstring, with tables of arguments and attributes."""
    before, *sections = _SECTIONS.split(text)
    yield from _prose(before)
    for title, body in zip(sections[::2], sections[1::2], strict=True):
        inside = textwrap.dedent(re.split(r"\n\n(?=\S)", body.rstrip())[0])
        after = body.rstrip().removeprefix(re.split(r"\n\n(?=\S)", body.rstrip())[0]).strip()
        if title == "Args":
            yield from ("", "| argument | type | default | |", "|---|---|---|---|")
            yield from (_argument(name, words, parameters.get(name)) for name, words in _items(inside))
        elif title == "Attributes":
            yield from ("", "| attribute | type | |", "|---|---|---|")
            for name, words in _items(inside):
                yield f"| `{name}` | {_code((hints or {}).get(name, ''))} | {words} |"
        elif title in {"Raises", "Warns"}:
            yield from ("", f"{title}:", "")
            yield from (f"- `{name}`: {words}" for name, words in _items(inside))
        elif title.startswith("Example"):
            yield from ("", "```python", inside.rstrip(), "```")
        else:
            yield from ("", *_wrapped(f"{title}: {_escaped(' '.join(inside.split()))}"))
        if after:
            yield from ("", *_prose(after))


def _items(text: str) -> Iterator[tuple[str, str]]:
    """Yields the name and the description of each item of a section."""
    for item in re.split(r"\n(?=\S)", text.strip()):
        name, colon, words = item.partition(": ")
        if colon:
            yield name.strip(), _escaped(" ".join(words.split()))


def _argument(name: str, words: str, parameter: inspect.Parameter | None) -> str:
    if parameter is None:
        return f"| `{name}` | | | {words} |"
    missing = parameter.default is inspect.Parameter.empty
    default = "required" if missing else f"`{_default(parameter.default)}`"
    if parameter.kind is inspect.Parameter.VAR_POSITIONAL:
        default = ""
    return f"| `{name}` | {_code(parameter.annotation)} | {default} | {words} |"


def _default(value: Any) -> str:
    if inspect.isclass(value) or inspect.isroutine(value):
        return getattr(value, "__name__", "...").replace("<lambda>", "...")
    return "..." if value is MISSING or repr(value) == "<factory>" else repr(value)


def _type(annotation: Any) -> str:
    text = getattr(annotation, "__forward_arg__", annotation)
    text = text if isinstance(text, str) else getattr(text, "__name__", str(text))
    return re.sub(r"\b(?:[a-z_]+\.)+(?=[A-Z])", "", text)


def _code(annotation: Any) -> str:
    """Returns a type as code in a table."""
    text = "" if annotation is inspect.Parameter.empty else _type(annotation)
    return f"`{text.replace('|', chr(92) + '|')}`" if text else ""


def _prose(text: str) -> Iterator[str]:
    """Yields paragraphs and lists of a docstring."""
    for number, paragraph in enumerate(re.split(r"\n\s*\n", text.strip())):
        if number:
            yield ""
        if re.match(r"(- |\d+\. |>>>)", paragraph):
            block = paragraph.startswith(">>>")
            yield from ("```python", paragraph, "```") if block else map(_escaped, paragraph.splitlines())
        else:
            yield from _wrapped(_escaped(" ".join(paragraph.split())))


def _summary(text: str) -> str:
    return " ".join(re.split(r"\n\s*\n", text)[0].split())


def _wrapped(text: str) -> Iterable[str]:
    return textwrap.wrap(text, WIDTH, break_long_words=False, break_on_hyphens=False)


def _escaped(words: str) -> str:
    """Returns a text whose characters mean themselves in Markdown; emphasis stays."""
    return re.sub(r"(`[^`]*`)|([|<>\[\]])", lambda found: found[1] or "\\" + found[2], words)


if __name__ == "__main__":
    for page, text in texts().items():
        (REFERENCE / page).write_text(text)
