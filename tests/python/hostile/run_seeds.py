"""Run files that are sound, from which mutants are made."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

from commands import run_pretended
from conftest import ROOT
from document_readers import Place
from run_files import both, exactly, failed, result, run
from summary_documents import example

from fastrnns_rs.documents.codec import to_plain
from fastrnns_rs.documents.run_file import Run
from fastrnns_rs.verbs.bench.phase_summary import summary

DATA = ROOT / "tests" / "data"


def stored(pattern: str) -> list[Any]:
    """Documents of the test data."""
    return [json.loads(path.read_text(encoding="utf-8")) for path in sorted(DATA.glob(pattern))]


def run_seeds(place: Place) -> list[Any]:
    """Runs of `bench` and of `ab`: of every version, plain, of a sweep, and with a value for every key."""
    few = result(processes=3, count=4)
    rows = [few, result("jit", processes=2, count=3, backward=False), failed("py"), failed("aten", status="timed_out")]
    sides = [both(exactly([100, 101, 102]), exactly([200, 201, 202], "jit")), both(few, replace(few, runner="jit"))]
    old = stored("documents/run_*.json") + stored("views/run.json")
    return [*old, *(one.to_dict() for one in (run(rows), *sides)), *_full(), _sweep(place)]


def _full() -> list[Any]:
    """Of `bench`, of its ranks, and of `ab`."""
    row, other = (result(runner, processes=2, count=1) for runner in ("cudnn", "jit"))
    made = {"bench": run([row]), "ranks": run([row]), "ab": both(row, other)}
    return [_with_every_key(kind, one.to_dict()) for kind, one in made.items()]


def _with_every_key(kind: str, plain: Any) -> Any:
    found = _filled(plain, example(Run, lambda: "some text"))
    # Only the processes of `ab` take turns.
    found["plan"] |= {
        "turns": found["plan"]["turns"] if kind == "ab" else None,
        "stop": {"rule": "time", "parameters": {}},
    }
    found |= {"sides": found["sides"] if kind == "ab" else [], "ranks": found["ranks"] if kind == "ranks" else []}
    # It says why there is no exponent.
    found["sweep"]["growth"][0]["reason"] = None
    for row in found["results"]:
        row["side"] = row["side"] if kind == "ab" else None
        # Its processes are at no point of the sweep.
        row |= {"point": {}, "label": f"{row['runner']} on {row['problem']['device']}"}
        for place, process in enumerate(row["processes"]):
            turns = [0, 2] if kind == "ab" else None
            points = {"forward_change_points": [1], "backward_change_points": [2], "slices": turns, "timed_from": 2}
            # Between two turns, the time is that of the other side.
            points["timed_loop_ns"] = None if kind == "ab" else process["timed_loop_ns"]
            process.update(points, **({"index": 0, "rank": place} if kind == "ranks" else {"rank": None}))
        for phase in ("forward", "backward"):
            timed = [process[f"{phase}_ns"][2:] for process in row["processes"]]
            described = to_plain(summary([timed] if kind == "ranks" else [[one] for one in timed]))
            row[phase] = described | {"host_ns": 4.0, "launch_bound": False}
    return found


def _filled(found: Any, whole: Any) -> Any:
    """A part of a document, with parts of another one where it has none."""
    if isinstance(found, dict) and found:
        return {key: _filled(value, whole[key]) if key in whole else value for key, value in found.items()}
    if isinstance(found, list) and found and isinstance(found[0], dict):
        return [_filled(one, whole[0]) for one in found]
    return whole if found is None or found in ([], {}) else found


def _sweep(place: Place) -> Any:
    path = place.folder / "sweep.json"
    sizes = ["--axis", "hidden-size=8,16,32", "--mini-batch", "4", "--seq-length", "4"]
    words = ["--quick", "--device", "cpu", "--processes", "2", "--rnns", "cudnn", "--nloops", "3"]
    done = run_pretended("bench", *words, *sizes, "--output", path, cwd=place.folder)
    assert done.status == 0, done
    return json.loads(path.read_text())
