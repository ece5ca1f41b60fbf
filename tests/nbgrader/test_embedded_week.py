"""Test that the released notebook contains its figures and a first cell that downloads the week."""

from __future__ import annotations

import contextlib
import functools
import http.server
import io
import json
import os
import re
import shutil
import subprocess
import sys
import threading
import venv
import zipfile
from collections.abc import Iterator
from pathlib import Path

import msgspec
import nbformat
import pytest
from nbclient import NotebookClient

from autograder.authoring.lesson.handout import (
    FETCH,
    INSTALL,
    WHEEL,
    fetch_cell,
    install_page,
    zip_week,
)
from autograder.authoring.lesson.leak_check import secrets_of
from autograder.model.course import Course, Week
from autograder.model.errors import LeakError
from autograder.nbgrader.formgrader.submitted_cells import rendered_cells
from autograder.nbgrader.workspace import Workspace
from tests.nbgrader.tiny_course import SOLUTION, WEEK


@pytest.fixture
def opened(released: Workspace, week: Week) -> nbformat.NotebookNode:
    return nbformat.read(released.outbound(week) / f"{WEEK}.ipynb", as_version=4)


@contextlib.contextmanager
def served(folder: Path) -> Iterator[str]:
    """Serve the folder at a local web address."""

    class Quiet(http.server.SimpleHTTPRequestHandler):
        def log_message(self, *_: object) -> None:
            pass

    server = http.server.ThreadingHTTPServer(
        ("127.0.0.1", 0), functools.partial(Quiet, directory=str(folder))
    )
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_address[1]}/{WEEK}.zip"
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


def run_cell(source: str, where: Path, python: str = sys.executable, **more: str) -> str:
    done = subprocess.run(
        [python, "-c", f"{source}\nprint(sorted(p.name for p in pathlib.Path().iterdir()))"],
        cwd=where, env=os.environ | more, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    return done.stdout


def aimed(course: Course, week: Week, source: str) -> str:
    """Return the download cell with a different location, as a student would type it."""
    return fetch_cell(course, week).replace('SOURCE = ""', f"SOURCE = {source!r}")


def test_figures_stand_in_the_notebook(opened: nbformat.NotebookNode) -> None:
    text = "".join(c.source for c in opened.cells if c.cell_type == "markdown")
    assert "](figures/" not in text
    assert "](data:image/png;base64," in text


def test_the_first_cell_that_runs_fetches_the_week(opened: nbformat.NotebookNode) -> None:
    code = [c for c in opened.cells if c.cell_type == "code"]
    assert code[0].metadata["tags"] == [FETCH]
    assert "nbgrader" not in code[0].metadata


def test_a_page_shows_a_figure_from_the_text(
    opened: nbformat.NotebookNode, released: Workspace, week: Week
) -> None:
    cells = rendered_cells(opened.cells, released.outbound(week) / "figures")
    assert any('<img src="data:image/png;base64,' in cell.text for cell in cells)


@pytest.mark.parametrize(
    ("kind", "shown"), [("image/png", True), ("image/svg+xml", False), ("text/html", False)]
)
def test_a_students_own_picture_is_shown_if_it_is_of_a_harmless_kind(
    kind: str, shown: bool, tmp_path: Path
) -> None:
    cell = nbformat.v4.new_markdown_cell(f"![mine](data:{kind};base64,PHN2Zz4=)")
    (seen,) = rendered_cells([cell], tmp_path)
    assert ("<img" in seen.text) == shown


def test_where_the_week_is_the_cell_does_nothing(
    course: Course, week: Week, released: Workspace
) -> None:
    folder = released.outbound(week)
    before = {p: p.read_bytes() for p in folder.rglob("*") if p.is_file()}
    run_cell(fetch_cell(course, week), folder)
    assert {p: p.read_bytes() for p in folder.rglob("*") if p.is_file()} == before


def test_an_upload_beside_the_notebook_is_found(
    course: Course, week: Week, released: Workspace, tmp_path: Path
) -> None:
    foreign = tmp_path / "content"
    foreign.mkdir()
    shutil.copy(released.bundle(week), foreign / f"{WEEK} (1).zip")
    said = run_cell(fetch_cell(course, week), foreign)
    assert "'doubling.py'" in said
    assert "You write your code in" in said


def refused(source: str, where: Path) -> str:
    """Return the cell's message when it stops; students see no traceback."""
    done = subprocess.run(
        [sys.executable, "-c", source], cwd=where, capture_output=True, text=True, check=False
    )
    assert done.returncode == 1
    assert "Traceback" not in done.stderr
    (line,) = done.stderr.strip().split("\n")
    return line


def test_without_a_place_the_cell_says_what_to_do(
    course: Course, week: Week, tmp_path: Path
) -> None:
    assert refused(fetch_cell(course, week), tmp_path).startswith(
        f"Put {WEEK}.zip beside this notebook"
    )


@pytest.mark.parametrize("whole", [False, True], ids=["half a zip", "another zip"])
def test_a_zip_that_is_not_the_week_is_said(
    course: Course, week: Week, tmp_path: Path, whole: bool
) -> None:
    data = zip_week(
        msgspec.structs.replace(week, name="week07_other"), {"week.json": b"{}"}, None, ()
    )
    (tmp_path / f"{WEEK}.zip").write_bytes(data if whole else data[: len(data) // 2])
    said = refused(fetch_cell(course, week), tmp_path)
    assert said.startswith(f"This zip is not of {WEEK}" if whole else "What was found is no zip")
    assert not (tmp_path / "week07_other").exists()


def test_an_address_that_leads_nowhere_is_said(course: Course, week: Week, tmp_path: Path) -> None:
    with served(tmp_path) as address:
        said = refused(aimed(course, week, address), tmp_path)
    assert said.startswith(f"{WEEK} could not be fetched: HTTP Error 404")
    said = refused(aimed(course, week, str(tmp_path / "nothing.zip")), tmp_path)
    assert "No such file" in said


def test_a_path_that_climbs_out_stays_in_and_what_was_written_stays(
    course: Course, week: Week, tmp_path: Path
) -> None:
    foreign = tmp_path / "content"
    (foreign / WEEK).mkdir(parents=True)
    (foreign / WEEK / "doubling.py").write_text("mine = 1\n")
    with zipfile.ZipFile(foreign / f"{WEEK}.zip", "w") as archive:
        for name in ("week.json", "doubling.py", "../../climbed.py", "../beside.py"):
            archive.writestr(f"{WEEK}/{name}", "theirs")
    run_cell(fetch_cell(course, week), foreign)
    assert (foreign / WEEK / "doubling.py").read_text() == "mine = 1\n"
    assert not list(tmp_path.glob("*.py"))
    assert not list(foreign.glob("*.py"))


def test_a_second_run_keeps_what_was_written(
    course: Course, week: Week, released: Workspace, tmp_path: Path
) -> None:
    shutil.copy(released.bundle(week), tmp_path)
    run_cell(fetch_cell(course, week), tmp_path)
    (tmp_path / WEEK / "doubling.py").write_text("mine = 1\n", encoding="utf-8")
    run_cell(fetch_cell(course, week), tmp_path)
    assert (tmp_path / WEEK / "doubling.py").read_text("utf-8") == "mine = 1\n"


def test_the_released_notebook_runs_from_a_foreign_folder_in_a_fresh_kernel(
    course: Course,
    week: Week,
    released: Workspace,
    opened: nbformat.NotebookNode,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Run only the notebook with the week from a web address, as on Colab."""
    (tmp_path / "home").mkdir(exist_ok=True)
    monkeypatch.setenv("IPYTHONDIR", str(tmp_path / "ipython"))
    foreign = tmp_path / "content"
    foreign.mkdir()
    with served(released.bundle(week).parent) as address:
        (fetching,) = (c for c in opened.cells if c.get("id") == FETCH)
        fetching.source = aimed(course, week, address)
        write = nbformat.v4.new_code_cell(f"pathlib.Path('doubling.py').write_text({SOLUTION!r})")
        opened.cells.insert(opened.cells.index(fetching) + 1, write)
        client = NotebookClient(
            opened, timeout=120, kernel_name="python3", resources={"metadata": {"path": foreign}}
        )
        client.execute()
    outputs = [o for c in opened.cells if c.cell_type == "code" for o in c.outputs]
    shown = "".join(str(o.get("data", {}).get("text/html", "")) for o in outputs)
    assert "double" in shown
    assert "terminal" not in shown
    assert (foreign / WEEK / "week.json").is_file()


def test_the_bundle_is_the_week_and_nothing_else(released: Workspace, week: Week) -> None:
    with zipfile.ZipFile(released.bundle(week)) as archive:
        names = {n.removeprefix(f"{WEEK}/") for n in archive.namelist()}
    outbound = released.outbound(week)
    assert names == {p.relative_to(outbound).as_posix() for p in outbound.rglob("*") if p.is_file()}


def test_a_wheel_with_a_secret_in_it_stops_the_bundle(
    course: Course, week: Week, tmp_path: Path
) -> None:
    wheel = tmp_path / WHEEL
    with zipfile.ZipFile(wheel, "w") as archive:
        archive.writestr("autograder/solutions.py", SOLUTION)
    with pytest.raises(LeakError):
        zip_week(week, {}, wheel, secrets_of(course, week))


@pytest.mark.thorough
def test_the_cell_installs_the_wheel_that_came_with_the_week(
    course: Course, week: Week, tmp_path: Path
) -> None:
    """Run the cell in a Python without the kit; its dependencies are skipped (PIP_NO_DEPS)."""
    wheel = tmp_path / "gradewright_student-0.0.1-py3-none-any.whl"
    record = "gradewright_student-0.0.1.dist-info"
    with zipfile.ZipFile(wheel, "w") as archive:
        archive.writestr("autograder/__init__.py", "check = hint = progress = here = True\n")
        about = "Metadata-Version: 2.1\nName: gradewright-student\nVersion: 0.0.1\n"
        archive.writestr(f"{record}/METADATA", about)
        archive.writestr(
            f"{record}/WHEEL", "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n"
        )
        archive.writestr(f"{record}/RECORD", "")
    foreign = tmp_path / "content"
    foreign.mkdir()
    (foreign / f"{WEEK}.zip").write_bytes(zip_week(week, {"week.json": b"{}"}, wheel, ()))
    venv.create(tmp_path / "fresh", with_pip=True, symlinks=True)
    python = str(tmp_path / "fresh" / "bin" / "python")
    source = f"{fetch_cell(course, week)}\nimport autograder\nprint(autograder.here)"
    more = {"PIP_NO_DEPS": "1", "PIP_NO_INDEX": "1", "PYTHONPATH": ""}
    assert "True" in run_cell(source, foreign, python, **more)


def test_course_yaml_may_say_where_the_weeks_are(course: Course, week: Week) -> None:
    registry = msgspec.structs.replace(course.registry, handouts="https://weeks.example.org/out/")
    source = fetch_cell(Course(course.root, registry), week)
    assert f'SOURCE = "https://weeks.example.org/out/{WEEK}.zip"' in source


def test_install_lines_hold_in_every_shell(course: Course) -> None:
    lines = re.findall(r"```sh\n(.*?)```", install_page(course), flags=re.DOTALL)
    for line in "".join(lines).strip().split("\n"):
        assert not set(line) & set("*?[]~$`'\"\\&|;<>%^#!{}()"), line


def test_install_lines_take_the_cpu_build(course: Course) -> None:
    page = install_page(course)
    assert "https://download.pytorch.org/whl/cpu" in page
    assert "uv pip install --torch-backend cpu" in page
    assert WHEEL in page


def test_the_page_is_released(course: Course, released: Workspace, week: Week) -> None:
    assert (released.outbound(week) / INSTALL).read_text("utf-8") == install_page(course)


def test_the_same_files_make_the_same_bundle(week: Week) -> None:
    files = {"b": b"2", "a": b"1"}
    assert zip_week(week, files, None, ()) == zip_week(
        week, dict(reversed(files.items())), None, ()
    )
    assert zipfile.ZipFile(io.BytesIO(zip_week(week, files, None, ()))).namelist() == [
        f"{WEEK}/a",
        f"{WEEK}/b",
    ]


def test_the_notebook_is_still_json_that_nbgrader_made(released: Workspace, week: Week) -> None:
    cells = json.loads((released.outbound(week) / f"{WEEK}.ipynb").read_bytes())["cells"]
    assert len({c["id"] for c in cells}) == len(cells)
