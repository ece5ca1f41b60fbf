"""Run a course on another subject from the instructor's wheel, without a clone of this repository.

The instructor's environment has the instructor's wheel, the students' environment the wheel from a
released week; both find the other libraries in this environment. The first week is in NumPy and is
the complete exercise of docs/authors.md, the second week is in torch. Ada's work is correct, Alan
has a misconception, and one user plays all of them.
"""

from __future__ import annotations

import csv
import os
import re
import shutil
import subprocess
import sys
import sysconfig
import venv
import zipfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.authoring.complete_exercise import EXERCISE, files_on_the_page, write_exercise
from tests.authoring.complete_exercise import WEEK as SCORES
from tests.serve.running import Running, running
from tests.wheels import build_wheels

pytestmark = pytest.mark.thorough
TENSORS = "week02_tensors"
# packages that students of the first week do not have
ABSENT = ("nbgrader", "nbconvert", "psutil", "pyseccomp", "torch")


@dataclass
class Person:
    """A user with an environment, a working folder and a home."""

    python: Path
    folder: Path

    def run(self, *arguments: str, codes: tuple[int, ...] = (0,), **environment: str) -> str:
        """Run a module of the environment and return its output."""
        home = self.folder / "home"
        own = {"HOME": str(home), "JUPYTER_DATA_DIR": f"{home}/data", "JUPYTER_PLATFORM_DIRS": "1"}
        path = f"{self.python.parent}{os.pathsep}{os.environ['PATH']}"
        clean = {k: v for k, v in os.environ.items() if not k.startswith(("PYTHON", "JUPYTER"))}
        done = subprocess.run(
            [self.python, "-m", *arguments],
            cwd=self.folder,
            env=clean | own | {"PATH": path, "NO_COLOR": "1", "OMP_NUM_THREADS": "1"} | environment,
            capture_output=True,
            text=True,
            timeout=600,
            check=False,
        )
        assert done.returncode in codes, f"{arguments}:\n{done.stdout}\n{done.stderr}"
        return done.stdout + done.stderr


def install(place: Path, wheel: Path, absent: tuple[str, ...] = ()) -> Path:
    """Install a wheel in a fresh environment and return its Python."""
    venv.create(place, with_pip=False, symlinks=True)
    python = place / "bin" / "python"
    options = ["--quiet", "--no-deps", "--no-index", str(wheel)]
    pip = [sys.executable, "-m", "pip", "--python", str(python), "install", *options]
    subprocess.run(pip, check=True)
    (site,) = place.glob("lib/python*/site-packages")
    (site / "lent.pth").write_text(sysconfig.get_path("purelib") + "\n", encoding="utf-8")
    for name in absent:
        said = f"raise ModuleNotFoundError('not installed', name={name!r})\n"
        (site / f"{name}.py").write_text(said, encoding="utf-8")
    return python


def fill_in(root: Path) -> None:
    """Replace the text that the templates leave to the author."""
    for path in [*root.rglob("*.py"), *root.rglob("*.md"), root / "course.yaml"]:
        text = path.read_text(encoding="utf-8")
        path.write_text(text.replace("FILL IN: ", "About "), encoding="utf-8")


@pytest.fixture(scope="module")
def teacher(tmp_path_factory: pytest.TempPathFactory) -> Person:
    place = tmp_path_factory.mktemp("school")
    _, kit = build_wheels(place / "sources")
    wheel = Path(shutil.move(kit, place / kit.name))
    shutil.rmtree(place / "sources")
    (place / "statistics").mkdir(mode=0o700)
    return Person(install(place / "staff", wheel), place / "statistics")


@pytest.fixture(scope="module")
def released(teacher: Person) -> dict[str, Path]:
    """Write two weeks, verify them in the sandbox, and release them; return their zips."""
    new = ("autograder", "new")
    teacher.run(*new, "--course", "Linear models", SCORES, "--exercise", EXERCISE)
    teacher.run(*new, TENSORS, "--exercise", "center", "--torch")
    write_exercise(teacher.folder)
    fill_in(teacher.folder)
    teacher.run("autograder", "build")
    said = teacher.run("autograder", "verify")
    assert re.search(r"2 weeks, \d tests, 2 alternatives, 3 misconceptions: 0 gaps", said)
    for week in (SCORES, TENSORS):
        said = teacher.run("autograder", "release", week, "--early")
        assert "(with the kit)" in said
    folder = teacher.folder / "nbgrader"
    return {week: next(folder.rglob(f"{week}.zip")) for week in (SCORES, TENSORS)}


@pytest.fixture(scope="module")
def student(released: dict[str, Path], tmp_path_factory: pytest.TempPathFactory) -> Person:
    """Unpack the first week and install its wheel in an environment without torch."""
    place = tmp_path_factory.mktemp("student")
    for bundle in released.values():
        with zipfile.ZipFile(bundle) as archive:
            archive.extractall(place)
    (wheel,) = (place / SCORES).glob("gradewright_student-*.whl")
    return Person(install(place / "venv", wheel, ABSENT), place / SCORES)


@pytest.fixture(scope="module")
def graded(teacher: Person, released: dict[str, Path]) -> str:
    """Let Ada and Alan submit through nbgrader's exchange; collect and grade the first week."""
    exchange = next((teacher.folder / "nbgrader").glob("exchange"))
    solution = (teacher.folder / "solutions" / SCORES / "scores.py").read_text("utf-8")
    wrong = files_on_the_page()[f"solutions/{SCORES}/misconceptions/uses_all_values.py"]
    for name, source in (("ada", solution), ("alan", solution + "\n\n" + wrong)):
        person = Person(teacher.python, teacher.folder.parent / name)
        person.folder.mkdir()
        settings = f"c.Exchange.root = {str(exchange)!r}\n"
        settings += "c.CourseDirectory.course_id = 'linear-models'\n"
        (person.folder / "nbgrader_config.py").write_text(settings, encoding="utf-8")
        person.run("nbgrader", "fetch_assignment", SCORES)
        (person.folder / SCORES / "scores.py").write_text(source, encoding="utf-8")
        person.run("nbgrader", "submit", SCORES, f"--student={name}")
    # one user submits for both, which `collect` reports
    teacher.run("autograder", "collect", SCORES, codes=(0, 1))
    return teacher.run("autograder", "grade", SCORES, "--json", "report.json")


def test_the_course_needs_nothing_of_this_repository(
    teacher: Person, released: dict[str, Path]
) -> None:
    asked = "import autograder; print(autograder.__file__)"
    done = subprocess.run(
        [teacher.python, "-c", asked],
        cwd=teacher.folder,
        capture_output=True,
        text=True,
        check=True,
    )
    assert Path(done.stdout.strip()).is_relative_to(teacher.python.parents[1])
    names = {p.name for p in teacher.folder.iterdir()}
    assert names <= {
        *("course.yaml", "solutions", "exercises", "autograder"),
        *(".autograder", "nbgrader", "home", "report.json", "grades.csv"),
    }


def test_a_student_solves_a_week_in_numpy_without_torch(student: Person, teacher: Person) -> None:
    assert "not written yet" in student.run("autograder", "check", codes=(1,))
    shutil.copy(teacher.folder / "solutions" / SCORES / "scores.py", student.folder)
    assert "All public checks pass" in student.run("autograder", "check")


def test_the_install_page_is_about_this_course(student: Person) -> None:
    page = (student.folder / "INSTALL.md").read_text("utf-8")
    assert page.startswith("# Installation for Linear models\n")
    assert "linear-models/bin/activate" in page
    assert "pip install torch" in page  # for the second week


def test_points_and_the_misconception_arrive_with_the_students(
    teacher: Person, graded: str
) -> None:
    teacher.run("autograder", "feedback", SCORES, "--unmarked")
    pages = (teacher.folder / "nbgrader" / "feedback").rglob("*.html")
    texts = {p.parents[1].name: p.read_text("utf-8") for p in pages}
    assert "Which values belong to the same mean?" in texts["alan"]
    assert "Which values belong to the same mean?" not in texts["ada"]
    assert not re.search(r"attention|softmax", texts["alan"], re.I)


def test_grades_are_exported(teacher: Person, graded: str) -> None:
    teacher.run("autograder", "export", SCORES, "--unmarked", "--out", "grades.csv")
    with (teacher.folder / "grades.csv").open(encoding="utf-8") as file:
        rows = {row["student"]: row for row in csv.DictReader(file)}
    assert float(rows["ada"][SCORES]) == 3
    assert float(rows["alan"][SCORES]) == 1.5


@pytest.fixture
def service(teacher: Person, released: dict[str, Path]) -> Iterator[Running]:
    service = Running(teacher.folder, "--jobs", "1", program=teacher.python.parent / "gradewright")
    with running(service):
        yield service


def test_a_week_in_torch_is_graded_on_submission(service: Running, student: Person) -> None:
    site = student.python.parents[1]
    next(site.glob("lib/python*/site-packages/torch.py")).unlink()  # as INSTALL.md says
    folder = student.folder.parent / TENSORS
    wrong = "import torch\n\n\ndef center(x, dim=-1):\n    return x - x.mean()\n"
    (folder / "tensors.py").write_text(wrong, encoding="utf-8")
    token = service.tokens("--student", "ada")["ada"]
    ada = Person(student.python, folder)
    said = ada.run(
        *("autograder", "submit", "--to", service.url, "--yes"),
        codes=(1,),
        AUTOGRADER_TOKEN=token,
    )
    assert "subtracts the mean of all values" in said.lower()
