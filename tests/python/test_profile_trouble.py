"""What a profiler complains of is told from what runners print, which may sound the same."""

from __future__ import annotations

from pathlib import Path

import fake_tools
import pytest
from conftest import FACTS
from parts import few
from profile_commands import ADVICE, PRETENDED, QUICK, bad, kept, profile_cli, told

from fastrnns_rs.verbs.profile.tool_messages import BEGIN, END, explain, select_tool_output

#: As nsys 2022.4 and nvprof 11.8 print them, or NVIDIA's documentation has them.
REAL = {
    "Failed to create '/m/t3.qdstrm': No space left on device.": "the disk is full",
    "OSError: [Errno 28] No space left on device": "the disk is full",
    "======== Warning: CUDA device error, GPU profiling skipped": "the profiler found no GPU that it can use",
    "======== Warning: No CUDA application was profiled, exiting": "the profiler found no GPU that it can use",
    "======== Warning: Skipping profiling on device 0 since profiling is not supported on devices with compute "
    "capability 7.5 and higher": "nvprof cannot profile this GPU",
    "==12== Warning: ERR_NVGPUCTRPERM - The user does not have permission": "the profiler has no permission",
    "Error: sampling requires root": "the profiler has no permission",
    "unrecognised option '--bogus=1'": "the profiler does not know an option",
    "Illegal --trace argument (cudb).": "the profiler does not know an option",
    "======== Error: Encountered invalid option : --bogus": "the profiler does not know an option",
    "sem_open: No such file or directory": "nsys missed its own agent",
    "Local Endpoint is not available": "nsys missed its own agent",
    "End of file": "nsys missed its own agent",
    "Connection reset by peer": "nsys missed its own agent",
    "CUPTI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED": "another profiler is at work in the same process",
    "Agent launcher failed.": "nsys cannot start its agent",
    "[tag_message*] = Unknown runtime API function index: 486": "nsys is older than the CUDA of the program",
}
#: As runners and their libraries may.
NOT_THE_TOOLS = (
    "this model requires root",
    "RuntimeError: CUDA error: no CUDA-capable device is detected",
    "loading with insufficient permissions, perf_event_paranoid is 4",
    "UserWarning: bfloat16 is not supported on this device",
    "another tool would do as well",
    "is it an unrecognized option?",
    "an illegal keyword argument",
    "ConnectionResetError: [Errno 104] Connection reset by peer",
    "reading the weights: End of file",
)
#: What only its place tells from a profiler's. nvprof's own mark it prints from inside, so nobody can tell that apart.
SPOKEN = [*NOT_THE_TOOLS, *(line for line in REAL if not line.startswith("==12=="))]
#: Prints all of that wherever it can.
SPEAKS = f"""
import os, subprocess, sys
from fastrnns_rs import runner

def speak():
    for line in {SPOKEN!r}:
        print(line)
        print(line, file=sys.stderr)
        subprocess.run(["echo", line], check=True)
    print("no end of a line", end="")

@runner("speaks")
def speaks(problem):
    import torch
    from fastrnns_rs import ModelDef
    weight = torch.ones(3, requires_grad=True)
    speak()
    def forward(value):
        speak()
        return value * 2
    return ModelDef(inputs=[weight], params=[weight], forward=forward,
                    backward_setup=lambda output: (output.sum(),), backward=lambda total: total.backward())
"""


@pytest.fixture
def speaks(tmp_path: Path) -> Path:
    file = tmp_path / "speaks.py"
    file.write_text(SPEAKS)
    return file


@pytest.mark.parametrize("line", REAL)
def test_what_tools_really_print_is_known(line: str) -> None:
    found = explain(f"Generating it\n{line}\nand more")
    assert found[0] == REAL[line]


def test_what_has_no_form_of_a_tool_is_not() -> None:
    assert [line for line in NOT_THE_TOOLS if explain(line) is not None] == []


@pytest.mark.parametrize("meaning", ADVICE)
@pytest.mark.parametrize("ran", [True, False])
def test_what_a_tool_complains_of_is_explained(meaning: str, tmp_path: Path, *, ran: bool) -> None:
    """Also where it exits with 0, as nsys does."""
    text = next(line for line in REAL if REAL[line] == meaning)
    error, hint = bad(tmp_path, f"{PRETENDED if ran else ''}print({text!r}, file=sys.std{'err' if ran else 'out'})")
    if ran:
        assert error.startswith("there is no valid capture: written:prof_py_")
        assert error.endswith(f"found no file ({meaning})")
    else:
        assert error == meaning
    assert ADVICE[meaning] in hint
    assert hint.endswith(".log")
    assert text in kept(tmp_path / "out")[1]


FRAMES = {
    "no frame": ("a\nb", "a\nb"),
    "a whole one": (f"a\n{BEGIN}\nb\n{END}\nc", "a\nc"),
    "it died": (f"a\n{BEGIN}\nb", "a"),
    "the beginning is cut off": (f"b\n{END}\nc", "c"),
    "a runner prints its end": (f"a\n{BEGIN}\nb\n{END}\nb\n{END}\nc", "a\nc"),
    "a runner prints its beginning": (f"a\n{BEGIN}\nb\n{BEGIN}\nb\n{END}\nc", "a\nc"),
    "nvprof speaks inside": (f"a\n{BEGIN}\nb\n==12== Error: x\n{END}\nc", "a\nc\n==12== Error: x"),
    "torch's profiler speaks inside": (
        f"{BEGIN}\nERROR:2026-01-02 03:04:05 1:1 CuptiActivityProfiler.cpp:1] x\nERROR: b\n{END}",
        "ERROR:2026-01-02 03:04:05 1:1 CuptiActivityProfiler.cpp:1] x",
    ),
}


@pytest.mark.parametrize("case", FRAMES)
def test_what_is_outside_of_the_frame_is_the_tools(case: str) -> None:
    printed, expected = FRAMES[case]
    assert select_tool_output(printed) == expected


def test_what_a_runner_prints_explains_nothing(speaks: Path, tmp_path: Path) -> None:
    error, hint = bad(tmp_path, "call.run()", "--runner-file", speaks, runners=("speaks",))
    assert error.startswith("there is no valid capture: written:prof_speaks_")
    assert error.endswith("found no file")
    [log] = (tmp_path / "out").glob("*.log")
    assert hint == f"everything that was printed is in {log}"
    assert log.read_text().count("this model requires root") == 9, "built and run, on both streams"


@pytest.mark.parametrize("stream", few(["err"], ["out", "err"], "profilers"))
@pytest.mark.parametrize("when", few(["after"], ["before", "after"], "profilers"))
def test_what_the_tool_prints_around_a_runner_does(when: str, stream: str, speaks: Path, tmp_path: Path) -> None:
    complaint = f"print('Failed to create it: No space left on device', file=sys.std{stream}, flush=True)"
    statements = f"{complaint}; call.run()" if when == "before" else f"call.run(); {complaint}"
    error, hint = bad(tmp_path, statements, "--runner-file", speaks, runners=("speaks",))
    assert error.endswith("found no file (the disk is full)")
    assert hint.startswith("make room")


@pytest.mark.long("profilers")
def test_what_is_printed_without_the_profiler_explains_nothing(speaks: Path, tmp_path: Path) -> None:
    speaks.write_text(f"{SPEAKS}\nif 'FASTRNNS_WORKER' in os.environ:\n    speak()\n")
    tool = fake_tools.nsys(tmp_path / "bin" / "nsys", profile=PRETENDED)
    asked = ["--nsys", "--nsys-path", tool, "--output-dir", tmp_path / "out", "--rnns", "speaks"]
    quick = [word for word in QUICK if word != "--no-unprofiled"]
    error, _ = told(profile_cli("--runner-file", speaks, *asked, *quick, facts=FACTS), 1)
    assert error.endswith("found no file")


def test_a_file_of_runners_that_speaks_and_ends_the_process(speaks: Path, tmp_path: Path) -> None:
    """Before it runs there is no frame; what counts is the form of a line."""
    said = "\n".join(NOT_THE_TOOLS)
    ends = f"\nif 'FASTRNNS_WORKER' in os.environ:\n    print({said!r}, flush=True)\n    os._exit(3)\n"
    speaks.write_text(SPEAKS + ends)
    error, _ = bad(tmp_path, "sys.exit(call.run())", "--runner-file", speaks, runners=("speaks",))
    assert error == "nsys ended without having run anything: exit status 3"


def test_how_it_ended_and_what_the_process_said_are_told_before_what_the_tool_said(tmp_path: Path) -> None:
    dies = "print('Agent launcher failed.', flush=True); import os; os.kill(os.getpid(), 11)"
    error, hint = bad(tmp_path, dies)
    ended = "it was killed by signal 11 (SIGSEGV)"
    assert error == f"nsys ended without having run anything: {ended} (nsys cannot start its agent)"
    assert "remove /dev/shm/NSys-*" in hint
    says = "[print(line, file=sys.stderr) for line in ('error: it is not so', 'hint: do that')]; sys.exit(2)"
    complains = "print('======== Warning: CUDA device error, GPU profiling skipped'); "
    error, hint = bad(tmp_path, complains + says, out="said")
    assert error.startswith("nsys ended without having run anything: it is not so")
    assert hint.startswith("do that; ")
