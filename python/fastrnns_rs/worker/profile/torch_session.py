"""Sessions of torch's profiler around the iterations of runners, and their files."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import torch
import torch.profiler
from torch._C._profiler import _ExperimentalConfig
from torch.cuda import memory as allocator

from fastrnns_rs.documents import file_names
from fastrnns_rs.errors import FastrnnsError, MissingError, first_line
from fastrnns_rs.problem.torch_profiler import (
    HANDLERS,
    SORT_KEYS,
    check_for_device,
    resolve_activities,
    resolve_sort_by,
)
from fastrnns_rs.worker.profile.torch_files import export, export_for_tensorboard, report_write_errors
from fastrnns_rs.worker.profile.trace_handler import imported

if TYPE_CHECKING:
    from contextlib import AbstractContextManager

    from fastrnns_rs.problem.torch_profiler import TorchOptions

Kind = Literal["kineto", "memory_timeline", "memory_snapshot"]

#: Microseconds and bytes, each summed over all calls.
_SUMS = tuple(key for key in SORT_KEYS if key not in {"cpu_time", "device_time"})
#: Torch's warnings about things that are done here on purpose.
_EXPECTED_WARNINGS = (r".*export_memory_timeline.* is deprecated", r".*Profiler clears events at the end of each cycle")
_SNAPSHOT_ENTRIES = 100_000


@dataclass(slots=True, kw_only=True)
class Cycle:
    """Results of one cycle of a schedule. `asdict` makes JSON of it.

    Attributes:
        runner: Name of the runner.
        index: Number of the cycle of this runner, from 0.
        iterations: Recorded iterations, from 0.
        table: Torch's table of averages, sorted and truncated as requested.
        averages: Same rows under torch's names: sums over all calls, in microseconds and bytes. A phase has one row for
            the CPU and one for CUDA.
        files: Path and kind of each written file.
        handed_to: User's `module:function` that received the trace instead of a file.
    """

    runner: str
    index: int
    iterations: list[int]
    table: str
    averages: list[dict[str, Any]]
    files: list[tuple[str, Kind]] = field(default_factory=list)
    handed_to: str | None = None


class TorchSession:
    """Profiler session for runners, one after the other.

    Args:
        options: Recorded activities, schedule and destination.
        device: `cpu`, `cuda` or `cuda:N`.
        folder: Folder of the files, made if it is missing.
        stem: Start of the name of each file.

    Attributes:
        results: Complete cycles, in order.
        warnings: Warnings of torch and of the user's function, each once.

    Raises:
        UsageError: If the device does not support an option, or the trace handler does not exist.
        MissingError: If this torch has no memory timeline.
        FastrnnsError: If a folder cannot be made.
    """

    def __init__(self, options: TorchOptions, device: str, folder: Path, stem: str) -> None:
        check_for_device(options, device)
        # Torch announces that it will remove this option.
        if options.memory_timeline and not hasattr(torch.profiler.profile, "export_memory_timeline"):
            message = f"torch {torch.__version__} does not support `memory_timeline`"
            raise MissingError(message, "Leave out `memory_timeline`.")
        self.results: list[Cycle] = []
        self.warnings: list[str] = []
        self.options = options
        self._device = device
        self._folder = folder
        self._stem = stem
        self._traces = folder
        self._function: Callable[[Any], Any] | None = None
        if options.handler is not None:
            kind, target = options.handler
            if kind in HANDLERS:
                # No shell expands a tilde behind a colon.
                self._traces = Path(target).expanduser()
            else:
                self._function = imported(kind, target)
        with report_write_errors():
            for needed in (self._folder, self._traces):
                needed.mkdir(parents=True, exist_ok=True)

    @contextmanager
    def profile(self, runner: str) -> Iterator[Run]:
        """Profiles the iterations inside the block, which belong to the named runner.

        Raises:
            FastrnnsError: If a file cannot be written, or the user's function failed.
        """
        run = Run(self, runner)
        with self._allocator_recorded():
            run.begin()
            try:
                yield run
            except BaseException:
                run.abandon()
                raise
            run.end()
            self._save_snapshot(runner)

    def new_profiler(self, on_trace_ready: Callable[[Any], None]) -> torch.profiler.profile:
        """Returns a profiler with the requested options."""
        known = {"cpu": torch.profiler.ProfilerActivity.CPU, "cuda": torch.profiler.ProfilerActivity.CUDA}
        flags: dict[str, Any] = dict(self.options.flags())
        return torch.profiler.profile(
            activities=[known[name] for name in resolve_activities(self.options, self._device)],
            schedule=torch.profiler.schedule(**asdict(self.options.schedule)),
            on_trace_ready=on_trace_ready,
            # Events contain their Python calls only if this is verbose; traces always contain them.
            experimental_config=_ExperimentalConfig(verbose=True) if self.options.group_by_stack else None,
            **flags,
        )

    def save(self, runner: str, profiler: torch.profiler.profile, iterations: list[int]) -> None:
        """Saves the recorded iterations of a profiler that has stopped."""
        index = sum(cycle.runner == runner for cycle in self.results)
        averages = profiler.key_averages(
            group_by_input_shape=self.options.group_by_input_shape, group_by_stack_n=self.options.group_by_stack
        )
        sort_by, limit = resolve_sort_by(self.options, self._device), self.options.row_limit
        rows = sorted(averages, key=lambda average: getattr(average, sort_by), reverse=True)
        cycle = Cycle(
            runner=runner,
            index=index,
            iterations=iterations,
            table=averages.table(sort_by=sort_by, row_limit=limit),
            averages=[_row(average) for average in (rows if limit == -1 else rows[:limit])],
        )
        name = f"{self._stem}.{self._file_name(runner)}.{index}"
        with report_write_errors():
            if self.options.memory_timeline:
                path = self._folder / f"{name}.memory.json"
                # Tensors name their device with its index.
                device = f"cuda:{torch.cuda.current_device()}" if self._device == "cuda" else self._device
                profiler.export_memory_timeline(str(path), device=device)
                cycle.files.append((str(path), "memory_timeline"))
            self._save_trace(profiler, cycle, name)
        self.results.append(cycle)

    def _save_trace(self, profiler: torch.profiler.profile, cycle: Cycle, name: str) -> None:
        # A profiler exports its trace only once: to a file or to the user's function.
        if self._function is not None:
            cycle.handed_to = self.options.on_trace_ready
            _call(self._function, profiler, str(cycle.handed_to))
        elif self.options.handler is not None and self.options.handler[0] == "tensorboard":
            cycle.files.append((str(export_for_tensorboard(profiler, self._traces, name)), "kineto"))
        else:
            cycle.files.append((str(export(profiler, self._traces / f"{name}.json.gz", self._stem)), "kineto"))

    def _file_name(self, runner: str) -> str:
        return file_names.choose_distinct(runner, (cycle.runner for cycle in self.results))

    @contextmanager
    def collect_warnings(self) -> Iterator[None]:
        """Collects warnings inside the block instead of printing them."""
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("ignore")
            for category in (UserWarning, FutureWarning, RuntimeWarning):
                warnings.simplefilter("always", category)
            for message in _EXPECTED_WARNINGS:
                warnings.filterwarnings("ignore", message)
            try:
                yield
            finally:
                texts = dict.fromkeys(str(warning.message).strip() for warning in caught)
                self.warnings.extend(text for text in texts if text not in self.warnings)

    @contextmanager
    def _allocator_recorded(self) -> Iterator[None]:
        """Records the history of CUDA's allocator inside the block, where requested."""
        if not self.options.memory_snapshot:
            yield
            return
        record: Any = allocator._record_memory_history  # noqa: SLF001  # torch has no public name for it, nor below
        # Otherwise the history of an earlier runner would be part of this one.
        record("all", stacks="python", max_entries=_SNAPSHOT_ENTRIES, clear_history=True)
        try:
            yield
        finally:
            record(None)

    def _save_snapshot(self, runner: str) -> None:
        """Writes the allocator's history as a file of the last cycle.

        The history covers all cycles.
        """
        cycles = [cycle for cycle in self.results if cycle.runner == runner]
        if not self.options.memory_snapshot or not cycles:
            return
        path = self._folder / f"{self._stem}.{self._file_name(runner)}.snapshot.pickle"
        dump: Any = allocator._dump_snapshot  # noqa: SLF001
        with self.collect_warnings(), report_write_errors():
            dump(str(path))
        cycles[-1].files.append((str(path), "memory_snapshot"))


class Run:
    """Iterations of one runner, under their own profiler.

    An iteration begins with a phase.
    """

    def __init__(self, session: TorchSession, runner: str) -> None:
        self._session = session
        self._runner = runner
        self._iteration = 0
        self._ended = False
        self._saved = 0
        self._closed = False
        self._failure: BaseException | None = None
        with session.collect_warnings():
            self._profiler: Any = session.new_profiler(self._trace_ready)

    def phase(self, name: str) -> AbstractContextManager[object]:
        """Marks a phase of an iteration in the trace: `forward` as `## forward ##`."""
        self._advance()
        return torch.profiler.record_function(f"## {name} ##")

    def step(self) -> None:
        """Ends an iteration.

        The profiler receives its step when the next iteration begins. Otherwise it would record an iteration after the
        last.
        """
        self._advance()
        self._ended = True

    def begin(self) -> None:
        """Starts the profiler."""
        with self._session.collect_warnings():
            self._profiler.__enter__()

    def end(self) -> None:
        """Stops the profiler, which then saves its records."""
        with self._session.collect_warnings():
            self._profiler.__exit__(None, None, None)
        self._raise_failure()

    def abandon(self) -> None:
        """Stops the profiler, which saves nothing more."""
        self._closed = True
        # The error for which the run is abandoned matters more.
        with self._session.collect_warnings(), suppress(Exception):
            self._profiler.__exit__(None, None, None)

    def _advance(self) -> None:
        if self._ended:
            self._ended = False
            with self._session.collect_warnings():
                self._profiler.step()
            self._iteration += 1
            self._raise_failure()

    def _trace_ready(self, profiler: torch.profiler.profile) -> None:
        if self._closed:
            return
        try:
            # A device may stop by itself, with a warning of torch, and so end a cycle before anything is recorded.
            recorded = self._session.options.schedule.cycle(self._saved, self._iteration + 1)
            self._session.save(self._runner, profiler, recorded)
            self._saved += 1
        except BaseException as error:  # noqa: BLE001  # torch would be left between two states, and call this again
            self._failure = error
            self._closed = True

    def _raise_failure(self) -> None:
        if self._failure is not None:
            raise self._failure


def _row(average: Any) -> dict[str, Any]:
    return {
        "name": average.key,
        "device": average.device_type.name.lower(),
        "is_user_annotation": bool(average.is_user_annotation),
        **{name: getattr(average, name) for name in _SUMS},
        "input_shapes": list(average.input_shapes or ()),
        "stack": list(average.stack or ()),
    }


def _call(function: Callable[[Any], Any], profiler: torch.profiler.profile, name: str) -> None:
    """Passes a trace to the user's function.

    Raises:
        FastrnnsError: If the function failed.
    """
    try:
        function(profiler)
    except (Exception, SystemExit) as error:
        raise FastrnnsError(f"{name} failed: {first_line(error)}", "it is called with torch's profiler") from error
