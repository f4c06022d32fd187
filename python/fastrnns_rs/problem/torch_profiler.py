"""Options of torch's profiler: checked here, and passed to the child as flags."""

from __future__ import annotations

from dataclasses import dataclass, field

from fastrnns_rs.errors import UsageError, unknown
from fastrnns_rs.problem.problem import check_count
from fastrnns_rs.problem.profiler_schedule import Schedule

ACTIVITIES = ("cpu", "cuda")
SORT_KEYS = (
    "count",
    "cpu_time",
    "cpu_time_total",
    "self_cpu_time_total",
    "device_time",
    "device_time_total",
    "self_device_time_total",
    "cpu_memory_usage",
    "self_cpu_memory_usage",
    "device_memory_usage",
    "self_device_memory_usage",
    "flops",
)
HANDLERS = ("chrome", "tensorboard")


@dataclass(frozen=True, slots=True, kw_only=True)
class TorchOptions:
    """Options of `torch.profiler.profile`, and the outputs of each schedule cycle.

    Attributes:
        activities: Traced activities, out of `cpu` and `cuda`; None decides by device. Without `cpu`, a trace has no
            annotations of phases and iterations.
        schedule: Schedule of recorded iterations.
        on_trace_ready: Destination of traces: `chrome:DIR` or `tensorboard:DIR`; with `module:function`, the function
            is called with the profiler instead. None writes Chrome's format to the capture's own folder.
        record_shapes: Shapes of inputs are recorded.
        profile_memory: Allocations are recorded.
        with_stack: Python's calls are recorded.
        with_flops: Operations of matrix products and convolutions are counted.
        with_modules: Modules of TorchScript are recorded.
        group_by_input_shape: The table has a row for each operator and input shape.
        group_by_stack: The table has a row for each operator and this many of its callers; 0 turns it off.
        sort_by: Sort key of the table, under torch's current name or with `cuda` for `device`. None is the time in
            kernels where CUDA is traced, otherwise the time on the CPU.
        row_limit: Number of rows of the table; -1 for all.
        memory_timeline: Sizes of parameters, activations and gradients over time are written.
        memory_snapshot: The history of CUDA's allocator is written.
    """

    activities: tuple[str, ...] | None = None
    schedule: Schedule = field(default_factory=Schedule)
    on_trace_ready: str | None = None
    record_shapes: bool = False
    profile_memory: bool = False
    with_stack: bool = False
    with_flops: bool = False
    with_modules: bool = False
    group_by_input_shape: bool = False
    group_by_stack: int = 0
    sort_by: str | None = None
    row_limit: int = 20
    memory_timeline: bool = False
    memory_snapshot: bool = False

    def __post_init__(self) -> None:
        self._check_activities()
        check_count("group_by_stack", self.group_by_stack, least=0)
        if self.row_limit != -1 and self.row_limit < 1:
            hint = "Use an integer of at least 1, or -1 for all rows."
            raise UsageError(f"out of range: {self.row_limit}", hint, where="row_limit", value=self.row_limit)
        self._check_handler()
        self._check_sort_by()

    def _check_activities(self) -> None:
        for activity in self.activities or ():
            if activity not in ACTIVITIES:
                raise unknown("unknown activity", activity, ACTIVITIES, where="activities")
        if self.activities is not None and not self.activities:
            raise UsageError("missing value: `activities`", f"Use {' or '.join(ACTIVITIES)}.")
        if self.activities and len(set(self.activities)) < len(self.activities):
            message = f"duplicate activity: {' '.join(self.activities)!r}"
            raise UsageError(message, "Use each activity once.", where="activities")

    def _check_handler(self) -> None:
        if self.handler is None:
            return
        kind, target = self.handler
        names = f"{kind}.{target}".split(".")
        if not target or (kind not in HANDLERS and not all(name.isidentifier() for name in names)):
            given, hint = self.on_trace_ready, "Use chrome:DIR, tensorboard:DIR or module:function."
            raise UsageError(f"invalid handler: {given!r}", hint, where="on_trace_ready", value=given)

    def _check_sort_by(self) -> None:
        if self.sort_by is None:
            return
        key = _todays(self.sort_by)
        if key not in SORT_KEYS:
            raise unknown("invalid key", self.sort_by, SORT_KEYS, where="sort_by")
        if key == "flops" and not self.with_flops:
            raise self._unsorted("the table has no FLOPs", "Add `with_flops=True`.")
        if "memory" in key and not self.flags()["profile_memory"]:
            raise self._unsorted("the table has no memory", "Add `profile_memory=True`.")

    def _unsorted(self, reason: str, hint: str) -> UsageError:
        message = f"invalid key: {self.sort_by!r}"
        return UsageError(message, hint, where="sort_by", reason=reason, value=self.sort_by)

    @property
    def handler(self) -> tuple[str, str] | None:
        """`chrome` or `tensorboard` with a folder, or a module with a function."""
        if self.on_trace_ready is None:
            return None
        kind, _, target = self.on_trace_ready.partition(":")
        return kind, target

    @property
    def trace_folder(self) -> str | None:
        """Folder of `chrome:DIR` or `tensorboard:DIR`; None for another destination."""
        kind, target = self.handler or ("", "")
        return target if kind in HANDLERS else None

    def flags(self) -> dict[str, bool]:
        """Returns the recording flags of torch: requested flags and flags they require."""
        return {
            "record_shapes": (
                self.record_shapes or self.with_flops or self.group_by_input_shape or self.memory_timeline
            ),
            "profile_memory": self.profile_memory or self.memory_timeline,
            "with_stack": self.with_stack or self.group_by_stack > 0 or self.memory_timeline,
            "with_flops": self.with_flops,
            "with_modules": self.with_modules,
        }


def check_for_device(options: TorchOptions, device: str) -> None:
    """Rejects options that a device does not support.

    Raises:
        UsageError: If CUDA's activity, times, memory or allocator are requested on a CPU.
    """
    resolve_activities(options, device)
    resolve_sort_by(options, device)
    if options.memory_snapshot and not _is_cuda(device):
        message = f"`memory_snapshot` needs a CUDA device, and the device is {device}"
        raise UsageError(message, "Use `memory_timeline=True` instead.")


def resolve_activities(options: TorchOptions, device: str) -> tuple[str, ...]:
    """Returns the traced activities: the requested ones, or the CPU and the device.

    Raises:
        UsageError: If CUDA is requested on a CPU.
    """
    if options.activities is None:
        return ACTIVITIES if _is_cuda(device) else ("cpu",)
    if "cuda" in options.activities and not _is_cuda(device):
        reason, hint = f"the device is {device}", "Use `device=cuda`."
        raise UsageError("invalid activity: 'cuda'", hint, where="activities", reason=reason, value="cuda")
    return options.activities


def resolve_sort_by(options: TorchOptions, device: str) -> str:
    """Returns the sort key of the table, under torch's current name.

    Raises:
        UsageError: If a time or memory of CUDA is requested where CUDA is not traced.
    """
    traced = "cuda" in resolve_activities(options, device)
    if options.sort_by is None:
        return "self_device_time_total" if traced else "self_cpu_time_total"
    key = _todays(options.sort_by)
    if "device" in key and not traced:
        message, hint = f"invalid key: {options.sort_by!r}", f"Use {key.replace('device', 'cpu')}."
        reason = "CUDA is not traced"
        raise UsageError(message, hint, where="sort_by", reason=reason, value=options.sort_by)
    return key


def _todays(key: str) -> str:
    """Returns the name since torch 2.11 of a sort key, given an older name.

    Older names have `cuda` for `device`.
    """
    return key.replace("cuda", "device")


def _is_cuda(device: str) -> bool:
    return device.partition(":")[0] == "cuda"
