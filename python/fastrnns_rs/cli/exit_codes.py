"""Exit codes of the command, and the exit code of each error."""

from __future__ import annotations

from collections.abc import Sequence

from fastrnns_rs.errors import DiskError, FastrnnsError, MissingError, UsageError


class ExitCode:
    """Exit codes of the command.

    They are plain numbers: an enumeration would load the module `enum` in every reader.
    """

    DONE = 0
    FAILED = 1
    USAGE = 2
    REGRESSION = 3
    INCONCLUSIVE = 4
    MISSING = 5
    TIMED_OUT = 124
    INTERRUPTED = 130


#: Exit code of each kind of error, the narrower kinds first.
_OF_ERRORS: tuple[tuple[type[FastrnnsError], int], ...] = (
    (DiskError, ExitCode.FAILED),
    (UsageError, ExitCode.USAGE),
    (MissingError, ExitCode.MISSING),
)

#: Codes of errors by precedence: the first that applies is the exit code.
_PRECEDENCE = (ExitCode.TIMED_OUT, ExitCode.USAGE, ExitCode.MISSING, ExitCode.FAILED)


def find_exit_code(error: FastrnnsError) -> int:
    """Returns the exit code of an error."""
    if error.is_timeout:
        return ExitCode.TIMED_OUT
    return next((code for kind, code in _OF_ERRORS if isinstance(error, kind)), ExitCode.FAILED)


def find_decisive(errors: Sequence[FastrnnsError]) -> FastrnnsError:
    """Returns the error whose exit code comes first; the last of several."""
    return min(reversed(errors), key=lambda one: _PRECEDENCE.index(find_exit_code(one)))
