"""An emulated machine for one process and its children, and the log of what they called."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

from emulated_cuda import building

#: Python looks here for a module that it imports when it starts, and finds the one that loads arithmetic.py.
_AT_START = Path(__file__).parent / "at_start"
_LAUNCHES = re.compile(r"cu\w*Launch|cudnn|cublas|cuda(Memcpy|Memset)")


@dataclass(frozen=True, slots=True)
class Call:
    """A call of CUDA.

    Attributes:
        thread: Id of the thread.
        at_ns: The host's time when it began.
        function: Name of the function.
        device: Number of the device.
        stream: Number of the stream: 0 for the default stream of a device, -1 for calls without a stream.
        error: Error code that it returned, 0 for success.
        detail: Name of a kernel, size of a copy, `timing` for an event that is stamped.
    """

    thread: int
    at_ns: int
    function: str
    device: int
    stream: int
    error: int
    detail: str

    @property
    def launches(self) -> bool:
        """Returns True if the call gives a device work: a kernel, a library's function, a graph, a copy or a set."""
        return _LAUNCHES.match(self.function) is not None


@dataclass(frozen=True, slots=True)
class CallLog:
    """The calls of one process, in order."""

    calls: Sequence[Call]

    def of(self, *functions: str) -> list[Call]:
        """Returns the calls of some functions."""
        return [one for one in self.calls if one.function in functions]

    def kernels(self, part: str = "") -> list[Call]:
        """Returns the launches of kernels whose names have a part, those of cuDNN and cuBLAS among them."""
        return [one for one in self.calls if part in one.detail and one.launches]

    def marks(self) -> list[Call]:
        """Returns the records of events that are stamped with a time."""
        return [one for one in self.of("cudaEventRecord") if one.detail == "timing"]

    def between(self, begin: Call, end: Call) -> list[Call]:
        """Returns the calls after a call and before another."""
        return [*self.calls[self.calls.index(begin) + 1 : self.calls.index(end)]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Machine:
    """Settings of the emulated devices. `device/settings.hpp` describes the file that they become.

    Attributes:
        devices: Number of devices.
        clock: `virtual`: the host advances by the time of each call, and waiting jumps; `real`: waiting sleeps.
        durations_ns: Durations of kernels, by a glob of their names; the last match counts.
        faults: Errors of functions, as `cudaSetDevice 46 device 1`.
        arithmetic: True if operators are computed, see arithmetic.py.
        settings: Other lines of the file.
    """

    devices: int = 1
    clock: Literal["virtual", "real"] = "virtual"
    durations_ns: Mapping[str, int] = field(default_factory=dict)
    faults: Sequence[str] = ()
    arithmetic: bool = False
    settings: Sequence[str] = ()

    def environment(self, folder: Path) -> dict[str, str]:
        """Returns the variables of a process that has this machine; settings and logs go to a folder."""
        lines = [
            *(f"devices {self.devices}", f"clock {self.clock}", f"log {folder / 'calls'}"),
            *(f"duration {glob} {duration}" for glob, duration in self.durations_ns.items()),
            *(f"fault {one}" for one in self.faults),
            *(["arithmetic"] if self.arithmetic else []),
            *self.settings,
        ]
        folder.mkdir(parents=True, exist_ok=True)
        file = folder / "settings"
        file.write_text("\n".join(lines) + "\n")
        library = building.library()
        arithmetic = [str(_AT_START), *filter(None, [os.environ.get("PYTHONPATH")])]
        return {
            **({"PYTHONPATH": os.pathsep.join(arithmetic)} if self.arithmetic else {}),
            "EMULATED_CUDA": str(file),
            "LD_PRELOAD": os.pathsep.join([str(library), *filter(None, [os.environ.get("LD_PRELOAD")])]),
            # Ranges are logged as a profiler would see them.
            "NVTX_INJECTION64_PATH": str(library),
            # Triton links what it compiles with the driver.
            "TRITON_LIBCUDA_PATH": str(library.parent),
            # Convolutions by the functions that are emulated.
            "TORCH_CUDNN_V8_API_DISABLED": "1",
        }


def logs(folder: Path) -> Iterator[CallLog]:
    """Yields the log of each process that called CUDA."""
    for file in sorted(folder.glob("calls.*")):
        calls = []
        for line in file.read_text().splitlines():
            thread, at, function, device, stream, error, detail = line.split("\t")
            calls.append(Call(int(thread), int(at), function, int(device), int(stream), int(error), detail))
        yield CallLog(calls)
