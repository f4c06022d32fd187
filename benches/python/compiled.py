"""`nn.LSTM` compiled and replayed, against `nn.LSTM` as it is: what this machine gains by it, and what compiling costs.

On a CPU `cudnn` and `aten` are the same code. Give sizes as `seq_length=64`; the preset's hold for what is not given.
"""

from __future__ import annotations

import statistics
import sys
from typing import TYPE_CHECKING

from fastrnns_rs import bench

if TYPE_CHECKING:
    from fastrnns_rs.documents.run_file import Result

BASELINES = ("cudnn", "aten")
COMPILED = ("compile_cell", "compile_scan")
PROCESSES = 3


def seconds(durations_ns: list[int | None]) -> str:
    known = [one / 1e9 for one in durations_ns if one is not None]
    return f"{statistics.median(known):7.1f} s" if known else "        -"


def row(result: Result, baselines: list[Result]) -> str:
    """Estimates in milliseconds, each with its ratio to the baselines, and the median cost of compiling."""
    if result.status != "ok":
        return f"{result.runner:14} {result.status}: {result.reason}"
    cells = []
    for phase in ("forward", "backward"):
        found = getattr(result, phase)
        ratios = [
            f"{found.estimate_ns / getattr(one, phase).estimate_ns:6.2f}x" for one in baselines if one.status == "ok"
        ]
        cells.append(f"{found.estimate_ns / 1e6:10.3f} ms {' '.join(ratios)}")
    costs = [one.compile for one in result.processes if one.status == "ok"]
    cold, warm = seconds([one.cold_ns for one in costs]), seconds([one.warm_ns for one in costs])
    return f"{result.runner:14} {'  '.join(cells)}  {cold} {warm}"


def main() -> None:
    sizes = {name: int(value) for name, value in (one.split("=") for one in sys.argv[1:])}
    probe = bench(["cudnn"], quick=True, processes=1)
    device = probe.plan.runners[0].problem.device
    names = [*BASELINES, *COMPILED, *(["cudagraph"] if device.startswith("cuda") else [])]
    run = bench(names, processes=PROCESSES, compile_timeout=900, timeout=3600, **sizes)
    against = " and ".join(BASELINES)
    print(f"{device}: forward and backward, each with its ratio to {against}; compiling cold, warm")
    for name in names:
        print(row(run[name], [run[one] for one in BASELINES]))


if __name__ == "__main__":
    main()
