"""Search for private data: variables, user folders, user and host names.

The search works on bytes, because a variable need not be UTF-8.
"""

from __future__ import annotations

import getpass
import json
import os
import platform
import pwd
import re
import sys
from collections.abc import Collection, Iterable, Iterator, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Literal, NamedTuple
from urllib.parse import quote, unquote

REDACTED = "[redacted]"
#: Kind of the searched text. Prose is written by fastrnns-rs: more is removed there, since no program reads it.
Form = Literal["database", "table", "json", "prose"]

#: A shorter variable, such as `_=1`, may occur in any text.
_SHORTEST = 8
_LETTER = rb"[A-Za-z0-9\x80-\xff]"
#: End of a folder's name, so that it does not match part of a longer name.
_ENDS = rb"(?![\w\x80-\xff-]|\.[\w\x80-\xff])"
#: Part of a path around a name.
_PART = rb'[^/"\\\s:,;()\[\]]*'
#: Folders that occur in path lists on every machine.
_COMMON = ("/usr/", "/bin", "/sbin", "/lib", "/opt/", "/etc/")
#: Changes of names by kineto, which differ between its versions: dropped line feeds, other quotes, other slashes.
_KINETO = [
    str.maketrans({**lines, **quotes, **slashes})
    for lines in ({}, {"\n": ""})
    for quotes in ({}, {'"': "'"})
    for slashes in ({}, {"\\": "/"})
]
#: Characters of a name that torch's tables show at most; three dots replace the others.
_LONGEST_NAME = 52
#: Characters of a path that are searched after three dots: twice the 72 that torch's tables show at most.
_LONGEST_PATH = 144
#: A shorter beginning may be that of any text.
_SHORTEST_BEGINNING = 4
#: Names of variables whose value is replaced even if it is a single word or a number.
_SECRET_NAME = re.compile("auth|cred|key|pass|private|pwd|salt|secret|token", re.IGNORECASE)
#: Password in an address, such as `https://user:password@host`.
_PASSWORD = re.compile(r"://[^/@:\s]*:([^/@\s]+)@")
#: Name in an address without a password, such as `https://token@host`.
_TOKEN = re.compile(r"://([^/@:\s]+)@")
#: Text that JSON may contain outside of strings: numbers and lists of numbers.
_BARE = re.compile(rb"(?:[0-9eE.+\-\s,:\[\]{}]|true|false|null|NaN|Infinity)+")
#: Rest of a string in JSON: the next quote ends it. After a number, the next quote begins a key.
_IN_STRING = rb'(?=(?:[^"\\]|\\.)*+"\s*+[]},:])'
#: Parts of range names, which look like paths.
_RANGE_NAMES = re.compile(r"forward|backward|\d*")


class Rule(NamedTuple):
    """Rule for private data.

    Attributes:
        literal: Bytes for a fast search.
        pattern: Pattern for the exact search.
        placeholder: Replacement.
    """

    literal: bytes
    pattern: re.Pattern[bytes]
    placeholder: bytes


def rules(variables: Mapping[str, str], form: Form, *places: Path) -> list[Rule]:
    """Returns the rules for private data, in order of application.

    Args:
        variables: Environment variables of the profiled process.
        form: Kind of the searched text.
        places: Folders of the capture, which become `.`.
    """
    folders = _folders(variables, places)
    machine = platform.node()
    texts = [f"{name}={value}" for name, value in variables.items()] + [machine]
    texts += filter(_is_telling, [machine.partition(".")[0]])
    values = [part for value in variables.values() for part in (value, *_lines(value))]
    texts += [value for value in values if form == "prose" or _is_telling(value)]
    texts += _secrets(variables)
    found = {text: Rule(text, _exactly(text, form), REDACTED.encode()) for text in _spelled(texts, form)}
    found = {text: rule for text, rule in found.items() if len(text) >= _SHORTEST}
    # A short password may occur in any text, but not as part of an address.
    passwords = [f":{one}@" for value in variables.values() for one in _PASSWORD.findall(value)]
    found |= {text: Rule(text, _exactly(text, form), f":{REDACTED}@".encode()) for text in _spelled(passwords, form)}
    for name, placeholder in folders.items():
        for text in _spelled([name], form):
            found[text] = Rule(text, re.compile(re.escape(text) + _ENDS), placeholder.encode())
    # The longest text comes first: a folder inside the home folder must match before the home folder.
    ordered = sorted(found.values(), key=lambda rule: -len(rule.literal))
    cut = []
    if form == "table":
        cut = [_cut_beginnings([*map(_encoded, folders), *(b"/" + name for name in _names())]), _cut_ends(found)]
    return [*ordered, *cut, *_name_rules(form)]


def hide(content: bytes, found: Iterable[Rule]) -> bytes:
    """Returns the content with all matches of the rules replaced."""
    for rule in found:
        if rule.literal in content:
            content = rule.pattern.sub(rule.placeholder.replace(b"\\", rb"\\"), content)
    return content


def hide_text(text: str, found: Iterable[Rule]) -> str:
    """Returns the text with all matches of the rules replaced."""
    return hide(_encoded(text), found).decode("utf-8", "surrogateescape")


def _encoded(text: str) -> bytes:
    try:
        return os.fsencode(text)
    except UnicodeEncodeError:
        return text.encode("utf-8", "backslashreplace")


def _spelled(texts: Collection[str], form: Form) -> Iterator[bytes]:
    """Yields the spellings of each text in a form.

    In JSON, a quote without a backslash would be part of the syntax. Torch changes names instead of escaping them. A
    name may itself have JSON, whatever the form.
    """
    in_json = [json.dumps(text, ensure_ascii=ascii_only)[1:-1] for text in texts for ascii_only in (True, False)]
    for text in dict.fromkeys([*texts, *in_json]):
        spelled = [text]
        if form == "json":
            changed = (text.translate(table) for table in _KINETO)
            spelled = [
                json.dumps(one, ensure_ascii=ascii_only)[1:-1] for one in changed for ascii_only in (True, False)
            ]
        elif form == "prose":
            # Spellings of a shell, of Python's `repr`, and on one line.
            spelled += [text.replace("'", "'\"'\"'"), repr(text)[1:-1], " ".join(text.split())]
        yield from filter(None, map(_encoded, spelled))


def _exactly(text: bytes, form: Form) -> re.Pattern[bytes]:
    """Returns the pattern of a text.

    In JSON, a number or a list of numbers matches within strings only.
    """
    within = _IN_STRING if form == "json" and _BARE.fullmatch(text) else b""
    return re.compile(re.escape(text) + within)


def _secrets(variables: Mapping[str, str]) -> Iterator[str]:
    """Yields values whose variable suggests a secret, and parts of addresses.

    The parts are passwords and tokens. All are also yielded as an address writes them.
    """
    for name, value in variables.items():
        found = [value, *_lines(value)] if _SECRET_NAME.search(name) else []
        found += [*_PASSWORD.findall(value), *filter(_is_telling, _TOKEN.findall(value))]
        for one in found:
            # Bytes that are not UTF-8 are kept.
            yield from (one, unquote(one, errors="surrogateescape"), quote(os.fsencode(one), safe=""))


def _lines(value: str) -> list[str]:
    """Returns the lines of a value: a program may use each."""
    lines = [line.strip() for line in value.splitlines()]
    return [line for line in lines if len(_encoded(line)) >= _SHORTEST] if lines[1:] else []


def _is_telling(value: str) -> bool:
    """Returns True if a value is more than a word or a number.

    Words and numbers occur in any trace. They are replaced if the name of their variable suggests a secret.
    """
    return bool(re.search(r"[^\W\deE]|/", value) and re.search(r"[^A-Za-z_]", value))


def _folders(variables: Mapping[str, str], places: Iterable[Path]) -> dict[str, str]:
    """Returns folders and their replacements."""
    found = {str(place): "." for place in places}
    home = os.path.expanduser("~")  # noqa: PTH111
    for one in (home, os.path.realpath(home)):
        found.setdefault(one.rstrip("/"), "~")
    others = [f"/home/{name}" for name in _users()]
    with suppress(KeyError):
        others.append(pwd.getpwuid(os.getuid()).pw_dir)
    with suppress(OSError):
        others.append(os.getcwd())  # noqa: PTH109
    interpreter = (sys.prefix, sys.base_prefix, os.path.dirname(sys.executable))  # noqa: PTH120
    others += [one for one in interpreter if one.count("/") > 1 and not f"{one}/".startswith(_COMMON)]
    for value in variables.values():
        others += [value] if value.startswith("/") and value.rstrip("/").count("/") > 1 else []
        listed = value.split(os.pathsep)
        others += [one for one in listed if one.count("/") > 1 and one[0] == "/" and not one.startswith(_COMMON)]
    for one in others:
        found.setdefault(one.rstrip("/"), REDACTED)
    # Absolute paths begin with "/". Names of ranges only contain it.
    return {one: placeholder for one, placeholder in found.items() if one.startswith("/")}


def _users() -> set[str]:
    found = set()
    with suppress(KeyError, OSError):
        found.add(getpass.getuser())
    with suppress(KeyError):
        found.add(pwd.getpwuid(os.getuid()).pw_name)
    return {name for name in found if name}


def _names() -> set[bytes]:
    """Returns the names of users and of the machine, with and without its domain."""
    machine = platform.node()
    names = {*_users(), machine, machine.partition(".")[0]}
    return {_encoded(name) for name in names if len(name) > 1 and not _RANGE_NAMES.fullmatch(name)}


def _name_rules(form: Form) -> Iterator[Rule]:
    """Yields the rules for names of users and of the machine.

    In data, only parts of paths match: a bare "root" occurs in many texts.
    """
    for name in sorted(_names(), key=len, reverse=True):
        word = rb"(?<!" + _LETTER + rb")" + re.escape(name) + rb"(?!" + _LETTER + rb")"
        pattern = word if form == "prose" else rb"(?<=/)" + _PART + word + _PART
        yield Rule(name, re.compile(pattern), REDACTED.encode())


def _cut_beginnings(folders: Iterable[bytes]) -> Rule:
    """Returns the rule for long paths, which torch's tables cut at the beginning.

    Three dots replace the missing part.
    """
    # Each end is in the pattern. All ends of a path list, such as `PATH`, would have gigabytes.
    shown = {folder.decode("utf-8", "surrogateescape")[-_LONGEST_PATH:] for folder in folders}
    ends = {one[start:].encode("utf-8", "surrogateescape") for one in shown for start in range(len(one))}
    # The longest end comes first: a short end may match another folder too.
    pattern = b"|".join(map(re.escape, sorted(ends, key=len, reverse=True)))
    return Rule(b"...", re.compile(rb"\.\.\.(?:" + pattern + rb")(?=/)"), f"...{REDACTED}".encode())


def _cut_ends(texts: Iterable[bytes]) -> Rule:
    """Returns the rule for texts in long names, which torch's tables cut at the end.

    Three dots replace the missing part.
    """
    shown = {text.decode("utf-8", "surrogateescape")[:_LONGEST_NAME] for text in texts}
    pattern = b"|".join(_beginning(one) for one in sorted(shown) if len(one) > _SHORTEST_BEGINNING)
    return Rule(b"...", re.compile(rb"(?:" + pattern + rb")\.\.\."), f"{REDACTED}...".encode())


def _beginning(text: str) -> bytes:
    """Returns the pattern of a text's beginnings."""
    rest = b""
    for character in reversed(text[_SHORTEST_BEGINNING:]):
        rest = b"(?:" + re.escape(_encoded(character)) + rest + b")?"
    return re.escape(_encoded(text[:_SHORTEST_BEGINNING])) + rest
