"""Names of NVIDIA's architectures, such as `sm_90`."""

from __future__ import annotations

import re

from fastrnns_rs.errors import UsageError

_NAME = re.compile(r"sm_(\d{2,3})")


def capability(architecture: str) -> int:
    """Returns the compute capability of an architecture times ten: 90 for `sm_90`.

    Raises:
        UsageError: If the text is not the name of an architecture.
    """
    match = _NAME.fullmatch(architecture)
    if match is None:
        message = f"unknown architecture: {architecture!r}"
        raise UsageError(
            message, "Use names such as sm_80, sm_90 and sm_100.", where="architectures", value=architecture
        )
    return int(match[1])
