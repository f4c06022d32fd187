"""The example notebook runs, and its cells show tables and pictures."""

from __future__ import annotations

import base64
import os
import sys
from pathlib import Path
from typing import Any

import nbformat
import pytest
from conftest import ROOT
from jupyter_client.kernelspec import KernelSpec
from jupyter_client.manager import AsyncKernelManager
from nbclient import NotebookClient

NOTEBOOK = ROOT / "docs" / "notebooks" / "example.ipynb"


class ThisPython(AsyncKernelManager):
    """Kernels of the interpreter that runs the tests, whatever kernels are installed."""

    @property
    def kernel_spec(self) -> KernelSpec:
        return KernelSpec(
            argv=[sys.executable, "-m", "ipykernel_launcher", "-f", "{connection_file}"], language="python"
        )


@pytest.fixture(scope="module")
def cells(tmp_path_factory: pytest.TempPathFactory) -> list[Any]:
    """The cells of the notebook with their outputs."""
    with pytest.MonkeyPatch.context() as patch:
        # The kernel neither reads nor writes the settings of the user.
        for name in ("IPYTHONDIR", "JUPYTER_CONFIG_DIR", "JUPYTER_RUNTIME_DIR", "MPLCONFIGDIR"):
            patch.setenv(name, str(tmp_path_factory.mktemp(name.lower())))
        notebook = nbformat.read(NOTEBOOK, as_version=4)
        client = NotebookClient(
            notebook,
            timeout=120,
            kernel_manager_class=ThisPython,
            resources={"metadata": {"path": str(NOTEBOOK.parent)}},
        )
        client.execute(env={**os.environ})
    return [one for one in notebook.cells if one.cell_type == "code"]


def outputs(cells: list[Any], source: str) -> dict[str, Any]:
    """The value of the cell whose last line begins so, by type."""
    [cell] = [one for one in cells if f"{one.source}\n".splitlines(keepends=True)[-1].startswith(source)]
    [output] = cell.outputs
    return dict(output["data"])


@pytest.mark.parametrize("source", ["after.plot()", "after.plot(kind=", "comparison.plot()"])
def test_figures_are_pictures(source: str, cells: list[Any]) -> None:
    picture = base64.b64decode(outputs(cells, source)["image/png"])
    assert picture.startswith(b"\x89PNG")
    assert len(picture) > 5_000


@pytest.mark.parametrize(("source", "word"), [("after", "backward"), ("comparison", "slower")])
def test_documents_are_tables(source: str, word: str, cells: list[Any]) -> None:
    html = outputs(cells, f"{source}\n")["text/html"]
    assert "<table" in html
    assert word in html


def test_numbers_are_those_of_the_document(cells: list[Any]) -> None:
    assert outputs(cells, 'f"')["text/plain"] == "'16.36 [14.61, 18.33] ms'"


def test_the_notebook_is_kept_without_outputs() -> None:
    notebook = nbformat.read(NOTEBOOK, as_version=4)
    nbformat.validate(notebook)
    assert all(not one.get("outputs") and one.get("execution_count") is None for one in notebook.cells)
    assert str(Path.home()) not in NOTEBOOK.read_text()
