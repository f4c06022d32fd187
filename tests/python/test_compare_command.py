"""The command `compare`: its words, its document, and what it says of files that are none."""

from __future__ import annotations

import json
import random
import re
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from captured_sides import GEMM, capture
from conftest import ROOT, Done, run_cli
from run_files import FORMATS, both, exactly, failed, result, run, write

from fastrnns_rs import FastrnnsError, compare
from fastrnns_rs.documents.codec import to_plain
from fastrnns_rs.documents.comparison import Comparison
from fastrnns_rs.verbs.history.run_history import RunHistory

SCHEMA = json.loads((ROOT / "docs" / "schemas" / "comparison.schema.json").read_text())


@pytest.fixture
def call(anywhere: Path) -> Any:
    """Runs the command in an empty folder."""

    def called(*words: str | Path) -> Done:
        done = run_cli(*words)
        assert "Traceback" not in done.stderr
        return done

    return called


@pytest.fixture
def files(tmp_path: Path) -> list[str]:
    first = run([result(), result("jit"), failed("aten"), result("lone")])
    second = run([result(seed=1, level_ns=1.1e6), result("jit", seed=1), result("aten", processes=2)])
    return [write(tmp_path / "before.json", first), write(tmp_path / "after.json", second)]


def validated(text: str) -> Any:
    plain = json.loads(text)
    jsonschema.Draft202012Validator.check_schema(SCHEMA)
    jsonschema.Draft202012Validator(SCHEMA).validate(plain)
    assert to_plain(Comparison.from_dict(plain)) == plain
    assert not {"NaN", "Infinity"}.intersection(text.replace('"', " ").replace(",", " ").split())
    return plain


def test_the_document_is_what_its_schema_says(call: Any, files: list[str]) -> None:
    done = call("compare", *files, "--json")
    assert done.status == 0
    plain = validated(done.stdout)
    assert [*plain] == SCHEMA["$defs"]["Comparison"]["required"]
    for key, file in zip(("baseline", "candidate"), files, strict=True):
        environment = plain[key].pop("environment")
        assert {"cpu_model", "torch_version", "num_threads", "tool.version"} <= environment.keys()
        assert {name: value for name, value in plain[key].items() if value is not None} == {
            "label": file,
            "files": [file],
            "created_utc": "2026-01-01T00:00:00Z",
            "sessions": 1,
            "warnings": [],
            "idle_times": [],
        }
    assert {row["verdict"] for row in plain["rows"]} >= {"slower", None}
    assert plain["counts"]["none"] == 4
    assert sum(plain["counts"].values()) == len(plain["rows"]) == 8
    assert plain["method"] == {
        "name": "welch_log_process_medians",
        "confidence_level": 0.95,
        "margin": 0.01,
        "margin_source": "default",
        "false_discovery_rate": 0.05,
        "forced": False,
        "statistic": "median",
    }
    assert done.stderr.startswith("warning[runner_failed]: ")
    assert "aten: failed: out of memory" in " ".join(done.stderr.split())


def test_a_wrong_type_or_key_is_refused_by_schema_and_reader(call: Any, files: list[str]) -> None:
    plain = json.loads(call("compare", *files, "--json").stdout)
    for change in ({"no": 1}, {"exit_code": "0"}, {"counts": None}, {"rows": [{}]}, {"kind": "other"}):
        broken = {**plain, **change}
        assert not jsonschema.Draft202012Validator(SCHEMA).is_valid(broken)
        with pytest.raises(ValueError, match="key|is "):
            Comparison.from_dict(broken)


@pytest.mark.parametrize("name", FORMATS)
def test_formats(name: str, call: Any, files: list[str], tmp_path: Path) -> None:
    done = call("compare", *files, "--format", name)
    assert done.status == 0
    assert "cudnn" in done.stdout
    output = tmp_path / "out"
    written = call("compare", *files, "--format", name, "--output", output)
    assert (written.stdout, output.read_text()) == ("", done.stdout)
    refused = call("compare", *files, "--format", name, "--json")
    assert (refused.status, refused.stdout) == (2, "")
    assert "--format and --json" in refused.stderr


def test_a_corrected_command_keeps_the_sides(call: Any, files: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    """The other way round, a regression would pass."""
    words = ["compare", files[0], "--fail-on", "regression", files[1]]
    monkeypatch.setattr("sys.argv", ["fastrnns-rs", *words])
    done = call(*words)
    assert done.status == 2
    assert f"hint: Run: fastrnns-rs compare {files[0]} {files[1]} --fail-on regression\n" in done.stderr


def test_a_configured_list_with_a_file_is_an_error_of_one_line(
    call: Any, files: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("FASTRNNS_COMPARE_FAIL_ON", files[0])
    monkeypatch.setattr("sys.argv", ["fastrnns-rs", "compare", *files])
    done = call("compare", *files)
    assert done.status == 2
    assert "a fault of fastrnns-rs" not in done.stderr


def test_exit_codes(call: Any, files: list[str], tmp_path: Path) -> None:
    assert call("compare", *files, "--fail-on", "regression").status == 3
    assert call("compare", *files, "--fail-on", "inconclusive").status == 4
    assert call("compare", *files, "--fail-on=regression,inconclusive").status == 3
    assert call("compare", *reversed(files), "--fail-on", "inconclusive").status == 1
    for words, message in (
        (["--fail-on"], "missing value: --fail-on"),
        (["--fail-on", "regresion"], "invalid value: 'regresion' (--fail-on)\nhint: Run: fastrnns-rs compare "),
        (["--fail-on", "x" * 5000], "error: invalid value: 'xxx"),
        (["--fail-on", "regression", files[0]], f"file after a list: {files[0]!r} (--fail-on)"),
        (["--margin", "1"], "out of range: '1' (--margin)"),
        (["--margin", "much"], "invalid margin: 'much' (--margin)\nhint: Use a number from 0 "),
        (["--output", str(tmp_path)], "is a folder"),
        (["--explain", "cudn"], "unknown row: 'cudn' (--explain)\nhint: Run: fastrnns-rs compare "),
        ([files[0]], f"unexpected argument: {files[0]!r} (compare)"),
        (["--baseline", files[0]], "exclude --baseline and --candidate"),
    ):
        done = call("compare", *files, *words)
        assert (done.status, done.stdout) == (2, "")
        assert message in done.stderr


def test_the_help_has_every_exit_code(call: Any) -> None:
    said = call("compare", "--help").stdout
    codes = said[said.index("Exit codes:") :]
    assert re.findall(r"\b\d+\b", codes) == ["0", "1", "2", "3", "4", "5"]


def test_sides_of_several_files(call: Any, tmp_path: Path) -> None:
    names = ["one, two.json", "three four.json", "five.json"]
    paths = [write(tmp_path / name, run([result(seed=index)])) for index, name in enumerate(names)]
    done = call("compare", "--baseline", *paths[:2], "--candidate", paths[2], "--json")
    plain = validated(done.stdout)
    assert plain["baseline"]["files"] == paths[:2]
    assert plain["rows"][0]["baseline"]["n_processes"] == 20
    # A flag may be repeated.
    again = call("compare", "--baseline", paths[0], "--baseline", paths[1], "--candidate", paths[2], "--json")
    assert json.loads(again.stdout) == plain
    assert call("compare", "--baseline", paths[0]).stderr.startswith("error: missing argument: CANDIDATE")
    assert call("compare").stderr.startswith("error: missing argument: BASELINE and CANDIDATE")
    assert call("compare", paths[0], "").status == 2


def test_a_file_of_ab_is_compared_by_itself(call: Any, tmp_path: Path) -> None:
    path = write(tmp_path / "ab.json", both(result(), result("jit", level_ns=1.1e6)))
    plain = validated(call("compare", path, "--json").stdout)
    assert [(row["runner"], row["verdict"]) for row in plain["rows"]] == [("cudnn / jit", "slower")] * 2


def test_refused_and_forced(call: Any, tmp_path: Path) -> None:
    sides = ((result(), result("jit")), (result(timing_mode="cuda_events"), result("jit", timing_mode="x")))
    paths = [write(tmp_path / f"{place}.json", run(rows)) for place, rows in enumerate(sides)]
    done = call("compare", *paths)
    assert (done.status, done.stdout, "(cudnn/forward, 3 more rows)\nhint: " in done.stderr) == (2, "", True)
    plain = validated(call("compare", *paths, "--force", "--json").stdout)
    assert plain["rows"][0]["label"] == "forced: timing mode cpu_wall and cuda_events"


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "is an empty file ("),
        (
            b'{"schema": "fastrnns-rs/run", "sch',
            "the file is not JSON: Unterminated string starting at: line 1 column 31 (char 30)",
        ),
        (b"\x80\x81", "the file is not UTF-8 text"),
        (b'{"schema": "fastrnns-rs/run", "\xe9"', "the file is not UTF-8 text"),
        (b'{"schema": "fastrnns-rs/\x7f", "results": [], "command": []}', r"unknown schema: 'fastrnns-rs/\x7f'"),
        (b"[" * 100_000, "the file is not JSON: the JSON is nested too deeply"),
        (b"[NaN]", "the file is not JSON: NaN is not a number in JSON"),
        (b"[1e999]", "the file is not JSON: 1e999 is not a number in JSON"),
        (
            b"[" + b"9" * 5000 + b"]",
            "the file is not JSON: Exceeds the limit",
        ),
        (b"[]", "unknown format"),
        (b'{"schema": 3}', "unknown format"),
        (b'{"schema": "fastrnns-rs/run"}', "missing key: schema_version"),
        (
            b'{"schema": "fastrnns-rs/run", "schema_version": "7.0"}',
            "schema_version is 7.0, and ",
        ),
        (b'{"schema": "fastrnns-rs/comparison"}', "is a comparison ("),
    ],
)
@pytest.mark.parametrize("place", [0, 1])
def test_files_that_are_none_are_told_in_one_line(
    content: bytes, message: str, place: int, call: Any, tmp_path: Path
) -> None:
    path = tmp_path / "bad.json"
    path.write_bytes(content)
    sides = [write(tmp_path / "good.json", run([result()]))] * 2
    sides[place] = str(path)
    done = call("compare", *sides)
    assert (done.status, done.stdout) == (2, "")
    error, hint = done.stderr.splitlines()
    assert repr(str(path)) in error
    assert ("BASELINE", "CANDIDATE")[place] in error
    assert message in error
    assert hint.startswith("hint: ")


def test_places_that_are_no_files(call: Any, tmp_path: Path) -> None:
    good = write(tmp_path / "good.json", run([result()]))
    done = call("compare", good, tmp_path / "nothing.json")
    assert (done.status, done.stderr.splitlines()[0]) == (
        2,
        f"error: file not found: '{tmp_path}/nothing.json' (CANDIDATE)",
    )
    done = call("compare", good, tmp_path)
    assert (done.status, f"cannot read file: '{tmp_path}' (CANDIDATE)" in done.stderr) == (2, True)


def test_long_paths_are_named_by_their_files(call: Any, tmp_path: Path) -> None:
    folder = tmp_path / ("a_long_folder" * 4)
    folder.mkdir()
    first = write(folder / "a_before.json", run([result()]))
    second = write(folder / "b_after.json", run([result(seed=1)]))
    lines = call("compare", first, second).stdout.splitlines()
    assert [line.split()[1] for line in lines[:2]] == ["a_before.json", "b_after.json"]


def test_hostile_names_move_no_cursor(call: Any, tmp_path: Path) -> None:
    name = "\x1b[2J\r\n| a |<b>\u202e\x00"
    path = write(tmp_path / "x.json", run([exactly([1000, 1001, 1002], name)]))
    other = write(tmp_path / "y.json", run([exactly([2000, 2001, 2002], name)]))
    done = call("compare", path, other, "--explain", name)
    assert done.status == 0
    assert done.stdout.startswith("\\x1b[2J\\r\\n| a |<b>\\u{202e}\\x00/forward: slower by ")
    plain = validated(call("compare", path, other, "--json").stdout)
    assert plain["rows"][0]["runner"] == name
    done = call("compare", path, write(tmp_path / "z.json", run([result("other")])))
    assert done.status == 2
    assert "\x1b" not in done.stderr


NUMBERS = [True, -1, 0, 1e308, 5e-324, 10**400, 2**63]
HOSTILE = [None, *NUMBERS, "", "\x00\x1b[2J", "\ud800", "nan", [], {}, [[]], {"": None}]


def spoilt(plain: Any, generator: random.Random) -> Any:
    """The document with something else, or nothing, in one place."""
    inner, path = plain, []
    while isinstance(inner, dict | list) and inner and (not path or generator.random() < 0.8):
        path.append((inner, generator.choice([*inner] if isinstance(inner, dict) else range(len(inner)))))
        inner = inner[path[-1][1]]
    parent, key = path[-1]
    if generator.random() < 0.2:
        del parent[key]
    else:
        parent[key] = generator.choice(HOSTILE)
    return plain


def test_whatever_a_file_holds_the_comparison_is_of_its_schema(tmp_path: Path) -> None:
    """Or is refused. `hostile/test_mutated_documents.py` has more files; checks of the schema take long."""
    generator = random.Random(0)
    good = run([result(processes=3, count=4), result("jit", processes=3, count=4)])
    path = tmp_path / "x.json"
    compared, refused = 0, []
    for _ in range(50):
        path.write_text(json.dumps(spoilt(good.to_dict(), generator)))
        try:
            validated(json.dumps(compare(path, good).to_dict(), allow_nan=False))
            compared += 1
        except FastrnnsError as error:
            refused.append(error.message)
    assert compared > 5
    assert len(refused) > 15
    assert all(str(path) in one or "in common" in one or one.startswith(("cudnn", "jit")) for one in refused), refused


def test_commands_of_the_page_run(call: Any, anywhere: Path, history: RunHistory) -> None:
    page = (ROOT / "docs" / "how-to" / "comparing.md").read_text()
    blocks = re.findall(r"^```(\w+)\n(.*?)^```", page, flags=re.DOTALL | re.MULTILINE)
    lines = [line for kind, block in blocks if kind == "sh" for line in block.splitlines()]
    for index, name in enumerate(["before", "after", "before-1", "before-2", "after-1"]):
        write(anywhere / f"{name}.json", run([result(seed=index, level_ns=1e6 * (1 + (name == "after")))]))
    for number, side in enumerate(("before", "after")):
        history.keep(run([result(seed=number)], created_utc=f"2026-01-01T00:00:0{number}Z"))
        history.tag(history.document().runs[-1:], side)
        (anywhere / side).mkdir()
        for seed, name in enumerate(f"{side}/{number}" for number in range(3)):
            slower = {GEMM: 1.5} if side == "after" else {}
            # What a file is, its content tells.
            capture(anywhere / f"{name}.sqlite", seed=seed + 10 * len(slower), slower=slower)
    commands = [line for line in lines if re.match("fastrnns-rs (compare|show)", line)]
    assert len(commands) >= 11
    for command in commands:
        words = [name for word in command.split()[1:] for name in sorted(map(str, anywhere.glob(word))) or [word]]
        assert call(*words).status == (3 if "--fail-on" in words else 0), command
    for code in [block for kind, block in blocks if kind == "python"]:
        exec(compile(code, "page", "exec"), {})


def test_defaults_may_stand_in_the_configuration(call: Any, files: list[str], anywhere: Path) -> None:
    (anywhere / "pyproject.toml").write_text('[tool.fastrnns-rs.compare]\nmargin = "3%"\nfail-on = ["regression"]\n')
    done = call("compare", *files, "--json")
    assert done.status == 3
    assert json.loads(done.stdout)["method"]["margin"] == 0.03
    (anywhere / "pyproject.toml").write_text('[tool.fastrnns-rs.compare]\nexplain = "cudnn"\n')
    assert "'explain' (pyproject.toml" in call("compare", *files).stderr


def test_configured_sides_start_at_the_folder_of_the_file(
    files: list[str], anywhere: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    table = '[tool.fastrnns-rs.compare]\nbaseline = ["before.json"]\ncandidate = "@last"\n'
    (anywhere / "pyproject.toml").write_text(table)
    write(anywhere / "before.json", run([result()]))
    below = anywhere / "sub"
    below.mkdir()
    monkeypatch.chdir(below)
    done = run_cli("compare", "--candidate", files[1], "--json")
    assert json.loads(done.stdout)["baseline"]["files"] == [str(anywhere / "before.json")]
    assert "run not found: '@last'" in run_cli("compare").stderr
    # Named files win.
    named = run_cli("compare", *files, "--json")
    assert json.loads(named.stdout)["baseline"]["files"] == files[:1]
