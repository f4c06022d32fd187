"""The JSON documents: what is written is what the published schemas say, and nothing else is read."""

from __future__ import annotations

import json
import math
import os
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from conftest import PLANTED, ROOT, TINY, run_cli
from pretended_workers import each, rising

from fastrnns_rs.documents.capture_manifest import Capture
from fastrnns_rs.documents.comparison import Comparison
from fastrnns_rs.documents.document import VERSION
from fastrnns_rs.documents.json_schema import json_schema
from fastrnns_rs.documents.run_file import Run
from fastrnns_rs.errors import FastrnnsError
from fastrnns_rs.processes.listener import Answer

SCHEMAS = ROOT / "docs" / "schemas"


def planted(job: dict[str, Any]) -> Answer:
    """The answers of workers of which some fail."""
    match job["runner"]:
        case "raises":
            return Answer({"status": "failed", "reason": "RuntimeError: it broke"}, "answered", None, "")
        case "hangs_deaf":
            return Answer({}, "timed_out", "no result after 15 s", "")
        case _:
            return rising(job)


@pytest.fixture(scope="module")
def document() -> Any:
    """A run with every kind of row."""
    runners = ["sound", "raises", "prints", "hangs_deaf"]
    flags = ["--group", "rnns", "cnns", "--cnns", "resnet18", "--numLayers", "2", "--timeout", "15"]
    flags += ["--nloops", "1", "--warmup", "1", "--processes", "1", "--device", "cpu", *TINY, "--json"]
    done = run_cli(
        *("bench", "--runner-file", PLANTED, "--rnns", "cudnn_layernorm", *runners, *flags), executor=each(planted)
    )
    return done.json()


def validator(name: str) -> jsonschema.Draft202012Validator:
    schema = json.loads((SCHEMAS / f"{name}.schema.json").read_text())
    jsonschema.Draft202012Validator.check_schema(schema)
    return jsonschema.Draft202012Validator(schema)


def test_published_schemas_and_keys_are_those_of_the_code(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(str(ROOT / "scripts"))
    import write_schemas

    for name, text in write_schemas.texts().items():
        assert (ROOT / "docs" / name).read_text() == text, f"{name} is stale: make schemas"
    sys.modules.pop("write_schemas")


def test_schemas_contain_the_docstrings() -> None:
    @dataclass(frozen=True, kw_only=True)
    class Part:
        """Summary line.

        A second paragraph
        of two lines.

        Attributes:
            key: Length of the part,
                in nanoseconds.
        """

        key: int
        other: int

    made = json_schema(Part, "x")["$defs"]["Part"]
    assert made["description"] == "Summary line. A second paragraph of two lines."
    assert made["properties"] == {
        "key": {"description": "Length of the part, in nanoseconds.", "type": "integer"},
        "other": {"type": "integer"},
    }
    Part.__doc__ = "Summary line.\n\nAttributes:\n    misspelled: Length."
    with pytest.raises(ValueError, match=r"unknown attribute: misspelled \(Part\)"):
        json_schema(Part, "x")


def test_a_run_is_what_its_schema_says(document: Any) -> None:
    validator("run").validate(document)
    assert {row["status"] for row in document["results"]} == {"ok", "failed", "timed_out"}
    assert document["schema"] == "fastrnns-rs/run"
    assert document["schema_version"] == VERSION
    summary = document["results"][0]["forward"]
    assert (summary["n_samples"], summary["stddev_ns"], summary["ci_low_ns"], summary["n_processes"]) == (
        1,
        None,
        None,
        1,
    )


def test_the_list_is_what_its_schema_says() -> None:
    done = run_cli("list", "--json")
    validator("list").validate(done.json())
    assert len(done.json()["runners"]) == 37
    assert [group["name"] for group in done.json()["groups"]] == ["vl_rnns", "rnns", "cnns", "all"]


def test_a_run_survives_being_saved(document: Any, tmp_path: Path) -> None:
    run = Run.from_dict(document)
    assert run.to_dict() == document
    run.save(tmp_path / "run.json")
    assert Run.load(tmp_path / "run.json") == run
    assert run["sound"].runner == "sound"
    with pytest.raises(KeyError):
        run["nothing"]
    with pytest.raises(FastrnnsError, match="run.json/below': Not a directory"):
        run.save(tmp_path / "run.json" / "below")


def test_no_document_holds_a_token_that_json_lacks(document: Any) -> None:
    assert "NaN" not in json.dumps(document).replace("NaN or", "")
    run = Run.from_dict(document)
    object.__setattr__(run.environment, "load_average_1m", math.nan)
    with pytest.raises(ValueError, match="not JSON compliant"):
        run.render("json")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "not a run file: .* is an empty file"),
        ("[]", r"the document is \[\], not an object"),
        ('{"schema": "other"}', "missing key: schema_version"),
        ("\x80", "not UTF-8"),
    ],
)
def test_other_files_are_refused_by_name(text: str, message: str, tmp_path: Path) -> None:
    path = tmp_path / "file.json"
    path.write_bytes(text.encode("latin-1"))
    with pytest.raises(FastrnnsError, match=message) as raised:
        Run.load(path)
    assert str(path) in raised.value.message
    with pytest.raises(FastrnnsError, match="file not found"):
        Run.load(tmp_path / "nothing.json")


def test_another_documents_name_is_refused(document: Any) -> None:
    with pytest.raises(FastrnnsError, match="schema is 'fastrnns-rs/list', not one of fastrnns-rs/run"):
        Run.from_dict({**document, "schema": "fastrnns-rs/list"})


def test_a_descriptor_is_no_path_and_stays_open() -> None:
    for kind in (Run, Comparison, Capture):
        with pytest.raises(FastrnnsError, match=r"^not a path: 1 \(path\)"):
            kind.load(1)
        os.fstat(1)
