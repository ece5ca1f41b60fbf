"""Fixtures: a course of week 1 with an exchange, two JupyterLab servers and a browser.

A student and the instructor have a server each. `make e2e` runs these tests; `make test` does not,
because they need Chromium. Screenshots are written to the folder in AUTOGRADER_SCREENSHOTS, or to a
temporary folder whose path is printed.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from tests.courses import copy_course

WEEK = "week01_softmax"
STUDENT = "ada"
_STARTING = 90.0  # seconds
_CHROMIUM = ("--no-sandbox", "--disable-gpu", "--disable-background-networking")

collect_ignore_glob = [] if os.environ.get("AUTOGRADER_E2E") else ["test_*.py"]


@dataclass(frozen=True)
class Lab:
    """A running JupyterLab of one user."""

    url: str
    token: str
    home: Path

    def page(self, path: str = "") -> str:
        return f"{self.url}lab{path}?token={self.token}"


@pytest.fixture(scope="session")
def screenshots() -> Path:
    named = os.environ.get("AUTOGRADER_SCREENSHOTS")
    folder = Path(named or tempfile.mkdtemp(prefix="autograder-screenshots-"))
    folder.mkdir(parents=True, exist_ok=True)
    print(f"\nscreenshots: {folder}")
    return folder


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """Return the course with its first week in a new folder."""
    return copy_course(tmp_path / "project", (WEEK,))


@pytest.fixture
def instructor(project: Path) -> Callable[..., str]:
    """Run an instructor's command in the project; it must succeed, or exit with `code`."""

    def run(*arguments: str, code: int = 0) -> str:
        done = subprocess.run(
            [Path(sys.executable).parent / "autograder", *arguments],
            cwd=project,
            env=os.environ | {"NO_COLOR": "1", "COLUMNS": "80", "JUPYTER_PLATFORM_DIRS": "1"},
            capture_output=True,
            text=True,
            timeout=300,
            check=False,
        )
        assert done.returncode == code, done.stdout + done.stderr
        return done.stdout

    return run


@pytest.fixture
def lab(project: Path, tmp_path: Path) -> Iterator[Lab]:
    """Start a student's JupyterLab with nbgrader's extensions."""
    home = tmp_path / STUDENT
    work = home / "work"
    work.mkdir(parents=True)
    settings = (
        "c = get_config()\n"
        "c.CourseDirectory.course_id = 'attention'\n"
        f"c.CourseDirectory.student_id = {STUDENT!r}\n"
        f"c.Exchange.root = {str(project / 'nbgrader' / 'exchange')!r}\n"
        f"c.Exchange.cache = {str(home / '.cache' / 'nbgrader')!r}\n"
    )
    with jupyterlab(home, work, settings) as running:
        yield running


@pytest.fixture
def desk(project: Path, instructor: Callable[..., str], tmp_path: Path) -> Iterator[Lab]:
    """Start the instructor's JupyterLab in nbgrader's folder of a released course."""
    if not (project / "nbgrader" / "release").exists():
        instructor("release", "week01", "--early", "--unproven")
    home = tmp_path / "instructor"
    with jupyterlab(home, project / "nbgrader") as running:
        yield running


@contextmanager
def jupyterlab(home: Path, work: Path, nbgrader_config: str = "") -> Iterator[Lab]:
    """Start JupyterLab in a folder with a separate home, settings and data."""
    settings = home / ".jupyter"
    settings.mkdir(parents=True)
    if nbgrader_config:
        (settings / "nbgrader_config.py").write_text(nbgrader_config, encoding="utf-8")
    quiet = settings / "lab" / "user-settings" / "@jupyterlab" / "apputils-extension"
    quiet.mkdir(parents=True)
    (quiet / "notification.jupyterlab-settings").write_text('{"fetchNews": "false"}')
    environment = os.environ | {
        "HOME": str(home),
        "JUPYTER_CONFIG_DIR": str(settings),
        "JUPYTER_DATA_DIR": str(home / "data"),
        "JUPYTER_RUNTIME_DIR": str(home / "runtime"),
        "JUPYTER_PLATFORM_DIRS": "1",
        "IPYTHONDIR": str(home / ".ipython"),
        "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}",
    }
    options = ["--no-browser", "--allow-root", "--port=0", "--ip=127.0.0.1"]
    options += [f"--ServerApp.root_dir={work}", "--LabApp.news_url=None"]
    options += ["--LabApp.check_for_updates_class=jupyterlab.NeverCheckForUpdate"]
    with (home / "jupyter.log").open("wb") as log:
        server = subprocess.Popen(
            [sys.executable, "-m", "jupyterlab", *options],
            cwd=work,
            env=environment,
            stdout=log,
            stderr=log,
        )
        try:
            url, token = _started(server, home)
            yield Lab(url, token, work)
        finally:
            server.terminate()
            try:
                server.wait(30)
            except subprocess.TimeoutExpired:  # kernels may take long to stop on a busy machine
                server.kill()
                server.wait()


def _started(server: subprocess.Popen[bytes], home: Path) -> tuple[str, str]:
    until = time.monotonic() + _STARTING
    while time.monotonic() < until and server.poll() is None:
        for path in (home / "runtime").glob("jpserver-*.json"):
            told = json.loads(path.read_text(encoding="utf-8") or "{}")
            if told:
                return told["url"], told["token"]
        time.sleep(0.2)
    raise AssertionError((home / "jupyter.log").read_text(encoding="utf-8")[-3000:])


@pytest.fixture
def chromium() -> Iterator[Any]:
    from playwright.sync_api import sync_playwright

    path = shutil.which("chromium") or shutil.which("chromium-browser")
    assert path, "chromium is missing: sudo apt-get install chromium"
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=path, args=list(_CHROMIUM))
        yield browser
        browser.close()


@pytest.fixture
def browser_page(chromium: Any) -> Any:
    page = chromium.new_page(viewport={"width": 1280, "height": 900})
    page.set_default_timeout(60_000)
    return page
