"""Fake profilers: programs that answer as nsys and nvprof do, and otherwise do what a test has written for them.

A fake runs this very file, which therefore needs nothing but the standard library.
"""

from __future__ import annotations

import json
import os
import shlex
import sqlite3
import subprocess
import sys
import time
from collections.abc import Iterable
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Any

#: Options that each version has.
USUAL = ("--trace", "--sample", "--output", "--force-overwrite", "--kill", "--export", "--stats")
_OF_2022 = "--cpuctxsw --capture-range --capture-range-end --cuda-graph-trace --wait"
#: How versions of nsys print themselves, and options of `profile` that not all of them have.
NSYS_VERSIONS = {
    "2020.3": ("2020.3.4.32-52657a0", "--capture-range --stop-on-range-end"),
    "2021.2": ("2021.2.4.12-42f2f4b", "--cpuctxsw --capture-range --stop-on-range-end --wait"),
    "2022.4": ("2022.4.2.1-df9881f", _OF_2022),
    "2024.6": ("2024.6.2.225-246235244400v0", f"{_OF_2022} --discard-environment"),
    "2025.3": ("2025.3.2.474-253236389321v0", f"{_OF_2022} --discard-environment"),
}
_COPYRIGHT = "Copyright (c) 2012 - 2022 NVIDIA Corporation"


def program(path: Path, steps: dict[str, str]) -> Path:
    """Makes a program of Python statements, one text for each verb; the name `call` stands for the `Call`."""
    path.parent.mkdir(parents=True, exist_ok=True)
    script = path.with_name(f".{path.name}.json")
    script.write_text(json.dumps(steps))
    words = [sys.executable, "-IS", str(Path(__file__).resolve()), str(script)]
    path.write_bytes(os.fsencode(f'#!/bin/sh\nexec {shlex.join(words)} "$@"\n'))
    path.chmod(0o755)
    return path


def nsys(path: Path, number: str = "2022.4", importer: str | None = None, **steps: str) -> Path:
    """A program that answers as this version of nsys; without other statements it captures and exports.

    Args:
        path: Where it goes.
        number: A key of `NSYS_VERSIONS`, or a version of its own.
        importer: What the importer beside it does; None for no importer.
        steps: Statements for `version`, `help`, `profile`, `export` and `stats`.
    """
    number, options = NSYS_VERSIONS.get(number, (number, NSYS_VERSIONS["2022.4"][1]))
    described = (f"\t{option}=\n\n\t   What it does; see also --help.\n\n" for option in [*USUAL, *options.split()])
    shown = "usage: nsys profile [<args>] [application]\n" + "".join(described)
    standard = {
        "version": f"print('NVIDIA Nsight Systems version {number}')",
        "help": f"print({shown!r})",
        "profile": "call.run(); call.report()",
        "export": "call.export()",
        "stats": "print('a table of nsys')",
    }
    if importer is not None:
        program(path.parent.parent / "host-linux-x64" / "QdstrmImporter", {"import": importer})
    return program(path, {**standard, **steps})


def nvprof(path: Path, number: str = "11.8.87 (21)", **steps: str) -> Path:
    """The same for nvprof; without other statements it captures and prints tables."""
    shown = "  -f, --force-overwrite\n  -o, --export-profile <filename>\n      --profile-from-start <on|off>\n"
    printed = f"nvprof: NVIDIA (R) Cuda command line profiler\n{_COPYRIGHT}\nRelease version {number}"
    standard = {
        "version": f"print({printed!r})",
        "help": f"print({shown!r})",
        "profile": "call.run(); call.profile()",
        "import": "Path(call.option('--log-file').replace('%%', '%')).write_text('==1== Profiling result:\\nTime(%)')",
    }
    return program(path, {**standard, **steps})


def at_first(counter: Path, times: int, statements: str) -> str:
    """Statements that are done the first so many times only; each time adds a letter to a file."""
    return f"""
counter = Path({str(counter)!r}); said = counter.read_text() if counter.exists() else ""; counter.write_text(said + "x")
if len(said) < {times}:
    {statements}
"""


@dataclass
class Call:
    """What a fake was asked to do, and what it can do about it."""

    words: list[str]

    def option(self, name: str) -> str:
        """The value of an option of its own."""
        for index, word in enumerate(self.words):
            if word == name:
                return self.words[index + 1]
            if word.startswith(f"{name}="):
                return word.partition("=")[2]
        raise KeyError(name)

    @property
    def stem(self) -> Path:
        """The path of what it writes, without suffixes."""
        name = "--export-profile" if "--export-profile" in self.words else "--output"
        # One percent sign would begin a placeholder.
        return Path(self.option(name).removesuffix(".nvvp").replace("%%", "%"))

    @property
    def command(self) -> list[str]:
        """What it is to run."""
        return self.words[next(index for index, word in enumerate(self.words) if Path(word).is_absolute()) :]

    def file(self, suffix: str) -> Path:
        """A file beside the others."""
        return self.stem.with_name(self.stem.name + suffix)

    def run(self) -> int:
        """Runs the real command."""
        return subprocess.call(self.command)

    def pretend(self, **changes: Any) -> None:
        """Writes the answer of a command that ran, without running it."""
        runners = [
            {
                "name": name,
                "status": "ok",
                "reason": None,
                "phases": ["forward", "backward"],
                "forward_ns": [1000] * self.iterations,
                "backward_ns": [1000] * self.iterations,
                **changes,
            }
            for name in self.names
        ]
        self.answer({"runners": runners, "cycles": [], "warnings": [], "finished": True})

    def answer(self, content: Any) -> None:
        """Writes an answer."""
        self._answer.write_text(json.dumps(content))

    @property
    def names(self) -> list[str]:
        """The runners of the command."""
        return [word.removeprefix("--runner=") for word in self.command if word.startswith("--runner=")]

    @property
    def iterations(self) -> int:
        """How often the command runs each."""
        return int(self.command[self.command.index("--nloops") + 1])

    def ranges(self) -> list[str]:
        """The ranges of all runners that went well."""
        try:
            runners = json.loads(self._answer.read_text())["runners"]
        except (OSError, ValueError):
            return []
        return [
            f"{one['name']}/{phase}/{count}"
            for one in runners
            if one["status"] == "ok"
            for phase in one["phases"]
            for count in range(self.iterations)
        ]

    def report(self, suffix: str = ".nsys-rep", **content: Any) -> None:
        """Writes a report, in a form that only `export` understands."""
        self.file(suffix).write_text(json.dumps({"ranges": self.ranges(), "kernels": 3, **content}))

    def export(self, **changes: Any) -> None:
        """Makes a SQLite file of a report."""
        content = json.loads(Path(self.words[-1]).read_text())
        nsys_database(Path(self.option("--output")), **{**content, **changes})

    def to_report(self) -> None:
        """Makes a report of a raw capture."""
        Path(self.option("--output-file")).write_bytes(Path(self.option("--input-file")).read_bytes())

    def profile(self, **changes: Any) -> None:
        """Writes what nvprof writes."""
        nvprof_database(self.file(".nvvp"), **{"ranges": self.ranges(), "kernels": 3, **changes})

    @property
    def _answer(self) -> Path:
        return Path(self.command[self.command.index("--answer") + 1])


def nsys_database(
    path: Path,
    ranges: Iterable[str] = (),
    *,
    kernels: int = 0,
    graphs: int = 0,
    by_id: bool = False,
    unended: Iterable[str] = (),
    strings: Iterable[str] = (),
    diagnostics: Iterable[str] | None = None,
    kind: int = 60,
    more: str = "",
) -> Path:
    """Writes what nsys exports, as far as anybody here reads it.

    Args:
        path: The file.
        ranges: Names of ranges.
        kernels: How many.
        graphs: How many CUDA graphs, each traced as a whole.
        by_id: Names stand in the table of strings.
        unended: Ranges that have no end.
        strings: Further strings.
        diagnostics: What stands in the table of diagnostics; None for a version that has none.
        kind: The ranges' type; 60 is what a start and an end make.
        more: Further statements.
    """
    path.unlink(missing_ok=True)
    with closing(sqlite3.connect(path)) as database:
        database.executescript(
            "PRAGMA synchronous = OFF; PRAGMA journal_mode = MEMORY;"
            "CREATE TABLE StringIds (id INTEGER NOT NULL PRIMARY KEY, value TEXT NOT NULL);"
            "CREATE TABLE NVTX_EVENTS (start INTEGER NOT NULL, end INTEGER, eventType INTEGER NOT NULL, text TEXT,"
            " textId INTEGER, globalTid INTEGER);"
        )
        for text in strings:
            database.execute("INSERT INTO StringIds (value) VALUES (?)", (text,))
        for index, (name, end) in enumerate([*((name, 1) for name in ranges), *((name, None) for name in unended)]):
            found = None
            if by_id:
                found = database.execute("INSERT INTO StringIds (value) VALUES (?)", (name,)).lastrowid
            row = (index, end and index + 1, kind, None if by_id else name, found)
            columns = "start, end, eventType, text, textId"
            database.execute(f"INSERT INTO NVTX_EVENTS ({columns}) VALUES (?, ?, ?, ?, ?)", row)
        for table, count in (("KERNEL", kernels), ("GRAPH_TRACE", graphs)):
            if count:
                database.execute(f"CREATE TABLE CUPTI_ACTIVITY_KIND_{table} (start INTEGER NOT NULL)")
                rows = [(number,) for number in range(count)]
                database.executemany(f"INSERT INTO CUPTI_ACTIVITY_KIND_{table} VALUES (?)", rows)
        if diagnostics is not None:
            database.execute("CREATE TABLE DIAGNOSTIC_EVENT (timestamp INTEGER, severity INTEGER, text TEXT NOT NULL)")
            database.executemany("INSERT INTO DIAGNOSTIC_EVENT VALUES (0, 1, ?)", [(text,) for text in diagnostics])
        database.executescript(more)
        database.commit()
    return path


def nvprof_database(
    path: Path, ranges: Iterable[str] = (), *, kernels: int = 0, unended: Iterable[str] = (), more: str = ""
) -> Path:
    """Writes what nvprof exports, as far as anybody here reads it; the arguments are those of `nsys_database`."""
    path.unlink(missing_ok=True)
    with closing(sqlite3.connect(path)) as database:
        database.executescript(
            "PRAGMA synchronous = OFF; PRAGMA journal_mode = MEMORY;"
            "CREATE TABLE StringTable (_id_ INTEGER PRIMARY KEY, value TEXT NOT NULL);"
            "INSERT INTO StringTable VALUES (0, '-- null --');"
            "CREATE TABLE CUPTI_ACTIVITY_KIND_MARKER (_id_ INTEGER PRIMARY KEY, flags INT, timestamp INT, id INT,"
            " objectKind INT, objectId BLOB, name INT, domain INT);"
            "CREATE TABLE CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL (start INT);"
        )
        for index, (name, ended) in enumerate(
            [*((name, True) for name in ranges), *((name, False) for name in unended)]
        ):
            found = database.execute("INSERT INTO StringTable (value) VALUES (?)", (name,)).lastrowid
            # The end carries no name.
            for flags, text in ((2, found), *([(4, 0)] if ended else [])):
                row = (flags, index * 10 + flags, index, text)
                columns = "flags, timestamp, id, name"
                database.execute(f"INSERT INTO CUPTI_ACTIVITY_KIND_MARKER ({columns}) VALUES (?, ?, ?, ?)", row)
        rows = [(number,) for number in range(kernels)]
        database.executemany("INSERT INTO CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL VALUES (?)", rows)
        database.executescript(more)
        database.commit()
    return path


def _verb(words: list[str]) -> str:
    if words[:1] == ["--version"]:
        return "version"
    if "--help" in words[:2]:
        return "help"
    if "--import-profile" in words or "--input-file" in words:
        return "import"
    return words[0] if words[0] in {"profile", "export", "stats"} else "profile"


def main() -> None:
    """Does what stands in a script for this verb."""
    script, *words = sys.argv[1:]
    steps = json.loads(Path(script).read_text())
    exec(steps[_verb(words)], {"call": Call(words), "Path": Path, "sys": sys, "time": time})


if __name__ == "__main__":
    main()
