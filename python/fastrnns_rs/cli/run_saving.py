"""Storage of a run during its measurement: results file and history."""

from __future__ import annotations

import re
import shlex
from typing import TYPE_CHECKING

from fastrnns_rs.cli import next_command, shared
from fastrnns_rs.documents import reading, writing
from fastrnns_rs.documents.file_names import distinct
from fastrnns_rs.documents.layout import Layout
from fastrnns_rs.documents.run_file import Process, Run
from fastrnns_rs.errors import FastrnnsError, UsageError
from fastrnns_rs.escaping import visible
from fastrnns_rs.processes.temporary_folder import find_temporary_root
from fastrnns_rs.verbs.history.run_history import LARGE_BYTES, has_more
from fastrnns_rs.views.run import run_screen
from fastrnns_rs.views.text import shell_word

if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Self

    from fastrnns_rs.cli.results_file import ResultsFile
    from fastrnns_rs.documents.history import KeptRun
    from fastrnns_rs.verbs.history.run_history import RunHistory

_GIB = 1 << 30
#: So much of a run file has its ID.
_HEAD_BYTES = 1024
#: Digits of a run ID in a command.
_DIGITS = 12


class RunSaver:
    """Writer that saves a run after each of its processes, for a `with` block.

    A history that cannot be written to causes a warning, not a failure. If the run is neither in the history nor in a
    results file, it is kept in another place at the end.

    Args:
        results: Results file at `--output`. Its block ends after this one, and unlocks the file of the history too.
        history: History of runs; None if the run is not kept in a history.

    Attributes:
        failed: True if no file could be written for the run. It is then on stdout.
        only_here: Last run, if it is kept nowhere.
    """

    def __init__(self, results: ResultsFile, history: RunHistory | None) -> None:
        self.failed = False
        self._results = results
        self._history = history
        # The text of a process is made once, although the run is saved many times.
        self._layout = Layout(keep=Process)
        # True if the results file is that of the history, as for a resumed run; None before the first run.
        self._is_same: bool | None = None
        self._unsaved: Sequence[bytes] = ()
        self._name = ""
        self._is_unreadable = False
        self.only_here: Run | None = None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        if kind is not None and issubclass(kind, (Exception, KeyboardInterrupt)):
            # A document that cannot be formatted, or Ctrl-C meanwhile, must not cost what was measured.
            self.keep_last()
        if self._unsaved and self._results.place is None:
            self._keep_elsewhere()

    def replaced(self, run: Run) -> str | None:
        """Returns the run that is replaced in the results file, for a note.

        None if the file of the history, or this run itself, has all of its processes.
        """
        if self._results.place is None:
            return None
        try:
            head = reading.head(self._results.place, _HEAD_BYTES)
        except OSError:
            return None
        found = re.search(rb'"schema": "fastrnns-rs/run".*?"run_id": "([^"]*)"', head, re.DOTALL)
        if found is None:
            return None
        run_id = found[1].decode(errors="replace")
        try:
            others = [run] if run_id == run.run_id else []
            others += [Run.load(one.path) for one in self._runs() if one.run_id == run_id]
            # A run file is read to its end only if its run may be in another file.
            is_kept = bool(others) and not has_more(Run.load(self._results.place), others)
        except FastrnnsError:
            is_kept = False
        if is_kept:
            return None
        return f"{'another state of this' if run_id == run.run_id else 'the other'} run in {self._results.path}"

    def use(self, history: RunHistory | None) -> None:
        """Sets the history that keeps the run; None for none."""
        self._history = history

    def keep_last(self) -> None:
        """Keeps the last run in another place at the end, if it is kept nowhere."""
        if self.only_here is not None and self.only_here.results:
            self._set_name(self.only_here)
            self._unsaved = self._layout.pieces(self.only_here)

    def save(self, run: Run) -> None:
        """Writes the run so far, as far as the disks allow."""
        if self._history is None and self._results.place is None:
            self.only_here = run
            return
        pieces = self._layout.pieces(run)
        self._set_name(run)
        self._results.save(pieces, self._name)
        if self._history is not None:
            self._keep(self._history, run, pieces)

    def _set_name(self, run: Run) -> None:
        # A run ID comes from a document and may contain any character.
        self._name = f"fastrnns-rs-run-{distinct(run.run_id)}"

    def find_name(self, run: Run) -> str | None:
        """Returns the name of the run for a command, not yet quoted.

        The name is `@last`, the run ID, or the run file; None if the run is not kept.
        """
        if self._is_kept:
            return "@last" if self._is_last(run) else f"@{run.run_id[:_DIGITS]}"
        return self._own_file

    def sentence(self, run: Run) -> str:
        """Returns where the run is, as `Saved as @last.`; empty if it is not kept."""
        places = [f"as {self.find_name(run)}"] if self._is_kept else []
        if run.status == "interrupted" and places:
            places = [f"{places[0]} (incomplete)"]
        if self._own_file is not None:
            places.append(f"in {visible(self._own_file)}")
        return f"Saved {' and '.join(places)}." if places else ""

    def next_commands(self, run: Run) -> list[tuple[str, str]]:
        """Returns pairs of a purpose and a command.

        The first pair may make a large history smaller. The last pair is the next command for the run.
        """
        name = self.find_name(run)
        found = []
        runs = self._runs() if self._is_kept else []
        total = sum(one.size_bytes for one in runs)
        if total > LARGE_BYTES:
            prune = f"fastrnns-rs history --prune --older-than 90d{shared.history_words()}"
            found.append((f"note: the history has {total / _GIB:.1f} GiB; delete old runs", prune))
        words = "" if name is None else shared.run_words(name)
        if run.status == "interrupted":
            if run.ranks:
                # They are not resumed, and the command of `torchrun` is unknown.
                return found
            # An incomplete block of `ab` has processes of one side only, so the comparison starts again.
            if not words or run.sides:
                found.append(("Start again", shlex.join(run.command)))
            else:
                # A run that is resumed by its name does not write its run file.
                words = words if self._own_file is None else shared.run_words(self._own_file)
                found.append(("Continue", next_command.resuming(words)))
        elif not words:
            return found
        elif run.sides:
            # Equal sides are those of `--same`, whose next command is another.
            is_same = len({one.label for one in run.sides}) == 1
            if run.status == "complete" and not is_same and not run_screen.lacks_intervals(run):
                found.append(("Show all figures", f"fastrnns-rs compare {words} --wide"))
        elif name == "@last" and _is_comparable(runs[-2:], run):
            found.append(("Compare with the run before", f"fastrnns-rs compare @last~1 {words}"))
        elif run.status == "complete" and not run_screen.lacks_intervals(run):
            found.append(("Show all figures", f"fastrnns-rs show {words} --wide"))
        return found

    @property
    def _is_kept(self) -> bool:
        return self._history is not None and self._is_same is not None and not self._unsaved

    @property
    def _own_file(self) -> str | None:
        """Returns the path of the results file; None if only the history has one."""
        if self._results.place is None or self._results.failed or (self._is_kept and self._is_same):
            return None
        path = str(self._results.path)
        # A command would take the file for an option, or for a name of the history.
        return f"./{path}" if path.startswith(("-", "@")) else path

    def _is_last(self, run: Run) -> bool:
        """Returns False if another command has started a newer run."""
        runs = self._runs()
        return bool(runs) and runs[-1].run_id == run.run_id

    def _runs(self) -> Sequence[KeptRun]:
        """Returns the runs of the history; none with a warning if it cannot be read."""
        if self._history is None or self._is_unreadable:
            return []
        try:
            return self._history.document().runs
        except FastrnnsError as error:
            self._is_unreadable = True
            _tell(f"warning: {error.message}", f"hint: {error.command_hint or error.hint}")
            return []

    def _keep(self, history: RunHistory, run: Run, pieces: Sequence[bytes]) -> None:
        try:
            is_same = self._is_same
            if is_same is None:
                history.make()
                is_same = writing.real_path(history.find_place(run)) == self._results.place
            if not is_same:
                history.keep(run, pieces, self._results.locks)
            self._is_same = is_same
            self._unsaved = ()
        except UsageError as error:
            if not self._unsaved:
                hint = error.command_hint or error.hint
                _tell(f"warning: the run is not kept in the history: {error.message}", f"hint: {hint}")
            self._unsaved = pieces

    def _keep_elsewhere(self) -> None:
        try:
            place = writing.write_new(str(find_temporary_root()), self._name, ".json", self._unsaved)
            is_lost = self._history is not None
            where = (
                f"warning: the run is not in the history, but in {place}" if is_lost else f"note: the run is in {place}"
            )
            verb, folder = ("history --import", shared.history_words()) if is_lost else ("show", "")
            lines = (where, f"hint: fastrnns-rs {verb} {shell_word(place)}{folder}")
            # Also with `--quiet`: nothing else names the file.
            shared.tell_error(map(visible, lines))
        except OSError as error:
            self.failed = True
            shared.tell_error([f"error: the run is on stdout: no temporary file can be written: {error.strerror}"])
            self._results.hand_over(self._unsaved)


def _is_comparable(newest: Sequence[KeptRun], run: Run) -> bool:
    """Returns True if a run can be compared with the run before."""
    if [one.verb for one in newest] != ["bench", "bench"] or not {*newest[0].runners} & {*newest[1].runners}:
        return False
    from fastrnns_rs.verbs.compare.compared_sources import can_compare

    try:
        return can_compare(Run.load(newest[0].path), run)
    except FastrnnsError:
        return False


def _tell(*lines: str) -> None:
    shared.tell(map(visible, lines))
