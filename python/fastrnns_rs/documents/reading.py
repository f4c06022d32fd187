"""Contents of files that a user names: of limited size, and never from a device."""

from __future__ import annotations

import errno
import os
import stat

from fastrnns_rs.errors import UsageError

TYPE_CHECKING = False  # see the package
if TYPE_CHECKING:
    from typing import Any, NoReturn

#: Variable that sets the largest size of a document, in MiB.
VARIABLE = "FASTRNNS_MAX_DOCUMENT_MIB"
#: Errors of a network file system that does not answer: they may pass, and the file may exist.
NO_ANSWER = frozenset(
    {errno.EIO, errno.ESTALE, errno.ENOTCONN, errno.ETIMEDOUT, errno.EHOSTDOWN, errno.ECONNABORTED, errno.ESHUTDOWN}
)
_DEFAULT_MIB = 512
#: Longest key in a message.
_LONGEST_KEY = 40
_MIB = 1 << 20
#: Largest number of digits of a limit: above the memory of any machine, and few enough to parse quickly.
_MOST_DIGITS = 12


def content(path: str | os.PathLike[str], most: int | None = None) -> bytes:
    """Reads a regular file or a pipe.

    Args:
        path: Path of the file.
        most: Largest size in bytes. None is the limit for documents, which `FASTRNNS_MAX_DOCUMENT_MIB` sets.

    Raises:
        OSError: If the file cannot be read, is a device or a folder, or has more bytes.
        UsageError: If the variable is not a whole number above 0.
    """
    limit = _limit() if most is None else most
    allowed = f"{limit // _MIB} MiB, the limit that {VARIABLE} sets" if most is None else f"{most} bytes"
    try:
        return _content(path, limit, allowed)
    except ValueError as error:
        # Python raises ValueError for a path that no file can have.
        raise OSError(str(error)) from error
    except OSError as error:
        if error.errno is not None and error.filename is None:
            # Reading and closing fail without the name of the file.
            error.filename = os.fsdecode(path)
        raise


def _content(path: str | os.PathLike[str], limit: int, allowed: str) -> bytes:
    # The file is checked before it is opened: opening a device may block, or change the device.
    _refuse(os.stat(path))
    with open(path, "rb", buffering=0) as file:
        found = os.fstat(file.fileno())
        _refuse(found)
        if found.st_size > limit:
            raise OSError(f"{found.st_size} bytes are more than {allowed}")
        if stat.S_ISREG(found.st_mode):
            # Some files of /proc have no end: reading them blocks until there is new content.
            os.set_blocking(file.fileno(), False)
        # Files of /proc have no size, and other files may grow meanwhile, so the bytes that are read are limited.
        pieces, left, piece = [], limit + 1, found.st_size + 1
        while left > 0 and (read := file.read(min(left, piece))) != b"":
            if read is None:
                raise OSError("the file has no end")
            pieces.append(read)
            left, piece = left - len(read), _MIB
    if left <= 0:
        raise OSError(f"the file has more than {allowed}")
    return b"".join(pieces)


def head(path: str | os.PathLike[str], count: int) -> bytes:
    """Returns the first bytes of a file; none where they would have to be waited for.

    Args:
        path: Path of a regular file.
        count: Largest number of bytes.
    """
    with open(path, "rb", buffering=0) as file:
        # As above: some files of /proc have no end.
        os.set_blocking(file.fileno(), False)
        return file.read(count) or b""


def text(path: str | os.PathLike[str], most: int | None = None) -> str:
    """Reads a text in UTF-8, with or without a byte order mark; see `content`.

    Raises:
        UnicodeDecodeError: If the text is not UTF-8.
    """
    return content(path, most).decode("utf-8-sig")


def document_text(path: str | os.PathLike[str], noun: str) -> str:
    """Reads the text of a document.

    Args:
        path: Path of the file.
        noun: Name of the document in hints.

    Raises:
        UsageError: If the file does not exist or cannot be read.
    """
    try:
        return text(path)
    except FileNotFoundError as error:
        from fastrnns_rs.documents.missing_file import file_not_found

        raise file_not_found(path, f"Use the path of a {noun}.") from error
    except UnicodeError as error:
        from fastrnns_rs.documents.file_description import wrong_kind

        raise wrong_kind(path, noun, reason="the file is not UTF-8 text", readers=("show",)) from error
    except OSError as error:
        shown, reason = os.fsdecode(path), error.strerror or str(error)
        raise UsageError(f"cannot read file: {shown!r}", f"Use a {noun}.", reason=reason, value=shown) from error


def parsed(text: str) -> Any:
    """Parses the JSON of a document.

    Raises:
        NoNumberError: If a number is not finite.
        ValueError: If the text is not JSON, is nested too deeply, has an integer of thousands of digits, or an object
            has a key twice.
    """
    import json

    try:
        return json.loads(text, parse_constant=_no_number, parse_float=_finite, object_pairs_hook=_object)
    except RecursionError as error:
        raise ValueError("the JSON is nested too deeply") from error


class DuplicateKeyError(ValueError):
    """Key that an object has twice."""


class NoNumberError(ValueError):
    """Token that some programs write for a number, and that is not valid JSON."""


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """Returns an object. JSON readers use the first or the last of two equal keys."""
    found = dict(pairs)
    if len(found) < len(pairs):
        from collections import Counter

        [(key, _)] = Counter(key for key, _ in pairs).most_common(1)
        raise DuplicateKeyError(f"duplicate key: {key[:_LONGEST_KEY]!r}")
    return found


def _finite(token: str) -> float:
    value = float(token)
    return value if value - value == 0.0 else _no_number(token)


def _no_number(token: str) -> NoReturn:
    shortened = token if len(token) <= _LONGEST_KEY else f"{token[:_LONGEST_KEY]}…"
    raise NoNumberError(f"{shortened} is not a number in JSON")


def _refuse(found: os.stat_result) -> None:
    if stat.S_ISDIR(found.st_mode):
        raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR))
    if stat.S_ISCHR(found.st_mode) or stat.S_ISBLK(found.st_mode):
        raise OSError("the path is a device, not a file or a pipe")


def _limit() -> int:
    given = os.environ.get(VARIABLE, str(_DEFAULT_MIB))
    mebibytes = int(given) if given.isascii() and given.isdigit() and len(given) <= _MOST_DIGITS else 0
    if mebibytes < 1:
        hint = f"Set {VARIABLE} to an integer from 1 to {10**_MOST_DIGITS - 1}, the largest size of a document in MiB."
        raise UsageError(f"invalid value: {given[:40]!r}", hint, where=VARIABLE)
    return mebibytes * _MIB
