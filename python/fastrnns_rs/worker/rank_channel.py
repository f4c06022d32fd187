"""The child process that carries messages between the ranks of `torchrun`: `python -m fastrnns_rs.worker.rank_channel`.

A parent imports no torch, and the store at which ranks meet speaks torch's language. Lines of JSON come in on standard
input: the meeting, then what this rank tells the others; for each of these a line with what every rank told goes out.
The end of standard input means that the parent is gone.
"""

from __future__ import annotations

import json
import queue
import sys
import threading
from datetime import timedelta
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from torch._C._distributed_c10d import Store


def main() -> None:
    """Reads a meeting from standard input, then exchanges messages until it ends."""
    lines: queue.SimpleQueue[str] = queue.SimpleQueue()
    threading.Thread(target=_listen, args=(lines,), daemon=True).start()
    # Takes seconds, in which the parent may write more than a pipe holds.
    from fastrnns_rs.worker.ranks import connect

    meeting = json.loads(lines.get())
    store: Store | None = None
    while line := lines.get():
        message = json.loads(line)
        try:
            store = store or connect(meeting, message["timeout_s"])
            reply: dict[str, Any] = {"told": exchange(store, meeting["rank"], meeting["size"], **message)}
        except (RuntimeError, ValueError) as error:
            reply = {"error": str(error).splitlines()[0]}
        sys.stdout.write(json.dumps(reply) + "\n")
        sys.stdout.flush()


def _listen(lines: queue.SimpleQueue[str]) -> None:
    """Takes what the parent writes as it comes; an empty line is the end."""
    for line in sys.stdin:
        lines.put(line)
    lines.put("")


def exchange(store: Store, rank: int, size: int, *, name: str, mine: Any, timeout_s: float) -> list[Any]:
    """What every rank tells under a name, in the order of the ranks.

    Args:
        store: Where the ranks meet.
        rank: Which of them this is.
        size: How many there are.
        name: What all of them call this exchange.
        mine: What this rank tells, as JSON has it.
        timeout_s: How long each of the others is waited for, in seconds.

    Raises:
        RuntimeError: A rank told nothing in time.
    """
    keys = [f"{name}/answer/{one}" for one in range(size)]
    store.set(keys[rank], json.dumps(mine))
    store.set_timeout(timedelta(seconds=timeout_s))
    told = []
    for one, key in enumerate(keys):
        try:
            told.append(json.loads(store.get(key)))
        except RuntimeError as error:
            raise RuntimeError(f"rank {one} told nothing within {timeout_s:g} s") from error
    # Whoever reads last takes the messages away: samples of a long run would fill the store's memory.
    if store.add(f"{name}/read", 1) == size:
        for key in keys:
            store.delete_key(key)
    return told


if __name__ == "__main__":
    main()
