"""Rank group: the ranks started by `torchrun`, in the parent process of one."""

from __future__ import annotations

import contextlib
import json
import time
from dataclasses import asdict, replace
from typing import TYPE_CHECKING, Any

from fastrnns_rs.counting import counted
from fastrnns_rs.errors import FastrnnsError, MissingError
from fastrnns_rs.processes.launcher import Start, launch
from fastrnns_rs.processes.listener import Answer, started
from fastrnns_rs.processes.phases import WAIT
from fastrnns_rs.processes.programs import module_command
from fastrnns_rs.processes.worker_setting import Setting

if TYPE_CHECKING:
    from fastrnns_rs.machine.facts import Facts
    from fastrnns_rs.verbs.bench.torchrun import World

_CHANNEL_MODULE = "fastrnns_rs.worker.rank_channel"
#: Maximum delay of another rank: importing torch from a cold disk can take most of a minute.
_PATIENCE_S = 120.0


class RankGroup:
    """Ranks of a run, connected by a rank channel (a child process with torch).

    Args:
        world: World of this rank.
    """

    def __init__(self, world: World) -> None:
        self.world = world
        self._clock = 0.0
        self._measured = 0
        self._place = ""
        command = module_command(_CHANNEL_MODULE)
        self._channel = started(command, Setting().environment())
        self._channel.write(json.dumps(world.meeting()).encode() + b"\n")

    def leave(self) -> None:
        """Waits for the other ranks at the end of a run.

        If rank 0 hosts the store, the other ranks still read from it.
        """
        if not self.world.hosted:
            with contextlib.suppress(FastrnnsError):
                self.exchange("end", None)

    def close(self) -> None:
        """Ends the rank channel."""
        # If its supervisor has ended, the rank channel has ended too.
        with contextlib.suppress(RuntimeError):
            self._channel.end()

    def clock(self) -> float:
        """Returns the time of rank 0's clock at the last exchange, in seconds."""
        return self._clock

    def own_device(self, facts: Facts, asked: str) -> Facts:
        """Returns the facts with this rank's device.

        If any CUDA device is accepted, the local rank selects the device.

        Args:
            facts: Facts of torch and the requested device.
            asked: Name of the requested device.

        Raises:
            MissingError: If there are fewer devices than local ranks.
        """
        if facts.device is None or not facts.device.startswith("cuda") or asked not in {"auto", "cuda"}:
            return facts
        local, count = self.world.local_rank, facts.cuda_device_count
        if local >= count:
            reason = f"this machine has {counted(count, 'CUDA device')}"
            hint = f"Start torchrun again with --nproc-per-node {count}."
            raise MissingError(f"device not available: 'cuda:{local}'", hint, where=f"rank {local}", reason=reason)
        return replace(facts, device=f"cuda:{local}")

    def exchange(self, name: str, mine: Any, timeout_s: float = 0.0) -> list[Any]:
        """Returns the values that all ranks sent under a name, in rank order.

        Args:
            name: Name of the exchange, unique within a run and equal on all ranks.
            mine: Value of this rank, in JSON types.
            timeout_s: Maximum delay of another rank after this rank, in seconds.

        Raises:
            FastrnnsError: If a rank sent nothing, or the store cannot be reached.
            KeyboardInterrupt: If Ctrl-C was pressed.
        """
        patience = timeout_s + _PATIENCE_S
        message = {"name": name, "mine": {"clock": time.monotonic(), "value": mine}, "timeout_s": patience}
        self._channel.write(json.dumps(message).encode() + b"\n")
        reply = self._reply(time.monotonic() + patience * self.world.size)
        if "error" in reply:
            raise self._lost(reply["error"])
        self._clock, self._place = reply["messages"][0]["clock"], reply["place"]
        return [one["value"] for one in reply["messages"]]

    def _reply(self, deadline: float) -> dict[str, Any]:
        while True:
            left = deadline - time.monotonic()
            if left <= 0 or self._channel.ended:
                raise self._lost("no answer" if left <= 0 else "the connection has ended")
            try:
                said = self._channel.read_lines(left)
            except RuntimeError as error:
                raise self._lost(str(error)) from None
            for line in said.splitlines():
                # Startup code of the interpreter, such as `sitecustomize`, may print lines of its own.
                with contextlib.suppress(ValueError, RecursionError):
                    reply = json.loads(line)
                    if isinstance(reply, dict) and reply.keys() & {"messages", "error"}:
                        return reply

    def _lost(self, why: str) -> FastrnnsError:
        address = f"{self.world.address}:{self.world.port}"
        message = f"rank {self.world.rank} cannot reach the store of torchrun: {address}"
        hint = "Check the errors of the other ranks, and the network between the machines."
        return FastrnnsError(message, hint, reason=why)

    def measure(self, start: Start) -> dict[int | None, Answer]:
        """Runs this rank's worker while the other ranks run theirs.

        Args:
            start: Worker to start.

        Returns:
            Answers of the workers of all ranks. After Ctrl-C, only the answer of this rank's worker.

        Raises:
            FastrnnsError: If a rank sent nothing, or measured another runner.
        """
        name = f"process/{self._measured}"
        self._measured += 1
        phase = ""

        def follow(reported: str) -> None:
            nonlocal phase
            phase = reported
            start.terms.on_phase(reported)

        timeout = start.terms.timeout
        # Every run exchanges its plan before its first worker starts.
        job = {**start.job, "ranks": self.world.meeting(f"{self._place}/{name}"), "patience_s": timeout + _PATIENCE_S}
        answer = launch(replace(start, job=job, terms=replace(start.terms, on_phase=follow)))
        if answer.ended != "interrupted":
            ended_well = answer.content.get("status") == "ok" and answer.ended == "answered"
            mine = {
                "answer": asdict(answer),
                "waited": phase == WAIT and not ended_well,
                "well": ended_well,
                "task": _task(start.job),
            }
            try:
                return _merged(self.exchange(name, mine, timeout))
            except KeyboardInterrupt:
                answer = replace(answer, ended="interrupted", reason="interrupted")
        return {self.world.rank: answer}


def _task(job: dict[str, Any]) -> list[Any]:
    """Returns what a rank measures, apart from its device."""
    return [job["runner"], {key: value for key, value in job["problem"].items() if key != "device"}]


def _merged(reports: list[dict[str, Any]]) -> dict[int | None, Answer]:
    """Returns the answers by rank.

    Workers that waited for a failed rank are not counted as failed.
    """
    for rank, one in enumerate(reports):
        # A rank may have given up a runner whose code has changed on its node.
        if one["task"] != reports[0]["task"]:
            message = (
                f"different runners of ranks: {reports[0]['task'][0]!r} at rank 0, {one['task'][0]!r} at rank {rank}"
            )
            raise FastrnnsError(message, "Run again with files that do not change.")
    failed = [rank for rank, one in enumerate(reports) if not one["well"] and not one["waited"]]
    found: dict[int | None, Answer] = {}
    for rank, one in enumerate(reports):
        answer = Answer(**one["answer"])
        if one["waited"] and failed:
            answer = replace(answer, ended="deserted", reason=f"rank {failed[0]} did not come")
        found[rank] = answer
    return found
