"""Test that each mistake in golden/registry/mistakes.txt is reported with its place and a fix."""

from __future__ import annotations

import re
import shutil
from pathlib import Path

import pytest

from autograder.model.course import load
from autograder.model.course.loader import moment
from autograder.model.errors import CourseError

GOLDEN = Path(__file__).resolve().parent.parent / "golden"
MISTAKES = GOLDEN / "registry" / "mistakes.txt"
_ENTRY = re.compile(r"^- (.*)\n\+ (.*)\n= (.*)$", re.MULTILINE)


def entries() -> list[tuple[str, str, str]]:
    return _ENTRY.findall(MISTAKES.read_text("utf-8"))


def plain(text: str) -> str:
    return text.replace("\\n", "\n").replace("\\t", "\t")


@pytest.fixture(scope="module")
def complete(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Create a complete course of one small week, with all files that its registry names."""
    root = tmp_path_factory.mktemp("course")
    ignored = shutil.ignore_patterns("__pycache__", ".autograder")
    shutil.copytree(GOLDEN / "course", root, ignore=ignored, dirs_exist_ok=True)
    (root / "exercises" / "week01_tiny" / "lesson.md").write_text(
        '```python\ncheck("weigh")\n```\n```python\ncheck("Scale")\n```\n<!-- answer: why -->\n'
    )
    (root / "exercises" / "capstone").mkdir()
    (root / "assets").mkdir()
    (root / "assets" / "verses.txt").touch()
    shutil.copy(GOLDEN / "registry" / "course.yaml", root)
    load(root)
    return root


def line(root: Path, before: str, after: str) -> str:
    """Return the message for an edit of the registry."""
    text = (GOLDEN / "registry" / "course.yaml").read_text("utf-8")
    assert text.count(plain(before)) >= 1, before
    (root / "course.yaml").write_text(text.replace(plain(before), plain(after), 1), "utf-8")
    with pytest.raises(CourseError) as caught:
        load(root)
    return str(caught.value)


def test_the_list_is_long_enough() -> None:
    assert len(entries()) >= 60


@pytest.mark.parametrize(("before", "after", "says"), entries(), ids=lambda part: part[:30])
def test_a_wrong_edit_gives_one_line(
    complete: Path, request: pytest.FixtureRequest, before: str, after: str, says: str
) -> None:
    said = line(complete, before, after)
    if request.config.getoption("--regold"):
        text = MISTAKES.read_text("utf-8")
        entry = f"- {before}\n+ {after}\n= "
        MISTAKES.write_text(text.replace(f"{entry}{says}\n", f"{entry}{said}\n"), "utf-8")
        return
    assert said == says


@pytest.mark.parametrize("says", [says for *_, says in entries()], ids=lambda part: part[:40])
def test_the_line_has_the_place_and_the_fix(says: str) -> None:
    place = (
        r"course\.yaml: (line \d+, column \d+|top level|[a-z_]+(\[\d+\])?(\.[a-z_]+(\[\d+\])?)*): "
    )
    assert re.match(place + r"\S", says)


@pytest.mark.parametrize(
    ("written", "meant"),
    [
        ("2027-01-18T24:00:00", "2027-01-19T00:00:00"),
        ("2027-12-31 24:00", "2028-01-01T00:00:00"),
        ("2027-01-18 23:59", "2027-01-18T23:59:00"),
        ("2027-1-8T9:05:00", "2027-01-08T09:05:00"),
        ("2027-01-18T23:59:00Z", "2027-01-18T23:59:00+00:00"),
        ("2027-01-18T23:59:00 +01:00", "2027-01-18T23:59:00+01:00"),
        ("2027-01-18t23:59:00-0530", "2027-01-18T23:59:00-05:30"),
    ],
)
def test_common_date_formats_are_accepted(written: str, meant: str) -> None:
    assert moment(written).isoformat() == meant
