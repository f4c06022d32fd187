"""Job `verify`: checks one runner after the other, and reports each at once."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import torch

from fastrnns_rs.documents.codec import to_plain
from fastrnns_rs.documents.verification import Verified
from fastrnns_rs.problem.jit_settings import JitSettings
from fastrnns_rs.problem.problem import Problem
from fastrnns_rs.problem.tolerance import choose_tolerance
from fastrnns_rs.runners import registry
from fastrnns_rs.runners.module_clashes import check_clashes
from fastrnns_rs.runners.runner import Source
from fastrnns_rs.worker.channel import reason
from fastrnns_rs.worker.torch_settings import prepare_cublas
from fastrnns_rs.worker.verification.examination import Examination, examine

if TYPE_CHECKING:
    from fastrnns_rs.worker.channel import Channel, Progress

#: Number of wrong checks in a reason; further checks are only counted.
_MOST_NAMED = 3


def answer(job: dict[str, Any], channel: Channel, _progress: Progress) -> dict[str, Any]:
    """Checks the job's runners.

    Args:
        job: Tasks, and settings of their run.
        channel: Receives the row of each runner.
    """
    if job["threads"] is not None:
        torch.set_num_threads(job["threads"])
    prepare_cublas(deterministic=any(task["problem"]["deterministic"] for task in job["tasks"]))
    # A runner's time limit begins here: importing torch may have taken long.
    channel.part({})
    for task in job["tasks"]:
        channel.phase(f"verify {task['runner']}")
        row = _verified(job, task, channel)
        channel.part({"index": task["index"], "row": to_plain(row)})
    return {"status": "ok"}


def _verified(job: dict[str, Any], task: dict[str, Any], channel: Channel) -> Verified:
    problem = Problem(**task["problem"])
    row = {"runner": task["runner"], "reference": None, "dtype": problem.dtype}
    examination = Examination(on_step=lambda step: channel.phase(f"step {step}"))
    try:
        runner = registry.obtain(task["runner"], Source(**task["source"]))
        row["reference"] = runner.reference
        sources = {one["runner"]: Source(**one["source"]) for one in (task, *task["references"])}
        check_clashes(sources.values())
        for name, source in sources.items():
            registry.obtain(name, source)
        if runner.compiles:
            # Compilations of this runner would otherwise count against the limit of the next runner.
            torch.compiler.reset()
        tolerance = choose_tolerance(problem, rtol=job["rtol"], atol=job["atol"])
        jit = JitSettings(**job["jit"])
        examine(runner, problem, jit, tolerance, examination, check_grad=job["check_grad"])
    except KeyboardInterrupt:
        raise
    except BaseException as error:  # noqa: BLE001  # a runner's failure is its own row
        why = f"{examination.doing}: {reason(error)}"
        return Verified(**row, status="failed", reason=why, checks=examination.checks())
    wrong = examination.wrong()
    if not wrong:
        return Verified(**row, status="ok", reason="; ".join(examination.notes) or None, checks=examination.checks())
    more = f"; {len(wrong) - _MOST_NAMED} more checks failed" if len(wrong) > _MOST_NAMED else ""
    return Verified(**row, status="failed", reason="; ".join(wrong[:_MOST_NAMED]) + more, checks=examination.checks())
