"""Numbers of tables whose digits follow their intervals, and changes in percent.

All tables of runs and comparisons use this module, so that equal numbers look equal on every screen.
"""

from __future__ import annotations

import math

TYPE_CHECKING = False  # As in the package: `typing` is slow to load.
if TYPE_CHECKING:
    from collections.abc import Sequence

#: More digits than this are noise, or a unit that does not fit.
_MOST_DIGITS = 4
_DIGITS_ALONE = 3
#: A first digit of 1 or 2 is coarse: the next digit is shown as well.
_COARSE = 3.0
#: Changes outside of these ratios are factors.
_LEAST_RATIO, _MOST_RATIO = 0.5, 2.0
#: Factors have two decimals between these numbers.
_LEAST_FACTOR, _MANY = 0.01, 100.0
_MOST_FACTOR = 1e6
#: An interval as wide as this is far from symmetric.
_WIDE_PERCENT = 50.0
#: Most decimals of an end of an interval, in percent: a nearer end is rounded to 0.
_MOST_PERCENT_DECIMALS = 4
_NO_DECIMALS_FROM = 10.0
_TIMES = "×"
_MIB = 1 << 20
_SMALL_MIB = 10


def figure(value: float, half_width: float | None = None) -> str:
    """Formats a number with as many digits as its interval supports.

    Args:
        value: Number, in the unit of its column.
        half_width: Half of the interval's width, in the same unit; None without an interval.

    >>> figure(5.8688, 0.0368), figure(28.28, 1.99), figure(19.2812), figure(229.4), figure(12345.6)
    ('5.87', '28.3', '19.3', '229', '12,346')
    """
    if value == 0 or not math.isfinite(value):
        return f"{value:.0f}"
    decimals = digits_after_point(value, _DIGITS_ALONE)
    if half_width is not None:
        decimals = digits_after_point(value, _MOST_DIGITS)
        if half_width > 0 and math.isfinite(half_width):
            place = -math.floor(math.log10(half_width))
            decimals = min(decimals, place + (half_width * 10.0**place < _COARSE))
    return f"{value:,.{max(decimals, 0)}f}"


def estimate(value: float, low: float | None, high: float | None, unit: float = 1.0) -> str:
    """Formats a point estimate with as many digits as its interval supports.

    Args:
        value: Point estimate.
        low: Lower end of its interval; None without an interval.
        high: Upper end of its interval; None without an interval.
        unit: Size of the unit of the column.

    >>> estimate(5.8688e6, 5.832e6, 5.9056e6, 1e6), estimate(5.8688e6, None, None, 1e6)
    ('5.87', '5.87')
    >>> estimate(0.329e6, 0.1e6, 4e6, 1e6)
    '0.3'
    """
    return _rounded(value / unit, None if low is None or high is None else (high - low) / 2 / unit)


def estimate_with_interval(value: float, low: float | None, high: float | None, unit: float = 1.0) -> str:
    """Formats a point estimate and its interval with the same digits.

    >>> estimate_with_interval(5.8688e6, 5.832e6, 5.9056e6, 1e6)
    '5.87 [5.83, 5.91]'
    >>> estimate_with_interval(26e6, 245711, 2701e6, 1e6)
    '26 [0.246, 2,701]'
    """
    text = estimate(value, low, high, unit)
    if low is None or high is None:
        return text
    ends = (_rounded(end / unit, (high - low) / 2 / unit) for end in (low, high))
    return f"{text} [{', '.join(ends)}]"


def _rounded(value: float, half_width: float | None) -> str:
    """Formats a number of an estimate. Only 0 is shown as 0."""
    text = figure(value, half_width)
    return figure(value) if value and not any(digit in text for digit in "123456789") else text


def mebibytes(size_bytes: float) -> str:
    """Formats bytes as MiB, without the unit.

    >>> mebibytes(621 << 20), mebibytes(3 << 20), mebibytes(12345 << 20)
    ('621', '3.00', '12,345')
    """
    value = size_bytes / _MIB
    return figure(value) if value < _SMALL_MIB else f"{value:,.0f}"


def digits_after_point(value: float, digits: int) -> int:
    """Returns the decimals that give a number so many significant digits.

    The result is negative for a large number.
    """
    # Rounding may add a digit: 9.996 has three digits as 10.0.
    return digits - 1 - int(f"{abs(value):.{digits - 1}e}".partition("e")[2])


def half_width_percent(estimate: float, low: float | None, high: float | None) -> str:
    """Formats half of an interval's width relative to its estimate.

    Args:
        estimate: Point estimate.
        low: Lower end of its interval; None without an interval, which gives `-`.
        high: Upper end of its interval; None without an interval.

    >>> half_width_percent(5.869, 5.832, 5.906), half_width_percent(28.28, 10.0, 80.0)
    ('±0.6 %', '>±50 %')
    """
    if low is None or high is None or estimate <= 0:
        return "-"
    percent = 100 * (high - low) / 2 / estimate
    if percent >= _WIDE_PERCENT:
        return f">±{_WIDE_PERCENT:.0f} %"
    return f"±{percent:.{percent_decimals(percent)}f} %"


def share_percent(fraction: float) -> str:
    """Formats a fraction in percent with one decimal, as `12.3 %`."""
    return f"{100 * fraction:.1f} %"


def percent_decimals(percent: float) -> int:
    """Returns 1 for a percentage that rounds to less than 10, else 0."""
    return 1 if abs(round(percent, 1)) < _NO_DECIMALS_FROM else 0


def is_factor(ratio: float, low: float | None = None, high: float | None = None) -> bool:
    """Returns True if a ratio is shown as a factor and not as a change in percent.

    An interval that is very wide is shown as factors too.
    """
    is_wide = (low is not None and low < _LEAST_FACTOR) or (high is not None and high >= _MANY)
    return is_wide or not _LEAST_RATIO <= ratio <= _MOST_RATIO


def change(ratio: float, low: float | None = None, high: float | None = None) -> str:
    """Formats a ratio as a change in percent, or as a factor far from 1.

    A change has no sign `%`.

    Args:
        ratio: Candidate divided by baseline.
        low: Lower end of the ratio's interval; None without an interval.
        high: Upper end of the ratio's interval; None without an interval.

    >>> change(1.0418, 1.0314, 1.0523), change(0.9738), change(2.5, 1.35, 4.61)
    ('+4.2 [+3.1, +5.2]', '-2.6', '×2.50 [×1.35, ×4.61]')
    >>> change(0.88, 0.76, 0.996), change(1.0, 0.9997, 1.0)
    ('-12 [-24, -0.4]', '+0.0 [-0.03, +0.0]')
    >>> change(0.08, 3.5e-6, 1932.8)
    '×0.08 [×<0.01, ×1,933]'
    >>> change(2.5, 1.002, 6.2), change(0.4, 0.2, 0.997)
    ('×2.50 [×1.002, ×6.20]', '×0.40 [×0.20, ×0.997]')
    >>> change(0.973, 2.1e-6, 6537.9)
    '×0.97 [×<0.01, ×6,538]'
    >>> change(0.00561, 0.0000534, 0.59)
    '×0.00561 [×5.34e-05, ×0.59]'
    """
    values = [ratio] if low is None or high is None else [ratio, low, high]
    if is_factor(*values):
        texts = [_factor(ratio), *(_bound(end, ratio) for end in values[1:])]
    else:
        changes = [100 * (value - 1) for value in values]
        places = percent_decimals(changes[0])
        excludes = len(changes) > 1 and changes[1] * changes[2] > 0
        texts = [(_signed_end if excludes else _signed)(changes[0], places)]
        texts += [_signed_end(one, places) for one in changes[1:]]
    return texts[0] if len(texts) == 1 else f"{texts[0]} [{texts[1]}, {texts[2]}]"


def _signed(percent: float, places: int) -> str:
    # Adding 0 removes the sign of a change that rounds to 0.
    return f"{round(percent, places) + 0.0:+.{places}f}"


def _signed_end(percent: float, places: int) -> str:
    """Formats an end of an interval.

    An interval that excludes 0 must not appear to begin at 0.
    """
    if percent and not round(percent, places):
        more = min(digits_after_point(percent, 1), _MOST_PERCENT_DECIMALS)
        places = more if round(percent, more) else places
    return _signed(percent, places)


def _factor(ratio: float) -> str:
    if not _LEAST_FACTOR <= ratio < _MOST_FACTOR:
        return f"{_TIMES}{ratio:.3g}"
    return f"{_TIMES}{ratio:.2f}" if ratio < _MANY else f"{_TIMES}{ratio:,.0f}"


def _bound(end: float, ratio: float) -> str:
    """Formats an end of an interval, a tiny one only if the ratio is tiny.

    An interval that excludes 1 must not appear to begin at 1.
    """
    if end < _LEAST_FACTOR <= ratio:
        return f"{_TIMES}<{_LEAST_FACTOR:g}"
    places = next((more for more in (2, 3, 4) if round(end, more) != 1), 2)
    return f"{_TIMES}{end:.{places}f}" if places > 2 else _factor(end)  # noqa: PLR2004  # as a factor


def change_with_unit(ratio: float, low: float | None = None, high: float | None = None) -> str:
    """Formats a change for a sentence, as `+4.2 [+3.1, +5.2] %` or `×2.50`."""
    text = change(ratio, low, high)
    return text if text.startswith(_TIMES) else f"{text} %"


def aligned(texts: Sequence[str]) -> list[str]:
    """Adds spaces after numbers, so that right-aligned numbers align at their points.

    >>> aligned(["6.06", "29.0", "345", "-"])
    ['6.06', '29.0 ', '345   ', '-']
    """
    # A number with an exponent has no place for the point.
    numbers = [any(map(str.isdigit, text)) and "e" not in text for text in texts]
    ends = [
        len(text) - text.find(".") if "." in text and number else 0 for text, number in zip(texts, numbers, strict=True)
    ]
    longest = max(ends, default=0)
    return [
        text + " " * (longest - end) if number else text for text, end, number in zip(texts, ends, numbers, strict=True)
    ]


def span(seconds: float) -> str:
    """Formats a duration for a sentence.

    >>> span(0.2), span(82), span(38), span(3900), span(200000)
    ('1 s', '1 min 22 s', '38 s', '1 h 5 min', '2 d 7 h')
    """
    whole = max(1, math.ceil(seconds))
    minute, hour, day = 60, 3600, 86400
    for unit, name, part, part_name in ((day, "d", hour, "h"), (hour, "h", minute, "min"), (minute, "min", 1, "s")):
        if whole >= unit:
            rest = whole % unit // part
            return f"{whole // unit} {name} {rest} {part_name}" if rest else f"{whole // unit} {name}"
    return f"{whole} s"


def clock(seconds: float) -> str:
    """Formats a duration for a progress line, as `0:38` or `1:02:03`."""
    whole = max(0, round(seconds))
    minutes, hours = whole // 60, whole // 3600
    return f"{hours}:{minutes % 60:02}:{whole % 60:02}" if hours else f"{minutes}:{whole % 60:02}"
