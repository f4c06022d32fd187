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
_REPORT = re.compile(rb"NVIDIA Tegra Profiler Report (\d{4}(?:@\d{1,9}){2,})?")
#: Prefix of streams that were never imported: a separator, and the version.
_STREAM = re.compile(rb"U3w\[END\](?:NVIDIA [\w ]*Stream (\d{4}(?:\.\d{1,9}){2,})?)?")
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
            # The report's folder may be full, and should not get temporary files.
            folder = stack.enter_context(temporary_folder("fastrnns-rs-"))
            try:
                tool = _nsys_for(file, nsys)
                found.append(str(_export(Path(file), Path(folder), tool)))
            except FastrnnsError:
                if not stays:
                    raise
                found.append(file)
            except OSError as error:
                hint, reason = "Set TMPDIR to a folder with free space.", error.strerror or str(error)
                raise FastrnnsError(f"cannot export nsys report: {file!r}", hint, reason=reason, value=file) from None
        yield found


def _nsys_for(path: str, program: str | None) -> Profiler:
    try:
        return tools.choose("nsys", program)
    except MissingError as error:
        message = f"nsys needed to export nsys report: {path!r}"
        raise MissingError(message, error.hint, reason=error.message, value=path) from None


def _export(path: Path, folder: Path, tool: Profiler) -> Path:
    """Exports a report or stream to SQLite, inside `folder`."""
    head = file_kinds.head(path)
    stem = folder / "capture"
    suffix = ".qdstrm" if _STREAM.match(head) else ".qdrep" if path.suffix == ".qdrep" else ".nsys-rep"
    copy = stem.with_suffix(suffix)
    # The importer appends to the stream that it reads.
    if suffix == ".qdstrm" or not _try_link(copy, path):
        _copy(path, copy)
    # Temporary files of nsys are removed with the folder.
    variables = {**os.environ, "TMPDIR": str(folder)}
    done, commands = None, list[list[str]]()
    # A stream is imported first, then the report is exported. A failed step is not repeated.
    while (command := tool.finish(stem)) is not None and command not in commands:
        try:
            done = run_command(command, timeout=_EXPORT_TIMEOUT_S, env=variables, cwd=tools.SAFE_FOLDER)
            commands.append(command)
        except (OSError, RuntimeError) as error:
            why = f"cannot start {command[0]}: {error.strerror}" if isinstance(error, OSError) else str(error)
            message, hint = f"cannot export nsys report: {str(path)!r}", "Use another `nsys_path`."
            raise FastrnnsError(message, hint, reason=why, value=str(path)) from None
        if done.exit_status != 0:
            break
    if done is None:
        message, hint = f"QdstrmImporter needed to import nsys stream: {str(path)!r}", "Install all of Nsight Systems."
        raise MissingError(message, hint, reason="QdstrmImporter is not installed", value=str(path))
    sqlite = stem.with_suffix(".sqlite")
    # A failed export may leave an incomplete file.
    if done.exit_status != 0 or not sqlite.is_file():
        message, reason = f"nsys {tool.version} cannot export nsys report: {str(path)!r}", _why(done)
        raise FastrnnsError(message, _hint(head, tool, done), reason=reason, value=str(path))
    return sqlite


def _copy(path: Path, copy: Path) -> None:
    """Copies a report, unless the copy would fill the disk.

    Raises:
        FastrnnsError: If the disk of the copy has no room for it. A copy has no holes, as a small file may have.
    """
    size, free = path.stat().st_size, shutil.disk_usage(copy.parent).free
    if size > free:
        message, hint = f"cannot export nsys report: {str(path)!r}", "Set TMPDIR to a folder with free space."
        reason = f"its copy needs {size:,} bytes, and the temporary folder has {free:,}"
        raise FastrnnsError(message, hint, reason=reason, value=str(path))
    shutil.copyfile(path, copy)


def _try_link(link: Path, path: Path) -> bool:
    """Makes a symbolic link, and returns False if the file system supports none."""
    try:
        link.symlink_to(path.resolve())
    except OSError:
        return False
    return True


def _why(done: Completed) -> str:
    if done.timed_out:
        return f"the export took longer than {_EXPORT_TIMEOUT_S / 60:.0f} min"
    lines = [line.strip() for line in f"{done.stdout_tail}\n{done.stderr_tail}".splitlines() if line.strip()]
    telling = [line for line in lines if re.search("error|invalid|version|fail|cannot|no space", line, re.IGNORECASE)]
    if telling:
        return telling[-1][:300]
    ended = f"was killed by signal {done.signal}" if done.signal else f"ended with exit status {done.exit_status}"
    return f"nsys {ended} without an error message"


def _hint(head: bytes, tool: Profiler, done: Completed) -> str:
    said = f"{done.stdout_tail}\n{done.stderr_tail}"
    if "No space left" in said:
        return "Free disk space, or set TMPDIR to a folder on another disk."
    is_stream = _STREAM.match(head)
    found = is_stream or _REPORT.match(head)
    version = found[1].decode().replace("@", ".") if found is not None and found[1] else None
    if version is not None and (numbers := [*map(int, version.split("."))]) != tool.version_numbers[: len(numbers)]:
        if is_stream:
            return f"Use nsys {version}, which wrote the stream, as `nsys_path`."
        if numbers > tool.version_numbers:
            return f"Use nsys {version} or newer as `nsys_path`, or an export to SQLite."
    if "Version number" in said or "newer version" in said:
        return "Use a newer nsys as `nsys_path`, or an export to SQLite."
    return "Export the report with the nsys that wrote the report: nsys export --type=sqlite FILE"
