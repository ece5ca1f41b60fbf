"""Extensions of course.yaml for students whom nobody knows: a slip that would cost one of them."""

from __future__ import annotations

from ...model.course.folder_checks import did_you_mean
from ...model.course.loader import Course, Week
from ..gradebook.database import read_gradebook
from ..workspace import Workspace


def unknown_extensions(course: Course, week: Week) -> list[str]:
    """What is to be said of the week's extensions; nothing while no student is known at all."""
    if course.registry.late is None:
        return []
    granted = [(n, e) for n, e in enumerate(course.registry.late.extensions) if e.week == week.name]
    if not granted:
        return []
    students, _ = read_gradebook(course)
    known = {*students, *Workspace(course).students("submitted", week)}
    return [
        f"course.yaml: late.extensions[{number}].student: nobody is called {one.student!r}"
        f"{did_you_mean(one.student, known)}"
        for number, one in granted
        if known and one.student not in known
    ]
