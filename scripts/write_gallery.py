"""Writes docs/gallery: pictures of the pages of every kind of document, made in Chromium from documents of the tests.

Where FASTRNNS_CORPUS names a folder of captures, the pages of captures show one of its files instead.
"""

from __future__ import annotations

import os
import sys
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from io import BytesIO
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "tests" / "python"))

import page_documents  # noqa: E402
from browser import executable  # noqa: E402

import fastrnns_rs  # noqa: E402
from fastrnns_rs.views.page.pages import html_page  # noqa: E402

GALLERY = ROOT / "docs" / "gallery"
#: Pixels of a picture; a longer page is cut. Colours of a picture.
_WIDTH, _HEIGHT, _COLORS = 900, 1500, 256
_HEADER = """# Gallery

Pages of `--format html`, as Chromium shows them. `make gallery` makes these pictures. Pictures of long pages show their
beginning. [Plots and pages](../how-to/pictures.md) describes the commands.
"""


@dataclass(frozen=True)
class Picture:
    """Picture of a page.

    Attributes:
        name: Name of the file.
        title: Heading.
        text: Sentence below the heading.
        make: Function that returns the document.
        fold: True opens the first fold of the page, and the picture begins there.
        dark: True shows the dark variant.
    """

    name: str
    title: str
    text: str
    make: Callable[[], Any]
    fold: bool = False
    dark: bool = False


def _corpus(name: str) -> Callable[[], Any]:
    def make() -> Any:
        folder = os.environ.get("FASTRNNS_CORPUS")
        path = Path(folder or "/nonexistent") / name
        # The page shows the name without the folder.
        if path.is_file():
            os.chdir(path.parent)
            return page_documents.summary_of(Path(path.name))
        return page_documents.capture()

    return make


def _compared() -> Any:
    os.chdir(ROOT / "benches" / "readme")
    return fastrnns_rs.compare("before.json", "after.json", history=False)


PICTURES = (
    Picture(
        "run",
        "Run",
        "A real run on a CPU: `show after.json --format html`.",
        lambda: page_documents.readme_run("after"),
    ),
    Picture(
        "samples",
        "Samples of a row",
        "The same run: samples of each process in order, and their distribution.",
        lambda: page_documents.readme_run("after"),
        fold=True,
    ),
    Picture("comparison", "Comparison", "Two real runs: `compare before.json after.json --format html`.", _compared),
    Picture(
        "captures",
        "Comparison of captures",
        "Three captures a side of a training loop, in which one kernel became slower.",
        page_documents.compared_captures,
    ),
    Picture(
        "capture",
        "Capture",
        "A trace of ResNet-50 by `torch.profiler`: `report trace.json --format html`.",
        _corpus("kineto/kineto_r50_nw0.json.gz"),
    ),
    Picture(
        "loop",
        "Capture with iterations",
        "A trace of an LSTM's training loop, dark.",
        page_documents.capture,
        dark=True,
    ),
    Picture("sweep", "Sweep", "Times and rates over sizes, with the exponent of growth.", page_documents.sweep),
    Picture("history", "History", "A row over the runs of two weeks, with a change point.", page_documents.history),
    Picture(
        "inductor",
        "Generated modules",
        "Modules and kernels that torch.compile generated.",
        lambda: page_documents.inductor_report(kernels=True, profile=True),
    ),
)


def main() -> None:
    """Writes the pictures, and the page that shows them."""
    from playwright.sync_api import sync_playwright

    GALLERY.mkdir(exist_ok=True)
    chosen = [one for one in PICTURES if one.name in sys.argv[1:]] or PICTURES
    with sync_playwright() as playwright, tempfile.TemporaryDirectory() as folder:
        browser = playwright.chromium.launch(executable_path=executable(), args=["--no-sandbox"])
        for one in chosen:
            path = Path(folder) / f"{one.name}.html"
            path.write_text(html_page(one.make()), encoding="utf-8")
            (GALLERY / f"{one.name}.png").write_bytes(_picture(browser, path, one))
        browser.close()
    sections = [f"\n## {one.title}\n\n{one.text}\n\n![{one.title}]({one.name}.png)\n" for one in PICTURES]
    (GALLERY / "README.md").write_text(_HEADER + "".join(sections), encoding="utf-8")


def _picture(browser: Any, path: Path, one: Picture) -> bytes:
    from PIL import Image

    context = browser.new_context(
        viewport={"width": _WIDTH, "height": _HEIGHT}, color_scheme="dark" if one.dark else "light", offline=True
    )
    page = context.new_page()
    page.goto(path.as_uri())
    top = 0
    if one.fold:
        page.locator("summary").first.click()
        top = int(page.locator("h2:has(+ details)").first.bounding_box()["y"])
    height = min(_HEIGHT, int(page.evaluate("document.documentElement.scrollHeight")) - top)
    clip = {"x": 0, "y": top, "width": _WIDTH, "height": height}
    image = Image.open(BytesIO(page.screenshot(full_page=True, clip=clip)))
    context.close()
    data = BytesIO()
    image.convert("RGB").quantize(_COLORS, dither=Image.Dither.NONE).save(data, format="png", optimize=True)
    return data.getvalue()


if __name__ == "__main__":
    main()
