"""Modes of a model besides its sizes: training or inference, precision, variant."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Literal, get_args

from fastrnns_rs.errors import UsageError, unknown
from fastrnns_rs.problem.problem import check_count

Mode = Literal["train", "inference"]
MODES: tuple[str, ...] = get_args(Mode)


@dataclass(frozen=True, slots=True, kw_only=True)
class Modes:
    """Requested modes. A runner supports all of them or is skipped with a reason.

    Attributes:
        mode: `train` runs forward and backward; `inference` only forward, without gradients and in evaluation mode.
        amp: Automatic mixed precision: forward under autocast to bfloat16.
        channels_last: Images and convolutions with their channels innermost.
        cudnn_benchmark: cuDNN tries its algorithms for a convolution and uses the fastest.
        deterministic: Only algorithms that give the same result every time.
        bidirectional: A second layer for each layer, which reads the sequence backwards.
        proj_size: Number of features that the hidden state is projected to; None for no projection.
    """

    mode: Mode = "train"
    amp: bool = False
    channels_last: bool = False
    cudnn_benchmark: bool = False
    deterministic: bool = False
    bidirectional: bool = False
    proj_size: int | None = None

    def __post_init__(self) -> None:
        if self.mode not in MODES:
            raise unknown("invalid value", self.mode, MODES, where="mode")
        for field in fields(self):
            value = getattr(self, field.name)
            if isinstance(field.default, bool) and not isinstance(value, bool):
                raise UsageError(f"invalid value: {value!r}", "Use True or False.", where=field.name, value=value)
        check_count("proj_size", self.proj_size, least=1)
