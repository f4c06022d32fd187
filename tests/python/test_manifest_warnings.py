"""Warnings about files that are not those of their manifest, and about captures that failed."""

from __future__ import annotations

import hashlib
import json
import pickle
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest
from conftest import run_cli
from torch_manifests import manifest

import fastrnns_rs
from fastrnns_rs.documents.codec import to_plain
from fastrnns_rs.documents.summary import SummaryDocument
from fastrnns_rs.documents.warning import make_warning
from fastrnns_rs.errors import FastrnnsError
from fastrnns_rs.verbs.report import manifest_warnings
from fastrnns_rs.verbs.report.capture_summary import Summary
from fastrnns_rs.verbs.report.summary_json import insert_warnings


@pytest.fixture
def made(tmp_path: Path) -> Path:
    """A manifest whose entries are true."""
    path = manifest(tmp_path / "a folder", {"py": 5.0})
    document = json.loads(path.read_text())
    for one in document["artefacts"]:
        content = Path(one["path"]).read_bytes()
        one["size_bytes"], one["sha256"] = len(content), hashlib.sha256(content).hexdigest()
    path.write_text(json.dumps(document))
    return path


def change(path: Path, entry: dict[str, Any] | None = None, **values: Any) -> None:
    document = json.loads(path.read_text())
    document["artefacts"][0].update(entry or {})
    path.write_text(json.dumps({**document, **values}))


def found(path: Path) -> list[tuple[str, str]]:
    return [(one["code"], one["evidence"]) for one in fastrnns_rs.read(path).warning_rows()]


def test_a_true_manifest_gives_no_warning(made: Path) -> None:
    assert found(made) == []
    change(made, {"sha256": ""})
    assert found(made) == []
    file = json.loads(made.read_text())["artefacts"][0]["path"]
    change(made, {"sha256": hashlib.sha256(Path(file).read_bytes()).hexdigest().upper()})
    assert found(made) == []


def test_a_file_of_another_size_or_digest_is_reported(made: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    entry = json.loads(made.read_text())["artefacts"][0]
    path, size = entry["path"], entry["size_bytes"]
    change(made, {"sha256": "0" * 64})
    assert found(made) == [("capture_file_differs", f"{path}: another sha256")]
    # Also of a manifest in a folder.
    assert found(made.parent) == found(made)
    with monkeypatch.context() as patch:
        patch.setattr(manifest_warnings, "_LARGEST_HASHED", size - 1)
        assert found(made) == []
    change(made, {"size_bytes": size + 1000})
    evidence = f"{path}: {size:,} bytes, and {size + 1000:,} bytes in the manifest"
    assert found(made) == [("capture_file_differs", evidence)]


def test_a_file_that_is_named_many_times_is_hashed_once(made: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    document = json.loads(made.read_text())
    document["artefacts"] += [document["artefacts"][0]] * 50
    made.write_text(json.dumps(document))
    hashed = []
    monkeypatch.setattr(manifest_warnings.hashlib, "sha256", lambda content: hashed.append(content) or sha256(content))
    manifest_warnings.find_manifest_warnings([made])
    assert len(hashed) == len({one["path"] for one in document["artefacts"] if one["kind"] == "kineto"}) > 0


FAILED = {"id": "ranges", "expected": "3", "found": "2", "ok": False}
ENDS = [
    ({"exit_status": 1}, "the command ended with exit status 1"),
    ({"exit_status": None, "signal": 9}, "the command was killed by signal 9"),
    ({"timed_out": True, "exit_status": 1}, "the command did not end in time"),
    ({"checks": []}, "the command ended before the checks"),
    ({"checks": [FAILED]}, "ranges: expected 3, found 2"),
    ({"checks": [FAILED], "exit_status": 2}, "ranges: expected 3, found 2; the command ended with exit status 2"),
]


@pytest.mark.parametrize(("values", "reason"), ENDS)
def test_a_failed_capture_is_reported_once(values: dict[str, Any], reason: str, made: Path) -> None:
    change(made, None, **values)
    assert found(made) == [("capture_failed", f"{made}: {reason}")]


def test_warnings_of_a_manifest_are_repeated(made: Path) -> None:
    lost, whole = (
        make_warning("events_lost", evidence="12 events"),
        make_warning("range_yielded_nothing"),
    )
    change(made, None, warnings=[to_plain(lost), to_plain(whole)])
    evidences = [("events_lost", f"{made}: 12 events"), ("range_yielded_nothing", f"{made}")]
    assert found(made) == found(made.parent) == evidences
    assert [one.hint for one in fastrnns_rs.read(made).warnings] == [lost.hint, whole.hint]
    compared = fastrnns_rs.compare(made, made.parent)
    assert [one.code for one in compared.warnings].count("events_lost") > 0
    assert "warning[range_yielded_nothing]" in run_cli("report", made, "--by", "inductor", "--wall-time-ms", "1").stdout


@pytest.mark.parametrize(("evidence", "reason"), [(None, "m"), ("2 names", "m: 2 names")])
def test_strict_names_the_manifest_that_tells_of_damage(evidence: str | None, reason: str, made: Path) -> None:
    change(made, None, warnings=[{"code": "names_damaged", "message": "m", "evidence": evidence, "hint": None}])
    for path in (made, made.parent):
        with pytest.raises(FastrnnsError) as refused:
            fastrnns_rs.read(path, strict=True)
        assert refused.value.message == f"damaged capture: {str(made)!r}: {reason}"


def test_all_forms_of_a_summary_have_the_warnings(made: Path) -> None:
    change(made, {"sha256": "0" * 64}, exit_status=1)
    codes = ["capture_file_differs", "capture_failed"]
    summary = fastrnns_rs.read(made)
    assert [one.code for one in summary.warnings] == codes
    assert [one["code"] for one in json.loads(summary.to_json())["warnings"]] == codes
    pieces: list[bytes] = []
    summary.write_json(pieces.append)
    assert b"".join(pieces).decode() == summary.to_json()
    assert [one["code"] for one in pickle.loads(pickle.dumps(summary)).warning_rows()] == codes
    old = Summary.__new__(Summary)
    old.__setstate__((summary._core, False))
    assert old.warning_rows() == []
    # The path has a space, and the hint is a command to copy.
    file = json.loads(made.read_text())["artefacts"][0]["path"]
    assert str(summary.warnings[0].hint).endswith(f"fastrnns-rs report '{file}'")
    done = run_cli("report", made)
    assert all(f"warning[{code}]" in done.stdout for code in codes)
    done = run_cli("report", made, "--json")
    assert all(f"warning[{code}]" in done.stderr for code in codes)
    assert json.loads(done.stdout) == SummaryDocument.from_dict(json.loads(done.stdout)).to_dict()


@pytest.mark.parametrize("length", [1, 7, 10_000])
@pytest.mark.parametrize("count", [0, 2])
def test_warnings_are_inserted_before_those_of_the_document(length: int, count: int) -> None:
    row = {"code": "x", "message": "a\x7f\x9b", "evidence": None, "hint": "ü"}
    document = {"schema": "a", "warnings": [row] * count, "captures": [{"warnings": [1]}]}
    text = json.dumps(document, indent=2).encode()
    pieces: list[bytes] = []
    pass_on = insert_warnings(pieces.append, [row, row])
    for start in range(0, len(text), length):
        pass_on(text[start : start + length])
    expected = json.dumps({**document, "warnings": [row] * (count + 2)}, indent=2)
    written = b"".join(pieces).decode()
    assert json.loads(written) == json.loads(expected)
    assert "\x7f" not in written.partition('"hint"')[0]
    assert len(written.splitlines()) == len(expected.splitlines())


def test_a_comparison_has_the_warnings_of_its_captures(made: Path, tmp_path: Path) -> None:
    other = manifest(tmp_path / "other", {"py": 7.0}, since=100)
    change(other, None, exit_status=1)
    change(made, {"sha256": "0" * 64})
    codes = [one.code for one in fastrnns_rs.compare(made, other).warnings]
    assert codes.count("capture_file_differs") == codes.count("capture_failed") == 1
