"""`fastrnns-rs report`: every option, held against the definitions recomputed for what is left."""

from __future__ import annotations

import csv
import io
import json
import shlex
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import jsonschema
import kineto_reference as reference
import pytest
from conftest import ROOT, Done, run_cli
from kineto_traces import NAMES, Event, annotation, by_dice, call, document, kernel, write
from test_report_kineto import check

import fastrnns_rs
from fastrnns_rs.documents.codec import from_plain, to_plain
from fastrnns_rs.documents.summary import SummaryDocument
from fastrnns_rs.views.summary import FORMATS, VIEWS

SCHEMA = json.loads((ROOT / "docs" / "schemas" / "summary.schema.json").read_text())
#: What the rows of a view are called in the document.
LISTS = {
    "overview": "kernels",
    "kernel": "kernels",
    "launch-shape": "kernels",
    "category": "categories",
    "device": "devices",
    "stream": "streams",
    "api": "api_calls",
    "operator": "cpu_operators",
    "memory": "memory_operations",
    "range": "ranges",
    "iteration": "iterations",
    "launch": "launches",
    "idle": "idle_causes",
    "cudnn-rnn": "cudnn_rnn",
    "rank": "ranks",
    "metric": "metrics",
}
#: The views of which any trace with a GPU has rows.
FILLED = [name for name in [*LISTS][:9] if name != "operator"]
Rule = Callable[[Event], bool]


def validate(plain: Any) -> SummaryDocument:
    """The document, which has every key of the schema and no other."""
    jsonschema.Draft202012Validator.check_schema(SCHEMA)
    jsonschema.Draft202012Validator(SCHEMA).validate(plain)
    found = from_plain(SummaryDocument, plain)
    assert to_plain(found) == plain
    return found


def report(*words: str | Path, cwd: Path | None = None, **variables: str) -> Done:
    """What the command says; it must succeed."""
    done = run_cli("report", *words, cwd=cwd, **variables)
    assert done.status == 0, done
    return done


def rows_of(text: str) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(text, newline="")))


def says(cell: str, value: object) -> bool:
    """Whether a cell of CSV is this value of the document, with every digit."""
    if value is None or isinstance(value, str):
        return cell == (value or "")
    if isinstance(value, bool):
        return cell == str(value).lower()
    if isinstance(value, list):
        parts = [f"{one['category']}:{one['delta_ns']}" if isinstance(one, dict) else str(one) for one in value]
        return cell == (" " if ":" in "".join(parts) else "x").join(parts)
    return float(cell) == value if isinstance(value, float) else cell == str(value)


@pytest.fixture
def trace(tmp_path: Path) -> Path:
    return write(tmp_path / "x.json", by_dice(11))


def test_the_views_and_formats_are_those_that_are_tested() -> None:
    assert VIEWS.keys() == {*LISTS, "inductor"}
    assert FORMATS == ("table", "json", "csv", "markdown", "html")


def test_the_schema_allows_no_other_key() -> None:
    """At no depth; and a document with a wrong type or without a key is refused."""
    objects = [SCHEMA, *SCHEMA["$defs"].values()]
    root = SCHEMA["$defs"]["SummaryDocument"]
    assert all(one.get("additionalProperties") is False for one in objects if one.get("type") == "object")
    assert set(root["required"]) == set(root["properties"])


@pytest.mark.parametrize("view", FILLED)
def test_every_format_has_the_rows_of_the_document_in_order(view: str, trace: Path) -> None:
    plain = report(trace, "--by", view, "--json").json()
    validate(plain)
    expected = plain[LISTS[view]]
    found = rows_of(report(trace, "--by", view, "--format", "csv").stdout)
    assert len(found) > 1
    for row, values in zip(found, expected, strict=True):
        for key in ("budget", "activity"):  # lists of their own
            values.pop(key, None)
        assert row.keys() == values.keys()
        assert all(says(row[key], value) for key, value in values.items()), (row, values)
    key = {"memory": "kind", "device": "name", "stream": "stream_id"}.get(view, "name")
    # A kernel on several devices is one row for readers.
    shown = [{"name": one.name} for one in fastrnns_rs.read(trace, kernels_by="name").kernels]
    for format_name in ("table", "markdown"):
        text = report(trace, "--by", view, "--wide", "--format", format_name).stdout
        place = text.index("Kernels") if view == "overview" else 0
        for word in (str(row[key]) for row in (shown if view == "kernel" else expected)[:10]):
            place = text.index(word, place)


def test_json_is_the_whole_document_whatever_the_view(trace: Path) -> None:
    whole = report(trace, "--json")
    check(validate(whole.json()), reference.summarize(trace))
    for words in (["--format", "json"], ["--json", "--by", "api", "--top", "1", "--names", "short"]):
        assert report(trace, *words).stdout == whole.stdout
    assert report(trace, FASTRNNS_REPORT_FORMAT="json").stdout == whole.stdout
    assert report(trace, FASTRNNS_REPORT_JSON="1").stdout == whole.stdout
    assert whole.stderr == ""


def restricted(path: Path, keep: Rule) -> dict[str, Any]:
    """The reference's figures for the events that are left."""
    events = json.loads(path.read_text())["traceEvents"]
    left = write(path.with_name("left.json"), [event for event in events if keep(event)])
    return {**reference.summarize(left), "events": len(events)}


def is_call(event: Event) -> bool:
    return event.get("cat") in reference.CALLS


def first_start(path: Path) -> int:
    kinds = reference.KERNELS | reference.MEMORY
    events = json.loads(path.read_text())["traceEvents"]
    return min(reference.nanoseconds(str(event["ts"])) for event in events if event["cat"] in kinds)


@pytest.mark.parametrize(
    ("words", "keep"),
    [
        (["--devices", "0"], lambda event: is_call(event) or event["args"].get("device") == 0),
        (["--devices", "cuda:1"], lambda event: is_call(event) or event["args"].get("device") == 1),
        (["--devices", "0", "1"], lambda _: True),
        (["--devices", "9"], is_call),
        (["--devices", "-1", "1"], lambda event: is_call(event) or event["args"].get("device") == 1),
        (["--stream", "7"], lambda event: is_call(event) or event["args"].get("stream") == 7),
        (["--stream", "20", "21"], lambda event: is_call(event) or event["args"].get("stream") in {20, 21}),
        (
            ["--devices", "1", "--stream", "21"],
            lambda event: is_call(event) or (event["args"].get("device"), event["args"].get("stream")) == (1, 21),
        ),
        (["--match", "^triton_"], lambda event: event["name"].startswith("triton_")),
        (["--match", r"memcpy DtoH|Launch"], lambda event: "DtoH" in event["name"] or "Launch" in event["name"]),
        (["--match", "(?i)TRITON"], lambda event: "triton" in event["name"]),
        (["--process", "100"], lambda _: True),
        (["--process", "101"], lambda _: False),
    ],
)
def test_a_restriction_leaves_what_the_definitions_say(words: list[str], keep: Rule, trace: Path) -> None:
    check(validate(report(trace, "--json", *words).json()), restricted(trace, keep))


@pytest.mark.parametrize(
    ("words", "since", "until"),
    [
        (["--since", "1.5ms"], 1_500_000, None),
        (["--until", "1500us"], None, 1_500_000),
        (["--since", "500.5us", "--until", "0.0025s"], 500_500, 2_500_000),
        (["--since", "1000000ns", "--until", "1 ms"], 1_000_000, 1_000_000),
        (["--since", "0ns"], 0, None),
        (["--since", "100µs", "--devices", "1"], 100_000, None),
        (["--until", "1ns"], None, 1),
        (["--since", "9s"], 9_000_000_000, None),
    ],
)
def test_a_window_counts_from_the_first_operation(
    words: list[str], since: int | None, until: int | None, trace: Path
) -> None:
    """By the start of each operation and call; from its first nanosecond, and not to its last."""
    first = first_start(trace)

    def keep(event: Event) -> bool:
        start = reference.nanoseconds(str(event["ts"])) - first
        fits = "--devices" not in words or is_call(event) or event["args"].get("device") == 1
        return fits and (since is None or start >= since) and (until is None or start < until)

    check(validate(report(trace, "--json", *words).json()), restricted(trace, keep))


def test_processes_are_told_apart(tmp_path: Path) -> None:
    paths = [
        write(
            tmp_path / f"{process}.json", document(by_dice(process, 100, process), baseTimeNanoseconds=7, host_name="a")
        )
        for process in (100, 200)
    ]
    both = validate(report(*paths, "--json").json())
    assert [(row.device_id, row.process_id) for row in both.devices] == [(0, 100), (0, 200), (1, 100), (1, 200)]
    # Processes of one session may share a device: a row of a kernel is theirs together.
    for rows in (both.kernels, both.memory_operations, both.streams, both.idle_causes):
        assert {(row.device_id, row.device) for row in rows} == {(0, None), (1, None)}
    one = validate(report(*paths, "--json", "--process", "200").json())
    expected = reference.summarize(paths[1])
    check(from_plain(SummaryDocument, {**to_plain(one), "captures": to_plain(one)["captures"][1:]}), expected)


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--match", "(unclosed"], "'(unclosed' (--match): unclosed group"),
        (["--match", "(?=look)"], "look-around"),
        (["--since", "5"], "'5' (--since)"),
        (["--until", "1.5.5ms"], "'1.5.5ms' (--until)"),
        (["--since", "1ms", "--until", "0.5ms"], "(--until)"),
        (["--devices", "first"], "'first' (--devices)"),
        (["--stream", "7.5"], "'7.5' (--stream)"),
        (["--stream", "-1", "x"], "'x' (--stream)"),
        (["--process", ""], "--process"),
        (["--top", "-1"], "--top"),
        (["--json", "--format", "csv"], "--format and --json"),
        (["--by", "inductor"], "--wall-time-ms"),
        (["--wall-time-ms", "0"], "0.0 (--wall-time-ms)"),
        (["--wall-time-ms", "nan"], "nan (--wall-time-ms)"),
        (["--wall-time-ms", "1", "--runs", "0"], "--runs"),
        (["--since", "99999999999999999999s"], "--since"),
        (["--devices", "99999999999999999999"], "--devices"),
        (["--top", "99999999999999999999"], "--top"),
        (["--wall-time-ms", "1", "--runs", "99999999999999999999"], "--runs"),
        (["--wall-time-ms", "1e308", "--json"], "(--wall-time-ms)"),
        (["--wall-time-ms", "1e-320", "--json"], "(--wall-time-ms)"),
        (["--output", "."], "is a folder"),
        (["--output", "no/such/folder/x"], "'no/such/folder/x' (--output)"),
        (["--trace", "-"], "'-' (--trace): a timeline is not written to stdout"),
        (["--trace", "/dev/stdout"], "'/dev/stdout' (--trace): "),
        (["--categories", "no-such-file"], "'no-such-file' (--categories)"),
        (["--categories", "."], "'.' (--categories): Is a directory"),
    ],
)
def test_what_makes_no_sense_is_a_mistake_of_usage(words: list[str], said: str, trace: Path, anywhere: Path) -> None:
    done = run_cli("report", trace, *words)
    assert (done.status, done.stdout) == (2, ""), done.stderr
    error, hint = done.stderr.splitlines()
    assert error.startswith("error: ")
    assert said in error
    assert hint.startswith("hint: ")


def test_own_categories_go_before_the_built_in_ones(trace: Path, tmp_path: Path) -> None:
    rules = tmp_path / "rules.txt"
    rules.write_text("# mine\n\nmy_fused  short:^TRITON_(?:poi|red)\ncommunication2 ^nccl.*AllReduce\n")
    usual = {row["name"]: row["category"] for row in report(trace, "--json").json()["kernels"]}
    plain = report(trace, "--json", "--categories", rules).json()
    expected = reference.summarize(trace)
    # Another category than `communication` is not communication.
    for device in expected["devices"].values():
        device["exposed"] = 0
    check(validate(plain), expected)
    mine = {row["name"]: row["category"] for row in plain["kernels"]}
    changed = {name: category for name, category in mine.items() if usual[name] != category}
    assert changed == {NAMES[1]: "my_fused", NAMES[2]: "my_fused", NAMES[6]: "communication2"}
    assert {row["name"] for row in plain["categories"]} == set(mine.values())


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("good ^x\n\nbad (unclosed\n", 3),
        ("Gemm ^x\n", 1),
        ("# a comment\n# another\nlonely\n", 3),
        ("good ^x\r\nshort short:\r\n", 2),
        ("good (?=x)\n", 1),
        ("ungut\u00e4 x\n", 1),
    ],
)
def test_a_broken_file_of_categories_is_refused_by_the_line(text: str, line: int, trace: Path, tmp_path: Path) -> None:
    rules = tmp_path / "rules.txt"
    rules.write_text(text, newline="")
    done = run_cli("report", trace, "--categories", rules)
    assert (done.status, done.stdout) == (2, "")
    assert f"'{rules}', line {line} (--categories): " in done.stderr
    assert len(done.stderr.splitlines()) == 2
    rules.write_bytes(b"gemm \xff\n")
    done = run_cli("report", trace, "--categories", rules)
    assert (done.status, "codec" in done.stderr, f"'{rules}' (--categories): " in done.stderr) == (2, False, True)


@pytest.mark.parametrize("words", [[], ["--json"], ["--format", "csv", "--by", "kernel"], ["--format", "markdown"]])
def test_output_goes_to_the_file_that_was_named(words: list[str], trace: Path, tmp_path: Path) -> None:
    output = tmp_path / "out.txt"
    output.write_text("old")
    done = report(trace, *words, "--output", output)
    assert done.stdout == ""
    assert output.read_text() == report(trace, *words).stdout


def test_nothing_is_written_where_there_is_an_error(tmp_path: Path) -> None:
    output = tmp_path / "out.txt"
    assert run_cli("report", write(tmp_path / "x.json", "{}"), "--output", output).status == 2
    assert not output.exists()


def test_a_capture_without_a_device_is_told_of(tmp_path: Path) -> None:
    path = write(tmp_path / "x.json", [call()])
    text = report(path).stdout
    assert text.splitlines()[1] == "No GPU activity: 1 CUDA call took 1.000 µs."
    assert "warning" not in text
    for view in LISTS:
        report(path, "--by", view)
        report(path, "--by", view, "--format", "markdown")
    plain = validate(report(path, "--json").json())
    assert (plain.kernels, plain.devices, [row.name for row in plain.api_calls]) == ([], [], ["cudaLaunchKernel"])


@pytest.mark.parametrize("closed", [">&-", "2>&-", "2>/dev/full"])
def test_a_closed_or_full_stream_does_not_change_the_exit_code(closed: str, tmp_path: Path) -> None:
    path = write(tmp_path / "x.json", [call("cpu_op", "aten::mm", 0, 1)])
    for file, code in {path: 0, tmp_path / "missing.json": 2}.items():
        line = f"{shlex.join([sys.executable, '-m', 'fastrnns_rs', 'report', str(file)])} {closed}"
        done = subprocess.run(["bash", "-c", line], capture_output=True, text=True, check=False)
        assert done.returncode == code, done.stderr


def test_a_trace_that_would_replace_a_capture_is_an_error_of_its_option(trace: Path) -> None:
    done = run_cli("report", trace, "--trace", trace)
    assert done.status == 2
    assert "(--trace): the file is one of the captures" in done.stderr


def test_a_width_beyond_every_integer_of_the_machine_is_a_width(trace: Path) -> None:
    done = run_cli("report", trace, COLUMNS="9" * 30)
    assert done.status == 0, done.stderr


def test_a_quoted_name_of_a_data_loader_is_one_name(tmp_path: Path) -> None:
    for name, words, cause in (
        ("upload", ["load batch"], "host"),
        ("load batch", ["load batch"], "data_loader"),
        ("load, batch", ["load, batch"], "data_loader"),
        ("my load batch", ["fetch", "load batch"], "data_loader"),
    ):
        events = [kernel("a", 0, 1), annotation(name, 1, 98), call(start=99), kernel("b", 100, 1)]
        path = write(tmp_path / "trace.json", events)
        done = run_cli("report", path, "--json", "--data-loader", *words)
        causes = {row["cause"]: row["total_ns"] for row in done.json()["idle_causes"]}
        assert max(causes, key=lambda one: causes[one]) == cause
