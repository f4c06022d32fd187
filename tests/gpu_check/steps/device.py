"""Software and devices: without a device that works nothing else is run."""

from __future__ import annotations

import json
import shutil
import subprocess
from collections.abc import Iterator
from typing import TYPE_CHECKING

from gpu_check.items import FAILED, NOT_RUN, OK, Item

if TYPE_CHECKING:
    from gpu_check.session import Session

_LIMIT_S = 120.0
_QUERY = ("driver_version", "pstate", "persistence_mode", "mig.mode.current", "clocks.max.sm", "power.limit")


def run(session: Session) -> Iterator[Item]:
    """Yields an item for torch, for the package's doctor and for the driver."""
    file = session.path("facts.json")
    ended = session.python("facts", "-m", "gpu_check.facts", str(file), limit_s=_LIMIT_S)
    if file.exists():
        session.facts = json.loads(file.read_text(encoding="utf-8"))
    figures = {name: value for name, value in session.facts.items() if name != "devices"}
    for index, one in enumerate(session.facts.get("devices", [])):
        figures |= {f"cuda:{index} {name}": value for name, value in one.items()}
    if ended.status != 0:
        lines = ended.excerpt.splitlines()
        reason = f"torch does not work: {lines[-1] if lines else ended.reason}"
        yield Item(name="torch", status=FAILED, reason=reason, figures=figures, log=ended.excerpt)
    elif not session.facts["available"]:
        yield Item(name="torch", status=FAILED, reason="torch.cuda.is_available() is False", figures=figures)
    else:
        yield Item(name="torch", status=OK, figures=figures, seconds=ended.seconds)
    ended = session.fastrnns("doctor", "doctor", limit_s=_LIMIT_S)
    reason = None if ended.status == 0 else ended.reason
    yield Item(name="doctor", status=FAILED if reason else OK, reason=reason, seconds=ended.seconds, log=ended.excerpt)
    yield _driver(session)


def _driver(session: Session) -> Item:
    """Returns the item with nvidia-smi's report of each device."""
    program = shutil.which("nvidia-smi")
    if program is None or session.emulated:
        reason = "the device is emulated" if session.emulated else "nvidia-smi is not on the path"
        return Item(name="driver", status=NOT_RUN, reason=reason)
    command = [program, f"--query-gpu=index,{','.join(_QUERY)}", "--format=csv,noheader"]
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=30, check=True)
    except (OSError, subprocess.SubprocessError) as error:
        return Item(name="driver", status=FAILED, reason=f"nvidia-smi failed: {error}")
    figures = {}
    for line in done.stdout.splitlines():
        index, *values = (one.strip() for one in line.split(","))
        figures |= {f"{index} {name}": value for name, value in zip(_QUERY, values, strict=False)}
    return Item(name="driver", status=OK, figures=figures)
