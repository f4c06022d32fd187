"""Text of documents and their parts at a Python prompt."""

from __future__ import annotations


class Part:
    """Document or part of a document, with a short `repr` that never fails."""

    # Without slots of its own, so that dataclasses with slots may inherit.
    __slots__ = ()

    def __repr__(self) -> str:
        """Returns one line of at most 78 columns, for some with a table below."""
        # The views import the documents.
        from fastrnns_rs.views.prompt.object_text import text

        return text(self)


class Tabular(Part):
    """Document or part of a document that a notebook shows as a table."""

    __slots__ = ()

    def _repr_html_(self) -> str | None:
        """Returns the line and the table as HTML, or None if a value has a wrong type."""
        from fastrnns_rs.views.prompt.html import prompt_html

        return prompt_html(self)
