"""Comparisons measured alive, as a person would: `ab` of the two LSTMs, and `ab --same`."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from real_noise.command import PROBLEM, RUNNERS, document, fastrnns_rs, tell


@dataclass(frozen=True)
class Live:
    """What came of one call.

    Attributes:
        name: `ab 1`, `ab --same 1`.
        rows: Those of its comparison.
        floor: The noise floor that it stored, for `ab --same`.
        failure: Why there are no rows, if there are none.
    """

    name: str
    rows: list[dict[str, Any]]
    floor: dict[str, Any] | None
    failure: str | None = None


def measure(folder: Path, times: int) -> list[Live]:
    """As many calls of each. Those that `folder` holds are not made again; those that failed are not kept there."""
    folder.mkdir(parents=True, exist_ok=True)
    more = ["ab", "lstm", "lstm_more", "--processes", "10"]
    same = ["ab", "--same", "lstm"]
    found = [_one(folder, f"ab {number}", more) for number in range(1, times + 1)]
    return found + [_one(folder, f"ab --same {number}", same) for number in range(1, times + 1)]


def _one(folder: Path, name: str, arguments: list[str]) -> Live:
    stem = name.replace(" --", "-").replace(" ", "-")
    path = folder / f"{stem}.json"
    kept = document(path)
    if kept is None:
        tell(f"{name}")
        # A folder of its own: this machine's noise floor is the user's, and each call here is to find its own.
        state = folder / f"{stem}.state"
        run = folder / f"{stem}.run.json"
        status, text = fastrnns_rs(
            *arguments, "--runner-file", RUNNERS, *PROBLEM, "--json", "--output", run, state=state
        )
        try:
            comparison = json.loads(text)
            floor = _floor(state) if "--same" in name else None
        except ValueError:
            failure = f"no result: it ended with {status}"
            tell(f"{name}: {failure}; the same call of this script tries it again")
            return Live(name, [], None, failure)
        kept = {"comparison": comparison, "noise_floor": floor}
        path.write_text(json.dumps(kept, indent=1), encoding="utf-8")
    return Live(name, kept["comparison"]["rows"], kept["noise_floor"])


def _floor(state: Path) -> dict[str, Any] | None:
    """What `doctor` says of the noise floor that was stored."""
    found: dict[str, Any] | None = json.loads(fastrnns_rs("doctor", "--json", state=state)[1])["noise_floor"]
    return found
