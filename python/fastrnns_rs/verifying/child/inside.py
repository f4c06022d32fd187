"""The job of the child process: one runner after the other is checked, and told of at once."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import torch

from fastrnns_rs.context import JitSettings, prepare_cublas
from fastrnns_rs.documents import to_plain
from fastrnns_rs.problem import Problem
from fastrnns_rs.verifying.child.examining import Examination, examine
from fastrnns_rs.verifying.document import Verified
from fastrnns_rs.verifying.tolerance import tolerance_of

if TYPE_CHECKING:
    from collections.abc import Callable

    from fastrnns_rs.runners import Runner
    from fastrnns_rs.worker import Channel

#: Wrong checks that are told in a row; the others are counted.
_TOLD = 3


def verify(
    job: dict[str, Any],
    channel: Channel,
    find: Callable[[dict[str, Any]], Runner],
    explain: Callable[[BaseException], str],
) -> dict[str, Any]:
    """Checks the job's runners.

    Args:
        job: The tasks, and how they are run.
        channel: Where each runner's row goes.
        find: The runner of a task.
        explain: One line on an error.
    """
    if job["threads"] is not None:
        torch.set_num_threads(job["threads"])
    prepare_cublas(deterministic=any(task["problem"]["deterministic"] for task in job["tasks"]))
    # From now on, a runner's time counts: importing torch may have taken long.
    channel.part({})
    for task in job["tasks"]:
        channel.phase(f"verify {task['runner']}")
        row = _verified(job, task, find, explain)
        channel.part({"index": task["index"], "row": to_plain(row)})
    return {"status": "ok"}


def _verified(
    job: dict[str, Any],
    task: dict[str, Any],
    find: Callable[[dict[str, Any]], Runner],
    explain: Callable[[BaseException], str],
) -> Verified:
    problem = Problem(**task["problem"])
    row = {"runner": task["runner"], "reference": None, "dtype": problem.dtype}
    examination = Examination()
    try:
        runner = find(task)
        row["reference"] = runner.reference
        if runner.compiles:
            # What it compiled for one runner counts against the next one's limit.
            torch.compiler.reset()
        tolerance = tolerance_of(problem, rtol=job["rtol"], atol=job["atol"])
        jit = JitSettings(**job["jit"])
        examine(runner, problem, jit, tolerance, examination, check_grad=job["check_grad"])
    except KeyboardInterrupt:
        raise
    except BaseException as error:  # noqa: BLE001  # a runner's failure is its own row
        reason = f"{examination.doing}: {explain(error)}"
        return Verified(**row, status="failed", reason=reason, checks=examination.checks())
    wrong = examination.wrong()
    if not wrong:
        return Verified(**row, status="ok", reason="; ".join(examination.notes) or None, checks=examination.checks())
    more = f"; {len(wrong) - _TOLD} more checks failed" if len(wrong) > _TOLD else ""
    return Verified(**row, status="failed", reason="; ".join(wrong[:_TOLD]) + more, checks=examination.checks())
