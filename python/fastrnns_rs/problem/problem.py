"""One point of sizes, dtype, device and seed, and the presets that sizes come from."""

from __future__ import annotations

import re
from dataclasses import dataclass, field, fields
from typing import Any, Literal

from fastrnns_rs.documents.codec import since
from fastrnns_rs.errors import UsageError, nearest

DTYPES = ("float32", "float64", "float16", "bfloat16")
#: No size or count is larger: torch counts in 64 bits, but some of its kernels in 32.
MOST = (1 << 31) - 1
DEVICES = re.compile(r"auto|cpu|cuda(:\d+)?")


@dataclass(frozen=True, slots=True, kw_only=True)
class Problem:
    """What a runner is built for. A size that does not apply to the runner is None.

    Attributes:
        seq_length: Time steps S.
        num_layers: Stacked layers L.
        input_size: Features I of the input.
        hidden_size: Features H of the hidden state.
        mini_batch: Sequences or images B in a batch.
        image_size: Height and width of an image, in pixels.
        bidirectional: Whether a second layer beside each reads the sequence backwards.
        proj_size: Features that the hidden state is projected to; None for no projection.
        dtype: Name of the torch dtype of parameters and inputs.
        amp: Whether forward runs under autocast to bfloat16.
        device: `cpu`, `cuda` or `cuda:N`.
        seed: Seed of inputs, parameters and the gradient that backward starts from.
        allow_tf32: Whether float32 matrix products and convolutions may round their inputs to TF32.
        channels_last: Whether images and convolutions have their channels innermost.
        cudnn_benchmark: Whether cuDNN tries its algorithms for a convolution and takes the quickest.
        deterministic: Whether only algorithms run that give the same result every time.
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
        """Whether the model is run as in training."""
        return self.mode == "train"

    @property
    def directions(self) -> int:
        """How many layers lie side by side: two of a bidirectional model, else one."""
        return 2 if self.bidirectional else 1

    def by_name(self) -> dict[str, Any]:
        """Its fields by name, in the order of a document."""
        return {one.name: getattr(self, one.name) for one in fields(self)}

    def sizes(self) -> tuple[int, int, int, int, int]:
        """(S, L, I, H, B) of a problem for a recurrent runner.

        Raises:
            UsageError: One of them does not apply.
        """
        sizes = (self.seq_length, self.num_layers, self.input_size, self.hidden_size, self.mini_batch)
        known = tuple(size for size in sizes if size is not None)
        if len(known) != len(sizes):
            raise UsageError("a recurrent runner needs seq_length, num_layers, input_size and hidden_size")
        return known[0], known[1], known[2], known[3], known[4]

    def upstream_arguments(self) -> dict[str, Any]:
        """The keyword arguments that a creator written for PyTorch's fastrnns takes."""
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
    """Sizes and counts for whatever is not given.

    Attributes:
        cnn_mini_batch: Images in a batch; `mini_batch` counts sequences.
        processes: Processes of each runner that a bench starts.
        seconds: How long each of them measures.
        warmup: Iterations of a profiled runner before the capture begins.
        nloops: Iterations that are captured.
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
        # Upstream's sizes take an hour on two cores.
        Preset("cpu", "a default run within ten minutes on two cores", 64, 1, 256, 256, 16, 2, 224, 5, 2.0, 5, 20),
        Preset("quick", "a look at whether everything runs", 16, 1, 64, 64, 4, 2, 64, 1, 0.2, 5, 10),
    )
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Sizes:
    """What the user gave; None stands for the preset's value."""

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
    """Refuses what is not a whole number from `least` to `most`.

    Raises:
        UsageError: It is not; the message names it.
    """
    if value is None:
        return
    if isinstance(value, bool) or not isinstance(value, int) or value < least:
        raise UsageError(f"{name} is {value!r}", f"give a whole number of at least {least}")
    if value > most:
        raise UsageError(f"{name} is {value}", f"give a whole number of at most {most}")


def check_seed(seed: int) -> None:
    """Refuses a seed that torch's generators do not take.

    Raises:
        UsageError: It is not a whole number from 0 to 2**63 - 1.
    """
    if seed is None:
        raise UsageError("seed is None", "give a whole number; 0 is one like any other")
    check_count("seed", seed, least=0, most=(1 << 63) - 1)


def check_device(device: str) -> None:
    """Refuses a device that fastrnns-rs does not know, whether or not the machine has it.

    Raises:
        UsageError: The name is not `auto`, `cpu`, `cuda` or `cuda:N`.
    """
    if not isinstance(device, str) or not DEVICES.fullmatch(device):
        raise UsageError(f"no device is called {device!r}", nearest(str(device), ["auto", "cpu", "cuda", "cuda:0"]))


def resolve(device: str, cuda_devices: int) -> str | None:
    """The device that a name means on this machine, or None where there is none."""
    if device == "cpu" or (device == "auto" and not cuda_devices):
        return "cpu"
    index = int(device.partition(":")[2] or 0) if device != "auto" else 0
    if index >= cuda_devices:
        return None
    return "cuda" if device == "auto" else device


def check_dtype(dtype: str) -> None:
    """Refuses a dtype that no runner has.

    Raises:
        UsageError: It is none of `DTYPES`.
    """
    if dtype not in DTYPES:
        raise UsageError(f"no dtype is called {dtype!r}", nearest(str(dtype).removeprefix("torch."), DTYPES))
