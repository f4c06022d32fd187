"""Files of torch's profiler: their names, and checks that they are complete."""

from __future__ import annotations

import glob
import gzip
import os
import re
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import torch.profiler

from fastrnns_rs.documents import file_names, writing
from fastrnns_rs.errors import FastrnnsError

#: Characters that JSON has only escaped.
_ESCAPED = re.compile(r'["\\\x00-\x1f]')


def export(profiler: torch.profiler.profile, path: Path, stem: str) -> Path:
    """Writes a trace in Chrome's format, and compresses it.

    Args:
        profiler: Profiler that has stopped.
        path: Path of the compressed trace.
        stem: Name by which the parent process finds the unfinished trace if this process is killed.
    """
    # Torch compresses too, but a file in the temporary folder, even if that file is not complete. In a shared
    # folder, a name that can be guessed could be a link.
    try:
        private = tempfile.TemporaryDirectory(prefix=file_names.unfinished(stem), dir=path.parent)
    except OSError as error:
        error.filename = str(path)
        raise
    with private as folder:
        plain = Path(folder, path.with_suffix("").name)
        with _name_plainly(Path(folder)) as other:
            profiler.export_chrome_trace(str(other / plain.name))
        _check_complete(plain, path)
        with (
            plain.open("rb") as source,
            writing.replacing(path, str(path)) as file,
            gzip.GzipFile("", "wb", 6, file) as target,
        ):
            shutil.copyfileobj(source, target)
    return path


def export_for_tensorboard(profiler: torch.profiler.profile, folder: Path, worker: str) -> Path:
    """Writes a trace where TensorBoard finds it.

    Torch adds the time to the end of its name.
    """
    pattern = f"{glob.escape(worker)}.*.pt.trace.json"
    before = set(folder.glob(pattern))
    with _name_plainly(folder) as other:
        torch.profiler.tensorboard_trace_handler(str(other), worker_name=worker)(profiler)
    path = next(iter(set(folder.glob(pattern)) - before), folder / worker)
    _check_complete(path, path)
    return path


@contextmanager
def _name_plainly(folder: Path) -> Iterator[Path]:
    """Yields a name of a folder that torch can write into a trace.

    Torch escapes no characters of the name, which is part of the trace.
    """
    if not _ESCAPED.search(str(folder)):
        yield folder
        return
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        yield Path(f"/proc/self/fd/{descriptor}")
    finally:
        os.close(descriptor)


def _check_complete(path: Path, shown: Path) -> None:
    """Rejects a trace that torch did not write completely.

    Torch reports nothing about that to Python.

    Args:
        path: Trace.
        shown: Path in the message.

    Raises:
        FastrnnsError: If the trace is missing or truncated.
    """
    tail = b""
    with suppress(FileNotFoundError), path.open("rb") as file:
        file.seek(max(path.stat().st_size - 16, 0))
        tail = file.read()
    if not tail.rstrip().endswith(b"}"):
        raise FastrnnsError(f"torch could not write the trace: {shown}", "Free disk space.")


@contextmanager
def report_write_errors() -> Iterator[None]:
    """Reports a file that cannot be written in one line."""
    try:
        yield
    except OSError as error:
        raise FastrnnsError(f"cannot write {error.filename or 'a file'}: {error.strerror or error}") from error
