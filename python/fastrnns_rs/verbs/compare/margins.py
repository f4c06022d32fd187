"""Equivalence margins: a share, or the noise floor of the machine."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from typing import TYPE_CHECKING

from fastrnns_rs.documents.argument_checks import check_size
from fastrnns_rs.documents.warning import make_warning
from fastrnns_rs.errors import MissingError, UsageError, is_one_of
from fastrnns_rs.escaping import visible
from fastrnns_rs.verbs.compare.environment_keys import values
from fastrnns_rs.verbs.compare.session_spread import LEAST_SESSIONS_OF_HISTORY
from fastrnns_rs.verbs.compare.side import sizes

if TYPE_CHECKING:
    from fastrnns_rs.documents.codec import RunWarning
    from fastrnns_rs.documents.comparison import MarginSource
    from fastrnns_rs.documents.noise_floor import NoiseFloor
    from fastrnns_rs.verbs.compare.side import Side

DEFAULT_MARGIN = 0.01
NOISE_FLOOR = "noise-floor"
#: A larger margin is most likely a percentage without the sign.
_TOO_MUCH = 0.5
#: Above this share of false alarms, where 5 % are expected, verdicts of the machine are unreliable.
_MOST_FALSE_ALARMS = 0.07

_NUMBER = "Use a number such as 1%."
_HINT = f"Use a number from 0 to below {_TOO_MUCH:.0%}, such as 1% or 0.01, or noise-floor."


def resolve_margin(
    given: float | str | None, sides: Iterable[Side] = ()
) -> tuple[float, MarginSource, list[RunWarning]]:
    """Returns a margin as a share, its source, and its warnings.

    Args:
        given: Share such as 0.01, text such as `1%`, or `noise-floor`; None for the default.
        sides: Sides to compare. The noise floor is that of the one device that all rows ran on: within a session
            if both sides have the same sessions, as in `ab`; else between sessions.

    Raises:
        UsageError: If the margin is invalid, or the rows do not share one device.
        MissingError: If the noise floor of this machine was never measured, or is not known between sessions.
    """
    if given is None:
        return DEFAULT_MARGIN, "default", []
    if is_one_of(given, {NOISE_FLOOR}):
        every = [*sides]
        device = _device(every)
        torches = {text for side in every for text in values(side.environment.get("torch_version")) if text}
        return _noise_floor(device, _name(device, every), torches, within_session=_share_sessions(every))
    return number(given), "option", []


def check(given: float | str | None, statistic: str = "median") -> None:
    """Checks a margin before anything is read or measured.

    Raises:
        UsageError: If the margin is invalid, or the noise floor is not that of the statistic.
    """
    is_floor = is_one_of(given, {NOISE_FLOOR})
    if is_floor and statistic != "median":
        reason = f"the noise floor is that of medians, not of {statistic!r}"
        raise _no_floor(reason)
    if given is not None and not is_floor:
        resolve_margin(given)


def number(given: float | str) -> float:
    """Returns a margin as a share, from a number such as 0.01 or a text such as `1%`.

    Raises:
        UsageError: If the margin is not a number, or not from 0 to below 0.5.
    """
    check_size("margin", given)
    text = str(given).strip()
    try:
        value = float(text.removesuffix("%")) / (100 if text.endswith("%") else 1)
    except ValueError as error:
        raise UsageError(f"invalid margin: {given!r}", _HINT, where="margin", value=given) from error
    if isinstance(given, bool) or not 0 <= value < _TOO_MUCH:
        raise UsageError(f"out of range: {given!r}", _HINT, where="margin", value=given)
    return value


def _share_sessions(sides: Sequence[Side]) -> bool:
    """Returns True if all sides were measured in the same sessions."""
    # A side whose runners failed has no times, and no sessions either.
    measured = [side for side in sides if any(one.medians_ns for one in side.series)]
    sessions = [{session for one in side.series for session in one.sessions} for side in measured]
    return all(one and one == sessions[0] for one in sessions)


def _device(sides: Iterable[Side]) -> str:
    return one_device(sizes(one)["device"] for side in sides for one in side.series if one.problem is not None)


def one_device(devices: Iterable[str]) -> str:
    """Returns the device of all rows, whose noise floor is the margin.

    Raises:
        UsageError: If there are several devices, or none.
    """
    every = {*devices}
    if len(every) == 1:
        return every.pop()
    names = " and ".join(sorted(every))
    reason = f"the rows have several devices: {names}" if names else "the files contain no device"
    raise _no_floor(reason)


def _name(device: str, sides: Iterable[Side]) -> str | None:
    """Returns the device name of all files; None if the files do not record it.

    The name distinguishes machines.
    """
    names = {name for side in sides for name in values(side.environment.get(_name_key(device, side)))}
    if len(names) == 1:
        return names.pop()
    shown = " and ".join(sorted(name or "unknown" for name in names))
    raise _no_floor(f"the rows have several machines: {shown}")


def _no_floor(reason: str) -> UsageError:
    message = f"no noise floor for margin: {NOISE_FLOOR!r}"
    return UsageError(message, _NUMBER, where="margin", reason=reason, value=NOISE_FLOOR)


def _name_key(device: str, side: Side) -> str:
    """Returns the environment key of a device's name. GPUs are listed in any order."""
    if device == "cpu":
        return "cpu_model"
    number = device.partition(":")[2]
    keys = [key for key, value in side.environment.items() if key.endswith("].index") and str(value) == number]
    return keys[0].removesuffix("index") + "name" if keys else ""


def _noise_floor(
    device: str, name: str | None, torches: Collection[str], *, within_session: bool
) -> tuple[float, MarginSource, list[RunWarning]]:
    from fastrnns_rs.machine import noise

    floor = noise.kept(device, name)
    if floor is None:
        message = f"noise floor not measured: {device!r} ({visible(name or 'unknown')})"
        hint = f"Call fastrnns_rs.ab(same=True, device={device!r}) on the machine of the files."
        command = f"Run on the machine of the files: fastrnns-rs ab --same --device {device}"
        raise MissingError(message, hint, command_hint=command)
    margin = floor.minimum_detectable_change if within_session else floor.between_sessions_change
    if margin is None:
        raise _unknown_between(floor, name)
    check_floor(margin, device)
    warnings = []
    if floor.false_alarm_rate > _MOST_FALSE_ALARMS:
        percent = f"{100 * floor.false_alarm_rate:.1f} %"
        evidence = f"{percent} with random labels on processes of one runner"
        warnings.append(make_warning("false_alarms", evidence=evidence))
    if torches and floor.torch_version not in torches:
        known = f"torch {floor.torch_version} at {floor.measured_utc}"
        evidence = f"{known}; torch {' and '.join(sorted(torches))} in the files"
        warnings.append(make_warning("other_noise_floor", evidence=evidence))
    return float(margin), "noise_floor", warnings


def check_floor(margin: float, device: str) -> None:
    """Checks that a noise floor can be a margin.

    Raises:
        UsageError: If it is too high.
    """
    if not 0 <= margin < _TOO_MUCH:
        message = f"noise floor too high: {margin:.0%} on {device!r}"
        hint = f"Call fastrnns_rs.ab(same=True, device={device!r}) on a less busy machine."
        command = f"Run on a less busy machine: fastrnns-rs ab --same --device {device}"
        raise UsageError(message, hint, where="margin", command_hint=command)


def _unknown_between(floor: NoiseFloor, name: str | None) -> MissingError:
    """Returns the error of an unknown noise floor between sessions."""
    have = floor.n_sessions or 0
    more = max(1, LEAST_SESSIONS_OF_HISTORY - have)
    times = f"{more} more {'time' if more == 1 else 'times'}, in different hours"
    command = f"fastrnns-rs ab --same {visible(floor.runner)} --device {floor.device}"
    return MissingError(
        f"noise floor between sessions not measured: {floor.device!r} ({visible(name or 'unknown')})",
        f"Call fastrnns_rs.ab({floor.runner!r}, same=True, device={floor.device!r}) {times}.",
        where="margin",
        reason=f"{have} of {LEAST_SESSIONS_OF_HISTORY} sessions, and the sides are of different sessions",
        command_hint=f"Run {times}: {command}",
    )
