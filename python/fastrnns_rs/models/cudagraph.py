"""`nn.LSTM` replayed from CUDA graphs: one launch per phase."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from fastrnns_rs.models.lstm import nn_lstm
from fastrnns_rs.runners.registry import runner

if TYPE_CHECKING:
    import torch

    from fastrnns_rs.models.definition import ModelDef
    from fastrnns_rs.problem.problem import Problem

#: Calls before the capture, in which cuDNN chooses its algorithm and the allocator its blocks.
_WARMUP = 3


@runner(
    "cudagraph",
    family="lstm",
    description="nn.LSTM replayed from CUDA graphs, one each for forward and backward",
    devices=("cuda",),
    # Autocast is entered in each call, and a replay calls nothing.
    lacks=("amp",),
    honours=("bidirectional", "proj_size"),
    reference="nn.LSTM",
    note=lambda _problem: "graphs are captured while the model is built: no iteration includes the time of the capture",
)
def cudagraph(problem: Problem) -> ModelDef:
    """Returns y [S, B, D H] and (h, c), as `nn.LSTM` does."""
    import torch

    eager = nn_lstm(problem)
    # Torch's own stream for captures belongs to the device of the first capture in a process.
    stream = torch.cuda.Stream()  # type: ignore[no-untyped-call]
    if not problem.training:
        module: Any = eager.forward
        module.eval()
        return replace(eager, forward=_replayed(replace(eager, backward=None), stream)[0])
    forward, output, memory = _replayed(eager, stream)
    return replace(eager, forward=forward, backward=_replayed_backward(eager, output, memory, stream))


def _replayed(model: ModelDef, stream: torch.cuda.Stream) -> tuple[Callable[..., Any], Any, Any]:
    """Captures forward. The graph reads its arguments where they are now.

    Returns:
        Forward as one launch, the output that it writes, and the memory pool of the graph.
    """
    import torch

    arguments, training = tuple(model.inputs), model.backward is not None
    stream.wait_stream(torch.cuda.current_stream())
    with torch.set_grad_enabled(training), torch.inference_mode(not training):
        with torch.cuda.stream(stream):
            for _ in range(_WARMUP):
                _warm_up(model, arguments)
        torch.cuda.current_stream().wait_stream(stream)
        graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(graph, stream=stream):
            output = model.forward(*arguments)

    def replay(*_arguments: Any) -> Any:
        graph.replay()
        return output

    return replay, output, graph.pool()


def _warm_up(model: ModelDef, arguments: tuple[Any, ...]) -> None:
    """Runs both phases before the capture.

    No output is kept: its autograd nodes belong to another stream than the capture.
    """
    import torch

    output = model.forward(*arguments)
    if model.backward is not None and model.backward_setup is not None:
        y, gradient = model.backward_setup(output)
        torch.autograd.grad(y, [*model.params], gradient)


def _replayed_backward(model: ModelDef, output: Any, memory: Any, stream: torch.cuda.Stream) -> Callable[..., None]:
    """Captures backward, from the gradient of y alone.

    The graph overwrites the gradients of the parameters and accumulates nothing.

    Returns:
        Backward as one launch. It copies the given gradient if that is another tensor than in the last call.
    """
    import torch

    assert model.backward_setup is not None  # noqa: S101  # it trains
    params = [*model.params]
    y, known = model.backward_setup(output)
    begun = known.clone()
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph, pool=memory, stream=stream):
        written = torch.autograd.grad(y, params, begun)

    def replay(_output: Any, gradient: Any) -> None:
        nonlocal known
        if gradient is not known:
            begun.copy_(gradient)
            known = gradient
        graph.replay()
        if params[0].grad is not written[0]:
            for param, one in zip(params, written, strict=True):
                param.grad = one

    for param, one in zip(params, written, strict=True):
        # Nothing ran yet: the first replay of forward gives backward its inputs.
        param.grad = one.zero_()
    return replay
