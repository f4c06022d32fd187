"""Plain names: functions are verbs with nouns, and no name is a word of this project's own."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import fastrnns_rs

PACKAGE = Path(fastrnns_rs.__file__).parent
#: Rooms whose names are checked.
ROOMS = (
    *("api", "cli", "documents", "machine", "models", "problem", "processes", "runners", "verbs", "views", "worker"),
)
#: A function such as `name_of` or `of_rows` does not say what it does.
WITHOUT_VERB = re.compile(r"_of$|^_?of_")
#: Words with a plainer one in the field's own terms.
PRIVATE = re.compile(
    r"(^|_)(told|heed|heard|keeper|courier|team|company|laws|settle[ds]?|mend(ed)?|anew|alike|beside|whoever|nobody"
    r"|notices?|caution(ed)?|weigh(ed)?)(_|$)",
    re.IGNORECASE,
)
#: Codes of warnings in stored files.
KNOWN = {"other_company"}


def names(tree: ast.AST) -> Iterator[tuple[int, str, bool]]:
    """The line and the text of each name that a file defines, and whether it is a function's."""
    for node in ast.walk(tree):
        if isinstance(node, (ast.FunctionDef, ast.ClassDef)):
            yield node.lineno, node.name, isinstance(node, ast.FunctionDef)
        elif isinstance(node, ast.arg):
            yield node.lineno, node.arg, False
        elif isinstance(node, (ast.Name, ast.Attribute)) and isinstance(node.ctx, ast.Store):
            yield node.lineno, node.id if isinstance(node, ast.Name) else node.attr, False


def test_names_are_plain() -> None:
    wrong = []
    for room in ROOMS:
        for path in sorted((PACKAGE / room).rglob("*.py")):
            found = [(path.stem, 1, False)] if path.stem != "__init__" else []
            found += [(name, line, is_function) for line, name, is_function in names(ast.parse(path.read_text()))]
            wrong += [
                f"{path.relative_to(PACKAGE)}:{line}: {name}"
                for name, line, is_function in found
                if name not in KNOWN and (PRIVATE.search(name) or (is_function and WITHOUT_VERB.search(name)))
            ]
    assert not wrong, "\n".join(wrong)
