"""`autograder learn` as a process: real grading after each save, restarts, and errors."""

from __future__ import annotations

import subprocess
from pathlib import Path

import psutil
import pytest

from tests.learn.notebook import answer
from tests.learn.running import Learning
from tests.nbgrader.tiny_course import SOLUTION, WEEK
from tests.serve.running import until

PAGE = f"/weeks/{WEEK}"
SQUARES = SOLUTION.replace("x + x", "x**2")
FIGURES = '''\
"""Figures."""

import doubling
from matplotlib.figure import Figure


def figures() -> dict[str, Figure]:
    return {"numbers": numbers(), "drawing": drawing(), **more()}


def numbers() -> Figure:
    figure = Figure()
    figure.subplots().imshow([[value for value in map(lambda x: doubling.double(x), [21.0])]])
    return figure


def drawing() -> Figure:
    raise AssertionError("it uses no exercise")


def more() -> dict[str, Figure]:
    return {"halves": Figure() if doubling.halve(4.0) == 2.0 else None}
'''


def run(learning: Learning) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        learning.command, cwd=learning.course, capture_output=True, text=True, timeout=180
    )


@pytest.mark.thorough
def test_a_learner_makes_a_mistake_fixes_it_and_resumes(learning: Learning) -> None:
    (learning.course / "solutions" / WEEK / "figures.py").write_text(FIGURES)
    learning.start()
    assert "solutions" in learning.output()
    assert "Not written yet" in learning.shown(WEEK, "is graded")
    module = learning.folder / WEEK / "doubling.py"
    module.write_text(SQUARES)
    page = learning.shown(WEEK, "squares instead of doubling")
    assert "Try 3 by hand." in page
    module.write_text("def double(:\n")
    page = learning.shown(WEEK, "Your last save was not graded")
    assert "line 1" in page
    assert "squares instead of doubling" in page
    module.write_text(SOLUTION)
    assert "Show the solution of" in learning.shown(WEEK, "3 of 6 points")
    answer(learning.folder / WEEK / f"{WEEK}.ipynb", "why", "Because.")
    learning.shown(WEEK, "Because.")
    learning.post(f"{PAGE}/tasks/why/open")
    learning.post(f"{PAGE}/tasks/why/assess", met="1")
    assert "4 of 6 points" in learning.shown(WEEK, "drawn by your code", "numbers.png")
    assert (
        learning.client.get(f"{learning.url}/figures/{WEEK}/numbers.png").content[:4] == b"\x89PNG"
    )
    assert learning.stop() == 0
    learning.start()
    assert "You have finished every week" in learning.page()
    assert "numbers.png" in learning.page(PAGE)


@pytest.mark.thorough
def test_it_works_without_a_sandbox_and_warns(learning: Learning) -> None:
    learning.options = ("--no-jupyter", "--sandbox", "none")
    learning.start()
    assert "WARNING" in learning.output()
    assert "without a sandbox" in learning.page()
    (learning.folder / WEEK / "doubling.py").write_text(SQUARES)
    learning.shown(WEEK, "squares instead of doubling")


@pytest.mark.thorough
@pytest.mark.parametrize("killed", [True, False])
def test_everything_ends_with_the_command(learning: Learning, killed: bool) -> None:
    learning.options = ("--sandbox", "none")
    learning.start()
    learning.shown(WEEK, "is graded")
    lab = learning.client.get(f"{learning.url}{PAGE}/lab/{WEEK}.ipynb")
    assert lab.status_code == 200
    assert "jupyter" in lab.text.lower()
    assert f":{learning.port + 1}/lab/tree/{WEEK}" in str(lab.url)
    children = learning.descendants()
    assert len(children) >= 2  # JupyterLab and the grading process
    learning.kill() if killed else learning.stop()
    until(lambda: not psutil.wait_procs(children, timeout=0)[1], 90)


@pytest.mark.thorough
def test_jupyterlab_needs_the_token(learning: Learning) -> None:
    learning.options = ("--sandbox", "none")
    learning.start()
    answered = learning.client.get(f"{learning.url}{PAGE}/lab/{WEEK}.ipynb", follow_redirects=False)
    address = answered.headers["location"]
    base = address.partition("/lab/")[0]
    learning.client.cookies.clear()
    assert learning.client.get(f"{base}/api/contents").status_code == 403
    assert "token=" in address


@pytest.mark.thorough
def test_a_second_one_in_the_same_folder_names_the_address(learning: Learning) -> None:
    learning.start()
    second = run(learning)
    assert second.returncode == 2
    assert f"is running already for {learning.folder}: open {learning.address}" in second.stderr


@pytest.mark.thorough
def test_a_port_in_use_is_named(learning: Learning, tmp_path: Path) -> None:
    learning.start()
    learning.folder = tmp_path / "other"
    second = run(learning)
    assert second.returncode == 2
    assert f"port {learning.port} on 127.0.0.1 cannot be used" in second.stderr
    assert "--port" in second.stderr


def test_a_course_with_a_mistake_is_an_error_without_a_traceback(learning: Learning) -> None:
    (learning.course / "exercises" / WEEK / "doubling.py").write_text("outdated = 1\n")
    done = run(learning)
    assert done.returncode == 2
    assert "autograder build" in done.stderr
    assert "Traceback" not in done.stderr
