"""`autograder new`: make a week or an exercise, and ask which proposed misconceptions to keep."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING

from ...authoring.new.function_source import PLACEHOLDER, ExtractedFunction, read_function
from ...authoring.new.new_exercise import (
    ExerciseDraft,
    add_exercise,
    example_draft,
    replace_example,
)
from ...authoring.new.new_week import check_function_name, new_course, new_week
from ...model.course import REGISTRY, Course, Week, load
from ...model.errors import CourseError

if TYPE_CHECKING:
    from ...authoring.new.from_function import AcceptedProposal
    from ...authoring.new.proposals import Proposal

_KEYS = "[y] keep  [n] discard  [a] keep all others  [q] discard all others, or describe it"


def run_new(
    name: str, *, exercise: str | None, source: str | None, keep_all: bool, title: str | None
) -> None:
    """Make a week, or an exercise in one, and print the next steps.

    source: FILE:FUNCTION to make the exercise from. title: make a new course with this title.
    """
    course = None if title is not None else load(unfinished=True)
    week = _existing_week(course, name)
    function = read_function(source, week.extras if week else ()) if source else None
    if function is not None and exercise not in (None, function.name):
        raise CourseError(
            f"the exercise is named after the function, {function.name}: rename the function"
        )
    if week is not None and function is None and exercise is None:
        raise CourseError(f"{week.name} exists already; to add an exercise, use --exercise NAME")
    exercise = function.name if function is not None else exercise
    draft = _from_function(function, keep_all) if function is not None else None
    if course is not None and week is not None:
        _add_to_week(course, week, draft or example_draft(check_function_name(str(exercise))))
        return
    root = Path.cwd() if course is None else course.root
    if course is None:
        paths = new_course(root, str(title), name, exercise)
    else:
        paths = new_week(course, name, exercise)
    if draft is not None:
        written = replace_example(load(root, unfinished=True), name, draft)
        paths = [*written, *(p for p in paths if p.exists() and p not in written)]
    for path in paths:
        print(f"made {path.relative_to(root)}")
    print(f"added {name} to course.yaml: check its dates and points")
    print(
        f"Replace every {PLACEHOLDER}, then: autograder build && autograder verify {name} --quick"
    )


def _add_to_week(course: Course, week: Week, draft: ExerciseDraft) -> None:
    before = set(course.solution_folder(week).rglob("*"))
    before |= {course.root / REGISTRY, *course.exercise_folder(week).rglob("*")}
    name = draft.function.name
    for path in add_exercise(course, week, draft):
        print(f"{'added to' if path in before else 'made'} {path.relative_to(course.root)}")
    print(f"added {name} to {week.name} in course.yaml: check its points")
    command = f"autograder build && autograder verify {week.name} --quick --only {name}"
    print(f"Replace every {PLACEHOLDER}, then: {command}")


def _existing_week(course: Course | None, name: str) -> Week | None:
    try:
        return course.week(name) if course is not None else None
    except CourseError:
        return None


def _from_function(function: ExtractedFunction, keep_all: bool) -> ExerciseDraft:
    from ...authoring.new.from_function import AcceptedProposal, draft_exercise

    def choose(proposed: list[Proposal]) -> list[AcceptedProposal]:
        return [AcceptedProposal(p) for p in proposed] if keep_all else ask_author(proposed)

    return draft_exercise(function, choose)


def ask_author(proposed: list[Proposal]) -> list[AcceptedProposal]:
    """Ask the author about each proposed misconception; return the accepted ones."""
    from ...authoring.new.from_function import AcceptedProposal

    kept: list[AcceptedProposal] = []
    print(f"{len(proposed)} mistakes that a student might make.\n{_KEYS}\n")
    for number, p in enumerate(proposed, start=1):
        print(f"{number} of {len(proposed)}:\n  - {p.before}\n  + {p.after}")
        answer = _read_answer()
        if answer in ("q", "a"):
            return kept + [
                AcceptedProposal(rest) for rest in proposed[number - 1 :] if answer == "a"
            ]
        if answer not in ("n", "no"):
            kept.append(AcceptedProposal(p, "" if answer in ("y", "yes", "") else answer))
    return kept


def _read_answer() -> str:
    print("keep? ", end="", flush=True)
    answer = sys.stdin.readline()
    if not answer:
        raise CourseError(
            "standard input ended before all were answered, so no file was written: --yes keeps all"
        )
    return answer.strip()
