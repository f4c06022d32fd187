"""What can go wrong, each with the exit code that the command line gives it."""

from __future__ import annotations

TYPE_CHECKING = False  # see the package
if TYPE_CHECKING:
    from collections.abc import Iterable


class ExitCode:
    """What the command's exit status means. Plain numbers: an enumeration would have every reader load `enum`."""

    DONE = 0
    FAILED = 1
    USAGE = 2
    REGRESSION = 3
    INCONCLUSIVE = 4
    MISSING = 5
    TIMED_OUT = 124
    INTERRUPTED = 130


class FastrnnsError(Exception):
    """An error that is told in one line, with a hint that says what to do.

    Args:
        message: One line that names the thing.
        hint: What to do about it.
    """

    exit_code = ExitCode.FAILED

    def __init__(self, message: str, hint: str = "") -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint

    def __str__(self) -> str:
        return f"{self.message} ({self.hint})" if self.hint else self.message


class UsageError(FastrnnsError, ValueError):
    """What was asked for makes no sense, or no runner can honour it."""

    exit_code = ExitCode.USAGE


class DiskError(UsageError):
    """A disk refused a file in a place that can be written to otherwise: it is full, damaged or gone."""

    exit_code = ExitCode.FAILED


class MissingError(FastrnnsError):
    """A device or a tool that was asked for is not there."""

    exit_code = ExitCode.MISSING


class RunnerError(FastrnnsError):
    """A runner broke its contract: a missing gradient, an output that is not finite."""


class DocumentWarning(UserWarning):
    """A document of a newer minor version has keys that this build does not know."""


#: Message and hint for errors of the system, by the names of their numbers.
_REFUSED = {
    "EAGAIN": ("another process or thread", "end other processes, or raise the limit on processes (ulimit -u)"),
    "ENOMEM": ("more memory", "end other processes, or raise the limit on memory (ulimit -v)"),
    "EMFILE": ("another open file", "raise the limit on open files (ulimit -n)"),
    "ENFILE": ("another open file", "end other processes: all of them have too many open files"),
}


def of_system(error: OSError) -> FastrnnsError:
    """Makes an error with a hint of what the system refused."""
    import errno

    refused = _REFUSED.get(errno.errorcode.get(error.errno or 0, ""))
    why = error.strerror or str(error)
    # A pipe that is full has this number too, and that attribute.
    if refused is not None and not hasattr(error, "characters_written"):
        where = "" if error.filename is None else f"{error.filename}: "
        return FastrnnsError(f"the system refuses {refused[0]} ({where}{why})", refused[1])
    if error.filename is None:
        return FastrnnsError(f"writing failed: {why}", "look at where the output goes")
    return FastrnnsError(f"{error.filename}: {why}", "check that path, its disk and the rights on it")


def first_line(error: BaseException) -> str:
    """An error in one line: its type, and the first line of what it says."""
    text = next(iter(str(error).strip().splitlines()), "")
    return f"{type(error).__name__}: {text}" if text else type(error).__name__


def nearest(name: str, known: Iterable[str]) -> str:
    """A hint that offers the nearest match of `name`, or all that is known when nothing is near."""
    import difflib  # few have misspelt anything

    known = list(known)
    by_lower = {candidate.lower(): candidate for candidate in known}
    matches = difflib.get_close_matches(name.lower(), by_lower, n=1)
    if matches:
        return f"did you mean {by_lower[matches[0]]}?"
    return f"known: {', '.join(known)}"
