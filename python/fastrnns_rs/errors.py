"""Errors of this package, with hints."""

from __future__ import annotations

import os

from fastrnns_rs.escaping import visible

TYPE_CHECKING = False  # see the package
if TYPE_CHECKING:
    from collections.abc import Container, Iterable, Sequence


class FastrnnsError(Exception):
    """Error of one line, with a hint.

    Texts name arguments as Python does, in backquotes: `processes`. The command line prints its options instead.

    >>> import fastrnns_rs
    >>> try:
    ...     fastrnns_rs.bench("cudn")
    ... except fastrnns_rs.FastrnnsError as error:
    ...     print(error.message, error.hint, sep="; ")
    unknown runner: 'cudn' (runners); Use 'cudnn'.

    Args:
        message: What failed, and the value: `unknown runner: 'cudn'`.
        hint: One imperative sentence.
        where: Argument that has the value, or the place in a file.
        reason: Reason, where the message does not contain it.
        value: Value that failed, as it was given.
        correction: Value that was probably meant in place of `value`.
        verb: Command that reads `value`, a file of another kind.
        command_hint: Hint of the command line, where it is not that of Python; None for the same hint.

    Attributes:
        message: Whole line.
        hint: Hint, which names the correction where there is one.
    """

    #: True for a run that exceeded its time limit.
    is_timeout = False

    def __init__(
        self,
        message: str,
        hint: str = "",
        *,
        where: str = "",
        reason: str = "",
        value: object = None,
        correction: str | None = None,
        verb: str | None = None,
        command_hint: str | None = None,
    ) -> None:
        super().__init__(message)
        self.what, self.where, self.reason = message, where, reason
        self.value, self.correction, self.verb, self.command_hint = value, correction, verb, command_hint
        self.message = line(message, where, reason)
        self.other_hint = hint
        # Hints list names of documents. Python prints an error as it is, and the command line escapes it again.
        self.hint = visible(hint) if correction is None else f"Use {correction!r}."

    def __str__(self) -> str:
        return f"{self.message}. {self.hint}" if self.hint else self.message


def line(what: str, where: str, reason: str = "") -> str:
    """Returns the one line of an error: `<what failed>: <value> (<where>): <reason>`."""
    place = f" ({where})" if where else ""
    return f"{what}{place}{f': {reason}' if reason else ''}"


class UsageError(FastrnnsError, ValueError):
    """Invalid request, or a request that no runner supports.

    >>> import fastrnns_rs
    >>> fastrnns_rs.bench("cudnn", nloops=0)
    Traceback (most recent call last):
    fastrnns_rs.errors.UsageError: out of range: 0 (nloops). Use an integer of at least 1.
    """


class DiskError(UsageError):
    """Failed write in a writable folder: the disk is full, damaged or gone."""


class MissingError(FastrnnsError):
    """Requested device or tool that is missing.

    >>> import fastrnns_rs
    >>> fastrnns_rs.ab(candidate="py", baseline_python="no-such-python")
    Traceback (most recent call last):
    fastrnns_rs.errors.MissingError: program not found: 'no-such-python'. Use the path of a Python interpreter.
    """


class RunnerError(FastrnnsError):
    """Broken contract of a runner: a missing gradient or an infinite output.

    >>> import fastrnns_rs
    >>> issubclass(fastrnns_rs.RunnerError, fastrnns_rs.FastrnnsError)
    True
    """


class DocumentWarning(UserWarning):
    """Unknown keys in a document of a newer minor version.

    >>> import fastrnns_rs, warnings
    >>> warnings.simplefilter("ignore", fastrnns_rs.DocumentWarning)
    """


#: Missing resource and hint for errors of the system, by the names of their numbers.
_EXHAUSTED = {
    "EAGAIN": (
        "no more processes or threads",
        "End other processes, or raise the limit on processes (ulimit -u), or that of the container (pids.max).",
    ),
    "ENOMEM": ("no more memory", "End other processes, or raise the limit on memory (ulimit -v)."),
    "EMFILE": ("no more open files", "Raise the limit on open files (ulimit -n)."),
    "ENFILE": ("no more open files", "End other processes: all of them have too many open files."),
}


def make_system_error(error: OSError) -> FastrnnsError:
    """Makes an error with a hint from an error of the system."""
    import errno

    exhausted = _EXHAUSTED.get(errno.errorcode.get(error.errno or 0, ""))
    why = error.strerror or str(error)
    path = None if error.filename is None else os.fsdecode(error.filename)
    # An error of a full pipe has this number too, and this attribute.
    if exhausted is not None and not hasattr(error, "characters_written"):
        return FastrnnsError(f"the system has {exhausted[0]}: {why}", exhausted[1], where=path or "")
    if path is None:
        return FastrnnsError(f"cannot write: {why}", "Check the file or program that receives the output.")
    message = f"cannot use the file: {path!r}"
    return FastrnnsError(message, "Check the path, its permissions and its disk.", reason=why, value=path)


def failure_text(error: BaseException) -> str:
    """Returns the message of an error; that of the system's errors is made first."""
    return str(make_system_error(error) if isinstance(error, OSError) else error)


def first_line(error: BaseException) -> str:
    """Returns the type of an error, and the first line of its text."""
    text = next(iter(own_text(error).splitlines()), "")
    return f"{type_name(error)}: {text}" if text else type_name(error)


def own_text(error: BaseException) -> str:
    """Returns the text of an error; `__str__` may be code of a runner, and fail."""
    try:
        return str(error).strip()
    except BaseException as second:  # noqa: BLE001  # any error of others
        return f"its message cannot be shown: {type_name(second)}"


def type_name(error: BaseException) -> str:
    """Returns the name of an error's class, also where its metaclass has another one."""
    name: str = type.__dict__["__name__"].__get__(type(error))
    return name


def exclusive(*names: str) -> UsageError:
    """Makes the error for arguments that exclude each other."""
    quoted = [f"`{name}`" for name in names]
    listed = ", ".join(quoted[:-1])
    return UsageError(f"{listed} and {quoted[-1]} exclude each other", f"Use {listed} or {quoted[-1]}.")


#: Other names of values, each with the value. They are searched before the edit distance.
_SYNONYMS = {
    "gpu": "cuda",
    "nvidia": "cuda",
    "host": "cpu",
    "fp16": "float16",
    "f16": "float16",
    "half": "float16",
    "bf16": "bfloat16",
    "fp32": "float32",
    "f32": "float32",
    "float": "float32",
    "single": "float32",
    "fp64": "float64",
    "f64": "float64",
    "double": "float64",
    "training": "train",
    "eval": "inference",
    "infer": "inference",
    "md": "markdown",
    "rnn": "rnns",
    "cnn": "cnns",
    "batch": "mini-batch",
    "batch-size": "mini-batch",
    "hidden": "hidden-size",
    "layers": "num-layers",
    "seq-len": "seq-length",
}


def closest(name: str, known: Iterable[str], *, cutoff: float = 0.6) -> str | None:
    """Returns the known value that was probably meant, or None.

    Args:
        name: Value that was given.
        known: Known values.
        cutoff: Least similarity, from 0 to 1.
    """
    from fastrnns_rs.similarity import similarity  # few values are misspelt

    by_lower = {candidate.lower(): candidate for candidate in known}
    word, colon, index = name.lower().removeprefix("torch.").partition(":")
    if word in _SYNONYMS:
        # A synonym of an unknown value has no neighbour: `gpu` is nearer to `cpu` than to `cuda`.
        meant = _SYNONYMS[word]
        return f"{by_lower[meant]}{colon}{index}" if meant in by_lower else None
    likeness, nearest = max(((similarity(one, f"{word}{colon}{index}"), one) for one in by_lower), default=(0.0, ""))
    return by_lower[nearest] if likeness >= cutoff else None


def unknown(
    what: str, value: object, known: Iterable[str], *, where: str = "", hint: str = "", reason: str = ""
) -> UsageError:
    """Makes the error for a value that is not a known value.

    Args:
        what: What failed, such as `unknown runner`.
        value: Value that was given.
        known: Known values.
        where: Argument that has the value.
        hint: Hint where no known value is near; by default it lists the known values.
        reason: Reason why the value may be unknown.
    """
    known = list(known)
    listed = " or ".join(filter(None, (", ".join(known[:-1]), *known[-1:])))
    correction = closest(value, known) if isinstance(value, str) else None
    hint = hint or f"Use {listed}."
    return UsageError(f"{what}: {value!r}", hint, where=where, reason=reason, value=value, correction=correction)


def is_one_of(value: object, known: Container[str]) -> bool:
    """Returns True if a value is a known name.

    An array would be compared element by element.
    """
    return isinstance(value, str) and value in known


def unknown_key(noun: str, name: object, known: Iterable[str], place: str) -> KeyError:
    """Makes the error for a key that a container does not have.

    Args:
        noun: Kind of key, such as `runner`.
        name: Key that was given.
        known: Known keys.
        place: Container, such as `in this run`.
    """
    hint = ""
    if isinstance(name, str):
        meant = closest(name, known)
        hint = "" if meant is None else f"; did you mean {meant!r}?"
    elif isinstance(name, int):
        hint = f"; use a name, or list(...)[{name}]"
    return KeyError(f"no {noun} {name!r} {place}{hint}")


#: Maximum number of rows that an error names.
_MOST_NAMED = 8


def ambiguous_key(name: str, titles: Sequence[str]) -> KeyError:
    """Makes the error for a key that several rows have.

    Args:
        name: Key that was given.
        titles: Names of the rows. Equal names do not distinguish the rows.
    """
    left = len(titles) - _MOST_NAMED
    listed = ", ".join(titles[:_MOST_NAMED]) + (f" and {left:,} more" if left > 0 else "")
    hint = "" if len({*titles}) == len(titles) else "; use list(...) and a number"
    return KeyError(f"{name!r} names {len(titles):,} rows: {listed}{hint}")


#: Names of methods of other libraries that make a data frame or a picture.
_FRAMES = {"to_pandas", "to_polars", "to_df", "to_frame", "to_dataframe", "dataframe", "df", "pandas"}
_PLOTS = {"hist", "boxplot", "scatter"}


def missing_attribute_hint(name: str, columns_call: str) -> str:
    """Returns a hint for an attribute that other libraries have, or an empty text.

    Args:
        name: Name of the attribute.
        columns_call: Call that returns columns as arrays; empty for an object without columns.
    """
    if not columns_call or name not in _FRAMES | _PLOTS:
        return ""
    used = f"pandas.DataFrame({columns_call})" if name in _FRAMES else f"plot(), or the arrays of {columns_call}"
    return f"; use {used}"


def nearest(name: str, known: Iterable[str]) -> str:
    """Returns a hint that offers the nearest known value, or else all of them."""
    known = list(known)
    meant = closest(name, known)
    return f"Known: {', '.join(known)}." if meant is None else f"Did you mean {meant!r}?"
