"""Exports of nsys reports, which only nsys can read."""

from __future__ import annotations

import os
import re
import shutil
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from fastrnns_rs._core import run_command
from fastrnns_rs.errors import FastrnnsError, MissingError
from fastrnns_rs.processes.temporary_folder import temporary_folder
from fastrnns_rs.verbs.profile import tools
from fastrnns_rs.verbs.report import file_kinds

if TYPE_CHECKING:
    from fastrnns_rs._core import Completed, Profiler

#: Prefix of nsys reports. Since 2023, the version that wrote the report follows.
_REPORT = re.compile(rb"NVIDIA Tegra Profiler Report (\d{4}(?:@\d+){2,})?")
#: Prefix of streams that were never imported: a separator, and the version.
_STREAM = re.compile(rb"U3w\[END\](?:NVIDIA [\w ]*Stream (\d{4}(?:\.\d+){2,})?)?")
_EXPORT_TIMEOUT_S = 3600.0


@contextmanager
def exported(files: Sequence[str], nsys: str | None = None, *, optional: Sequence[bool] = ()) -> Iterator[list[str]]:
    """Exports reports of nsys, and keeps the exports while the context is open.

    Args:
        files: Captures, and reports and streams of nsys.
        nsys: Path of the nsys that exports reports; None for the newest version found.
        optional: True for each file that may stay unchanged if it cannot be exported; all False by default.

    Yields:
        The files to read in place of the given files.

    Raises:
        FastrnnsError: If a report cannot be exported.
        MissingError: If nsys is not installed.
    """
    with ExitStack() as stack:
        found = []
        for file, stays in zip(files, optional or [False] * len(files), strict=True):
            if not file_kinds.needs_nsys(file):
                found.append(file)
                continue
            try:
                tool = _nsys_for(file, nsys)
                # The report's folder may be full, and should not get temporary files.
                folder = stack.enter_context(temporary_folder("fastrnns-rs-"))
                found.append(str(_export(Path(file), Path(folder), tool)))
            except FastrnnsError:
                if not stays:
                    raise
                found.append(file)
            except OSError as error:
                raise FastrnnsError(
                    f"{file} cannot be exported: {error.strerror or error}",
                    "the folder that TMPDIR names, or else /tmp, must be there and have room",
                ) from None
        yield found


def _nsys_for(path: str, program: str | None) -> Profiler:
    try:
        return tools.choose("nsys", program)
    except MissingError as error:
        message = f"{path} is a report of nsys, which only nsys can export: {error.message}"
        raise MissingError(message, error.hint) from None


def _export(path: Path, folder: Path, tool: Profiler) -> Path:
    """Exports a report or stream to SQLite, inside `folder`."""
    head = file_kinds.head(path)
    stem = folder / "capture"
    suffix = ".qdstrm" if _STREAM.match(head) else ".qdrep" if path.suffix == ".qdrep" else ".nsys-rep"
    copy = stem.with_suffix(suffix)
    try:
        copy.symlink_to(path.resolve())
    except OSError:
        shutil.copyfile(path, copy)
    # Temporary files of nsys are removed with the folder.
    variables = {**os.environ, "TMPDIR": str(folder)}
    done, last = None, None
    # A stream is imported first, then the report is exported. A failed step is not repeated.
    while (command := tool.finish(stem)) is not None and command != last:
        try:
            done, last = run_command(command, timeout=_EXPORT_TIMEOUT_S, env=variables), command
        except (OSError, RuntimeError) as error:
            why = f"{command[0]} cannot be started: {error.strerror}" if isinstance(error, OSError) else error
            raise FastrnnsError(
                f"{path} cannot be exported: {why}", "name an nsys that works with --nsys-path"
            ) from None
        if done.exit_status != 0:
            break
    if done is None:
        raise MissingError(
            f"{path} is a stream of nsys, and the QdstrmImporter that makes a report of it is not here",
            "install the whole of Nsight Systems, or give the report that nsys made of it elsewhere",
        )
    sqlite = stem.with_suffix(".sqlite")
    # A failed export may leave an incomplete file.
    if done.exit_status != 0 or not sqlite.is_file():
        raise FastrnnsError(f"nsys {tool.version} cannot export {path}: {_why(done)}", _hint(head, tool, done))
    return sqlite


def _why(done: Completed) -> str:
    if done.timed_out:
        return f"it was not done after {_EXPORT_TIMEOUT_S / 60:.0f} minutes"
    lines = [line.strip() for line in f"{done.stdout_tail}\n{done.stderr_tail}".splitlines() if line.strip()]
    telling = [line for line in lines if re.search("error|invalid|version|fail|cannot|no space", line, re.IGNORECASE)]
    if telling:
        return telling[-1][:300]
    ended = f"was killed by signal {done.signal}" if done.signal else f"ended with exit status {done.exit_status}"
    return f"it {ended} and did not say why"


def _hint(head: bytes, tool: Profiler, done: Completed) -> str:
    said = f"{done.stdout_tail}\n{done.stderr_tail}"
    if "No space left" in said:
        return "make room, or set TMPDIR to a folder on another disk"
    is_stream = _STREAM.match(head)
    found = is_stream or _REPORT.match(head)
    version = found[1].decode().replace("@", ".") if found is not None and found[1] else None
    if version is not None and (numbers := [*map(int, version.split("."))]) != tool.version_numbers[: len(numbers)]:
        if is_stream:
            return f"nsys {version} wrote it, and no other imports it: name that one with --nsys-path"
        if numbers > tool.version_numbers:
            return f"nsys {version} wrote it: give that or a newer one with --nsys-path, or its export to SQLite"
    if "Version number" in said or "newer version" in said:
        return "it was written by a newer nsys: give that one with --nsys-path, or its export to SQLite"
    return "export it with the nsys that wrote it: nsys export --type=sqlite FILE"
