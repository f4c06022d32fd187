"""Residual networks of torchvision, as modules and as traces."""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING

from fastrnns_rs.models.definition import ModelDef, backward, from_tensor
from fastrnns_rs.runners.registry import runner

if TYPE_CHECKING:
    from fastrnns_rs.problem.problem import Problem
    from fastrnns_rs.runners.runner import Creator


def _creator(architecture: str, *, traced: bool) -> Creator:
    def creator(problem: Problem) -> ModelDef:
        import torch
        from torchvision import models

        from fastrnns_rs.models.inputs import torch_dtype
        from fastrnns_rs.worker.torch_settings import torchscript_warnings_silenced

        torch.manual_seed(problem.seed)
        dtype = torch_dtype(problem)
        size = problem.image_size or 224
        layout = torch.channels_last if problem.channels_last else torch.contiguous_format
        images = torch.randn(problem.mini_batch, 3, size, size).to(problem.device, dtype, memory_format=layout)
        model = getattr(models, architecture)(weights=None).to(problem.device, dtype, memory_format=layout)
        # The mode is set before tracing, because a trace keeps it.
        model.train(problem.training)
        forward = model
        if traced:
            with torchscript_warnings_silenced(), warnings.catch_warnings():
                # Batch normalisation reads the size of the batch, which is constant here.
                warnings.simplefilter("ignore", torch.jit.TracerWarning)  # type: ignore[attr-defined]
                # A check would run the model again, and batch normalisation would count that run.
                forward = torch.jit.trace(model, images, check_trace=False)  # type: ignore[no-untyped-call]
        return ModelDef(
            inputs=[images],
            params=model.parameters(),
            forward=forward,
            backward_setup=from_tensor(problem.seed),
            backward=backward,
        )

    return creator


for _architecture in ("resnet18", "resnet50"):
    for _suffix, _traced in (("", False), ("_jit", True)):
        runner(
            _architecture + _suffix,
            family="resnet",
            group="cnns",
            description=f"torchvision's {_architecture}, {'torch.jit.trace' if _traced else 'random weights'}",
            images=True,
            requires=("torchvision",),
            torchscript=_traced,
            honours=("channels_last",),
            reference="eager" if _traced else "ResNet equations",
        )(_creator(_architecture, traced=_traced))
