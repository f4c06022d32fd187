"""Secrets that are one word or one number are replaced where their variable's name gives them away."""

from __future__ import annotations

import json
from typing import Any

import pytest

from fastrnns_rs.verbs.profile import secrets

WORD, NUMBER = "CorrectHorseBatteryStaple", "4929123456781234"
VARIABLES = {
    "DB_PASSWORD": WORD,
    "card_Key": NUMBER,
    "STORE": "postgres://bob:hunterssecret@db/x?y",
    "MODE": "backward",
}


def event(name: str) -> dict[str, Any]:
    return {"name": name, "ts": int(NUMBER), "dur": 1.5, "args": {"ids": [int(NUMBER), NUMBER], "": int(NUMBER)}}


def hidden(text: str, form: secrets.Form) -> str:
    return secrets.hide_text(text, secrets.rules(VARIABLES, form))


@pytest.mark.parametrize("indent", [None, 1])
@pytest.mark.parametrize("around", ["{}", "login {} now", 'a "{}"\n', "x{}y", "tab\t{}\\"])
def test_words_and_numbers_of_secret_variables_are_replaced_in_names(around: str, indent: int | None) -> None:
    names = [around.format(one) for one in (WORD, NUMBER, "hunterssecret")]
    found = json.loads(hidden(json.dumps({"traceEvents": [*map(event, names)]}, indent=indent), "json"))
    wanted = event(around.format("[redacted]"))
    wanted["args"]["ids"][1] = "[redacted]"
    # Numbers of the trace stay numbers.
    assert found == {"traceEvents": [wanted] * 3}


@pytest.mark.parametrize("form", ["database", "table", "prose"])
def test_they_are_replaced_in_other_files(form: secrets.Form) -> None:
    text = hidden(f"login {WORD} {NUMBER} hunterssecret", form)
    assert text == "login [redacted] [redacted] [redacted]"


def test_words_of_other_variables_stay_in_traces() -> None:
    text = json.dumps({"name": "backward", "CorrectHorse": "forward"})
    assert hidden(text, "json") == text
