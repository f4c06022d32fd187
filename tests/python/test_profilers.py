"""Which profilers are found, what is asked of them, and which commands they take: with fakes of many versions."""

from __future__ import annotations

import itertools
import os
import shutil
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import nullcontext
from dataclasses import replace
from pathlib import Path

import fake_tools
import pytest
from conftest import FACTS
from fake_tools import NSYS_VERSIONS

from fastrnns_rs._core import Profiler, profiler_names, run_command
from fastrnns_rs.cli.exit_codes import find_exit_code
from fastrnns_rs.errors import MissingError, UsageError
from fastrnns_rs.machine.facts import Facts
from fastrnns_rs.verbs.profile import tools

COMMAND = ["/usr/bin/python3", "-c", "print('a b')", "--output=x"]


@pytest.fixture(autouse=True)
def bare(monkeypatch: pytest.MonkeyPatch) -> None:
    """No profiler but those that a test makes."""
    monkeypatch.setenv("PATH", "/nowhere")
    for name in ("CUDA_HOME", "CUDA_PATH", "CUDA_ROOT", "FASTRNNS_PROFILE_NSYS_PATH", "FASTRNNS_PROFILE_NVPROF_PATH"):
        monkeypatch.delenv(name, raising=False)


def with_cuda(*capabilities: str) -> Facts:
    gpus = [{"compute_capability": one} for one in capabilities]
    known = {"device": "cuda", "cuda_device_count": len(gpus), "cuda_version": "13.2", "no_cuda_reason": None}
    return replace(FACTS, **known, gpus=gpus)  # type: ignore[arg-type]


def path_of(*programs: Path) -> str:
    return os.pathsep.join(str(program.parent) for program in programs)


def test_programs_are_found_wherever_installers_put_them(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    root = tmp_path / "root"
    places = {
        "nsys": [
            *("usr/local/cuda/bin", "usr/local/cuda-9.0/bin", "usr/local/cuda-12.4/bin"),
            *("opt/nvidia/nsight-systems/2024.6.1/bin", "opt/nvidia/nsight-systems-cli/2025.1.1/bin"),
            *("opt/nvidia/nsight-compute/2022.4/host/target-linux-x64", "usr/lib/nsight-systems/bin"),
        ],
        "nvprof": ["usr/local/cuda/bin", "usr/local/cuda-11.8/bin", "usr/lib/nvidia-cuda-toolkit/bin"],
    }
    for name, folders in places.items():
        made = [getattr(fake_tools, name)(root / folder / name) for folder in folders]
        assert sorted(Profiler.find(name, root=root)) == sorted(made)
        mine = getattr(fake_tools, name)(tmp_path / "mine" / name)
        toolkits = []
        for variable in ("CUDA_HOME", "CUDA_PATH", "CUDA_ROOT"):
            toolkits.append(getattr(fake_tools, name)(tmp_path / variable / "bin" / name))
            monkeypatch.setenv(variable, str(tmp_path / variable))
        monkeypatch.setenv("PATH", f"/nowhere{os.pathsep}{mine.parent}")
        found = Profiler.find(name, root=root)
        # What the user names comes first.
        assert found[:4] == [mine, *toolkits]
        assert sorted(found[4:]) == sorted(made)
        monkeypatch.undo()
        monkeypatch.setenv("PATH", "/nowhere")
    assert not Profiler.find("torch", root=root)
    assert not Profiler.find("none", root=root)
    with pytest.raises(ValueError, match="nsight"):
        Profiler.find("nsight", root=root)


def test_each_program_is_found_once_through_links(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    real = fake_tools.nsys(tmp_path / "root/usr/local/cuda-12.4/bin/nsys")
    (tmp_path / "root/usr/local/cuda").symlink_to("cuda-12.4")
    links = [tmp_path / "links" / "nsys", tmp_path / "links of links" / "nsys"]
    for link, target in zip(links, [real, links[0]], strict=True):
        link.parent.mkdir()
        link.symlink_to(target)
    monkeypatch.setenv("PATH", path_of(*links, links[0]))
    monkeypatch.setenv("CUDA_HOME", str(tmp_path / "root/usr/local/cuda"))
    assert Profiler.find("nsys", root=tmp_path / "root") == [links[0]]


def test_what_is_no_program_is_not_found(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    programs = [tmp_path / name / "nsys" for name in ("folder", "plain", "dangling", "loop")]
    folder, plain, dangling, loop = programs
    folder.mkdir(parents=True)
    fake_tools.nsys(plain).chmod(0o644)
    for link, target in ((dangling, tmp_path / "gone"), (loop, loop)):
        link.parent.mkdir()
        link.symlink_to(target)
    monkeypatch.setenv("PATH", path_of(*programs) + "::/dev/null:" + "x" * 5000)
    assert not Profiler.find("nsys", root=tmp_path)


def test_the_newest_is_taken_and_what_does_not_work_comes_last(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    # As numbers, the oldest first. A distribution's importer may be here, of version 2022.4.2.
    ordered = ["9.4.1.3", "2019.10.2", "2020.3", "2021.2", "2022.4.9", "2022.10.1", "2024.6", "2025.3"]
    made = {one: fake_tools.nsys(tmp_path / one / "nsys", one) for one in sorted(ordered)}
    broken = fake_tools.nsys(tmp_path / "broken" / "nsys", version="sys.exit('libstdc++.so.6: cannot open')")
    monkeypatch.setenv("PATH", path_of(broken, *made.values()))
    # Those that this machine really has come among them.
    found = [one for one in tools.search("nsys") if tmp_path in Path(one.path).parents]
    assert [Path(one.path).parent.name for one in found] == [*reversed(ordered), "broken"]
    assert (found[-1].tool, "cannot open" in str(found[-1].problem)) == (None, True)
    versions = [NSYS_VERSIONS.get(one, (one,))[0] for one in reversed(ordered)]
    assert [one.tool.version for one in found[:-1]] == versions


def test_a_path_or_a_variable_is_the_only_one(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    old, new = (fake_tools.nsys(tmp_path / one / "nsys", one, importer="pass") for one in ("2020.3", "2025.3"))
    monkeypatch.setenv("PATH", path_of(new))
    assert [one.path for one in tools.search("nsys", str(old))] == [str(old)]
    assert tools.choose("nsys", str(old)).path == old
    monkeypatch.setenv("FASTRNNS_PROFILE_NSYS_PATH", str(old))
    assert [one.path for one in tools.search("nsys")] == [str(old)]
    assert tools.choose("nsys", str(new)).path == new, "a flag wins over a variable"
    assert not tools.search("nvprof") or tools.search("nvprof")[0].path != str(old)
    monkeypatch.setenv("FASTRNNS_PROFILE_NSYS_PATH", "")
    assert tools.search("nsys")[0].path == str(new)


BROKEN = {
    "prints garbage": ("import os; os.write(1, bytes(range(256)) * 40)", "no version"),
    "prints nothing": ("pass", "no version"),
    "names no version": ("print('Usage: nsys [options]')", 'no version in the output "Usage: nsys [options]"'),
    "fails": ("print('libQt.so: not found', file=sys.stderr); sys.exit(127)", "status 127: libQt.so: not found"),
    "fails silently": ("sys.exit(1)", "status 1: no output"),
    "is killed": ("import os; os.kill(os.getpid(), 11)", "--version was killed"),
    "prints much": ("print('x' * 10_000_000)", "no version"),
    "huge numbers": ("print('version 99999999999999999999.1')", "no version"),
}


@pytest.mark.parametrize("case", BROKEN)
@pytest.mark.parametrize("name", tools.PROGRAMS)
def test_a_program_that_does_not_work_says_why(name: str, case: str, tmp_path: Path) -> None:
    statements, reason = BROKEN[case]
    path = getattr(fake_tools, name)(tmp_path / name, version=statements)
    with pytest.raises(RuntimeError) as raised:
        Profiler(name, path)
    assert reason in str(raised.value)
    assert str(path) in str(raised.value)
    assert len(str(raised.value)) < 1000
    found = tools.search(name, str(path))
    assert (found[0].tool, found[0].problem) == (None, str(raised.value))
    with pytest.raises(MissingError, match=f"'{name}': .*{path.name}"):
        tools.choose(name, str(path))


def test_a_version_without_help_does_not_work(tmp_path: Path) -> None:
    path = fake_tools.nsys(tmp_path / "nsys", help="sys.exit('no help')")
    with pytest.raises(RuntimeError, match="profile --help exited with status 1: no help"):
        Profiler("nsys", path)


@pytest.mark.parametrize(
    ("shown", "expected"),
    [
        ("nothing that looks like an option", []),
        ("usage\\n\\t-c, --capture-range=\\n\\t--capture-range-ends=\\n", ["--capture-range=cudaProfilerApi"]),
    ],
)
def test_an_option_that_a_version_does_not_know_is_not_given(shown: str, expected: list[str], tmp_path: Path) -> None:
    tool = Profiler("nsys", fake_tools.nsys(tmp_path / "nsys", help=f"print('{shown}')"))
    command = tool.wrap(COMMAND, "/s", cuda=True, capture_range=True)
    optional = ("--capture-range", "--stop-on-range-end", "--cuda-graph-trace", "--wait")
    assert [word for word in command if word.startswith(optional)] == expected


def test_what_cannot_even_be_started(tmp_path: Path) -> None:
    for name, mode, content in [
        ("plain", 0o644, b"#!/bin/sh\necho 2024.1\n"),
        ("garbage", 0o755, b"\x7fELF\x02garbage"),
        ("orphan", 0o755, b"#!/no/such/interpreter\n"),
    ]:
        (tmp_path / name).write_bytes(content)
        (tmp_path / name).chmod(mode)
    for name, problem in {
        "": "Permission denied",
        "plain": "Permission denied",
        "garbage": "Exec format error",
        "orphan": "No such file or directory",
        "missing": "No such file or directory",
        "plain/below": "Not a directory",
        "x" * 300: "File name too long",
    }.items():
        path = tmp_path / name
        found = tools.search("nsys", str(path))
        assert [(one.path, one.tool) for one in found] == [(str(path), None)]
        assert found[0].problem == f"{path}: {problem}"


@pytest.mark.long("profilers")
def test_a_program_that_hangs_is_given_up(tmp_path: Path) -> None:
    """The only slow test here: each is given 20 seconds, at the same time."""
    hangs = "import signal; signal.signal(signal.SIGTERM, signal.SIG_IGN); time.sleep(600)"
    paths = [fake_tools.nsys(tmp_path / verb / "nsys", **{verb: hangs}) for verb in ("version", "help")]
    started = time.monotonic()
    with ThreadPoolExecutor() as pool:
        version, helps = pool.map(lambda path: tools.search("nsys", str(path))[0], paths)
    assert 19 < time.monotonic() - started < 40, "both at the same time"
    assert "--version did not answer within 20 s" in str(version.problem)
    assert "profile --help did not answer within 20 s" in str(helps.problem)


@pytest.mark.parametrize("version", NSYS_VERSIONS)
def test_the_command_line_is_the_versions(version: str, tmp_path: Path) -> None:
    path = fake_tools.nsys(tmp_path / "nsys", version)
    tool = Profiler("nsys", path)
    known = {*fake_tools.USUAL, *NSYS_VERSIONS[version][1].split()}
    range_end = "--stop-on-range-end=true" if version < "2022" else "--capture-range-end=stop"
    for cuda in (False, True):
        for capture_range in (False, True):
            command = tool.wrap(COMMAND, "/x y/s.t", cuda=cuda, capture_range=capture_range)
            assert command[:2] == [str(path), "profile"]
            assert command[-len(COMMAND) :] == COMMAND
            options = command[2 : -len(COMMAND)]
            # An option that a version does not know ends it.
            assert {option.partition("=")[0] for option in options} <= known
            assert len({option.partition("=")[0] for option in options}) == len(options)
            assert f"--trace={'cuda,nvtx' if cuda else 'nvtx'}" in options
            assert {"--sample=none", "--force-overwrite=true", "--output=/x y/s.t"} <= {*options}
            ranged = cuda and capture_range
            assert ("--capture-range=cudaProfilerApi" in options) is ranged
            assert (range_end in options) is ranged
            assert ("--cuda-graph-trace=node" in options) is (cuda and "--cuda-graph-trace" in known)
            assert ("--wait=primary" in options) is ("--wait" in known)
            assert ("--cpuctxsw=none" in options) is ("--cpuctxsw" in known)
    assert ("graph_nodes" in tool.capabilities) is ("--cuda-graph-trace" in known)
    assert ("discard_environment" in tool.capabilities) is ("--discard-environment" in known)
    assert "capture_range" in tool.capabilities


def test_a_percent_sign_is_no_placeholder(tmp_path: Path) -> None:
    """Both programs put a number or a name where they read `%p` or `%h`, and refuse others: two stand for one."""
    nsys, nvprof = fake_tools.nsys(tmp_path / "nsys"), fake_tools.nvprof(tmp_path / "nvprof")
    command = Profiler("nsys", nsys).wrap(COMMAND, "/100%/%p%%q", cuda=False, capture_range=False)
    assert "--output=/100%%/%%p%%%%q" in command
    command = Profiler("nvprof", nvprof).wrap(COMMAND, "/100%/%p", cuda=False, capture_range=False)
    assert command[command.index("--export-profile") + 1] == "/100%%/%%p.nvvp"


SUFFIXES = [".qdstrm", ".nsys-rep", ".qdrep", ".sqlite"]


@pytest.mark.parametrize("importer", [True, False])
def test_the_next_step_follows_from_the_files(tmp_path: Path, *, importer: bool) -> None:
    tool = Profiler("nsys", fake_tools.nsys(tmp_path / "bin" / "nsys", importer="pass" if importer else None))
    (tmp_path / "folder.sqlite").mkdir()
    (tmp_path / "folder.nsys-rep").mkdir()
    assert tool.finish(tmp_path / "folder") is None
    # Each of the four files is missing, empty or written.
    for number, states in enumerate(itertools.product(range(3), repeat=4)):
        stem = tmp_path / f"s.{number}"
        for suffix, state in zip(SUFFIXES, states, strict=True):
            if state:
                stem.with_name(stem.name + suffix).write_text("x" * (state - 1))
        step = tool.finish(stem)
        written = [suffix for suffix, state in zip(SUFFIXES, states, strict=True) if state == 2]
        reports = [suffix for suffix in (".nsys-rep", ".qdrep") if suffix in written]
        if ".sqlite" in written:
            assert step is None
        elif reports:
            assert step[1:3] == ["export", "--type=sqlite"]
            assert step[-1] == f"{stem}{reports[0]}"
            assert {f"--output={stem}.sqlite", "--force-overwrite=true"} <= {*step}
        elif ".qdstrm" in written and tool.importer_path is not None:
            assert step[0] == str(tool.importer_path)
            assert step[step.index("--input-file") + 1] == f"{stem}.qdstrm"
            assert step[step.index("--output-file") + 1] == f"{stem}.nsys-rep"
        else:
            assert step is None


def test_nvprof_is_asked_for_a_profile_and_two_tables(tmp_path: Path) -> None:
    path = fake_tools.nvprof(tmp_path / "nvprof")
    tool = Profiler("nvprof", path)
    assert (tool.version, tool.version_numbers) == ("11.8.87", [11, 8, 87])
    assert "capture_range" in tool.capabilities
    stem = tmp_path / "s.t"
    whole = tool.wrap(COMMAND, stem, cuda=True, capture_range=False)
    assert whole == [str(path), "--force-overwrite", "--export-profile", f"{stem}.nvvp", *COMMAND]
    ranged = tool.wrap(COMMAND, stem, cuda=True, capture_range=True)
    assert ranged == [str(path), "--profile-from-start", "off", *whole[1:]]
    assert tool.finish(stem) is None
    stem.with_name("s.t.nvvp").touch()
    assert tool.finish(stem) is None
    fake_tools.nvprof_database(stem.with_name("s.t.nvvp"))
    steps = []
    while (step := tool.finish(stem)) is not None:
        steps.append(step)
        assert run_command(step).exit_status == 0
    assert [step[step.index("--csv") + 1] for step in steps] == ["--print-gpu-summary", "--print-gpu-trace"]
    kinds = {kind: path.is_file() for path, kind, _ in tool.artefacts(stem)}
    assert kinds == {"nvprof_profile": True, "nvprof_gpu_summary": True, "nvprof_gpu_trace": True}


def test_profilers_without_a_program() -> None:
    assert profiler_names() == ["nsys", "nvprof", "torch", "none"]
    for name in ("torch", "none"):
        tool = Profiler(name)
        assert (tool.path, tool.version, tool.version_numbers, tool.importer_path) == (None, None, [], None)
        assert tool.wrap(COMMAND, "/s", cuda=True, capture_range=True) == COMMAND
        assert not tool.artefacts("/s")
        assert tool.finish("/s") is None
    for name in tools.PROGRAMS:
        with pytest.raises(ValueError, match=f"{name} without a program"):
            Profiler(name)


def described(facts: Facts | None) -> dict[str, tools.ProfilerEntry]:
    return {one.name: one for one in tools.describe_all(facts)}


def test_what_doctor_says_of_each(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    nsys = fake_tools.nsys(tmp_path / "bin" / "nsys", "2025.3", importer="pass")
    nvprof = fake_tools.nvprof(tmp_path / "bin" / "nvprof")
    monkeypatch.setenv("FASTRNNS_PROFILE_NSYS_PATH", str(nsys))
    monkeypatch.setenv("FASTRNNS_PROFILE_NVPROF_PATH", str(nvprof))
    found = described(FACTS)
    assert [*found] == ["nsys", "nvprof", "torch"]
    one = found["nsys"]
    assert (one.path, one.version, one.status) == (str(nsys), NSYS_VERSIONS["2025.3"][0], "limited")
    assert one.reason == "no GPU: nsys records NVTX ranges, but no kernels"
    assert one.importer_path == str(tmp_path / "host-linux-x64" / "QdstrmImporter")
    assert {"cuda", "nvtx", "sqlite", "capture_range", "discard_environment", "import_qdstrm"} <= {*one.capabilities}
    assert "no GPU" in str(one.reason)
    assert (found["nvprof"].status, found["nvprof"].reason) == ("unusable", "no NVIDIA GPU was found")
    assert (found["torch"].status, found["torch"].version, found["torch"].reason) == (
        "usable",
        FACTS.torch_version,
        None,
    )
    found = described(with_cuda("7.5"))
    assert {name: (one.status, one.reason) for name, one in found.items()} == dict.fromkeys(found, ("usable", None))
    found = described(with_cuda("9.0"))
    assert (found["nsys"].status, found["nvprof"].status) == ("usable", "unusable")
    assert found["nvprof"].reason == "it ends at compute capability 7.5, and this GPU has 9.0"
    assert described(with_cuda("9.0", "7.0"))["nvprof"].status == "usable"
    found = described(None)
    assert [one.status for one in found.values()] == ["limited", "unusable", "missing"]


@pytest.mark.parametrize("capability", ["9.0", "7.0"])
def test_nvprof_profiles_no_gpu_of_rocm(capability: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """gfx90a has capability 9.0 there: the reason is the build of torch, and no capability."""
    monkeypatch.setenv("FASTRNNS_PROFILE_NVPROF_PATH", str(fake_tools.nvprof(tmp_path / "nvprof")))
    rocm = replace(with_cuda(capability), cuda_version=None)
    one = described(rocm)["nvprof"]
    assert one.status == "unusable"
    assert "ROCm" in str(one.reason)
    assert "capability" not in str(one.reason)
    with pytest.raises(MissingError, match="ROCm") as caught:
        tools.check_usable("nvprof", rocm)
    assert find_exit_code(caught.value) == 5
    tools.check_usable("torch", rocm)


def test_nvprof_profiles_no_cpu_beside_a_gpu() -> None:
    """It writes nothing about a program without CUDA: the capture failed after both runs."""
    tools.check_usable("nvprof", replace(with_cuda("7.0"), device="cuda"))
    for tool, check in (("nvprof", pytest.raises(UsageError, match="and the device is cpu")), ("nsys", nullcontext())):
        with check:
            tools.check_usable(tool, replace(with_cuda("7.0"), device="cpu"))


def test_doctor_names_what_is_broken_or_missing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    broken = fake_tools.nsys(tmp_path / "nsys", version="sys.exit(3)")
    monkeypatch.setenv("FASTRNNS_PROFILE_NSYS_PATH", str(broken))
    monkeypatch.setenv("FASTRNNS_PROFILE_NVPROF_PATH", str(tmp_path / "missing"))
    found = described(FACTS)
    assert (found["nsys"].path, found["nsys"].status, found["nsys"].version) == (str(broken), "unusable", None)
    assert "status 3" in str(found["nsys"].reason)
    assert found["nvprof"].reason == f"{tmp_path / 'missing'}: No such file or directory"
    assert tools.best(with_cuda("9.0")) == "torch", "a nsys that does not work is no choice"
    monkeypatch.setenv("FASTRNNS_PROFILE_NSYS_PATH", str(fake_tools.nsys(tmp_path / "nsys")))
    assert tools.best(with_cuda("9.0")) == "nsys"
    assert tools.best(FACTS) == "torch"


@pytest.mark.skipif(shutil.which("nsys") is None, reason="nsys is not installed; scripts/install-profilers does that")
def test_the_real_nsys_knows_every_option_that_it_is_given(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.undo()
    tool = tools.choose("nsys")
    shown = run_command([str(tool.path), "profile", "--help"]).stdout_tail
    command = tool.wrap(COMMAND, "/s", cuda=True, capture_range=True)
    for word in command[2 : -len(COMMAND)]:
        assert f"{word.partition('=')[0]}=" in shown
