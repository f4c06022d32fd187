"""Docstrings of functions with many arguments: complete, and equal for equal arguments."""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable
from dataclasses import fields
from typing import Any

import pytest

import fastrnns_rs
from fastrnns_rs.problem.jit_settings import JitSettings
from fastrnns_rs.problem.modes import Modes
from fastrnns_rs.problem.problem import Sizes

FUNCTIONS = [fastrnns_rs.ab, fastrnns_rs.bench, fastrnns_rs.profile, fastrnns_rs.verify]
#: Arguments that `verify` describes in its own words.
DIFFERENT = {"seq_length", "num_layers", "mode", "fuser", "executor"}


def described(function: Callable[..., Any]) -> dict[str, str]:
    """The description of each argument, by name."""
    section = (inspect.getdoc(function) or "").partition("Args:\n")[2].partition("\n\n")[0]
    found = re.findall(r"^    (\w+): (.*(?:\n {5,}.*)*)", section, flags=re.MULTILINE)
    return {name: " ".join(text.split()) for name, text in found}


@pytest.mark.parametrize("function", FUNCTIONS, ids=lambda function: function.__name__)
def test_every_argument_is_described(function: Callable[..., Any]) -> None:
    assert described(function).keys() == {*inspect.signature(function).parameters}


@pytest.mark.parametrize("kind", [Sizes, Modes, JitSettings])
def test_equal_arguments_have_equal_descriptions(kind: type) -> None:
    for name in {one.name for one in fields(kind)} - DIFFERENT:
        assert len({described(function)[name] for function in FUNCTIONS}) == 1, name
