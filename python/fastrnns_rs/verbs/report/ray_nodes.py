"""Reads files on the nodes of a Ray cluster.

Each task reads a share of them, and what it has read is put together here, in order: what comes of it is what reading
them here would give.
"""

from __future__ import annotations

import logging
import os
import socket
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from fastrnns_rs._core import Trace
from fastrnns_rs.errors import FastrnnsError, MissingError, UsageError
from fastrnns_rs.verbs.report.file_kinds import needs_nsys

#: Shares for each core of the cluster: one that is held up leaves some of its work to others.
_SHARES = 4
#: What a task gives back: the packed trace, or what is wrong with a file of its share, with the hint.
_Read = bytes | tuple[str, str]


def spread(files: Sequence[tuple[str, str]], optional: Sequence[bool], extent: str = "whole") -> Trace:
    """What the files hold, read on the cluster at `RAY_ADDRESS`, or else the one that runs here.

    Args:
        files: Each with the name under which it is shown; the nodes must see them under the same paths.
        optional: Whether each may be no capture, and is then left out.
        extent: What is read, as `read` takes it.

    Raises:
        FastrnnsError: A file is no capture: the first of them in the order in which they were given.
        MissingError: There is no Ray, or no cluster.
        UsageError: A file is a report of nsys, which is not read on other machines.
    """
    for file, shown in files:
        if needs_nsys(file):
            hint = "export it: nsys export --type=sqlite FILE, or leave out --workers ray"
            raise UsageError(f"{shown} is a report of nsys, which workers of Ray do not read", hint)
    ray, ours = _connected()
    try:
        cores = max(1, int(ray.cluster_resources().get("CPU", 1)))
        size = -(-len(files) // (cores * _SHARES))
        read = ray.remote(max_retries=1)(read_share)
        tasks = []
        for first in range(0, len(files), size):
            share = [(str(Path(file).absolute()), shown) for file, shown in files[first : first + size]]
            tasks.append(read.remote(share, [*optional[first : first + size]], first, extent))
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


def read_share(files: list[tuple[str, str]], optional: list[bool], first: int, extent: str) -> _Read:
    """On a node: what these files hold, on one core, which is what Ray counts a task as."""
    try:
        return Trace(files, optional=optional, first=first, threads=1, extent=extent).to_bytes()
    except ValueError as error:
        message, hint = error.args if len(error.args) == 2 else (str(error), "")  # noqa: PLR2004
        return message, hint


def _parts(ray: Any, tasks: list[Any]) -> Iterator[bytes]:
    for place, task in enumerate(tasks):
        try:
            part: _Read = ray.get(task)
        except ray.exceptions.RayError as error:
            # The last line says what happened, those in front of it where.
            reason = str(error).strip().splitlines()[-1]
            hint = "every node needs this version of fastrnns-rs, and the files under the same paths"
            raise FastrnnsError(f"a worker of Ray failed: {reason}", hint) from None
        if not isinstance(part, bytes):
            raise FastrnnsError(*part)
        # Ray keeps what a task has given for as long as the task is known.
        tasks[place] = None
        del task
        yield part


def _connected() -> tuple[Any, bool]:
    """Ray, and whether the connection is ours to end."""
    try:
        import ray
    except ImportError:
        raise MissingError(
            "--workers ray needs Ray, which is not installed", "pip install 'fastrnns-rs[ray]', or leave it out"
        ) from None
    if ray.is_initialized():
        return ray, False
    address = os.environ.get("RAY_ADDRESS", "auto")
    try:
        _check_reachable(address)
        ray.init(address=address, logging_level=logging.ERROR, log_to_driver=False)
    except (OSError, RuntimeError, ValueError) as error:
        where = "no Ray cluster runs here" if address == "auto" else f"no Ray cluster answers at {address}"
        hint = "start one with `ray start --head`, or name one with RAY_ADDRESS; without --workers all cores here read"
        raise MissingError(f"{where}: {str(error).strip().splitlines()[0]}", hint) from None
    return ray, True


def _check_reachable(address: str) -> None:
    """Fails at once where nobody listens, for which Ray itself would wait minutes."""
    host, _, port = address.removeprefix("ray://").rpartition(":")
    if host and port.isdecimal():
        socket.create_connection((host.strip("[]"), int(port)), timeout=10).close()
