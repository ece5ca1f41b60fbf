"""Capture the README's pictures from the kit's own pages in Chromium (`make pictures`).

`autograder demo` grades a sample class in a new folder, `autograder site` builds the lesson, and
`autograder learn` grades a module with a mistake. Each picture shows a fixed area of one of these
pages and must contain the texts in `PICTURES`.
"""

from __future__ import annotations

import datetime as dt
import io
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

from PIL import Image
from playwright.sync_api import Page, sync_playwright

from autograder.model.course import Course, load
from autograder.model.course.stubs import stub_of
from autograder.site.build import build_site
from tests.courses import copy_course
from tests.learn.running import Learning
from tests.serve.running import AUTOGRADER

ROOT = Path(__file__).resolve().parents[1]
FOLDER = ROOT / "docs" / "images"
WEEK = "week01_softmax"
SCALE, COLORS = 1.5, 64
MISTAKE = "exp = torch.exp(x - x.max())\n    return exp / exp.sum(dim, keepdim=True)"


class Picture(NamedTuple):
    """An area of a page in CSS pixels. `top`: selector of the element at the upper edge."""

    width: int
    height: int
    top: str
    texts: tuple[str, ...]  # shown in the area


PICTURES = {
    "lesson": Picture(820, 660, "img[alt*='the white duck']", ("In the row for",)),
    "feedback": Picture(
        820, 560, "#exercise-softmax_numpy", ("It looks as if your code", "Expected", "Got")
    ),
    "class-report": Picture(820, 640, "#exercises", ("points", "12 of 12", "3 students")),
    "learner": Picture(820, 700, "h1", ("Open the lesson", "Your last save is graded", "Partly")),
}


def main() -> None:
    FOLDER.mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory(prefix="autograder-pictures-") as folder:
        for name, data in capture(Path(folder)).items():
            path = FOLDER / f"{name}.png"
            path.write_bytes(data)
            print(f"{path.relative_to(ROOT)}: {len(data) / 1000:.0f} kB")


def capture(folder: Path) -> dict[str, bytes]:
    """Return each picture as PNG; raise ValueError if a text is missing from a picture."""
    project = copy_course(folder / "project", (WEEK,))
    shutil.copy(ROOT / "solutions" / "sketch.py", project / "solutions")  # for the figures
    pages = {"lesson": lesson(folder), **demo(project)}
    with sync_playwright() as playwright, learner(project, folder) as address:
        browser = playwright.chromium.launch(
            executable_path=shutil.which("chromium"), args=["--no-sandbox", "--disable-gpu"]
        )
        page = browser.new_page(device_scale_factor=SCALE)
        page.set_default_timeout(180_000)
        return {n: shot(page, n, address if n == "learner" else pages[n]) for n in PICTURES}


def lesson(folder: Path) -> str:
    course: Course = load(ROOT)
    now = course.localized(course.weeks[0].release) + dt.timedelta(seconds=1)
    build_site(course, folder / "site", now=now)
    return (folder / "site" / WEEK / "index.html").as_uri()


def demo(project: Path) -> dict[str, str]:
    """Run the demo, and return the addresses of a student's feedback and of the class report."""
    run(project, "demo")
    run(project / "demo", "report", WEEK)
    feedback = project / "demo" / "nbgrader" / "feedback" / "radia" / WEEK / f"{WEEK}.html"
    report = project / "demo" / f"report-{WEEK}.html"
    return {"feedback": feedback.as_uri(), "class-report": report.as_uri()}


def run(folder: Path, *arguments: str) -> None:
    plain = {"NO_COLOR": "1", "JUPYTER_PLATFORM_DIRS": "1"}
    done = subprocess.run(
        [AUTOGRADER, *arguments],
        cwd=folder,
        env=os.environ | plain,
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode:
        raise ValueError(done.stdout + done.stderr)


@contextmanager
def learner(project: Path, folder: Path) -> Iterator[str]:
    """Start the learner's pages with a mistake in `softmax`; yield the address of the week."""
    command = Learning(project, folder / "learn", "--sandbox", "auto")
    course = load(project)
    with command.client:
        command.start()
        try:
            command.shown(WEEK, "Your last save is graded")
            stub = stub_of(course, course.weeks[0])
            wrong = stub.replace('raise NotImplementedError("softmax")', MISTAKE)
            (command.folder / WEEK / "softmax.py").write_text(wrong, encoding="utf-8")
            command.shown(WEEK, "subtracts the same number from every row")
            yield command.address
        finally:
            command.kill()


def shot(page: Page, name: str, address: str) -> bytes:
    """Return the picture of a page with few colors; raise ValueError if it lacks a text."""
    picture = PICTURES[name]
    page.set_viewport_size({"width": picture.width, "height": picture.height})
    page.goto(address)
    if name == "learner":  # the address sets a cookie and shows the home page
        page.goto(f"{page.url.rstrip('/')}/weeks/{WEEK}")
    page.locator(picture.top).first.evaluate("e => scrollTo(0, e.offsetTop - 12)")
    shown = page.evaluate(
        """() => [...document.querySelectorAll('main *')].filter(e => {
          const box = e.getBoundingClientRect();
          return box.height && box.top >= 0 && box.bottom <= innerHeight;
        }).map(e => e.innerText).join(' ')"""
    )
    if missing := [text for text in picture.texts if text not in shown]:
        raise ValueError(f"{name}: {missing} is not shown: {shown}")
    image: Any = Image.open(io.BytesIO(page.screenshot())).convert("RGB").quantize(COLORS)
    out = io.BytesIO()
    image.save(out, "PNG", optimize=True)
    return out.getvalue()


if __name__ == "__main__":
    sys.exit(main())
