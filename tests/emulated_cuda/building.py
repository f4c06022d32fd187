"""Builds the emulated devices: one library that stands in for the CUDA libraries that torch calls.

It is preloaded, so that its functions come before those of NVIDIA's libraries, and it is called `libcuda.so.1`, so that
a program that loads the driver finds it. The headers, and the list of functions that torch calls, come from the
installed torch.
"""

from __future__ import annotations

import fcntl
import hashlib
import importlib.util
import os
import re
import shutil
import subprocess
from functools import cache
from pathlib import Path

SOURCES = Path(__file__).parent / "device"
#: Ignored by git.
BUILT = Path(__file__).parents[2] / "target" / "emulated-cuda"
NAME = "libcuda.so.1"
_FLAGS = ("-std=c++17", "-O1", "-fPIC", "-fvisibility=hidden", "-Wall", "-Wextra", "-Werror")
_QUIET = ("-Wno-missing-field-initializers",)
#: Names of emulated functions. Other libraries that torch loads work without a device.
_EMULATED = re.compile(r"(?:__)?(?:cuda|cublas|cudnn|cupti|cu[A-Z](?!ile))\w*")
#: Torch's libraries that call CUDA, but for those that are loaded where they are needed.
_CALLERS = ("c10_cuda", "torch_cuda", "torch_cpu", "torch_python", "caffe2_nvrtc")


def compiler() -> str | None:
    """Returns the C++ compiler."""
    return shutil.which(os.environ.get("CXX", "c++"))


@cache
def library() -> Path:
    """Returns the path of the library, and builds it if these sources and this torch have no library yet.

    Raises:
        subprocess.CalledProcessError: The compiler refuses a source.
    """
    packages = _packages()
    sources = sorted(SOURCES.glob("*.?pp"))
    version = (packages / "torch" / "version.py").read_bytes()
    read = [Path(__file__).read_bytes(), version, *(one.read_bytes() for one in sources)]
    key = hashlib.sha256(b"".join(read)).hexdigest()
    folder = BUILT / key[:16]
    folder.mkdir(parents=True, exist_ok=True)
    with (folder / "lock").open("w") as lock:
        # Workers of the tests build once.
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not (folder / NAME).exists():
            _build(folder, packages)
    return folder / NAME


def _build(folder: Path, packages: Path) -> None:
    nvidia = packages / "nvidia"
    headers = [
        *(f"-I{one}" for one in sorted(nvidia.glob("*/include"))),
        # The compiler's own part of the headers.
        *("-isystem", str(packages / "triton" / "backends" / "nvidia" / "include")),
        f"-I{folder}",
    ]
    _write_functions(nvidia, folder)

    def compiled(source: Path) -> str:
        target = folder / f"{source.stem}.o"
        _run(compiler() or "c++", *_FLAGS, *_QUIET, *headers, "-c", str(source), "-o", str(target))
        return str(target)

    # CUDA's headers take most of the time, so one unit reads them. The other source has declarations of its own.
    alone = SOURCES / "cudnn_launches.cpp"
    rest = folder / "all.cpp"
    rest.write_text("".join(f'#include "{one}"\n' for one in sorted(SOURCES.glob("*.cpp")) if one != alone))
    objects = [compiled(rest), compiled(alone)]
    missing = _called(packages) - _symbols("--defined-only", *objects)
    refusing = folder / "missing.cpp"
    functions = (f'EXPORT int {name}() {{ return emulated::missing("{name}"); }}\n' for name in sorted(missing))
    refusing.write_text(f'#include "{SOURCES}/library.hpp"\n' + "".join(functions))
    made = folder / f"{NAME}.new"
    _run(compiler() or "c++", "-shared", f"-Wl,-soname,{NAME}", *objects, compiled(refusing), "-ldl", "-o", str(made))
    made.rename(folder / NAME)


def _write_functions(nvidia: Path, folder: Path) -> None:
    """Writes the numbers that CUPTI gives the functions of both APIs."""
    for api in ("runtime", "driver"):
        [header] = nvidia.glob(f"*/include/cupti_{api}_cbid.h")
        named = re.findall(rf"CUPTI_{api.upper()}_TRACE_CBID_((cu\w+?)(?:_v\d{{4,}})?)\s*=\s*(\d+)", header.read_text())
        lines = (f'{{"{name}", {number}, "{versioned}"}},\n' for versioned, name, number in named)
        (folder / f"{api}_functions.inc").write_text("".join(lines))


def _called(packages: Path) -> set[str]:
    """Returns the functions of CUDA that torch calls."""
    libraries = (packages / "torch" / "lib" / f"lib{name}.so" for name in _CALLERS)
    return _symbols("--undefined-only", "--dynamic", *map(str, libraries))


def _symbols(*arguments: str) -> set[str]:
    listed = _run("nm", "--format=just-symbols", *arguments)
    names = (line.split("@")[0] for line in listed.splitlines())
    return {name for name in names if _EMULATED.fullmatch(name)}


def _run(*argv: str) -> str:
    return subprocess.run(argv, check=True, stdout=subprocess.PIPE, text=True).stdout


def _packages() -> Path:
    spec = importlib.util.find_spec("torch")
    assert spec is not None
    assert spec.origin is not None
    return Path(spec.origin).parents[1]
