"""History of runs: location, content, additions and deletions."""

from __future__ import annotations

import os
import re
import stat
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from fastrnns_rs.counting import counted
from fastrnns_rs.documents import writing
from fastrnns_rs.documents.file_names import distinct
from fastrnns_rs.documents.garbage_collection import pause_garbage_collection
from fastrnns_rs.documents.history import History, KeptRun
from fastrnns_rs.documents.user_folder import expand_home, user_folder
from fastrnns_rs.documents.warning import make_warning
from fastrnns_rs.documents.writer_lock import WriterLocks
from fastrnns_rs.errors import FastrnnsError, UsageError, make_system_error
from fastrnns_rs.verbs.history.index_place import index_path
from fastrnns_rs.verbs.history.run_index import SEPARATOR, RunIndex, unusable_history
from fastrnns_rs.verbs.history.tag_files import check_tag, file_name, find_run_ids, read_tags
from fastrnns_rs.verbs.history.tag_lock import locked_tags
from fastrnns_rs.verbs.history.utc_times import in_utc

if TYPE_CHECKING:
    from fastrnns_rs.documents.codec import RunWarning
    from fastrnns_rs.documents.run_file import Run
    from fastrnns_rs.verbs.compare.session_spread import Past

#: Size in bytes from which the size of the history is reported when a run is kept.
LARGE_BYTES = 2 << 30
#: Minimum age of an incomplete file that no process writes any more, in seconds.
_ABANDONED_S = 86_400.0
#: Values of a variable that do not set its flag, as in commands.
_FALSE = {"", "0", "false", "f", "no", "n", "off"}
#: Maximum number of foreign files that a warning names.
_MOST_NAMED = 3


def default_folder() -> Path:
    """Returns the folder of the user's history, by the platform's convention."""
    return user_folder("data") / "history"


def chosen_history(given: str | os.PathLike[str] | Literal[False] | None) -> RunHistory | None:
    """Returns the requested history; None for no history.

    Args:
        given: Folder of the history. None for the folder in `FASTRNNS_HISTORY` or the user's folder, or for no history
            if `FASTRNNS_NO_HISTORY` is set. False for no history.

    Raises:
        UsageError: If no file system can have the path.
    """
    if given is False or (given is None and is_off_by_variable()):
        return None
    folder = Path(expand_home(given or os.environ.get("FASTRNNS_HISTORY") or default_folder()))
    try:
        with suppress(OSError):
            folder.lstat()
    except ValueError as error:
        # The path contains NUL, or a character that has no bytes.
        raise unusable_history("read", folder, error) from error
    # The working directory may change during a run. It may also be gone.
    with suppress(OSError):
        folder = folder.absolute()
    return RunHistory(folder)


def is_off_by_variable() -> bool:
    """Returns True if `FASTRNNS_NO_HISTORY` turns the history off."""
    return os.environ.get("FASTRNNS_NO_HISTORY", "").strip().lower() not in _FALSE


@dataclass(frozen=True, slots=True)
class RunHistory:
    """Folder of run files and tags.

    The folder has `runs` with run files, and `tags` with a folder for each tag.

    Attributes:
        folder: Path of the history; it is created with the first kept run.
    """

    folder: Path

    @property
    def runs_folder(self) -> Path:
        """Folder of the run files."""
        return self.folder / "runs"

    @property
    def tags_folder(self) -> Path:
        """Folder of the tags."""
        return self.folder / "tags"

    def exists(self) -> bool:
        """Returns True if the history has a folder of run files.

        Raises:
            UsageError: If the folder cannot be read, or its name is too long.
        """
        try:
            return stat.S_ISDIR(self.runs_folder.stat().st_mode)
        except (FileNotFoundError, NotADirectoryError):
            return False
        except OSError as error:
            raise unusable_history("read", self.runs_folder, error) from error

    def index(self) -> RunIndex:
        """Returns the index, for a `with` block."""
        return RunIndex(index_path(self.runs_folder), self.runs_folder)

    def find_place(self, run: Run) -> Path:
        """Returns the path of a run in the history."""
        when = re.sub(r"[^0-9TZ]", "", in_utc(run.created_utc))[:16]
        return self.runs_folder / f"{when}-{distinct(run.run_id)}.json"

    def make(self) -> None:
        """Creates the folder of the run files.

        Raises:
            UsageError: If the folder cannot be created.
        """
        try:
            self.runs_folder.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise unusable_history("write", self.folder, error) from error

    def keep(self, run: Run, pieces: Iterable[bytes] | None = None, locks: WriterLocks | None = None) -> Path:
        """Writes a run into the history.

        Args:
            run: Run to keep.
            pieces: Text of the run; None computes it.
            locks: Locks until the run ends, in a folder that `make` has created. None for a run that has ended.

        Returns:
            The path of the file.

        Raises:
            UsageError: If the history cannot be written to or has more of the run, or another process writes the file.
        """
        from fastrnns_rs.documents.layout import Layout

        path = self.find_place(run)
        if locks is None:
            self.make()
        else:
            locks.claim(path, lambda: self.check_no_more(run))
        # A link there is replaced, and not the file that it leads to.
        writing.write(path, pieces or Layout().pieces(run), str(path))
        return path

    def check_no_more(self, run: Run) -> None:
        """Refuses to replace a run file that has processes which a run does not have.

        Raises:
            UsageError: If the history has more of the run.
        """
        from fastrnns_rs.documents.run_file import Run

        try:
            kept = Run.load(self.find_place(run))
        except FastrnnsError:
            return
        if has_more(kept, [run]):
            message = f"outdated run file: the history has more processes of run {run.run_id[:12]}"
            name = f"@{run.run_id[:12]}"
            hint, command_hint = f"Resume the run: fastrnns_rs.bench(resume={name!r})", "fastrnns-rs bench --resume"
            raise UsageError(message, hint, command_hint=f"Run: {command_hint} {name}")

    def document(self, newest: int | None = None) -> History:
        """Returns the runs, with the last started run at the end.

        A run with several files is listed once; a warning names its other files, except for copies.

        Args:
            newest: Number of the last started runs; None for all.
        """
        return self.listed(newest)[0]

    def listed(self, newest: int | None = None, *, strict_tags: bool = False) -> tuple[History, int]:
        """Returns the runs as `document` does, and the number of all runs.

        Args:
            newest: Number of the last started runs; None for all.
            strict_tags: True to refuse a history with a tag that only another user may read.
        """
        # The garbage collector would only scan thousands of live objects.
        with pause_garbage_collection(), self.index() as index:
            # Damage that only this query meets has the next one read the files.
            faults = index.faults()
            rows, others = index.runs(newest)
            runs, count = self._runs(rows, strict_tags=strict_tags), index.n_runs()
        foreign = [f"{name}: {fault}" for name, fault in faults]
        foreign += [f"{name}: run {run_id[:12]} has another file, which is listed" for name, run_id in others]
        return History(folder=str(self.folder), runs=runs, warnings=[*_report_foreign(foreign)]), count

    def _runs(self, rows: list[tuple[Any, ...]], *, strict_tags: bool) -> list[KeptRun]:
        tags = read_tags(self.tags_folder, {row[2] for row in rows}, strict=strict_tags)
        folder = f"{self.runs_folder}/"
        return [
            KeptRun(
                run_id=run_id,
                created_utc=created,
                last_started_utc=started,
                path=folder + name,
                size_bytes=size,
                tags=sorted(tags.get(run_id, ())),
                commit=commit,
                dirty=None if dirty is None else bool(dirty),
                status=status,
                verb=verb,
                runners=runners.split(SEPARATOR),
                devices=devices.split(SEPARATOR),
                torch_version=more[0],
                machine_id=more[1],
            )
            for name, size, run_id, created, started, status, commit, dirty, verb, runners, devices, *more in rows
        ]

    def tag(self, runs: Sequence[KeptRun], tag: str) -> None:
        """Adds a tag to runs.

        Raises:
            UsageError: If the tag is invalid or differs from another only in case where the file system ignores case, a
                run was deleted, or the history cannot be written to.
        """
        check_tag(tag)
        with locked_tags(self.tags_folder):
            for one in runs:
                if not Path(one.path).exists():
                    message = f"run not found: run {one.run_id[:12]} was deleted since it was listed"
                    raise UsageError(message, "Run: fastrnns-rs history", value=one.run_id)
            try:
                self._check_case(tag)
                for one in runs:
                    place = self.tags_folder / tag
                    place.mkdir(parents=True, exist_ok=True)
                    path = place / file_name(one.run_id)
                    # A link there is replaced, and not the file that it leads to.
                    writing.write(path, [one.run_id.encode()], str(path))
            except OSError as error:
                raise make_system_error(error) from error

    def _check_case(self, tag: str) -> None:
        """Refuses a tag that the file system takes for another, by ignoring case."""
        folders = self.tags_folder.iterdir() if (self.tags_folder / tag).exists() else ()
        others = [one.name for one in folders if one.name.casefold() == tag.casefold()]
        if others and tag not in others:
            reason = f"the file system ignores case, and the tag {others[0]!r} exists"
            raise UsageError(
                f"cannot add tag: {tag!r}", f"Use {others[0]!r} or another name.", reason=reason, value=tag
            )

    def untag(self, runs: Iterable[KeptRun], tag: str) -> None:
        """Removes a tag from runs.

        Raises:
            UsageError: If the tag is invalid, a run does not have it, or the history cannot be written to.
        """
        check_tag(tag)
        place = self.tags_folder / tag
        names: set[str] = set()
        # A program that copies folders may have made another file of a run.
        named: defaultdict[str, set[str]] = defaultdict(set)
        with locked_tags(self.tags_folder):
            try:
                with os.scandir(place) as entries:
                    for file in entries:
                        names.add(file.name)
                        for run_id in find_run_ids(file):
                            named[run_id].add(file.name)
            except FileNotFoundError:
                pass
            except OSError as error:
                raise make_system_error(error) from error
            for one in runs:
                if tag not in one.tags:
                    message = f"tag not found: run {one.run_id[:12]} does not have {tag!r}"
                    raise UsageError(message, "Run: fastrnns-rs history")
                try:
                    for name in named[one.run_id] | ({file_name(one.run_id)} & names):
                        (place / name).unlink(missing_ok=True)
                    with suppress(OSError):
                        # The folder is not empty if other runs have the tag.
                        place.rmdir()
                except OSError as error:
                    raise make_system_error(error) from error

    def remove(self, runs: Sequence[KeptRun]) -> tuple[list[KeptRun], list[FastrnnsError]]:
        """Deletes all files of runs, except runs that are being written or have a tag.

        The tag may be newer than the list of runs. A program that copies files may have made several of a run.

        Returns:
            The deleted runs, and an error for each run that could not be deleted.

        Raises:
            UsageError: If the folder cannot be read, or the tags cannot be read or locked.
        """
        gone: list[KeptRun] = []
        errors: list[FastrnnsError] = []
        if runs:
            files = {one.run_id: {one.path: one.size_bytes} for one in runs}
            with self.index() as index:
                for run_id, name, size in index.run_files():
                    if run_id in files:
                        files[run_id].setdefault(f"{self.runs_folder}/{name}", size)
            with locked_tags(self.tags_folder):
                tagged = read_tags(self.tags_folder, {one.run_id for one in runs}, strict=True)
                for one in runs:
                    try:
                        gone += [one] if one.run_id not in tagged and _delete(files[one.run_id]) else []
                    except FastrnnsError as error:
                        errors.append(error)
        return gone, errors

    def remove_abandoned(self) -> int:
        """Removes incomplete run files that killed processes left.

        Returns:
            The number of removed files, each older than a day.
        """
        return writing.remove_abandoned(str(self.runs_folder), _ABANDONED_S)


def open_past(history: RunHistory | None) -> AbstractContextManager[Past | None]:
    """Returns the earlier sessions of a history, for a `with` block.

    Raises:
        UsageError: If the history cannot be read.
    """
    if history is None or not history.exists():
        return nullcontext()
    return history.index()


def _delete(sizes: Mapping[str, int]) -> bool:
    """Deletes the files of a run, whose sizes are given.

    They are all left alone if one is being written, was resumed since it was listed, or is gone.
    """
    paths = [Path(one) for one in sizes]
    with WriterLocks() as locks:
        try:
            for path in paths:
                locks.hold(path)
        except UsageError:
            return False
        try:
            if [one.stat().st_size for one in paths] != [*sizes.values()]:
                return False
            for path in paths:
                path.unlink()
        except FileNotFoundError:
            return False
        except OSError as error:
            raise make_system_error(error) from error
    return True


def _report_foreign(found: Sequence[str]) -> Iterable[RunWarning]:
    if found:
        more = f"; and {len(found) - _MOST_NAMED} more" if len(found) > _MOST_NAMED else ""
        yield make_warning(
            "foreign_files", evidence=f"{counted(len(found), 'file')}: {'; '.join(found[:_MOST_NAMED])}{more}"
        )


def has_more(run: Run, others: Iterable[Run]) -> bool:
    """Returns True if a run has processes that no other file of it has."""
    return all(_n_processes(run) - _n_processes(one) for one in others)


def _n_processes(run: Run) -> Counter[str | None]:
    """Returns the number of processes of each session."""
    return Counter(process.session for row in run.results for process in row.processes)
