"""`autograder submit`: which files count, and both doors."""

from __future__ import annotations

from pathlib import Path

import msgspec
import pytest

from autograder.model.course import Course, Week
from autograder.model.errors import KitError
from autograder.student.commands.service_client import CourseService
from autograder.student.folder.packing import RECEIPTS, pack
from autograder.student.folder.week import WeekFile, describe_week, open_folder
from tests.nbgrader.tiny_course import SOLUTION, WEEK, write
from tests.serve.running import submit


@pytest.fixture
def folder(course: Course, week: Week, tmp_path: Path) -> Path:
    """The week as a student has it, worked on."""
    folder = tmp_path / "student" / WEEK
    described = describe_week(course, week)
    write(folder, {"doubling.py": SOLUTION, "week.json": described, f"{WEEK}.ipynb": "{}"})
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
    assert parcel.notes == ("doubling (1).py is newer than doubling.py, which is submitted",)
    (folder / "doubling.py").unlink()
    with pytest.raises(KitError, match=r"there is doubling \(1\).py: rename it"):
        pack(open_folder(folder))


@pytest.mark.parametrize("url", ["http://grade.example.org/", "grade.example.org", "file:///etc"])
def test_a_key_goes_nowhere_in_the_clear(url: str) -> None:
    with pytest.raises(KitError, match=r"https|no address"):
        CourseService(url)


def test_a_service_that_is_not_there_is_one_line_and_nothing_handed_in(
    folder: Path, tmp_path: Path
) -> None:
    done = submit(folder, tmp_path, "--to", "http://127.0.0.1:9/", AUTOGRADER_TOKEN="x" * 20)
    assert done.returncode == 2
    assert "nothing was submitted" in done.stderr
    assert len(done.stderr.strip().splitlines()) == 1


def test_a_week_that_is_released_says_where_it_is_handed_in(course: Course, week: Week) -> None:
    url = "https://grade.example.org/"
    policy = msgspec.structs.replace(course.registry.immediate, url=url)
    registry = msgspec.structs.replace(course.registry, immediate=policy)
    described = describe_week(Course(course.root, registry), week)
    assert msgspec.json.decode(described, type=WeekFile).hand_in == url


def test_the_settings_of_nbgrader_beside_the_weeks_are_those_of_submit(
    course: Course, folder: Path, tmp_path: Path
) -> None:
    """Return the exchange that nbgrader's commands use."""
    exchange = tmp_path / "exchange"
    for place in ("inbound", f"outbound/{WEEK}"):
        (exchange / course.id / place).mkdir(parents=True)
    (exchange / course.id / "inbound").chmod(0o777)
    exchange.chmod(0o777)
    settings = f"c = get_config()\nc.Exchange.root = {str(exchange)!r}\n"
    write(folder.parent, {"nbgrader_config.py": settings})
    done = submit(folder, tmp_path / "home", "--exchange")
    assert done.returncode == 0, done.stderr
    (taken,) = (exchange / course.id / "inbound").iterdir()
    assert (taken / "doubling.py").read_text("utf-8") == SOLUTION


def test_the_settings_of_nbgrader_are_not_handed_in(folder: Path) -> None:
    write(folder, {"nbgrader_config.py": "c = get_config()"})
    assert "nbgrader_config.py" not in pack(open_folder(folder)).files
