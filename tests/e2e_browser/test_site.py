"""Test the students' site in a browser: phone and desktop, light and dark, by keyboard.

Week 1 by default; AUTOGRADER_SITE_WEEKS=9 tests nine weeks and takes minutes.
"""

from __future__ import annotations

import datetime as dt
import functools
import http.server
import os
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import expect

from autograder.model.course import load
from autograder.site.build import build_site
from tests.courses import PROJECT
from tests.e2e_browser.test_submit_page import AXE, PHONE, complaints

COURSE = load(PROJECT)
WEEKS = COURSE.weeks[: int(os.environ.get("AUTOGRADER_SITE_WEEKS", "1"))]
DESK = {"width": 1280, "height": 900}
SECOND = dt.timedelta(seconds=1)
every_week = pytest.mark.parametrize("week", [w.name for w in WEEKS])


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Build the site as of the day the last of these weeks is released."""
    folder = tmp_path_factory.mktemp("site") / "students"
    build_site(COURSE, folder, now=COURSE.localized(WEEKS[-1].release) + SECOND)
    return folder


@pytest.fixture(scope="module")
def site(folder: Path) -> Iterator[str]:
    """Return the address of the site on a server."""
    quiet = functools.partial(_QuietHandler, directory=str(folder))
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), quiet) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_address[1]}"
        server.shutdown()


class _QuietHandler(http.server.SimpleHTTPRequestHandler):
    def log_message(self, *_: Any) -> None:
        pass


@pytest.fixture
def opened(browser_page: Any, site: str) -> Iterator[Any]:
    """Open a page of the site; it must load all resources without violating its policy."""
    said: list[str] = []
    browser_page.on("console", lambda m: said.append(m.text) if m.type == "error" else None)

    def opened(path: str, size: dict[str, int] = DESK, scheme: str = "light") -> Any:
        page = browser_page
        page.set_viewport_size(size)
        page.emulate_media(color_scheme=scheme)
        page.goto(f"{site}/{path}")
        return page

    yield opened
    assert said == []


def faults(page: Any, screenshots: Path, name: str) -> list[str]:
    """Return the violations that axe-core finds on the page; take a screenshot."""
    page.screenshot(path=str(screenshots / f"site_{name}.png"), full_page=True)
    session = page.context.new_cdp_session(page)
    session.send("Page.setBypassCSP", {"enabled": True})
    page.reload()
    page.evaluate(AXE.read_text(encoding="utf-8"))
    return complaints(page)


@every_week
@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("size", [PHONE, DESK], ids=["phone", "desk"])
def test_a_week_has_no_fault(
    opened: Any, screenshots: Path, week: str, size: dict[str, int], scheme: str
) -> None:
    page = opened(f"{week}/index.html", size, scheme)
    assert page.evaluate("document.documentElement.scrollWidth") <= size["width"]
    for picture in page.locator("img").all():
        assert picture.evaluate("i => i.naturalWidth") > 0
    assert faults(page, screenshots, f"{week}_{size['width']}_{scheme}") == []


def test_wide_outputs_scroll_in_their_box_on_a_phone(opened: Any) -> None:
    outputs = opened("week01_softmax/index.html", PHONE).locator(".output pre")
    assert outputs.evaluate_all("all => all.some(o => o.scrollWidth > o.clientWidth)")


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("size", [PHONE, DESK], ids=["phone", "desk"])
def test_the_syllabus_has_no_fault(
    opened: Any, screenshots: Path, size: dict[str, int], scheme: str
) -> None:
    page = opened("syllabus.html", size, scheme)
    assert page.evaluate("document.documentElement.scrollWidth") <= size["width"]
    assert page.get_by_role("img", name="Map of the weeks and exercises").is_visible()
    assert faults(page, screenshots, f"syllabus_{size['width']}_{scheme}") == []


def test_the_index_leads_to_a_week_and_back(opened: Any, screenshots: Path) -> None:
    page = opened("index.html", PHONE)
    page.get_by_role("link", name="Week 1 · Softmax and attention").click()
    page.get_by_role("link", name=COURSE.title).click()
    assert page.get_by_role("heading", level=2).count() == len(WEEKS)
    assert faults(page, screenshots, "index") == []


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("size", [PHONE, DESK], ids=["phone", "desk"])
def test_the_search_has_no_fault(
    opened: Any, screenshots: Path, size: dict[str, int], scheme: str
) -> None:
    page = opened("search.html?q=softmax", size, scheme)
    assert page.locator("#results li").count() > 5
    assert page.evaluate("document.documentElement.scrollWidth") <= size["width"]
    assert faults(page, screenshots, f"search_{size['width']}_{scheme}") == []


def test_the_search_works_by_the_keyboard_without_a_server(browser_page: Any, folder: Path) -> None:
    page = browser_page
    page.goto((folder / "week01_softmax" / "index.html").as_uri())
    page.keyboard.press("Tab")
    page.keyboard.press("Tab")
    page.keyboard.type("temperature")
    page.keyboard.press("Enter")
    page.wait_for_url("**/search.html?q=temperature")
    first = page.locator("#results a").first
    expect(first).to_have_text("3 · Temperature")
    page.keyboard.type(" xyzzy")  # the box has the focus
    expect(page.locator("#status")).to_contain_text("No released week contains")
    for _ in range(6):
        page.keyboard.press("Backspace")
    expect(first).to_have_text("3 · Temperature")
    while not first.evaluate("link => link === document.activeElement"):
        page.keyboard.press("Tab")
    page.keyboard.press("Enter")
    page.wait_for_url("**/week01_softmax/index.html#section-*")
    assert page.locator("h2:target").inner_text() == "3 · Temperature"


def test_a_hint_opens_by_the_keyboard(opened: Any) -> None:
    page = opened("week01_softmax/index.html")
    hint = page.locator("#exercise-softmax details").first
    assert not hint.locator("p").is_visible()
    hint.locator("summary").focus()
    page.keyboard.press("Enter")
    assert "steps are those of" in hint.locator("p").inner_text()


def test_what_moves_moves(opened: Any) -> None:
    page = opened("week01_softmax/index.html")
    frame = page.frame_locator("iframe")
    knob = frame.locator("#knob")
    before = frame.locator("#value").inner_text()
    knob.focus()
    page.keyboard.press("ArrowLeft")
    assert frame.locator("#value").inner_text() != before
