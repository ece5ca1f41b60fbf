"""Test class lists, grade files and bulk downloads of Canvas and Moodle."""

from __future__ import annotations

import csv
import datetime as dt
import io
import json
import shutil
import stat
import unicodedata
import zipfile
from pathlib import Path

import msgspec
import pytest

from autograder.lms.bulk import Found, collect_bulk, content_of
from autograder.lms.csv_tables import key_cell, text_cell
from autograder.lms.grade_files import COLUMNS, FinalScore, export
from autograder.lms.roster import Roster, read_roster
from autograder.model.course import Course, load
from autograder.model.course.late import Lateness
from autograder.model.course.registry import Late, Lms
from autograder.model.errors import KitError
from autograder.nbgrader.collect.submissions import collected as gathered
from autograder.nbgrader.workspace import open_gradebook
from tests.courses import write_below

TINY = Path(__file__).resolve().parents[1] / "golden" / "course"
WEEK = "week01_tiny"
CANVAS = '''\
Student,ID,SIS User ID,SIS Login ID,Section,Tiny (4711),Homework 2 (4712)
    Points Possible,,,,,5,10
"Lovelace, Ada",101,S-1,ada@example.org,"Lab 1, Monday",,
"Turing, Alan ""the""",102,S-2,alan@example.org,Lab 2,,
"Hopper, Grace",103,S-3,grace@example.org,Lab 2,,
'''
WORKSHEET = """\
Identifier,Full name,Email address,Status,Grade,Maximum Grade
Participant 101,Ada Lovelace,ada@example.org,Submitted,,5
Participant 102,Alan Turing,alan@example.org,Submitted,,5
"""
MOODLE = """\
First name,Surname,ID number,Email address
Ada,Lovelace,S-1,ada@example.org
Zoë,Müller,S-9,zoe@example.org
"""
SCORES = {WEEK: {"ada": FinalScore(4.5), "alan": FinalScore(3.0)}}
CODE = b"def weigh(x):\n    return x\n"


@pytest.fixture
def course() -> Course:
    return load(TINY)


def roster_of(tmp_path: Path, text: str, start: bytes = b"") -> Roster:
    (tmp_path / "roster.csv").write_bytes(start + text.encode())
    return read_roster(tmp_path / "roster.csv")


def rows(text: str) -> list[list[str]]:
    return list(csv.reader(io.StringIO(text, newline="")))


def column(text: str, title: str) -> list[str]:
    """Return the cells below a title."""
    return [row[title] for row in csv.DictReader(io.StringIO(text, newline=""))]


def test_canvas_gets_its_own_columns_points_row_and_quoting(course: Course, tmp_path: Path):
    made = export("canvas", course.weeks, SCORES, roster_of(tmp_path, CANVAS))
    assert rows(made.text) == [
        ["Student", "ID", "SIS User ID", "SIS Login ID", "Section", "Tiny (4711)"],
        ["    Points Possible", "", "", "", "", "5"],
        ["Lovelace, Ada", "101", "S-1", "ada@example.org", "Lab 1, Monday", "4.5"],
        ['Turing, Alan "the"', "102", "S-2", "alan@example.org", "Lab 2", "3"],
        ["Hopper, Grace", "103", "S-3", "grace@example.org", "Lab 2", ""],
    ]
    assert made.unmatched == []


def test_a_moodle_grading_worksheet_is_filled_in(course: Course, tmp_path: Path):
    made = export("moodle", course.weeks, SCORES, roster_of(tmp_path, WORKSHEET))
    first = rows(WORKSHEET)
    assert rows(made.text) == [
        first[0],
        ["Participant 101", "Ada Lovelace", "ada@example.org", "Submitted", "4.5", "5"],
        ["Participant 102", "Alan Turing", "alan@example.org", "Submitted", "3", "5"],
    ]


def test_a_moodle_class_list_gets_a_column_per_week(course: Course, tmp_path: Path):
    made = export(
        "moodle", course.weeks, {WEEK: {"ada": FinalScore(5.0)}}, roster_of(tmp_path, MOODLE)
    )
    assert rows(made.text) == [
        ["ID number", "Email address", "Tiny"],
        ["S-1", "ada@example.org", "5"],
        ["S-9", "zoe@example.org", ""],
    ]


@pytest.mark.parametrize("form", ["canvas", "csv", "json"])
def test_who_matches_nobody_is_listed(course: Course, tmp_path: Path, form: str):
    scores = {WEEK: {"ada": FinalScore(1.0), "mallory": FinalScore(2.0)}}
    assert export(form, course.weeks, scores, roster_of(tmp_path, CANVAS)).unmatched == ["mallory"]


def test_two_of_ours_that_match_one_entry_are_both_listed(course: Course, tmp_path: Path):
    scores = {WEEK: {"ada": FinalScore(1.0), "S-1": FinalScore(2.0)}}
    made = export("canvas", course.weeks, scores, roster_of(tmp_path, CANVAS))
    assert made.unmatched == ["S-1", "ada"]


def test_plain_csv_holds_no_formula_and_json_says_the_same(course: Course):
    scores = {WEEK: {"=1+1": FinalScore(2.5)}}
    assert column(export("csv", course.weeks, scores, None).text, "student") == ["'=1+1"]
    made = json.loads(export("json", course.weeks, scores, None).text)
    assert [(g["student"], g["scores"]) for g in made["grades"]] == [("=1+1", {WEEK: 2.5})]


def test_json_reports_how_late_a_submission_is(course: Course):
    late = Lateness(Late(percent=10), late="2 days 3 h", days=3, slip_days=1, units=2)
    moment = dt.datetime(2026, 1, 16, 1, 59, tzinfo=dt.UTC)
    scores = {WEEK: {"ada": FinalScore(4.0, 1.0, moment, late), "alan": FinalScore(0.0)}}
    made = json.loads(export("json", course.weeks, scores, None).text)
    assert made["grades"] == [
        {
            "student": "ada",
            "scores": {WEEK: 4.0},
            "late_penalties": {WEEK: 1.0},
            "days_late": {WEEK: 3},
            "submitted": {WEEK: "2026-01-16T01:59:00Z"},
        },
        {
            "student": "alan",
            "scores": {WEEK: 0.0},
            "late_penalties": {WEEK: 0.0},
            "days_late": {WEEK: None},
            "submitted": {WEEK: None},
        },
    ]


@pytest.mark.parametrize("form", ["csv", "canvas", "moodle", "brightspace"])
def test_each_format_has_the_columns_of_the_table(
    course: Course, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, form: str
):
    more = {"{week.title}: penalty": lambda s: s.penalty}
    monkeypatch.setitem(COLUMNS, form, COLUMNS[form] | more)
    roster = roster_of(tmp_path, {"moodle": MOODLE, "brightspace": BRIGHTSPACE}.get(form, CANVAS))
    made = export(form, course.weeks, {WEEK: {"ada": FinalScore(4.0, 1.0)}}, roster)
    assert [*filter(None, column(made.text, "Tiny: penalty"))] == ["1"]


@pytest.mark.parametrize(
    ("text", "cell"),
    [
        ('=HYPERLINK("http://x")', '\'=HYPERLINK("http://x")'),
        ("+cmd|' /C calc'!A0", "'+cmd|' /C calc'!A0"),
        ("@SUM(1)", "'@SUM(1)"),
        ("-2+3", "'-2+3"),
        ("  =1", "'  =1"),
        ("\t=1", "'\\x09=1"),
        ("\uff1d1", "'\uff1d1"),
        ("a;=1", "a;'=1"),
        ('a;"=1&"', 'a;"\'=1&"'),
        ('a;" "=1', 'a;" "\'=1'),
        ('a|"@SUM(1)', "a|\"'@SUM(1)"),
        ("a;\uff1d1", "a;'\uff1d1"),
        ("-5", "-5"),
        ("+49 30 1", "'+49 30 1"),
        ("-1.5", "-1.5"),
        ("Zoë-Ann O'Neil", "Zoë-Ann O'Neil"),
    ],
)
def test_no_text_cell_is_a_formula(text: str, cell: str):
    assert text_cell(text) == cell


@pytest.mark.parametrize(
    ("key", "cell"),
    [("ada@x.org", "ada@x.org"), ("+ada@x.org", "+ada@x.org"), ("=1+1@x.org", "'=1+1@x.org")],
)
def test_a_key_stays_unless_it_could_be_run(key: str, cell: str):
    assert key_cell(key) == cell


EVIL = '=HYPERLINK(""http://x"")'
HOSTILE = {
    "canvas": f'Student,ID,SIS User ID,SIS Login ID,Section\n"{EVIL}",101,S-1,ada,"{EVIL}"\n',
    "moodle": "Identifier,Full name,Email address,Grade,Feedback comments\n"
    f'Participant 7,"{EVIL}",ada@x.org,,- fine\n',
}


@pytest.mark.parametrize("form", HOSTILE)
def test_a_name_on_its_way_back_to_its_system_is_no_formula(
    course: Course, tmp_path: Path, form: str
):
    made = export(form, course.weeks, SCORES, roster_of(tmp_path, HOSTILE[form]))
    assert not [c for row in rows(made.text) for c in row if c.startswith("=")]


@pytest.mark.parametrize("form", HOSTILE)
def test_what_finds_the_row_is_unchanged(course: Course, tmp_path: Path, form: str):
    made = export(form, course.weeks, SCORES, roster_of(tmp_path, HOSTILE[form]))
    found = set(rows(made.text)[-1])
    keys = {"canvas": {"101", "S-1", "ada"}, "moodle": {"Participant 7", "ada@x.org", "- fine"}}
    assert keys[form] <= found
    assert made.unmatched == [s for s in SCORES[WEEK] if s != "ada"]


@pytest.mark.parametrize("form", ["canvas", "moodle", "brightspace"])
def test_a_format_needs_the_class_list_of_its_system(course: Course, form: str):
    with pytest.raises(KitError, match="needs --roster"):
        export(form, course.weeks, SCORES, None)


BRIGHTSPACE = """\
OrgDefinedId,Username,Last Name,First Name,Email,Tiny Points Grade,End-of-Line Indicator
#1001,#ada,Lovelace,Ada,ada@example.org,,#
#1002,#alan,Turing,Alan,alan@example.org,,#
"""
LANGUAGES = {
    "German": "Vorname,Nachname,ID-Nummer,E-Mail-Adresse",
    "French": "Prénom,Nom,Numéro d'identification,Adresse de courriel",
    "Spanish": "Nombre,Apellido(s),Número de ID,Dirección de correo",
    "decomposed Spanish": unicodedata.normalize(
        "NFD", "Nombre,Apellido(s),Número de ID,Dirección de correo"
    ),
}


def test_brightspace_gets_its_ids_points_and_end_of_line(course: Course, tmp_path: Path):
    made = export("brightspace", course.weeks, SCORES, roster_of(tmp_path, BRIGHTSPACE))
    title = course.weeks[0].title
    assert rows(made.text) == [
        ["OrgDefinedId", "Username", f"{title} Points Grade", "End-of-Line Indicator"],
        ["#1001", "#ada", "4.5", "#"],
        ["#1002", "#alan", "3", "#"],
    ]


@pytest.mark.parametrize("language", LANGUAGES)
def test_moodle_speaks_the_language_of_its_list(course: Course, tmp_path: Path, language: str):
    header = LANGUAGES[language]
    roster = roster_of(tmp_path, f"{header}\nAda,Lovelace,S-1,ada@example.org\n")
    made = export("moodle", course.weeks, SCORES, roster)
    theirs = header.split(",")[2:]
    assert rows(made.text) == [
        [*theirs, course.weeks[0].title],
        ["S-1", "ada@example.org", "4.5"],
    ]


@pytest.mark.parametrize("language", LANGUAGES)
def test_names_are_read_in_the_language_of_the_list(tmp_path: Path, language: str):
    roster = roster_of(tmp_path, f"{LANGUAGES[language]}\nAda,Lovelace,S-1,ada@example.org\n")
    assert [(e.student, e.name) for e in roster.entries] == [("ada", "Ada Lovelace")]


@pytest.mark.parametrize(
    "text",
    ["id,first_name,last_name,email\n7,Ada,Lovelace,ada@x.org\n", "login,name\nada,Ada Lovelace\n"],
)
def test_a_plain_list_has_the_headings_that_people_write(tmp_path: Path, text: str):
    (entry,) = roster_of(tmp_path, text).entries
    assert (entry.student, entry.name) == ("ada", "Ada Lovelace")


def test_canvas_finds_a_week_by_the_assignments_number(course: Course, tmp_path: Path):
    week = msgspec.structs.replace(course.weeks[0], title="Renamed", lms=Lms(canvas_id=4711))
    made = export("canvas", [week], SCORES, roster_of(tmp_path, CANVAS))
    assert column(made.text, "Tiny (4711)") == ["5", "4.5", "3", ""]


def test_canvas_own_test_student_is_left_out(tmp_path: Path):
    row = '"Student, Test",999,,9f0cd3,Lab 1,,\n'
    found = roster_of(tmp_path, CANVAS + row)
    assert "Student, Test" not in {e.name for e in found.entries}


def test_a_class_list_may_have_a_byte_order_mark_and_semicolons(tmp_path: Path):
    found = roster_of(tmp_path, MOODLE.replace(",", ";"), "\ufeff".encode())
    assert [(e.student, e.name) for e in found.entries] == [
        ("ada", "Ada Lovelace"),
        ("zoe", "Zoë Müller"),
    ]


def test_a_file_that_is_no_class_list_is_refused(tmp_path: Path):
    with pytest.raises(KitError, match="unknown columns"):
        roster_of(tmp_path, "a,b\n1,2\n")


def test_two_students_with_one_local_part_are_told_apart(tmp_path: Path):
    found = roster_of(tmp_path, MOODLE + "Ada,Other,S-3,ada@elsewhere.org\n")
    assert [e.student for e in found.entries] == ["ada@example.org", "zoe", "ada@elsewhere.org"]
    assert found.match(["ada"]) == ({}, ["ada"])


@pytest.mark.parametrize("student", ["../x", ".hidden", "a\\b"])
def test_a_student_whose_name_is_a_path_is_refused(tmp_path: Path, student: str):
    with pytest.raises(KitError, match="cannot name a student"):
        roster_of(tmp_path, f"student\n{student}\n")


def test_a_student_who_stands_there_twice_is_refused(tmp_path: Path):
    with pytest.raises(KitError, match="twice"):
        roster_of(tmp_path, "student,email\nada,a@x.org\nada,a@x.org\n")


# Bulk downloads


def archive(path: Path, files: dict[str, bytes]) -> Path:
    with zipfile.ZipFile(path, "w") as made:
        for name, data in files.items():
            made.writestr(name, data)
    return path


def collected(tmp_path: Path, source: Path, text: str) -> tuple[Found, dict[str, bytes]]:
    course, target = load(TINY), tmp_path / "submitted"
    found = collect_bulk(
        course, course.weeks[0], source, roster_of(tmp_path, text), write_below(target, WEEK)
    )
    files = {p.relative_to(target).as_posix(): p.read_bytes() for p in target.rglob("*.*")}
    return found, files


def inner_zip(files: dict[str, bytes]) -> bytes:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as made:
        for name, data in files.items():
            made.writestr(name, data)
    return out.getvalue()


def test_a_student_whose_files_cannot_be_stored_stops_nobody_else(tmp_path: Path):
    source = archive(tmp_path / "c.zip", {f"a_{n}_1_tiny.py": CODE for n in (101, 102)})
    course, roster = load(TINY), roster_of(tmp_path, CANVAS)

    def accept(student: str, files: dict[str, bytes], time: str) -> list[str]:
        if student == "ada":
            raise FileExistsError("File exists")
        return []

    found = collect_bulk(course, course.weeks[0], source, roster, accept)
    assert found.collected == ["alan"]
    assert found.problems[0].startswith("ada: could not be stored")


def test_a_canvas_download_is_sorted_to_its_students(tmp_path: Path):
    source = archive(
        tmp_path / "c.zip",
        {
            "lovelaceada_101_9001_tiny-2.py": CODE,
            "turingalan_LATE_102_9002_tiny.py": CODE,
            "nobody_999_9003_tiny.py": CODE,
            "readme.txt": b"",
        },
    )
    found, files = collected(tmp_path, source, CANVAS)
    assert files == {f"ada/{WEEK}/tiny.py": CODE, f"alan/{WEEK}/tiny.py": CODE}
    assert (found.facts[0], found.missing) == ("late according to Canvas: alan", ["grace"])
    assert found.unmatched == ["nobody_999_9003_tiny.py", "readme.txt"]


@pytest.mark.parametrize("as_folder", [True, False])
def test_a_moodle_download_is_sorted_to_its_students(tmp_path: Path, as_folder: bool):
    source = archive(
        tmp_path / "m.zip",
        {
            "Ada Lovelace_101_assignsubmission_file_/tiny.py": CODE,
            "Alan Turing_102_assignsubmission_file_/work.zip": inner_zip(
                {"work/tiny.py": CODE, f"work/{WEEK}.ipynb": b"{}"}
            ),
            "Eve Other_777_assignsubmission_file_/tiny.py": CODE,
        },
    )
    if as_folder:
        shutil.unpack_archive(source, tmp_path / "folder")
        source = tmp_path / "folder"
    found, files = collected(tmp_path, source, WORKSHEET)
    assert files == {
        f"ada/{WEEK}/tiny.py": CODE,
        f"alan/{WEEK}/tiny.py": CODE,
        f"alan/{WEEK}/{WEEK}.ipynb": b"{}",
    }
    assert found.unmatched == ["Eve Other_777_assignsubmission_file_/tiny.py"]


@pytest.mark.parametrize("alone", [True, False])
def test_a_student_cannot_hand_in_what_says_whose_everything_is(tmp_path: Path, alone: bool):
    own = "Alan Turing_102_assignsubmission_file_"
    who = b"  :submitters:\n  - :email: ada@example.org\n    :sid: S-1\n"
    claim = b":x:\n" + who + b"  :created_at: 2026-01-01\n"
    files = {f"{own}/submission_metadata.yml": claim, f"{own}/:x/tiny.py": b"# mine\n"}
    files |= {f"{own}/tiny.py": CODE}
    if not alone:
        files["Ada Lovelace_101_assignsubmission_file_/tiny.py"] = CODE
    found, taken = collected(tmp_path, archive(tmp_path / "m.zip", files), WORKSHEET)
    assert set(found.collected) == ({"alan"} if alone else {"ada", "alan"})
    assert taken.get(f"ada/{WEEK}/tiny.py", CODE) == CODE
    assert [fact for fact in found.facts if "no time in the download" in fact]


def test_who_takes_anothers_name_in_moodle_hands_in_for_nobody(tmp_path: Path):
    files = {f"Zoë Müller_{n}_assignsubmission_file_/tiny.py": CODE for n in (55, 56)}
    found, taken = collected(tmp_path, archive(tmp_path / "m.zip", files), MOODLE)
    assert (found.collected, len(found.unmatched), taken) == ([], 2, {})


def test_without_numbers_moodle_students_are_matched_by_name(tmp_path: Path):
    source = archive(tmp_path / "m.zip", {"Zoë Müller_55_assignsubmission_file_/tiny.py": CODE})
    _, files = collected(tmp_path, source, MOODLE)
    assert files == {f"zoe/{WEEK}/tiny.py": CODE}


@pytest.mark.parametrize("name", ["../../escaped.py", "/etc/escaped.py", "a/../../../escaped.py"])
def test_no_file_climbs_out(tmp_path: Path, name: str):
    inner = inner_zip({"tiny.py": CODE, name: b"out"})
    source = archive(tmp_path / "c.zip", {"lovelaceada_101_9001_work.zip": inner})
    found, files = collected(tmp_path, source, CANVAS)
    assert files == {f"ada/{WEEK}/tiny.py": CODE}
    assert "not a plain file name" in found.problems[0]
    assert not list(tmp_path.rglob("escaped.py"))


def test_a_file_larger_than_allowed_is_left_out_and_said(tmp_path: Path):
    source = archive(
        tmp_path / "c.zip", {"a_101_1_tiny.py": CODE, "a_101_1_big.csv": b"0" * (9 << 20)}
    )
    found, files = collected(tmp_path, source, CANVAS)
    assert files == {f"ada/{WEEK}/tiny.py": CODE}
    assert found.problems == ["ada: big.csv: too large or damaged"]


def test_a_student_cannot_say_when_it_was_handed_in(tmp_path: Path):
    files = {"a_101_1_tiny.py": CODE, "a_101_1_timestamp.txt": b"2000-01-01 00:00:00 UTC"}
    _, written = collected(tmp_path, archive(tmp_path / "c.zip", files), CANVAS)
    assert written == {f"ada/{WEEK}/tiny.py": CODE}


def test_a_link_in_an_archive_is_left_out(tmp_path: Path):
    link = zipfile.ZipInfo("a_101_1_tiny.py")
    link.external_attr = (stat.S_IFLNK | 0o777) << 16
    with zipfile.ZipFile(tmp_path / "c.zip", "w") as made:
        made.writestr(link, "/etc/passwd")
    assert collected(tmp_path, tmp_path / "c.zip", CANVAS)[1] == {}


def test_a_damaged_archive_is_named(tmp_path: Path):
    (tmp_path / "c.zip").write_bytes(b"no zip")
    with pytest.raises(KitError, match="neither a folder nor a zip"):
        collected(tmp_path, tmp_path / "c.zip", CANVAS)


def test_a_damaged_zip_of_one_student_does_not_stop_the_rest(tmp_path: Path):
    files = {"a_101_1_work.zip": b"PK\x03\x04 broken", "b_102_2_tiny.py": CODE}
    found, written = collected(tmp_path, archive(tmp_path / "c.zip", files), CANVAS)
    assert written == {f"alan/{WEEK}/tiny.py": CODE}
    assert found.problems[0].startswith("ada: the zip cannot be opened")


# The commands, with nbgrader's gradebook


@pytest.fixture
def graded_course(tmp_path: Path) -> Course:
    """Grade ada (4.5 points minus 1 for lateness) and mallory (2); the others do not submit."""
    root = shutil.copytree(TINY, tmp_path / "tiny", ignore=shutil.ignore_patterns("__pyc*"))
    course = load(Path(root))
    with open_gradebook(course) as gradebook:
        gradebook.add_assignment(WEEK)
        gradebook.add_notebook(WEEK, WEEK)
        gradebook.add_grade_cell("weigh", WEEK, WEEK, max_score=5, cell_type="code")
        for student, points, off in (("ada", 4.5, 1.0), ("mallory", 2.0, None)):
            gradebook.add_student(student)
            gradebook.add_submission(WEEK, student)
            gradebook.find_grade("weigh", WEEK, WEEK, student).auto_score = points
            notebook = gradebook.find_submission_notebook(WEEK, WEEK, student)
            notebook.late_submission_penalty = off
        gradebook.db.commit()
    (Path(root) / "canvas.csv").write_text(CANVAS)
    return course


def test_the_command_exports_what_is_left_after_lateness_and_lists_the_unmatched(
    graded_course: Course, in_process
):
    options = ["--unmarked", "--format", "canvas", "--roster", "canvas.csv", "--out", "up.csv"]
    done = in_process("export", "all", *options, cwd=graded_course.root)
    assert (done.returncode, done.stderr) == (1, f"UNMATCHED  mallory: {WEEK} 2\n")
    made = (graded_course.root / "up.csv").read_text()
    assert column(made, "Tiny (4711)") == ["5", "3.5", "", ""]


def test_standard_output_gets_plain_newlines(graded_course: Course, in_process):
    done = in_process("export", "all", "--unmarked", cwd=graded_course.root)
    assert "\r" not in done.stdout
    assert done.stdout.count("\n") == 3


def test_the_command_takes_a_class_list_and_a_bulk_download(graded_course: Course, in_process):
    root = graded_course.root
    assert in_process("roster", "canvas.csv", cwd=root).returncode == 0
    with open_gradebook(graded_course) as gradebook:
        assert gradebook.find_student("grace").last_name == "Hopper"
    archive(root / "c.zip", {"hoppergrace_103_9_tiny.py": CODE})
    done = in_process("collect", "1", "--zip", "c.zip", "--roster", "canvas.csv", cwd=root)
    assert (done.returncode, "collected 1 of 3 students" in done.stdout) == (0, True)
    assert [s.name for s in gathered(graded_course, graded_course.weeks[0])] == ["grace"]


def test_a_download_without_a_class_list_is_refused(graded_course: Course, in_process):
    done = in_process("collect", "1", "--zip", "c.zip", cwd=graded_course.root)
    assert (done.returncode, "needs --roster" in done.stderr) == (2, True)


def test_reading_stops_after_many_damaged_files(graded_course: Course):
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as archive:
        for n in range(60):
            archive.writestr(f"{n}.csv", b"x" * 60)
    damaged = out.getvalue().replace(b"x" * 60, b"y" * 60)  # the checksums are wrong now
    content, left_out = content_of({"a.zip": damaged}, graded_course.weeks[0], 1 << 20)
    assert not content
    assert (len(left_out), left_out[-1]) == (21, "the remaining files were not read")
