"""Skips what is here, by name, where nothing can build the emulated devices."""

from __future__ import annotations

from pathlib import Path

import pytest
from emulated_cuda import building

HERE = Path(__file__).parent


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    if building.compiler() is None:
        for item in items:
            if HERE in item.path.parents:
                item.add_marker(pytest.mark.skip(reason="needs a C++ compiler: c++, or CXX"))
