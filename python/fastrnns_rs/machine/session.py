"""Sessions: starts of `bench`, each with its machine and boot."""

from __future__ import annotations

import hashlib
import uuid
from datetime import UTC, datetime
from pathlib import Path

from fastrnns_rs.documents.run_file import Session

_MACHINE_ID = Path("/etc/machine-id")
_BOOT_ID = Path("/proc/sys/kernel/random/boot_id")
_DIGITS = 32


def new_session() -> Session:
    """Returns the session that begins now on this machine."""
    machine = _text(_MACHINE_ID)
    # The machine ID itself is confidential: see machine-id(5).
    digest = hashlib.sha256(f"fastrnns-rs {machine}".encode()).hexdigest()[:_DIGITS]
    return Session(
        session_id=uuid.uuid4().hex,
        started_utc=utc_now(),
        machine_id=digest if machine else None,
        boot_id=_text(_BOOT_ID) or None,
    )


def utc_now() -> str:
    """Returns the current time, as `2026-11-24T09:30:12Z`."""
    return datetime.now(UTC).isoformat(timespec="seconds").replace("+00:00", "Z")


def _text(path: Path) -> str:
    try:
        return path.read_text(encoding="ascii", errors="replace").strip()
    except OSError:
        return ""
