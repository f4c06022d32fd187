"""Modules that Inductor really generates, on the CPU: compiled once for all tests that want them."""

from __future__ import annotations

import fcntl
import os
import re
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

#: Trained once and called once without gradients: three graphs, each with kernels in C++ and a product of matrices.
_PROGRAM = """
import torch

def scores(x, w, b):
    return (torch.softmax(torch.tanh(x @ w + b), -1) * x).sum(-1)

x, w, b = torch.randn(16, 8), torch.randn(8, 8, requires_grad=True), torch.randn(8, requires_grad=True)
compiled = torch.compile(scores)
compiled(x, w, b).sum().backward()
with torch.no_grad():
    compiled(x, w, b)
"""
_UPSTREAM = "from torch._inductor.wrapper_benchmark import compiled_module_main"
_OURS = "from fastrnns_rs.inductor import compiled_module_main"


@dataclass(frozen=True)
class Modules:
    """Files of one compilation, and the cache that they are in: what is run with it need not compile its kernels."""

    cache: Path
    forward: Path
    backward: Path
    inference: Path

    @property
    def variables(self) -> dict[str, str]:
        """The environment of whoever runs them."""
        return {"TORCHINDUCTOR_CACHE_DIR": str(self.cache), "OMP_NUM_THREADS": "1"}


def compiled(folder: Path) -> Modules:
    """The modules below a folder, which are made there unless another worker of pytest has made them."""
    cache = folder / "inductor"
    with (folder / "inductor.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not cache.exists():
            variables = {**os.environ, "TORCHINDUCTOR_CACHE_DIR": str(cache), "OMP_NUM_THREADS": "1"}
            program = [sys.executable, "-c", _PROGRAM]
            done = subprocess.run(program, env=variables, capture_output=True, text=True, timeout=600, check=False)
            assert done.returncode == 0, done.stderr
    found = {}
    for path in cache.glob("*/*.py"):
        told = re.match(r"# AOT ID: \['\d+_(forward|backward|inference)'\]", path.read_text())
        if told:
            found[told[1]] = path
    return Modules(cache, **found)


def with_our_main(path: Path, folder: Path) -> Path:
    """A copy of a module in a folder, that benchmarks itself with our function in place of torch's."""
    text = path.read_text()
    assert text.count(_UPSTREAM) == 1
    copy = folder / path.name
    copy.write_text(text.replace(_UPSTREAM, _OURS))
    return copy


def planted(folder: Path, statement: str = "pass", device: str = "cpu") -> Path:
    """A module as Inductor writes them, without anything to compile, that adds a line to `calls` beside it in a call.

    Args:
        folder: Where it goes.
        statement: What else a call does.
        device: What it says that it was generated for.
    """
    path = folder / "planted.py"
    path.write_text(
        f"""# AOT ID: ['0_inference']
from pathlib import Path
def call(args):
    (x,) = args
    args.clear()
    with Path(__file__).with_name('calls').open('a') as file:
        file.write('called\\n')
    {statement}
    return (x + 1,)
def get_args():
    import torch
    of = dict(device='{device}')
    return [torch.zeros(3)]
def benchmark_compiled_module(args, times=10, repeat=10):
    from torch._inductor.utils import print_performance
    return print_performance(lambda: call(list(args)), times=times, repeat=repeat, device='cpu')
if __name__ == "__main__":
    {_OURS}
    args = get_args()
    compiled_module_main('None', lambda times, repeat: benchmark_compiled_module(args, times=times, repeat=repeat))
"""
    )
    return path


def calls_of(path: Path) -> int:
    """How often a planted module was called."""
    told = path.with_name("calls")
    return told.read_text().count("called") if told.exists() else 0
