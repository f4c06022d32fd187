"""Which files stand behind a path: a capture itself, those of a capture record, the export of a report of nsys."""

from __future__ import annotations

import json
import os
import re
import shutil
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

from fastrnns_rs._core import run_command
from fastrnns_rs.errors import FastrnnsError, MissingError
from fastrnns_rs.profiling import tools
from fastrnns_rs.profiling.record import Capture

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from fastrnns_rs._core import Completed, Profiler

#: What of a record is read: the kinds of its files.
READABLE = {"nsys_sqlite", "kineto"}
#: What else is read of it where it has none of these, the first that it has: nsys must export it first.
_EXPORTABLE = ("nsys_report", "nsys_stream")
#: Enough to tell what a file is.
_HEAD = 4096
#: Records are far smaller; what is larger need not be read to see that it is none.
_LARGEST_RECORD = 16 * 1024 * 1024
#: How reports of nsys begin, whatever they are called. Those since 2023 go on with the version that wrote them.
_REPORT = re.compile(rb"NVIDIA Tegra Profiler Report (\d{4}(?:@\d+){2,})?")
#: How streams begin that were never imported: a separator, and the version.
_STREAM = re.compile(rb"U3w\[END\](?:NVIDIA [\w ]*Stream (\d{4}(?:\.\d+){2,})?)?")
_EXPORT_TIMEOUT_S = 3600.0


@dataclass(frozen=True, slots=True)
class Source:
    """A file to read, and under which name it was given."""

    path: Path
    given: str


@contextmanager
def opened(paths: Sequence[str | Path], nsys: str | None = None) -> Iterator[list[Source]]:
    """The files behind the paths, for as long as the context lasts.

    Args:
        paths: Captures, records of `profile`, or reports of nsys.
        nsys: The program that exports reports; the newest that is found unless one says which.

    Raises:
        FastrnnsError: A record lacks its files, or a report cannot be exported.
        MissingError: No nsys is there that could export a report.
    """
    with ExitStack() as stack:
        found = []
        for file in (file for path in paths for file in _behind(Path(path))):
            head = _head(file)
            if not (_STREAM.match(head) or _REPORT.match(head)):
                found.append(Source(file, _shown(file)))
                continue
            tool = _nsys_for(file, nsys)
            try:
                # Beside the report there may be no room, and nobody wants a file there.
                folder = stack.enter_context(TemporaryDirectory(prefix="fastrnns-rs-"))
                found.append(Source(_export(file, head, Path(folder), tool), _shown(file)))
            except OSError as error:
                raise FastrnnsError(
                    f"{file} cannot be exported: {error.strerror or error}",
                    "the folder that TMPDIR names, or else /tmp, must be there and have room",
                ) from None
        yield found


def _shown(path: Path) -> str:
    """Its name as text. Names are bytes, and need not be any."""
    return os.fsencode(path).decode(errors="replace")


def _head(path: Path) -> bytes:
    try:
        if path.is_file():
            with path.open("rb") as file:
                return file.read(_HEAD)
    except (OSError, ValueError):
        # Whoever reads it says what is wrong with it.
        pass
    # What is read from a pipe is lost to who comes after.
    return b""


def _behind(path: Path) -> list[Path]:
    """The file itself, or those of the record that it is."""
    if b'"fastrnns-rs/capture"' not in _head(path) or path.stat().st_size > _LARGEST_RECORD:
        return [path]
    try:
        plain = json.loads(path.read_bytes())
    except (ValueError, RecursionError):
        return [path]
    is_record = isinstance(plain, dict) and plain.get("schema") == "fastrnns-rs/capture"
    return _of_record(path, Capture.load(path)) if is_record else [path]


def _of_record(path: Path, record: Capture) -> list[Path]:
    kinds = {one.kind for one in record.artefacts}
    wanted = kinds & READABLE or {*[kind for kind in _EXPORTABLE if kind in kinds][:1]}
    if not wanted:
        held = ", ".join(sorted(kinds)) or "no file"
        raise FastrnnsError(f"{path} has no file that can be read: {held}", "capture again with --nsys or --torch")
    files = [_place(path, Path(one.path)) for one in record.artefacts if one.kind in wanted]
    missing = [file for file in files if not file.exists()]
    if missing:
        more = f", nor are {len(missing) - 1} more" if missing[1:] else ""
        raise FastrnnsError(
            f"{path} is the record of {missing[0]}, which is not there{more}",
            "put the files of a capture beside its record, or capture again",
        )
    return files


def _place(record: Path, file: Path) -> Path:
    """The file beside the record, or else where the record says: captures are moved and copied as whole folders."""
    beside = record.parent / file.name
    return beside if beside.exists() else file


def _nsys_for(path: Path, program: str | None) -> Profiler:
    try:
        return tools.choose("nsys", program)
    except MissingError as error:
        message = f"{path} is a report of nsys, which only nsys can export: {error.message}"
        raise MissingError(message, error.hint) from None


def _export(path: Path, head: bytes, folder: Path, tool: Profiler) -> Path:
    """The export to SQLite of a report or stream, made in `folder`."""
    stem = folder / "capture"
    suffix = ".qdstrm" if _STREAM.match(head) else ".qdrep" if path.suffix == ".qdrep" else ".nsys-rep"
    copy = stem.with_suffix(suffix)
    try:
        copy.symlink_to(path.resolve())
    except OSError:
        shutil.copyfile(path, copy)
    # Whatever nsys leaves there goes with the folder.
    variables = {**os.environ, "TMPDIR": str(folder)}
    done, last = None, None
    # A stream is imported first, then the report is exported. What failed is not tried again.
    while (command := tool.finish(stem)) is not None and command != last:
        try:
            done, last = run_command(command, timeout=_EXPORT_TIMEOUT_S, env=variables), command
        except OSError as error:
            raise FastrnnsError(
                f"{path} cannot be exported: {command[0]} cannot be started: {error.strerror}",
                "name an nsys that works with --nsys-path",
            ) from None
        if done.exit_status != 0:
            break
    if done is None:
        raise MissingError(
            f"{path} is a stream of nsys, and the QdstrmImporter that makes a report of it is not here",
            "install the whole of Nsight Systems, or give the report that nsys made of it elsewhere",
        )
    sqlite = stem.with_suffix(".sqlite")
    # An export that failed may have left a part of its file.
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
