"""Child process that carries messages between the ranks of `torchrun`.

Run it with `python -m fastrnns_rs.worker.rank_channel`. The parent does not import torch, but the store of the ranks
needs torch. Lines of JSON come in on standard input: the meeting, then the messages of this rank. For each message a
line with the messages of all ranks goes out. The end of standard input means that the parent is gone.
"""

from __future__ import annotations

import json
import os
import queue
import sys
import threading
from datetime import timedelta
from typing import TYPE_CHECKING, Any

from fastrnns_rs.processes.working_directory import leave_removed_directory

if TYPE_CHECKING:
    from torch._C._distributed_c10d import Store


def main() -> None:
    """Reads a meeting from standard input, then exchanges messages until it ends."""
    # Modules and their C++ libraries may print while they are imported.
    replies = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)
    leave_removed_directory()
    lines: queue.SimpleQueue[str] = queue.SimpleQueue()
    threading.Thread(target=_listen, args=(lines,), daemon=True).start()
    # This takes seconds, in which the parent may write more than a pipe holds.
    from fastrnns_rs.worker.ranks import connect

    meeting = json.loads(lines.get())
    store: Store | None = None
    place = ""
    while line := lines.get():
        message = json.loads(line)
        try:
            if store is None:
                store, place = own_part(connect(meeting, message["timeout_s"]), meeting["rank"])
            messages = exchange(store, meeting["rank"], meeting["size"], **message)
            reply: dict[str, Any] = {"messages": messages, "place": place}
        except (RuntimeError, ValueError) as error:
            reply = {"error": str(error).splitlines()[0]}
        # Before, startup code may have printed a line without its end.
        replies.write(f"\n{json.dumps(reply)}\n")
        replies.flush()


def own_part(store: Store, rank: int) -> tuple[Store, str]:
    """Returns this command's part of the shared store, and its name.

    Commands that follow one another under one `torchrun` share its store. All ranks run the same commands.
    """
    from torch.distributed import PrefixStore  # type: ignore[attr-defined]

    place = str(store.add(f"commands/{rank}", 1))
    return PrefixStore(place, store), place


def _listen(lines: queue.SimpleQueue[str]) -> None:
    """Reads the lines of the parent as they come; an empty line is the end."""
    for line in sys.stdin:
        lines.put(line)
    lines.put("")


def exchange(store: Store, rank: int, size: int, *, name: str, mine: Any, timeout_s: float) -> list[Any]:
    """Returns the messages of all ranks under a name, in the order of the ranks.

    Args:
        store: Store that the ranks share.
        rank: Number of this rank.
        size: Number of ranks.
        name: Name of the exchange, equal on all ranks.
        mine: Message of this rank, as JSON values.
        timeout_s: Time limit for each of the other ranks, in seconds.

    Raises:
        RuntimeError: If a rank sent no message in time.
    """
    keys = [f"{name}/answer/{one}" for one in range(size)]
    store.set(keys[rank], json.dumps(mine))
    store.set_timeout(timedelta(seconds=timeout_s))
    messages = []
    for one, key in enumerate(keys):
        try:
            messages.append(json.loads(store.get(key)))
        except RuntimeError as error:
            raise RuntimeError(f"rank {one} sent no message within {timeout_s:g} s") from error
    # The last reader deletes the messages: samples of a long run would fill the store's memory.
    if store.add(f"{name}/read", 1) == size:
        for key in keys:
            store.delete_key(key)
    return messages


if __name__ == "__main__":
    main()
