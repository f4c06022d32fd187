"""What the checks of a capture say of a file, and files for them."""

from __future__ import annotations

import gzip
import json
from collections import Counter
from pathlib import Path
from typing import Any

from fastrnns_rs.documents.capture_manifest import CheckEntry
from fastrnns_rs.verbs.profile import capture_checks

EXPECTED = capture_checks.expected_ranges({"py": ["forward", "backward"], "jit": ["forward"]}, range(2))
NAMES = [*EXPECTED]


def by_id(found: list[CheckEntry]) -> dict[str, CheckEntry]:
    assert len({one.id for one in found}) == len(found)
    return {one.id: one for one in found}


def nsys(path: Path, expected: Counter[str] = EXPECTED, **more: Any) -> dict[str, CheckEntry]:
    return by_id(capture_checks.nsys_sqlite(path, expected, **{"cuda": False, **more}))


def kineto(path: Path, text: str | bytes | Any, expected: Counter[str] | None = None) -> dict[str, CheckEntry]:
    if not isinstance(text, str | bytes):
        text = json.dumps(text)
    content = text if isinstance(text, bytes) else text.encode()
    path.write_bytes(gzip.compress(content) if path.suffix == ".gz" else content)
    return by_id(capture_checks.kineto(path, Counter() if expected is None else expected))


def trace(*names: str) -> dict[str, Any]:
    return {"traceEvents": [{"ph": "X", "cat": "user_annotation", "name": name} for name in names]}
