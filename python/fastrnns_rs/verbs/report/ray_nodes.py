"""Reading of files on the nodes of a Ray cluster.

Each task reads a share of the files. The driver joins the shares in order, so that the result equals local reading.
"""

from __future__ import annotations

import logging
import os
import shlex
import socket
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from fastrnns_rs._core import Trace
from fastrnns_rs.errors import FastrnnsError, MissingError, UsageError
from fastrnns_rs.processes.working_directory import outside_working_directory
from fastrnns_rs.verbs.report.file_kinds import needs_nsys

#: Shares for each core of the cluster: with several shares, other cores take over the work of a slow core.
_SHARES = 4
#: Result of a task: the packed trace, or the error message and the hint for a file of its share.
_Read = bytes | tuple[str, str]


def spread(
    files: Sequence[tuple[str, str]],
    optional: Sequence[bool],
    extent: str = "whole",
    runners: Sequence[str | None] = (),
) -> Trace:
    """Reads files on the cluster at `RAY_ADDRESS`, or the cluster that runs locally.

    Args:
        files: Path and displayed name of each file; the nodes must have the files under the same paths.
        optional: True for each file that is skipped if it is not a capture.
        extent: Tables to read, as in `read`.
        runners: Runner of each file, if the file has one and it is known.

    Raises:
        FastrnnsError: If a file is not a capture; the error names the first in the given order.
        MissingError: If Ray or a cluster is missing.
        UsageError: If a file is a report of nsys, which is not read on other machines.
    """
    for file, shown in files:
        if needs_nsys(file):
            hint = f"Run: nsys export --type=sqlite {shlex.quote(shown)}"
            raise UsageError(f"Ray does not read nsys reports: {shown!r}", hint, value=shown)
    ray, ours = _connected()
    try:
        cores = max(1, int(ray.cluster_resources().get("CPU", 1)))
        size = -(-len(files) // (cores * _SHARES))
        read = ray.remote(max_retries=1)(read_share)
        tasks = []
        for first in range(0, len(files), size):
            share = [(str(Path(file).absolute()), shown) for file, shown in files[first : first + size]]
            end = first + size
            tasks.append(read.remote(share, [*optional[first:end]], first, extent, [*runners[first:end]]))
        try:
            return Trace.joined(_parts(ray, tasks))
        except BaseException:
            for task in tasks:
                if task is not None:
                    ray.cancel(task, force=True)
            raise
    finally:
        if ours:
            ray.shutdown()


def read_share(
    files: list[tuple[str, str]], optional: list[bool], first: int, extent: str, runners: list[str | None]
) -> _Read:
    """Reads a share of the files on a node, on one core: Ray's count for a task."""
    try:
        trace = Trace(files, optional=optional, runners=runners, first=first, threads=1, extent=extent)
        return trace.to_bytes()
    except ValueError as error:
        message, hint = error.args if len(error.args) == 2 else (str(error), "")  # noqa: PLR2004
        return message, hint


def _parts(ray: Any, tasks: list[Any]) -> Iterator[bytes]:
    for place, task in enumerate(tasks):
        try:
            part: _Read = ray.get(task)
        except ray.exceptions.RayError as error:
            # The last line has the error; the lines before it have the location.
            reason = (str(error).strip().splitlines() or [type(error).__name__])[-1]
            hint = "Install this version of fastrnns-rs on every node, with the files under the same paths."
            raise FastrnnsError("worker of Ray failed", hint, reason=reason) from None
        if not isinstance(part, bytes):
            raise FastrnnsError(*part)
        # Ray keeps the result of a task as long as a reference to the task exists.
        tasks[place] = None
        del task
        yield part


def _connected() -> tuple[Any, bool]:
    """Returns the module `ray`, and True if this process opened the connection."""
    try:
        import ray
    except ImportError:
        hint = "Run: pip install 'fastrnns-rs[ray]'"
        raise MissingError("package not installed: 'ray'", hint, where="workers") from None
    if ray.is_initialized():
        return ray, False
    address = os.environ.get("RAY_ADDRESS", "auto")
    try:
        _check_reachable(address)
        # Workers would search the working directory of this process for modules.
        with outside_working_directory():
            ray.init(address=address, logging_level=logging.ERROR, log_to_driver=False)
    except (OSError, OverflowError, RuntimeError, ValueError) as error:
        where = "no Ray cluster runs here" if address == "auto" else f"no Ray cluster answers at {address}"
        hint = "start one with `ray start --head`, or name one with RAY_ADDRESS; without `workers` all cores here read"
        reason = (str(error).strip().splitlines() or [type(error).__name__])[0]
        raise MissingError(f"{where}: {reason}", hint) from None
    return ray, True


def _check_reachable(address: str) -> None:
    """Checks that the address accepts connections; Ray itself would wait for minutes."""
    host, _, port = address.removeprefix("ray://").rpartition(":")
    if host and port.isdecimal():
        socket.create_connection((host.strip("[]"), int(port)), timeout=10).close()
