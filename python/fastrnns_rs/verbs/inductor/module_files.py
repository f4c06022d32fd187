"""Search for generated modules in files and folders.

Modules are recognised by their text, without importing them.
"""

from __future__ import annotations

import hashlib
import os
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import cast

from fastrnns_rs.counting import counted
from fastrnns_rs.documents import reading
from fastrnns_rs.documents.file_description import wrong_kind
from fastrnns_rs.documents.inductor_report import Graph
from fastrnns_rs.documents.missing_file import file_not_found
from fastrnns_rs.errors import FastrnnsError, UsageError
from fastrnns_rs.problem.problem import Problem
from fastrnns_rs.processes.ownership import others_may_write
from fastrnns_rs.processes.temporary_folder import is_working_directory, torch_cache

#: Size limit in bytes; Inductor's modules of a whole transformer have a few megabytes.
_LONGEST = 256 * 1024 * 1024
_GRAPH = re.compile(r"^# AOT ID: \[.*?(forward|backward|inference)", re.MULTILINE)
_NUMBER = re.compile(r"^# AOT ID: (\[.*?)(?:forward|backward|inference)", re.MULTILINE)
#: Sizes and strides of an input that a forward graph and its backward graph share, in the benchmark of a module.
_SHARED_INPUT = re.compile(r"^ +(primals_\d+) = (rand_strided\(.*\))$", re.MULTILINE)
_CALL = re.compile(r"^(?: {4})?def call\(|^call = ", re.MULTILINE)
#: Since torch 2.11, the function takes the inputs. `get_args` is no reliable mark: the sources of Triton kernels, in a
#: module or in separate files, may have a function of that name.
_BENCHMARK = re.compile(r"^def benchmark_compiled_module\((args\b)?", re.MULTILINE)
_DEVICE = re.compile(r"device='(\w+(?::[0-9]{1,9})?)'")
_KERNEL = re.compile(r"^@triton_heuristics\.|^@triton\.jit", re.MULTILINE)
_WANTED = "generated module"
_UNSUPPORTED, _NO_BENCHMARK = "unsupported module", "no benchmark in module"
_NAME_ONE = "Use a module that Inductor generated."
_OTHER_CACHE = "Remove the folder, or set TORCHINDUCTOR_CACHE_DIR to a folder of your own."
_COMPILE_AGAIN = "Compile the model again with the installed torch."


@dataclass(frozen=True, slots=True, kw_only=True)
class Generated:
    """A module that Inductor generated.

    Attributes:
        path: Path of the file.
        graph: Kind of the computed graph.
        device: Target device: `cpu`, or the first device other than the CPU in the text.
        compilation: Key shared by the modules of one compilation; None if the file does not contain it.
        runner: Name of the compiled runner; None for other modules.
        problem: Problem that the runner was compiled for, with its settings of torch; None for other modules.
    """

    path: Path
    graph: Graph
    device: str
    compilation: str | None
    runner: str | None = None
    problem: Problem | None = None

    @property
    def graph_id(self) -> str | None:
        """Number of the compilation; None if unknown."""
        found = re.search(r"(?<!\d)(\d{1,9})_$", self.compilation or "")
        return found[1] if found else None


def generated(path: str | Path) -> Generated:
    """Returns the generated module in a file.

    Raises:
        FastrnnsError: If the file does not exist, or contains no module that can be benchmarked. The message describes
            the content of the file.
    """
    found = Path(path)
    text = _text(found)
    benchmark = _BENCHMARK.search(text)
    if not benchmark or not _CALL.search(text):
        raise _other_file(found, text)
    if benchmark[1] is None:
        message = f"{_UNSUPPORTED}: {str(found)!r}"
        reason = "torch before 2.11 generated the module"
        raise FastrnnsError(message, _COMPILE_AGAIN, reason=reason, value=str(found))
    number = _NUMBER.search(text)
    return Generated(
        path=found.resolve(), graph=_graph(text), device=_device(text), compilation=number[1] if number else None
    )


def find(paths: Iterable[str | Path]) -> list[Generated]:
    """Returns the generated modules in files and folders, without duplicates.

    Modules of a folder are ordered from the oldest to the newest.

    Raises:
        FastrnnsError: If a file is not a generated module, or a folder contains none.
    """
    found: dict[Path, Generated] = {}
    for path in map(Path, paths):
        # A name that is too long is reported as an error when the file is read.
        several = _below(path) if os.path.isdir(path) else [generated(path)]  # noqa: PTH112
        if not several:
            message = f"no generated module in folder: {str(path)!r}"
            hint = "Use a generated module, or the cache of Inductor."
            raise UsageError(message, hint, value=str(path), reason=_explain_below(path))
        found |= {one.path: one for one in several}
    return [*found.values()]


def newest(folder: Path | None = None) -> list[Generated]:
    """Returns the modules of the newest compilation in Inductor's cache.

    These are the newest module and, if it is a backward graph, the newest forward graph with its number and inputs. The
    forward graph may be missing: each program counts its compilations from 0.

    Args:
        folder: Cache folder; None for torch's cache in the environment of this process.

    Raises:
        FastrnnsError: If there is no module, or other users may have written to the cache.
    """
    cache = cache_folder() if folder is None else folder
    # Any user may create a folder of this name in the temporary folder before torch does.
    _check_own(cache)
    several = _below(cache)
    if not several:
        message = f"no generated module in Inductor's cache: {str(cache)!r}"
        hint = "Run the compiled model first, or set TORCHINDUCTOR_CACHE_DIR."
        raise FastrnnsError(message, hint, reason=_explain_below(cache))
    last = several[-1]
    found = [last]
    if last.graph == "backward" and last.compilation is not None:
        forward = [one for one in several if one.graph == "forward" and one.compilation == last.compilation]
        # Other programs use the same cache and the same numbers.
        inputs = _shared_inputs(last)
        pair = next((one for one in reversed(forward) if inputs.items() <= _shared_inputs(one).items()), None)
        found = [last] if pair is None else [pair, last]
    for one in found:
        if not one.path.is_relative_to(cache.resolve()):
            message = f"module outside of Inductor's cache: {str(one.path)!r}"
            raise FastrnnsError(message, "Run: fastrnns-rs inductor FILE")
        inside = one.path.relative_to(cache.resolve())
        for part in (one.path, *(cache / folder for folder in inside.parents)):
            _check_own(part)
    return found


def cache_folder() -> Path:
    """Returns the folder of Inductor's modules, by the rule of torch."""
    given = os.environ.get("TORCHINDUCTOR_CACHE_DIR")
    # torch would take an empty name for the working directory, whose files may be of others.
    if given:
        return Path(given).absolute()
    return torch_cache()


def check_cache() -> None:
    """Checks that only this user can write to torch's default cache.

    Workers execute files from the cache. A cache named by `TORCHINDUCTOR_CACHE_DIR` is the user's choice and is not
    checked.

    Raises:
        FastrnnsError: If other users may have written to the cache, or it is in the working directory.
    """
    cache = cache_folder()
    # torch sets the variable to its default.
    if cache != torch_cache():
        return
    if is_working_directory():
        reason, hint = "no temporary folder can be written to", "Set TMPDIR to a folder of your own."
        raise FastrnnsError(f"torch's cache is in the working directory: {str(cache)!r}", hint, reason=reason)
    try:
        # The folder is created before another user can: its name can be guessed.
        cache.mkdir(mode=0o700, parents=True, exist_ok=True)
    except OSError as error:
        message, reason = f"cannot create folder: {str(cache)!r}", error.strerror or str(error)
        raise FastrnnsError(message, _OTHER_CACHE, reason=reason) from error
    _check_own(cache, _OTHER_CACHE)


def _check_own(path: Path, hint: str = "If you trust the file, name the file in place of `from_cache`.") -> None:
    """Checks that only this user can write a file or folder, before its code runs.

    Raises:
        FastrnnsError: If other users may have written to it, or it cannot be read.
    """
    try:
        why = others_may_write(path)
    except FileNotFoundError:
        return
    except OSError as error:
        reason = error.strerror or str(error)
        raise FastrnnsError(f"cannot read file: {str(path)!r}", _NAME_ONE, reason=reason, value=str(path)) from error
    if why is not None:
        raise FastrnnsError(f"untrusted file: {str(path)!r}", hint, reason=why, value=str(path))


def _below(folder: Path) -> list[Generated]:
    """Returns the modules below a folder, oldest first."""
    found = []
    for path in _files_below(folder):
        try:
            found.append((path.stat().st_mtime_ns, generated(path)))
        except (FastrnnsError, OSError):
            # Kernels and files of other programs are skipped.
            continue
    return [one for _, one in sorted(found, key=lambda pair: (pair[0], pair[1].path))]


def _explain_below(folder: Path) -> str:
    """Returns why the modules below a folder cannot be measured; empty without any."""
    reasons = []
    for path in _files_below(folder):
        try:
            generated(path)
        except FastrnnsError as error:
            if error.what.startswith((_UNSUPPORTED, _NO_BENCHMARK)):
                reasons.append(error.reason)
    return f"{counted(len(reasons), 'module')} cannot be measured: {reasons[0]}" if reasons else ""


def _files_below(folder: Path) -> Iterator[Path]:
    # Folders that cannot be listed, or that other programs remove meanwhile, are skipped.
    for place, _, names in os.walk(folder):
        yield from (Path(place, name) for name in names if name.endswith(".py"))


def _shared_inputs(one: Generated) -> dict[str, str]:
    return dict(_SHARED_INPUT.findall(_text(one.path)))


def digest(one: Generated) -> str | None:
    """Returns the hash of a module's file; None if it cannot be read."""
    try:
        # A pipe would wait for its writer.
        return hashlib.sha256(reading.content(one.path, _LONGEST)).hexdigest() if one.path.is_file() else None
    except OSError:
        return None


def _text(path: Path) -> str:
    shown = str(path)
    try:
        if not path.is_file():
            # A pipe or a device may return bytes endlessly, or block.
            path.stat()
            raise FastrnnsError(f"not a file: {shown!r}", _NAME_ONE, value=shown)
        if path.stat().st_size > _LONGEST:
            raise wrong_kind(path, _WANTED, reason="the file is too large")
        return reading.text(path, _LONGEST)
    except FileNotFoundError as error:
        raise file_not_found(path, _NAME_ONE) from error
    except UnicodeDecodeError as error:
        raise wrong_kind(path, _WANTED, reason="the file is not UTF-8 text") from error
    except OSError as error:
        reason = error.strerror or str(error)
        raise FastrnnsError(f"cannot read file: {shown!r}", _NAME_ONE, reason=reason, value=shown) from error
    except ValueError as error:
        if isinstance(error, FastrnnsError):
            raise
        raise FastrnnsError(f"cannot read file: {shown!r}", _NAME_ONE, reason=str(error), value=shown) from error


def _other_file(path: Path, text: str) -> FastrnnsError:
    """Makes the error for a file that is not a module that can be benchmarked."""
    shown = str(path)
    if _GRAPH.search(text) or ("async_compile = " in text and _CALL.search(text)):
        hint, reason = (
            "Set benchmark_harness, and compile the model again.",
            "torch._inductor.config.benchmark_harness is off",
        )
        return FastrnnsError(f"{_NO_BENCHMARK}: {shown!r}", hint, reason=reason, value=shown)
    if _KERNEL.search(text):
        hint = "Use the module that calls the kernel, with `kernels=True`."
        return FastrnnsError(f"not a generated module: {shown!r} is a Triton kernel", hint, value=shown)
    return wrong_kind(path, _WANTED, reason="", readers=("inductor",))


def _graph(text: str) -> Graph:
    """Returns the kind of a module's graph, from its header or its input names."""
    match = _GRAPH.search(text)
    if match:
        return cast("Graph", match[1])
    if re.search(r"\btangents_\d", text):
        return "backward"
    return "forward" if re.search(r"\bprimals_\d", text) else "inference"


def _device(text: str) -> str:
    devices = [name for name in _DEVICE.findall(text) if name != "cpu"]
    return devices[0] if devices else "cuda" if "= empty_strided_cuda(" in text else "cpu"
