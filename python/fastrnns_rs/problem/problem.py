"""Problem of sizes, dtype, device and seed, and presets of sizes."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator
from dataclasses import dataclass, field, fields
from typing import Any, Literal

from fastrnns_rs.documents.argument_checks import check_size
from fastrnns_rs.documents.codec import since
from fastrnns_rs.documents.part import Part
from fastrnns_rs.errors import UsageError, unknown

DTYPES = ("float32", "float64", "float16", "bfloat16")
#: Largest size and count: torch counts in 64 bits, but some of its kernels count in 32 bits.
MOST = (1 << 31) - 1
DEVICES = re.compile(r"auto|cpu|cuda(:[0-9]{1,9})?")


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class Problem(Part):
    """Problem that a runner is built for. Sizes that do not apply are None.

    >>> import fastrnns_rs
    >>> problem = fastrnns_rs.Problem(seq_length=4, num_layers=1, input_size=8, hidden_size=8, mini_batch=2)
    >>> problem.sizes()
    (4, 1, 8, 8, 2)

    Attributes:
        seq_length: Number of time steps S.
        num_layers: Number of stacked layers L.
        input_size: Number of features I of the input.
        hidden_size: Number of features H of the hidden state.
        mini_batch: Number of sequences or images B in a batch.
        image_size: Height and width of an image, in pixels.
        bidirectional: True if a second layer for each layer reads the sequence backwards.
        proj_size: Number of features that the hidden state is projected to; None for no projection.
        dtype: Name of the torch dtype of parameters and inputs.
        amp: True if forward runs under autocast to bfloat16.
        device: `cpu`, `cuda` or `cuda:N`.
        seed: Random seed for inputs, parameters and the gradient that backward starts from.
        allow_tf32: True if float32 matrix products and convolutions may round their inputs to TF32.
        channels_last: True if images and convolutions have their channels innermost.
        cudnn_benchmark: True if cuDNN tries its algorithms for a convolution and uses the fastest.
        deterministic: True if only algorithms run that give the same result every time.
        mode: `train` runs forward and backward; `inference` only forward, without gradients and in evaluation mode.
    """

    seq_length: int | None = None
    num_layers: int | None = None
    input_size: int | None = None
    hidden_size: int | None = None
    mini_batch: int
    image_size: int | None = None
    bidirectional: bool | None = None
    proj_size: int | None = None
    dtype: str = "float32"
    amp: bool = False
    device: str = "cpu"
    seed: int = 0
    allow_tf32: bool = False
    channels_last: bool | None = None
    cudnn_benchmark: bool = False
    deterministic: bool = False
    mode: Literal["train", "inference"] = field(default="train", metadata=since("1.1"))

    @property
    def training(self) -> bool:
        """True if the model runs as in training."""
        return self.mode == "train"

    @property
    def directions(self) -> int:
        """Number of parallel layers: 2 for a bidirectional model, otherwise 1."""
        return 2 if self.bidirectional else 1

    def by_name(self) -> dict[str, Any]:
        """Returns the fields by name, in the order of a document."""
        return {one.name: getattr(self, one.name) for one in fields(self)}

    def sizes(self) -> tuple[int, int, int, int, int]:
        """Returns (S, L, I, H, B) of a problem for a recurrent runner.

        Raises:
            UsageError: If one of the sizes does not apply.
        """
        sizes = (self.seq_length, self.num_layers, self.input_size, self.hidden_size, self.mini_batch)
        known = tuple(size for size in sizes if size is not None)
        if len(known) != len(sizes):
            raise UsageError("a recurrent runner needs all sizes: seq_length, num_layers, input_size and hidden_size")
        return known[0], known[1], known[2], known[3], known[4]

    def upstream_arguments(self) -> dict[str, Any]:
        """Returns the keyword arguments of a creator written for PyTorch's fastrnns."""
        return {
            "seqLength": self.seq_length,
            "numLayers": self.num_layers,
            "inputSize": self.input_size,
            "hiddenSize": self.hidden_size,
            "miniBatch": self.mini_batch,
            "device": self.device,
            "seed": self.seed,
        }


@dataclass(frozen=True, slots=True)
class Preset:
    """Default sizes and counts.

    Attributes:
        cnn_mini_batch: Number of images in a batch; `mini_batch` counts sequences.
        processes: Number of processes that a bench starts for each runner.
        seconds: Measuring time of each process, in seconds.
        warmup: Number of iterations of a profiled runner before the capture begins.
        nloops: Number of captured iterations.
    """

    name: str
    description: str
    seq_length: int
    num_layers: int
    input_size: int
    hidden_size: int
    mini_batch: int
    cnn_mini_batch: int
    image_size: int
    processes: int
    seconds: float
    warmup: int
    nloops: int


PRESETS = {
    preset.name: preset
    for preset in (
        Preset("upstream", "the sizes of PyTorch's fastrnns", 100, 1, 512, 512, 64, 32, 224, 5, 2.0, 10, 100),
        # Upstream's sizes would take an hour on two cores.
        Preset("cpu", "a default run within ten minutes on two cores", 64, 1, 256, 256, 16, 2, 224, 5, 2.0, 5, 20),
        Preset("quick", "a look at whether everything runs", 16, 1, 64, 64, 4, 2, 64, 1, 0.2, 5, 10),
    )
}


def problem_options(problem: Problem, preset: Preset) -> Iterator[str]:
    """Yields the options without which a command would measure a different problem.

    The device and the seed are not among them.

    Args:
        problem: Problem to measure.
        preset: Preset of the command.
    """
    usual = Problem(mini_batch=preset.mini_batch if problem.image_size is None else preset.cnn_mini_batch).by_name()
    for name in ("seq_length", "num_layers", "input_size", "hidden_size", "image_size"):
        usual[name] = getattr(preset, name)
    for name, value in problem.by_name().items():
        flag = f"--{name.replace('_', '-')}"
        if name in {"device", "seed"} or value is None or value == usual[name]:
            continue
        if isinstance(value, bool):
            # None means that the runner does not support the option, which is off as well.
            yield from [flag] if value else []
        else:
            yield from (flag, str(value))


@dataclass(frozen=True, slots=True, kw_only=True)
class Sizes:
    """Sizes that the user gave; None stands for the preset's value."""

    seq_length: int | None = None
    num_layers: int | None = None
    input_size: int | None = None
    hidden_size: int | None = None
    mini_batch: int | None = None
    image_size: int | None = None

    def __post_init__(self) -> None:
        for one in fields(self):
            check_count(one.name, getattr(self, one.name), least=1)


def check_count(name: str, value: int | None, *, least: int, most: int = MOST) -> None:
    """Rejects a value that is not a whole number from `least` to `most`.

    Raises:
        UsageError: If it is not such a number; the message names it.
    """
    if value is None:
        return
    check_size(name, value)
    if isinstance(value, bool) or not isinstance(value, int) or value < least:
        what = "out of range" if isinstance(value, int) and not isinstance(value, bool) else "invalid integer"
        raise UsageError(f"{what}: {value!r}", f"Use an integer of at least {least}.", where=name, value=value)
    if value > most:
        raise UsageError(f"out of range: {value}", f"Use an integer of at most {most}.", where=name, value=value)


def check_seconds(name: str, value: float) -> None:
    """Rejects a value that is not a number of seconds above 0.

    Raises:
        UsageError: If it is not such a number; the message names it.
    """
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 < value < math.inf:
        raise UsageError(f"invalid number: {value!r}", "Use a number of seconds above 0.", where=name, value=value)


def check_seed(seed: int) -> None:
    """Rejects a seed that torch's generators do not accept.

    Raises:
        UsageError: If the seed is not a whole number from 0 to 2**63 - 1.
    """
    if seed is None:
        raise UsageError("invalid integer: None", "Use an integer of at least 0.", where="seed")
    check_count("seed", seed, least=0, most=(1 << 63) - 1)


def check_device(device: str) -> None:
    """Rejects an unknown device name, regardless of the devices of the machine.

    Raises:
        UsageError: If the name is not `auto`, `cpu`, `cuda` or `cuda:N`.
    """
    if not isinstance(device, str) or not DEVICES.fullmatch(device):
        raise unknown("invalid value", device, ["auto", "cpu", "cuda", "cuda:0"], where="device")


def resolve(device: str, cuda_devices: int) -> str | None:
    """Returns the device that a name means on this machine, or None if it is missing."""
    if device == "cpu" or (device == "auto" and not cuda_devices):
        return "cpu"
    index = int(device.partition(":")[2] or 0) if device != "auto" else 0
    if index >= cuda_devices:
        return None
    return "cuda" if device == "auto" else device


def check_dtype(dtype: str) -> None:
    """Rejects a dtype that no runner supports.

    Raises:
        UsageError: If the dtype is not in `DTYPES`.
    """
    if dtype not in DTYPES:
        raise unknown("invalid value", dtype if isinstance(dtype, str) else str(dtype), DTYPES, where="dtype")
