"""Residual network in float64, from the parameters of torchvision's network.

It uses only the parameters' names of torchvision: neither its forward nor its blocks. Normalisation is computed here
too.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, TypeAlias

import torch
from torch.nn import functional

from fastrnns_rs.worker.verification.references.expected import Expected, wide

if TYPE_CHECKING:
    from fastrnns_rs.problem.problem import Problem

    Tensors: TypeAlias = Mapping[str, torch.Tensor]


def logits(architecture: str, problem: Problem) -> Expected:
    """Computes the logits [B, 1000] of `resnet18` or `resnet50`."""
    from torchvision import models

    from fastrnns_rs.models.inputs import torch_dtype

    dtype, size = torch_dtype(problem), problem.image_size or 224
    torch.manual_seed(problem.seed)
    images = torch.randn(problem.mini_batch, 3, size, size).to(dtype)
    module = getattr(models, architecture)(weights=None).to(dtype)
    expected = _expected(images, module, torch.float64, training=problem.training)
    if problem.dtype != "float64":
        rounded = torch.bfloat16 if problem.amp else dtype
        expected.rounded = _expected(images, module, rounded, training=problem.training)
    return expected


def _expected(images: torch.Tensor, module: torch.nn.Module, dtype: torch.dtype, *, training: bool) -> Expected:
    parameters = {name: one.detach().to(dtype, copy=True).requires_grad_() for name, one in module.named_parameters()}
    buffers = {name: one.to(dtype) for name, one in module.named_buffers()}
    output = _network(images.to(dtype), parameters, buffers, training=training)
    return Expected(result=output, start=output, inputs=[wide(images)], parameters=parameters)


def _network(x: torch.Tensor, parameters: Tensors, buffers: Tensors, *, training: bool) -> torch.Tensor:
    def norm(x: torch.Tensor, name: str) -> torch.Tensor:
        if training:
            mean = x.mean((0, 2, 3), keepdim=True)
            variance = (x - mean).square().mean((0, 2, 3), keepdim=True)
        else:
            mean, variance = (buffers[f"{name}.running_{of}"].view(1, -1, 1, 1) for of in ("mean", "var"))
        weight, bias = (parameters[f"{name}.{of}"].view(1, -1, 1, 1) for of in ("weight", "bias"))
        return (x - mean) / (variance + 1e-5).sqrt() * weight + bias

    def convolved(x: torch.Tensor, name: str, stride: int = 1) -> torch.Tensor:
        weight = parameters[f"{name}.weight"]
        return functional.conv2d(x, weight, stride=stride, padding=weight.shape[-1] // 2)

    x = norm(convolved(x, "conv1", 2), "bn1").clamp(min=0)
    x = functional.max_pool2d(x, 3, 2, 1)
    blocks = list(dict.fromkeys(".".join(name.split(".")[:2]) for name in parameters if name.startswith("layer")))
    for block in blocks:
        stride = 2 if block.endswith(".0") and block != "layer1.0" else 1
        # Two convolutions of width 3, or one between two of width 1. The first of width 3 has the stride.
        convolutions = 3 if f"{block}.conv3.weight" in parameters else 2
        y = x
        for number in range(1, convolutions + 1):
            strided = stride if number == convolutions - 1 else 1
            y = norm(convolved(y, f"{block}.conv{number}", strided), f"{block}.bn{number}")
            y = y.clamp(min=0) if number < convolutions else y
        if f"{block}.downsample.0.weight" in parameters:
            x = norm(convolved(x, f"{block}.downsample.0", stride), f"{block}.downsample.1")
        x = (x + y).clamp(min=0)
    return x.mean((2, 3)) @ parameters["fc.weight"].T + parameters["fc.bias"]
