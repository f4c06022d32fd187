"""Text of a noise floor: what `ab --same` and `doctor` print."""

from __future__ import annotations

from typing import TYPE_CHECKING

from fastrnns_rs.counting import counted
from fastrnns_rs.escaping import visible
from fastrnns_rs.views.figures import change_with_unit, half_width_percent, percent_decimals
from fastrnns_rs.views.screen import Line, wrapped_lines

if TYPE_CHECKING:
    from fastrnns_rs.documents.noise_floor import NoiseFloor
    from fastrnns_rs.documents.self_check import SelfCheck

#: Sessions that a check of this session, and a figure between sessions, need.
_EARLIER_SESSIONS, _ALL_SESSIONS = 3, 8
_FOUND = {"difference", "drift", "jump"}
#: Subject of a difference, and of an interval without a difference.
_SUBJECTS = {"sides": "side b", "launch_order": "second of a pair", "session": "this session"}
_CHECKED = {"sides": "sides", "launch_order": "launch order"}


def lines(floor: NoiseFloor, limit: int) -> list[Line]:
    """Returns the answer of `ab --same`, and the figures that are stored.

    Args:
        floor: Noise floor that was measured now.
        limit: Width of the terminal.
    """
    within = f"{_percent(floor.minimum_detectable_change)} within a session"
    stored = f"Stored noise floor: {within}, {between_sessions(floor)}."
    texts = [*sessions(floor), stored, f"Random relabelling: {false_alarms(floor)}."]
    return [Line(""), *wrapped_lines([answer(floor)], limit, "bold"), *wrapped_lines(texts, limit)]


def sentence(floor: NoiseFloor) -> str:
    """Returns a stored noise floor in one line."""
    return visible(
        f"noise floor of {floor.device}: 80 % of comparisons find {within_session(floor)} within a session, "
        f"{between_sessions(floor)}; random relabelling: {false_alarms(floor)}; "
        f"from {floor.n_processes} processes of {floor.runner}/{floor.phase}"
    )


def answer(floor: NoiseFloor) -> str:
    """Returns the result of the checks in one sentence; empty without checks."""
    found = differences(floor)
    if found:
        return f"Differences found: {', '.join(found)}."
    if not floor.checks:
        return ""
    known = [
        f"{_CHECKED[one.check]} {half_width_percent(one.ratio or 0, one.ratio_ci_low, one.ratio_ci_high)}"
        for one in floor.checks
        if one.check in _CHECKED
    ]
    return f"No difference found: {', '.join([*known, 'no drift', 'no jump'])}."


def differences(floor: NoiseFloor) -> list[str]:
    """Returns a text for each check with a finding, as `drift: +10 % over the run`."""
    return [_difference(one) for one in floor.checks if one.finding in _FOUND]


def sessions(floor: NoiseFloor) -> list[str]:
    """Returns a sentence about earlier sessions, unless they differ."""
    check = next((one for one in floor.checks if one.check == "session"), None)
    if check is None or check.finding not in {"none", "unknown"}:
        return []
    if check.n_sessions is None:
        return ["Sessions: not checked, because runs are not kept in the history."]
    if check.finding == "unknown":
        return [f"Sessions: not known yet, with {check.n_sessions} of {_EARLIER_SESSIONS} earlier sessions."]
    half = half_width_percent(check.ratio or 0, check.ratio_ci_low, check.ratio_ci_high)
    return [f"Sessions: this session is within the spread of {check.n_sessions} earlier sessions ({half})."]


def within_session(floor: NoiseFloor) -> str:
    """Returns the minimum detectable effect within a session, with its process count."""
    side = floor.processes_per_side
    return f"{_percent(floor.minimum_detectable_change)} by {side} + {side} processes"


def between_sessions(floor: NoiseFloor) -> str:
    """Returns the effect between sessions, as `3.4 % between sessions`."""
    if floor.between_sessions_change is not None:
        return f"{_percent(floor.between_sessions_change)} between sessions"
    have = "" if floor.n_sessions is None else f" ({floor.n_sessions} of {_ALL_SESSIONS})"
    return f"unknown between sessions{have}"


def false_alarms(floor: NoiseFloor) -> str:
    """Returns the false alarm rate of random labels, and its limit."""
    shares = (floor.false_alarm_rate, floor.false_alarm_ci_low, floor.false_alarm_ci_high)
    rate, low, high = (100 * share for share in shares)
    return f"{rate:.1f} [{low:.1f}, {high:.1f}] % false alarms; cannot show a bias"


def _difference(one: SelfCheck) -> str:
    phase = f" ({one.phase})" if one.phase else ""
    ratio = one.ratio or 0.0
    if one.finding == "drift":
        return f"drift: {_change(ratio)} over the run"
    if one.finding == "jump":
        text = f"{_change(ratio)} after process {one.after_process}"
        return f"jump: {text}" if one.n_jumps <= 1 else f"{counted(one.n_jumps, 'jump')}, the largest {text}"
    earlier = f" against {one.n_sessions} earlier sessions" if one.check == "session" else ""
    change = change_with_unit(ratio, one.ratio_ci_low, one.ratio_ci_high)
    return f"{_SUBJECTS.get(one.check, one.check)} {change}{earlier}{phase}"


def _change(ratio: float) -> str:
    percent = 100 * (ratio - 1)
    return f"{percent:+.{percent_decimals(percent)}f} %"


def _percent(change: float) -> str:
    return f"{100 * change:.2g} %"
