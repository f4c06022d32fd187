"""Names and spellings of options that can be swept."""

from __future__ import annotations

from dataclasses import fields

from fastrnns_rs.errors import unknown
from fastrnns_rs.problem.modes import MODES, Modes
from fastrnns_rs.problem.problem import DTYPES, Sizes

#: Options with numbers as values; time may grow with them.
NUMBERS = (*(one.name for one in fields(Sizes)), "proj_size")
#: Options with words as values.
WORDS = {"dtype": DTYPES, "mode": MODES}
#: Options that are on or off.
SWITCHES = (*(one.name for one in fields(Modes) if isinstance(one.default, bool)), "allow_tf32")
AXES = (*NUMBERS, *WORDS, *SWITCHES)


def flag(name: str) -> str:
    """Returns the flag's name of an option: `hidden-size` for `hidden_size`."""
    return name.replace("_", "-")


def find(spelled: str, known: tuple[str, ...], kind: str, where: str) -> str:
    """Returns an option's name, given any spelling of its flag.

    Spellings are `hidden-size`, `hidden_size` and `hiddenSize`.

    Args:
        spelled: Spelling of the name.
        known: Known names.
        kind: Kind of name, for errors.
        where: Argument that contains the name, for errors.

    Raises:
        UsageError: If there is no such name; the hint offers the nearest name.
    """
    by_spelling = {_bare(one): one for one in known}
    found = by_spelling.get(_bare(spelled)) if isinstance(spelled, str) else None
    if found is None:
        raise unknown(f"unknown {kind}", spelled, map(flag, known), where=where)
    return found


def _bare(name: str) -> str:
    return name.strip().removeprefix("--").replace("-", "").replace("_", "").lower()
