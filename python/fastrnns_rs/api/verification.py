"""Function `verify`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, SupportsIndex

from fastrnns_rs.api.arguments import make_choice, make_options, plain_arguments, refuse_in_worker, select_fields
from fastrnns_rs.api.progress import verify_terminal
from fastrnns_rs.documents.keywords import checked_keywords
from fastrnns_rs.runners.plan import Choice
from fastrnns_rs.verbs.verify import verification_run
from fastrnns_rs.verbs.verify.verification_plan import DEFAULT_GROUPS, VerifyOptions

if TYPE_CHECKING:
    import torch

    from fastrnns_rs.api.arguments import Runners
    from fastrnns_rs.api.progress import Progress
    from fastrnns_rs.documents.verification import Verification
    from fastrnns_rs.problem.modes import Mode


@checked_keywords(several="runners")
def verify(
    runners: Runners = None,
    *,
    groups: Sequence[str] | str | None = None,
    variable_lstms: bool = False,
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
    seed: SupportsIndex = 17,
    allow_tf32: bool = False,
    threads: SupportsIndex | None = None,
    timeout: float = 600.0,
    fuser: str = "te",
    executor: str | None = None,
    cuda_pointwise_loop_level: SupportsIndex | None = None,
    cuda_pointwise_block_count: SupportsIndex | None = None,
    cuda_pointwise_block_size: SupportsIndex | None = None,
    check_grad: bool = True,
    rtol: float | None = None,
    atol: float | None = None,
    progress: Progress = True,
) -> Verification:
    """Checks the results of runners against references, as `fastrnns-rs verify` does.

    >>> import fastrnns_rs
    >>> fastrnns_rs.verify(["jit", "py"], device="cpu").ok
    True

    Args:
        runners: Names, or functions decorated with `runner` at the top level of a module or script.
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
        device: `auto`, `cpu`, `cuda` or `cuda:N`, or a `torch.device`. References are computed on the CPU in float64.
        dtype: Dtype of parameters and inputs, as a name or a `torch.dtype`.
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
        progress: True shows a bar on a terminal and in a notebook; False shows nothing. A function is called instead
            with the number of finished runners, the number of all or None, and the running step.

    Returns:
        The verification; its `ok` is True if every checked runner is correct. A runner that is wrong, crashes or hangs
        is a row with its reason, and raises no error.

    Raises:
        UsageError: If an argument is invalid, or a runner does not support it.
        MissingError: If the device is missing.
        KeyboardInterrupt: If the user presses Ctrl-C.
    """
    given = plain_arguments(locals())
    refuse_in_worker("verify")
    otherwise = Choice(groups=DEFAULT_GROUPS, variable_lstms=given["variable_lstms"])
    options = make_options(given, make_choice(runners, given, otherwise))
    asked = VerifyOptions(options=options, **select_fields(VerifyOptions, given, without={"options"}))
    names = [runner.name for runner, _ in options.choice.runners()]
    with verify_terminal(progress, names) as terminal:
        return verification_run.verify(asked, terminal)
