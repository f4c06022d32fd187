"""`nn.LSTM` replayed from CUDA graphs: the launches of a whole phase become one."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from fastrnns_rs.errors import RunnerError
from fastrnns_rs.models.definition import backward, from_sequence
from fastrnns_rs.models.lstm import nn_lstm
from fastrnns_rs.runners.registry import runner

if TYPE_CHECKING:
    from fastrnns_rs.models.definition import ModelDef
    from fastrnns_rs.problem.problem import Problem

#: Calls before the capture: cuDNN chooses its algorithm and the allocator its blocks.
_WARMUP = 3


@runner(
    "cudagraph",
    family="lstm",
    description="nn.LSTM replayed from CUDA graphs, one for forward and one for backward",
    devices=("cuda",),
    # Autocast is entered in each call, and a replay calls nothing.
    lacks=("amp",),
    honours=("bidirectional", "proj_size"),
    reference="nn.LSTM",
    note=lambda _problem: "capturing the graphs is part of building: neither the first call nor a sample has it",
)
def cudagraph(problem: Problem) -> ModelDef:
    """Returns what `nn.LSTM` does."""
    eager = nn_lstm(problem)
    module, arguments = eager.forward, tuple(eager.inputs)
    if not problem.training:
        return replace(eager, forward=_forward_only(module, arguments))
    import torch

    graphed = torch.cuda.make_graphed_callables(module, arguments, num_warmup_iters=_WARMUP)
    model = replace(eager, forward=graphed)
    params = [*model.params]
    backward(*from_sequence(problem.seed)(model.forward(*model.inputs)))
    missing = sum(param.grad is None for param in params)
    if missing:
        # Afterwards all of them have one, and nothing would tell.
        raise RunnerError(f"{missing} of {len(params)} parameters have no gradient after backward")
    for param in params:
        # Else a gradient is the graph's own memory, to which the next backward adds what it writes there.
        param.grad = torch.zeros_like(param)
    return model


def _forward_only(module: Any, arguments: tuple[Any, ...]) -> Callable[..., Any]:
    """Forward from its graph, which reads its arguments where they were when it was captured."""
    import torch

    module.eval()
    stream = torch.cuda.Stream()  # type: ignore[no-untyped-call]
    stream.wait_stream(torch.cuda.current_stream())
    with torch.inference_mode(), torch.cuda.stream(stream):
        for _ in range(_WARMUP):
            module(*arguments)
    torch.cuda.current_stream().wait_stream(stream)
    graph = torch.cuda.CUDAGraph()
    with torch.inference_mode(), torch.cuda.graph(graph):
        output = module(*arguments)

    def replay(*_arguments: Any) -> Any:
        graph.replay()
        return output

    return replay
