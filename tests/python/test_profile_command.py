"""What `profile` makes of its command line: flags for somebody else, flags against configuration, dry runs."""

from __future__ import annotations

import importlib
import json
import shlex
from pathlib import Path

import click
import pytest
from commands import run_with_facts
from test_profile_forwarding import parsed, plan_of

from fastrnns_rs.cli import VERBS, internal_run
from fastrnns_rs.cli.options import Unconfigured
from fastrnns_rs.cli.profile import command, request_of
from fastrnns_rs.errors import UsageError
from fastrnns_rs.runners.profile_request import ProfileRequest
from fastrnns_rs.verbs.profile.child_command import child_command

PREFIX = "FASTRNNS_PROFILE"
#: A flag for each option that `--internal-run` cannot honour.
IDLE = {
    "nsys_path": ["--nsys-path", "nsys"],
    "nvprof_path": ["--nvprof-path", "nvprof"],
    "separate": ["--separate"],
    "keep": ["--keep"],
    "redact": ["--redact"],
    "baseline": ["--no-baseline"],
    "timeout": ["--timeout", "3"],
    "dry_run": ["--dry-run"],
    "no_report": ["--no-report"],
    "format_name": ["--format", "json"],
    "as_json": ["--json"],
    "output": ["--output", "x"],
}
UNCONFIGURED = [one for one in command.params if isinstance(one, Unconfigured)]


def checked(*words: str) -> ProfileRequest:
    """A request as the command reads it, variables included, once its flags have been looked at."""
    with command.make_context("profile", [*words], auto_envvar_prefix=PREFIX) as context:
        request = request_of(context.params)
        internal_run.check(request, context.params)
        return request


def configure(folder: Path, text: str) -> None:
    (folder / "pyproject.toml").write_text(f"[tool.fastrnns-rs.profile]\n{text}\n")


def names(request: ProfileRequest) -> list[str]:
    return [runner.name for runner, _ in request.options.choice.runners()]


def test_every_flag_of_the_capture_is_refused_inside() -> None:
    assert set(IDLE) == set(internal_run.OF_THE_CAPTURE)
    for flags in IDLE.values():
        with pytest.raises(UsageError, match=f"--internal-run makes no capture, and has no use for {flags[0]}"):
            checked("--internal-run", "--torch", *flags)
    with pytest.raises(UsageError, match="for --keep and --json"):
        checked("--internal-run", "--json", "--keep")
    with pytest.raises(UsageError, match="for --output-dir"):
        checked("--internal-run", "--nsys", "--output-dir", "x")
    assert checked("--internal-run", "--torch", "--output-dir", "x").tool == "torch"


def test_options_of_torch_are_refused_inside_without_it() -> None:
    with pytest.raises(UsageError, match="options of torch's profiler were given without it"):
        checked("--internal-run", "--with-stack")
    assert checked("--internal-run", "--torch", "--with-stack").torch.with_stack


def test_what_is_configured_for_captures_does_not_stand_in_the_way(
    anywhere: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    configure(anywhere, "keep = true\nwith-stack = true\ntimeout = 3\nnloops = 7")
    monkeypatch.setenv(f"{PREFIX}_JSON", "1")
    assert checked("--internal-run").options.nloops == 7


def test_what_only_the_child_is_told_is_for_the_child() -> None:
    hidden = {one.name for one in command.params if isinstance(one, click.Option) and one.hidden}
    assert hidden == set(internal_run.FOR_THE_CHILD)
    assert hidden | {"internal_run"} == {one.name for one in UNCONFIGURED}
    for one in UNCONFIGURED:
        if one.hidden:
            words = [one.opts[0]] if one.is_flag else [one.opts[0], "py"]
            with pytest.raises(click.NoSuchOption):
                checked(*words)


@pytest.mark.parametrize("option", UNCONFIGURED, ids=lambda one: one.name)
def test_neither_a_variable_nor_a_file_sets_it(
    option: click.Option, anywhere: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(f"{PREFIX}_{option.name.upper()}", "1")
    with command.make_context("profile", [], auto_envvar_prefix=PREFIX) as context:
        assert not context.params[option.name]
    flag = option.opts[0].removeprefix("--")
    value = "true" if option.is_flag else "'x'"
    configure(anywhere, f"{flag} = {value}")
    with pytest.raises(UsageError, match=f"^{flag} in .* is for the command line alone"):
        checked()


def test_a_mistyped_key_is_not_answered_with_a_hidden_option(anywhere: Path) -> None:
    configure(anywhere, "flags-onli = true")
    with pytest.raises(UsageError) as raised:
        checked()
    assert "flags-only" not in raised.value.hint


@pytest.mark.parametrize("verb", VERBS)
def test_a_variable_is_called_like_its_flag(verb: str, monkeypatch: pytest.MonkeyPatch) -> None:
    found = importlib.import_module(f"fastrnns_rs.cli.{verb}").command
    options = [one for one in found.params if isinstance(one, click.Option) and not isinstance(one, Unconfigured)]
    assert options
    for one in options:
        flag = max(one.opts, key=len).removeprefix("--").replace("-", "_").upper()
        variable = f"FASTRNNS_{verb.upper()}_{flag}"
        assert one.envvar == variable or (one.envvar is None and one.name.upper() == flag), variable


def test_the_child_reads_neither_variables_nor_files(anywhere: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    given = parsed(["--nsys", "--rnns", "cudnn", "--quick"])
    child = child_command(given, plan_of(given), Path("stem"), None)
    words = child[child.index("profile") + 1 :]
    before = checked(*words)
    (anywhere / "pyproject.toml").write_text("this is no TOML")
    for name, value in {"INFERENCE": "1", "TORCH": "1", "SEQ_LENGTH": "3", "RNNS": "py"}.items():
        monkeypatch.setenv(f"{PREFIX}_{name}", value)
    assert checked(*words) == before


def test_a_dry_run_is_also_a_document(anywhere: Path) -> None:
    asked = ["profile", "--torch", "--quick", "--rnns", "cudnn", "py", "--dry-run", "--output-dir", "o u't"]
    lines = run_with_facts(*asked, "--separate").stdout.splitlines()
    done = run_with_facts(*asked, "--separate", "--json")
    assert (done.status, done.stderr) == (0, "")
    document = done.json()
    assert list(document) == ["schema", "schema_version", "commands"]
    assert (document["schema"], document["schema_version"]) == ("fastrnns-rs/dry-run", "1.1")

    def settled(words: list[str]) -> list[str]:
        """Without the time, which is in the name."""
        return ["STEM" if "o u't" in word else word for word in words]

    assert [*map(settled, document["commands"])] == [settled(shlex.split(line)) for line in lines]
    assert [one.count("--runner=py") for one in document["commands"]] == [0, 1]
    run_with_facts(*asked, "--format", "json", "--output", "run.json")
    assert len(json.loads(Path("run.json").read_text())["commands"]) == 1
    assert not Path("o u't").exists()


def test_flags_that_name_runners_win_over_a_group_that_is_configured(anywhere: Path) -> None:
    configure(anywhere, 'group = "rnns"')
    assert names(checked())[0] == "cudnn"
    assert names(checked("--cnns", "resnet18")) == ["resnet18"]
    assert names(checked("--rnns", "py", "--cnns", "resnet18")) == ["py", "resnet18"]
    assert names(checked("--group", "cnns", "--rnns", "py")) == ["resnet18", "resnet18_jit", "resnet50", "resnet50_jit"]


def test_a_flag_that_names_a_profiler_wins_over_one_that_is_configured(anywhere: Path) -> None:
    configure(anywhere, "torch = true")
    assert checked("--nsys-path", "/somewhere/nsys").tool == "nsys"
    assert checked().tool == "torch"


@pytest.mark.parametrize("verb", ["profile", "bench"])
def test_a_flag_that_changes_nothing_is_told(verb: str, anywhere: Path) -> None:
    text = '[tool.fastrnns-rs.VERB]\ncnns = ["resnet18"]\ndevice = "cuda:99"\n'.replace("VERB", verb)
    (anywhere / "pyproject.toml").write_text(text)
    note = "note: --rnns changes nothing: the group rnns does not run"
    done = run_with_facts(verb, "--group", "cnns", "--rnns", "py")
    assert (done.status, done.stderr.splitlines()[0]) == (5, note)
    for flags in (["--group", "rnns", "--rnns", "py"], ["--group", "all", "--rnns", "py"], ["--group", "rnns"]):
        assert "note:" not in run_with_facts(verb, *flags).stderr
