"""The contract of docs/reference/documents.md: which versions of documents are read, and what becomes of their keys."""

from __future__ import annotations

import copy
import json
import re
import subprocess
import sys
import warnings
from collections.abc import Iterator
from dataclasses import is_dataclass, replace
from pathlib import Path
from typing import Any

import jsonschema
import pytest
import run_files
from conftest import ROOT
from kineto_traces import kernel, write
from parts import few

import fastrnns_rs
from fastrnns_rs.documents.capture_manifest import Capture
from fastrnns_rs.documents.codec import added_keys
from fastrnns_rs.documents.comparison import Comparison
from fastrnns_rs.documents.diagnosis import Diagnosis
from fastrnns_rs.documents.document import VERSION, Document
from fastrnns_rs.documents.inductor_report import InductorReport
from fastrnns_rs.documents.listing import Catalogue
from fastrnns_rs.documents.noise_floor import NoiseFloorDocument
from fastrnns_rs.documents.run_file import Run
from fastrnns_rs.documents.summary import SummaryDocument
from fastrnns_rs.documents.verification import Verification
from fastrnns_rs.errors import DocumentWarning, UsageError

#: A document in each shape that main wrote, by kind, place in time and commit.
FOLDER = ROOT / "tests" / "data" / "documents"
FILES = sorted(FOLDER.glob("*.json"), key=lambda path: (path.name.split("_")[0], int(path.name.split("_")[1])))
KINDS: dict[str, type[Document]] = {
    "run": Run,
    "capture": Capture,
    "summary": SummaryDocument,
    "comparison": Comparison,
}
#: In the first summaries these had no value.
EMPTY_AT_FIRST = {"ranges", "iterations", "launches", "idle_causes"}
#: What has keys of any name.
FREE = {"variables", "parameters", "point"}
NEWER = "1.99"


def kind_of(path: Path) -> str:
    return path.name.partition("_")[0]


def newest(kind: str) -> dict[str, Any]:
    plain: dict[str, Any] = json.loads([one for one in FILES if kind_of(one) == kind][-1].read_text())
    return {**plain, "schema_version": NEWER}


def schema_of(kind: str) -> Any:
    return json.loads((ROOT / "docs" / "schemas" / f"{kind}.schema.json").read_text())


def assert_within(old: Any, new: Any) -> None:
    """Everything of a document is in another, which may have more keys."""
    if isinstance(old, dict):
        for key, value in old.items():
            if value is not None:
                assert_within(value, new[key])
    elif isinstance(old, list):
        assert len(old) == len(new)
        for one, other in zip(old, new, strict=True):
            assert_within(one, other)
    else:
        assert old == new


def places(value: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """The path of each key of a document."""
    for key, item in value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ():
        if isinstance(value, dict):
            yield (*path, key)
        if key not in FREE:
            yield from places(item, (*path, key))


def at(document: Any, path: tuple[Any, ...]) -> Any:
    for key in path:
        document = document[key]
    return document


def shown(path: tuple[Any, ...]) -> str:
    return "".join(f"[{key}]" if isinstance(key, int) else f".{key}" for key in path).removeprefix(".")


def heard(read: Any) -> tuple[Any, list[str]]:
    """What a call returns, and the warnings about documents."""
    with warnings.catch_warnings(record=True) as found:
        warnings.simplefilter("always")
        made = read()
    assert all(one.category is DocumentWarning for one in found)
    return made, [str(one.message) for one in found]


def test_there_is_a_file_of_each_shape() -> None:
    assert [kind_of(one) for one in FILES] == ["capture"] * 5 + ["comparison"] * 3 + ["run"] * 13 + ["summary"] * 9
    # Two of them differ by a null alone.
    shapes = {frozenset({kind_of(one), *map(shown, places(json.loads(one.read_text())))}) for one in FILES}
    assert len(shapes) == len(FILES) - 1


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_every_shape_of_before_is_read(path: Path, tmp_path: Path) -> None:
    kind, old = KINDS[kind_of(path)], json.loads(path.read_text())
    read = kind.load(path)
    new = read.to_dict()
    jsonschema.validate(new, schema_of(kind_of(path)))
    assert old.pop("schema_version") in {"1.0", "1.2", VERSION}
    assert new["schema_version"] == read.schema_version == VERSION
    assert_within(old, new)
    read.save(tmp_path / "again.json")
    again = kind.load(tmp_path / "again.json")
    assert again.to_dict() == new
    if kind is not Capture:  # which knows where it lies
        assert again == read


# Comparisons of version 1.0 are not kept.
@pytest.mark.parametrize("path", [one for one in FILES if "_1_" in one.name], ids=lambda path: path.stem)
def test_a_key_of_the_first_documents_must_be_there(path: Path) -> None:
    kind, first = KINDS[kind_of(path)], json.loads(path.read_text())
    checked = 0
    for where in places(first):
        broken = copy.deepcopy(first)
        del at(broken, where[:-1])[where[-1]]
        if kind is SummaryDocument and where[0] in EMPTY_AT_FIRST:
            kind.from_dict(broken)
            continue
        with pytest.raises(UsageError) as raised:
            kind.from_dict(broken)
        assert re.fullmatch(rf"missing .*: {re.escape(shown(where))}", raised.value.message)
        checked += 1
    assert checked > 30


@pytest.mark.parametrize("kind", KINDS)
def test_a_later_key_without_a_value_has_its_default(kind: str) -> None:
    plain = {**newest(kind), "schema_version": VERSION}
    # Builds that write this key write all others, too.
    for device in plain.get("devices", []):
        device["exposed_communication_ns"] = None
    later = [key for key, since in added_keys(KINDS[kind]).items() if since]
    without = KINDS[kind].from_dict({key: value for key, value in plain.items() if key not in later})
    assert KINDS[kind].from_dict(plain | dict.fromkeys(later)) == without
    assert later


def in_first_version(value: Any) -> Any:
    """A document, or a part of it, without the keys that later versions added."""
    if is_dataclass(value) and not isinstance(value, type):
        keys = [key for key, since in added_keys(type(value)).items() if since is None]
        return {key: in_first_version(getattr(value, key)) for key in keys}
    if isinstance(value, dict):
        return {key: in_first_version(item) for key, item in value.items()}
    return [*map(in_first_version, value)] if isinstance(value, (list, tuple)) else value


def test_a_comparison_of_the_first_version_is_read(tmp_path: Path) -> None:
    """It has no processes, so that its numbers cannot be checked; with another later key it would be a changed one."""
    sides = [run_files.run([run_files.result(seed=seed)]) for seed in (0, 1)]
    whole = fastrnns_rs.compare(*sides, history=False)
    plain = {**in_first_version(whole), "schema_version": "1.0"}
    old = Comparison.from_dict(plain)
    assert (old.rows[0].ratio, old.rows[0].baseline.process_medians_ns) == (whole.rows[0].ratio, [])
    old.save(tmp_path / "old.json")
    assert Comparison.load(tmp_path / "old.json").render() == old.render()
    plain["baseline"]["sessions"] = 1
    with pytest.raises(UsageError, match=r"^rows\[0\]\.baseline\.process_medians_ns has 0 numbers, not n_processes, "):
        Comparison.from_dict(plain)


@pytest.mark.parametrize("kind", KINDS)
def test_unknown_keys_of_a_newer_document_are_kept_with_one_warning(kind: str, tmp_path: Path) -> None:
    newer = newest(kind)
    owners = [where for where in [(), *places(newer)] if isinstance(at(newer, where), dict) and not FREE & {*where}]
    owners += [(*where, 0) for where in places(newer) if isinstance(at(newer, where), list) and at(newer, where)]
    # Keys of the last have text of any name.
    closed = {("at",), ("cells", 0), *([("environment",)] if kind == "comparison" else [])}
    owners = [where for where in owners if isinstance(at(newer, where), dict) and where[-1:] not in closed]
    for number, where in enumerate(owners):
        at(newer, where)["novel"] = {"depth": len(where), "values": [number, None, "ü"]}
    assert len({len(where) for where in owners}) > 2
    (tmp_path / "newer.json").write_text(json.dumps(newer))

    read, [warning] = heard(lambda: KINDS[kind].load(tmp_path / "newer.json"))
    assert warning.startswith(f"{tmp_path / 'newer.json'} ")
    assert {NEWER, VERSION} <= {*re.findall(r"\d+\.\d+", warning.partition("newer.json")[2])}
    assert "[0]" not in warning
    assert len(warning) < 400
    assert (read.schema_version, read.to_dict()) == (NEWER, newer)
    read.save(tmp_path / "again.json")
    assert json.loads((tmp_path / "again.json").read_text()) == newer
    if kind != "capture":  # which forgets what its document called the files
        assert replace(read, warnings=[]).to_dict() == {**newer, "warnings": []}


def test_an_object_that_is_replaced_has_no_unknown_keys_left() -> None:
    newer = newest("run")
    newer["results"][0]["novel"] = newer["results"][1]["novel"] = newer["novel"] = 1
    run, _ = heard(lambda: Run.from_dict(newer))
    changed = replace(run, results=[replace(run.results[0], note="another"), run.results[1]]).to_dict()
    assert ["novel" in one for one in (*changed["results"], changed)] == [False, True, True]


def test_a_newer_document_without_unknown_keys_is_read_in_silence() -> None:
    newer = newest("run")
    newer["environment"]["variables"]["NOVEL"] = "1"
    assert heard(lambda: Run.from_dict(newer).to_dict()) == (newer, [])


@pytest.mark.parametrize("version", few([NEWER], [VERSION, NEWER], "mutants"))
@pytest.mark.parametrize("kind", KINDS)
def test_wrong_types_are_refused_by_path_whatever_the_version(kind: str, version: str) -> None:
    """By the schema too, and in documents of a known version an unknown key anywhere."""
    plain, known = {**newest(kind), "schema_version": version}, version == VERSION
    schema = jsonschema.Draft202012Validator(schema_of(kind))
    for where in places(plain):
        broken = copy.deepcopy(plain)
        parent = at(broken, where[:-1])
        parent[where[-1]] = (1, 2)
        assert not known or not schema.is_valid(broken)
        with pytest.raises(UsageError) as raised:
            KINDS[kind].from_dict(broken)
        assert raised.value.message.startswith((f"{shown(where)} is ", "schema_version"))
        parent[where[-1]] = at(plain, where)
        parent["novel"] = 1
        # Swept values, cells and the environment of a side of a comparison have any keys.
        if known and not {"at", "cells"} & {*where} and where[1:2] != ("environment",):
            assert not schema.is_valid(broken)
            with pytest.raises(UsageError, match=r"unknown .*novel$"):
                KINDS[kind].from_dict(broken)
    for old in ["1.0"] if known else []:
        with pytest.raises(UsageError, match="unknown .* novel$"):
            KINDS[kind].from_dict({**plain, "schema_version": old, "novel": 1})


@pytest.mark.parametrize("version", ["2.0", "0.9", "1", "1.", "1.x", "one", "", "1.1.1", "-1.0", "²." + "9" * 5000])
@pytest.mark.parametrize("kind", KINDS)
def test_another_major_version_is_refused_with_what_reads_it(kind: str, version: str) -> None:
    with pytest.raises(UsageError) as raised:
        KINDS[kind].from_dict({**newest(kind), "schema_version": version, "novel": 1})
    message = raised.value.message
    assert message.startswith(f"schema_version is {version[:20]},")
    assert f"fastrnns-rs {fastrnns_rs.__version__} " in message
    assert " 1.x" in message
    # Other documents do not record the version of their writer.
    assert ("fastrnns-rs 0.1.0" in raised.value.hint) == (kind == "run")
    assert "fastrnns-rs" in raised.value.hint


def test_every_document_has_one_version() -> None:
    kinds = [*KINDS.values(), Verification, InductorReport, Catalogue, Diagnosis, NoiseFloorDocument]
    assert {one.__dataclass_fields__["schema_version"].default for one in kinds} == {VERSION}
    assert len({one.__dataclass_fields__["schema"].default for one in kinds}) == len(kinds) == 9
    for kind in kinds:
        with pytest.raises(UsageError, match=r" 1\.x"):
            kind.from_dict({"schema_version": "2.0"})


def test_rust_writes_the_version_of_summaries(tmp_path: Path) -> None:
    assert fastrnns_rs.read(write(tmp_path / "x.json", [kernel()])).to_dict()["schema_version"] == VERSION


def newer_run(path: Path) -> str:
    plain = run_files.run([run_files.result()]).to_dict()
    plain["results"][0]["problem"]["novel"] = plain["novel"] = 1
    path.write_text(json.dumps({**plain, "schema_version": NEWER}))
    return str(path)


def test_the_command_line_warns_in_a_line(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "fastrnns_rs", "show", newer_run(tmp_path / "newer.json"), "--json"]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    plain = json.loads(done.stdout)
    assert (plain["novel"], plain["results"][0]["problem"]["novel"]) == (1, 1)
    [line] = done.stderr.splitlines()
    assert line.startswith(f"warning: {tmp_path / 'newer.json'} ")
    assert line.endswith(": results[].problem.novel, novel")


def test_unknown_keys_part_no_rows_of_a_comparison(tmp_path: Path) -> None:
    known = run_files.write(tmp_path / "known.json", run_files.run([run_files.result(seed=1)]))
    found, told = heard(lambda: fastrnns_rs.compare(known, newer_run(tmp_path / "newer.json")))
    assert [one.verdict is not None for one in found.rows] == [True, True]
    assert len(told) == 1
