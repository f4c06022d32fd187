"""Function `verify`."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import fields
from typing import TYPE_CHECKING, Unpack

from fastrnns_rs.api import progress
from fastrnns_rs.api.arguments import (
    RUN_DEFAULTS,
    Keywords,
    ProblemArguments,
    make_choice,
    make_options,
    refuse_in_worker,
)
from fastrnns_rs.runners.plan import Choice
from fastrnns_rs.verbs.verify import verification_run
from fastrnns_rs.verbs.verify.verification_plan import DEFAULT_GROUPS, DEFAULT_SEED, DEFAULT_TIMEOUT_S, VerifyOptions

if TYPE_CHECKING:
    from fastrnns_rs.documents.verification import Verification
    from fastrnns_rs.runners.runner import Creator


class VerifyArguments(ProblemArguments, total=False):
    """`ProblemArguments`, and arguments for the strictness of the checks."""

    check_grad: bool
    rtol: float | None
    atol: float | None
    progress: bool


_OWN = {one.name: one.default for one in fields(VerifyOptions) if one.name != "options"}
_KEYWORDS = Keywords(
    VerifyArguments, {**RUN_DEFAULTS, **_OWN, "seed": DEFAULT_SEED, "timeout": DEFAULT_TIMEOUT_S, "progress": True}
)


@_KEYWORDS.shown
def verify(
    runners: Sequence[str | Creator] | str | Creator | None = None, **arguments: Unpack[VerifyArguments]
) -> Verification:
    """Checks the results of runners against references, as `fastrnns-rs verify` does.

    Args:
        runners: Names, or functions decorated with `runner` at the top level of a module or script.
        arguments: By name:
        groups: Groups of runners: `rnns`, `cnns`, `vl_rnns`, `all`. Without `runners` and `groups`, `rnns` is checked.
        variable_lstms: True checks the group `vl_rnns` too.
        seq_length: Number of time steps. Sizes that are not given are small.
        num_layers: Number of stacked layers; 2 by default where a runner supports it.
        input_size: Number of features of the input.
        hidden_size: Number of features of the hidden state.
        mini_batch: Number of sequences or images in a batch.
        image_size: Height and width of images, in pixels.
        mode: `train`, or `inference`: outputs and states only.
        amp: True runs forward under autocast to bfloat16.
        channels_last: True stores images with their channels innermost.
        cudnn_benchmark: True lets cuDNN try its algorithms for convolutions.
        deterministic: True uses only algorithms that repeat their results.
        bidirectional: True adds a second layer to each layer, which reads the sequence backwards.
        proj_size: Number of features that an LSTM's hidden state is projected to; None for no projection.
        device: `auto`, `cpu`, `cuda` or `cuda:N`. References are computed on the CPU in float64.
        dtype: Dtype of parameters and inputs.
        seed: Random seed for inputs and parameters.
        allow_tf32: True allows rounding float32 products to TF32.
        threads: Number of torch's threads on the CPU; None for torch's default.
        timeout: Time limit of the check of a runner, in seconds.
        fuser: TorchScript's fuser.
        executor: TorchScript's executor; it overrides that of `fuser`.
        cuda_pointwise_loop_level: Loop levels of the fuser's CUDA kernels.
        cuda_pointwise_block_count: Number of blocks of these kernels.
        cuda_pointwise_block_size: Number of threads per block of these kernels.
        check_grad: True checks gradients too.
        rtol: Relative tolerance; None for that of the dtype.
        atol: Absolute tolerance; None for that of the dtype.
        progress: True shows a bar while the runners are checked, on a terminal and, as lines, in a notebook.

    Returns:
        The verification; its `ok` is True if every checked runner is correct. A runner that is wrong, crashes or hangs
        is a row with its reason, and raises no error.

    Raises:
        UsageError: If an argument is invalid, or a runner does not support it.
        MissingError: If the device is missing.
        KeyboardInterrupt: If the user presses Ctrl-C.
    """
    refuse_in_worker("verify")
    given = _KEYWORDS.bind_call("verify", arguments)
    otherwise = Choice(groups=DEFAULT_GROUPS, variable_lstms=given["variable_lstms"])
    options = make_options(given, make_choice(runners, given, otherwise))
    asked = VerifyOptions(options=options, **{name: given[name] for name in _OWN})
    names = [runner.name for runner, _ in options.choice.runners()]
    with progress.verify_terminal(names, shown=given["progress"]) as terminal:
        return verification_run.verify(asked, terminal)
