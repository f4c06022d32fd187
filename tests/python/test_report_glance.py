"""A report at a glance: it fits its terminal, adds up, and no two rows look the same."""

from __future__ import annotations

import json
import os
import pickle
import re
import threading
from pathlib import Path
from typing import Any

import pytest
from commands import run_process
from conftest import run_cli
from corpus import captures
from hypothesis import example, given, settings
from hypothesis import strategies as st
from kineto_traces import Event, call, document, kernel, operator, write
from summary_documents import summary_of

import fastrnns_rs
from fastrnns_rs.views.kernel_names import function, shortened
from fastrnns_rs.views.scale import Scale, time
from fastrnns_rs.views.summary.glance import glance
from fastrnns_rs.views.text import width

SHARES = re.compile(r"(-?\d+\.\d) %")


@pytest.mark.parametrize("columns", [60, 80, 120])
@pytest.mark.parametrize("path", [*captures("kineto/*.gz"), *captures("nsys/*.sqlite"), *captures("nvprof/*[ev][26]*")])
def test_every_capture_fits_the_terminal(path: Path, columns: int) -> None:
    text = fastrnns_rs.read(path).render(width=columns)
    lines = text.splitlines()
    # A command is to be copied in one line, and a path of one's own may be as long as it likes.
    wide = [line for line in lines if width(line) > columns and str(path) not in line]
    assert wide == []
    assert "\n\n\n" not in text
    if columns == 80 and "warning[" not in text and "GPUs" not in text:
        # A long name of a file takes a second line for the GPU.
        assert len(lines) < 24 + lines[1].startswith("  ")


@pytest.mark.parametrize("path", captures("kineto/*.gz"))
def test_halves_add_up_to_the_span(path: Path) -> None:
    """Each half to its first row, and both to the whole, as far as one decimal of each row can."""
    lines = fastrnns_rs.read(path).render(width=80).splitlines()
    rows = [
        line.ljust(80) for line in lines if line.startswith(("  ", "GPU busy")) and " %" in line and "[" not in line
    ]
    if not rows:
        assert lines[1].startswith("No GPU activity")
        return
    for left, right in ((0, 41), (41, 80)):
        whole, *parts = [float(found[0]) for row in rows if (found := SHARES.findall(row[left:right]))]
        assert sum(parts) == pytest.approx(whole, abs=0.06 * len(parts) + 0.06)


def test_the_screen_to_the_letter(tmp_path: Path) -> None:
    """Two kernels and a copy in an iteration that data was waited for."""
    add = "void at::native::add<4, Functor<float> >(int)"
    runs = ((add, 20, 80), (add, 110, 90), ("sgemm_128x64", 210, 90))
    events: list[Event] = []
    for number, (name, start, length) in enumerate(runs, 1):
        launch = call(start=start - 15)
        launch["args"] = {"correlation": number}
        events += [launch, kernel(name, start, length, correlation=number)]
    path = write(tmp_path / "x.json", document(events))
    assert (
        fastrnns_rs.read(path).render(width=80).splitlines()
        == f"""\
x.json: torch.profiler trace, 6 events, GPU zero
Kernels of category other took 60.7 % of 280.0 µs.

                        µs   of span                             µs   of span
GPU busy             260.0    92.9 %     GPU idle              20.0     7.1 %
  other              170.0    60.7 %       dependency          20.0     7.1 %
  gemm                90.0    32.1 %

kernel                                    total µs   of span  launches   mean µs
at::native::add<4, Functor<float> >          170.0    60.7 %         2     85.00
sgemm_128x64                                  90.0    32.1 %         1     90.00

Next: fastrnns-rs report {path} --by kernel""".splitlines()
    )


def test_a_capture_of_the_cpu_lists_its_operators(tmp_path: Path) -> None:
    """With the time that each took itself, whichever of two that start together was written first."""
    events = [operator("inner", 10, 4), operator("outer", 10, 10), operator("inner", 16, 2), operator("alone", 30, 5)]
    path = write(tmp_path / "x.json", document(events))
    summary = fastrnns_rs.read(path)
    assert summary.warnings == []
    rows = {row.name: (row.count, row.total_ns, row.self_ns) for row in summary.cpu_operators}
    assert rows == {"inner": (2, 6_000, 6_000), "outer": (1, 10_000, 4_000), "alone": (1, 5_000, 5_000)}
    lines = summary.render(width=80).splitlines()
    assert lines[1] == "No GPU activity: 4 events of a CPU capture."
    assert [line.split()[0] for line in lines[4:7]] == ["inner", "alone", "outer"]
    assert lines[-1] == f"Next: fastrnns-rs report {path} --by operator"
    # With GPU activity operators are not read, and not all captures of a job have any.
    both = write(tmp_path / "y.json", document([*events, call(), kernel("k", 5)]))
    assert fastrnns_rs.read(path, both).cpu_operators == fastrnns_rs.read(both).cpu_operators == []


@pytest.mark.parametrize("compressed", [False, True])
def test_a_pipe_has_the_operators_of_a_file(compressed: bool, tmp_path: Path) -> None:
    """A pipe cannot be read twice, and had none."""
    events = [operator("outer", 10, 10), operator("inner", 12, 3)]
    path, pipe = write(tmp_path / f"x.json{'.gz' if compressed else ''}", events), tmp_path / "pipe"
    os.mkfifo(pipe)
    threading.Thread(target=lambda: pipe.write_bytes(path.read_bytes()), daemon=True).start()
    found = fastrnns_rs.read(pipe)
    assert found.cpu_operators == fastrnns_rs.read(path).cpu_operators
    assert [row.name for row in found.cpu_operators] == ["outer", "inner"]


@settings(max_examples=60)
@example([("a", 0, 1, 1), ("b", 0, 1, 1)])
@given(
    st.lists(
        st.tuples(st.sampled_from("ab"), st.integers(0, 60), st.integers(0, 30), st.sampled_from([1, 2])), max_size=25
    )
)
def test_operators_without_what_they_call(runs: list[tuple[str, int, int, int]]) -> None:
    """Against every nanosecond of nested runs: the innermost open one owns it, of equal ones that written last."""
    import tempfile

    nested: list[tuple[str, int, int, int]] = []
    for name, start, length, thread in runs:
        inside = [(s, s + n) for _, s, n, t in nested if t == thread]
        if all(end <= start or start + length <= s or (s <= start and start + length <= end) for s, end in inside):
            nested.append((name, start, length, thread))
    expected: dict[str, int] = {name: 0 for name, *_ in nested}
    for thread in (1, 2):
        for at in range(100):
            open_ = [(n, s, -place) for place, (name, s, n, t) in enumerate(nested) if t == thread and s <= at < s + n]
            if open_:
                expected[nested[-min(open_)[2]][0]] += 1_000
    events = [operator(name, start, length) | {"tid": thread} for name, start, length, thread in nested]
    with tempfile.TemporaryDirectory() as folder:
        summary = fastrnns_rs.read(write(Path(folder) / "x.json", document(events)))
    assert {row.name: row.self_ns for row in summary.cpu_operators} == expected


def test_a_capture_that_ends_early_is_no_capture_of_a_cpu(tmp_path: Path) -> None:
    text = '{"traceEvents": [{"ph": "X", "cat": "cpu_op", "name": "aten::mm", "pid": 1, "tid": 1, "ts": 1, "dur": 2},'
    screen = fastrnns_rs.read(write(tmp_path / "x.json", text)).render(width=80)
    assert screen.splitlines()[1] == "No GPU activity in what could be read: the capture is incomplete."
    assert "warning[capture_incomplete]:" in screen


def test_a_trace_of_another_program_is_no_capture_of_a_cpu(tmp_path: Path) -> None:
    """JAX, for example, writes Chrome's format with other categories, and GPUs as processes."""
    device = {"ph": "M", "name": "process_name", "pid": 1, "args": {"name": "/device:GPU:0"}}
    fusion = {"ph": "X", "pid": 1, "tid": 13, "ts": 10, "dur": 5, "name": "loop_fusion", "args": {"hlo_op": "fusion.1"}}
    screen = fastrnns_rs.read(write(tmp_path / "x.json", document([device, fusion]))).render(width=80)
    assert screen.splitlines()[1] == "No known activity in 2 events: the trace may not be of torch."


def test_a_selection_that_leaves_nothing_says_so(tmp_path: Path) -> None:
    path = write(tmp_path / "x.json", document([call(), kernel("k", 5)]))
    assert run_cli("report", path, "--devices", "7").stdout.splitlines()[1] == "No GPU activity matches the selection."


def devices(count: int, **more: Any) -> dict[str, Any]:
    """A summary of several devices, each busy for as many microseconds as its number."""
    summary = summary_of("k")
    (device,) = summary["devices"]
    idle = [{"name": "host", "count": 1, "total_ns": 1}]
    rows = [device | {"device_id": number, "busy_ns": 1000 * number, "span_ns": 10**6} for number in range(count)]
    summary["devices"] = [row | {"budget": row["budget"] | {"idle": idle}} | more for row in rows]
    return summary


@pytest.mark.parametrize(("count", "labels"), [(2, ["0", "1"]), (8, [*"01234567"]), (1000, ["999", "499", "0"])])
def test_several_gpus_have_a_row_each_and_many_three(count: int, labels: list[str]) -> None:
    lines = glance(devices(count, rank=None), width=80).splitlines()
    (head,) = (place for place, line in enumerate(lines) if line.startswith("GPU "))
    rows = lines[head + 1 : head + 1 + len(labels)]
    assert [row.split()[0] for row in rows] == labels
    if count == 1000:
        assert [row.split()[1] for row in rows] == ["(slowest)", "(median)", "(fastest)"]
        assert len(lines) <= 40
    assert lines[head + 1 + len(labels)] == ""


def test_the_cause_of_idle_time_shows_its_control_codes() -> None:
    summary = devices(2, rank=None)
    summary["devices"][0]["budget"]["idle"][0]["name"] = "\x1b]0;x\x07\u202e"
    assert r"\x1b]0;x\x07\u{202e}" in glance(summary, width=100)


def test_a_kernel_on_two_gpus_is_one_row(tmp_path: Path) -> None:
    events = [kernel("gemm", 10 * place, 2 + device, device=device) for device in (0, 1) for place in range(3)]
    path = str(write(tmp_path / "x.json", document([*events, kernel("alone", 50, 4, device=1)])))

    def rows(*options: str) -> list[list[str]]:
        lines = run_cli("report", path, *options).stdout.splitlines()
        return [line.split() for line in lines if line.endswith(("gemm", "alone", "name", "more"))]

    names = ["per", "GPU,", "total,"]
    # The mean of 6 and 9 µs, and of 0 and 4.
    both = rows("--by", "kernel")
    assert names[0] in both[0]
    assert names[2] not in both[0]
    assert [(row[-1], row[1], row[2]) for row in both[1:]] == [("gemm", "0.007500", "6"), ("alone", "0.002000", "1")]
    apart = rows("--by", "device")
    assert names[2] in apart[-4]
    assert [(row[-1], row[1], row[-3]) for row in apart[-3:]] == [
        *(("gemm", "0.009000", "1"), ("gemm", "0.006000", "0"), ("alone", "0.004000", "1")),
    ]
    document_of = json.loads(run_cli("report", path, "--by", "kernel", "--json").stdout)
    assert [row["device_id"] for row in document_of["kernels"]] == [1, 0, 1]


def test_the_next_command_names_the_files_where_they_fit_the_screen() -> None:
    summary = summary_of("a b.json")
    assert glance(summary).splitlines()[-1] == "Next: fastrnns-rs report 'a b.json' --by idle"
    summary["captures"] *= 2
    assert glance(summary).splitlines()[-1] == "Next: fastrnns-rs report 'a b.json' 'a b.json' --by idle"
    summary["captures"] *= 50
    assert glance(summary).splitlines()[-1] == "Next: fastrnns-rs report FILE... --by idle"
    assert glance(summary_of("-x")).splitlines()[-1] == "Next: fastrnns-rs report ./-x --by idle"


@pytest.mark.parametrize(
    ("words", "command"),
    [
        (["t.json", "--devices", "0", "--top", "3", "--color", "never"], "t.json --devices 0 --by idle"),
        (["--match", "gemm", "t.json", "--quiet"], "--match gemm t.json --by kernel"),
        (["--filter", "gemm", "--since", "0ns", "t.json"], "--filter gemm --since 0ns t.json --by idle"),
        (["t.json", "--devices", "0", "-1"], "t.json --devices 0 -1 --by idle"),
        (["t.json", "--device=0"], "t.json --device=0 --by idle"),
        (["t.json", "--by", "overview", "--names", "short"], "t.json --by idle"),
        (["t.json", "t.json"], "t.json t.json --by idle"),
        (["."], ". --by idle"),
    ],
)
def test_the_next_command_keeps_files_as_given_and_the_selection(
    words: list[str], command: str, tmp_path: Path
) -> None:
    write(tmp_path / "t.json", document([call(), kernel("gemm"), kernel("gemm", 900)]))
    done = run_cli("report", *words, cwd=tmp_path)
    assert done.status == 0, done.stderr
    last = done.stdout.splitlines()[-1]
    assert last.rpartition(" ")[0] == f"Next: fastrnns-rs report {command}".rpartition(" ")[0]
    assert run_cli(*last.split()[2:], cwd=tmp_path).status == 0


def test_a_selection_from_python_has_no_next_command(tmp_path: Path) -> None:
    """A command that names only the files would report other figures."""
    path = write(tmp_path / "t.json", document([call(), kernel("gemm"), kernel("gemm", 900)]))
    whole, part = fastrnns_rs.read(path), fastrnns_rs.read(path, devices=[0], since_ns=0)
    assert whole.render().splitlines()[-1].startswith("Next: fastrnns-rs report")
    assert "Command of this report" in whole.render("html")
    for summary in (part, pickle.loads(pickle.dumps(part))):
        assert whole.render().rpartition("\nNext:")[0] == summary.render()
        assert "Command of this report" not in summary.render("html")
    plain = summary_of("a.json")
    plain["warnings"] = [{"code": "c", "message": "m", "evidence": "e", "hint": None}] * 5
    assert glance(plain, selected=True).splitlines()[-1] == "2 more warnings"


def test_top_0_folds_all_categories_of_the_budget(tmp_path: Path) -> None:
    names = ("sgemm", "triton_poi_1", "cudnn_conv")
    events = [call(), *(kernel(name, 50 * place, 20) for place, name in enumerate(names))]
    lines = fastrnns_rs.read(write(tmp_path / "t.json", document(events))).render(top=0).splitlines()
    assert [line[:26].split() for line in lines if line.startswith("  ") and "of span" not in line] == [
        ["other", "kernels", "60.00"]
    ]


def test_warnings_beyond_three_are_counted() -> None:
    summary = summary_of("k")
    summary["warnings"] *= 7
    text = glance(summary)
    assert text.count("warning[k]: k: k\n  hint: k\n") == 3
    assert "\n4 more warnings: fastrnns-rs report k --wide\n" in text


ENGINE = "void cudnn::cnn::engine<float, {}, 6, 7, 3, 3, 5, false, 512, a_long_type>(int, float*)"
XMMA = "sm80_xmma_gemm_f32f32_f32f32_f32_tn_n_tilesize{}x8_stage3_warpsize{}x1_ffma_aligna4_alignc4_execute_{}kernel"


@pytest.mark.parametrize(
    ("names", "short", "expected"),
    [
        (["void a::b<4>(int)"], "b", ["a::b<4>"]),
        (["void (anonymous namespace)::b<4>(int)"], "b", ["(anonymous namespace)::b<4>"]),
        (["void a_namespace_of_some::length_that::b<4, (int)512>(int)"], "b", ["b<4, 512>"]),
        (["void a<4>(int)", "void b<4>(int)"], "other", ["void a<4>(int)", "void b<4>(int)"]),
        ([ENGINE.format(128)], "engine", ["engine<float, 128, …, 512, a_long_type>"]),
        (
            [ENGINE.replace("6", one).format(128) for one in ("6", "8")],
            "engine",
            ["engine<…, 6, …>", "engine<…, 8, …>"],
        ),
        (
            [
                XMMA.format("64x256", "1x4", ""),
                XMMA.format("128x128", "2x2", ""),
                XMMA.format("64x256", "1x4", "split_k_"),
            ],
            "",
            [f"sm80_xmma_gemm_f32f32…{part}" for part in ("64x256x8…execute", "128x128x8…execute", "64x256x8…split_k")],
        ),
    ],
)
def test_names_lose_what_tells_least(names: list[str], short: str, expected: list[str]) -> None:
    assert shortened([(name, short or name) for name in names], 40) == expected


@settings(max_examples=200)
@example(["void k<111漢1>(int)"], 8)
@given(
    st.lists(
        st.text(st.sampled_from("ab1_<>(), :漢\x1b\u202e*"), max_size=60).map(lambda text: f"void k<{text}>(int)")
        | st.text(st.sampled_from("ab1_x"), min_size=30, max_size=60),
        unique=True,
        max_size=12,
    ),
    st.integers(8, 60),
)
def test_no_two_names_look_the_same(names: list[str], room: int) -> None:
    found = shortened([(name, "k" if name.startswith("void k<") else name) for name in names], room)
    assert len(set(found)) == len(names)
    assert all(width(one) <= room for one in found)
    assert not any(one in "\x1b\u202e" for text in found for one in text)


def test_a_function_is_the_name_up_to_its_template_arguments() -> None:
    assert function("void cutlass::Kernel<a::b<4> >(a::b<4>::Params)", "Kernel") == "cutlass::Kernel"
    assert (
        function("void at::native::(anonymous namespace)::copy<4>(int)", "copy")
        == "at::native::(anonymous namespace)::copy"
    )
    assert function("ncclKernel(int)", "ncclKernel") == "ncclKernel"
    assert function("_ZN1a1bE", "_ZN1a1bE") == "_ZN1a1bE"


def test_a_column_has_one_unit_and_four_digits() -> None:
    scale = Scale([996_477_000, 283_707_000, 54_000])
    assert (scale.unit, scale.text(996_477_000), scale.text(54_000)) == ("ms", "996.5", "0.1")
    assert Scale([]).text(0) == "0.000"
    assert Scale([2e3, 5e6]).unit == "ms"
    # Next to another column its decimals, as long as they tell something.
    assert Scale([80_756_000], scale).text(80_756_000) == "80.8"
    assert Scale([4_111_000], scale).text(4_111_000) == "4.11"
    assert [time(one) for one in (999_960_000, 12_345, 0.4)] == ["1.000 s", "12.35 µs", "0 ns"]


@pytest.mark.parametrize("variables", [{"LC_ALL": "C"}, {"PYTHONIOENCODING": "ascii"}])
def test_symbols_become_ascii(variables: dict[str, str], tmp_path: Path) -> None:
    path = write(tmp_path / "t.json", document([call(), kernel("k" * 90), kernel("b", 900)]))
    done = run_process("report", path, **variables)
    assert (done.status, done.stdout.isascii(), "mean us" in done.stdout, "kkk..." in done.stdout) == (
        0,
        True,
        True,
        True,
    )
