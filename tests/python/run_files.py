"""Run files of any size without running anything."""

from __future__ import annotations

import itertools
import json
import random
from collections.abc import Iterable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from fastrnns_rs.documents.codec import from_plain, to_plain
from fastrnns_rs.documents.replicates import common_class, counted, level
from fastrnns_rs.documents.run_file import (
    Compile,
    Environment,
    FirstCall,
    Git,
    Gpu,
    Jit,
    PlanRecord,
    Process,
    Result,
    Run,
    RunSide,
    Session,
    Stop,
    Tool,
    Warmup,
)
from fastrnns_rs.problem.problem import Problem
from fastrnns_rs.verbs.bench.host_time import with_host_time
from fastrnns_rs.verbs.bench.phase_summary import summary
from fastrnns_rs.verbs.compare.side import Series

RUNS = itertools.count()
FORMATS = ("table", "json", "markdown", "junit")
PROBLEM = Problem(seq_length=16, num_layers=1, input_size=64, hidden_size=64, mini_batch=4)
ENVIRONMENT = Environment(
    python_version="3.11.9",
    torch_version="2.15.0",
    os="Linux 6.1",
    cpu_model="a processor",
    cpu_count=2,
    cpu_affinity=[0, 1],
    num_threads=2,
    load_average_1m=0.5,
    git=Git(commit="c0ffee", dirty=False),
)
SESSION = Session(session_id="5e5510", started_utc="2026-01-01T00:00:00Z", machine_id=None, boot_id=None)
CARD = Gpu(
    index=0,
    name="a card",
    uuid="GPU-0",
    compute_capability="9.0",
    memory_total_bytes=1 << 30,
    sm_clock_mhz=1000.0,
    power_limit_w=300.0,
    temperature_c=40.0,
)


def process(index: int, forward: list[int], backward: list[int] | None, *, warmup: int = 2) -> Process:
    """A process; its samples before the timed ones are ten times as slow."""
    slow = [10 * forward[0]] * warmup
    return Process(
        index=index,
        order=index,
        status="ok",
        warmup_class="warmup",
        steady_from=warmup,
        first_call=FirstCall(forward_ns=10**9, backward_ns=None),
        compile=Compile(cold_ns=None, warm_ns=None, graph_breaks=None, recompilations=None),
        forward_ns=slow + forward,
        backward_ns=None if backward is None else slow + backward,
    )


def samples(generator: random.Random, level: float, count: int) -> list[int]:
    """Samples of one process, whose level is its own."""
    level *= generator.lognormvariate(0, 0.01)
    return [round(level * generator.lognormvariate(0, 0.02)) for _ in range(count)]


def result(
    runner: str = "cudnn",
    *,
    seed: int = 0,
    processes: int = 10,
    level_ns: float = 1e6,
    count: int = 15,
    backward: bool = True,
    **changes: Any,
) -> Result:
    """A runner's processes, 1 % apart, each with `count` timed samples; backward takes twice as long."""
    generator = random.Random(f"{seed} {runner}")
    made = [
        process(
            index,
            samples(generator, level_ns, count),
            samples(generator, 2 * level_ns, count) if backward else None,
        )
        for index in range(processes)
    ]
    return replace(
        Result(
            runner=runner,
            group="lstm",
            mode="train",
            timing_mode="cpu_wall",
            timer_resolution_ns=1,
            problem=PROBLEM,
            status="ok",
            processes=made,
            warmup_class="warmup",
        ),
        **changes,
    )


def exactly(medians: Sequence[int], runner: str = "cudnn", **changes: Any) -> Result:
    """A runner whose processes have these medians forward, and no backward."""
    made = [process(index, [median - 1, median, median + 2], None) for index, median in enumerate(medians)]
    return replace(result(runner, processes=0), processes=made, **changes)


def series(runner: str, medians_ns: Sequence[float], **changes: Any) -> Series:
    """Times as they are compared, with ten samples to each; of a foreign file where nothing else is said."""
    return Series(**{"runner": runner, "medians_ns": [*medians_ns], "n_samples": 10 * len(medians_ns), **changes})


def failed(runner: str, reason: str = "out of memory", status: Any = "failed") -> Result:
    """A runner that did not work."""
    return result(runner, processes=0, status=status, reason=reason, warmup_class=None)


def summarised(found: Result) -> Result:
    """A result with the statistics of its samples, and the class of its processes, where it has none of its own."""
    complete = counted(found.processes)
    described: dict[str, Any] = {}
    if found.warmup_class == "warmup":
        described["warmup_class"] = common_class(one for ranks in complete for one in ranks)
    for phase in ("forward", "backward") if found.status == "ok" and complete else ():
        timed = [[one.samples_ns(phase, timed=True) for one in ranks] for ranks in complete]
        if getattr(found, phase) is None and all(all(ranks) for ranks in timed):
            times = [level([one.median_ns(phase) or 0.0 for one in ranks]) for ranks in complete]
            statistics = summary(timed, [ranks[0].session for ranks in complete], times)
            described[phase] = with_host_time(statistics, phase, [one for ranks in complete for one in ranks])
    return replace(found, **described)


def restated(plain: dict[str, Any]) -> dict[str, Any]:
    """A changed result of a document with the statistics and the class of its processes."""
    found = from_plain(Result, {**plain, "forward": None, "backward": None})
    return to_plain(summarised(found))


def run(results: Iterable[Result], **changes: Any) -> Run:
    """A run of these results, in the session of all others that are made here."""
    one_session = [
        summarised(
            replace(
                one, processes=[replace(each, session=each.session or SESSION.session_id) for each in one.processes]
            )
        )
        for one in results
    ]
    return replace(
        Run(
            run_id=f"00000000-0000-4000-8000-{next(RUNS):012}",
            created_utc="2026-01-01T00:00:00Z",
            status="complete",
            command=["fastrnns-rs", "bench"],
            tool=Tool(name="fastrnns-rs", version="0.1.0", build_profile="release"),
            environment=ENVIRONMENT,
            plan=PlanRecord(
                preset="cpu",
                processes=10,
                order_seed=1,
                warmup=Warmup(mode="detect", iterations=None),
                stop=Stop(rule="count", parameters={"iterations": 15.0}),
                stopped_by="count",
                jit=Jit(
                    fuser="te",
                ),
                timeout_s=600.0,
            ),
            results=one_session,
            sessions=[SESSION],
        ),
        **changes,
    )


def both(first: Result, second: Result, **changes: Any) -> Run:
    """A run of `ab`."""
    sides = [
        RunSide(
            name=name,
            label=f"{name}: {one.runner}",
            runner=one.runner,
            python="/usr/bin/python3",
            environment=ENVIRONMENT,
        )
        for name, one in (("a", first), ("b", second))
    ]
    return run([replace(first, side="a"), replace(second, side="b")], sides=sides, **changes)


def of_other_session(made: Run, name: str = "0ther") -> Run:
    """The run in a session of another name."""
    other = replace(SESSION, session_id=name)
    rows = [replace(row, processes=[replace(one, session=name) for one in row.processes]) for row in made.results]
    return replace(made, sessions=[other], results=rows)


def write(path: Path, made: Run) -> str:
    """The path of a file that holds the run."""
    path.write_text(json.dumps(made.to_dict()))
    return str(path)
