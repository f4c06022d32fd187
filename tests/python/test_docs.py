"""What the README and the other pages say is run, or held against the code."""

from __future__ import annotations

import contextlib
import os
import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import click
import pytest
from commands import run_pretended
from conftest import ROOT, run_cli
from models_under_test import OURS
from screens import screen
from test_words import OPENERS, PRIVATE

from fastrnns_rs import cli
from fastrnns_rs.runners.registry import find

README = (ROOT / "README.md").read_text()
BLOCKS = re.findall(r"^```(\w+)\n(.*?)^```", README, flags=re.DOTALL | re.MULTILINE)
COMMANDS = [line for kind, block in BLOCKS if kind == "sh" for line in block.splitlines()]
TOUR = [line for line in COMMANDS if line.startswith("fastrnns-rs")]
#: These need neither torch nor minutes; pretended workers stand for those of `bench` and `ab`.
QUICK = [line for line in TOUR if line.split()[1] in {"ab", "bench", "compare", "list", "show"}]
PAGES = ["README.md", *(str(one.relative_to(ROOT)) for one in ROOT.glob("docs/**/*.md"))]


def test_the_readme_opens_with_its_two_commands() -> None:
    assert [block.strip() for _, block in BLOCKS[:2]] == ["scripts/fastrnns-rs bench --group rnns cnns", "scripts/test"]
    assert README.count("\n") <= 120
    for command in ("scripts/fastrnns-rs", "scripts/test", "scripts/setup"):
        assert os.access(ROOT / command, os.X_OK)
    assert "scripts/hide-profilers scripts/test\n" in (ROOT / ".ci" / "run").read_text()


@pytest.fixture(scope="module")
def tour(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("tour")


@pytest.fixture(scope="module")
def quick_tour(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("quick-tour")


@pytest.mark.parametrize("command", QUICK)
def test_commands_of_the_readme_run_with_pretended_workers(command: str, quick_tour: Path) -> None:
    """In one folder, since some read what those before them wrote."""
    done = run_pretended(*shlex.split(command)[1:], cwd=quick_tour, XDG_STATE_HOME=quick_tour)
    assert done.status == 0, done.stderr


@pytest.mark.long("docs")
@pytest.mark.parametrize("command", TOUR)
def test_commands_of_the_readme_run(command: str, tour: Path) -> None:
    done = run_cli(*shlex.split(command)[1:], cwd=tour, XDG_STATE_HOME=tour)
    assert done.status == 0, done.stderr


@pytest.mark.parametrize("name", ["compare", "compare --explain"])
def test_screens_of_the_page_on_comparing_are_golden(name: str) -> None:
    assert screen(name) in (ROOT / "docs" / "how-to" / "comparing.md").read_text()


@pytest.mark.parametrize("page", PAGES)
def test_commands_of_every_page_are_understood(page: str, anywhere: Path) -> None:
    """Their options exist and take these values; files that they read need not be there."""
    blocks = "".join(re.findall(r"^```sh\n(.*?)^```", (ROOT / page).read_text(), flags=re.DOTALL | re.MULTILINE))
    for line in blocks.replace("\\\n", "").splitlines():
        words = shlex.split(line, comments=True)
        if words[:1] != ["fastrnns-rs"] or words[1].startswith("-"):
            continue
        for file in [word for word in words if re.search(r"\w\.\w+$", word)]:
            with contextlib.suppress(OSError):
                Path(file).touch()
        verb = cli.root.get_command(click.Context(cli.root), words[1])
        assert verb is not None
        verb.make_context(words[1], [word for word in words[2:] if word not in {"|", ">"}], auto_envvar_prefix=None)


def python_blocks(page: str) -> list[str]:
    return re.findall(r"^```python\n(.*?)^```", (ROOT / page).read_text(), flags=re.DOTALL | re.MULTILINE)


@pytest.mark.long("docs")
def test_the_model_of_the_readme_is_measured(tmp_path: Path) -> None:
    [block] = python_blocks("README.md")
    (tmp_path / "mine.py").write_text(block)
    [command] = re.findall(r"`fastrnns-rs (bench .*mine\.py.*?)`", README)
    done = run_cli(*shlex.split(command), cwd=tmp_path)
    assert done.status == 0, done.stderr
    assert re.search(r"^mine +\d", done.stdout, flags=re.MULTILINE)


@pytest.mark.long("docs")
@pytest.mark.parametrize("page", [f"docs/how-to/{name}.md" for name in ("python", "profiling", "pictures")])
def test_python_of_the_pages_runs(page: str, tmp_path: Path) -> None:
    (block,) = python_blocks(page)
    path = tmp_path / "example.py"
    path.write_text(block)
    done = subprocess.run([sys.executable, path], cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert done.stdout
    assert "failed" not in done.stdout


def anchors(page: Path) -> set[str]:
    """Returns the targets within a page that GitHub makes of its headings."""
    text = re.sub(r"^```.*?^```", "", page.read_text(), flags=re.DOTALL | re.MULTILINE)
    headings = re.findall(r"^#+ (.+)$", text, flags=re.MULTILINE)
    return {re.sub(r"[^\w -]", "", heading).strip().lower().replace(" ", "-") for heading in headings}


@pytest.mark.parametrize("page", [*PAGES, "CONTRIBUTING.md", "CHANGELOG.md", "SECURITY.md"])
def test_links_lead_somewhere(page: str) -> None:
    text = re.sub(r"^```.*?^```", "", (ROOT / page).read_text(), flags=re.DOTALL | re.MULTILINE)
    for target, anchor in re.findall(r"\]\(([^)#\s]*)#?([^)\s]*)\)", text):
        if not target.startswith("https://"):
            file = (ROOT / page).parent.joinpath(target) if target else ROOT / page
            assert file.exists(), target
            assert not anchor or anchor in anchors(file), f"{target}#{anchor}"


def test_the_page_on_speed_has_every_bench() -> None:
    page = (ROOT / "docs" / "explanation" / "speed.md").read_text()
    named = set(re.findall(r"(\w+)\.py\b", page))
    assert named <= {file.stem for file in (ROOT / "benches" / "python").glob("*.py")}
    target = re.search(
        r"^bench:.*\n(?:\t.*\n)*?\tfor bench in (.*?); do", (ROOT / "Makefile").read_text(), re.MULTILINE
    )
    assert target
    assert {*target[1].split()} <= named


@pytest.mark.parametrize("page", [*PAGES, "CONTRIBUTING.md", "CHANGELOG.md"])
def test_rows_of_a_table_have_as_many_cells_as_its_heading(page: str) -> None:
    text = re.sub(r"^```.*?^```", "", (ROOT / page).read_text(), flags=re.DOTALL | re.MULTILINE)
    for table in re.findall(r"(?:^\|.*\n)+", text, flags=re.MULTILINE):
        counts = [len(re.findall(r"(?<!\\)\|", row)) for row in table.splitlines()]
        assert set(counts) == {counts[0]}, table


def test_the_index_has_every_page_once() -> None:
    linked = re.findall(r"\]\(([\w/-]+\.md)\)", (ROOT / "docs" / "README.md").read_text())
    assert sorted(linked) == sorted(str(one.relative_to(ROOT / "docs")) for one in ROOT.glob("docs/*/*.md"))


#: Pages whose text is written from docstrings, which `test_words` checks.
GENERATED = {f"docs/reference/{name}.md" for name in ("api", "cli", "models", "stats", "warnings")}


@pytest.mark.parametrize("page", [one for one in [*PAGES, "CONTRIBUTING.md", "SECURITY.md"] if one not in GENERATED])
def test_pages_are_plain(page: str) -> None:
    """Sentences have the field's own terms, and no heading or item of a list opens with a noun clause."""
    text = re.sub(r"^```.*?^```|<!-- .*?<!-- end -->", "", (ROOT / page).read_text(), flags=re.DOTALL | re.MULTILINE)
    text = re.sub(r"`[^`]*`", "CODE", text)
    assert not PRIVATE.findall(text)
    for line in text.splitlines():
        opening = re.match(r"(?:#+|[-*]|\d+\.) (.*)", line)
        assert not opening or line.endswith("?") or not OPENERS.match(opening[1]), line


def test_no_page_has_a_number_still_to_be_filled_in() -> None:
    for page in ROOT.glob("**/*.md"):
        if ".venv" not in page.parts and "target" not in page.parts:
            assert not re.search(r"\b(TODO|TBD|XXX)\b|\| *[A-Z]{4,} *\|", page.read_text()), page


def test_python_of_the_migration_page_exists() -> None:
    page = (ROOT / "docs" / "how-to" / "migration.md").read_text()
    for module, names in re.findall(r"`from (fastrnns_rs[\w.]*) import ([\w, ]+)`", page):
        for name in names.split(", "):
            assert hasattr(__import__(module, fromlist=[name]), name), f"{module}.{name}"


def test_every_runner_and_flag_is_on_its_page() -> None:
    runners = (ROOT / "docs" / "reference" / "runners.md").read_text()
    assert re.findall(r"^\| `(\w+)` \|", runners, flags=re.MULTILINE).__len__() == len(OURS)
    assert all(f"| `{name}` |" in runners for name in OURS)
    for row in re.findall(r"^\| `\w+` \|.*", runners, flags=re.MULTILINE):
        name, variants = row.split("`")[1], row.rstrip(" |").rpartition(" | ")[2]
        assert f" | {find(name).description} | " in row, name
        honoured = tuple(flag.replace("-", "_") for flag in re.findall(r"`--([\w-]+)`", variants))
        assert honoured == find(name).honours, name
    verifying = (ROOT / "docs" / "how-to" / "verifying.md").read_text()
    references = {str(find(name).reference) for name in OURS} - {*OURS}
    assert {name for name in references if f"`{name}`" not in verifying} == set()
    migration = (ROOT / "docs" / "how-to" / "migration.md").read_text()
    upstream = """seqLength numLayers inputSize hiddenSize miniBatch warmup nloops device variable-lstms sep
    print-json rnns cnns group fuser executor"""
    assert all(f"--{flag}" in migration for flag in upstream.split())
    helps = run_cli("bench", "--help-all").stdout + run_cli("profile", "--help-all").stdout
    helps += run_cli("verify", "--help-all").stdout + run_cli("inductor", "--help-all").stdout
    known = set(re.findall(r"--[\w-]+", helps))
    for flag in re.findall(r"`((?:--[\w-]+ ?)+)`", migration.split("## Functions")[0].split("## Flags")[1]):
        assert set(flag.split()) - {"--seq_length"} <= known | {"--cuda-pointwise-"}


def test_every_fault_of_the_migration_page_has_a_test() -> None:
    page = (ROOT / "docs" / "how-to" / "migration.md").read_text()
    numbers = {int(number) for number in re.findall(r"^(\d+)\. ", page, flags=re.MULTILINE)}
    tests = "".join(path.read_text() for path in Path(__file__).parent.glob("test_upstream_faults_*.py"))
    assert numbers == {int(number) for number in re.findall(r"def test_fault_(\d+)", tests)}
    assert numbers == {*range(1, 27)}


@pytest.mark.long("docs")
@pytest.mark.parametrize("page", ["how-to/profiling", "tutorial/profiler-guide"])
def test_commands_of_the_profiling_pages_are_understood(page: str, anywhere: Path) -> None:
    text = (ROOT / "docs" / f"{page}.md").read_text()
    blocks = "".join(re.findall(r"^```sh\n(.*?)^```", text, flags=re.DOTALL | re.MULTILINE)).replace("\\\n", "")
    commands = [line for line in blocks.splitlines() if line.startswith("fastrnns-rs profile")]
    assert commands
    for command in commands:
        done = run_cli(*shlex.split(command)[1:], "--dry-run", cwd=anywhere)
        missing = "--device cuda" in command or ("--nsys" in command and shutil.which("nsys") is None)
        assert done.status in ({0, 5} if missing else {0}), (command, done.stderr)
        assert not list(anywhere.iterdir())


@pytest.mark.parametrize("tool", ["cargo", "cc", "python3"])
def test_setup_names_what_is_missing_in_one_line(tool: str, tmp_path: Path) -> None:
    needed = ["bash", "dirname", "cut", "sort", "printf", "head", "python3", "cargo", "rustc", "cc", "env"]
    for name in needed:
        path = sys.executable if name == "python3" else shutil.which(name)
        if name != tool and path:
            (tmp_path / name).symlink_to(path)
    setup = ROOT / "scripts" / "setup"
    done = subprocess.run(
        [setup],
        env={**os.environ, "PATH": str(tmp_path)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 1
    assert done.stderr.startswith("missing: ")
    assert done.stderr.count("\n") == 1
