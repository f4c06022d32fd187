"""Which options can be swept, and how each may be spelled."""

from __future__ import annotations

from dataclasses import fields

from fastrnns_rs.errors import UsageError, nearest
from fastrnns_rs.problem.modes import MODES, Modes
from fastrnns_rs.problem.problem import DTYPES, Sizes

#: Options that are numbers; time may grow along these.
NUMBERS = (*(one.name for one in fields(Sizes)), "proj_size")
#: Options of which each value is a word.
WORDS = {"dtype": DTYPES, "mode": MODES}
#: Options that are on or off.
SWITCHES = (*(one.name for one in fields(Modes) if isinstance(one.default, bool)), "allow_tf32")
AXES = (*NUMBERS, *WORDS, *SWITCHES)


def flag(name: str) -> str:
    """The name of an option as its flag has it: `hidden-size` of `hidden_size`."""
    return name.replace("_", "-")


def find(spelled: str, known: tuple[str, ...], kind: str) -> str:
    """The name of an option, whichever spelling of its flag is given: `hidden-size`, `hidden_size` or `hiddenSize`.

    Raises:
        UsageError: There is no such name; the hint offers the nearest.
    """
    alike = {_bare(one): one for one in known}
    found = alike.get(_bare(spelled)) if isinstance(spelled, str) else None
    if found is None:
        raise UsageError(f"no {kind} is called {spelled!r}", nearest(flag(str(spelled)), map(flag, known)))
    return found


def _bare(name: str) -> str:
    return name.strip().removeprefix("--").replace("-", "").replace("_", "").lower()
