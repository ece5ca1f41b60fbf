"""The pages of a sample class: README's pictures are still true, and axe finds no violation."""

from __future__ import annotations

import io
from pathlib import Path
from typing import Any

import pytest
from PIL import Image

from docs.pictures import FOLDER, PICTURES, WEEK, capture, run
from tests.e2e_browser.test_submit_page import AXE, PHONE, complaints, scrolls_sideways

DESK = {"width": 1280, "height": 900}
STUDENTS = ("radia", "donald", "mallory")  # counterexamples, an endless loop, forbidden calls


@pytest.fixture(scope="module")
def captured(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, dict[str, bytes]]:
    """Run the demo, and return its folder and the pictures."""
    folder = tmp_path_factory.mktemp("pictures")
    pictures = capture(folder)  # raises an error if a text is missing
    demo = folder / "project" / "demo"
    run(demo, "report", WEEK, "--names", "--similarity", "--out", "names.html")
    run(demo, "report", "--names", "--out", "course.html")
    return demo, pictures


@pytest.mark.parametrize("name", PICTURES)
def test_a_picture_has_its_size_and_texts(
    captured: tuple[Path, dict[str, bytes]], name: str
) -> None:
    stored, now = FOLDER / f"{name}.png", captured[1][name]
    with Image.open(stored) as one, Image.open(io.BytesIO(now)) as other:
        assert one.size == other.size
    assert len(now) < 150_000


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("size", [PHONE, DESK], ids=["phone", "desk"])
@pytest.mark.parametrize(
    "page",
    [
        f"report-{WEEK}.html",
        "names.html",
        "course.html",
        *(f"nbgrader/feedback/{student}/{WEEK}/{WEEK}.html" for student in STUDENTS),
    ],
)
def test_a_page_is_accessible(
    captured: tuple[Path, dict[str, bytes]],
    chromium: Any,
    page: str,
    size: dict[str, int],
    scheme: str,
) -> None:
    context = chromium.new_context(bypass_csp=True, viewport=size, color_scheme=scheme)
    opened = context.new_page()
    opened.goto((captured[0] / page).as_uri())
    assert not scrolls_sideways(opened)
    opened.evaluate("document.querySelectorAll('details').forEach(d => d.open = true)")
    assert not scrolls_sideways(opened)
    opened.add_script_tag(path=str(AXE))
    assert complaints(opened) == []
