"""Words of a command line: the parameter of each word, and corrected commands."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Sequence

import click

from fastrnns_rs.cli.options import ListOption, OptionalValueOption, dashed
from fastrnns_rs.cli.renamed_options import RENAMED

PROGRAM = "fastrnns-rs"


class CommandWords:
    """Words of a command line after the name of the command.

    Args:
        command: Command that the words are for.
        words: Words as they were typed.
    """

    def __init__(self, command: click.Command, words: Sequence[str]) -> None:
        self.command = command
        self.words = [*words]
        self.owners = [*_owners(command, self.words)]

    def owner(self, value: object, preferred: click.Parameter | None) -> click.Parameter | None:
        """Returns the parameter that has a value; None if no word contains the value."""
        found = [owner for word, owner in zip(self.words, self.owners, strict=True) if _has(word, owner, value)]
        return preferred if preferred in found else next((owner for owner in found if owner is not None), None)

    def position(self, value: object, argument: click.Parameter) -> int:
        """Returns the position of a value among the words of an argument."""
        mine = [word for word, owner in zip(self.words, self.owners, strict=True) if owner is argument]
        return next((index for index, word in enumerate(mine) if _has(word, argument, value)), len(mine))

    def has(self, value: object, owner: click.Parameter | None) -> bool:
        """Returns True if a parameter has a value."""
        return any(one is owner and _has(word, one, value) for word, one in zip(self.words, self.owners, strict=True))

    def corrected(self, value: object, correction: str, owner: click.Parameter | None) -> str | None:
        """Returns the command with one value replaced.

        Returns:
            None if no word of the parameter contains the value.
        """
        for index, (word, one) in enumerate(zip(self.words, self.owners, strict=True)):
            if one is owner and _has(word, one, value):
                changed = _replaced(word, one, value, correction)
                return self.make_command([*self.words[:index], changed, *self.words[index + 1 :]])
        return None

    def without(self, unwanted: Sequence[str]) -> str:
        """Returns the command without some words."""
        words = [*self.words]
        for word in reversed(unwanted):
            del words[len(words) - 1 - words[::-1].index(word)]
        return self.make_command(words)

    def make_command(self, words: Sequence[str]) -> str:
        """Returns a command with other words, to copy into a shell."""
        from fastrnns_rs.views.text import shell_word

        verb = [] if isinstance(self.command, click.Group) else [str(self.command.name)]
        return " ".join(map(shell_word, [PROGRAM, *verb, *words]))


def _owners(command: click.Command, words: Sequence[str]) -> Iterator[click.Parameter | None]:
    """Yields the parameter of each word; None for unknown options."""
    options = {
        dashed(name): param
        for param in command.params
        if isinstance(param, click.Option)
        for name in (*param.opts, *param.secondary_opts)
    }
    # Words are those that were typed, with old names of options.
    options |= {old: options[new] for old, new in RENAMED.get(str(command.name), {}).items() if new in options}
    argument = next((param for param in command.params if isinstance(param, click.Argument)), None)
    taker: click.Option | None = None
    taken = False
    flags = True
    for word in words:
        is_flag = flags and len(word) > 1 and word.startswith("-")
        # Lists take negative integers.
        is_flag = is_flag and not (isinstance(taker, ListOption) and word[1:].isdecimal())
        if taker is not None and (not is_flag or not _is_optional(taker)):
            yield taker
            taker = taker if isinstance(taker, ListOption) else None
        elif not is_flag:
            yield argument
        else:
            flags = word != "--"
            name, taken, _ = dashed(word).partition("=")  # type: ignore[assignment]
            option = options.get(name)
            yield option
            valued = option is not None and not (option.is_flag or option.count or taken)
            taker = option if valued else None


def _is_optional(option: click.Option) -> bool:
    return isinstance(option, (ListOption, OptionalValueOption))


def _parts(word: str, owner: click.Parameter | None) -> tuple[str, str]:
    """Returns the flag and `=` of a word, and the value after them."""
    if owner is None or isinstance(owner, click.Argument) or not word.startswith("-") or "=" not in word:
        return "", word
    flag, equals, value = word.partition("=")
    return flag + equals, value


def _has(word: str, owner: click.Parameter | None, value: object) -> bool:
    _, given = _parts(word, owner)
    text = _text(value)
    return text is not None and (word == text or _is_same_path(given, text) or text in _tokens(given))


def _replaced(word: str, owner: click.Parameter | None, value: object, correction: str) -> str:
    """Returns a word with a value replaced that the word contains."""
    flag, given = _parts(word, owner)
    text = _text(value) or ""
    if word == text:
        return correction
    if _is_same_path(given, text):
        return flag + correction
    tokens = _tokens(given)
    tokens[tokens.index(text)] = correction
    return flag + "".join(tokens)


def _text(value: object) -> str | None:
    if isinstance(value, (str, os.PathLike)):
        return os.fsdecode(os.fspath(value))
    return None if value is None else str(value)


def _tokens(text: str) -> list[str]:
    """Returns the parts of a list or an assignment, with the separators."""
    return re.split(r"([,= ]|[<>!~]=?)", text)


def _is_same_path(first: str, second: str) -> bool:
    return first == second or (bool(first and second) and os.path.normpath(first) == os.path.normpath(second))
