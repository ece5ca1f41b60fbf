"""Test Gradescope's roster, grades and submission exports in the format of Gradescope."""

from __future__ import annotations

import io
import zipfile
from pathlib import Path

import pytest

from autograder.lms.bulk import Found, collect_bulk
from autograder.lms.roster import Roster, read_roster
from autograder.model.course import load
from autograder.model.errors import KitError
from tests.courses import write_below

GOLDEN = Path(__file__).parent / "golden" / "gradescope"
TINY = Path(__file__).resolve().parents[1] / "golden" / "course"
ROOT = "assignment_7700123_export"
CODE = "def weigh(x):\n    return x\n"
METADATA = (GOLDEN / "submission_metadata.yml").read_text("utf-8")
FILES = {
    f"{ROOT}/submission_metadata.yml": METADATA,
    f"{ROOT}/.DS_Store": "noise",
    f"__MACOSX/{ROOT}/._submission_metadata.yml": "noise",
    f"{ROOT}/submission_90100001/weigh.py": CODE,
    f"{ROOT}/submission_90100001/timestamp.txt": "2019-01-01 00:00:00 UTC",
    f"{ROOT}/submission_90100002/weigh.py": CODE,
    f"{ROOT}/submission_90100002/more/notes.txt": "ours",
    f"{ROOT}/submission_90100003/weigh.py": CODE,
    f"{ROOT}/submission_90100004/weigh.py": CODE,
}


@pytest.fixture
def roster() -> Roster:
    return read_roster(GOLDEN / "roster.csv")


def collected(files: dict[str, str], roster: Roster, target: Path) -> Found:
    data = io.BytesIO()
    with zipfile.ZipFile(data, "w") as archive:
        for name, text in files.items():
            archive.writestr(name, text)
    (target / "export.zip").write_bytes(data.getvalue())
    course = load(TINY)
    return collect_bulk(
        course, course.weeks[0], target / "export.zip", roster, write_below(target / "submitted")
    )


def test_the_roster_names_students_by_address_and_leaves_staff_out(roster: Roster):
    assert roster.kind == "gradescope"
    found = [(e.student, e.name, e.number) for e in roster.entries]
    assert found == [
        ("ada", "Ada Lovelace", "100101"),
        ("zoe", "Zoë Müller", ""),
        ("alan", "Alan Turing", "100102"),
        ("grace", "Grace Hopper", "100103"),
    ]


def test_its_file_of_grades_is_a_class_list_too():
    assert [e.student for e in read_roster(GOLDEN / "scores.csv").entries] == ["ada", "grace"]


def test_an_export_is_sorted_to_its_students_a_group_to_each(roster: Roster, tmp_path: Path):
    found = collected(FILES, roster, tmp_path)
    assert found.collected == ["ada", "alan", "zoe"]
    for student in found.collected:
        assert (tmp_path / "submitted" / student / "weigh.py").read_text() == CODE
    assert (tmp_path / "submitted" / "zoe" / "more" / "notes.txt").read_text() == "ours"
    assert found.missing == ["grace"]


def test_the_time_of_handing_in_is_the_exports_and_never_the_students(
    roster: Roster, tmp_path: Path
):
    found = collected(FILES, roster, tmp_path)
    time = (tmp_path / "submitted" / "ada" / "timestamp.txt").read_text()
    assert time == "2020-01-10 21:41:42.234842 UTC"
    assert found.facts == []


def test_what_belongs_to_nobody_is_listed(roster: Roster, tmp_path: Path):
    assert collected(FILES, roster, tmp_path).unmatched == [
        f"{ROOT}/submission_90100003/weigh.py",
        f"{ROOT}/submission_90100004/weigh.py",
    ]


def test_metadata_that_is_no_yaml_is_named(roster: Roster, tmp_path: Path):
    with pytest.raises(KitError, match="not Gradescope's metadata"):
        collected({**FILES, f"{ROOT}/submission_metadata.yml": ":a: [1"}, roster, tmp_path)


def test_metadata_makes_no_object(roster: Roster, tmp_path: Path):
    hostile = "submission_1: !!python/object/apply:os.system ['true']\n"
    with pytest.raises(KitError, match="not Gradescope's metadata"):
        collected({**FILES, f"{ROOT}/submission_metadata.yml": hostile}, roster, tmp_path)
