"""The NVIDIA driver's management library (NVML) and `nvidia-smi` without a GPU, below the package `nvidia-ml-py`.

The library is a stand-in of the driver's own, in C: `nvml.c` has the lines of the file that describes GPUs. It is found
before the driver's by LD_LIBRARY_PATH, where `nvidia-ml-py` and torch look for it by its name.
"""

from __future__ import annotations

import fcntl
import hashlib
import os
import shutil
import subprocess
import sys
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import Literal
from uuid import UUID

from emulated_cuda.building import BUILT

SOURCE = Path(__file__).parent / "nvml.c"
NAME = "libnvidia-ml.so.1"
_FLAGS = ("-std=c11", "-D_GNU_SOURCE", "-O1", "-fPIC", "-shared", "-fvisibility=hidden", "-Wall", "-Wextra", "-Werror")


def compiler() -> str | None:
    """Returns the C compiler."""
    return shutil.which(os.environ.get("CC", "cc"))


def uuid(device: int, kind: Literal["GPU", "MIG"] = "GPU") -> str:
    """Returns the UUID of an emulated CUDA device, or of one that is an instance of a GPU, as the driver writes it."""
    made = UUID(bytes=bytes(0x10 * device + at for at in range(16)))
    return f"{kind}-{made}"


@cache
def library() -> Path:
    """Returns the path of the library, and builds it if this source has no library yet.

    Raises:
        subprocess.CalledProcessError: The compiler refuses the source.
    """
    key = hashlib.sha256(SOURCE.read_bytes() + Path(__file__).read_bytes()).hexdigest()
    folder = BUILT / f"nvml-{key[:16]}"
    folder.mkdir(parents=True, exist_ok=True)
    with (folder / "lock").open("w") as lock:
        # Workers of the tests build once.
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not (folder / NAME).exists():
            made = folder / f"{NAME}.new"
            command = [compiler() or "cc", *_FLAGS, f"-Wl,-soname,{NAME}", str(SOURCE), "-o", str(made), "-lpthread"]
            subprocess.run(command, check=True)
            made.rename(folder / NAME)
    return folder / NAME


def environment(folder: Path, lines: Sequence[str]) -> dict[str, str]:
    """Returns the variables of a process that finds this driver.

    Args:
        folder: Where the file with the lines goes, and an `nvidia-smi`.
        lines: The GPUs, as nvml.c has them.
    """
    programs = folder / "nvml"
    programs.mkdir(parents=True, exist_ok=True)
    settings = programs / "settings"
    settings.write_text("\n".join(lines) + "\n")
    smi = programs / "nvidia-smi"
    # Without what is preloaded, and without packages of the working folder.
    smi.write_text(
        f'#!/bin/sh\nunset LD_PRELOAD\nexec "{sys.executable}" -P "{Path(__file__).with_name("nvidia_smi.py")}" "$@"\n'
    )
    smi.chmod(0o755)
    path = os.environ.get("LD_LIBRARY_PATH")
    return {
        "EMULATED_NVML": str(settings),
        "LD_LIBRARY_PATH": os.pathsep.join([str(library().parent), *filter(None, [path])]),
        "PATH": os.pathsep.join([str(programs), os.environ["PATH"]]),
    }
