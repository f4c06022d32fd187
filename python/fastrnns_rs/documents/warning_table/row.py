"""Row of the warning table, and topic of several rows."""

from __future__ import annotations

TYPE_CHECKING = False  # see the package
if TYPE_CHECKING:
    from collections.abc import Sequence


# Plain classes, because loading `dataclasses` takes longer than reading the table.
class WarningRow:
    """Warning code with its texts.

    Attributes:
        code: Stable name of the warning in documents.
        effect: Effect on the result. It is the message of the warning, unless the message contains numbers.
        evidence: Description of the evidence: numbers with their units.
        hint: Imperative sentence. Words in capitals are placeholders.
        verbs: Commands that emit the warning.
        details: Background for `fastrnns-rs explain` and the page of warnings; may be empty.
        short: Effect for a list, if the whole effect is too long for a line.
    """

    __slots__ = ("code", "details", "effect", "evidence", "hint", "short", "verbs")

    def __init__(
        self,
        code: str,
        *,
        effect: str,
        evidence: str,
        hint: str,
        verbs: Sequence[str],
        details: str = "",
        short: str = "",
    ) -> None:
        self.code = code
        self.effect = effect
        self.evidence = evidence
        self.hint = hint
        self.verbs = tuple(verbs)
        self.details = details
        self.short = short or effect

    def filled_hint(self, **values: str) -> str:
        """Returns the hint with values for some of its placeholders, by name.

        >>> WarningRow("x", effect="", evidence="", hint="bench --threads N RUNNER", verbs=[]).filled_hint(N="2")
        'bench --threads 2 RUNNER'
        """
        if not values:
            return self.hint
        import re  # Few commands have a warning.

        # Whole words: a name may be part of another. A value may contain a name.
        return re.sub(rf"\b(?:{'|'.join(values)})\b", lambda found: values[found[0]], self.hint)


class Topic:
    """Group of warnings with a common subject.

    Attributes:
        title: Heading.
        about: Paragraphs that hold for all rows, in Markdown.
        rows: Warnings of the topic.
    """

    __slots__ = ("about", "rows", "title")

    def __init__(self, title: str, rows: Sequence[WarningRow], about: str = "") -> None:
        self.title = title
        self.about = about
        self.rows = tuple(rows)
