"""Statistics of samples, computed by the extension. Importing this loads neither torch nor numpy."""

from fastrnns_rs._core import Summary, summarize

__all__ = ["Summary", "summarize"]
