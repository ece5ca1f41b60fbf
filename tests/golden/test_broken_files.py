"""Files that do not run: each with the one sentence that `grade` and `check` say of it.

Run with `--regold` after a change that is meant to alter the sentences, and read the difference.
"""

from __future__ import annotations

import datetime as dt
import json
import shutil
from pathlib import Path

import msgspec
import pytest

from autograder.model.errors import KitError
from autograder.student.checks.launcher import WarmPython
from autograder.student.commands.check import check_week
from autograder.student.folder.week import WeekExercise, WeekFile, open_folder
from tests.weeks import thorough_after

HERE = Path(__file__).parent
BROKEN = sorted(p.name for p in (HERE / "broken").iterdir())
SECONDS = 2.0  # for an import, in both processes
WEEK = WeekFile(
    week="week01_tiny",
    title="Tiny",
    module="tiny.py",
    due=dt.datetime(2027, 1, 18, 23, 59, tzinfo=dt.UTC),
    exercises=(WeekExercise("weigh", 3), WeekExercise("Scale", 2)),
    questions=(),
    stub="",
)
CHECKS = """
import torch


def test_weigh_sums_to_one():
    from tiny import weigh

    assert weigh(torch.zeros(2)).sum() == 1


def test_Scale_is_there():
    from tiny import Scale
"""
# The grader converts the one, and asks for the other as for any submission.
CHECK_SAYS = {
    "utf_16": "tiny.py does not run: it is saved as UTF-16. Save it again as UTF-8.",
    "module_missing": "there is no tiny.py in week01_tiny: "
    "`autograder reset --all` restores the stub",
}


def sentence(name: str) -> str:
    return (HERE / "sentences" / f"{name}.txt").read_text("utf-8").rstrip("\n")


@pytest.fixture(scope="module")
def graded(tmp_path_factory, autograder):
    course = tmp_path_factory.mktemp("broken") / "course"
    shutil.copytree(HERE / "course", course, ignore=shutil.ignore_patterns("__pycache__"))
    paths = [HERE / "broken" / name for name in BROKEN]
    output = course / "report.json"
    done = autograder("grade", "1", *paths, "--device", "cpu", "--json", output, cwd=course)
    assert done.returncode == 1, done.stderr
    report = json.loads(output.read_text("utf-8"))
    return {s["name"]: s for s in report["submissions"]}


@pytest.fixture(scope="module")
def python(tmp_path_factory):
    folder = tmp_path_factory.mktemp("student") / WEEK.week
    folder.mkdir()
    (folder / "week.json").write_bytes(msgspec.json.encode(WEEK))
    (folder / "test_tiny.py").write_text(CHECKS, encoding="utf-8")
    (folder / "tiny.py").write_text("import torch\n", encoding="utf-8")
    warm = WarmPython(open_folder(folder))
    yield warm, folder
    warm.close()


@pytest.fixture
def checked(python, request):
    """What `check` says of the submission of this name."""
    warm, folder = python
    (folder / "tiny.py").unlink()
    name = request.getfixturevalue("name")
    files = [shutil.copy(p, folder) for p in (HERE / "broken" / name).iterdir()]
    opened = open_folder(folder)
    try:
        yield check_week(opened, opened.names, seconds=SECONDS, warm=warm)
    except KitError as error:
        yield error
    finally:
        for file in files:
            Path(file).unlink()
        (folder / "tiny.py").touch()


@pytest.mark.parametrize("name", BROKEN)
def test_the_grader_says_of(name, graded, request):
    if request.config.getoption("--regold"):
        (HERE / "sentences" / f"{name}.txt").write_text(graded[name]["message"] + "\n", "utf-8")
    assert graded[name]["message"] == sentence(name)


@pytest.mark.parametrize("name", BROKEN)
def test_it_is_refused_without_a_test_unless_it_runs(name, graded):
    submission, runs = graded[name], not sentence(name)
    assert submission["verdict"] == ("graded" if runs else "refused")
    assert submission["score"] == (5.0 if runs else 0.0)
    assert any(e["tests"] for e in submission["exercises"]) == runs
    assert not any(e["diagnosis"] for e in submission["exercises"])


@pytest.mark.parametrize("name", thorough_after(6, BROKEN))
def test_check_says_the_same_of(name, checked):
    if isinstance(checked, KitError):
        said = str(checked)
    else:
        broken = checked.broken
        said = "\n".join(filter(None, (broken.message, broken.code))) if broken else ""
        assert checked.passed == (broken is None)
    assert said == CHECK_SAYS.get(name, sentence(name))
