"""Request of a profile: the options of `bench` and those of a capture."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from fastrnns_rs.errors import UsageError, unknown
from fastrnns_rs.problem.torch_profiler import TorchOptions
from fastrnns_rs.runners import registry
from fastrnns_rs.runners.plan import Choice, Options

#: Default runners, as in PyTorch's fastrnns.
DEFAULT_RUNNERS = ("cudnn", "aten", "jit")
DEFAULT_NLOOPS = 5
DEFAULT_PAUSE_S = 1.0
_LONGEST_PAUSE_S = 86_400
#: Longer than any useful capture: nsys takes minutes to write a capture of five minutes.
DEFAULT_TIMEOUT_S = 900.0

TOOLS = ("nsys", "nvprof", "torch")


@dataclass(frozen=True, slots=True, kw_only=True)
class ProfileRequest:
    """Request for the profiled process, which receives all of it but the timeout.

    Attributes:
        options: Runners, problem and counts, as for `bench`.
        tool: `nsys`, `nvprof` or `torch`; None for the best that works here.
        sleep_between_seconds: Pause between two runners, in seconds.
        torch: Options of torch's profiler, where it is the tool.
    """

    options: Options = field(default_factory=lambda: Options(nloops=DEFAULT_NLOOPS, timeout=DEFAULT_TIMEOUT_S))
    tool: str | None = None
    sleep_between_seconds: float = DEFAULT_PAUSE_S
    torch: TorchOptions = field(default_factory=TorchOptions)

    def __post_init__(self) -> None:
        pause = self.sleep_between_seconds
        if isinstance(pause, bool) or not isinstance(pause, int | float) or not 0 <= pause <= _LONGEST_PAUSE_S:
            message, hint = f"invalid number: {pause!r}", f"Use a number of seconds from 0 to {_LONGEST_PAUSE_S}."
            raise UsageError(message, hint, where="sleep_between_seconds", value=pause)
        if self.tool is not None and self.tool not in TOOLS:
            raise unknown("unknown profiler", self.tool, TOOLS, where="tool")

    def captured(self, nloops: int) -> Sequence[int]:
        """Returns the captured iterations, out of those that a runner runs.

        Raises:
            UsageError: If the schedule of torch's profiler needs more iterations, or records too many.
        """
        if self.tool != "torch":
            return range(nloops)
        self.torch.schedule.check(nloops)
        return [iteration for cycle in self.torch.schedule.cycles(nloops) for iteration in cycle]

    def captured_cycles(self, nloops: int) -> int:
        """Returns the number of captures that torch's profiler makes of a runner."""
        return len(self.torch.schedule.cycles(nloops))


def choice(
    *,
    groups: Sequence[str] | None = None,
    rnns: Sequence[str] | None = None,
    cnns: Sequence[str] | None = None,
    variable_lstms: bool = False,
    names: Sequence[str] = (),
) -> Choice:
    """Returns the runners to profile.

    With groups, the choice is as for `bench`. Without groups, only the named runners run.

    Args:
        groups: Groups whose runners are all profiled.
        rnns: Names of runners; empty for the three that PyTorch's fastrnns profiles by default.
        cnns: Names of runners; empty for those of the group.
        variable_lstms: True profiles the group `vl_rnns` too.
        names: Names of exactly the runners to profile, in this order; all other arguments are ignored.
    """
    if names:
        return Choice(groups=(), names=names)
    if groups is not None:
        return Choice(groups=groups, rnns=rnns, cnns=cnns, variable_lstms=variable_lstms)
    chosen: list[str] = []
    if rnns is not None or (cnns is None and not variable_lstms):
        chosen += rnns or DEFAULT_RUNNERS
    if cnns is not None:
        chosen += cnns or registry.members("cnns")
    return Choice(groups=(), names=chosen, variable_lstms=variable_lstms)
