"""The one rule by which numbers become text: four significant digits, in a unit that the heading or the text names."""

from __future__ import annotations

import math
from bisect import bisect_right


def _rounding_up(exponent: int) -> float:
    """The smallest number whose four digits are 10.00 by a power of ten, and not 9.999."""
    number = float(f"9.9995e{exponent}")
    return number if f"{number:.3e}".startswith("1") else math.nextafter(number, math.inf)


#: At most 12 decimals: a duration in milliseconds is then under a femtosecond, and digits are noise of the arithmetic.
_FORMATS = ("%.0f", *(f"%.{decimals}f" for decimals in range(12, -1, -1)))
#: Where a number no longer rounds to 0, and where four digits need one decimal fewer, from 12 on.
_LIMITS = [math.nextafter(5e-13, 1), *map(_rounding_up, range(-9, 3))]
_NS_PER_MS = 1e6
#: Ratios beyond these have an exponent.
_PLAIN_RATIOS = (1e-4, 1e7)
_MOST_RATIO_DECIMALS = 6
_PREFIXES = ("B", "kB", "MB", "GB", "TB", "PB")


def significant(value: float) -> str:
    """A number with four significant digits, never fewer than its integer part has, never with an exponent.

    >>> significant(0.0123456), significant(12.3456), significant(123456.7), significant(0.0)
    ('0.01235', '12.35', '123457', '0')
    """
    if value == 0 or not math.isfinite(value):
        return plain(value)
    return _FORMATS[bisect_right(_LIMITS, abs(value))] % value


def milliseconds(ns: float) -> str:
    """Nanoseconds as milliseconds, without the unit."""
    return significant(ns / _NS_PER_MS)


def mebibytes(size: int) -> str:
    """Bytes as mebibytes, without the unit."""
    return significant(size / 2**20)


def size(count: float) -> str:
    """Bytes with the decimal prefix that fits; whole bytes are exact.

    >>> size(512), size(1234567), size(999999)
    ('512 B', '1.235 MB', '1.000 MB')
    """
    scaled, prefix = _scaled(count)
    digits = plain(scaled) if prefix == "B" and scaled.is_integer() else significant(scaled)
    return f"{digits} {prefix}"


def _scaled(count: float) -> tuple[float, str]:
    """A size in the prefix that fits, and that prefix."""
    scaled, prefix = float(count), 0
    # From 999.95 on four digits round up to the next prefix; whole bytes are not rounded.
    while prefix + 1 < len(_PREFIXES) and abs(scaled) >= (999.95 if prefix else 1000.0):
        scaled /= 1000.0
        prefix += 1
    return scaled, _PREFIXES[prefix]


def brief_size(count: int) -> str:
    """Bytes for a sentence, with one decimal.

    >>> brief_size(512), brief_size(1_234_567), brief_size(999_960)
    ('512 B', '1.2 MB', '1.0 MB')
    """
    scaled, prefix = _scaled(count)
    return f"{scaled:.0f} B" if prefix == "B" else f"{scaled:.1f} {prefix}"


def ratio(value: float) -> str:
    """A ratio, with up to six decimals where it takes them to tell it from 1, and an exponent where it is far from 1.

    >>> ratio(1.03214), ratio(0.99996), ratio(1e6), ratio(2.5e-9)
    ('1.032', '0.99996', '1000000', '2.500e-9')
    """
    if value != 0 and not _PLAIN_RATIOS[0] <= abs(value) < _PLAIN_RATIOS[1]:
        digits, _, exponent = f"{value:.3e}".partition("e")
        return f"{digits}e{int(exponent)}" if exponent else digits
    text = significant(value)
    # An interval that excludes 1 must not look as if it began there.
    apart = abs(value - 1.0)
    if apart == 0 or float(text) != 1.0:
        return text
    decimals = math.ceil(-math.log10(apart))
    return f"{value:.{decimals}f}" if decimals <= _MOST_RATIO_DECIMALS else text


def percent(fraction: float) -> str:
    """A fraction in percent, without what binary fractions add to it.

    >>> percent(1.0 - 2.0 * (1.0 - 0.95)), percent(0.999)
    ('90 %', '99.9 %')
    """
    scaled = fraction * 1e10
    return f"{plain(math.copysign(math.floor(abs(scaled) + 0.5), scaled) / 1e8)} %"


def plain(number: float) -> str:
    """Every digit of a number, for programs: without an exponent, and without the `.0` of a whole one.

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
