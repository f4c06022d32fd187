"""What two sessions must share so that they measured the same thing, as hashes that an index can hold."""

from __future__ import annotations

import hashlib
import json
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from fastrnns_rs.documents.codec import to_plain

if TYPE_CHECKING:
    from fastrnns_rs.documents.run_file import Result, Run

#: Keys of the environment that differ from session to session, and those of the working directory. What of that
#: matters for a row is its source.
_OF_MOMENT = ("load_average_1m", "git", "gpus", "python_executable", "variables")
#: Keys of a problem that make it larger or smaller, or draw other numbers.
_SIZES = (
    *("seq_length", "num_layers", "input_size", "hidden_size", "mini_batch", "image_size", "proj_size"),
    *("bidirectional", "channels_last"),
)
_DIGITS = 16


def setting_of(run: Run, side: str | None) -> str:
    """Returns a hash of a run's machine, software and settings.

    Args:
        run: The run.
        side: Side of a run of `ab`; None for other runs.
    """
    own = next((one for one in run.sides if one.name == side), None)
    environment = to_plain(run.environment if own is None else own.environment)
    # What our own variables do stands in the plan.
    variables = {name: value for name, value in environment["variables"].items() if not name.startswith("FASTRNNS_")}
    gpus = [{key: one[key] for key in ("name", "uuid", "power_limit_w")} for one in environment["gpus"]]
    plan = run.plan
    return _hash(
        {
            "machine": run.sessions[0].machine_id if run.sessions else None,
            "environment": {key: value for key, value in environment.items() if key not in _OF_MOMENT},
            "variables": variables,
            "gpus": gpus,
            "own_variables": {} if own is None else own.variables,
            "build": run.tool.build_profile,
            "threads": plan.threads,
            "affinity": plan.affinity,
            "jit": asdict(plan.jit),
            "side_by_side": plan.side_by_side,
            "ranks": len(run.ranks),
        }
    )


def conditions_of(setting: str, result: Result, phase: str) -> tuple[str, str]:
    """Returns hashes of everything that a row shares with others of its own kind, and with those that are comparable.

    Equal rows have the same runner with the same source, and the same problem but for its seed. Comparable rows share
    the machine, the software, the settings, device, dtype and phase.

    Args:
        setting: What `setting_of` returned for the run.
        result: A result of the run.
        phase: `forward` or `backward`.
    """
    problem = {key: value for key, value in to_plain(result.problem).items() if key != "seed"}
    shared = {key: value for key, value in problem.items() if key not in _SIZES}
    way = {"setting": setting, "phase": phase, "mode": result.mode, "timing_mode": result.timing_mode}
    own = {"runner": result.runner, "source": result.source_sha256, "problem": problem}
    return _hash({**way, **own}), _hash({**way, "problem": shared})


def _hash(plain: dict[str, Any]) -> str:
    return hashlib.sha256(json.dumps(plain, sort_keys=True).encode()).hexdigest()[:_DIGITS]
