"""`fastrnns-rs bench` as a person uses it: flags, formats, failures and exit codes."""

from __future__ import annotations

import json
import os
import stat
from pathlib import Path

import pytest
from commands import run_pretended, run_with_facts
from conftest import PLANTED, TINY, run_cli
from models_under_test import OURS

ONCE = ["--device", "cpu", "--processes", "1", "--nloops", "2", "--warmup", "1"]
FAST = [*ONCE, *TINY]
PLANTED_RUN = ["bench", "--group", "rnns", "--runner-file", PLANTED, *FAST]


def names(document: dict[str, object]) -> list[str]:
    return [row["runner"] for row in document["results"]]


def test_a_link_stays_a_link(tmp_path: Path) -> None:
    (tmp_path / "link.json").symlink_to(tmp_path / "real.json")
    assert run_pretended(*PLANTED_RUN, "--rnns", "sound", "--output", tmp_path / "link.json").status == 0
    assert (tmp_path / "link.json").is_symlink()
    assert json.loads((tmp_path / "real.json").read_text())["status"] == "complete"


@pytest.mark.parametrize(
    "flags",
    [
        ["--seqLength", "3", "--numLayers", "2", "--inputSize", "4", "--hiddenSize", "5", "--miniBatch", "2"],
        ["--seq-length", "3", "--num-layers", "2", "--input-size", "4", "--hidden-size", "5", "--mini-batch", "2"],
        ["--seq_length=3", "--num_layers=2", "--input_size=4", "--hidden_size=5", "--mini_batch=2"],
    ],
)
def test_sizes_have_three_spellings(flags: list[str]) -> None:
    done = run_pretended("bench", "--group", "rnns", "--rnns", "cudnn", *ONCE, "--json", *flags)
    problem = done.json()["results"][0]["problem"]
    names = ("seq_length", "num_layers", "input_size", "hidden_size", "mini_batch")
    assert [problem[name] for name in names] == [3, 2, 4, 5, 2]


@pytest.mark.parametrize(
    "flags",
    [
        ["--rnns", "sound", "prints"],
        ["--rnns", "sound,prints"],
        ["--rnns=sound,prints"],
        ["--rnns", "sound", "--rnns", "prints"],
    ],
)
def test_lists_have_four_spellings(flags: list[str]) -> None:
    done = run_pretended(*PLANTED_RUN, *flags, "--json")
    assert names(done.json()) == ["sound", "prints"]


@pytest.mark.long("bench")
def test_upstream_formats_and_columns() -> None:
    arguments = ["bench", "--group", "rnns", "--rnns", "cudnn", "cudnn_layernorm", *FAST]
    oss = run_with_facts(*arguments, "--print-json")
    assert list(oss.json()) == ["lstm", "lstm-backward"]
    assert list(oss.json()["lstm"]) == ["cudnn", "cudnn_layernorm"]
    assert list(oss.json()["lstm-backward"]) == ["cudnn"]
    more = run_pretended(*arguments, "--print_json", "oss", "--rnns", "py").json()["lstm"]
    assert {*more} == {"cudnn", "cudnn_layernorm", "py"}
    pep = run_pretended(*arguments, "--print-json", "pep")
    lines = pep.stdout.splitlines()
    assert len(lines) == 6
    assert all(line.startswith('Caffe2Observer {"type": "NET", "metric": "lstm-') for line in lines)
    shown = [line.split()[0] for line in pep.stderr.splitlines() if line.startswith("cudnn")]
    assert shown == ["cudnn", "cudnn_layernorm"]


def test_a_separator_is_for_one_format() -> None:
    done = run_pretended(*PLANTED_RUN, "--rnns", "sound", "--sep", ",", "--json")
    assert done.status == 2
    assert done.stderr.splitlines()[0] == "error: --sep and --json exclude each other"


def test_the_separator_may_be_anything() -> None:
    for separator in (",", "--", "-"):
        done = run_pretended(*PLANTED_RUN, "--rnns", "sound", "--sep", separator)
        assert done.status == 0, done.stderr
        line = next(line for line in done.stdout.splitlines() if line.lstrip().startswith("name"))
        assert line.count(separator) == 6


def test_a_separator_is_no_code_of_a_terminal() -> None:
    """A `pyproject.toml` of others could set the title, or the clipboard."""
    done = run_pretended(*PLANTED_RUN, "--rnns", "sound", "--sep", "\x1b]0;title\x07")
    assert (done.status, done.stdout) == (2, "")
    assert done.stderr.splitlines()[0] == r"error: invalid value: '\x1b]0;title\x07' (--sep)"


@pytest.mark.parametrize("name", ["table", "csv", "markdown", "json"])
def test_formats_on_stdout(name: str) -> None:
    done = run_pretended(*PLANTED_RUN, "--rnns", "sound", "--format", name)
    assert done.status == 0
    assert "sound" in done.stdout
    if name == "json":
        assert done.json()["results"][0]["runner"] == "sound"


def test_groups_run_in_upstreams_order(anywhere: Path) -> None:
    """The plan alone is asked: it is the order in which rows come."""
    from fastrnns_rs.runners.plan import Choice

    def order(**choice: object) -> list[str]:
        return [runner.name for runner, _ in Choice(**choice).runners()]

    rnns = ["cudnn", "aten", "jit", "jit_premul", "jit_premul_bias", "jit_simple", "jit_multilayer", "py"]
    cnns = ["resnet18", "resnet18_jit", "resnet50", "resnet50_jit"]
    varlen = ["vl_cudnn", "vl_jit", "vl_py"]
    assert order() == rnns + cnns
    assert order(groups=["cnns", "rnns"]) == order(groups=["rnns", "cnns"]) == rnns + cnns
    assert order(variable_lstms=True) == varlen + rnns + cnns
    assert order(groups=["cnns"], variable_lstms=True) == varlen + cnns
    assert order(rnns=[], cnns=[]) == rnns + cnns
    assert order(rnns=["py", "cudnn_dropout"]) == ["py", "cudnn_dropout", *cnns]
    assert order(groups=["cnns"], rnns=["py"]) == cnns
    everything = order(groups=["all"])
    assert everything[:15] == varlen + rnns + cnns
    assert set(OURS) <= set(everything)
    assert len(OURS) == 37
    assert order(groups=["rnns"], names=["vl_py", "py"]) == [*rnns, "vl_py"]


@pytest.mark.long("bench")
def test_torchscript_is_called_deprecated_once_and_in_our_words() -> None:
    done = run_with_facts("bench", "--group", "rnns", "--rnns", "jit", "jit_premul", *FAST, "--json")
    assert done.stderr.count("warning[torchscript_deprecated]") == done.stderr.count("TorchScript is deprecated") == 1
    assert [warning["code"] for warning in done.json()["warnings"]].count("torchscript_deprecated") == 1
    assert "FutureWarning" not in done.stderr
    others = run_pretended(*PLANTED_RUN, "--rnns", "sound", "--json").json()["warnings"]
    assert "torchscript_deprecated" not in [warning["code"] for warning in others]


def test_without_a_warmup_the_first_call_still_does_not_count() -> None:
    done = run_with_facts(*PLANTED_RUN, "--rnns", "sound", "--warmup", "0", "--json")
    (result,) = done.json()["results"]
    (process,) = result["processes"]
    assert (len(process["forward_ns"]), process["steady_from"], result["forward"]["n_samples"]) == (3, 1, 2)
    assert process["first_call"]["forward_ns"] == process["forward_ns"][0]


@pytest.mark.parametrize(
    ("flags", "message", "hint"),
    [
        (["--rnns", "cudn"], "'cudn' (--rnns)", "Run: fastrnns-rs bench --quick --rnns cudnn"),
        (["--cnns", "RESNET18_jt"], "'RESNET18_jt' (--cnns)", "Run: fastrnns-rs bench --quick --cnns resnet18_jit"),
        (["--group", "rnn"], "'rnn' (--group)", "Run: fastrnns-rs bench --quick --group rnns"),
        (["--seqLength", "0"], "0 (--seq-length)", ""),
        (["--miniBatch", "big"], "'big' (--mini-batch)", ""),
        (["--nloops", "0"], "0 (--nloops)", ""),
        (["--warmup", "-1"], "-1 (--warmup)", ""),
        (["--threads", "0"], "0 (--threads)", ""),
        (["--seed", "9223372036854775808"], "9223372036854775808 (--seed)", "at most 9223372036854775807"),
        (["--hiddenSize", "99999999999999"], "99999999999999 (--hidden-size)", "at most 2147483647"),
        (["--nloops", "99999999999999"], "99999999999999 (--nloops)", "at most 2147483647"),
        (["--threads", "100000"], "100000 (--threads)", "at most 1024"),
        (["--cuda-pointwise-block-size", "99999999999"], "99999999999 (--cuda-pointwise-block-size)", "at most"),
        (["--seed", "-1"], "-1 (--seed)", ""),
        (["--timeout", "0"], "0.0 (--timeout)", ""),
        (["--device", "coda"], "'coda' (--device)", "Run: fastrnns-rs bench --quick --device cuda"),
        (["--device", "cuda:"], "'cuda:' (--device)", "Run: fastrnns-rs bench --quick --device cuda:0"),
        (["--dtype", "float8"], "'float8' (--dtype)", "Run: fastrnns-rs bench --quick --dtype float64"),
        (["--print-json", "xml"], "'xml' (--print-json)", ""),
        (["--json", "--print-json"], "--json and --print-json exclude each other", ""),
        (["--json", "--format", "csv"], "--format and --json exclude each other", ""),
        (["--output", "/nowhere/run.json"], "'/nowhere/run.json' (--output)", ""),
        (["--output", "/proc/run.json"], "'/proc/run.json' (--output)", ""),
        (["--output", "/"], "'/' (--output)", ""),
        (["--runner-file", "/nowhere.py"], "'/nowhere.py' (--runner-file)", ""),
        (["--stop", "p:0.05"], "'p:0.05' (--stop)", "precision:1%"),
        (["--stop", "count:5", "--nloops", "5"], "--nloops and --stop exclude each other", ""),
        (["--rigorous"], "--quick and --rigorous exclude each other", ""),
        (["--affinity", "9999"], "9999 (--affinity)", ""),
        (["--processes", "0"], "0 (--processes)", ""),
        (["--nlops", "3"], "--nlops (bench)", "Run: fastrnns-rs bench --quick --nloops 3"),
        (["surprise"], "'surprise' (RUNNER)", ""),
        (["--rnns", "jit_simple", "--numLayers", "2"], "runner: 'jit_simple' supports 1 layer, not 2", ""),
        (["--rnns", "jit_dropout", "--numLayers", "1"], "runner: 'jit_dropout' supports 2 layers or more, not 1", ""),
        (
            ["--cnns", "resnet18", "--miniBatch", "1", "--image-size", "32"],
            "runner: 'resnet18' needs 2 images or an image size above 32",
            "",
        ),
        (["--allow-tf32", "--device", "cpu"], "--allow-tf32 does not work on cpu", "--allow-tf32"),
    ],
)
def test_bad_input_is_one_line_and_a_hint(flags: list[str], message: str, hint: str, anywhere: Path) -> None:
    # Whether a device has TF32 is for torch to say.
    run = run_cli if "--allow-tf32" in flags else run_with_facts
    done = run("bench", "--quick", *flags)
    assert done.status == 2, done.stderr
    # The line before is the amount of work, which is known before torch is asked.
    *before, error, advice = done.stderr.splitlines()
    assert before == (["bench: 12 runners, 12 processes"] if "--allow-tf32" in flags else [])
    assert error.startswith("error: ")
    assert message in error
    assert advice.startswith("hint: ")
    assert hint in advice
    assert done.stdout == ""


def test_members_of_a_group_that_cannot_are_skipped_with_a_note() -> None:
    done = run_pretended("bench", "--group", "rnns", *FAST, "--numLayers", "2", "--json")
    assert done.status == 0
    rows = {row["runner"]: row for row in done.json()["results"]}
    assert rows["jit_simple"]["status"] == "skipped"
    assert "1 layer" in rows["jit_simple"]["reason"]
    assert rows["jit_simple"]["processes"] == []
    assert all(row["status"] == "ok" for name, row in rows.items() if name != "jit_simple")
    assert len(rows) == 8


def test_the_file_is_as_readable_as_others_and_replaces_whole(tmp_path: Path) -> None:
    output = tmp_path / "run.json"
    output.write_text("old")
    os.umask(0o022)
    done = run_pretended(*PLANTED_RUN, "--rnns", "sound", "--output", output)
    assert done.status == 0
    assert stat.S_IMODE(output.stat().st_mode) == 0o644
    assert json.loads(output.read_text())["status"] == "complete"
    assert os.listdir(tmp_path) == ["run.json"]


def test_options_come_from_variables_and_flags_win() -> None:
    variables = {"FASTRNNS_BENCH_NLOOPS": "3", "FASTRNNS_BENCH_RNNS": "sound prints", "FASTRNNS_BENCH_NOTHING": "1"}
    done = run_pretended("bench", "--group", "rnns", "--runner-file", PLANTED, "--device", "cpu", "--json", **variables)
    assert names(done.json()) == ["sound", "prints"]
    assert done.json()["plan"]["stop"]["parameters"] == {"nloops": 3}
    assert set(variables) <= set(done.json()["environment"]["variables"])
    done = run_pretended(*PLANTED_RUN, "--rnns", "sound", "--json", **variables)
    assert done.json()["plan"]["stop"]["parameters"] == {"nloops": 2}


def test_a_redirected_run_leaves_a_table() -> None:
    done = run_pretended(*PLANTED_RUN, "--rnns", "sound")
    assert done.stdout == run_pretended(*PLANTED_RUN, "--rnns", "sound", "--format", "table").stdout
    assert "sound" in done.stdout
