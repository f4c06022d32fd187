"""Function `ab`."""

from __future__ import annotations

import os
import sys
from collections.abc import Collection, Mapping
from contextlib import suppress
from functools import partial
from typing import TYPE_CHECKING, Any, Literal, SupportsIndex

from fastrnns_rs.api.arguments import list_names, plain_arguments, refuse_in_worker
from fastrnns_rs.api.progress import bench_terminal
from fastrnns_rs.api.run_saver import RunSaver
from fastrnns_rs.documents.keywords import checked_keywords, nearest_keyword
from fastrnns_rs.errors import FastrnnsError, UsageError
from fastrnns_rs.processes.launcher import launch_together
from fastrnns_rs.runners import registry
from fastrnns_rs.runners.plan import Choice, make_options
from fastrnns_rs.verbs.ab.self_comparison import keep_self_comparison
from fastrnns_rs.verbs.bench.effort import Effort
from fastrnns_rs.verbs.bench.execution import execute
from fastrnns_rs.verbs.bench.interleaved import interleaved_plan, side_checks
from fastrnns_rs.verbs.bench.interleaved.expected_sides import expected_sides
from fastrnns_rs.verbs.bench.interleaved.interleaved_plan import SideRequest
from fastrnns_rs.verbs.compare import margins
from fastrnns_rs.verbs.compare.compared_sources import compare_sources
from fastrnns_rs.verbs.compare.sequential_stop import find_decided
from fastrnns_rs.verbs.compare.verdicts import check_causes, check_statistic
from fastrnns_rs.verbs.history.run_history import chosen_history, open_past

if TYPE_CHECKING:
    import torch

    from fastrnns_rs.api.arguments import Runners
    from fastrnns_rs.api.progress import Progress
    from fastrnns_rs.documents.comparison import Comparison, Statistic
    from fastrnns_rs.problem.loop import Sync
    from fastrnns_rs.problem.modes import Mode
    from fastrnns_rs.runners.runner import Creator

#: Keywords that may differ between the sides.
_OF_A_SIDE = frozenset(
    {
        *("seq_length", "num_layers", "input_size", "hidden_size", "mini_batch", "image_size", "mode", "amp"),
        *("channels_last", "cudnn_benchmark", "deterministic", "bidirectional", "proj_size", "affinity", "device"),
        *("dtype", "allow_tf32", "seed", "threads", "fuser", "executor", "cuda_pointwise_loop_level"),
        *("cuda_pointwise_block_count", "cuda_pointwise_block_size"),
    }
)


@checked_keywords()
def ab(
    baseline: Runners = None,
    candidate: str | Creator | None = None,
    *,
    baseline_options: Mapping[str, Any] | None = None,
    candidate_options: Mapping[str, Any] | None = None,
    baseline_env: Mapping[str, str] | None = None,
    candidate_env: Mapping[str, str] | None = None,
    baseline_python: str | os.PathLike[str] | None = None,
    candidate_python: str | os.PathLike[str] | None = None,
    same: bool = False,
    processes: SupportsIndex | None = None,
    quick: bool = False,
    rigorous: bool = False,
    until: Literal["decided"] | None = None,
    live: bool = False,
    order_seed: SupportsIndex | None = None,
    warmup: SupportsIndex | None = None,
    nloops: SupportsIndex | None = None,
    sync: Sync = "iteration",
    seq_length: SupportsIndex | None = None,
    num_layers: SupportsIndex | None = None,
    input_size: SupportsIndex | None = None,
    hidden_size: SupportsIndex | None = None,
    mini_batch: SupportsIndex | None = None,
    image_size: SupportsIndex | None = None,
    mode: Mode = "train",
    amp: bool = False,
    channels_last: bool = False,
    cudnn_benchmark: bool = False,
    deterministic: bool = False,
    bidirectional: bool = False,
    proj_size: SupportsIndex | None = None,
    device: str | torch.device = "auto",
    dtype: str | torch.dtype = "float32",
    seed: SupportsIndex = 0,
    allow_tf32: bool = False,
    threads: SupportsIndex | None = None,
    affinity: str | None = None,
    timeout: float = 1800.0,
    fuser: str = "te",
    executor: str | None = None,
    cuda_pointwise_loop_level: SupportsIndex | None = None,
    cuda_pointwise_block_count: SupportsIndex | None = None,
    cuda_pointwise_block_size: SupportsIndex | None = None,
    compile_timeout: float = 300.0,
    compile_cache: str | os.PathLike[str] | None = None,
    margin: float | str | None = None,
    force: bool = False,
    fail_on: Collection[str] = (),
    statistic: Statistic = "median",
    history: str | os.PathLike[str] | Literal[False] | None = None,
    progress: Progress = True,
) -> Comparison:
    """Times two sides interleaved and compares them, as `fastrnns-rs ab` does.

    Processes run in pairs, each in random order, and pairs are compared: drift of the machine affects both sides.

    >>> import fastrnns_rs
    >>> comparison = fastrnns_rs.ab("cudnn", "py", quick=True, device="cpu", history=False)
    >>> [row.phase for row in comparison]
    ['forward', 'backward']

    Args:
        baseline: Name, or function decorated with `runner`; None for `cudnn`. Of several, each is compared with itself.
        candidate: Name or function; None for the runner of the baseline, with other options.
        baseline_options: Arguments for the baseline only, such as `{"fuser": "te"}`: sizes, modes, machine and
            TorchScript.
        candidate_options: Arguments for the candidate only.
        baseline_env: Environment variables for the baseline only.
        candidate_env: Environment variables for the candidate only.
        baseline_python: Python interpreter for the baseline, with its own torch; None for this interpreter.
        candidate_python: Python interpreter for the candidate.
        same: True compares a runner with itself, and stores the noise floor of this machine for `margin`.
        processes: Number of fresh processes per side; None for 10, or 5 with `live`, 3 with `quick`, or 20 with
            `rigorous` or `same`.
        quick: True uses small sizes and few short processes.
        rigorous: True starts twenty processes per side.
        until: `decided` stops as soon as every row has a verdict, after at most `processes` pairs (50 by default). The
            intervals then hold after each pair, and are wider than those of a fixed number.
        live: True keeps both processes of a pair alive, and measures them alternately, usually 0.1 s each time. The
            difference is much more precise, because both sides share the noise of longer periods. Needs memory for
            both. Excludes `warmup`, `nloops` and `same`.
        order_seed: Random seed for the order of processes; None for a random seed.
        warmup: Iterations of a process that are kept, but not part of the point estimate; None to detect them.
        nloops: Number of timed iterations of a process; None for as many as fit in its time.
        sync: Time to wait for a GPU: after each `iteration`, or after each `phase`, which then begins on an idle GPU.
        seq_length: Number of time steps.
        num_layers: Number of stacked layers.
        input_size: Number of features of the input.
        hidden_size: Number of features of the hidden state.
        mini_batch: Number of sequences or images in a batch.
        image_size: Height and width of images, in pixels.
        mode: `train`, or `inference`: only forward, without gradients and in evaluation mode.
        amp: True runs forward under autocast to bfloat16.
        channels_last: True stores images with their channels innermost.
        cudnn_benchmark: True lets cuDNN try its algorithms for convolutions.
        deterministic: True uses only algorithms that repeat their results.
        bidirectional: True adds a second layer to each layer, which reads the sequence backwards.
        proj_size: Number of features that an LSTM's hidden state is projected to; None for no projection.
        device: `auto`, `cpu`, `cuda` or `cuda:N`, or a `torch.device`.
        dtype: `float32`, `float64`, `float16` or `bfloat16`, or a `torch.dtype`.
        seed: Random seed for inputs and parameters; 0 has no special meaning.
        allow_tf32: True allows rounding float32 products to TF32.
        threads: Number of torch's threads on the CPU; None for torch's default.
        affinity: CPUs that processes may use, as `0,2-3`; None for those of this process.
        timeout: Time limit of a process, in seconds.
        fuser: TorchScript's fuser: `te`, `old`, `none` or `default`.
        executor: TorchScript's executor: `profiling`, `simple`, `legacy` or `default`.
        cuda_pointwise_loop_level: Loop levels of the fuser's CUDA kernels.
        cuda_pointwise_block_count: Number of blocks of these kernels.
        cuda_pointwise_block_size: Number of threads per block of these kernels.
        compile_timeout: Time limit of each compilation in a process, in seconds.
        compile_cache: Folder for the compiled code of all processes; None for a new folder for each.
        margin: Equivalence margin: a share, as 0.01 for 1 %, or `"noise-floor"` for the stored noise floor of this
            machine; None for 1 %.
        force: True also compares different devices, and labels the rows.
        fail_on: `regression`, `inconclusive` or both, for `exit_code` of the document.
        statistic: Statistic of each process that is judged: `median`, `mean` or `p95`, the 95th percentile.
        history: Folder that the run is kept in; None for the user's history, False to keep nothing.
        progress: True shows the table and a bar on a terminal, and the bar in a notebook; False shows nothing. A
            function is called instead with the number of finished processes, the number of all or None, and the running
            step.

    Returns:
        The comparison. A runner that failed is a row without a verdict. The run with all samples is in the history:
        `fastrnns_rs.load("@last")`.

    Raises:
        UsageError: If an argument is invalid, a runner does not support it, or both sides are equal without `same`.
        MissingError: If a device or an interpreter is missing, or the noise floor was never measured.
        KeyboardInterrupt: If the user presses Ctrl-C; its attribute `run` has the results so far, or is None.
    """
    given = plain_arguments(locals())
    refuse_in_worker("ab")
    folder = chosen_history(history)
    # Ctrl-C also comes while plug-ins are imported, and while the sides are compared.
    with RunSaver(folder) as saver:
        causes = check_causes(fail_on)
        # A wrong margin is reported before minutes of measurement.
        check_statistic(statistic)
        margins.check(margin, statistic)
        several = candidate is None and not same
        sides = (
            _request("a", baseline, given, several=several),
            _request("b", baseline if candidate is None else candidate, given, several=several),
        )
        _check_sides(*sides, same=same)
        effort = side_checks.make_effort(given)
        with bench_terminal(progress, "ab") as terminal:
            if terminal is not None:
                # The probe of torch takes seconds. The real plan reports invalid arguments.
                with suppress(FastrnnsError):
                    terminal.expects(*expected_sides(sides, effort))
            plan, run = interleaved_plan.start(sides, effort, command=sys.argv)
            side_checks.check_sides(plan, run, force=force, noise_floor=margin == margins.NOISE_FLOOR)
            run = execute(
                plan,
                run,
                observer=terminal,
                save=saver.save,
                executor=interleaved_plan.choose_executor(plan, launch_together),
                find_decided=partial(find_decided, margin=margin, force=force, statistic=statistic),
            )
        comparison = compare_sources(
            [run], [], margin=margin, force=force, fail_on=causes, statistic=statistic
        ).comparison
        if same and run.status == "complete":
            with open_past(folder) as past:
                return keep_self_comparison(run, comparison, past)[0]
        return comparison


def _request(name: Literal["a", "b"], runners: Runners, given: Mapping[str, Any], *, several: bool) -> SideRequest:
    """Returns the request of a side, from all arguments of a call."""
    side = "baseline" if name == "a" else "candidate"
    own = plain_arguments(_check_dict(f"{side}_options", given[f"{side}_options"], '{"seed": 1}'))
    for wrong in own.keys() - _OF_A_SIDE:
        meant = nearest_keyword(wrong, _OF_A_SIDE) if isinstance(wrong, str) else None
        hint = "Use arguments of sizes, modes, machine and TorchScript."
        message, where = f"unknown argument: {wrong!r}", f"{side}_options"
        raise UsageError(message, hint, where=where, value=wrong, correction=meant)
    names = list_names(side_checks.DEFAULT_RUNNER if runners is None else runners)
    if not names or (len(names) > 1 and not several):
        raise UsageError(f"several runners: {' '.join(names)!r}", "Use one runner for each side.", where=side)
    found = [*dict.fromkeys(registry.find(one).name for one in names)]
    every = {**given, **own}
    python = given[f"{side}_python"]
    return SideRequest(
        name=name,
        runners=tuple(found),
        options=make_options(every, Choice(groups=(), names=found)),
        words=[word for key, value in own.items() for word in _words(key, value)],
        affinity=Effort(affinity=every["affinity"]).cpus(),
        python=None if python is None else os.fspath(python),
        variables=_variables(f"{side}_env", given[f"{side}_env"]),
    )


def _words(name: str, value: object) -> list[str]:
    """Returns an option as the run file records it: words of the command line."""
    flag = f"--{name.replace('_', '-')}"
    if isinstance(value, bool):
        return [flag if value else f"--no-{flag.removeprefix('--')}"]
    return [flag, str(value)]


def _variables(where: str, given: Mapping[str, str] | None) -> dict[str, str]:
    found = _check_dict(where, given, '{"NAME": "VALUE"}')
    for name, value in found.items():
        if "=" in str(name):
            raise UsageError(f"invalid variable: {name!r}", "Use a name without '='.", where=where, value=name)
        if not isinstance(value, str):
            message, hint = f"invalid value: {value!r} of variable {name!r}", f"Use a text, or leave out {name!r}."
            raise UsageError(message, hint, where=where, value=value)
    return interleaved_plan.variables(f"{name}={value}" for name, value in found.items())


def _check_dict(where: str, given: Mapping[str, Any] | None, example: str) -> Mapping[str, Any]:
    if given is not None and not isinstance(given, Mapping):
        raise UsageError(f"invalid value: {given!r}", f"Use a dict such as {example}.", where=where, value=given)
    return given or {}


def _check_sides(first: SideRequest, second: SideRequest, *, same: bool) -> None:
    """Checks that the sides differ, or that they are equal with `same`.

    Raises:
        UsageError: If they do not.
    """
    is_equal = first.equals(second)
    if same and not is_equal:
        message = "`same` needs equal sides, and baseline and candidate differ"
        raise UsageError(message, "Leave out `same`, or name one runner without arguments of one side.")
    if not same and is_equal:
        hint = "Name a second runner, or add `candidate_options`, `candidate_env`, `candidate_python` or `same=True`."
        raise UsageError("baseline and candidate are equal", hint)
