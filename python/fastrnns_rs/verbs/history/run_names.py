"""Names of runs in the history.

`@last`, `@last~2`, `@tag:baseline`, `@git:main`, `@` with the start of an ID, and `@like:` with any of these.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

from fastrnns_rs.counting import counted
from fastrnns_rs.errors import UsageError, closest
from fastrnns_rs.machine import checkout
from fastrnns_rs.verbs.history.tag_files import is_closed

if TYPE_CHECKING:
    from fastrnns_rs.documents.history import KeptRun
    from fastrnns_rs.verbs.history.run_history import RunHistory

_LAST = re.compile(r"last(?:~([0-9]{1,9}))?")
_ID = re.compile(r"[0-9a-f-]{4,64}")
_LIST = "Run: fastrnns-rs history"
#: Hint with all forms of run names.
HINT = "Use @last, @last~1, @tag:NAME, @git:REVISION, @ID, or @like:NAME."
_MOST_NAMED = 4

Named = TypeVar("Named")


@dataclass(frozen=True, slots=True)
class NamedRun(os.PathLike[str]):
    """Run file of the history, with the name by which it was given.

    Attributes:
        path: Path of the file.
        name: Name, such as `@last`.
    """

    path: str
    name: str

    def __fspath__(self) -> str:
        return self.path

    def __str__(self) -> str:
        return self.name


def is_name(word: object) -> bool:
    """Returns True if a word names runs in the history.

    A file whose name starts with @ is written with its folder: `./@last`.
    """
    return isinstance(word, str) and word.startswith("@")


def named_runs(word: str, history: RunHistory, runs: Sequence[KeptRun]) -> list[KeptRun]:
    """Returns the runs of a name.

    Args:
        word: Name.
        history: History.
        runs: All runs of the history, with the last run at the end.

    Raises:
        UsageError: If no run matches, the name is invalid, or git does not know the commit.
    """
    name = word.removeprefix("@")
    if not runs:
        raise _not_found(word, "the history has no runs", "Run: fastrnns-rs bench")
    if name.startswith("like:"):
        return _like(word, history, runs)
    last = _LAST.fullmatch(name)
    if last is not None:
        before = int(last[1] or 0)
        if before >= len(runs):
            raise _not_found(word, f"the history has {counted(len(runs), 'run')}")
        return [runs[-1 - before]]
    kind, colon, value = name.partition(":")
    if colon and kind == "tag":
        return _tagged(word, value, history, runs)
    if colon and kind == "git":
        return _find_by_commit(word, value, runs)
    if _ID.fullmatch(name):
        found = [one for one in runs if one.run_id.startswith(name)]
        if len(found) > 1:
            raise UsageError(f"ambiguous run: {word!r} is the start of {len(found)} IDs", _LIST, value=word)
        if found:
            return found
        raise _not_found(word, "no run has an ID with this start")
    raise invalid_name(word)


def invalid_name(word: str) -> UsageError:
    """Makes the error for a word that has no form of a run's name."""
    return UsageError(f"invalid name of a run: {word!r}", HINT, value=word)


def _not_found(word: str, reason: str, hint: str = _LIST, *, correction: str | None = None) -> UsageError:
    return UsageError(f"run not found: {word!r}", hint, reason=reason, value=word, correction=correction)


def newest_needed(words: Iterable[object]) -> int | None:
    """Returns the number of newest runs needed to resolve names; None for all."""
    found = [_LAST.fullmatch(word.removeprefix("@")) for word in words if isinstance(word, str) and is_name(word)]
    # None stands for all runs: a number large enough for any history could exceed SQLite's integers.
    return None if None in found else max((int(one[1] or 0) + 1 for one in found if one), default=0)


def one_run(word: Named, history: RunHistory | None) -> Named | NamedRun:
    """Returns the single run file of a name; see `single_runs`."""
    [found] = single_runs([word], history)
    return found


def single_runs(words: Iterable[Named], history: RunHistory | None) -> list[Named | NamedRun]:
    """Returns the single run file of each name; other values are returned unchanged.

    Raises:
        UsageError: If no run matches, or a name is invalid or stands for several runs.
    """
    singles: list[Named | NamedRun] = []
    for word, found in _find_each(words, history):
        if len(found) > 1:
            names = " ".join(str(one) for one in found[:_MOST_NAMED])
            raise UsageError(f"ambiguous run: {word!r} names {len(found)} runs", f"Use one of: {names}", value=word)
        singles += found
    return singles


def resolved(words: Iterable[Named], history: RunHistory | None) -> list[Named | NamedRun]:
    """Replaces names by their runs; other values are kept.

    Args:
        words: Names and other values.
        history: History, which is read only if there is a name; None for no history.

    Raises:
        UsageError: If no run matches, a name is invalid, or there is no history.
    """
    return [one for _, found in _find_each(words, history) for one in found]


def _find_each(
    words: Iterable[Named], history: RunHistory | None
) -> Iterator[tuple[Named, Sequence[Named | NamedRun]]]:
    """Yields each name with its runs, and each other value with itself.

    The history is listed once.
    """
    words = [*words]
    known: Sequence[KeptRun] | None = None
    for word in words:
        if not (isinstance(word, str) and is_name(word)):
            yield word, [word]
            continue
        if history is None:
            # A flag, an argument, two variables and a `pyproject.toml` can turn it off.
            hint = "Use the path of a file, or turn the history on."
            raise UsageError(f"run not found: {word!r}", hint, reason="the history is off", value=word)
        known = history.document(newest_needed(words)).runs if known is None else known
        each = named_runs(word, history, known)
        # If there are several runs, each is named by its ID.
        names = [str(word)] if len(each) == 1 else [f"@{one.run_id[:12]}" for one in each]
        yield word, [NamedRun(one.path, name) for one, name in zip(each, names, strict=True)]


def _like(word: str, history: RunHistory, runs: Sequence[KeptRun]) -> list[KeptRun]:
    """Returns a run and the earlier complete runs that measured the same rows.

    They are of the same verb: runs of `ab` have two sides, and cannot be pooled with those of `bench`. The conditions
    of all rows are equal.
    """
    name = word.removeprefix("@like:")
    if not name or name.startswith("like:"):
        raise invalid_name(word)
    found = named_runs(f"@{name}", history, runs)
    if len(found) > 1:
        message = f"ambiguous run: {word!r} needs 1 run, and @{name} names {len(found)} runs"
        raise UsageError(message, _LIST, value=word)
    with history.index() as index:
        names = index.find_equal_files(Path(found[0].path).name)
    before = [one for one in runs[: runs.index(found[0])] if (one.status, one.verb) == ("complete", found[0].verb)]
    comparable = [one for one in before if Path(one.path).name in names]
    return [*comparable, *found]


def _tagged(word: str, tag: str, history: RunHistory, runs: Sequence[KeptRun]) -> list[KeptRun]:
    found = [one for one in runs if tag in one.tags]
    if not found:
        if is_closed(history.tags_folder, tag):
            raise _not_found(
                word, "only another user may read this tag", "Ask the user for permission to read the tag."
            )
        every = {name for one in runs for name in one.tags}
        meant = closest(tag, every)
        raise _not_found(word, "no run has this tag", correction=None if meant is None else f"@tag:{meant}")
    return found


def _find_by_commit(word: str, revision: str, runs: Sequence[KeptRun]) -> list[KeptRun]:
    """Returns the complete runs of a commit without local changes."""
    commit = _commit(word, revision)
    found = [one for one in runs if one.commit == commit]
    clean = [one for one in found if one.dirty is False and one.status == "complete"]
    if clean:
        return clean
    if found:
        raise _not_found(word, f"no run of commit {commit[:12]} is complete and without local changes")
    raise _not_found(word, f"no run of commit {commit[:12]}")


def _commit(word: str, revision: str) -> str:
    hint = "Use a branch, a tag or a commit of the repository in this folder."
    try:
        # A revision that begins with a dash would be parsed as an option.
        done = checkout.run(("rev-parse", "--verify", "--quiet", "--end-of-options", f"{revision}^{{commit}}"), {})
    except (OSError, RuntimeError, ValueError) as error:
        raise UsageError(f"git failed: {word!r}", hint, reason=str(error), value=word) from error
    if done.timed_out:
        raise UsageError(f"git timed out: {word!r}", hint, value=word)
    commit = done.stdout_tail.strip().splitlines()[-1:]
    if done.exit_status != 0 or not commit:
        raise UsageError(f"unknown revision: {revision!r}", hint, value=word, where=word)
    return commit[0]
