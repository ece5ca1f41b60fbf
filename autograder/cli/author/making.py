"""`autograder new`: make a week, or an exercise in one, and print the next steps."""

from __future__ import annotations

from pathlib import Path

from ...authoring.new.new_exercise import add_exercise
from ...authoring.new.new_week import PLACEHOLDER, new_course, new_week
from ...model.course import Course, Week, load
from ...model.errors import CourseError


def run_new(name: str, *, exercise: str | None, title: str | None) -> None:
    """Make a week, or an exercise in one. title: make a new course with this title."""
    course = None if title is not None else load(unfinished=True)
    week = _existing_week(course, name)
    if course is not None and week is not None:
        if exercise is None:
            raise CourseError(
                f"{week.name} exists already; to add an exercise, use --exercise NAME"
            )
        root, paths = course.root, add_exercise(course, week, exercise)
        added, quick = f"{exercise} to {week.name} in", f"{week.name} --quick --only {exercise}"
    else:
        root = Path.cwd() if course is None else course.root
        if course is None:
            paths = new_course(root, str(title), name, exercise)
        else:
            paths = new_week(course, name, exercise)
        added, quick = f"{name} to", f"{name} --quick"
    for path in paths:
        print(f"wrote {path.relative_to(root)}")
    print(f"added {added} course.yaml: check its dates and points")
    print(f"Replace every {PLACEHOLDER}, then: autograder build && autograder verify {quick}")


def _existing_week(course: Course | None, name: str) -> Week | None:
    try:
        return course.week(name) if course is not None else None
    except CourseError:
        return None
