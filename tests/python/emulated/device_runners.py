"""Runners that keep a device busy for known times: on an emulated device and, by the same code, on a GPU."""

import ctypes
import time
from typing import Any

from fastrnns_rs import ModelDef, Problem, runner

FORWARD_MS = 3
BACKWARD_MS = 5
HOST_MS = 1
#: Memory of the tensor that `large` returns elements of.
LARGE_BYTES = 64 << 20


def _host(ms):
    """The host works for so long."""
    try:
        ctypes.CDLL(None).emulated_cuda_host(ctypes.c_int64(ms * 1_000_000))
    except AttributeError:
        end = time.perf_counter() + ms / 1e3
        while time.perf_counter() < end:
            pass


def _device(ms):
    """The device works for so long."""
    import torch

    # In kilohertz: so many cycles in a millisecond.
    torch.cuda._sleep(int(ms * torch.cuda.get_device_properties().clock_rate))


def _model(forward, backward):
    """A model with one weight, of two functions that stand in for its phases."""
    import torch

    class Phases(torch.autograd.Function):
        @staticmethod
        def forward(_context: Any, weight: Any) -> Any:
            forward()
            return weight.view_as(weight)

        @staticmethod
        def backward(_context: Any, gradient: Any) -> Any:
            backward()
            return torch.zeros_like(gradient)

    weight = torch.ones(3, device="cuda", requires_grad=True)

    def setup(output):
        return output, weight.detach()

    def run_backward(output, gradient):
        output.backward(gradient)

    return ModelDef(inputs=[weight], params=[weight], forward=Phases.apply, backward_setup=setup, backward=run_backward)


def _runner(name):
    return runner(name, family="lstm", description="a device that is busy for a known time", devices=("cuda",))


@_runner("sleeping")
def sleeping(_problem: Problem) -> ModelDef:
    """The device takes three milliseconds forward and five backward, the host one in each."""

    def phase(ms):
        _host(HOST_MS)
        _device(ms)

    return _model(lambda: phase(FORWARD_MS), lambda: phase(BACKWARD_MS))


@_runner("launching")
def launching(_problem: Problem) -> ModelDef:
    """The host takes longer than the device."""

    def phase(ms):
        _device(ms)
        _host(FORWARD_MS)

    return _model(lambda: phase(0.1), lambda: phase(0.1))


@_runner("unjoined")
def unjoined(_problem: Problem) -> ModelDef:
    """Works on a stream of its own, for which nothing waits."""
    import torch

    other = torch.cuda.Stream()

    def forward():
        with torch.cuda.stream(other):
            _device(FORWARD_MS)

    return _model(forward, lambda: None)


@_runner("both_devices")
def both_devices(_problem: Problem) -> ModelDef:
    """Two devices work side by side."""
    import torch

    def forward():
        with torch.cuda.device(1):
            _device(FORWARD_MS)
        _device(FORWARD_MS)

    return _model(forward, lambda: None)


@_runner("large")
def large(_problem: Problem) -> ModelDef:
    """Returns every second element of a large tensor."""
    import torch

    weight = torch.ones(3, device="cuda", requires_grad=True)
    return ModelDef(inputs=[weight], params=[], forward=lambda _: torch.zeros(LARGE_BYTES // 4, device="cuda")[::2])


@_runner("precision_reader")
def precision_reader(_problem: Problem) -> ModelDef:
    """Looks at what may be rounded, by the names of every version of torch."""
    import torch

    def forward(weight):
        with torch.backends.cudnn.flags(enabled=True):
            torch.backends.cuda.matmul.allow_tf32, torch.backends.cudnn.allow_tf32, torch.get_float32_matmul_precision()
        return weight * 2

    weight = torch.ones(3, device="cuda", requires_grad=True)
    return ModelDef(inputs=[weight], params=[weight], forward=forward)


@_runner("reduced_overhead")
def reduced_overhead(_problem: Problem) -> ModelDef:
    """Is compiled into CUDA graphs by torch."""
    import torch

    weight = torch.ones(8, 8, device="cuda", requires_grad=True)
    forward = torch.compile(lambda one: (one * 2).tanh(), mode="reduce-overhead")

    def setup(output: Any) -> tuple[Any, Any]:
        return output, torch.ones_like(output)

    return ModelDef(
        inputs=[weight],
        params=[weight],
        forward=forward,
        backward_setup=setup,
        backward=lambda output, gradient: output.backward(gradient),
    )


@_runner("missing_gradient")
def missing_gradient(_problem: Problem) -> ModelDef:
    """Has a parameter that backward does not reach."""
    import torch

    weight, other = (torch.ones(8, device="cuda", requires_grad=True) for _ in range(2))
    return ModelDef(
        inputs=[weight],
        params=[weight, other],
        forward=lambda one: (one * 2).sum(),
        backward=lambda output: output.backward(),
    )
