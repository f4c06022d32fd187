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


@runner("sound", description="works")
def sound(_problem: Problem) -> ModelDef:
    return _model(_times_two)


@runner("raises")
def raises(_problem: Problem) -> ModelDef:
    raise RuntimeError("the model could not be built\nand here is more")


@runner("crashes")
def crashes(_problem: Problem) -> ModelDef:
    def forward(_weight):
        ctypes.string_at(0)

    return _model(forward)


@runner("exits")
def exits(_problem: Problem) -> ModelDef:
    def forward(_weight):
        os._exit(3)

    return _model(forward)


@runner("calls_exit")
def calls_exit(_problem: Problem) -> ModelDef:
    def forward(_weight):
        sys.exit(4)

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


@runner("returns_nan")
def returns_nan(_problem: Problem) -> ModelDef:
    return _model(lambda weight: weight * float("nan"))


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


@runner("nan_gradient")
def nan_gradient(_problem: Problem) -> ModelDef:
    return _model(lambda weight: (weight - weight).sqrt() * 0)


@runner("no_model")
def no_model(_problem: Problem) -> int:
    return 3


@runner("mute")
def mute(_problem: Problem) -> ModelDef:
    raise RuntimeError


@runner("escapes")
def escapes(_problem: Problem) -> ModelDef:
    """Text that is no UTF-8 and would change a terminal's colour."""
    raise ValueError("odd \udcff \x1b[31m letters")


@runner("shouts")
def shouts(_problem: Problem) -> ModelDef:
    raise ValueError("x" * 1_000_000)


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


@runner("eats_memory")
def eats_memory(_problem: Problem) -> ModelDef:
    import torch

    return _model(lambda _weight: torch.empty(1 << 60))


@runner("is_killed")
def is_killed(_problem: Problem) -> ModelDef:
    """Ends as the kernel ends a process when memory runs out."""
    return _model(lambda _weight: os.kill(os.getpid(), 9))


@runner("prints")
def prints(_problem: Problem) -> ModelDef:
    """Writes to standard output from Python and from C."""

    def forward(weight):
        print("from Python")
        os.write(1, b"from below Python\n")
        return weight * 2

    return _model(forward)
