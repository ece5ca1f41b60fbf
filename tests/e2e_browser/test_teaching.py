"""Lecture files in Chromium: every slide fits, and each page is printed to PDF."""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import Any

import pytest

from autograder.cli import run
from autograder.model.course import load
from tests.serve.running import until

ROOT = Path(__file__).resolve().parents[2]
# `make e2e` prints one week; AUTOGRADER_SITE_WEEKS sets a different number of weeks
WEEKS = load(ROOT).weeks[: int(os.environ.get("AUTOGRADER_SITE_WEEKS", "1"))]
# Returns the slides whose content reaches their source or footer, or the right edge.
CROWDED = """() => [...document.querySelectorAll("section")].filter(slide => {
  const inside = [...slide.children].filter(e => !["BLOCKQUOTE", "FOOTER"].includes(e.tagName));
  const end = slide.querySelector("blockquote") || slide.querySelector("footer");
  const bottom = Math.max(...inside.map(e => e.getBoundingClientRect().bottom));
  const wide = [...slide.querySelectorAll("math, img, table, pre")];
  return bottom > end.getBoundingClientRect().top ||
    wide.some(e => e.getBoundingClientRect().right > innerWidth) ||
    [...slide.querySelectorAll("img")].some(e => e.height < innerHeight / 4);
}).map(slide => slide.id)"""


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the folder of the lecture files, which have been printed."""
    folder = tmp_path_factory.mktemp("teaching")
    before = Path.cwd()
    os.chdir(ROOT)
    try:
        assert run(["teach", *(week.name for week in WEEKS), "--out", str(folder)]) == 0
    finally:
        os.chdir(before)
    return folder


@pytest.mark.parametrize("size", [(1280, 720), (1024, 768)], ids=["wide", "4-3"])
@pytest.mark.parametrize("week", [week.name for week in WEEKS])
def test_every_slide_fits(
    made: Path, browser_page: Any, screenshots: Path, week: str, size: tuple[int, int]
) -> None:
    browser_page.set_viewport_size({"width": size[0], "height": size[1]})
    browser_page.goto((made / "slides" / f"{week}.html").as_uri())
    browser_page.screenshot(path=str(screenshots / f"slides_{week}_{size[1]}.png"))
    assert browser_page.evaluate(CROWDED) == []


@pytest.mark.parametrize("week", [week.name for week in WEEKS])
def test_page_down_shows_the_next_slide(made: Path, browser_page: Any, week: str) -> None:
    browser_page.set_viewport_size({"width": 1280, "height": 720})
    browser_page.goto((made / "slides" / f"{week}.html").as_uri())
    browser_page.keyboard.press("PageDown")
    until(lambda: browser_page.evaluate("scrollY === innerHeight"))


@pytest.mark.parametrize("week", [week.name for week in WEEKS])
def test_a_slide_is_one_page_of_the_pdf(made: Path, week: str) -> None:
    slides = (made / "slides" / f"{week}.html").read_text(encoding="utf-8").count("<section id=")
    printed = (made / "slides" / f"{week}.pdf").read_bytes()
    assert len(re.findall(rb"/Type /Page\b", printed)) == slides


def test_every_page_is_printed(made: Path) -> None:
    pages = sorted(p.with_suffix(".pdf") for p in made.rglob("*.html"))
    assert sorted(made.rglob("*.pdf")) == pages
    assert all(p.read_bytes().startswith(b"%PDF") for p in pages)
    assert (made / "exam" / "answers.pdf").stat().st_mode & 0o777 == 0o600
