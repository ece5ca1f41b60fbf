"""Test that answers.md gives marking guidance for each written question, in one format."""

from __future__ import annotations

from pathlib import Path

import msgspec
import pytest

from autograder.authoring.lesson.marking_guide import (
    answers_path,
    answers_problems,
    marking_guides,
    parse_guides,
    secret_sentences,
)
from autograder.model.course import Course, load
from tests.nbgrader.tiny_course import ANSWERS, write_course

PROJECT = load(Path(__file__).resolve().parents[2])


@pytest.fixture
def tiny(tmp_path: Path) -> Course:
    write_course(tmp_path)
    return load(tmp_path)


def problems(course: Course, text: str | None) -> list[str]:
    """Return the problems that are reported for the tiny week with this text as answers.md."""
    path = answers_path(course, course.weeks[0])
    path.unlink()
    if text is not None:
        path.write_text(text, encoding="utf-8")
    return list(answers_problems(course, course.weeks[0]))


@pytest.mark.parametrize("week", PROJECT.weeks, ids=lambda w: w.name)
def test_every_question_of_the_course_says_how_it_is_marked(week) -> None:
    assert list(answers_problems(PROJECT, week)) == []
    assert all(len(g.wrong_answers) >= 3 for g in marking_guides(PROJECT, week).values())


def test_a_guide_has_an_answer_a_rubric_and_what_to_write_beside_wrong_answers() -> None:
    guide = parse_guides(ANSWERS)["why"]
    assert guide.model_answer.startswith("Because a number")
    assert [(line.points, line.earned_by) for line in guide.rubric] == [
        (2, "says that adding twice is taking twice"),
        (1, "gives an example of their own"),
    ]
    assert [(w.answer, w.comment) for w in guide.wrong_answers] == [
        ("It is a rule.", "Whose rule? Lay out three beans twice and *count* them.")
    ]


def test_a_comment_in_code_is_no_heading() -> None:
    text = ANSWERS.replace("Because", "```python\n## why not\n```\n\nBecause")
    assert parse_guides(text)["why"].model_answer.startswith("```python\n## why not\n```")


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        (None, "answers.md is missing"),
        (ANSWERS.replace("## why", "## whi", 1), "the section `## why` is missing"),
        (ANSWERS.replace("## why", "## whi", 1), "has no question 'whi'"),
        (
            ANSWERS.replace("**2**", "**1**"),
            "why: the rubric adds up to 2 points instead of 3",
        ),
        (ANSWERS.replace("- **1** gives", "- gives"), "start this line of the rubric with points"),
        (ANSWERS.replace("### Model answer", "### Answer"), "why: there is no model answer"),
        (ANSWERS.replace("  > Whose", "  Whose"), "has no comment"),
        (ANSWERS.partition("### Typical")[0], "why: there is no typical wrong answer"),
    ],
)
def test_what_is_missing_is_named(tiny: Course, text: str | None, problem: str) -> None:
    assert [p for p in problems(tiny, text) if problem in p], problems(tiny, ANSWERS)


def test_a_week_without_questions_needs_no_answers(tiny: Course) -> None:
    week = msgspec.structs.replace(tiny.weeks[0], questions=())
    answers_path(tiny, week).unlink()
    assert list(answers_problems(tiny, week)) == []


def test_sentences_are_secret_one_by_one() -> None:
    found = list(secret_sentences("1. One thing is so.\n   Another is not.\n\n> And a third."))
    assert [" ".join(s.split()) for s in found] == [
        "One thing is so.",
        "Another is not.",
        "And a third.",
    ]
