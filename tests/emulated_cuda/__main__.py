"""Runs a command on an emulated device: `PYTHONPATH=tests python -m emulated_cuda COMMAND...`."""

import os
import sys
import tempfile
from pathlib import Path

from emulated_cuda.machine import Machine

if __name__ == "__main__":
    folder = Path(tempfile.mkdtemp(prefix="emulated-cuda-"))
    os.environ.update(Machine(clock="real").environment(folder))
    os.execvp(sys.argv[1], sys.argv[1:])
