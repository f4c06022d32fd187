"""Faults of the core: an ordinary exception that names the place, and nothing else on the terminal."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import threading

import pytest
from commands import finished
from conftest import ROOT

from fastrnns_rs import _core

#: Functions that cannot panic, and why they are not guarded.
UNGUARDED = {
    # The timed loop calls it: a load, a comparison and two stores.
    "mark",
}


@pytest.mark.parametrize("in_pool", [False, True])
def test_a_panic_is_an_ordinary_exception_that_names_the_place(in_pool: bool) -> None:
    with pytest.raises(RuntimeError) as caught:
        _core._panic("planted\n  in a test", in_pool=in_pool)
    message = str(caught.value)
    assert re.fullmatch(r"bug in fastrnns-rs: planted in a test \(src/\S+\.rs:\d+\); please report it .+", message)
    assert type(caught.value) is RuntimeError
    # The next call is not affected.
    assert _core.kernel_category("ampere_sgemm_128x64_tn") == "gemm"


def test_a_panic_on_another_thread_is_that_threads() -> None:
    found: list[str] = []

    def fail(message: str) -> None:
        try:
            _core._panic(message, in_pool=True)
        except RuntimeError as error:
            found.append(str(error))

    threads = [threading.Thread(target=fail, args=(f"number {place}.",)) for place in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(re.findall(r"number \d\.", " ".join(found))) == [f"number {place}." for place in range(4)]


@pytest.mark.parametrize("variable", ["", "RUST_BACKTRACE", "FASTRNNS_DEBUG"])
def test_rust_prints_only_where_somebody_debugs(variable: str) -> None:
    environment = {name: value for name, value in os.environ.items() if name != "RUST_BACKTRACE"}
    code = "from fastrnns_rs import _core\ntry: _core._panic('planted')\nexcept RuntimeError: print('caught')"
    done = subprocess.run(
        [sys.executable, "-c", code],
        capture_output=True,
        text=True,
        check=True,
        env={**environment, **({variable: "1"} if variable else {})},
    )
    assert done.stdout == "caught\n"
    assert ("panicked at src/" in done.stderr) == bool(variable)
    assert variable or not done.stderr


def test_every_exported_function_is_guarded() -> None:
    """PyO3 makes a `PanicException` of what gets past, which `except Exception` does not catch."""
    paths = [*(ROOT / "src" / "python").rglob("*.rs"), ROOT / "src" / "results" / "python.rs"]
    guarded = 0
    for path in paths:
        text = path.read_text()
        exported = [match.end() for match in re.finditer(r"#\[pyfunction\]", text)]
        for match in re.finditer(
            r"^( *)#\[(?:pyo3::)?pymethods\]\n *impl \S+ \{\n(.*?)^\1\}", text, re.MULTILINE | re.DOTALL
        ):
            indent = " " * (len(match[1]) + 4)
            exported += [match.start(2) + one.start() for one in re.finditer(rf"^{indent}fn ", match[2], re.MULTILINE)]
        for place in exported:
            head = re.compile(r"\bfn (\w+)").search(text, place)
            assert head, path
            # The body begins behind the brace that ends a line.
            body = text[text.index("{\n", head.end()) + 2 :].lstrip()
            is_guarded = re.match(
                r"(?:use [\w:]+;\s+)?(?:\$crate::guard::)?guarded(?:_value)?\((?:\|\||[\w:]+\)$)", body, re.MULTILINE
            )
            assert (head[1] in UNGUARDED) != bool(is_guarded), f"{path}: {head[1]}"
            guarded += bool(is_guarded)
    assert guarded > 60


def test_the_release_unwinds() -> None:
    """A profile that aborts would end the interpreter."""
    assert "panic" not in (ROOT / "Cargo.toml").read_text()


#: Ends while a daemon thread computes, and takes some time to end.
_ENDING = """
import builtins, threading, time
import numpy as np
from fastrnns_rs import stats

class Late:
    def __del__(self, sleep=time.sleep):
        sleep(0.3)

builtins.late, begun = Late(), threading.Event()
values = np.random.default_rng(0).normal(size=1000)

def work():
    begun.set()
    stats.bootstrap_ci(values, resamples=10**8, threads=1)

threading.Thread(target=work, daemon=True).start()
begun.wait()
"""


def test_a_daemon_thread_does_not_panic_as_the_interpreter_ends() -> None:
    # A race: without the mend every other process panicked.
    for _ in range(5):
        done = finished([sys.executable, "-c", _ENDING])
        assert (done.status, done.stderr) == (0, "")
