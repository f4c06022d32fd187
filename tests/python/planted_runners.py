"""Runners that break in every way a runner can, and one that works. Loaded with `--runner-file`."""

import ctypes
import os
import subprocess
import sys
import time
from pathlib import Path

from fastrnns_rs import ModelDef, Problem, runner


def _model(forward):
    """A model with one weight, whose forward is `forward(weight)`."""
    import torch

    weight = torch.ones(3, requires_grad=True)

    def setup(output):
        return output, torch.ones_like(output)

    def backward(output, gradient):
        output.backward(gradient)

    return ModelDef(inputs=[weight], params=[weight], forward=forward, backward_setup=setup, backward=backward)


def _say_ready():
    """Tells a test that waits for it that the runner hangs now."""
    if "PLANTED_READY" in os.environ:
        Path(os.environ["PLANTED_READY"]).touch()


def _times_two(weight):
    return weight * 2


def _raise(error):
    raise error


def _too_much(_weight):
    import torch

    return torch.empty(1 << 60)


_FORWARDS = {
    "crashes": lambda _weight: ctypes.string_at(0),
    "calls_exit": lambda _weight: sys.exit(4),
    # Ends as the kernel ends a process when memory runs out.
    "is_killed": lambda _weight: os.kill(os.getpid(), 9),
    "kills_supervisor": lambda _weight: os.kill(os.getppid(), 9) or time.sleep(60),
    "returns_nan": lambda weight: weight * float("nan"),
    "nan_gradient": lambda weight: (weight - weight).sqrt() * 0,
    "eats_memory": _too_much,
}
for _name, _forward in _FORWARDS.items():
    runner(_name)(lambda _problem, forward=_forward: _model(forward))

runner("no_model")(lambda _problem: 3)
runner("raises")(lambda _problem: _raise(RuntimeError("the model could not be built\nand here is more")))
runner("mute")(lambda _problem: _raise(RuntimeError()))
# Text that is no UTF-8 and would change a terminal's colour.
runner("escapes")(lambda _problem: _raise(ValueError("odd \udcff \x1b[31m letters")))
runner("shouts")(lambda _problem: _raise(ValueError("x" * 1_000_000)))


@runner("sound", description="works")
def sound(_problem: Problem) -> ModelDef:
    return _model(_times_two)


@runner("exits")
def exits(_problem: Problem) -> ModelDef:
    def forward(_weight):
        os._exit(3)

    return _model(forward)


@runner("hangs")
def hangs(_problem: Problem) -> ModelDef:
    """Sleeps for ever from its third iteration on."""
    calls = []

    def forward(weight):
        calls.append(1)
        if len(calls) > 2:
            _say_ready()
            time.sleep(3600)
        return weight * 2

    return _model(forward)


@runner("hangs_deaf")
def hangs_deaf(_problem: Problem) -> ModelDef:
    """Holds the interpreter for ever, and has a child that does not listen to signals either."""

    def forward(_weight):
        code = "import signal, time; signal.signal(signal.SIGTERM, signal.SIG_IGN); time.sleep(3600)"
        subprocess.Popen([sys.executable, "-c", code, "planted-grandchild"])
        _say_ready()
        ctypes.PyDLL(None).sleep(3600)

    return _model(forward)


@runner("hides_nan")
def hides_nan(_problem: Problem) -> ModelDef:
    """NaN in a mapping in a list."""
    import torch

    model = _model(lambda weight: {"y": [torch.tensor(float("nan"))], "x": weight * 2})
    return ModelDef(
        inputs=model.inputs,
        params=model.params,
        forward=model.forward,
        backward=lambda output: output["x"].sum().backward(),
    )


@runner("garbles", note=lambda _problem: str(1 // 0))
def garbles(_problem: Problem) -> ModelDef:
    """Writes to every descriptor there is, and has a note that fails."""
    for descriptor in range(3, 30):
        try:
            os.write(descriptor, b'garbage\n[1]\n{"kind"}\n{"no": 1}\n')
        except OSError:
            continue
    return _model(_times_two)


@runner("reads")
def reads(_problem: Problem) -> ModelDef:
    """Reads standard input, itself and in a child."""

    def forward(weight):
        assert sys.stdin.read() == ""
        subprocess.run(["cat"], check=True)
        return weight * 2

    return _model(forward)


@runner("removes")
def removes(_problem: Problem) -> ModelDef:
    """Removes a folder."""
    import shutil

    shutil.rmtree(os.environ["PLANTED_REMOVES"], ignore_errors=True)
    return _model(_times_two)


@runner("no_gradient")
def no_gradient(_problem: Problem) -> ModelDef:
    """Names a parameter that backward does not reach."""
    import torch

    model = _model(_times_two)
    return ModelDef(
        inputs=model.inputs,
        params=[*model.params, torch.ones(1, requires_grad=True)],
        forward=model.forward,
        backward_setup=model.backward_setup,
        backward=model.backward,
    )


@runner("prints")
def prints(_problem: Problem) -> ModelDef:
    """Writes to standard output from Python and from C."""

    def forward(weight):
        print("from Python")
        os.write(1, b"from below Python\n")
        return weight * 2

    return _model(forward)
