"""Colours and hatches that are the same on every picture.

Each category of kernels, kind of copy and cause of idle time has its own.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple
from zlib import crc32

from fastrnns_rs.views.plots.style import HATCHES

if TYPE_CHECKING:
    from fastrnns_rs.views.plots.style import Theme


class Look(NamedTuple):
    """Colour and hatch of an area."""

    color: str
    hatch: str


#: Place in the colours and in the hatches of each category. No two are equal.
_CATEGORIES = {
    "gemm": (0, 0),
    "elementwise": (1, 1),
    "normalization": (2, 2),
    "attention": (3, 3),
    "layout": (4, 4),
    "reduction": (7, 5),
    "convolution": (0, 6),
    "communication": (2, 7),
    "cudnn_rnn_persistent": (3, 0),
    "cudnn_rnn_step": (3, 6),
    "triton_pointwise": (1, 0),
    "triton_reduction": (7, 1),
    "triton_persistent_reduction": (7, 2),
    "triton_foreach": (4, 1),
    "triton_split_scan": (0, 4),
    "triton_template": (0, 3),
    "nvfuser": (2, 4),
    "memory": (4, 2),
    "other": (5, 5),
    "unknown": (5, 2),
    "other kernels": (5, 4),
    "copies and sets": (6, 0),
}
#: Place in the hatches of each cause of idle time, whose colour is that of the background.
_CAUSES = {
    "host": 1,
    "launch": 0,
    "synchronization": 2,
    "dependency": 3,
    "unmatched": 6,
    "allocation": 4,
    "data_loader": 5,
    "graph_gap": 7,
    "other": 8,
}
_COPIES = ("memcpy", "memset")


def category(name: str, theme: Theme) -> Look:
    """Returns the look of a category of kernels, or of a kind of copies.

    An unknown name has a look that follows from the name.
    """
    known = "copies and sets" if name.startswith(_COPIES) else name
    color, hatch = _CATEGORIES.get(known) or divmod(crc32(name.encode()), len(HATCHES))
    return Look(theme.series[color % len(theme.series)], HATCHES[hatch])


def idle_cause(name: str, theme: Theme) -> Look:
    """Returns the look of a cause of idle time.

    An unknown cause has a look that follows from its name.
    """
    place = _CAUSES.get(name, crc32(name.encode()) % len(HATCHES))
    return Look(theme.band, HATCHES[place])
