"""The check while it runs: its options, its time budget, its folder and what is known of the device."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from gpu_check import children
from gpu_check.children import GRACE_S, Ended
from gpu_check.items import NotRunError

TESTS = Path(__file__).resolve().parents[1]
ROOT = TESTS.parent
#: Time of the budget for the page and for what runs between children.
_MARGIN_S = 10.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Options:
    """Options of the command line.

    Attributes:
        budget_s: Time that the whole check may take.
        folder: Where the page, the figures, logs and captures go.
        quick: Small sizes.
        runners: Runners of the acceptance table; all where it is empty.
        nloops: Timed iterations of a runner.
        test_names: Test files; all with tests marked `gpu` where it is empty.
        models: Models of the comparison; all where it is empty.
    """

    budget_s: float
    folder: Path
    quick: bool = False
    runners: Sequence[str] = ()
    nloops: int = 10
    test_names: Sequence[str] = ()
    models: Sequence[str] = ()


@dataclass(slots=True)
class Session:
    """The check while it runs.

    Attributes:
        options: Options of the command line.
        facts: Software and devices, from the first step.
        deadline: End of the time for children, on the monotonic clock.
    """

    options: Options
    facts: dict[str, Any] = field(default_factory=dict)
    deadline: float = 0.0

    def __post_init__(self) -> None:
        self.deadline = time.monotonic() + self.options.budget_s - _MARGIN_S

    @property
    def left_s(self) -> float:
        """Seconds of the time budget that are left."""
        return self.deadline - time.monotonic()

    @property
    def emulated(self) -> bool:
        """True on an emulated device."""
        return "EMULATED_CUDA" in os.environ

    def path(self, *parts: str) -> Path:
        """Returns the path of a file in the folder of the check, in a folder that exists."""
        found = self.options.folder.joinpath(*parts)
        found.parent.mkdir(parents=True, exist_ok=True)
        return found

    def python(
        self,
        name: str,
        *arguments: str,
        limit_s: float,
        least_s: float = 30.0,
        variables: Mapping[str, str] | None = None,
    ) -> Ended:
        """Runs this Python with the tests' folder on its path.

        Args:
            name: Name of the log file.
            arguments: Arguments of Python.
            limit_s: Time limit; it is no longer than what is left of the budget.
            least_s: Time that it needs to be worth a start.
            variables: Further variables of its environment.

        Raises:
            NotRunError: Too little of the time budget is left.
        """
        if self.left_s < least_s:
            raise NotRunError(f"the time budget of {self.options.budget_s / 60:g} min is spent")
        path = os.pathsep.join([str(TESTS), str(TESTS / "python"), *filter(None, [os.environ.get("PYTHONPATH")])])
        # The history of the user keeps no runs of a check.
        given = {"PYTHONPATH": path, "FASTRNNS_NO_HISTORY": "1", **(variables or {})}
        log = self.path("logs", f"{name}.log")
        return children.run([sys.executable, *arguments], log, max(1.0, min(limit_s, self.left_s - GRACE_S)), given)

    def fastrnns(self, name: str, *arguments: str, limit_s: float, least_s: float = 35.0) -> Ended:
        """Runs `fastrnns-rs`, as `python`."""
        return self.python(name, "-m", "fastrnns_rs", *arguments, limit_s=limit_s, least_s=least_s)
