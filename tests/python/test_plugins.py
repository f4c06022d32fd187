"""Packages that add runners: installed by pip, listed, run in workers; and those that fail harm no other."""

from __future__ import annotations

import json
import os
import re
import sys
import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from types import SimpleNamespace

import pytest
from commands import finished, run_pretended
from conftest import TINY, Done, run_cli
from packages import install, wheel

import fastrnns_rs
from fastrnns_rs.errors import UsageError
from fastrnns_rs.problem.problem import Problem
from fastrnns_rs.runners import plugins, registry

#: Writes down who imports it.
MARK = """
import os, sys
with open(os.environ["IMPORTS"], "a") as file:
    file.write(__name__ + (" worker" if "FASTRNNS_WORKER" in os.environ else "") + "\\n")
"""
#: Its runner's function is made in another module than the one that registers it.
SOUND = {
    "sound_runners/__init__.py": MARK
    + """
from fastrnns_rs import runner
from sound_runners.making import made

print("from Python")
os.write(1, b"from below Python\\n")
sys.__stdout__.write("from behind our back\\n")
runner("packaged", group="rnns", description="adds one", honours=("bidirectional",), lacks=("amp",))(made(2))
runner("unmet", requires=("no_such_package", "no_such.inner"), description="cannot run here")(made(3))
""",
    "sound_runners/making.py": """
def made(factor):
    def create(problem):
        import torch
        from fastrnns_rs import ModelDef

        weight = torch.ones(3, requires_grad=True)
        return ModelDef([weight], [weight], lambda x: x * factor, lambda y: (y, y.detach()), lambda y, g: y.backward(g))

    create.__qualname__ = f"create_{factor}"
    return create
""",
}
RUNNER = "from fastrnns_rs import runner\n@runner({name!r})\ndef create(problem): pass\n"
BROKEN = {
    "raises.py": MARK + RUNNER.format(name="half") + "raise RuntimeError('first line\\nsecond line')\n",
    "exits.py": MARK + "sys.exit('enough')\n",
    "misspelt.py": "def (\n",
    "needs.py": "import no_such_package\n",
    "takes.py": RUNNER.format(name="cudnn"),
    "slips.py": "from fastrnns_rs import runner\nrunner('slip', honours=('bidirectinal',))(lambda problem: None)\n",
    "lies.py": "class Lie(BaseException):\n    def __str__(self): raise ValueError\nraise Lie\n",
    "mutes.py": "class Mute(Exception):\n    def __str__(self): raise SystemExit(0)\nraise Mute\n",
    "hides.py": """
class Hidden(type):
    __name__ = property(lambda cls: exit(0))
class Nameless(Exception, metaclass=Hidden):
    pass
raise Nameless("text")
""",
}
POINTS = {name.removesuffix(".py"): f"broken_runners.{name.removesuffix('.py')}" for name in BROKEN}
REASONS = {
    "raises": "RuntimeError: first line",
    "exits": "SystemExit: enough",
    "misspelt": "SyntaxError: invalid syntax (misspelt.py, line 1)",
    "needs": "ModuleNotFoundError: No module named 'no_such_package'",
    "takes": "UsageError: duplicate runner: 'cudnn' (name): a runner of this name exists in fastrnns_rs.models.lstm",
    "slips": "UsageError: invalid value of runner 'slip': ('bidirectinal',) (honours)",
    "lies": "Lie: its message cannot be shown: ValueError",
    "mutes": "Mute: its message cannot be shown: SystemExit",
    "hides": "Nameless: text",
    "lost": "AttributeError: module 'json' has no attribute 'nothing'",
}


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a package that works and one that does not."""
    folder, site = tmp_path_factory.mktemp("wheels"), tmp_path_factory.mktemp("site")
    broken = {f"broken_runners/{name}": text for name, text in BROKEN.items()} | {"broken_runners/__init__.py": ""}
    points = {**POINTS, "lost": "json:nothing"}
    sound = wheel(folder, "sound-runners", "1.2", {"sound": "sound_runners"}, SOUND)
    install([sound, wheel(folder, "broken-runners", "0.1", points, broken)], site)
    return site


def run(site: Path, *arguments: str | Path, **variables: str) -> Done:
    (site / "imports").unlink(missing_ok=True)
    path = os.pathsep.join([str(site), os.environ.get("PYTHONPATH", "")])
    return run_cli(*arguments, PYTHONPATH=path, IMPORTS=str(site / "imports"), **variables)


def test_what_fails_is_a_warning_and_the_others_are_listed(site: Path) -> None:
    done = run(site, "list", "--json")
    assert done.status == 0, done.stderr
    found = done.json()
    assert {one["code"] for one in found["warnings"]} == {"plugin_failed"}
    said = {one["evidence"].split()[0]: one["evidence"] for one in found["warnings"]}
    assert said.keys() == REASONS.keys()
    assert all(f": {REASONS[name]}" in evidence for name, evidence in said.items())
    assert "raises = broken_runners.raises of the package broken-runners 0.1: " in said["raises"]
    assert done.stderr.count("warning[plugin_failed]: ") == len(REASONS)
    runners = {one["name"]: one for one in found["runners"]}
    assert not {"half", "slip", "create"} & runners.keys()
    assert runners["cudnn"]["source"] == "fastrnns_rs.models.lstm"
    packaged = runners["packaged"]
    assert packaged["source"] == "sound-runners 1.2 (sound_runners.making)"
    assert packaged["package"] == "sound-runners 1.2"
    assert (packaged["honours"], packaged["lacks"]) == (["bidirectional"], ["amp"])
    assert runners["unmet"]["missing"] == ["no_such_package", "no_such.inner"]
    assert "packaged" in next(one["runners"] for one in found["groups"] if one["name"] == "rnns")
    for line in ("from Python", "from below Python", "from behind our back"):
        assert line in done.stderr
    assert "Traceback" not in done.stderr


def test_people_see_the_modes_and_the_package_of_a_runner(site: Path) -> None:
    done = run(site, "list", "runners", FASTRNNS_DEBUG="1", COLUMNS="160")
    lines = [line.split() for line in done.stdout.splitlines()]
    assert lines[0] == ["runner", "group", "family", "devices", "modes", "description"]
    packaged = next(line for line in lines if line[0] == "packaged")
    assert packaged == ["packaged", "rnns", "custom", "cpu,cuda", "B-a", "adds", "one", "(sound-runners", "1.2)"]
    unmet = next(line for line in done.stdout.splitlines() if line.startswith("unmet"))
    assert unmet.endswith("cannot run here; needs no_such_package and no_such.inner, not installed (sound-runners 1.2)")
    assert "B --bidirectional" in done.stdout.splitlines()[-1]
    assert done.stdout.index("description") <= 60
    assert done.stderr.count("Traceback") >= len(REASONS)
    assert "broken_runners/raises.py" in done.stderr


@pytest.mark.long("bench")
def test_a_runner_of_a_package_is_run_and_its_worker_loads_no_other(site: Path, tmp_path: Path) -> None:
    flags = ["--quick", "--processes", "1", "--warmup", "1", "--nloops", "3", "--device", "cpu", *TINY]
    path = tmp_path / "run.json"
    done = run(site, "bench", "--group", "rnns", "--rnns", "packaged", *flags, "--run-file", path)
    assert done.status == 0, done.stderr
    found = fastrnns_rs.Run.load(path)
    assert found["packaged"].status == "ok"
    assert found.plan.runners[0].source == "sound-runners 1.2 (sound_runners.making)"
    failed = [one for one in found.warnings if one.code == "plugin_failed"]
    assert len(failed) == len(REASONS)
    # The first three are printed, and how to show the others.
    assert done.stderr.count("warning[plugin_failed]: ") == 3
    assert " more warnings: fastrnns-rs show " in done.stderr
    imports = sorted((site / "imports").read_text().splitlines())
    assert imports == ["broken_runners.exits", "broken_runners.raises", "sound_runners", "sound_runners worker"]


def test_a_runner_that_failed_to_load_is_told_with_its_plug_in(site: Path) -> None:
    done = run(site, "bench", "--group", "rnns", "--rnns", "half")
    assert done.status == 2
    error, hint = [line for line in done.stderr.splitlines() if line.startswith(("error", "hint"))]
    assert error.startswith("error: unknown runner: 'half' (--rnns)")
    assert "raises = broken_runners.raises of the package broken-runners 0.1" in error
    assert hint.endswith(": fastrnns-rs list")
    assert "packaged" in run(site, "list").stdout


def test_damaged_packages_and_odd_folders_are_passed_over(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    first, second = tmp_path / "first", tmp_path / "second"
    for folder, version in ((first, "2.0"), (second, "1.0")):
        install_by_hand(folder, f"twice-{version}", f"[fastrnns_rs.runners]\none = module_{version[0]}\n")
    install_by_hand(second, "damaged-1.0", "[fastrnns_rs.runners]\nno equals sign\n")
    install_by_hand(second, "other-1.0", "[console_scripts]\nx = y:z\n")
    (second / "a.dist-info").write_text("a file")
    monkeypatch.setattr(sys, "path", [str(first), str(second), str(tmp_path / "nowhere"), None, "\0"])
    found, damaged = plugins.installed()
    assert [(one.package, one.name, one.value) for one in found] == [("twice 2.0", "one", "module_2")]
    assert [one.plugin.package for one in damaged] == ["damaged 1.0"]
    assert damaged[0].warning().code == "plugin_failed"


def test_a_package_of_the_working_directory_is_not_installed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Python searches it at a prompt, for modules that somebody imports."""
    install_by_hand(tmp_path, "theirs-1.0", "[fastrnns_rs.runners]\none = module\n")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", ["", *sys.path])
    assert "theirs 1.0" not in {one.package for one in plugins.installed()[0]}


def install_by_hand(site: Path, stem: str, points: str) -> None:
    info = site / f"{stem}.dist-info"
    info.mkdir(parents=True)
    name, version = stem.split("-")
    (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n")
    (info / "entry_points.txt").write_text(points)


def test_entry_points_are_read_from_files_alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Reading a pipe or a device could take for ever, or all memory."""
    for name in ("pipe", "zero"):
        (tmp_path / f"{name}-1.0.dist-info").mkdir()
    os.mkfifo(tmp_path / "pipe-1.0.dist-info" / "entry_points.txt")
    (tmp_path / "zero-1.0.dist-info" / "entry_points.txt").symlink_to("/dev/zero")
    install_by_hand(tmp_path, "theirs-1.0", "[fastrnns_rs.runners]\none = module\n")
    monkeypatch.setattr(sys, "path", [str(tmp_path)])
    assert {one.package for one in plugins.installed()[0]} == {"theirs 1.0"}


@pytest.mark.parametrize("name", ["METADATA", "PKG-INFO"])
def test_descriptions_are_read_from_files_alone(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for stem in ("pipe-1.0", "zero-1.0", "large-1.0", "theirs-1.0"):
        install_by_hand(tmp_path, stem, "[fastrnns_rs.runners]\none = module\n")
        if stem != "theirs-1.0":
            (tmp_path / f"{stem}.dist-info" / "METADATA").unlink()
    os.mkfifo(tmp_path / "pipe-1.0.dist-info" / name)
    (tmp_path / "zero-1.0.dist-info" / name).symlink_to("/dev/zero")
    (tmp_path / "large-1.0.dist-info" / name).touch()
    os.truncate(tmp_path / "large-1.0.dist-info" / name, 1 << 40)
    monkeypatch.setattr(sys, "path", [str(tmp_path)])
    found, damaged = plugins.installed()
    assert {one.package for one in found} == {"theirs 1.0"}
    assert [one.reason for one in damaged] == [f"OSError: {name} is not a file of at most 16 MiB"] * 3


@pytest.mark.parametrize("value", ["", ".", "a b", ":", "no_such_module [extra]", "os:path:join", "os.\0"])
def test_an_entry_point_that_names_nothing_is_a_failure(value: str) -> None:
    plugin = plugins.Plugin(name="x", value=value, package="p 1")
    failure = plugins.load(plugin)
    assert failure is not None
    assert failure.reason.isprintable()
    assert json.dumps(failure.reason)


def test_an_entry_point_may_name_an_attribute_and_extras() -> None:
    for value in ("os", "os:path.join", "os : path", "os:path [extra, another]"):
        assert plugins.load(plugins.Plugin(name="x", value=value, package="p 1")) is None


def test_a_package_in_a_package_that_is_missing_is_missing_too(monkeypatch: pytest.MonkeyPatch) -> None:
    # Our models register themselves when they are first imported, which must not be here.
    registry.all_runners()
    monkeypatch.setattr(registry, "_runners", {})
    registry.runner("unmet", requires=("os.path", "no_such.inner"))(lambda _problem: None)
    unmet = registry.find("unmet")
    assert unmet.missing() == ["no_such.inner"]
    assert unmet.refusal(Problem(mini_batch=2)) == "needs the package no_such.inner, which is not installed"


def test_a_required_module_may_be_in_another_folder_of_its_package(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    spread = "__path__ = __import__('pkgutil').extend_path(__path__, __name__)\n"
    for part in ("first", "second"):
        (tmp_path / part / "spread" / "inner").mkdir(parents=True)
        (tmp_path / part / "spread" / f"in_{part}.py").touch()
        for folder in ("spread", "spread/inner"):
            (tmp_path / part / folder / "__init__.py").write_text(spread)
        monkeypatch.syspath_prepend(tmp_path / part)
    (tmp_path / "first" / "spread" / "inner" / "deep.py").touch()
    names = ("spread.in_first", "spread.in_second", "spread.inner.deep", "spread.none", "spread.inner.none")
    registry.all_runners()
    monkeypatch.setattr(registry, "_runners", {})
    registry.runner("spread", requires=names)(lambda _problem: None)
    assert registry.find("spread").missing() == ["spread.none", "spread.inner.none"]


def test_a_required_package_that_fails_when_it_is_imported_affects_no_other_runner(tmp_path: Path) -> None:
    (tmp_path / "bad" / "inner").mkdir(parents=True)
    (tmp_path / "bad" / "__init__.py").write_text("raise OSError('libcudart.so.12')\n")
    (tmp_path / "bad" / "sub.py").touch()
    requires = ("bad.sub", "bad.inner", "bad.none", "bad.inner.none", "bad.", "torch.nn")
    needs = f"import fastrnns_rs\n@fastrnns_rs.runner('needs', requires={requires})\ndef needs(problem): pass\n"
    (tmp_path / "needs.py").write_text(needs)
    words = ["--quick", "--runner-file", "needs.py", "--group", "all", "--no-history", "--json"]
    done = run_pretended("bench", *words, cwd=tmp_path)
    assert done.status == 0, done.stderr
    [skipped] = [row["reason"] for row in done.json()["results"] if row["runner"] == "needs"]
    assert skipped == "needs the package bad.none, which is not installed"
    code = "from fastrnns_rs.runners import registry; registry.load_file('needs.py'); import sys; "
    code += "print(registry.find('needs').missing(), 'torch' in sys.modules)"
    found = finished([sys.executable, "-c", code], cwd=tmp_path)
    assert found.stdout == "['bad.none', 'bad.inner.none', 'bad.'] False\n", found.stderr


@pytest.mark.parametrize("name", ["", "two words", "a,b", "-x", "x\ud800", 3, None])
def test_a_name_that_no_flag_could_give_is_refused(name: object) -> None:
    with pytest.raises(UsageError, match=re.escape(f"{name!r} (name)")):
        registry.runner(name)(lambda _problem: None)
    assert name not in registry.all_runners()


@pytest.mark.parametrize(
    ("key", "values"),
    [
        *((key, ("cpu", ("cpus",), 3, ([],))) for key in ("honours", "lacks", "devices")),
        ("requires", ("numpy", 3, (3,))),
        ("layers", (2, (1,), (3, 1), (0, 1), ("1", None), (1, 2, 3), None)),
        *(("family", (None, 3)), ("description", (3,)), ("group", ("rnn", 3, ["rnns"], "all"))),
        *(("reference", (3,)), ("note", (None, "text"))),
    ],
)
def test_a_slip_of_the_pen_in_a_declaration_is_refused(key: str, values: tuple[object, ...]) -> None:
    for value in values:
        with pytest.raises(UsageError, match=re.escape(f"'slip': {value!r} ({key})")):
            registry.runner("slip", **{key: value})(lambda _problem: None)
    assert not registry.is_known("slip")


def test_a_thread_waits_for_the_plug_ins_that_another_one_loads(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It found no runner of them, and its own counted as theirs."""
    begun, asked = threading.Event(), threading.Event()
    monkeypatch.setitem(sys.modules, "events_of_test", SimpleNamespace(begun=begun, asked=asked))
    wait = "import time, events_of_test as e\ne.begun.set()\ne.asked.wait(30)\ntime.sleep(0.2)\n"
    (tmp_path / "slow_plug_in.py").write_text(f"{wait}{RUNNER.format(name='slow')}")
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setattr(registry, "_runners", dict(registry.all_runners()))
    monkeypatch.setattr(registry, "_plugins_wanted", True)
    plugin = plugins.Plugin(name="slow", value="slow_plug_in", package="slow 1.0")
    monkeypatch.setattr(plugins, "installed", lambda: ([plugin], []))

    def ask() -> set[str]:
        begun.wait(30)
        fastrnns_rs.runner("late")(lambda _problem: None)
        asked.set()
        return {*registry.all_runners()}

    with ThreadPoolExecutor() as pool:
        second = pool.submit(ask)
        assert "slow" in registry.all_runners()
        assert {"slow", "late"} <= second.result()
    assert [registry.find(name).source.plugin for name in ("slow", "late")] == ["slow_plug_in", None]
