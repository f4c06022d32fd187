"""Shows that two builds write the same JSON documents: `scripts/same_documents.py OLD NEW [CAPTURE...]`.

OLD and NEW are two programs `fastrnns-rs`. Each command below runs twice with OLD and once with NEW. What differs
between the two runs of OLD, such as times and loads, is compared by type alone, everything else value by value. Keys
that only NEW writes are listed and count as no difference, for a minor version may add them; nor does `schema_version`.
"""

from __future__ import annotations

import json
import shlex
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

SIZES = shlex.split("--seq-length 4 --hidden-size 8 --device cpu --threads 1 --json")
LOOP = shlex.split("--processes 3 --nloops 5 --warmup 2")
#: A small run that every command after it reads.
BENCH = [*shlex.split("bench --group rnns --rnns aten py"), *LOOP, *SIZES]

#: Commands that measure anew each time.
MEASURED = {"bench", "ab", "inductor"}

Flat = dict[str, Any]


def commands(run: Path, other: Path, captures: list[Path]) -> dict[str, list[str]]:
    """The arguments of every command, by a name for it."""
    found = {
        "bench": BENCH,
        "show": ["show", str(run), "--json"],
        "compare": ["compare", str(run), str(other), "--json"],
        "compare one side": ["compare", str(run), str(run), "--json"],
        "ab": ["ab", "aten", "py", *LOOP, *SIZES],
        "verify": ["verify", "--rnns", "aten", "py", "jit", *SIZES],
        "list": ["list", "--json"],
        "doctor": ["doctor", "--json"],
        "inductor": shlex.split("inductor --runner compile_cell --quick --device cpu --times 2 --repeat 3 --json"),
    }
    found |= {f"report {path.name}": ["report", str(path), "--json"] for path in captures}
    if len(captures) > 1:
        found["compare captures"] = ["compare", str(captures[0]), str(captures[1]), "--json", "--force"]
    return found


def document(program: str, arguments: list[str]) -> Flat:
    """Runs a command and returns its document, each value by its path."""
    done = subprocess.run([program, *arguments], capture_output=True, text=True, check=False)
    try:
        return dict(flat(json.loads(done.stdout), ""))
    except json.JSONDecodeError:
        return {"exit code": done.returncode, "standard error": done.stderr}


def flat(value: Any, path: str) -> list[tuple[str, Any]]:
    """The scalars of a document; an empty list or object is one."""
    if isinstance(value, dict) and value:
        return [pair for key, one in value.items() for pair in flat(one, f"{path}.{key}")]
    if isinstance(value, list) and value:
        return [pair for place, one in enumerate(value) for pair in flat(one, f"{path}[{place}]")]
    return [(path, value)]


def differences(old: Flat, again: Flat, new: Flat, *, measured: bool) -> tuple[list[str], list[str]]:
    """Returns the differences and the keys that only the new build writes; compares only types of new measurements."""
    wrong = []
    for path, value in old.items():
        if path.endswith("schema_version"):
            continue
        volatile = measured or again.get(path, ...) != value
        if path not in new:
            # Lists of what a machine did by chance may be shorter.
            if path in again:
                wrong.append(f"{path}: missing, was {value!r}")
        elif volatile:
            if not isinstance(new[path], type(value) | type(again.get(path)) | int | float | None):
                wrong.append(f"{path}: {value!r} became {new[path]!r}")
        elif new[path] != value:
            wrong.append(f"{path}: {value!r} became {new[path]!r}")
    return wrong, [path for path in new if path not in old and path not in again]


def main() -> None:
    """Compares every document; the exit code is 1 where one differs."""
    old, new, *captures = sys.argv[1:]
    failed = False
    with tempfile.TemporaryDirectory() as folder:
        run, other = Path(folder) / "a.json", Path(folder) / "b.json"
        for path in (run, other):
            with path.open("w") as file:
                subprocess.run([old, *BENCH], stdout=file, check=True)
        for name, arguments in commands(run, other, [Path(one) for one in captures]).items():
            before, again = document(old, arguments), document(old, arguments)
            wrong, added = differences(before, again, document(new, arguments), measured=name in MEASURED)
            print(f"{name}: {len(before)} values, {len(wrong)} differ, {len(added)} new", flush=True)
            for line in wrong[:20]:
                print(f"  {line}")
            for path in added[:20]:
                print(f"  new: {path}")
            # Two errors that are equal show nothing.
            failed = failed or bool(wrong) or "exit code" in before
    sys.exit(failed)


if __name__ == "__main__":
    main()
