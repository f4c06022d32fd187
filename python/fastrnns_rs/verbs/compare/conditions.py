"""Hashes of the conditions that sessions share if they measure the same thing.

An index can store the hashes.
"""

from __future__ import annotations

import hashlib
import json
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from fastrnns_rs.documents.codec import to_plain
from fastrnns_rs.verbs.compare.environment_keys import choose_plan, count_devices

if TYPE_CHECKING:
    from fastrnns_rs.documents.run_file import Result, Run

#: Keys of the environment that differ from session to session, and keys of the working directory. The part of the
#: working directory that affects a row is the source hash of its runner.
_MOMENTARY_KEYS = ("load_average_1m", "git", "gpus", "python_executable", "variables")
#: Keys of a problem that change its size or its random numbers.
_SIZES = (
    *("seq_length", "num_layers", "input_size", "hidden_size", "mini_batch", "image_size", "proj_size"),
    *("bidirectional", "channels_last"),
)
_DIGITS = 16


def hash_setting(run: Run, side: str | None) -> str:
    """Returns a hash of a run's machine, software and settings.

    Args:
        run: Run to hash.
        side: Side of a run of `ab`; None for other runs.
    """
    own = next((one for one in run.sides if one.name == side), None)
    environment = to_plain(run.environment if own is None else own.environment)
    # The plan records the effect of fastrnns-rs's own variables.
    variables = {name: value for name, value in environment["variables"].items() if not name.startswith("FASTRNNS_")}
    gpus = [{key: one[key] for key in ("name", "uuid", "power_limit_w")} for one in environment["gpus"]]
    plan = choose_plan(run, own)
    return _hash(
        {
            "machine": run.sessions[0].machine_id if run.sessions else None,
            "environment": {key: value for key, value in environment.items() if key not in _MOMENTARY_KEYS},
            "variables": variables,
            "gpus": gpus,
            "own_variables": {} if own is None else own.variables,
            "build": run.tool.build_profile,
            "threads": plan.threads,
            "affinity": plan.affinity,
            "jit": asdict(plan.jit),
            # The times depend on which iterations count, and on a process that takes turns with another.
            "warmup": to_plain(plan.warmup),
            "nloops": plan.stop.parameters.get("nloops"),
            "live": plan.turns is not None,
            # Devices that measure at the same time share the CPU, memory, power and cooling.
            "devices": count_devices(plan),
            "ranks": len(run.ranks),
        }
    )


def hash_conditions(setting: str, result: Result, phase: str) -> tuple[str, str]:
    """Returns the condition hashes that a row shares with equal and comparable rows.

    Equal rows have the same runner with the same source, and the same problem except its seed. Comparable rows share
    machine, software, settings, device, dtype and phase.

    Args:
        setting: Return value of `hash_setting` for the run.
        result: Result of the run.
        phase: `forward` or `backward`.
    """
    problem = {key: value for key, value in to_plain(result.problem).items() if key != "seed"}
    shared = {key: value for key, value in problem.items() if key not in _SIZES}
    way = {"setting": setting, "phase": phase, "mode": result.mode, "timing_mode": result.timing_mode}
    own = {"runner": result.runner, "source": result.source_sha256, "problem": problem}
    return _hash({**way, **own}), _hash({**way, "problem": shared})


def _hash(plain: dict[str, Any]) -> str:
    return hashlib.sha256(json.dumps(plain, sort_keys=True).encode()).hexdigest()[:_DIGITS]
