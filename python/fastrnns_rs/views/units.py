"""Conversion of numbers to text: four significant digits, in a named unit.

The unit is part of the text or of the column's heading. All views use this conversion.
"""

from __future__ import annotations

import math
from bisect import bisect_right


def _rounding_up(exponent: int) -> float:
    """Returns the least number whose four digits round to 10.00 times a power of ten.

    Smaller numbers round to 9.999.
    """
    number = float(f"9.9995e{exponent}")
    return number if f"{number:.3e}".startswith("1") else math.nextafter(number, math.inf)


#: With at most 12 decimals a duration in ms is resolved below a femtosecond; further digits are rounding noise.
_FORMATS = ("%.0f", *(f"%.{decimals}f" for decimals in range(12, -1, -1)))
#: The first limit is where a number no longer rounds to 0. At each further limit four digits need one decimal fewer,
#: starting with 12.
_LIMITS = [math.nextafter(5e-13, 1), *map(_rounding_up, range(-9, 3))]
_NS_PER_MS = 1e6
#: Ratios outside this range are written with an exponent.
_PLAIN_RATIOS = (1e-4, 1e7)
_MOST_RATIO_DECIMALS = 6
_PREFIXES = ("B", "kB", "MB", "GB", "TB", "PB")


def significant(value: float) -> str:
    """Formats a number with four significant digits, without an exponent.

    All digits of the integer part are kept.

    >>> significant(0.0123456), significant(12.3456), significant(123456.7), significant(0.0)
    ('0.01235', '12.35', '123457', '0')
    """
    if value == 0 or not math.isfinite(value):
        return plain(value)
    return _FORMATS[bisect_right(_LIMITS, abs(value))] % value


def milliseconds(ns: float) -> str:
    """Formats ns as ms, without the unit."""
    return significant(ns / _NS_PER_MS)


def mebibytes(size: int) -> str:
    """Formats bytes as MiB, without the unit."""
    return significant(size / 2**20)


def size(count: float) -> str:
    """Formats bytes with the decimal prefix that fits; whole bytes are exact.

    >>> size(512), size(1234567), size(999999)
    ('512 B', '1.235 MB', '1.000 MB')
    """
    scaled, prefix = _scaled(count)
    digits = plain(scaled) if prefix == "B" and scaled.is_integer() else significant(scaled)
    return f"{digits} {prefix}"


def _scaled(count: float) -> tuple[float, str]:
    """Returns a size in the prefix that fits, and that prefix."""
    scaled, prefix = float(count), 0
    # From 999.95 on, four digits round up to the next prefix; whole bytes are not rounded.
    while prefix + 1 < len(_PREFIXES) and abs(scaled) >= (999.95 if prefix else 1000.0):
        scaled /= 1000.0
        prefix += 1
    return scaled, _PREFIXES[prefix]


def brief_size(count: int) -> str:
    """Formats bytes for a sentence, with one decimal.

    >>> brief_size(512), brief_size(1_234_567), brief_size(999_960)
    ('512 B', '1.2 MB', '1.0 MB')
    """
    scaled, prefix = _scaled(count)
    return f"{scaled:.0f} B" if prefix == "B" else f"{scaled:.1f} {prefix}"


def ratio(value: float) -> str:
    """Formats a ratio with four significant digits.

    Up to six decimals are used to distinguish a ratio from 1. A ratio far from 1 has an exponent.

    >>> ratio(1.03214), ratio(0.99996), ratio(1e6), ratio(2.5e-9)
    ('1.032', '0.99996', '1000000', '2.500e-9')
    """
    if value != 0 and not _PLAIN_RATIOS[0] <= abs(value) < _PLAIN_RATIOS[1]:
        digits, _, exponent = f"{value:.3e}".partition("e")
        return f"{digits}e{int(exponent)}" if exponent else digits
    text = significant(value)
    # An interval that excludes 1 must not appear to begin at 1.
    apart = abs(value - 1.0)
    if apart == 0 or float(text) != 1.0:
        return text
    decimals = math.ceil(-math.log10(apart))
    return f"{value:.{decimals}f}" if decimals <= _MOST_RATIO_DECIMALS else text


def percent(fraction: float) -> str:
    """Formats a fraction in percent, without binary rounding errors.

    >>> percent(1.0 - 2.0 * (1.0 - 0.95)), percent(0.999)
    ('90 %', '99.9 %')
    """
    scaled = fraction * 1e10
    return f"{plain(math.copysign(math.floor(abs(scaled) + 0.5), scaled) / 1e8)} %"


def plain(number: float) -> str:
    """Formats all digits of a number, for programs.

    The text has no exponent, and no `.0` after a whole number.

    >>> plain(2.0), plain(1e-7), plain(1 / 3), plain(10**30)
    ('2', '0.0000001', '0.3333333333333333', '1000000000000000000000000000000')
    """
    if isinstance(number, int):
        return str(number)
    text = repr(number)
    if "e" in text:
        mantissa, _, exponent = text.partition("e")
        whole, _, fraction = mantissa.partition(".")
        sign, whole = ("-", whole[1:]) if number < 0 else ("", whole)
        places = int(exponent)
        zeros = "0" * (places - len(fraction) if places > 0 else -places - 1)
        text = f"{sign}{whole}{fraction}{zeros}" if places > 0 else f"{sign}0.{zeros}{whole}{fraction}"
    return text.removesuffix(".0")
