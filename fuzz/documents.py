"""Looks for documents that a reader cannot bear: `fuzz/documents.py KIND [libFuzzer's options and folders]`.

Coverage of the Python package leads the way, by atheris. `fuzz/documents.py KIND --seeds FOLDER` writes documents to
begin with.
"""

from __future__ import annotations

import json
import os
import random
import sys
import tempfile
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

FOLDER = Path(__file__).resolve().parents[1] / "tests" / "python"
sys.path[:0] = [str(FOLDER), str(FOLDER / "hostile"), str(FOLDER.parent)]

#: Share of the changes that change JSON as JSON, rather than as bytes.
TREES = 0.8


def main() -> None:
    """Runs libFuzzer, which ends the process."""
    kind, *options = sys.argv[1:]
    scratch = Path(tempfile.mkdtemp())
    # What is known of this machine is its user's.
    os.environ["XDG_STATE_HOME"] = str(scratch / "state")
    if options[:1] == ["--seeds"]:
        from document_kinds import KINDS
        from document_readers import Place

        write_seeds(Path(options[1]), KINDS[kind].seeds(Place(scratch)))
        return
    import atheris

    with atheris.instrument_imports(include=["fastrnns_rs"]):
        from document_kinds import KINDS
        from document_mutator import changed, crossed
        from document_readers import Place, hold

        place, read = Place(scratch), KINDS[kind]

        def look(data: bytes) -> None:
            for reader in read.quick:
                hold(place, data, reader)

        # Many modules are imported when they are used.
        for seed in read.seeds(place):
            look(json.dumps(seed).encode())

    def made(data: bytes, longest: int, change: Callable[[Any], Any]) -> bytes:
        """The changed JSON; other bytes if the data are none, or if it is too long."""
        with suppress(ValueError, RecursionError):
            found = json.dumps(change(json.loads(data))).encode()
            if len(found) <= longest:
                return found
        return bytes(atheris.Mutate(data, longest))

    def mutate(data: bytes, longest: int, seed: int) -> bytes:
        dice = random.Random(seed)
        is_tree = dice.random() < TREES
        return made(data, longest, lambda one: changed(one, dice)) if is_tree else bytes(atheris.Mutate(data, longest))

    def cross(data: bytes, other: bytes, longest: int, seed: int) -> bytes:
        return made(data, longest, lambda one: crossed(one, json.loads(other), random.Random(seed)))

    atheris.Setup([sys.argv[0], *options], look, custom_mutator=mutate, custom_crossover=cross)
    atheris.Fuzz()


def write_seeds(folder: Path, seeds: list[object]) -> None:
    """Writes documents that are sound, a file each."""
    folder.mkdir(parents=True, exist_ok=True)
    for number, seed in enumerate(seeds):
        (folder / f"{number}.json").write_text(json.dumps(seed), encoding="utf-8")


if __name__ == "__main__":
    main()
