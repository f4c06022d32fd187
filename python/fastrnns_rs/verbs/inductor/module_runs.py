"""Measurement of generated modules in child processes.

If a process dies, only the row of its module fails.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from fastrnns_rs.errors import FastrnnsError, failure_text
from fastrnns_rs.machine import environment
from fastrnns_rs.processes.launcher import Start, launch
from fastrnns_rs.processes.listener import Answer, Terms
from fastrnns_rs.processes.worker_setting import Setting
from fastrnns_rs.verbs.inductor.module_files import check_cache, digest
from fastrnns_rs.verbs.inductor.module_rows import finished, interrupted, report, row
from fastrnns_rs.verbs.inductor.output_files import reserve_places
from fastrnns_rs.verbs.inductor.request import check_machine

if TYPE_CHECKING:
    from fastrnns_rs.documents.codec import RunWarning
    from fastrnns_rs.documents.inductor_report import InductorReport, ModuleRow
    from fastrnns_rs.machine.facts import Facts
    from fastrnns_rs.verbs.inductor.module_files import Generated
    from fastrnns_rs.verbs.inductor.output_files import Places
    from fastrnns_rs.verbs.inductor.request import InductorOptions

    #: Function called at the start of each step with the module, the step, the number of completed modules and the
    #: total. A step may have details after a colon.
    OnStep = Callable[[Generated, str, int, int], None]


#: Limit of kernel results; no module has more kernels and configurations.
_MOST_KERNELS = 10_000
#: A worker sends fewer keys. Each new key gives a module more time.
_MOST_KEYS = 100


class Interrupted(KeyboardInterrupt):
    """Ctrl-C during a measurement of modules.

    Attributes:
        report: Report with the results so far.
    """

    def __init__(self, report: InductorReport) -> None:
        super().__init__("interrupted")
        self.report = report


def measure(
    modules: Sequence[Generated],
    asked: InductorOptions,
    on_step: OnStep = lambda _module, _step, _done, _of: None,
    facts: Facts | None = None,
    warnings: Sequence[RunWarning] = (),
) -> InductorReport:
    """Measures modules one after the other.

    Args:
        modules: Modules to measure.
        asked: Requested measurements of each module.
        on_step: Function called at the start of each step of each module.
        facts: Facts of torch; None to probe it.
        warnings: Earlier warnings.

    Raises:
        MissingError: If the devices of all modules, torch or Nsight Compute are missing. Nothing has run then.
        FastrnnsError: If torch does not work, or other users may have written to its cache. Also if the first process
            cannot be started: later, this costs the row of its module.
        UsageError: If the output folder cannot be written to before the first measurement.
        Interrupted: If Ctrl-C was pressed; the exception contains the results so far.
        KeyboardInterrupt: If Ctrl-C was pressed before the first measurement.
    """
    check_cache()
    setting = Setting(threads=asked.threads)
    if facts is None:
        facts = environment.probe("auto", "float32", setting)
    missing = check_machine(modules, facts, asked)
    described = environment.describe(facts, setting)
    rows: list[ModuleRow] = []
    for index, one in enumerate(modules):

        def begins(step: str, of: Generated = one, done: int = index) -> None:
            on_step(of, step, done, len(modules))

        try:
            if one.path in missing:
                rows.append(_not_measured(one, asked, missing[one.path])[0])
                continue
            measured, ended = _measured(one, asked, setting, begins)
        except (FastrnnsError, OSError, KeyboardInterrupt) as error:
            # The rows before would be lost.
            if not rows:
                raise
            measured, ended = _not_measured(one, asked, error)
        rows.append(measured)
        if ended:
            raise Interrupted(report(described, rows, warnings))
    return report(described, rows, warnings)


def _not_measured(one: Generated, asked: InductorOptions, error: BaseException) -> tuple[ModuleRow, bool]:
    """Returns the row of a module that was not measured, and True on Ctrl-C."""
    if isinstance(error, KeyboardInterrupt):
        return interrupted(row(one, asked, Answer({}, "interrupted", "interrupted", ""), [{}])), True
    return row(one, asked, Answer({}, "died", failure_text(error), ""), [{}]), False


def _measured(
    one: Generated, asked: InductorOptions, setting: Setting, begins: Callable[[str], None]
) -> tuple[ModuleRow, bool]:
    """Returns the row of a module, and True if Ctrl-C was pressed."""
    places = reserve_places(one, asked)
    text = digest(one)
    parts: list[dict[str, Any]] = []
    answers: list[Answer] = []
    try:
        for index in range(asked.processes):
            # Measurements other than the wall time are made once, in the first process.
            job = _job(one, asked, places if index == 0 else None)
            parts.append({})
            collector = _collector(parts[-1], lambda count: begins(f"kernels: {count:,} done"))
            terms = Terms(timeout=asked.timeout, on_phase=begins, on_part=collector)
            answers.append(launch(Start(job=job, terms=terms, setting=setting)))
            if answers[-1].content.get("status") != "ok":
                break
            if asked.processes > 1 and digest(one) != text:
                # Its samples may be those of another program.
                parts[-1], answers[-1] = {}, Answer({}, "died", f"{one.path.name} changed during the measurement", "")
                break
    except KeyboardInterrupt:
        answers.append(Answer({}, "interrupted", "interrupted", ""))
    except BaseException:
        places.drop_empty()
        raise
    finally:
        places.drop_unfinished()
    measured = row(one, asked, answers[-1], parts)
    if answers[-1].ended == "interrupted":
        places.drop_empty()
        return interrupted(measured), True
    begins("report")
    try:
        return finished(measured, asked, places, parts[0]), False
    except KeyboardInterrupt:
        return interrupted(measured), True


def _collector(found: dict[str, Any], on_kernel: Callable[[int], None]) -> Callable[[dict[str, Any]], bool]:
    """Returns a callback that collects results: keys of the row, and single kernels.

    Args:
        found: Receives the results.
        on_kernel: Function called with the number of kernels after each kernel.
    """

    def take(part: dict[str, Any]) -> bool:
        kernel = part.pop("kernel", None)
        is_kernel = isinstance(kernel, dict) and len(kernels) < _MOST_KERNELS
        if is_kernel:
            kernels.append(kernel)
            on_kernel(len(kernels))
        if len(found) >= _MOST_KEYS:
            part = {key: value for key, value in part.items() if key in found}
        is_new = is_kernel or not found.keys() >= part.keys()
        # This overwrites a key `kernels` from a module that found the pipe.
        found.update({**part, "kernels": kernels})
        return is_new

    kernels: list[dict[str, Any]] = []
    return take


def _job(one: Generated, asked: InductorOptions, places: Places | None) -> dict[str, Any]:
    """Returns the job of a child process; without `places`, only the wall time."""
    trace, snapshot = (None, None) if places is None else (places.trace, places.memory_snapshot)
    return {
        "kind": "inductor",
        "path": str(one.path),
        "device": one.device,
        "problem": None if one.problem is None else asdict(one.problem),
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
