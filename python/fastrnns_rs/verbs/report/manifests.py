"""Capture manifests: readable files, numbers of runs, and wall times."""

from __future__ import annotations

import os
from contextlib import suppress
from pathlib import Path

from fastrnns_rs.documents import reading
from fastrnns_rs.documents.capture_manifest import ArtefactEntry, Capture
from fastrnns_rs.documents.file_names import by_distinct, find_runner
from fastrnns_rs.errors import FastrnnsError, UsageError
from fastrnns_rs.problem.profiler_schedule import Schedule
from fastrnns_rs.verbs.report import file_kinds
from fastrnns_rs.verbs.report.real_paths import real_path

TYPE_CHECKING = False  # see the package
if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Sequence

    from fastrnns_rs.problem.problem import Problem

#: Kinds of files that are read from a manifest.
READABLE = {"nsys_sqlite", "nvprof_profile", "kineto"}
#: Kinds that are read if no readable kind exists; the first available kind is used. nsys must export them first.
_EXPORTABLE = ("nsys_report", "nsys_stream")
#: Kinds that contain no capture.
_TEXTS = {"log", "torch_table"}
#: Manifests are far smaller. A larger file is not a manifest, and need not be read.
_LARGEST = 16 * 1024 * 1024


def list_files(path: str | Path) -> list[tuple[str, str | None]]:
    """Returns the files of a manifest, or the path itself if it is not a manifest.

    Returns:
        Each file with its runner; None for a file of several runners, or if its runner is unknown.

    Raises:
        FastrnnsError: If files of the manifest are missing, or it is damaged.
    """
    path = Path(path)
    return _list_files(path, Capture.load(path)) if is_manifest(path) else [(str(path), None)]


def find_manifest_files(path: str | Path) -> tuple[list[tuple[str, str | None]], set[Path]] | None:
    """Returns the files of a manifest with their runners, and all that belong to it.

    Returns:
        None for a file that is not a manifest, and for a damaged manifest.
    """
    try:
        manifest = _manifest_at(path)
        if manifest is None:
            return None
        wanted = _list_files(Path(path), manifest)
    except FastrnnsError:
        return None
    places = [(one.kind, _place(Path(path), Path(one.path))) for one in manifest.artefacts]
    # `profile` writes its log beside the manifest, and does not list it there.
    places.append(("log", Path(path).with_suffix(".log")))
    return wanted, {real_path(place) for kind, place in places if _is_there(place) and _is_what_it_says(kind, place)}


def manifests_at(path: str | Path) -> list[str | Path]:
    """Returns a file, or the files of a folder that may be manifests."""
    folder = Path(path)
    if not folder.is_dir():
        return [path]
    return [file for file in sorted(folder.glob("[!.]*")) if file_kinds.may_be_manifest(file)]


def find_problems(paths: Iterable[str | Path]) -> list[Problem]:
    """Returns the problem of each manifest whose files are read.

    Args:
        paths: Captures, manifests and folders that can be read.
    """
    found = []
    for file in (one for path in paths for one in manifests_at(path)):
        with suppress(FastrnnsError):
            manifest = _manifest_at(file)
            if manifest is not None and _list_files(Path(file), manifest):
                found.append(manifest.problem)
    return found


def find_read_artefacts(path: str | Path) -> tuple[Capture, list[tuple[ArtefactEntry, Path]]] | None:
    """Returns a manifest and its entries of the files that are read.

    Each entry has the path of the file.

    Returns:
        None for a file that is not a manifest, and for a damaged manifest.
    """
    try:
        manifest = _manifest_at(path)
    except FastrnnsError:
        return None
    if manifest is None:
        return None
    wanted = _wanted_kinds(manifest)
    return manifest, [(one, _place(Path(path), Path(one.path))) for one in manifest.artefacts if one.kind in wanted]


def _is_what_it_says(kind: str, place: Path) -> bool:
    """Returns False for a capture that is recorded as a text: nothing reads texts."""
    return kind not in _TEXTS or file_kinds.kind(place) != "capture"


def runs_in(paths: Sequence[str | Path]) -> int:
    """Returns the number of model runs in all captures, from their manifests.

    Returns:
        The number of runs; 1 if no file is a manifest.

    Raises:
        UsageError: If only some files are manifests, or a capture failed, has several models or an invalid schedule.
    """
    found = _find_captures(paths)
    if not any(manifest for _, manifest in found):
        return 1
    runs = 0
    for path, manifest in found:
        why = _unknown_reason(manifest)
        if manifest is None or why:
            raise UsageError(f"unknown number of runs: {str(path)!r} {why}", "Add `runs`.")
        try:
            runs += _runs(manifest)
        except UsageError as error:
            message = f"unknown number of runs: {str(path)!r} has an invalid --schedule in its command"
            raise UsageError(message, "Add `runs`.", reason=error.what) from None
    return runs


def check_all_read(paths: Iterable[str | Path], read: Collection[str]) -> None:
    """Checks that no capture is missing whose runs `runs_in` counted.

    Args:
        paths: Captures, manifests and folders.
        read: Paths of the captures in them that were read, as a summary contains them.

    Raises:
        UsageError: If a file of a manifest in a folder was left out. Other files cause an error when they are read.
    """
    # This module imports the present one.
    from fastrnns_rs.verbs.report.capture_folders import files_in

    for folder in filter(os.path.isdir, paths):
        # File names are bytes, and need not be valid text.
        printed = {os.fsencode(file).decode(errors="replace"): file for file, _ in files_in(folder)}
        unread = {real_path(file) for text, file in printed.items() if text not in read}
        for path in manifests_at(folder):
            wanted, _ = find_manifest_files(path) or ([], set())
            missing = next((file for file, _ in wanted if real_path(file) in unread), None)
            if missing is not None:
                why = f"has a file that cannot be read: {missing!r}"
                raise UsageError(f"unknown number of runs: {str(path)!r} {why}", "Add `runs`.")


def find_wall_time(paths: Sequence[str | Path]) -> float:
    """Returns the time of one run of the captured model without a profiler, in ms.

    Raises:
        UsageError: If there is not exactly one manifest, or it does not contain the time.
    """
    # The reader reports a folder without a capture.
    (path, manifest), *others = _find_captures(paths) or [(paths[0], None)]
    took_ns = next(iter(manifest.unprofiled_ns), None) if manifest else None
    if others:
        why = "several captures are given"
    elif manifest is None:
        why = f"{path} is not a capture manifest"
    elif reason := _unknown_reason(manifest):
        why = f"{path} {reason}"
    elif took_ns is None:
        why = f"{path} has no unprofiled_ns"
    else:
        return took_ns / 1e6
    message = f"the view inductor needs `wall_time_ms`, the time of one run without a profiler: {why}"
    raise UsageError(message, "Add `wall_time_ms`, or use one capture manifest of one runner.")


def find_sequence_length(paths: Sequence[str | Path]) -> int | None:
    """Returns the number of steps of a sequence, if all captures agree.

    Returns:
        None if a file is not a manifest, or the numbers differ.
    """
    lengths = {manifest.problem.seq_length if manifest else None for _, manifest in _find_captures(paths)}
    return lengths.pop() if len(lengths) == 1 else None


def _find_captures(paths: Iterable[str | Path]) -> list[tuple[str | Path, Capture | None]]:
    """Returns each file with its manifest; a folder stands for its captures.

    The manifest is None for a file of another kind.
    """
    found: list[tuple[str | Path, Capture | None]] = []
    for path in paths:
        found += _captures_in(path) if Path(path).is_dir() else [(path, _manifest_at(path))]
    return found


def _captures_in(folder: str | Path) -> list[tuple[str | Path, Capture | None]]:
    """Returns the manifests of a folder, then the captures of no manifest, with None."""
    # This module imports the present one.
    from fastrnns_rs.verbs.report.capture_folders import files_in

    left = {real_path(file): file for file, _ in files_in(folder)}
    found: list[tuple[str | Path, Capture | None]] = []
    for file in manifests_at(folder):
        wanted, _ = find_manifest_files(file) or ([], set())
        own = {real_path(one) for one, _ in wanted} & left.keys()
        # A copy of a manifest names the same files, which are read once.
        if own:
            found.append((file, Capture.load(file)))
            left = {place: one for place, one in left.items() if place not in own}
    return [*found, *((one, None) for one in left.values() if _is_other_capture(one))]


def _is_other_capture(file: str) -> bool:
    """Returns True for a capture; the reader leaves out damaged manifests."""
    return file_kinds.kind(file) == "capture" and not (file_kinds.may_be_manifest(file) and is_manifest(file))


def _manifest_at(path: str | Path) -> Capture | None:
    """Returns the manifest in a file; None for a file of another kind."""
    return Capture.load(path) if file_kinds.may_be_manifest(path) and is_manifest(path) else None


def _unknown_reason(manifest: Capture | None) -> str:
    """Returns the reason why the runs of a capture are unknown; empty if known."""
    if manifest is None:
        return "is not a capture manifest, and other files are"
    if not manifest.ok:
        return "is the manifest of a failed capture"
    return f"is of several runners: {', '.join(manifest.runners)}" if manifest.runners[1:] else ""


def _runs(manifest: Capture) -> int:
    if manifest.tool.name != "torch":
        return manifest.iterations
    # The profiled command has a schedule only if it is not the default.
    flag = "--schedule="
    given = [word.removeprefix(flag) for word in manifest.command if word.startswith(flag)]
    schedule = Schedule.parse(given[-1]) if given else Schedule()
    schedule.check(manifest.iterations)
    return schedule.recorded(manifest.iterations)


def is_manifest(path: str | os.PathLike[str]) -> bool:
    """Returns True for a capture manifest; other JSON may contain its schema too."""
    try:
        plain = reading.parsed(reading.text(path, _LARGEST))
    except (OSError, ValueError, RecursionError):
        return False
    return isinstance(plain, dict) and plain.get("schema") == "fastrnns-rs/capture"


def _list_files(path: Path, manifest: Capture) -> list[tuple[str, str | None]]:
    wanted = _wanted_kinds(manifest)
    if not wanted:
        kinds = {one.kind for one in manifest.artefacts}
        held = ", ".join(sorted(kinds)) or "no file"
        message = f"no readable file in capture manifest: {str(path)!r} has {held}"
        raise FastrnnsError(message, "Capture again with nsys or torch.profiler.", value=str(path))
    # A capture by torch's profiler has a file for each runner, other captures have one for all.
    named = [(_place(path, Path(one.path)), one.kind == "kineto") for one in manifest.artefacts if one.kind in wanted]
    # Opening a pipe would wait for its writer.
    missing = [file for file, _ in named if not os.path.isfile(file)]  # noqa: PTH113
    if missing:
        more = f" and {len(missing) - 1} more" if missing[1:] else ""
        hint = "Put the files of the capture next to the manifest, or capture again."
        what = "not a file" if _is_there(missing[0]) else "file not found"
        reason = f"{what}: {str(missing[0])!r}{more}"
        raise FastrnnsError(f"incomplete capture: {str(path)!r}", hint, reason=reason, value=str(path))
    # A manifest may name a million runners, and many files.
    runners = by_distinct(manifest.runners)
    return [
        (str(file), find_runner(file.name, runners) if is_of_one else None) for file, is_of_one in dict.fromkeys(named)
    ]


def _wanted_kinds(manifest: Capture) -> set[str]:
    """Returns the kinds of the files that are read; empty if no file can be read."""
    kinds = {one.kind for one in manifest.artefacts}
    return kinds & READABLE or {*[kind for kind in _EXPORTABLE if kind in kinds][:1]}


def _place(manifest: Path, file: Path) -> Path:
    """Returns the file beside the manifest, or else at the recorded path.

    Captures are moved and copied as whole folders.
    """
    moved = manifest.parent / file.name
    return moved if _is_there(moved) else file


def _is_there(file: Path) -> bool:
    # `os.path.exists` returns False for a name that is too long; `Path.exists` raises an error.
    return os.path.exists(file)  # noqa: PTH110
