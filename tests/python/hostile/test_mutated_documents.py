"""Whatever a document holds, every reader of it ends with a known exit code, and with a line that a person can use."""

from __future__ import annotations

import json
import random
import re
import subprocess
import sys
from pathlib import Path

import pytest
from conftest import FACTS, ROOT
from document_kinds import KINDS
from document_mutator import mutant
from document_readers import Place, hold

from fastrnns_rs import load
from fastrnns_rs.machine import environment
from fastrnns_rs.verbs.compare.importers import read_foreign

#: Mutants of all kinds together: in each quick run, and in a long one.
FEW, MANY = 2_000, 100_000


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Place:
    monkeypatch.setattr(environment, "probe", lambda *_, **__: FACTS)
    return Place(tmp_path)


@pytest.mark.parametrize("kind", KINDS)
def test_mutants_are_made_of_sound_documents(kind: str, place: Place) -> None:
    """Every mutant of a refused document is refused by the same check."""
    for seed in KINDS[kind].seeds(place):
        place.mutant.write_text(json.dumps(seed), encoding="utf-8")
        assert read_foreign("", seed) if kind == "foreign" else load(place.mutant)


@pytest.mark.parametrize("kind", KINDS)
def test_mutants_are_read_or_refused(kind: str, place: Place) -> None:
    """One command for each mutant, by dice."""
    read = KINDS[kind]
    seeds = read.seeds(place)
    for number in range(FEW // len(KINDS)):
        _hold(place, kind, seeds, number, [*read.quick, random.Random(number).choice(read.commands)])


@pytest.mark.long("mutants")
@pytest.mark.parametrize("kind", KINDS)
def test_many_mutants_are_read_or_refused(kind: str, place: Place) -> None:
    read = KINDS[kind]
    seeds = read.seeds(place)
    for number in range(FEW, FEW + MANY // len(KINDS)):
        _hold(place, kind, seeds, number, [*read.quick, *read.commands])


def test_a_mutant_is_the_same_again(place: Place) -> None:
    seeds = KINDS["run"].seeds(place)
    made = [mutant(seeds, number) for number in range(200)]
    assert len({*made}) > 190
    assert [mutant(seeds, number) for number in range(200)] == made


@pytest.mark.parametrize("script", ["fuzz", "test"])
def test_every_kind_is_fuzzed(script: str) -> None:
    listed = re.search(r"^documents=\((.*)\)$", (ROOT / "scripts" / script).read_text(), re.MULTILINE)
    assert listed is not None
    # A run that is resumed is of this machine and of this minute.
    assert {*listed[1].split()} == {*KINDS} - {"resumed"}


def test_the_fuzzer_has_documents_to_begin_with(tmp_path: Path) -> None:
    """In a process of its own, which lacks the paths of these tests."""
    command = [sys.executable, str(ROOT / "fuzz" / "documents.py"), "doctor", "--seeds", str(tmp_path / "seeds")]
    subprocess.run(command, check=True, capture_output=True, cwd=tmp_path)
    documents = [json.loads(path.read_bytes()) for path in (tmp_path / "seeds").iterdir()]
    assert {one["schema"] for one in documents} == {"fastrnns-rs/doctor"}


def _hold(place, kind, seeds, number, readers) -> None:
    made = mutant(seeds, f"{kind} {number}")
    for reader in readers:
        try:
            # Resuming writes to the file: each reader has its own.
            hold(place, made, reader)
        except BaseException as error:
            error.add_note(f"mutant {number} of {kind}: {made[:300]!r}")
            raise
