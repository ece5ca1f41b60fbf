"""`autograder submit`: which files count, and both doors."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from autograder.model.course import load
from autograder.model.errors import KitError
from autograder.model.parcel import digest_of
from autograder.nbgrader.release import release
from autograder.nbgrader.workspace import Workspace
from autograder.student.handin import RECEIPTS, pack
from autograder.student.service import CourseService
from autograder.student.week import open_folder
from tests.nbgrader.tiny_course import SOLUTION, WEEK, write, write_course
from tests.serve.conftest import FUTURE
from tests.serve.running import submit


@pytest.fixture(scope="module")
def released(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The course with its week out."""
    root = tmp_path_factory.mktemp("submit") / "course"
    write_course(root)
    (root / "course.yaml").write_text(FUTURE, "utf-8")
    course = load(root)
    release(course, course.weeks[0])
    return root


@pytest.fixture
def folder(released: Path, tmp_path: Path) -> Path:
    """The week as a student has it, worked on."""
    course = load(released)
    folder = tmp_path / "student" / WEEK
    shutil.copytree(Workspace(course).outbound(course.weeks[0]), folder)
    write(folder, {"doubling.py": SOLUTION})
    return folder


def test_exactly_the_files_that_count_are_packed(folder: Path) -> None:
    junk = {
        "test_doubling.py": "x",
        "README.md": "x",
        "figures/numbers.png": "x",
        "kept/doubling-1.py": "x",
        "__pycache__/doubling.cpython.pyc": "x",
        ".autograder-student.json": "{}",
        RECEIPTS: "- a receipt",
        "feedback/2027/page.html": "x",
        "essay.docx": "x",
    }
    write(folder, junk | {"helper.py": "y = 1", "data/weights.npy": "n"})
    wanted = {"doubling.py", f"{WEEK}.ipynb", "week.json", "helper.py", "data/weights.npy"}
    assert set(pack(open_folder(folder)).files) == wanted


def test_a_copy_is_never_handed_in_instead_of_the_module(folder: Path) -> None:
    write(folder, {"doubling (1).py": "x = 1"})
    parcel = pack(open_folder(folder))
    assert "doubling (1).py" not in parcel.files
    assert parcel.notes == ("doubling (1).py is newer than doubling.py, which is handed in",)
    (folder / "doubling.py").unlink()
    with pytest.raises(KitError, match=r"there is doubling \(1\).py: rename it"):
        pack(open_folder(folder))


@pytest.mark.parametrize("url", ["http://grade.example.org/", "grade.example.org", "file:///etc"])
def test_a_key_goes_nowhere_in_the_clear(url: str) -> None:
    with pytest.raises(KitError, match=r"https|no address"):
        CourseService(url)


def test_through_nbgrader_the_real_command_carries_these_files(
    released: Path, folder: Path, tmp_path: Path
) -> None:
    course, home = load(released), tmp_path / "home"
    config = f"c.Exchange.root = {str(Workspace(course).exchange)!r}\n"
    config += f"c.CourseDirectory.course_id = {course.id!r}\n"
    write(home, {"config/nbgrader_config.py": config})
    jupyter = {"JUPYTER_CONFIG_DIR": str(home / "config"), "JUPYTER_DATA_DIR": str(home / "data")}
    done = submit(folder, home, **jupyter)
    assert done.returncode == 0, done.stderr
    (taken,) = (Workspace(course).exchange / course.id / "inbound").iterdir()
    files = {p.name: p.read_bytes() for p in taken.iterdir()}
    assert {"doubling.py", f"{WEEK}.ipynb", "week.json"} < set(files)
    assert "README.md" not in files
    digest = digest_of({n: files[n] for n in ("doubling.py", f"{WEEK}.ipynb", "week.json")})
    assert digest in done.stdout
    assert digest in (folder / RECEIPTS).read_text("utf-8")
    write(folder, {"doubling (1).py": "x = 1"})
    looked = submit(folder, home, **jupyter)
    assert looked.returncode == 1
    assert "LOOK  doubling (1).py is newer" in looked.stdout


def test_a_service_that_is_not_there_is_one_line_and_nothing_handed_in(
    folder: Path, tmp_path: Path
) -> None:
    done = submit(folder, tmp_path, "--to", "http://127.0.0.1:9/", AUTOGRADER_TOKEN="x" * 20)
    assert done.returncode == 2
    assert "nothing was handed in" in done.stderr
    assert len(done.stderr.strip().splitlines()) == 1
