"""`fastrnns-rs` in tests: in this process, or in one of its own, with real workers or with pretended ones."""

from __future__ import annotations

import io
import json
import os
import subprocess
import sys
import sysconfig
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import pretended_workers
import pytest
from facts import FACTS

from fastrnns_rs import cli
from fastrnns_rs.cli import shared
from fastrnns_rs.machine import environment
from fastrnns_rs.machine.facts import Facts
from fastrnns_rs.processes.launcher import Executor
from fastrnns_rs.runners import registry


@dataclass(frozen=True)
class Done:
    """The output of a command and its exit status."""

    status: int
    stdout: str
    stderr: str

    def json(self) -> Any:
        return json.loads(self.stdout)


def run_cli(
    *arguments: object, cwd: Path | None = None, executor: Executor | None = None, **variables: str | Path
) -> Done:
    """Runs `fastrnns-rs` in this process, which starts in a few milliseconds."""
    if "PYTHONPATH" in variables:
        # Python reads it when it starts.
        return run_process(*arguments, cwd=cwd, **variables)
    out, err = (io.TextIOWrapper(io.BytesIO(), "utf-8", write_through=True) for _ in range(2))
    words = [os.fspath(one) if isinstance(one, Path) else str(one) for one in arguments]
    with _restored(), pytest.MonkeyPatch.context() as patch:
        for name, value in variables.items():
            patch.setenv(name, str(value))
        if cwd is not None:
            patch.chdir(cwd)
        # It remembers the value of TMPDIR.
        patch.setattr(tempfile, "tempdir", None)
        # A time limit on the tests ends them, and not the command of one of them.
        patch.setattr(shared, "interrupt_on_signals", lambda: None)
        patch.setattr(sys, "argv", ["fastrnns-rs", *words])
        patch.setattr(sys, "stdout", out)
        patch.setattr(sys, "stderr", err)
        with pytest.raises(SystemExit) as ended:
            cli.main(words, executor=executor)
    status = ended.value.code
    assert isinstance(status, int)
    return Done(status, *(one.buffer.getvalue().decode() for one in (out, err)))  # type: ignore[attr-defined]


def run_with_facts(*arguments: object, cwd: Path | None = None, facts: Facts = FACTS, **variables: str | Path) -> Done:
    """The same; its probes are answered with `facts`, and its other workers are real."""
    if "PYTHONPATH" in variables:
        return finished(command_with_facts(*arguments, facts=facts), cwd=cwd, **variables)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(environment, "probe", lambda device, *_, **__: pretended_workers.facts_for(device, facts))
        return run_cli(*arguments, cwd=cwd, **variables)


def run_pretended(*arguments: object, cwd: Path | None = None, **variables: str | Path) -> Done:
    """The same with pretended workers."""
    return run_cli(*arguments, cwd=cwd, executor=pretended_workers.each(pretended_workers.rising), **variables)


def run_process(*arguments: object, cwd: Path | None = None, timeout_s: float = 600, **variables: str | Path) -> Done:
    """Runs `fastrnns-rs` in a process of its own, as a shell does."""
    words = [sys.executable, "-m", "fastrnns_rs", *map(str, arguments)]
    return finished(words, cwd=cwd, timeout_s=timeout_s, **variables)


def command_with_facts(*arguments: object, facts: Facts = FACTS) -> list[str]:
    """The command line of a process of its own whose probes are answered with `facts`."""
    return [sys.executable, __file__, json.dumps(asdict(facts)), *map(str, arguments)]


def finished(command: list[str], cwd: Path | None = None, *, timeout_s: float = 600, **variables: str | Path) -> Done:
    """Runs a command to its end."""
    done = subprocess.run(
        command,
        capture_output=True,
        cwd=cwd,
        env={**os.environ, **{name: str(value) for name, value in variables.items()}},
        timeout=timeout_s,
        check=False,
    )
    return Done(done.returncode, done.stdout.decode(), done.stderr.decode())


@contextmanager
def _restored() -> Iterator[None]:
    """Restores what a command changes of its process: runners and the module path."""
    runners, path, modules = dict(registry.all_runners()), [*sys.path], {*sys.modules}
    for name in [name for name, one in runners.items() if not one.source.module.startswith("fastrnns_rs.")]:
        # Files of tests define runners too, which a fresh process would not know.
        del registry._runners[name]
    try:
        yield
    finally:
        registry._runners.clear()
        registry._runners.update(runners)
        sys.path[:] = path
        installed = (sysconfig.get_path("stdlib"), sysconfig.get_path("purelib"), str(Path(cli.__file__).parents[1]))
        for name in {*sys.modules} - modules:
            # A file of the user's is executed by each command.
            if not str(getattr(sys.modules[name], "__file__", None) or installed[0]).startswith(installed):
                del sys.modules[name]


if __name__ == "__main__":
    given = Facts(**json.loads(sys.argv[1]))
    environment.probe = lambda device, *_, **__: pretended_workers.facts_for(device, given)  # type: ignore[assignment]
    del sys.argv[1]
    cli.main(sys.argv[1:])
