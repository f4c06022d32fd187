"""What `profile --redact` leaves: no variable, no folder and no name of the user, in any file."""

from __future__ import annotations

import dataclasses
import gzip
import hashlib
import json
import os
import re
import sqlite3
import subprocess
import sys
from pathlib import Path

import jsonschema
import pytest
from conftest import FACTS, ROOT
from fake_tools import nsys_database
from real_nsys import check_captured, nsys_is_here, tried

from fastrnns_rs._core import Profiler
from fastrnns_rs.documents.capture_manifest import Capture
from fastrnns_rs.documents.codec import RunWarning
from fastrnns_rs.runners.plan import Options
from fastrnns_rs.runners.profile_request import choice
from fastrnns_rs.verbs.profile import capture_checks, capture_plan, capture_storage, redaction
from fastrnns_rs.verbs.profile.attempt import Attempt, Entry

#: What every name that is planted below holds, and nothing else.
MARK = b"zqv"
MINE = """
import os
from fastrnns_rs import ModelDef, runner

@runner("mine")
def mine(problem):
    import torch, warnings
    weight = torch.ones(3, requires_grad=True)
    def speak():
        warnings.warn(f"from {__file__} by {os.environ['USER']}: {os.environ['THE_TOKEN']}")
        print(os.environ["THE_TOKEN"])
        # Kineto drops line feeds, and changes quotes and backslashes.
        for name in (os.environ["THE_LINES"], *os.environ["THE_LINES"].splitlines()):
            with torch.profiler.record_function("call " + name):
                pass
    # From a file in the home folder, whose name stands in stacks.
    known = {"speak": speak}
    forward = "def forward(weight):\\n    speak()\\n    return weight * 2"
    exec(compile(forward, os.path.expanduser("~/of_many_folders/in_a_place_that_is_so_deep/x.py"), "exec"), known)
    return ModelDef(inputs=[weight], params=[weight], forward=known["forward"],
                    backward_setup=lambda y: (y.sum(),), backward=lambda total: total.backward())
"""
TOOLS = [
    pytest.param(["--torch", "--with-stack", "--group-by-stack", "20"], id="torch"),
    pytest.param(["--nsys"], id="nsys", marks=[nsys_is_here, pytest.mark.long("profilers")]),
]


def leaks(folder: Path) -> dict[str, list[bytes]]:
    """Where a planted name is left, with what stands around it; in what is compressed too, and as UTF-16."""
    found = {}
    for path in folder.rglob("*"):
        if path.is_file():
            content = path.read_bytes()
            content = (gzip.decompress(content) if path.suffix == ".gz" else content).lower()
            # Looking ahead: two may stand so close that one is in what is shown of the other.
            pattern = b"(?=(" + MARK + b".{0,20}|z\0q\0v))"
            found[path.name] = [*dict.fromkeys(re.findall(pattern, content, re.DOTALL))]
    return {name: places for name, places in found.items() if places}


def profiled(tmp_path: Path, *arguments: str) -> tuple[Path, str]:
    """The folder of a capture that was made in a home folder full of names, and the document on stdout."""
    return tried(lambda place: profiled_in(place, *arguments), tmp_path)


def profiled_in(tmp_path: Path, *arguments: str) -> tuple[Path, str]:
    work = tmp_path / "zqvhome" / "it's zqvwork"
    (temporary := tmp_path / "zqvtmp").mkdir()
    work.mkdir(parents=True)
    (work / "mine.py").write_text(MINE)
    variables = {"HOME": work.parent, "PWD": work, "TMPDIR": temporary, "A_FOLDER": tmp_path / "zqvother"}
    names = {"USER": "zqvu", "LOGNAME": "zqvu", "THE_TOKEN": "zqv-12345 hush", "PYTHONPATH": "/zqv/a:/zqv/b"}
    names["THE_LINES"] = '{"zqv": "first"}\n second\\ zqv'
    quick = ["--quick", "--no-unprofiled", "--nloops", "5", "--warmup", "0", "--sleep-between-seconds", "0", "--json"]
    asked = ["--rnns", "mine", "cudnn", "--runner-file", "mine.py", "--output-dir", "out", *quick, *arguments]
    command = [sys.executable, "-m", "fastrnns_rs", "profile", *asked]
    # Where that is not permitted the machine keeps its name.
    rename = 'unshare --uts true && exec unshare --uts sh -c \'hostname zqvhost; exec "$@"\' sh "$@"; exec "$@"'
    done = subprocess.run(
        ["sh", "-c", rename, "sh", *command],
        env={**os.environ, **{name: str(value) for name, value in variables.items()}, **names},
        cwd=work,
        capture_output=True,
        text=True,
        timeout=200,
        check=False,
    )
    check_captured(done, work / "out")
    return work / "out", done.stdout


@pytest.mark.parametrize("tool", TOOLS)
def test_a_redacted_capture_names_nobody(tool: list[str], tmp_path: Path) -> None:
    out, printed = profiled(tmp_path, *tool, "--redact")
    assert not leaks(out)
    assert MARK not in printed.encode()
    document = json.loads(printed)
    schema = json.loads((ROOT / "docs" / "schemas" / "capture.schema.json").read_text())
    jsonschema.validate(document, schema, jsonschema.Draft202012Validator)
    assert all("/" not in one["path"] for one in document["artefacts"])
    # Wherever it is carried its files are found beside it.
    moved = out.rename(tmp_path / "elsewhere")
    path = next(one for one in moved.glob("*.json") if one.with_suffix(".log").exists())
    assert json.loads(path.read_text()) == document
    record = Capture.load(path)
    assert record.to_dict() == document
    assert record.artefacts
    for one in record.artefacts:
        assert Path(one.path).is_absolute()
        assert hashlib.sha256(Path(one.path).read_bytes()).hexdigest() == one.sha256
    assert "mine" in record.runners
    assert "mine/forward" in path.with_suffix(".log").read_text() or record.ok


@pytest.mark.long("profilers")
@pytest.mark.parametrize("tool", TOOLS)
def test_without_redaction_every_file_names_somebody(tool: list[str], tmp_path: Path) -> None:
    """What is tested above means something."""
    out, _ = profiled(tmp_path, *tool)
    # What a table shows of a path depends on how long that is.
    assert {*leaks(out)} >= {path.name for path in out.iterdir() if path.suffix != ".txt"}


@pytest.fixture
def somebody(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    home = tmp_path / "annika"
    (home / "out").mkdir(parents=True)
    (home / "desk").mkdir()
    monkeypatch.chdir(home / "desk")
    monkeypatch.setenv("HOME", str(home))
    monkeypatch.setattr("getpass.getuser", lambda: "annika")
    monkeypatch.setattr("pwd.getpwuid", {}.__getitem__)
    monkeypatch.setattr("platform.node", lambda: "box7.example.org")
    return home


def prose(text: str, home: Path, **variables: str) -> str:
    return redaction.redact_log(text, variables, home / "out")


def test_prose_keeps_what_a_path_is_good_for(somebody: Path) -> None:
    home = str(somebody)
    told = {
        f"--output={home}/out/prof_x": "--output=./prof_x",
        f"{home}/venv/bin/python {home}": "~/venv/bin/python ~",
        f"{home}/desk/x.py and {home}/desk.": "[redacted]/x.py and [redacted].",
        f"{home}-old {home}2": f"{home.replace('annika', '[redacted]')}-old {home}2",
        "/data/annika/x by Annika, annika and annikas": "/data/[redacted]/x by Annika, [redacted] and annikas",
        "box7: on box7.example.org, not box77": "[redacted]: on [redacted], not box77",
        "/usr/bin/nsys profile --trace=nvtx": "/usr/bin/nsys profile --trace=nvtx",
    }
    assert {text: prose(text, somebody) for text in told} == told


def test_variables_are_found_as_they_are_spelled(somebody: Path) -> None:
    value = 'it\'s "a"\n  \\ \xfc'
    spelled = [value, f"'{value}'".replace("it's", "it'\"'\"'s"), repr(value), " ".join(value.split()), f"X={value}"]
    for text in spelled:
        assert "it" not in prose(text, somebody, X=value), text
    # Not what stands anywhere, and whatever bytes it is of.
    assert prose("1 backward /usr/bin/x", somebody, A="1", B="ackward", PATH="/usr/bin:/usr/sbin") == (
        "1 backward /usr/bin/x"
    )
    assert prose("a\udcff secret\udcff12", somebody, X="secret\udcff12") == "a\udcff [redacted]"
    assert prose("\ud800 secret12", somebody, X="secret12") == "\\ud800 [redacted]"


ANYBODY = [("forward", None), ("backward", None), ("1", None), ("py", None), ("a", "/"), ("b", ""), ("c", "/root/")]


@pytest.mark.parametrize(("user", "home"), ANYBODY)
def test_ranges_stay_for_any_user(
    user: str, home: str | None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, somebody: Path
) -> None:
    monkeypatch.setattr("getpass.getuser", lambda: user)
    if home is not None:
        monkeypatch.setenv("HOME", home)
    expected = capture_checks.expected_ranges({"py": ["forward", "backward"]}, range(2))
    path = nsys_database(tmp_path / "x.sqlite", expected)
    redaction.redact(path, {"WORD": "backward", "NUMBER": "12345678", "HOME": home or ""})
    assert all(one.ok for one in capture_checks.nsys_sqlite(path, expected, cuda=False))


def test_a_trace_is_still_json(somebody: Path) -> None:
    path = somebody / "out" / "x.json"
    said = {
        "ts": 123456789,
        "dims": [1, 2, 3, 4],
        "name": f'{somebody}/"x.py(3): f',
        "as": "to\\ken \xfc 9",
        "b": [True],
    }
    path.write_text(json.dumps(said))
    values = {"A": "12345678", "B": "1, 2, 3, 4", "C": '"name": "', "D": "to\\ken \xfc 9", "E": "1.23e-05"}
    redaction.redact_text(path, values)
    assert json.loads(path.read_text()) == {**said, "name": '~/"x.py(3): f', "as": "[redacted]"}


LINES = 'line1secretAAAA\nline2 "secret\\BBBB"\r\n  short\n backward'


@pytest.mark.parametrize(
    "name",
    [
        LINES,
        LINES.replace("\n", ""),
        LINES.replace("\n", "").replace('"', "'"),
        LINES.replace("\n", "").replace('"', "'").replace("\\", "/"),
        "line1secretAAAA",
        "line2 'secret/BBBB'",
    ],
)
@pytest.mark.parametrize("ensure_ascii", [True, False])
def test_names_are_found_as_kineto_writes_them(name: str, *, ensure_ascii: bool, somebody: Path) -> None:
    path = somebody / "out" / "x.json"
    path.write_text(
        json.dumps({"name": f"call {name}!", "phase": "backward", "size": "short"}, ensure_ascii=ensure_ascii)
    )
    redaction.redact_text(path, {"LINES": LINES})
    assert json.loads(path.read_text()) == {"name": "call [redacted]!", "phase": "backward", "size": "short"}


def test_lines_of_a_variable_are_found_in_prose_and_exports(somebody: Path) -> None:
    assert prose("a line1secretAAAA b short", somebody, X=LINES) == "a [redacted] b short"
    path = nsys_database(somebody / "out" / "x.sqlite", capture_checks.expected_ranges({"py": ["forward"]}, range(1)))
    with sqlite3.connect(path) as database:
        database.execute("CREATE TABLE T (a TEXT)")
        database.executemany("INSERT INTO T VALUES (?)", [("line1secretAAAA",), ("short",)])
    redaction.redact(path, {"X": LINES})
    with sqlite3.connect(path) as database:
        assert database.execute("SELECT a FROM T").fetchall() == [("[redacted]",), ("short",)]


def test_paths_that_torch_cut_are_found(somebody: Path) -> None:
    """Its tables keep the end of a path that is long, which may be that of a private one."""
    path = somebody / "out" / "x.txt"
    ends = [f"...{str(somebody)[start:]}/x.py(3): f" for start in range(1, len(str(somebody)))]
    other = ["...kages/torch/nn.py(3): f", "...", "...annika"]
    path.write_text("\n".join([*ends, *other]))
    redaction.redact_text(path, {})
    assert path.read_text().split("\n") == ["...[redacted]/x.py(3): f"] * len(ends) + other


def kept(home: Path, *, redact: bool, calls: int = 1) -> Capture:
    """The record of an attempt whose trace is in another folder than its record, and whose table is not written yet."""
    (traces := home / "traces").mkdir(exist_ok=True)
    (trace := traces / "prof_x.json").write_text("{}")
    cycles = [{"runner": "py", "index": 0, "table": f"{home}/x.py", "files": [[str(trace), "kineto"]]}]
    command = [f"{home}/venv/bin/python", "--stem", f"{home}/out/prof_x"]
    attempt = Attempt(home / "out" / "prof_x", 1.0, redact, command)
    attempt.answer = {"runners": [], "cycles": cycles, "warnings": [f"{home}/desk/x.py:3: by annika"]}
    attempt.log.append(Entry(f"# KeyError: {home}/x"))
    attempt.warnings.append(RunWarning(code="x", message="of annika", evidence=f"{home}/y", hint=None))
    found = [capture_checks.written(trace), dataclasses.replace(capture_checks.written(trace), found=f"no {home}/x")]
    plan = capture_plan.make_plan(Options(choice=choice(rnns=["py"]), quick=True), FACTS)
    for _ in range(calls):
        record = capture_storage.keep(plan, Profiler("torch"), attempt, found, intermediate=False)
    return record


def test_a_record_names_its_files_from_its_folder(somebody: Path) -> None:
    record = kept(somebody, redact=True)
    text = (somebody / "out" / "prof_x.json").read_text()
    assert "annika" not in text + (somebody / "out" / "prof_x.log").read_text()
    assert [one["path"] for one in record.to_dict()["artefacts"]] == ["../traces/prof_x.json", "prof_x.py.0.txt"]
    read = Capture.load(somebody / "out" / "prof_x.json")
    assert read == record
    assert read.to_json() == record.to_json() == text
    assert all(Path(one.path).is_absolute() and Path(one.path).is_file() for one in record.artefacts)
    assert (somebody / "out" / "prof_x.py.0.txt").read_text() == "~/x.py"
    assert record.command == ["~/venv/bin/python", "--stem", "./prof_x"]


def test_a_trace_in_the_home_folder_is_found(somebody: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    record = kept(somebody, redact=False)
    outside = tmp_path / "shared"
    variables = {"A_FOLDER": str(somebody / "work" / "secret"), "X": "/nowhere/else"}
    elsewhere = [dataclasses.replace(record.artefacts[0], path=f"/nowhere/else/{name}") for name in "ab"]
    record = dataclasses.replace(record, artefacts=[*record.artefacts[:1], *elsewhere])
    redacted = redaction.redact_manifest(record, variables, outside)
    assert [one.path for one in redacted.artefacts] == ["~/traces/prof_x.json", "[redacted]/a", "[redacted]/b"]
    outside.mkdir()
    redacted.save(outside / "x.json")
    assert Capture.load(outside / "x.json").artefacts[0].path == str(somebody / "traces" / "prof_x.json")


@pytest.mark.parametrize("redact", [False, True])
def test_keeping_twice_keeps_everything_once(somebody: Path, *, redact: bool) -> None:
    """It is done again where it went wrong. A record that is not redacted names files by their paths."""
    once = kept(somebody, redact=redact)
    document = json.loads((somebody / "out" / "prof_x.json").read_text())
    assert ([one["path"] for one in document["artefacts"]] == [one.path for one in once.artefacts]) is not redact
    assert document["command"][0] == f"{'~' if redact else somebody}/venv/bin/python"
    twice = kept(somebody, redact=redact, calls=2)
    assert [(one.kind, one.path) for one in twice.artefacts] == [(one.kind, one.path) for one in once.artefacts]
    assert len({one.path for one in twice.artefacts}) == len(twice.artefacts) == 2
