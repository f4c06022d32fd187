"""The page and the figures: the same sections as Markdown and as JSON."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from fastrnns_rs.escaping import visible
from fastrnns_rs.views.text import code_cell, code_span

if TYPE_CHECKING:
    from gpu_check.items import Item, Section

_SHORT = 120


def figures(sections: Sequence[Section], facts: Mapping[str, Any], *, emulated: bool, seconds: float) -> str:
    """Returns everything as JSON."""
    found = {
        "emulated": emulated,
        "seconds": round(seconds, 1),
        "facts": dict(facts),
        "sections": [{"status": one.status, **asdict(one)} for one in sections],
    }
    return json.dumps(found, indent=2) + "\n"


def markdown(sections: Sequence[Section], facts: Mapping[str, Any], *, emulated: bool, seconds: float) -> str:
    """Returns the page: a summary, then a table for each section and the output of what failed."""
    devices = ", ".join(code_span(one["name"]) for one in facts.get("devices", [])) or "none"
    lines = ["# GPU check", ""]
    if emulated:
        lines += ["The device is **emulated**: no figure on this page describes a GPU.", ""]
    software = ("torch", "cuda", "cudnn", "python", "fastrnns_rs")
    known = ", ".join(f"{name} {code_span(str(facts[name]))}" for name in software if facts.get(name))
    lines += [
        f"Devices: {devices}. Software: {known or 'unknown'}. Wall time: {seconds / 60:.1f} min.",
        "",
        *_table(("step", "result", "ok", "failed", "not run", "seconds"), map(_summary, sections)),
    ]
    for section in sections:
        lines += ["", f"## {section.title}", ""]
        heads = ("item", "result", "seconds", "figures", "reason")
        lines += _table(heads, (_row(one) for one in section.items))
        for one in section.items:
            if one.log and one.status == "failed":
                lines += ["", f"Last lines of {code_span(one.name)}:", "", *_fenced(one.log)]
    return "\n".join(lines) + "\n"


def _summary(section: Section) -> Sequence[str]:
    counts = [sum(one.status == status for one in section.items) for status in ("ok", "failed", "not run")]
    return (section.title, section.status, *map(str, counts), f"{section.seconds:.0f}")


def _row(item: Item) -> Sequence[str]:
    figures = "; ".join(f"{name}: {_shown(value)}" for name, value in item.figures.items() if value is not None)
    # Names and messages of other programs are never markup.
    name, measured, reason = (code_cell(_plain(text)) if text else "" for text in (item.name, figures, item.reason))
    return (name, item.status, "" if item.seconds is None else f"{item.seconds:.0f}", measured, reason)


def _shown(value: Any) -> str:
    if isinstance(value, float):
        return f"{value:.6g}"
    if isinstance(value, dict):
        return ", ".join(f"{name} {_shown(one)}" for name, one in value.items())
    if isinstance(value, list):
        return ", ".join(map(str, value)) or "none"
    text = str(value)
    return text if len(text) <= _SHORT else f"{text[:_SHORT]}…"


def _table(heads: Sequence[str], rows: Any) -> Iterator[str]:
    yield f"| {' | '.join(heads)} |"
    yield f"|{'|'.join(['---'] * len(heads))}|"
    for row in rows:
        yield f"| {' | '.join(row)} |"


def _plain(text: str) -> str:
    """Removes colours, and makes one line."""
    return re.sub(r"\s+", " ", re.sub(r"\x1b\[[0-9;]*[A-Za-z]", "", text))


def _fenced(text: str) -> list[str]:
    plain = [visible(line) for line in re.sub(r"\x1b\[[0-9;]*[A-Za-z]", "", text).splitlines()]
    fence = "`" * max(3, 1 + max((len(one) for one in re.findall(r"`+", "\n".join(plain))), default=0))
    return [f"{fence}text", *plain, fence]
