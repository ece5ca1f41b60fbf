"""Slides, lecture notes, exams, and the map of dependencies."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import nbformat
import pytest

from autograder.authoring.lesson.handout import figures_used
from autograder.authoring.lesson.leak_check import check_files, secrets_of
from autograder.authoring.lesson.marking_guide import (
    MarkingGuide,
    exam_path,
    exam_questions,
    secret_sentences,
)
from autograder.cli import run
from autograder.model.course import Course, load
from autograder.model.errors import BuildError, LeakError
from autograder.site.build import words_of
from autograder.site.course_map import course_overview
from autograder.site.teaching import exam_files, lecture_files, print_to_pdf
from tests.nbgrader.tiny_course import ANSWERS, WEEK, write_course

PROJECT = load(Path(__file__).resolve().parents[2])
# Weeks with exam questions have slides too.
TAUGHT = [w for w in PROJECT.weeks if exam_path(PROJECT, w).is_file()]
EXAM = ANSWERS.replace("## why", "## count (3 points)\n\n### Question\n\nWhat is $2 + 2$? `two`\n")
SLIDES = """\
# Doubling

---

## A picture

![A number and its double](figures/numbers.png)

> Lesson
"""


@pytest.fixture
def course(tmp_path: Path) -> Course:
    write_course(tmp_path)
    course = load(tmp_path)
    exam = exam_path(course, course.weeks[0])
    exam.parent.mkdir()
    exam.write_text(EXAM, encoding="utf-8")
    (course.exercise_folder(course.weeks[0]) / "slides.md").write_text(SLIDES, encoding="utf-8")
    return course


def slides_of(week: Any) -> list[str]:
    path = PROJECT.exercise_folder(week) / "slides.md"
    return re.split(r"^---$", path.read_text(encoding="utf-8"), flags=re.MULTILINE)


def guides() -> list[MarkingGuide]:
    return [guide for week in TAUGHT for guide in exam_questions(PROJECT, week).values()]


@pytest.mark.parametrize("week", TAUGHT, ids=lambda w: w.name)
def test_a_week_has_four_exam_questions_whose_rubrics_add_up(week: Any) -> None:
    assert len(exam_questions(PROJECT, week)) == 4  # a wrong rubric raises BuildError


def test_exam_questions_differ_from_the_weeks_questions() -> None:
    known = {q.name for week in PROJECT.weeks for q in week.questions}
    assert known.isdisjoint(guide.question.split()[0] for guide in guides())


@pytest.mark.parametrize("week", TAUGHT, ids=lambda w: w.name)
def test_a_week_has_slides_with_figures_of_its_lesson(week: Any) -> None:
    slides = slides_of(week)
    assert 12 <= len(slides) <= 16
    lesson = (PROJECT.exercise_folder(week) / "lesson.md").read_text(encoding="utf-8")
    shown = figures_used("".join(slides))
    assert shown
    assert set(shown) <= set(figures_used(lesson))
    assert all((PROJECT.figures(week) / name).is_file() for name in shown)
    for slide in slides[1:-1]:
        assert re.search(r"^> ", slide, re.MULTILINE), slide  # the source
        assert len(re.sub(r"!\[.*\)|\$\$.*\$\$|\|", "", slide).split()) <= 70, slide
    assert sum("### Question" in slide for slide in slides) >= 8


def test_the_students_exam_contains_no_answer() -> None:
    files = exam_files(PROJECT, TAUGHT, ())
    prompts = "".join("".join(guide.prompt.split()) for guide in guides())
    for name in ("exam/exam.html", "exam/exam.ipynb"):
        shown = "".join(words_of(files[name]).split())
        for guide in guides():
            told = [guide.model_answer, *(line.earned_by for line in guide.rubric)]
            told += [
                text for wrong in guide.wrong_answers for text in (wrong.answer, wrong.comment)
            ]
            for sentence in secret_sentences("\n\n".join(told)):
                stripped = "".join(sentence.split())
                assert len(stripped) < 24 or stripped in prompts or stripped not in shown
    assert "For markers only" in files["exam/answers.html"]


def test_the_notebook_asks_each_question_in_a_manually_graded_cell(course: Course) -> None:
    text = exam_files(course, course.weeks, ())["exam/exam.ipynb"]
    cells = nbformat.reads(text, as_version=4).cells
    graded = [c.metadata.nbgrader for c in cells if "nbgrader" in c.metadata]
    assert [(g.grade_id, g.points, g.grade, g.solution) for g in graded] == [
        ("count", 3, True, True)
    ]
    assert "What is $2 + 2$?" in cells[0].source


@pytest.mark.filterwarnings("ignore::DeprecationWarning", "ignore::ResourceWarning")
def test_nbgrader_accepts_the_notebook_and_asks_for_marks(tmp_path: Path) -> None:
    from nbgrader.api import Gradebook
    from nbgrader.apps import NbGraderAPI
    from traitlets.config import Config

    source = tmp_path / "source" / "exam"
    source.mkdir(parents=True)
    notebook = exam_files(PROJECT, TAUGHT, ())["exam/exam.ipynb"]
    (source / "exam.ipynb").write_text(notebook, encoding="utf-8")
    database = f"sqlite:///{tmp_path / 'gradebook.db'}"
    folder = {"root": str(tmp_path), "course_id": "exams", "db_url": database}
    result = NbGraderAPI(config=Config(CourseDirectory=folder)).generate_assignment("exam")
    assert result["success"], result
    assert (tmp_path / "release" / "exam" / "exam.ipynb").is_file()
    with Gradebook(database) as gradebook:
        exam = gradebook.find_assignment("exam")
        assert exam.max_written_score == exam.max_score == sum(g.points for g in guides())


def test_only_chosen_questions_are_asked() -> None:
    files = exam_files(PROJECT, TAUGHT, ["found_twice", "two_norms"])
    assert files["exam/exam.html"].count('<section class="question">') == 2


@pytest.mark.parametrize(
    ("before", "after", "told"),
    [
        ("(3 points)", "", "why: write the heading as `## name (3 points)`"),
        ("(3 points)", "(4 points)", "the rubric adds up to 3 points instead of 4"),
        ("### Question", "### Questions", "the part `### Question` is missing"),
    ],
)
def test_a_mistake_in_an_exam_is_an_error(
    course: Course, before: str, after: str, told: str
) -> None:
    path = exam_path(course, course.weeks[0])
    text = path.read_text(encoding="utf-8").replace("## count", "## why")
    path.write_text(text.replace(before, after), encoding="utf-8")
    with pytest.raises(BuildError, match=re.escape(told)):
        exam_files(course, course.weeks, ())


def test_an_answer_on_a_slide_is_stopped(course: Course) -> None:
    path = course.exercise_folder(course.weeks[0]) / "slides.md"
    path.write_text(f"{SLIDES}\n---\n\nsays that adding twice is taking twice\n", encoding="utf-8")
    with pytest.raises(LeakError, match=r"slides\.md, line 13"):
        lecture_files(course, course.weeks)


def test_a_released_week_cannot_contain_an_exam_question(course: Course) -> None:
    path = exam_path(course, course.weeks[0])
    path.write_text(EXAM.replace("What is $2 + 2$?", "How many legs have two horses?"))
    lesson = {"lesson.md": b"How many legs have two horses?"}
    with pytest.raises(LeakError):
        check_files(lesson, secrets_of(course, course.weeks[0]), WEEK)


def test_a_slide_without_its_figure_is_an_error(course: Course) -> None:
    path = course.exercise_folder(course.weeks[0]) / "slides.md"
    path.write_text(SLIDES.replace("numbers.png", "nothing.png"), encoding="utf-8")
    with pytest.raises(BuildError, match=r"slides\.md: the lesson has no figure nothing\.png"):
        lecture_files(course, course.weeks)


def test_slides_are_one_file_with_the_figure_in_it(course: Course) -> None:
    page = lecture_files(course, course.weeks)[f"slides/{WEEK}.html"]
    assert page.count("<section") == 2
    assert '<img src="data:image/png;base64,' in page
    assert 'alt="A number and its double"' in page
    assert not re.search(r'(src|href)="(?!data:|#)', page)


def test_equations_of_the_notes_are_numbered_by_week() -> None:
    weeks = PROJECT.weeks[:2]
    page = lecture_files(PROJECT, weeks)["notes.html"]
    numbers = re.findall(r'id="equation-(\d+\.\d+)"', page)
    assert numbers == [f"1.{n}" for n in range(1, len(numbers) + 1)]  # week 2 displays none
    assert page.count('class="scroll formula"') == len(numbers) > 3
    identifiers = re.findall(r'\bid="([^"]+)"', page)
    assert len(identifiers) == len(set(identifiers))


def map_text(due: Any) -> tuple[str, str]:
    """Return the map of the project's course as HTML and as words."""
    shown = course_overview(PROJECT, PROJECT.weeks, "{}.html", due)
    return shown, " ".join(words_of(shown).split())


def test_the_map_shows_calls_and_the_weeks_that_a_lesson_assumes() -> None:
    shown, text = map_text(PROJECT.weeks[:3])
    assert "Week 3 builds on week 2" in text
    assert "Week 3: MultiHeadAttention calls split_heads, merge_heads" in text
    assert "softmax_numpy calls" not in text
    assert shown.count("marker-end") == sum(
        line.count("week") if "builds on" in line else line.count("<code>") - 1
        for line in shown.splitlines()
        if line.startswith("<li>")
    )


def test_before_a_week_is_due_the_map_shows_only_what_its_stub_states() -> None:
    _, text = map_text(PROJECT.weeks[:2])
    assert "Week 2: SelfAttention calls scaled_dot_product_attention" in text
    assert not re.search(r"Week (?![12]:)\d+: \w+ calls", text)
    assert "MultiHeadAttention calls" not in text
    assert "Week 3: merge_heads names split_heads" in text
    assert "Week 3: from_torch names MultiHeadAttention" in text
    assert "MultiHeadAttention names" not in text


def test_the_map_omits_weeks_that_are_not_released() -> None:
    shown = course_overview(PROJECT, PROJECT.weeks[2:3], "{}.html")
    assert not re.search(r"week 2|Week 2|masked_softmax", words_of(shown))


def test_a_course_without_slides_and_exam_is_told_what_to_write(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    write_course(tmp_path)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PATH", str(tmp_path))  # without Chromium
    assert run(["teach", "--out", "made"]) == 1
    said = capsys.readouterr().out
    assert "no slides: write exercises/<week>/slides.md" in said
    assert "no exam: write solutions/exam/<week>.md" in said
    assert "LOOK  no PDF files: install Chromium" in said
    assert [p.name for p in (tmp_path / "made").rglob("*") if p.is_file()] == ["notes.html"]


def test_only_the_owner_can_read_the_exam(course: Course, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(course.root)
    monkeypatch.setenv("PATH", str(course.root))
    run(["teach", "--out", "made"])
    made = course.root / "made"
    modes = {p.name: p.stat().st_mode & 0o777 for p in made.rglob("*") if p.is_file()}
    assert modes == {
        "exam.html": 0o600,
        "exam.ipynb": 0o600,
        "answers.html": 0o600,
        "notes.html": 0o644,
        f"{WEEK}.html": 0o644,
    }


def test_without_a_browser_the_reason_is_returned(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "")
    assert "install Chromium" in print_to_pdf([Path("page.html")])
