"""A real browser without a network, for pages."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

#: Names of Chromium, as scripts/install-browser and others install it.
_NAMES = ("chromium", "chromium-browser", "google-chrome")


class Chromium:
    """A running Chromium, whose pages reach nothing but their own file.

    Attributes:
        messages: Console messages, errors and refused requests of all pages since `clear`.
    """

    def __init__(self, browser: Any, folder: Path) -> None:
        self._browser = browser
        self._folder = folder
        self._contexts: list[Any] = []
        self.messages: list[str] = []

    def open(self, html: str, *, width: int = 1280, dark: bool = False, scripts: bool = True) -> Any:
        """Returns a page of playwright that shows a file with this text."""
        path = self._folder / f"page-{abs(hash(html))}.html"
        if not path.exists():
            path.write_text(html, encoding="utf-8")
        context = self._browser.new_context(
            viewport={"width": width, "height": 900},
            color_scheme="dark" if dark else "light",
            java_script_enabled=scripts,
            offline=True,
        )
        self._contexts.append(context)
        page = context.new_page()
        page.on("console", lambda message: self.messages.append(f"console: {message.text}"))
        page.on("pageerror", lambda error: self.messages.append(f"error: {error}"))
        page.route("**/*", lambda route: self._let_through(route, path.as_uri()))
        page.goto(path.as_uri())
        return page

    def clear(self) -> None:
        """Closes all pages."""
        while self._contexts:
            self._contexts.pop().close()
        self.messages.clear()

    def _let_through(self, route: Any, uri: str) -> None:
        # An anchor of the page itself is no request, and neither is the file.
        if route.request.url == uri:
            route.continue_()
        else:
            self.messages.append(f"request: {route.request.url[:200]}")
            route.abort()


def executable() -> str | None:
    """The path of Chromium; None where it is not installed."""
    return next((path for name in _NAMES if (path := shutil.which(name))), None)


@pytest.fixture(scope="session")
def _running(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Chromium]:
    found = executable()
    if found is None:
        pytest.skip("needs Chromium: scripts/install-browser installs it on Debian")
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=found, args=["--no-sandbox"])
        yield Chromium(browser, tmp_path_factory.mktemp("pages"))
        browser.close()


@pytest.fixture
def chromium(_running: Chromium) -> Iterator[Chromium]:
    """Chromium without pages."""
    yield _running
    _running.clear()
