"""Measures generated modules, each in a child process of its own: what ends one costs its own row only."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from fastrnns_rs import environment
from fastrnns_rs.errors import MissingError
from fastrnns_rs.inductor.document import SCHEMA_VERSION, InductorReport
from fastrnns_rs.inductor.places import places_of
from fastrnns_rs.inductor.rows import finished, interrupted, row
from fastrnns_rs.launching import Setting, Start, launch
from fastrnns_rs.listening import Terms

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from fastrnns_rs.environment import Facts
    from fastrnns_rs.inductor.document import ModuleRow
    from fastrnns_rs.inductor.finding import Generated
    from fastrnns_rs.inductor.places import Places
    from fastrnns_rs.inductor.planning import InductorOptions
    from fastrnns_rs.results import Environment

    #: Told of a module and of what is done with it as that begins, with how many are done and how many there are.
    OnStep = Callable[[Generated, str, int, int], None]


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
) -> InductorReport:
    """Measures modules, one after the other.

    Args:
        modules: The modules.
        asked: What is asked of each.
        on_step: Called as each step of each module begins.

    Raises:
        MissingError: A module's device, torch or Nsight Compute is not there. Nothing has run then.
        FastrnnsError: Torch does not work.
        UsageError: The folder for what is written cannot be.
        Interrupted: Ctrl-C; the exception carries what was measured until then.
        KeyboardInterrupt: Ctrl-C before anything was.
    """
    setting = Setting(threads=asked.threads)
    facts = environment.probe("auto", "float32", setting)
    for one in modules:
        _check_device(one, facts, asked)
    described = environment.describe(facts, setting)
    rows: list[ModuleRow] = []
    for index, one in enumerate(modules):
        places = places_of(one, asked)
        job = _job(one, asked, places)
        found: dict[str, Any] = {}

        def begins(step: str, of: Generated = one, done: int = index) -> None:
            on_step(of, step, done, len(modules))

        terms = Terms(timeout=asked.timeout, on_phase=begins, on_part=_collector(found))
        answer = launch(Start(job=job, terms=terms, setting=setting))
        measured = row(one, asked, answer, found)
        if answer.ended == "interrupted":
            raise Interrupted(_report(described, [*rows, interrupted(measured)]))
        begins("report")
        rows.append(finished(measured, asked, places, found))
    return _report(described, rows)


def _collector(found: dict[str, Any]) -> Callable[[dict[str, Any]], None]:
    """Takes the parts of a result: keys of the row, and kernels one by one."""

    def take(part: dict[str, Any]) -> None:
        kernel = part.pop("kernel", None)
        if kernel is not None:
            found.setdefault("kernels", []).append(kernel)
        found.update(part)

    return take


def _report(described: Environment, rows: list[ModuleRow]) -> InductorReport:
    return InductorReport(
        schema="fastrnns-rs/inductor",
        schema_version=SCHEMA_VERSION,
        warnings=[],
        environment=described,
        modules=rows,
    )


def _job(one: Generated, asked: InductorOptions, places: Places) -> dict[str, Any]:
    return {
        "kind": "inductor",
        "path": str(one.path),
        "device": one.device,
        "times": asked.times,
        "repeat": asked.repeat,
        "threads": asked.threads,
        "kernels": asked.kernels,
        "all_configs": asked.all_configs,
        "trace_path": None if places.trace is None else str(places.trace),
        "memory_snapshot_path": None if places.memory_snapshot is None else str(places.memory_snapshot),
    }


def _check_device(one: Generated, facts: Facts, asked: InductorOptions) -> None:
    kind, _, number = one.device.partition(":")
    count = facts.cuda_device_count
    if kind == "cpu":
        if asked.memory_snapshot:
            message = f"--cuda-memory-snapshot needs a CUDA device, and {one.path} was generated for the CPU"
            raise MissingError(message, "leave it out")
        return
    if kind != "cuda":
        raise MissingError(
            f"{one.path} was generated for {one.device}, which is not supported", "compile it for a CPU or CUDA"
        )
    if int(number or 0) >= count:
        reason = facts.no_cuda_reason or f"this machine has {count} CUDA device{'s' if count > 1 else ''}"
        message = f"{one.path} was generated for {one.device}, and there is none: {reason}"
        raise MissingError(message, "measure it where there is one, or compile the model for the CPU")
