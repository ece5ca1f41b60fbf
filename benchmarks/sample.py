"""Choose submissions from a week's bank, and create a course with only this week."""

from __future__ import annotations

from pathlib import Path

from autograder.model.course import Course, Week, load
from autograder.model.course.bank import Bank
from tests.courses import copy_course

from .measure import ROOT

SECRET = b"a benchmark's inputs are the same in every run"


def sources(course: Course, week: Week) -> list[tuple[str, str]]:
    """Return all programs of the bank as (name, source).

    The solution comes first, and alternatives are spread evenly among the misconceptions.
    """
    bank = Bank(course, week)
    alternatives = [(f"alternative_{name}", s) for name, s in bank.alternatives.items()]
    wrong = [(f"misconception_{m.name}", m.source) for m in bank.misconceptions]
    mixed = [("solution", bank.solution)]
    share = max(1, len(wrong) // (len(alternatives) + 1))
    while wrong or alternatives:
        mixed += [wrong.pop((i * 37) % len(wrong)) for i in range(min(share, len(wrong)))]
        mixed += [alternatives.pop(0)] if alternatives else []
    return mixed


def take(course: Course, week: Week, count: int, skip: int = 0) -> list[tuple[str, str]]:
    """Return `count` submissions as (name, source), starting at index `skip`.

    If the bank has fewer programs, repeat them with a comment that makes each file different.
    """
    bank = sources(course, week)
    chosen = []
    for number in range(skip, skip + count):
        name, source = bank[number % len(bank)]
        turn = number // len(bank)
        chosen.append((f"s{number:05}_{name}", f"{source}\n# {turn}\n" if turn else source))
    return chosen


def lay(folder: Path, week: Week, chosen: list[tuple[str, str]]) -> list[Path]:
    """Write each submission to a separate folder; return the folders."""
    paths = []
    for name, source in chosen:
        path = folder / name
        path.mkdir(parents=True)
        (path / week.module).write_text(source, encoding="utf-8")
        paths.append(path)
    return paths


def course_copy(target: Path, name: str) -> tuple[Course, Week]:
    """Create a course that contains only the week `name` and has no stored results."""
    week = load(ROOT).week(name)
    copy_course(target, [week.name], beside=False)
    (target / ".autograder").mkdir(mode=0o700)
    (target / ".autograder" / "secret").write_bytes(SECRET)
    course = load(target)
    return course, course.week(week.name)
