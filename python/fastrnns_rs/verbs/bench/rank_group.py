"""The ranks that `torchrun` started, as the parent of one of them works with the others."""

from __future__ import annotations

import contextlib
import json
import sys
import time
from dataclasses import asdict, replace
from typing import TYPE_CHECKING, Any

from fastrnns_rs.errors import FastrnnsError, MissingError
from fastrnns_rs.processes.launcher import Setting, Start, launch
from fastrnns_rs.processes.listener import Answer, started
from fastrnns_rs.processes.phases import WAIT

if TYPE_CHECKING:
    from fastrnns_rs.machine.environment import Facts
    from fastrnns_rs.verbs.bench.torchrun import World

_COURIER = "fastrnns_rs.worker.rank_channel"
#: How much later than this rank another may come: torch from a cold disk can take most of a minute.
_PATIENCE_S = 120.0


class Team:
    """The ranks of a run. A courier, which is a child with torch, carries what they tell each other.

    Args:
        world: Which of them this is.
    """

    def __init__(self, world: World) -> None:
        self.world = world
        self._clock = 0.0
        self._measured = 0
        command = [sys.executable, "-P", "-m", _COURIER]
        self._courier = started(command, Setting().environment())
        self._courier.write(json.dumps(world.meeting()).encode() + b"\n")

    def part(self) -> None:
        """Waits for the others at the end of a run, where rank 0 hosts the store that they still read from."""
        if not self.world.hosted:
            with contextlib.suppress(FastrnnsError):
                self.exchange("end", None)

    def close(self) -> None:
        """Ends the courier."""
        # Without its supervisor it is gone already.
        with contextlib.suppress(RuntimeError):
            self._courier.end()

    def clock(self) -> float:
        """Seconds, by the clock of rank 0 when the ranks last told each other something."""
        return self._clock

    def own_device(self, facts: Facts, asked: str) -> Facts:
        """The facts with this rank's device: where any CUDA device will do, that of its local rank.

        Args:
            facts: What is known of torch and the device that was asked for.
            asked: The name of that device.

        Raises:
            MissingError: There are fewer devices than local ranks.
        """
        if facts.device is None or not facts.device.startswith("cuda") or asked not in {"auto", "cuda"}:
            return facts
        local, count = self.world.local_rank, facts.cuda_device_count
        if local >= count:
            message = f"there is no device cuda:{local} for local rank {local}: this machine has {count}"
            raise MissingError(message, f"torchrun --nproc-per-node {count}")
        return replace(facts, device=f"cuda:{local}")

    def exchange(self, name: str, mine: Any, timeout_s: float = 0.0) -> list[Any]:
        """What every rank tells under a name that all of them give, in the order of the ranks.

        Args:
            name: No two exchanges of a run have the same.
            mine: What this rank tells, as JSON has it.
            timeout_s: How much later than this rank another may be with it, in seconds.

        Raises:
            FastrnnsError: A rank told nothing, or the store cannot be reached.
            KeyboardInterrupt: Ctrl-C.
        """
        patience = timeout_s + _PATIENCE_S
        message = {"name": name, "mine": {"clock": time.monotonic(), "told": mine}, "timeout_s": patience}
        self._courier.write(json.dumps(message).encode() + b"\n")
        reply = json.loads(self._line(time.monotonic() + patience * self.world.size))
        if "error" in reply:
            raise self._lost(reply["error"])
        self._clock = reply["told"][0]["clock"]
        return [one["told"] for one in reply["told"]]

    def _line(self, deadline: float) -> bytes:
        said = b""
        while not said.endswith(b"\n"):
            left = deadline - time.monotonic()
            if left <= 0 or self._courier.ended:
                raise self._lost("no answer" if left <= 0 else "it has ended")
            try:
                said += self._courier.read_lines(left)
            except RuntimeError as error:
                raise self._lost(str(error)) from None
        return said

    def _lost(self, why: str) -> FastrnnsError:
        address = f"{self.world.address}:{self.world.port}"
        message = f"rank {self.world.rank} cannot reach the others by the store at {address}: {why}"
        return FastrnnsError(message, "the other ranks say why they ended; torchrun needs the network between them")

    def measure(self, start: Start) -> dict[int | None, Answer]:
        """Runs this rank's worker of the next process index while the others run theirs.

        Args:
            start: The worker.

        Returns:
            What the workers of all ranks answered. After Ctrl-C what that of this rank had measured, and no more.

        Raises:
            FastrnnsError: A rank told nothing.
        """
        name = f"process/{self._measured}"
        self._measured += 1
        phase = ""

        def follow(reported: str) -> None:
            nonlocal phase
            phase = reported
            start.terms.on_phase(reported)

        timeout = start.terms.timeout
        job = {**start.job, "ranks": self.world.meeting(name), "patience_s": timeout + _PATIENCE_S}
        answer = launch(replace(start, job=job, terms=replace(start.terms, on_phase=follow)))
        if answer.ended != "interrupted":
            ended_well = answer.content.get("status") == "ok" and answer.ended == "answered"
            mine = {"answer": asdict(answer), "waited": phase == WAIT and not ended_well, "well": ended_well}
            try:
                return _merged(self.exchange(name, mine, timeout))
            except KeyboardInterrupt:
                answer = replace(answer, ended="interrupted", reason="interrupted")
        return {self.world.rank: answer}


def _merged(told: list[dict[str, Any]]) -> dict[int | None, Answer]:
    """The answers by rank. Those that waited for a rank that failed did not fail themselves."""
    failed = [rank for rank, one in enumerate(told) if not one["well"] and not one["waited"]]
    found: dict[int | None, Answer] = {}
    for rank, one in enumerate(told):
        answer = Answer(**one["answer"])
        if one["waited"] and failed:
            answer = replace(answer, ended="deserted", reason=f"rank {failed[0]} did not come")
        found[rank] = answer
    return found
