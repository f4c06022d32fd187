"""Secrets that are one word or one number are replaced where their variable's name gives them away."""

from __future__ import annotations

import inspect
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


@pytest.mark.parametrize("form", ["database", "json", "table", "prose"])
def test_a_short_password_is_replaced_in_its_address(form: secrets.Form) -> None:
    found = secrets.rules({"STORE": "postgres://bob:hunter2@db/x?y"}, form)
    text = '"open postgres://bob:hunter2@db/z, hunter2"'
    hidden_text = secrets.hide_text(text, found)
    assert ":hunter2@" not in hidden_text
    assert hidden_text.endswith(':[redacted]@db/z, hunter2"')


@pytest.mark.parametrize("form", ["database", "json", "table", "prose"])
@pytest.mark.parametrize("name", ["gpu-server-01.corp.example", "gpu-server-01"])
def test_the_machine_is_not_named_with_or_without_its_domain(
    form: secrets.Form, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("platform.node", lambda: "gpu-server-01.corp.example")
    assert secrets.hide_text(f'"worker at {name}"', secrets.rules({}, form)) == '"worker at [redacted]"'


@pytest.mark.parametrize("form", ["database", "json", "table", "prose"])
def test_a_value_is_replaced_in_names_that_have_it_as_json(form: secrets.Form) -> None:
    value = 'ab"c\\d-gehéim-ONE'
    rules = secrets.rules({"MY_TOKEN": value}, form)
    for ascii_only in (True, False):
        name = f"load {json.dumps(value, ensure_ascii=ascii_only)}"
        text = json.dumps({"name": name}, ensure_ascii=ascii_only) if form == "json" else name
        found = secrets.hide_text(text, rules)
        assert "ONE" not in found
        assert (json.loads(found)["name"] if form == "json" else found) == 'load "[redacted]"'


@pytest.mark.parametrize("before", [*range(0, 49, 6), 48])
@pytest.mark.parametrize("secret", ["ghp_Q7x9LmZ2aRtY4uVw8b.*Nc3dEf6gHj1kPs5qT0AbCdEfGhIjKlMnOp", "päßwört " * 9])
def test_what_torchs_tables_leave_of_a_long_name_is_replaced(secret: str, before: int) -> None:
    name = ("_" * before + secret)[:52] + "..."
    rules = secrets.rules({"HUB_TOKEN": secret}, "table")
    assert secrets.hide_text(f"  {name}  0.1%\n", rules) == f"  {'_' * before}[redacted]...  0.1%\n"
    assert secrets.hide_text("aten::add...  load...  ghp...", rules) == "aten::add...  load...  ghp..."


def test_what_torchs_tables_leave_of_a_folder_is_replaced(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", "/home/annabelle-schmidt")
    assert secrets.hide_text("read /home/annabelle-...  1\n", secrets.rules({}, "table")) == "read [redacted]...  1\n"


#: Folders longer than what torch's tables show; one has a colon, and one has letters of several bytes.
LONG_FOLDERS = [f"/data/{name}/{name * 9}/end" for name in ("annika-lab", "a:b of me", "schlüßel-日本")]


@pytest.mark.parametrize("variables", [{"PATH": ":".join(LONG_FOLDERS)}, {f"X{one}": one for one in LONG_FOLDERS}])
def test_what_torchs_tables_leave_of_a_path_is_replaced(variables: dict[str, str]) -> None:
    rules = secrets.rules(variables, "table")
    # A list is split at colons.
    ends = [*(LONG_FOLDERS if "PATH" not in variables else LONG_FOLDERS[::2]), ":".join(LONG_FOLDERS)[-72:]]
    for end in ends:
        for length in range(1, min(len(end), 72)):
            left = f"...{end[-length:]}/x.py(3): f"
            assert secrets.hide_text(left, rules) == "...[redacted]/x.py(3): f"


def test_torchs_tables_show_no_more_of_a_path_than_is_searched() -> None:
    from torch.autograd.profiler_util import EventList

    widths = inspect.signature(EventList.table).parameters
    assert widths["max_src_column_width"].default - 3 <= secrets._LONGEST_PATH
    assert widths["max_name_column_width"].default - 3 <= secrets._LONGEST_NAME


def test_rules_for_a_long_path_list_are_short() -> None:
    """All ends of a list in one pattern need time and memory that are quadratic in its length."""
    listed = ":".join(f"/apps/module{number:03}/1.0/bin" for number in range(90))
    assert sum(len(rule.pattern.pattern) for rule in secrets.rules({"PATH": listed}, "table")) < 50 * len(listed)


@pytest.mark.parametrize("form", ["database", "table", "prose"])
def test_they_are_replaced_in_other_files(form: secrets.Form) -> None:
    text = hidden(f"login {WORD} {NUMBER} hunterssecret", form)
    assert text == "login [redacted] [redacted] [redacted]"


def test_words_of_other_variables_stay_in_traces() -> None:
    text = json.dumps({"name": "backward", "CorrectHorse": "forward"})
    assert hidden(text, "json") == text


@pytest.mark.parametrize("form", ["database", "json", "table", "prose"])
def test_secrets_are_found_as_addresses_write_them(form: secrets.Form) -> None:
    variables = {
        "DB_PASSWORD": "p@ss/w0rd",
        "INDEX": "https://bob:sl%23shedw0rd@host/x?y",
        "PIP_INDEX_URL": "https://ghp_0123456789@host/simple",
    }
    names = ["https://eve:p%40ss%2Fw0rd@a.test/", "login sl#shedw0rd", "clone https://ghp_0123456789@b.test/"]
    found = secrets.hide_text(json.dumps(names), secrets.rules(variables, form))
    assert found == json.dumps(
        ["https://eve:[redacted]@a.test/", "login [redacted]", "clone https://[redacted]@b.test/"]
    )


@pytest.mark.parametrize("form", ["database", "json", "table", "prose"])
def test_the_folder_of_the_interpreter_is_not_named(form: secrets.Form, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.prefix", "/data/of somebody/env")
    monkeypatch.setattr("sys.base_prefix", "/usr")
    monkeypatch.setattr("sys.executable", "/data/of somebody/env/bin/python")
    text = '"/data/of somebody/env/bin/python /data/of somebody/env/lib/torch/x.py /usr/lib/y.py"'
    found = secrets.hide_text(text, secrets.rules({}, form))
    assert found == '"[redacted]/python [redacted]/lib/torch/x.py /usr/lib/y.py"'


@pytest.mark.parametrize("value", ["[128, 1, 1]", "128, 1, 1", "128, 1, 1], ", "[[128,1], 1]", "true, null"])
def test_lists_of_numbers_are_replaced_in_texts_alone(value: str) -> None:
    args = {"grid": [128, 1, 1], "all": [[128, 1], 1], "flags": [True, None]}
    plain = {"traceEvents": [{"name": f"shape {value}", "args": args}, {"name": "k", "args": args}]}
    found = json.loads(secrets.hide_text(json.dumps(plain), secrets.rules({"TOKEN_SHAPE": value}, "json")))
    assert found["traceEvents"][0]["name"] == "shape [redacted]"
    assert [one["args"] for one in found["traceEvents"]] == [args, args]
