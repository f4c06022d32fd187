"""Outputs that would replace what a command reads: each is refused, and the file stays."""

from __future__ import annotations

import json
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import history_runs
import kineto_traces
import pytest
from commands import Done, run_cli, run_pretended
from run_files import result, run
from test_file_names import record

from fastrnns_rs import UsageError
from fastrnns_rs.verbs.history.run_history import RunHistory


@pytest.fixture
def folder(anywhere: Path) -> Path:
    """Captures in a folder, and a capture whose record is elsewhere."""
    (anywhere / "captured").mkdir()
    (anywhere / "records").mkdir()
    for name in ("trace.json", "second.json"):
        kineto_traces.write(anywhere / name, [kineto_traces.kernel()])
    kineto_traces.write(anywhere / "captured" / "one.json", [kineto_traces.kernel()])
    (anywhere / "captured" / "table.txt").write_text("a table\n")
    (anywhere / "link.json").symlink_to("trace.json")
    (anywhere / "hard.json").hardlink_to(anywhere / "trace.json")
    (anywhere / "rules.txt").write_text("")
    (anywhere / "rules.svg").write_text("")
    files = (
        (str(anywhere / "captured" / "one.json"), "kineto"),
        (str(anywhere / "captured" / "table.txt"), "torch_table"),
    )
    record(*files).save(anywhere / "records" / "record.json")
    return anywhere


@pytest.mark.parametrize("verb", ["show", "compare", "report", "history", "doctor"])
@pytest.mark.parametrize("place", ["../home/bashrc", "link/bashrc", "/absolute", ".git/config"])
def test_a_project_replaces_no_file_outside_itself(verb: str, place: str, tmp_path: Path) -> None:
    """An unpacked archive replaced the user's `.bashrc` by a table, without a word."""
    project, home = tmp_path / "project", tmp_path / "home"
    (project / ".git").mkdir(parents=True)
    home.mkdir()
    (project / "link").symlink_to(home)
    place = str(home / "bashrc") if place == "/absolute" else place
    target = project / place
    target.write_text("mine\n")
    (project / "pyproject.toml").write_text(f'[tool.fastrnns-rs.{verb}]\noutput = "{place}"\n')
    kineto_traces.write(project / "trace.json", [kineto_traces.kernel()])
    run([result()]).save(project / "run.json")
    words = {"show": ["run.json"], "compare": ["run.json", "run.json"], "report": ["trace.json"]}.get(verb, [])
    done = run_cli(verb, *words, cwd=project)
    assert (done.status, done.stdout, target.read_text()) == (2, "", "mine\n")
    assert "a pyproject.toml names only files in its folder" in done.stderr
    assert "hint: Use --output PATH." in done.stderr
    # On the command line any file may be named.
    assert run_cli(verb, *words, "--output", "table.txt", cwd=project).status == 0
    assert (project / "table.txt").read_text()


def test_a_file_that_a_project_replaces_is_named(tmp_path: Path) -> None:
    (tmp_path / "pyproject.toml").write_text('[tool.fastrnns-rs.show]\noutput = "table.txt"\n')
    run([result()]).save(tmp_path / "run.json")
    done = run_cli("show", "run.json", cwd=tmp_path)
    assert (done.status, done.stdout) == (0, "")
    assert f"note: output = {tmp_path / 'table.txt'} comes from {tmp_path / 'pyproject.toml'}" in done.stderr
    assert "note: " not in run_cli("show", "run.json", "--output", "other.txt", cwd=tmp_path).stderr


def test_a_document_that_cannot_be_loaded_replaces_none(tmp_path: Path) -> None:
    """Lists in a document can be changed: `save` replaced a good file by one that `load` refuses."""
    path, good = tmp_path / "run.json", run([result()])
    good.save(path)
    before = path.read_bytes()
    good.results[0].processes[0].forward_ns[0] = -5
    with pytest.raises(UsageError, match="forward_ns"):
        good.save(path)
    good.results.append(good.results[0])
    with pytest.raises(UsageError):
        good.save(path)
    assert path.read_bytes() == before


OVERWRITING = [
    ("report", "trace.json", "--output", "trace.json"),
    ("report", "trace.json", "--json", "--output", "trace.json"),
    ("report", "trace.json", "--output", "link.json"),
    ("report", "link.json", "--output", "hard.json"),
    ("report", "second.json", "trace.json", "--output", "trace.json"),
    ("report", "captured", "--output", "captured/one.json"),
    ("report", "records/record.json", "--output", "records/record.json"),
    ("report", "records/record.json", "--output", "captured/one.json"),
    ("report", "records/record.json", "--output", "captured/table.txt"),
    ("report", "records", "--output", "records/record.json"),
    ("report", "records", "--output", "captured/table.txt"),
    ("report", "trace.json", "--categories", "rules.txt", "--output", "rules.txt"),
    ("report", "trace.json", "--categories", "rules.txt", "--trace", "rules.txt"),
    ("report", "trace.json", "--categories", "rules.svg", "--plot", "rules.svg"),
    ("compare", "captured", "trace.json", "--output", "captured/one.json"),
    ("compare", "trace.json", "records", "--output", "captured/table.txt"),
]


def check_refusal(done: Done, value: str, flag: str) -> None:
    """Checks that a command refused the value of a flag, with a hint."""
    error, hint = done.stderr.splitlines()
    assert done.status == 2
    assert error.startswith("error: ")
    assert f": {value!r} ({flag})" in error
    assert hint.startswith("hint: ")


@pytest.mark.parametrize("words", OVERWRITING, ids=" ".join)
def test_no_capture_is_replaced(folder: Path, words: tuple[str, ...]) -> None:
    before = {one: one.read_bytes() for one in folder.rglob("*") if one.is_file()}
    done = run_cli(*words)
    assert done.stdout == ""
    check_refusal(done, words[-1], words[-2])
    assert {one: one.read_bytes() for one in folder.rglob("*") if one.is_file()} == before


@pytest.mark.parametrize("way", ["missing/../{}", "trace.json/../{}", "away/{}"])
@pytest.mark.parametrize("flag", ["--output", "--trace"])
def test_no_capture_is_replaced_by_a_way_that_leads_nowhere(folder: Path, way: str, flag: str) -> None:
    """Where a folder on the way is missing or no folder, `..` is no step back."""
    (folder / "away").symlink_to("missing/..")
    before = (folder / "second.json").read_bytes()
    done = run_cli("report", "second.json", "--json", flag, way.format("second.json"))
    assert done.status == 2, done
    assert "second.json" in done.stderr.splitlines()[0]
    assert (folder / "second.json").read_bytes() == before


@pytest.mark.parametrize(
    "words",
    [
        ("report", "records", "--trace", "records/record.json"),
        ("report", "records/record.json", "--trace", "captured/table.txt"),
    ],
    ids=" ".join,
)
def test_no_capture_is_replaced_by_a_merged_trace(folder: Path, words: tuple[str, ...]) -> None:
    before = (folder / words[-1]).read_bytes()
    done = run_cli(*words)
    check_refusal(done, words[-1], "--trace")
    assert (folder / words[-1]).read_bytes() == before


def test_a_trace_and_a_summary_are_two_files(folder: Path) -> None:
    done = run_cli("report", "trace.json", "--output", "out.json", "--trace", folder / "out.json")
    check_refusal(done, str(folder / "out.json"), "--trace")
    assert not (folder / "out.json").exists()


def test_a_trace_and_a_plot_are_two_files(folder: Path) -> None:
    (folder / "out.svg").symlink_to("trace.svg")
    done = run_cli("report", "trace.json", "--trace", "trace.svg", "--plot", "out.svg")
    check_refusal(done, "trace.svg", "--trace")
    assert not (folder / "trace.svg").exists()


def test_two_documents_do_not_go_to_one_stdout(folder: Path) -> None:
    done = run_cli("report", folder / "trace.json", "--json", "--output", "-", "--trace", "/dev/stdout")
    check_refusal(done, "/dev/stdout", "--trace")


@pytest.mark.parametrize("descriptor", [1, 2, 3])
@pytest.mark.parametrize("name", ["/dev/fd/{}", "/proc/self/fd/{}", "link{}"])
def test_what_an_open_file_has_stays(folder: Path, name: str, descriptor: int) -> None:
    """As in a script whose output goes to the end of a log."""
    (folder / f"link{descriptor}").symlink_to(f"/dev/fd/{descriptor}")
    (folder / "log").write_text("before\n")
    command = [sys.executable, "-m", "fastrnns_rs", "report", "trace.json", "--json", "--output"]
    script = f'exec "$@" {descriptor}>>log'
    words = ["sh", "-c", script, "sh", *command, name.format(descriptor)]
    done = subprocess.run(words, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (0, "")
    first, rest = (folder / "log").read_text().split("\n", 1)
    assert (first, json.loads(rest)["schema"]) == ("before", "fastrnns-rs/summary")


@pytest.mark.parametrize(
    ("words", "descriptor"),
    [
        (("report", "second.json", "--output"), "0<trace.json"),
        (("report", "second.json", "--trace"), "3>>trace.json"),
        (("bench", "--group", "rnns", "--run-file"), "3>>trace.json"),
    ],
    ids=" ".join,
)
def test_an_open_file_is_not_replaced(folder: Path, words: tuple[str, ...], descriptor: str) -> None:
    content = (folder / "trace.json").read_bytes()
    command = [sys.executable, "-m", "fastrnns_rs", *words, f"/dev/fd/{descriptor[0]}"]
    done = subprocess.run(
        ["sh", "-c", f'exec "$@" {descriptor}', "sh", *command], capture_output=True, text=True, check=False
    )
    assert (done.returncode, f": '/dev/fd/{descriptor[0]}' ({words[-1]}): the " in done.stderr) == (2, True)
    assert (folder / "trace.json").read_bytes() == content


def test_another_file_of_the_folder_is_written(folder: Path) -> None:
    assert run_cli("report", "captured", "--output", "captured/summary.txt").status == 0
    assert (folder / "captured" / "summary.txt").read_text()


MEASURING = {
    "bench": ("bench", "--rnns", "py"),
    "ab": ("ab", "cudnn", "py"),
    "verify": ("verify", "--rnns", "py"),
    "profile": ("profile", "--torch", "--rnns", "py", "--quick", "--dry-run"),
    "inductor": ("inductor", "--runner", "compile_cell"),
}


@pytest.mark.parametrize("verb", MEASURING)
def test_no_file_of_runners_is_replaced(folder: Path, verb: str) -> None:
    source = 'from fastrnns_rs import runner\n\n\n@runner("mine")\ndef mine(problem):\n    raise AssertionError\n'
    (folder / "mine.py").write_text(source)
    done = run_cli(*MEASURING[verb], "--runner-file", "mine.py", "--output", "mine.py")
    check_refusal(done, "mine.py", "--output")
    assert (folder / "mine.py").read_text() == source


@pytest.mark.parametrize(
    "words", [["show", "--format", "csv"], ["compare", "@last"], ["history"]], ids=lambda one: one[0]
)
@pytest.mark.parametrize("what", ["run", "tag"])
def test_what_a_history_keeps_is_no_output(what: str, words: list[str], tmp_path: Path) -> None:
    history = RunHistory(tmp_path / "history")
    history_runs.kept(history, *map(history_runs.made, range(1, 4)))
    assert run_cli("history", "--tag", "mine", "@last", "--history", history.folder).status == 0
    kept = min(history.runs_folder.iterdir()) if what == "run" else next((history.tags_folder / "mine").iterdir())
    before = kept.read_bytes()
    done = run_cli(
        *words, *([] if words == ["history"] else ["@last~1"]), "--history", history.folder, "--output", kept
    )
    reason = f"the file is a {what} of a history"
    error = f"error: cannot write file: {str(kept)!r} (--output): {reason}"
    assert (done.status, done.stderr.splitlines()) == (2, [error, "hint: Use another path."])
    assert kept.read_bytes() == before
    # A run beside them that has another name is a file of the user.
    own = history.runs_folder / "20260101T000000Z-nightly.json"
    own.write_bytes(before if what == "run" else b"")
    assert run_cli("show", "@last", "--history", history.folder, "--output", own).status == 0


def test_a_resumed_run_and_a_merged_trace_replace_no_other_run(folder: Path) -> None:
    history = RunHistory(folder / "history")
    history_runs.kept(history, *map(history_runs.made, range(1, 4)))
    kept = min(history.runs_folder.iterdir())
    before = kept.read_bytes()
    replace(run([result()]), status="interrupted").save(folder / "run.json")
    to_kept = f"error: cannot write file: {str(kept)!r}", "the file is a run of a history"
    for words, (error, reason) in (
        (("bench", "--resume", "run.json", "--no-history", "--run-file", kept), to_kept),
        (("bench", "--resume", "run.json", "--no-history", "--format", "csv", "--output", kept), to_kept),
        (("report", "trace.json", "--trace", kept), to_kept),
        (("bench", "--resume", kept, "--no-history", "--run-file", kept), ("error: cannot resume a run", "complete")),
    ):
        done = run_cli(*words)
        assert (done.status, error in done.stderr, reason in done.stderr) == (2, True, True), done.stderr
    assert kept.read_bytes() == before


@pytest.mark.parametrize("read", ["mine.py", "pyproject.toml"])
@pytest.mark.parametrize("verb", ["bench", "ab"])
def test_a_run_file_replaces_no_input(folder: Path, verb: str, read: str) -> None:
    (folder / "mine.py").write_text("raise AssertionError\n")
    (folder / "pyproject.toml").write_text("[tool.fastrnns-rs]\n")
    before = (folder / read).read_bytes()
    done = run_cli(*MEASURING[verb], "--runner-file", "mine.py", "--run-file", read)
    check_refusal(done, read, "--run-file")
    assert (folder / read).read_bytes() == before


@pytest.mark.parametrize(
    "words",
    [
        ("doctor", "--output"),
        ("report", "trace.json", "--output"),
        ("report", "trace.json", "--trace"),
        (*MEASURING["verify"], "--output"),
    ],
    ids=" ".join,
)
def test_the_configuration_is_not_replaced(folder: Path, words: tuple[str, ...]) -> None:
    path = folder / "pyproject.toml"
    path.write_text("[tool.fastrnns-rs]\n")
    done = run_cli(*words, "pyproject.toml")
    check_refusal(done, "pyproject.toml", words[-1])
    assert path.read_text() == "[tool.fastrnns-rs]\n"


@pytest.mark.parametrize("words", [("bench",), ("ab", "mine"), ("verify", "--group", "rnns")], ids=lambda one: one[0])
def test_no_code_runs_before_an_output_is_refused(words: tuple[str, ...], anywhere: Path) -> None:
    (anywhere / "runners.py").write_text("from pathlib import Path\nPath('executed').touch()\n")
    done = run_cli(*words, "--runner-file", "runners.py", "--output", "runners.py")
    assert done.status == 2
    assert "runners.py" in done.stderr
    assert not (anywhere / "executed").exists()


@pytest.mark.parametrize("words", ["show /dev/fd/5", "compare a.json b.json", "show b.json"])
def test_an_input_that_is_open_for_writing_is_not_overwritten(anywhere: Path, words: str) -> None:
    for name in ("a.json", "b.json"):
        run([result()]).save(anywhere / name)
    kept = (anywhere / "b.json").read_bytes()
    command = f"{sys.executable} -m fastrnns_rs {words} --json --output /dev/fd/5 5<>b.json"
    done = subprocess.run(["bash", "-c", command], capture_output=True, text=True, check=False, cwd=anywhere)
    assert (done.returncode, "cannot overwrite input: '/dev/fd/5'" in done.stderr) == (2, True)
    assert (anywhere / "b.json").read_bytes() == kept


@pytest.mark.parametrize(
    ("verb", "flag"), [*((verb, "--output") for verb in MEASURING), ("bench", "--run-file"), ("ab", "--run-file")]
)
def test_no_module_that_a_runner_imports_is_replaced(folder: Path, verb: str, flag: str) -> None:
    """Only the file of the runner itself was refused."""
    source = 'import fastrnns_rs, near\n\n\n@fastrnns_rs.runner("mine")\ndef mine(problem):\n    raise AssertionError\n'
    (folder / "mine.py").write_text(source)
    (folder / "near.py").write_text("from package import far\n")
    (folder / "package").mkdir()
    (folder / "package" / "far.py").write_text("")
    (folder / "far.json").symlink_to("package/far.py")
    for output in ("near.py", folder / "package" / "far.py", "far.json"):
        done = run_cli(*MEASURING[verb], "--runner-file", "mine.py", flag, output)
        assert f"error: cannot overwrite input: {str(output)!r} ({flag}): the command reads this file" in done.stderr
        assert (done.status, done.stdout) == (2, "")
    assert (folder / "near.py").read_text() == "from package import far\n"
    assert (folder / "package" / "far.py").read_text() == ""


def test_a_file_that_no_runner_imports_is_replaced(folder: Path) -> None:
    (folder / "mine.py").write_text('import fastrnns_rs\nfastrnns_rs.runner("mine")(lambda problem: None)\n')
    (folder / "other.py").write_text("")
    assert run_pretended("bench", "--quick", "mine", "--runner-file", "mine.py", "--run-file", "other.py").status == 0
    assert (folder / "other.py").read_text()
