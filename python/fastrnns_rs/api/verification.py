"""`verify` as a function."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import fields
from typing import TYPE_CHECKING, Unpack

from fastrnns_rs.api.arguments import (
    RUN_DEFAULTS,
    Keywords,
    ProblemArguments,
    choice_of,
    options_of,
    refuse_in_worker,
)
from fastrnns_rs.runners.plan import Choice
from fastrnns_rs.verbs.verify import verification_run
from fastrnns_rs.verbs.verify.verification_plan import DEFAULT_GROUPS, DEFAULT_SEED, DEFAULT_TIMEOUT_S, VerifyOptions

if TYPE_CHECKING:
    from fastrnns_rs.documents.verification import Verification
    from fastrnns_rs.runners.runner import Creator


class VerifyArguments(ProblemArguments, total=False):
    """The same, and how strictly it is checked."""

    check_grad: bool
    rtol: float | None
    atol: float | None


_OWN = {one.name: one.default for one in fields(VerifyOptions) if one.name != "options"}
_KEYWORDS = Keywords(VerifyArguments, {**RUN_DEFAULTS, **_OWN, "seed": DEFAULT_SEED, "timeout": DEFAULT_TIMEOUT_S})


@_KEYWORDS.shown
def verify(
    runners: Sequence[str | Creator] | str | Creator | None = None, **arguments: Unpack[VerifyArguments]
) -> Verification:
    """Checks that runners compute what they claim to, as `fastrnns-rs verify` does.

    Args:
        runners: Names, or functions decorated with `runner` at the top level of a module or script.
        arguments: By name:
        groups: Groups of runners: `rnns`, `cnns`, `vl_rnns`, `all`. With neither argument `rnns` is checked.
        variable_lstms: Whether the group `vl_rnns` is checked too.
        seq_length: Time steps. Sizes that are not given are small.
        num_layers: Stacked layers; 2 where a runner permits.
        input_size: Features of the input.
        hidden_size: Features of the hidden state.
        mini_batch: Sequences or images in a batch.
        image_size: Height and width of images, in pixels.
        mode: `train`, or `inference`: outputs and states only.
        amp: Forward under autocast to bfloat16.
        channels_last: Images with their channels innermost.
        cudnn_benchmark: Whether cuDNN tries its algorithms for convolutions.
        deterministic: Only algorithms that repeat their results.
        bidirectional: A second layer beside each reads the sequence backwards.
        proj_size: Features that an LSTM's hidden state is projected to; None for no projection.
        device: `auto`, `cpu`, `cuda` or `cuda:N`. References are computed on the CPU in float64.
        dtype: Of parameters and inputs.
        seed: Of inputs and parameters.
        allow_tf32: Whether float32 products may be TF32's.
        threads: Threads of torch on the CPU; None for torch's own.
        timeout: How long the check of a runner may take, in seconds.
        fuser: TorchScript's fuser.
        executor: TorchScript's executor; wins over `fuser`.
        cuda_pointwise_loop_level: Loop levels of the fuser's CUDA kernels.
        cuda_pointwise_block_count: Blocks of such a kernel.
        cuda_pointwise_block_size: Threads of such a block.
        check_grad: Whether gradients are checked too.
        rtol: Relative tolerance; None for the dtype's.
        atol: Absolute tolerance; None for the dtype's.

    Returns:
        The verification; its `ok` says whether every runner that was checked is right. A runner that is wrong,
        crashes or hangs is a row with its reason; it raises nothing.

    Raises:
        UsageError: An argument makes no sense, or a runner cannot honour it.
        MissingError: The device is not there.
        KeyboardInterrupt: Ctrl-C.
    """
    refuse_in_worker("verify")
    given = _KEYWORDS.of_call("verify", arguments)
    otherwise = Choice(groups=DEFAULT_GROUPS, variable_lstms=given["variable_lstms"])
    options = options_of(given, choice_of(runners, given, otherwise))
    return verification_run.verify(VerifyOptions(options=options, **{name: given[name] for name in _OWN}))
