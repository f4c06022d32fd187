"""Numbers and foreign texts, as every view shows them."""

from __future__ import annotations

import json
import math
import random

import pytest

from fastrnns_rs import escaping
from fastrnns_rs.views import text, units
from fastrnns_rs.views.prose import hint_lines


@pytest.mark.parametrize(
    ("value", "shown"),
    [
        (1.0, "1.000"),
        (9.9996, "10.00"),
        (999.96, "1000"),
        (1234.5, "1234"),
        (-0.5, "-0.5000"),
        (1e-6, "0.000001000"),
        (0.99999, "1.000"),
        (0.0, "0"),
        (math.inf, "inf"),
        (5e-324, "0"),
        (1e22, "1" + "0" * 22),
    ],
)
def test_four_significant_digits(value: float, shown: str) -> None:
    assert units.significant(value) == shown


@pytest.mark.parametrize(
    ("value", "shown"),
    [
        (1.0, "1.000"),
        (1.00049, "1.0005"),
        (1.00051, "1.001"),
        (0.99992, "0.9999"),
        (0.99996, "0.99996"),
        (1.00002, "1.00002"),
        (1.0 + 1e-9, "1.000"),
        (0.0, "0"),
        (12_345_678.0, "1.235e7"),
        (0.000099, "9.900e-5"),
        (1.7976931348623157e308, "1.798e308"),
    ],
)
def test_ratios_are_on_the_side_of_1_that_they_are_on(value: float, shown: str) -> None:
    assert units.ratio(value) == shown


@pytest.mark.parametrize(
    ("value", "shown"),
    [
        (0, "0 B"),
        (999, "999 B"),
        (12.5, "12.50 B"),
        (1000, "1.000 kB"),
        (999_949, "999.9 kB"),
        (999_999, "1.000 MB"),
        (2.5e18, "2500 PB"),
    ],
)
def test_sizes_take_the_prefix_that_fits(value: float, shown: str) -> None:
    assert units.size(value) == shown


def test_every_digit_of_a_number_comes_back() -> None:
    draw = random.Random(0)
    for _ in range(2000):
        number = draw.uniform(-1, 1) * 10 ** draw.randint(-300, 300)
        assert float(units.plain(number)) == number
        assert "e" not in units.plain(number)


@pytest.mark.parametrize(
    ("given", "shown"),
    [
        ("void f<int>(char)",) * 2,
        ("漢字 e\u0301",) * 2,
        ("a\nb\r\tc", "a\\nb\\r\\tc"),
        ("C:\\new",) * 2,
        ("\x1b[31mred\x7f\x9b0m\0", "\\x1b[31mred\\x7f\\x9b0m\\x00"),
        ("a\u2028b\U000e0041", "a\\u{2028}b\\u{e0041}"),
        ("a\u202eb\u2066c\u200fd\u200b\ufeff", "a\\u{202e}b\\u{2066}c\\u{200f}d\\u{200b}\\u{feff}"),
        ("漢\ufffe\uffff\ufffd", "漢\\u{fffe}\\u{ffff}\ufffd"),
        ("e" + "\u0301" * 10 + "f", "e" + "\u0301" * 8 + "\\u{301}" * 2 + "f"),
        ("…→…→…→…→…→",) * 2,
        ("ที่นี่" * 3,) * 2,
    ],
)
def test_characters_that_act_are_shown(given: str, shown: str) -> None:
    assert escaping.visible(given) == shown


def test_formulas_are_quoted_and_names_are_not() -> None:
    for formula in ["=cmd()", "+1", "-1", "@sum", "\t=1", "\r=1", "  =1", "\uff1dcmd()"]:
        assert text.spreadsheet(formula).startswith("'"), formula
    for name in ["", "a=1", "void f()", "'quoted'", '"=1"']:
        assert text.spreadsheet(name) == name


@pytest.mark.parametrize(
    ("given", "span"),
    [
        ("f<int>", "`f<int>`"),
        ("a|b", "`a|b`"),
        ("a`b", "``a`b``"),
        ("`", "`` ` ``"),
        ("``a", "``` ``a ```"),
        (" a ", "`  a  `"),
        (" a", "` a`"),
        ("  ", "`  `"),
        ("a\nb", "`a\\nb`"),
        ("end\\", "`end\\`"),
        ("", "(empty)"),
    ],
)
def test_code_spans_hold_what_they_are_given(given: str, span: str) -> None:
    assert text.code_span(given) == span


def test_pipes_do_not_cut_a_cell() -> None:
    for given, cell in [("a|b", "`a\\|b`"), ("a\\|b", "`a\\x7cb`"), ("|`", "`` \\|` ``")]:
        assert text.code_cell(given) == cell


def test_xml_has_no_markup_and_no_character_that_it_may_not_have() -> None:
    assert text.xml("<a b=\"c\" d='e'>&amp;") == "&lt;a b=&quot;c&quot; d=&apos;e&apos;&gt;&amp;amp;"
    assert text.xml("\0\x1b\n\ufffe\uffff\ufffd漢]]>") == "\\x00\\x1b\\n\\u{fffe}\\u{ffff}\ufffd漢]]&gt;"


def test_json_means_what_it_meant() -> None:
    given = 'a\x9b\x7f\u202e\u2028\U000e0041\x1b\n"\\漢'
    safe = escaping.json_safe(json.dumps({"name": given}, ensure_ascii=False, indent=1))
    assert "\\u009b\\u007f\\u202e\\u2028\\udb40\\udc41\\u001b\\n" in safe
    assert json.loads(safe) == {"name": given}


@pytest.mark.parametrize(("given", "filled"), [("ab", 2), ("漢", 2), ("e\u0301", 1), ("abcde", 5), ("\ud800", 8)])
def test_widths_are_those_of_a_terminal(given: str, filled: int) -> None:
    assert text.width(given) == filled
    assert text.pad(given, 4) == given + " " * (4 - filled)
    assert text.pad(given, 4, right=True) == " " * (4 - filled) + given


def test_a_command_of_a_hint_is_not_wrapped() -> None:
    hint = "Measure in more processes: fastrnns-rs bench --processes 20 RUNNER"
    assert hint_lines("  hint", hint, 80) == [f"  hint: {hint}"]
    assert hint_lines("  hint", hint, 40) == [
        "  hint: Measure in more processes:",
        "    fastrnns-rs bench --processes 20 RUNNER",
    ]
    assert hint_lines("hint", "Stop other programs, then measure.", 20) == [
        "hint: Stop other",
        "  programs, then",
        "  measure.",
    ]
