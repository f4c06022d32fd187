"""Measures generated modules in child processes: what ends one costs its own row only."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from fastrnns_rs.machine import environment
from fastrnns_rs.processes.launcher import Setting, Start, launch
from fastrnns_rs.processes.listener import Answer, Terms
from fastrnns_rs.verbs.inductor.module_files import check_cache
from fastrnns_rs.verbs.inductor.module_rows import finished, interrupted, report, row
from fastrnns_rs.verbs.inductor.output_files import places_of
from fastrnns_rs.verbs.inductor.request import check_machine

if TYPE_CHECKING:
    from fastrnns_rs.documents.codec import Notice
    from fastrnns_rs.documents.inductor_report import InductorReport, ModuleRow
    from fastrnns_rs.machine.environment import Facts
    from fastrnns_rs.verbs.inductor.module_files import Generated
    from fastrnns_rs.verbs.inductor.output_files import Places
    from fastrnns_rs.verbs.inductor.request import InductorOptions

    #: Told of a module and of what is done with it as that begins, with how many are done and how many there are.
    OnStep = Callable[[Generated, str, int, int], None]


#: No module has more kernels and configurations of kernels.
_MOST_KERNELS = 10_000


class Interrupted(KeyboardInterrupt):
    """Ctrl-C while modules were measured.

    Attributes:
        report: What was measured until then.
    """

    def __init__(self, report: InductorReport) -> None:
        super().__init__("interrupted")
        self.report = report


def measure(
    modules: Sequence[Generated],
    asked: InductorOptions,
    on_step: OnStep = lambda _module, _step, _done, _of: None,
    facts: Facts | None = None,
    warnings: Sequence[Notice] = (),
) -> InductorReport:
    """Measures modules, one after the other.

    Args:
        modules: The modules.
        asked: What is asked of each.
        on_step: Called as each step of each module begins.
        facts: What is known of torch; None to ask.
        warnings: What is known already that a reader should know.

    Raises:
        MissingError: A module's device, torch or Nsight Compute is not there. Nothing has run then.
        FastrnnsError: Torch does not work, or other users may have written its cache.
        UsageError: The folder for what is written cannot be.
        Interrupted: Ctrl-C; the exception carries what was measured until then.
        KeyboardInterrupt: Ctrl-C before anything was.
    """
    check_cache()
    setting = Setting(threads=asked.threads)
    if facts is None:
        facts = environment.probe("auto", "float32", setting)
    check_machine(modules, facts, asked)
    described = environment.describe(facts, setting)
    rows: list[ModuleRow] = []
    for index, one in enumerate(modules):

        def begins(step: str, of: Generated = one, done: int = index) -> None:
            on_step(of, step, done, len(modules))

        measured, ended = _measured(one, asked, setting, begins)
        rows.append(measured)
        if ended:
            raise Interrupted(report(described, rows, warnings))
    return report(described, rows, warnings)


def _measured(
    one: Generated, asked: InductorOptions, setting: Setting, begins: Callable[[str], None]
) -> tuple[ModuleRow, bool]:
    """A module's row, and whether somebody pressed Ctrl-C."""
    places = places_of(one, asked)
    parts: list[dict[str, Any]] = []
    answers: list[Answer] = []
    try:
        for index in range(asked.processes):
            # What is asked for besides the wall time, once is enough of.
            job = _job(one, asked, places if index == 0 else None)
            parts.append({})
            terms = Terms(timeout=asked.timeout, on_phase=begins, on_part=_collector(parts[-1]))
            answers.append(launch(Start(job=job, terms=terms, setting=setting)))
            if answers[-1].content.get("status") != "ok":
                break
    except KeyboardInterrupt:
        answers.append(Answer({}, "interrupted", "interrupted", ""))
    except BaseException:
        places.drop_empty()
        raise
    measured = row(one, asked, answers[-1], parts)
    if answers[-1].ended == "interrupted":
        places.drop_empty()
        return interrupted(measured), True
    begins("report")
    try:
        return finished(measured, asked, places, parts[0]), False
    except KeyboardInterrupt:
        return interrupted(measured), True


def _collector(found: dict[str, Any]) -> Callable[[dict[str, Any]], bool]:
    """Takes the parts of a result: keys of the row, and kernels one by one."""

    def take(part: dict[str, Any]) -> bool:
        kernel = part.pop("kernel", None)
        is_kernel = isinstance(kernel, dict) and len(kernels) < _MOST_KERNELS
        if is_kernel:
            kernels.append(kernel)
        is_new = is_kernel or not found.keys() >= part.keys()
        # Not what a module that found our pipe calls so.
        found.update({**part, "kernels": kernels})
        return is_new

    kernels: list[dict[str, Any]] = []
    return take


def _job(one: Generated, asked: InductorOptions, places: Places | None) -> dict[str, Any]:
    """What a child process is told; with no places, to time the module and no more."""
    trace, snapshot = (None, None) if places is None else (places.trace, places.memory_snapshot)
    return {
        "kind": "inductor",
        "path": str(one.path),
        "device": one.device,
        "times": asked.times,
        "repeat": asked.repeat,
        "threads": asked.threads,
        "upstream": places is not None,
        "kernels": asked.kernels and places is not None,
        "all_configs": asked.all_configs and places is not None,
        "architectures": list(asked.architectures),
        "trace_path": None if trace is None else str(trace),
        "memory_snapshot_path": None if snapshot is None else str(snapshot),
    }
