"""Runners that keep a device busy for known times: on an emulated device and, by the same code, on a GPU."""

import ctypes
import time

from fastrnns_rs import ModelDef, Problem, runner

FORWARD_MS = 3
BACKWARD_MS = 5
HOST_MS = 1


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
        def forward(ctx, weight):
            forward()
            return weight.view_as(weight)

        @staticmethod
        def backward(ctx, gradient):
            backward()
            return torch.zeros_like(gradient)

    weight = torch.ones(3, device="cuda", requires_grad=True)

    def setup(output):
        return output, weight.detach()

    def run_backward(output, gradient):
        output.backward(gradient)

    return ModelDef(inputs=[weight], params=[weight], forward=Phases.apply, backward_setup=setup, backward=run_backward)


@runner(
    "sleeping",
    family="lstm",
    description="three milliseconds forward, five backward, and the host one in each",
    devices=("cuda",),
)
def sleeping(problem: Problem):
    def phase(ms):
        _host(HOST_MS)
        _device(ms)

    return _model(lambda: phase(FORWARD_MS), lambda: phase(BACKWARD_MS))
