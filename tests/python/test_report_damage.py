"""Damaged traces: what can be read is read, what cannot is counted, and nothing is lost without a word."""

from __future__ import annotations

import gzip
import json
import os
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from conftest import Done, run_cli
from kineto_traces import Event, by_dice, call, document, kernel, operator, write
from nsys_exports import Export, thread

import fastrnns_rs
from fastrnns_rs import FastrnnsError, Summary

DAMAGE = {"events_skipped", "capture_incomplete", "names_damaged"}


def ordinary(count: int = 6) -> list[Event]:
    """Kernels of different names among what else there is."""
    events = [call()]
    for at in range(count):
        events += [kernel(f"k{at}", 10 * at, 3), operator(f"op }}, {{ {at}", 10 * at, 9)]
    return events


def lines(events: list[Event]) -> str:
    """A trace with an event a line, as torch writes it."""
    text = json.dumps(document([]))
    return text.replace("[]", "[\n  " + ",\n  ".join(map(json.dumps, events)) + "\n]")


def kernels(summary: Summary) -> dict[str, int]:
    return {row.name: row.count for row in summary.kernels}


def codes(summary: Summary) -> set[str]:
    return {warning.code for warning in summary.warnings}


def assert_tells(done: Done, status: int) -> None:
    """The command ends so, in plain words: no traceback, no panic."""
    assert done.status == status, done
    for word in ("Traceback", "panicked", "is a fault of fastrnns-rs"):
        assert word not in done.stdout + done.stderr
    if status:
        assert done.stdout == ""
        error, hint = done.stderr.splitlines()
        assert error.startswith("error: "), done
        assert hint.startswith("hint: "), done


@pytest.mark.parametrize("count", [6, 600], ids=["small", "large"])
@pytest.mark.parametrize(
    ("damage", "expected"),
    [
        pytest.param(lambda packed: packed + b"garbage" * 9, ["may be damaged"], id="garbage after it"),
        pytest.param(lambda packed: packed + b"\0" * 5, [], id="few zeros after it"),
        pytest.param(lambda packed: packed + b"\0" * 1000, [], id="zeros after it"),
        pytest.param(lambda packed: packed[:-4], ["may be damaged"], id="no length"),
        pytest.param(lambda packed: packed[:-8] + bytes(8), ["may be damaged"], id="wrong checksum"),
    ],
)
def test_a_compressed_trace_that_is_all_there_is_read(
    damage: Callable[[bytes], bytes], expected: list[str], count: int, tmp_path: Path
) -> None:
    """Whatever is wrong with its end, however small it is. Zeros are ignored, as `gzip` does."""
    path = write(tmp_path / "x.bin", damage(gzip.compress(lines(ordinary(count)).encode())))
    summary = fastrnns_rs.read(path)
    assert len(kernels(summary)) == count
    told = [warning.message for warning in summary.warnings if warning.code == "capture_incomplete"]
    assert [words for message, words in zip(told, expected, strict=True) if words not in message] == []


#: What a producer of traces may put in a name, and how many of the six kernels must be found nonetheless.
NAMES = {
    "a stray quote": 'fo"o',
    "two stray quotes": '<lambda "x"> at',
    "a quote at the end": 'foo"',
    "a raw newline": "fo\no",
    "a raw tab and other controls": "fo\t\x01\x1f\x7fo",
    "a backslash": r"C:\new\table\x",
    "an escape that is none": r"\q\u12",
    "half a pair": r"\ud800",
    "quotes and braces": 'f"}}, {"o',
    "a whole event": 'x"}, {"ph": "X", "y": "',
}


@pytest.mark.parametrize("name", NAMES.values(), ids=NAMES)
def test_the_names_of_others_harm_no_kernel(name: str, tmp_path: Path) -> None:
    """Six kernels and, between them, operators of this name, which is put in as it stands."""
    path = write(tmp_path / "x.json", lines(ordinary()).replace("op }, {", name))
    summary = fastrnns_rs.read(path)
    assert kernels(summary) == {f"k{at}": 1 for at in range(6)}
    assert_tells(run_cli("report", path), 0)


@pytest.mark.parametrize("name", NAMES.values(), ids=NAMES)
def test_the_damaged_name_of_a_kernel_loses_that_kernel_at_most(name: str, tmp_path: Path) -> None:
    text = lines(ordinary()).replace('"k3"', f'"{name}"')
    summary = fastrnns_rs.read(write(tmp_path / "x.json", text))
    assert {f"k{at}" for at in (0, 1, 2, 4, 5)} <= kernels(summary).keys()
    if sum(kernels(summary).values()) < 6:
        assert summary.captures[0].events_skipped >= 1
        assert codes(summary) & DAMAGE


@pytest.mark.parametrize("layout", ["lines", "compact"])
def test_no_kernel_between_two_stray_quotes_is_lost_without_a_word(layout: str, tmp_path: Path) -> None:
    """Two quotes too many make a pair again: all that is between them could pass for one long text."""
    events = [operator("a~b", 1, 1), kernel("k", 5, 3), operator("a~b", 9, 1), kernel("last", 20, 1)]
    text = lines(events) if layout == "lines" else json.dumps(document(events), separators=(",", ":"))
    summary = fastrnns_rs.read(write(tmp_path / "x.json", text.replace("~", '"')))
    assert "last" in kernels(summary)
    assert "k" in kernels(summary) or codes(summary) & DAMAGE


@pytest.mark.parametrize("raw", [b"\xff", b"\xc3", b"\xed\xa0\x80", b"\xf5\x80\x80\x80", b"\x80\x80"])
def test_names_that_are_no_text_are_shown_as_far_as_they_are(raw: bytes, tmp_path: Path) -> None:
    text = lines(ordinary()).encode().replace(b'"k3"', b'"k' + raw + b'3"')
    path = write(tmp_path / "x.json", text)
    summary = fastrnns_rs.read(path)
    assert sum(kernels(summary).values()) == 6
    [damaged] = [name for name in kernels(summary) if "\ufffd" in name]
    assert damaged.strip("\ufffd").startswith("k")
    assert "names_damaged" in codes(summary)
    assert_tells(run_cli("report", path, "--json"), 0)
    assert_tells(run_cli("report", path, "--strict"), 1)


@pytest.mark.parametrize("behind", [False, True])
def test_names_of_gpus_that_cannot_be_read_are_told(behind: bool, tmp_path: Path) -> None:
    """Nothing else is lost, on either side of the events."""
    whole = document(ordinary())
    members = sorted(whole.items(), key=lambda member: (member[0] == "deviceProperties") == behind)
    text = json.dumps(dict(members))
    path = write(tmp_path / "x.json", text.replace('"GPU one"}]', '"GPU one"},]'))
    summary = fastrnns_rs.read(path)
    assert sum(kernels(summary).values()) == 6
    assert [row.name for row in summary.document.devices] == [None]
    [warning] = [one for one in summary.warnings if one.code in DAMAGE]
    assert (warning.code, warning.evidence) == ("names_damaged", f"{path}: deviceProperties cannot be read")
    assert_tells(run_cli("report", path, "--strict"), 1)
    assert fastrnns_rs.read(write(path, text)).document.devices[0].name == "GPU zero"


@pytest.mark.parametrize(
    ("devices", "is_damaged"),
    [("x", True), ({}, True), ([{"id": "0", "name": "GPU"}], True), ([], False), (None, False)],
)
def test_names_of_gpus_of_another_form_are_told(devices: Any, is_damaged: bool, tmp_path: Path) -> None:
    """`compare` cannot see that GPUs without names differ."""
    path = write(tmp_path / "x.json", json.dumps(document(ordinary()) | {"deviceProperties": devices}))
    assert ("names_damaged" in codes(fastrnns_rs.read(path))) is is_damaged


LATE = "9223372036854775.807"
SENSELESS = {
    "ts": ["99999999999999999999", "1e300", "-9223372036854775809", LATE, "null", '"soon"', "[1]", "NaN"],
    "dur": ["-1", "-0.001", LATE, "Infinity", "true"],
    "name": ["7", "null", '{"a": 1}'],
}


@pytest.mark.parametrize(("key", "value"), [(key, value) for key, values in SENSELESS.items() for value in values])
def test_a_kernel_without_sense_is_counted_as_such(key: str, value: str, tmp_path: Path) -> None:
    event = {**kernel("bad", 35, 1), key: "~"}
    text = lines([*ordinary(), event]).replace('"~"', value)
    path = write(tmp_path / "x.json", text)
    summary = fastrnns_rs.read(path)
    assert kernels(summary) == {f"k{at}": 1 for at in range(6)}
    [source] = summary.captures
    assert (source.events_read, source.events_skipped) == (13, 1)
    assert codes(summary) == {"events_skipped"}
    [skipped] = source.skipped
    assert skipped.count == 1
    assert text[skipped.first_offset_bytes :].startswith('{"ph": "X", "cat": "kernel"')


@pytest.mark.parametrize("value", ["18446744073709551616", "-99999999999999999999", "1e999", '"x"', "[]", "{}", "null"])
def test_arguments_out_of_range_harm_nothing(value: str, tmp_path: Path) -> None:
    """Such as the communicator's number of NCCL, which is no int64."""
    strange = dict.fromkeys(
        ("Comms Id", "device", "stream", "correlation", "grid", "block", "registers per thread", "shared memory"), "~"
    )
    text = lines([*ordinary(), kernel("odd", 35, 1, **strange)]).replace('"~"', value)
    summary = fastrnns_rs.read(write(tmp_path / "x.json", text))
    assert sum(kernels(summary).values()) == 7
    assert codes(summary) == set()
    [odd] = [row for row in summary.kernels if row.name == "odd"]
    assert (odd.grid, odd.registers_per_thread, odd.shared_memory_bytes) == (None, None, None)


@pytest.mark.parametrize("word", ["nan", "inf", "-nan", "N/A", "hello there", "1.2.3"])
def test_words_that_are_not_json_lose_nothing_else(word: str, tmp_path: Path) -> None:
    """In the metadata, as `add_metadata_json` writes them; in arguments, as C++ and Kineto write numbers."""
    before = json.dumps(document([kernel("k1", 0, 3), kernel("k2", 10, 3, occupancy=0.5)]))
    path = write(tmp_path / "x.json", before.replace("{", f'{{"note": {word}, ', 1).encode())
    assert kernels(fastrnns_rs.read(path)) == {"k1": 1, "k2": 1}
    path = write(tmp_path / "x.json", before.replace("0.5", word).encode())
    assert kernels(fastrnns_rs.read(path)) == ({"k1": 1} if " " in word else {"k1": 1, "k2": 1})


def test_space_after_damage_is_not_kept(tmp_path: Path) -> None:
    """Text that never ends an event is passed over; the next event that follows another at a distance is found."""
    far = b'{"traceEvents": [{"ph": "X", "cat": "kernel", bad}' + b" " * 9_000_000 + b","
    rest = json.dumps([kernel("k1", 0, 3), kernel("k2", 10, 3)]).encode()[1:]
    summary = fastrnns_rs.read(write(tmp_path / "x.json", far + rest + b"}"))
    assert kernels(summary) == {"k2": 1}
    assert "events_skipped" in codes(summary)


def test_damaged_operators_of_a_cpu_are_counted(tmp_path: Path) -> None:
    """A second walk reads them, and its counts were left out."""
    damaged = [operator(start=10, duration=-5), {**operator(), "ph": "B"}, operator()]
    del damaged[2]["dur"]
    path = write(tmp_path / "x.json", json.dumps(document([operator(), *damaged])).encode())
    summary = fastrnns_rs.read(path)
    (capture,) = summary.captures
    assert (capture.events_read, capture.events_skipped) == (1, 3)
    assert [(one.reason, one.count) for one in capture.skipped] == [("an operator has no valid times", 3)]
    assert_tells(run_cli("report", "--strict", str(path)), 1)


@pytest.mark.parametrize("arguments", ['{"x": [1, 2}', '{"x": undefined}', '{"x": 1 2}'])
@pytest.mark.parametrize("piped", [False, True], ids=["file", "pipe"])
def test_operators_that_are_not_json_are_counted(piped: bool, arguments: str, tmp_path: Path) -> None:
    """Their damage stands behind all that other traces need of them."""
    names = ["aten::a", "aten::b", "aten::c"]
    text = json.dumps(document([operator(name, 10 * at, here=at) for at, name in enumerate(names)]))
    damaged = text.replace(json.dumps(operator(here=1)["args"]), arguments)
    path = write(tmp_path / "x.json", damaged)
    if piped:
        pipe = tmp_path / "pipe"
        os.mkfifo(pipe)
        writer = threading.Thread(target=pipe.write_text, args=(damaged,))
        writer.start()
        summary = fastrnns_rs.read(pipe)
        writer.join()
    else:
        summary = fastrnns_rs.read(path)
        assert_tells(run_cli("report", "--strict", str(path)), 1)
    assert {row.name for row in summary.cpu_operators} == {"aten::a", "aten::c"}
    assert (summary.captures[0].events_read, summary.captures[0].events_skipped) == (2, 1)


def test_damaged_names_of_operators_are_told(tmp_path: Path) -> None:
    """Names that differ only there are one row, as of kernels."""
    text = json.dumps(document([operator("a?m"), operator("a!m", 10)])).encode()
    path = write(tmp_path / "x.json", text.replace(b"?", b"\xff").replace(b"!", b"\xfe"))
    (warning,) = fastrnns_rs.read(path).warnings
    assert (warning.code, warning.evidence) == ("names_damaged", f"{path}: 1 name with invalid UTF-8")


def test_a_rank_that_cannot_be_read_is_told(tmp_path: Path) -> None:
    """Two ranks of one host would share a clock."""
    text = json.dumps(document([kernel()])).replace("{", '{"distributedInfo": {"rank": 1, "x": "\\q"}, ', 1)
    (warning,) = fastrnns_rs.read(write(tmp_path / "x.json", text.encode())).warnings
    assert (warning.code, warning.message) == ("names_damaged", "the rank of a trace is missing")


@pytest.mark.parametrize("depth", [100, 1_000, 1_000_000])
@pytest.mark.parametrize("brackets", ["[]", "{}"])
@pytest.mark.parametrize("place", ["arguments", "event", "metadata"])
def test_nesting_takes_no_stack(depth: int, brackets: str, place: str, tmp_path: Path) -> None:
    opening = '{"a":' if brackets == "{}" else "["
    nested = opening * depth + "1" + brackets[1] * depth
    text = lines([*ordinary(2), {**kernel("deep", 35, 1, x="~"), "y": "~"}])
    if place == "metadata":
        text = text.replace('"schemaVersion": 1', f'"schemaVersion": 1, "x": {nested}')
    text = text.replace('"x": "~"' if place == "arguments" else '"y": "~"', f'"x": {nested}')
    summary = fastrnns_rs.read(write(tmp_path / "x.json", text))
    assert {"k0", "k1"} <= kernels(summary).keys()
    assert "deep" in kernels(summary) or codes(summary) & DAMAGE


@pytest.mark.parametrize("name", ["x.json", "x.json.gz"])
def test_a_damaged_trace_is_told_of_and_strict_refuses_it(name: str, tmp_path: Path) -> None:
    content = lines(by_dice(4, 3000)).encode()
    packed = gzip.compress(content)
    path = tmp_path / name
    path.write_bytes(packed[: len(packed) // 2] if name.endswith("gz") else content[: len(content) // 2])
    done = run_cli("report", path)
    assert_tells(done, 0)
    assert "\nwarning[" in done.stdout
    assert "\nwarning[capture_incomplete]:" in done.stdout
    for words in (["--json"], ["--format", "csv"]):
        done = run_cli("report", path, *words)
        assert_tells(done, 0)
        assert done.stderr.startswith("warning[")
    done = run_cli("report", path, "--strict")
    assert_tells(done, 1)
    assert "--strict" in done.stderr.splitlines()[1]
    whole = write(tmp_path / "whole.json", content)
    assert run_cli("report", whole, "--strict").status == 0
    with pytest.raises(FastrnnsError, match="events after byte [0-9]+ are missing") as refused:
        fastrnns_rs.read(whole, path, strict=True)
    assert refused.value.message.startswith(f"damaged capture: {str(path)!r}: events after byte ")


DAMAGED = {
    "rank1.json.gz": b"\x1f\x8b\x08" + bytes(range(200)),
    "rank2.json.gz": b"",
    "rank3.json": b'{"traceEvents": 5}',
    "rank4.sqlite": b"garbage",
    "rank5.sqlite": b"\x81\x02\x9c" * 700,
    "rank6.nsys-rep": b"NVIDIA Tegra Profiler Report 2022@4@2" + bytes(100),
}


@pytest.mark.parametrize("name", DAMAGED)
def test_strict_refuses_a_folder_with_a_damaged_capture(name: str, tmp_path: Path) -> None:
    write(tmp_path / "rank0.json", [kernel("k", 5, 2)])
    for other, content in {"notes.txt": b"hello", "a.png": b"\x89PNG\r\n", "settings.json": b'{"a": 1}'}.items():
        (tmp_path / other).write_bytes(content)
    assert run_cli("report", tmp_path, "--strict").status == 0
    (tmp_path / name).write_bytes(DAMAGED[name])
    assert run_cli("report", tmp_path, PATH="/nonexistent").status == 0
    done = run_cli("report", tmp_path, "--strict", PATH="/nonexistent")
    assert_tells(done, 1)
    assert done.stderr.splitlines()[-2].startswith(f"error: cannot read capture: '{tmp_path / name}'")
    assert "--strict" in done.stderr.splitlines()[-1]


def cut_export(path: Path) -> Path:
    """An export of 400 kernels without the last pages of its file."""
    export = Export(path)
    export.text(9000, "a_kernel")
    for number in range(400):
        export.kernel(10 * number, 10 * number + 3, thread(77, 5), number, name=9000)
    path.write_bytes(export.written().read_bytes()[: -3 * 4096])
    return path


def test_strict_refuses_an_export_that_is_cut(tmp_path: Path) -> None:
    path = cut_export(tmp_path / "cut.sqlite")
    assert "file_cut_short" in codes(fastrnns_rs.read(path))
    assert_tells(run_cli("report", path, "--strict"), 1)
    # Also where no table ends in what is missing.
    whole = Export(tmp_path / "whole.sqlite").written()
    with whole.open("ab") as file:
        file.truncate(whole.stat().st_size - 1)
    assert codes(fastrnns_rs.read(whole)) == {"file_cut_short"}
    with pytest.raises(FastrnnsError, match="data after the end of the file are missing: [0-9]+ of ") as refused:
        fastrnns_rs.read(whole, strict=True)
    assert refused.value.message.startswith(f"damaged capture: {str(whole)!r}: ")


def lost(summary: Summary) -> str:
    [warning] = [one for one in summary.warnings if one.code == "events_skipped"]
    return warning.message


def test_a_rest_that_nobody_can_count_is_a_lower_bound(tmp_path: Path) -> None:
    summary = fastrnns_rs.read(cut_export(tmp_path / "cut.sqlite"))
    read = sum(kernels(summary).values())
    assert 0 < read < 400
    assert lost(summary) == f"all figures lack at least 1 event beyond the {read} that were read"
    wide = run_cli("report", tmp_path / "cut.sqlite", "--wide").stdout.splitlines()
    assert f"{read}       ≥ 1  nsys-sqlite" in wide[wide.index("Captures") + 2]
    text = lines(ordinary())
    inside = fastrnns_rs.read(write(tmp_path / "x.json", text[: text.index('"k5"')]))
    assert lost(inside) == "all figures lack at least 1 event beyond the 11 that were read"
    # Events that are there are counted one by one.
    damaged = fastrnns_rs.read(write(tmp_path / "x.json", text.replace('"dur": 3', '"dur": "x"', 1)))
    assert lost(damaged) == "all figures lack 1 of 13 events"


TABLE = """==7== Profiling result:
"Start","Duration","Device","Stream","Name","Correlation_ID"
ns,ns,,,,
"""
ROW = '{},3,"A (0)","7","a_kernel",1\n'


@pytest.mark.parametrize("name", ["x.csv", "x.csv.gz"])
def test_a_table_that_ends_inside_a_row_is_incomplete(name: str, tmp_path: Path) -> None:
    text = TABLE + "".join(ROW.format(10 * at) for at in range(3000))
    path = tmp_path / name
    if name.endswith("gz"):
        packed = gzip.compress(text.encode())
        path.write_bytes(packed[: len(packed) // 2])
    else:
        path.write_text(text[: len(text) * 2 // 3])
    summary = fastrnns_rs.read(path)
    assert codes(summary) == {"capture_incomplete", "events_skipped"}
    assert "at least 1 event" in lost(summary)
    assert_tells(run_cli("report", path, "--strict"), 1)
    # The end of a line is no part of its row.
    path.write_text(text.removesuffix("\n"))
    assert sum(kernels(fastrnns_rs.read(path, strict=True)).values()) == 3000
