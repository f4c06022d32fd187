"""Code that files of other users name is not executed."""

from __future__ import annotations

import json
import os
import shlex
import stat
from collections.abc import Callable
from pathlib import Path
from typing import Any

import click
import pytest
from commands import Done, run_cli, run_pretended
from conftest import ROOT
from kineto_traces import kernel, write
from parts import few
from run_files import restated
from test_inductor_finding import module

from fastrnns_rs import cli
from fastrnns_rs.cli.configuration import Guarded, Unconfigured
from fastrnns_rs.errors import FastrnnsError
from fastrnns_rs.processes import ownership
from fastrnns_rs.verbs.inductor import module_files

BENCH = ["bench", "--group", "rnns", "--rnns", "cudnn", "--nloops", "3", "--processes", "1", "--device", "cpu"]
RUNNER = """
from pathlib import Path

import fastrnns_rs

Path(__file__).with_name("executed").touch()


@fastrnns_rs.runner("{name}", group="rnns", family="lstm", description="a runner of a test")
def build(problem):
    raise AssertionError
"""
#: A user that this one is not.
OTHER = 54321

Spoil = Callable[[Path], None]


def give_away(path: Path) -> None:
    if os.geteuid() != 0:
        pytest.skip("only root can give a file to another user")
    os.chown(path, OTHER, OTHER)


def let_all_write(path: Path) -> None:
    path.chmod(0o666 if path.is_file() else 0o777)


def let_a_group_write(path: Path) -> None:
    if os.geteuid() != 0:
        pytest.skip("only root can give a file to a group that it is not in")
    os.chown(path, os.geteuid(), OTHER)
    path.chmod(0o664 if path.is_file() else 0o775)


#: The ways to spoil a file, and who may write to it then.
WRITERS = {give_away: f"the user {OTHER}", let_all_write: "every user", let_a_group_write: f"the group {OTHER}"}
SPOILS = [*WRITERS]


@pytest.fixture
def project(anywhere: Path) -> Path:
    """A project whose `pyproject.toml` names a runner's file that leaves a mark when it is executed."""
    folder = anywhere / "project"
    folder.mkdir()
    (folder / "mine.py").write_text(RUNNER.format(name="mine"))
    table = '[tool.fastrnns-rs.bench]\nrunner-file = "mine.py"\nseq-length = 3\noutput = "runs/run.json"\n'
    (folder / "pyproject.toml").write_text(table)
    (folder / "runs").mkdir()
    return folder


def bench(folder: Path, *words: object, **variables: str | Path) -> Done:
    done = run_pretended(*BENCH, "--json", *words, cwd=folder, **variables)
    assert done.status == 0, done.stderr
    return done


def test_a_project_of_ones_own_counts_from_its_own_folder(project: Path) -> None:
    below = project / "a" / "b"
    below.mkdir(parents=True)
    done = bench(below)
    assert "ignored:" not in done.stderr
    assert (project / "executed").exists()
    assert (project / "runs" / "run.json").exists()


@pytest.mark.parametrize("part", ["pyproject.toml", "."])
@pytest.mark.parametrize("spoil", SPOILS)
def test_a_project_that_others_may_write_sets_no_code_and_no_files(project: Path, part: str, spoil: Spoil) -> None:
    spoil(project / part)
    done = bench(project)
    assert not (project / "executed").exists()
    assert not (project / "runs" / "run.json").exists()
    [warning] = [line for line in done.stderr.splitlines() if "ignored:" in line]
    assert str(project / "pyproject.toml") in warning
    assert warning.endswith("ignored: runner-file, output")
    assert done.json()["results"][0]["problem"]["seq_length"] == 3
    assert bench(project, "--runner-file", "mine.py").stderr.count("ignored:") == 1
    assert (project / "executed").exists()


@pytest.mark.parametrize(
    ("words", "settings", "status", "ignored"),
    [
        (("report", "trace.json"), 'categories = "pipe"\nopen = true\nworkers = "ray"', 0, "categories, open, workers"),
        (("compare",), 'baseline = ["pipe"]\ncandidate = ["pipe"]', 2, "baseline, candidate"),
    ],
)
def test_a_project_that_others_may_write_names_no_file_to_wait_for(
    words: tuple[str, ...], settings: str, status: int, ignored: str, project: Path
) -> None:
    (project / "pyproject.toml").write_text(f"[tool.fastrnns-rs.{words[0]}]\n{settings}\n")
    os.mkfifo(project / "pipe")
    let_all_write(project / "pyproject.toml")
    write(project / "trace.json", [kernel("a kernel", 10, 2)])
    done = run_cli(*words, cwd=project)
    assert done.status == status
    [warning] = [line for line in done.stderr.splitlines() if "ignored:" in line]
    assert warning.endswith(f"ignored: {ignored}")


def test_a_variable_may_always_name_code(project: Path) -> None:
    let_all_write(project / "pyproject.toml")
    bench(project, FASTRNNS_BENCH_RUNNER_FILE=project / "mine.py")
    assert (project / "executed").exists()


@pytest.mark.parametrize("spoil", SPOILS)
def test_a_link_that_leads_through_a_folder_of_others_is_theirs(project: Path, tmp_path: Path, spoil: Spoil) -> None:
    """The link there may lead to a file of this user now, and to one of theirs when it is read."""
    shared, elsewhere = tmp_path / "shared", tmp_path / "elsewhere.toml"
    shared.mkdir()
    (project / "pyproject.toml").rename(elsewhere)
    (shared / "link").symlink_to(elsewhere)
    (project / "pyproject.toml").symlink_to(shared / "link")
    assert ownership.others_may_write(project / "pyproject.toml") is None
    spoil(shared)
    reason = ownership.others_may_write(project / "pyproject.toml")
    assert reason is not None
    assert reason.endswith(f"the folder {shared}")
    assert "ignored: runner-file, output" in bench(project).stderr
    assert not (project / "executed").exists()


def test_links_are_followed_as_by_the_kernel(tmp_path: Path) -> None:
    (tmp_path / "a" / "b").mkdir(parents=True)
    file = tmp_path / "a" / "file"
    file.touch()
    (tmp_path / "to b").symlink_to("a/b")
    # From the folder that the link leads to, not from that of the link.
    (tmp_path / "up").symlink_to("to b/../file")
    assert ownership.others_may_write(tmp_path / "up") is None
    let_all_write(tmp_path / "a")
    assert ownership.others_may_write(tmp_path / "up") == f"every user may write to the folder {tmp_path / 'a'}"
    (tmp_path / "round").symlink_to("round")
    for missing in ("round", "none"):
        with pytest.raises(OSError, match=missing):
            ownership.others_may_write(tmp_path / missing)


def test_a_link_to_a_file_of_others_is_theirs(project: Path, tmp_path: Path) -> None:
    elsewhere = tmp_path / "elsewhere.toml"
    (project / "pyproject.toml").rename(elsewhere)
    let_all_write(elsewhere)
    (project / "pyproject.toml").symlink_to(elsewhere)
    assert "ignored: runner-file, output" in bench(project).stderr
    assert not (project / "executed").exists()


def test_in_a_folder_such_as_tmp_others_have_files_too(project: Path) -> None:
    project.chmod(0o777 | stat.S_ISVTX)
    assert "ignored: runner-file, output" in bench(project).stderr
    assert not (project / "executed").exists()


def test_a_link_of_others_is_theirs(project: Path, tmp_path: Path) -> None:
    if os.geteuid() != 0:
        pytest.skip("only root can give a link to another user")
    elsewhere = tmp_path / "own.toml"
    (project / "pyproject.toml").rename(elsewhere)
    (project / "pyproject.toml").symlink_to(elsewhere)
    os.lchown(project / "pyproject.toml", OTHER, OTHER)
    assert "ignored: runner-file, output" in bench(project).stderr
    assert not (project / "executed").exists()


def test_a_folder_above_may_not_be_renamed_by_others(project: Path) -> None:
    let_all_write(project.parent)
    assert "ignored: runner-file, output" in bench(project).stderr
    assert not (project / "executed").exists()
    project.parent.chmod(0o777 | stat.S_ISVTX)
    assert "ignored:" not in bench(project).stderr
    assert (project / "executed").exists()


@pytest.mark.parametrize("text", [f"a{'.a' * 200_000} = 1", f"a = {'9' * 5000}"], ids=["keys", "digits"])
def test_a_file_of_others_takes_no_time(anywhere: Path, text: str) -> None:
    (anywhere / "pyproject.toml").write_text(text)
    let_all_write(anywhere / "pyproject.toml")
    done = run_cli("list", cwd=anywhere)
    assert done.status == 2
    [error, hint] = done.stderr.splitlines()
    assert str(anywhere / "pyproject.toml") in error
    assert hint.startswith("hint: ")


@pytest.mark.parametrize("root", [".git", "pyproject.toml"])
def test_what_lies_above_the_root_of_the_project_is_not_looked_at(project: Path, root: str) -> None:
    inner = project / "inner"
    (inner / "below").mkdir(parents=True)
    (inner / root).touch()
    assert bench(inner / "below").json()["results"][0]["problem"]["seq_length"] != 3
    assert not (project / "executed").exists()


def program(path: Path) -> Path:
    path.write_text(f"#!/bin/sh\n: > {shlex.quote(str(path))}.executed\nexit 1\n")
    path.chmod(0o755)
    return path


@pytest.mark.usefixtures("_no_torch")
@pytest.mark.parametrize("trusted", [True, False])
@pytest.mark.parametrize("verb", ["doctor", "report", "compare"])
def test_who_only_looks_says_which_program_a_project_names(anywhere: Path, verb: str, *, trusted: bool) -> None:
    nsys = program(anywhere / "nsys")
    table = "profile" if verb == "doctor" else verb
    (anywhere / "pyproject.toml").write_text(f'[tool.fastrnns-rs.{table}]\nnsys-path = "./nsys"\n')
    (anywhere / "x.nsys-rep").write_bytes(b"NVIDIA Tegra Profiler Report 2022@4@2" + bytes(100))
    if not trusted:
        let_all_write(anywhere / "pyproject.toml")
    files = {"doctor": [], "report": ["x.nsys-rep"], "compare": ["x.nsys-rep", "x.nsys-rep"]}[verb]
    done = run_cli(verb, *files, cwd=anywhere, PATH="/nonexistent")
    executed = Path(f"{nsys}.executed").exists()
    assert executed == trusted, done.stderr
    said = f"note: nsys-path = {nsys} comes from {anywhere / 'pyproject.toml'}" in done.stderr
    assert said == trusted, done.stderr


def interrupted(folder: Path, **changed: Any) -> Path:
    """Writes a run of which a process is left to run."""
    path = folder / "run.json"
    words = ["--rnns", "theirs", "--runner-file", "theirs.py", "--processes", "2", "--output", str(path)]
    (folder / "theirs.py").write_text(RUNNER.format(name="theirs"))
    done = run_pretended(*BENCH, *words, cwd=folder)
    assert done.status == 0, done.stderr
    (folder / "executed").unlink()
    document = json.loads(path.read_text())
    document["results"][0]["processes"].pop()
    document["results"] = [restated(one) for one in document["results"]]
    path.write_text(json.dumps({**document, "status": "interrupted", **changed}))
    return path


def test_a_run_file_executes_no_code_that_the_command_does_not_name(anywhere: Path) -> None:
    path = interrupted(anywhere)
    refused = run_pretended("bench", "--resume", path, cwd=anywhere)
    assert refused.status == 2
    error = refused.stderr.splitlines()[0]
    assert "'--runner-file theirs.py' (--resume)" in error
    assert not (anywhere / "executed").exists()
    [hint] = [line for line in refused.stderr.splitlines() if line.startswith("hint:")]
    command = shlex.split(hint.rpartition("fastrnns-rs ")[2])
    assert run_pretended(*command, cwd=anywhere).status == 0
    assert (anywhere / "executed").exists()


@pytest.mark.parametrize(
    "changed",
    [{"status": "complete"}, {"command": ["fastrnns-rs", "ab"]}, {"command": ["fastrnns-rs", "bench", "--help"]}],
)
def test_a_run_that_cannot_go_on_executes_no_code(anywhere: Path, changed: dict[str, Any]) -> None:
    path = interrupted(anywhere, **changed)
    refused = run_pretended("bench", "--resume", path, "--runner-file", "theirs.py", cwd=anywhere)
    assert refused.status == 2
    assert not (anywhere / "executed").exists()


@pytest.mark.parametrize("part", [".", "ab", "ab/c1.py"])
@pytest.mark.parametrize("spoil", SPOILS)
def test_modules_that_others_may_write_are_not_the_newest(tmp_path: Path, part: str, spoil: Spoil) -> None:
    cache = tmp_path / "torchinductor_me"
    made = module(cache / "ab" / "c1.py")
    assert [one.path for one in module_files.newest(cache)] == [made]
    spoil(cache / part)
    with pytest.raises(FastrnnsError) as caught:
        module_files.newest(cache)
    assert str(cache / part) in caught.value.message
    assert WRITERS[spoil] in caught.value.message
    assert caught.value.hint
    assert [one.path for one in module_files.find([made])] == [made]


@pytest.mark.parametrize("spoil", few(SPOILS[:1], SPOILS, "inductor"))
@pytest.mark.parametrize("words", [["--runner", "compile_cell", "--device", "cpu"], ["module.py"]])
def test_no_worker_finds_modules_that_others_may_write(
    anywhere: Path, monkeypatch: pytest.MonkeyPatch, words: list[str], spoil: Spoil
) -> None:
    module(anywhere / "module.py")
    monkeypatch.delenv("TORCHINDUCTOR_CACHE_DIR", raising=False)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("tempfile.tempdir", str(anywhere))
        cache = module_files.cache_folder()
    cache.mkdir()
    spoil(cache)
    done = run_pretended("inductor", *words, cwd=anywhere, TMPDIR=anywhere)
    assert done.status == 1, done.stderr
    [error] = [line for line in done.stderr.splitlines() if line.startswith("error: ")]
    assert f": '{cache}'" in error


def test_the_cache_is_made_before_others_make_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    monkeypatch.delenv("TORCHINDUCTOR_CACHE_DIR", raising=False)
    module_files.check_cache()
    assert stat.S_IMODE(module_files.cache_folder().stat().st_mode) == 0o700
    module_files.cache_folder().rmdir()
    monkeypatch.setenv("TORCHINDUCTOR_CACHE_DIR", str(tmp_path / "mine"))
    module_files.check_cache()
    assert not (tmp_path / "mine").exists()


def options() -> dict[str, click.Option]:
    context = click.Context(cli.root)
    verbs = [cli.root.get_command(context, verb) for verb in cli.VERBS]
    params = [param for verb in verbs if verb is not None for param in verb.params]
    return {str(one.name): one for one in params if isinstance(one, click.Option)}


def test_every_option_that_names_code_or_writes_is_guarded() -> None:
    loose = set()
    for name, param in options().items():
        if not isinstance(param, Guarded | Unconfigured):
            names_files = isinstance(param.type, click.Path) or (param.metavar or "") in {"PATH", "FILE", "FOLDER"}
            parts = {*name.split("_")}
            if names_files or parts & {"path", "python", "env", "file", "module", "dir", "ready", "output"}:
                loose.add(name)
    assert loose == set()


def test_the_page_lists_every_guarded_option() -> None:
    page = (ROOT / "docs" / "explanation" / "trust.md").read_text()
    section = page[page.index("\n## Configuration") : page.index("They are ignored")]
    listed = section.split("\n\n")[-2].replace("`", "").replace("\n", " ").split(", ")
    assert sorted(listed) == sorted(
        one.opts[0].removeprefix("--") for one in options().values() if isinstance(one, Guarded)
    )


@pytest.mark.parametrize("mode", [0o755, 0o1777, 0o1775])
def test_modules_beside_a_runner_file_are_imported_where_only_its_user_writes(anywhere: Path, mode: int) -> None:
    folder = anywhere / "runners"
    folder.mkdir()
    (folder / "beside.py").write_text(RUNNER.format(name="beside"))
    (folder / "mine.py").write_text("from beside import build")
    # As /tmp: others can put a file there, and only its owner can remove it.
    folder.chmod(mode)
    others_write = mode != 0o755
    words = ["profile", "beside", "--torch", "--dry-run", "--device", "cpu", "--output-dir", "captures"]
    done = run_cli(*words, "--runner-file", "runners/mine.py")
    assert (folder / "executed").exists() is not others_write
    if others_write:
        assert done.status == 2
        assert "ModuleNotFoundError: No module named 'beside'" in done.stderr
        assert "hint: Move it: modules beside it are not imported, because other users may write to " in done.stderr
        (folder / "beside.py").unlink()
        assert "hint: Fix the file." in run_cli(*words, "--runner-file", "runners/mine.py").stderr
    else:
        # It was executed, and the runner is of the other file.
        assert "no runner in file: 'runners/mine.py'" in done.stderr
