"""Read the written answers to a question, and enter marks for them in the gradebook.

Equal answers with equal marks form a group, which is marked as one. A mark is entered only if the
group is still as the marker saw it. So markers do not overwrite each other, and a mark applies only
to an answer that the marker has read. The lock of `in_turn` prevents the recorder from
replacing an answer in the meantime.
"""

import hashlib
import os
from collections import Counter, defaultdict
from collections.abc import Sequence
from contextlib import suppress

import msgspec
from markupsafe import Markup

from ...files import in_turn
from ...model.course import Course, Week
from ...model.errors import NbgraderError
from ..collect.notebooks import first_cells, read_cells
from ..gradebook.database import CellState, cell_states
from ..gradebook.due_dates import update_penalty
from ..gradebook.report_store import judged_digests, recorded_file, recorded_folder
from ..workspace import Workspace, cells_of, open_gradebook
from .manual_marks import keep_marks
from .marking_sheets import code_of
from .submitted_cells import rendered_cells


class StaleMarkError(NbgraderError):
    """The answer, its mark or its comment has changed since the marker saw them."""


class AnswerGroup(msgspec.Struct, frozen=True):
    """Equal answers with the same mark and comment.

    codes: replace the students' names where marking is anonymous
    version: a digest of the students, their answers, marks and comments
    """

    students: tuple[str, ...]
    codes: tuple[str, ...]
    version: str
    state: CellState  # of the first student

    @property
    def code(self) -> str:
        return self.codes[0]

    @property
    def unanswered(self) -> bool:
        return self.state.status == "automatic"


def question_counts(course: Course) -> dict[tuple[str, str], Counter[str]]:
    """Count the answers by status, for each week and question."""
    found: dict[tuple[str, str], Counter[str]] = defaultdict(Counter)
    for state in cell_states(course):
        found[state.week, state.cell][state.status] += 1
    return found


def answer_groups(course: Course, week: Week, cell: str, *, together: bool) -> list[AnswerGroup]:
    """Return the answers to a question; those to mark first, then in the order of the codes.

    together: group equal answers; otherwise every answer is a group
    """
    grouped: dict[tuple[object, ...], list[_Entry]] = defaultdict(list)
    for state in cell_states(course):
        if (state.week, state.cell) == (week.name, cell):
            entry = _entry(course, week, state)
            shared = entry[1] if together and entry[1] else state.student
            given = state.automatic, state.manual, state.waiting, state.comment
            grouped[(shared, state.points, *given)].append(entry)
    groups = [_group(sorted(entries)) for entries in grouped.values()]
    return sorted(groups, key=lambda g: (not g.state.waiting, g.unanswered, g.code))


def group_of_one(course: Course, week: Week, state: CellState) -> AnswerGroup:
    """Return a group that contains only this cell."""
    return _group([_entry(course, week, state)])


_Entry = tuple[str, str, CellState]  # a student's code, the answer's digest and the cell


def _entry(course: Course, week: Week, state: CellState) -> _Entry:
    digest = judged_digests(course, week, state.student).get(state.cell, "")
    return code_of(course, week, state.student), digest, state


def _group(entries: Sequence[_Entry]) -> AnswerGroup:
    version = hashlib.blake2b(repr(entries).encode(), digest_size=12).hexdigest()
    codes, _, states = zip(*entries, strict=True)
    return AnswerGroup(tuple(s.student for s in states), codes, version, states[0])


def find_group(
    course: Course, week: Week, cell: str, code: str, version: str = ""
) -> AnswerGroup | None:
    """Return the group of the student with this code; None if there is no such answer.

    version: the group's version; "" matches any version
    """
    for together in (True, False):
        for group in answer_groups(course, week, cell, together=together):
            if code in group.codes and version in ("", group.version):
                return group
    return None


def rendered_answer(course: Course, week: Week, cell: str, student: str) -> Markup:
    """Return a student's answer as harmless HTML, with its pictures."""
    workspace = Workspace(course)
    cells = first_cells(read_cells(workspace.autograded(student, week) / f"{week.name}.ipynb"))
    if cell not in cells:
        return Markup("")
    (answer,) = rendered_cells([cells[cell]], workspace.released(week) / "figures", below=3)
    return answer.text


def enter_mark(
    course: Course,
    week: Week,
    cell: str,
    code: str,
    version: str,
    score: float,
    comment: str | None = None,
) -> AnswerGroup:
    """Enter a mark for a group of answers, as Formgrader does, and return the group.

    Raise StaleMarkError if the group has changed, and NbgraderError if the mark is not between 0
    and the points of the cell.

    code, version: of the group that the marker saw. comment: None keeps the comments
    """
    with in_turn(recorded_folder(course, week)):
        group = find_group(course, week, cell, code, version)
        if group is None:
            raise StaleMarkError(
                "The answer or its mark has changed since you opened it. Your mark was not saved: "
                "compare it with what is shown now, and save again."
            )
        if not 0 <= score <= group.state.points:
            raise NbgraderError(
                f"{score:g} is not between 0 and {group.state.points:g} points. Nothing was saved."
            )
        with open_gradebook(course) as gradebook:
            for student in group.students:
                grade, words = cells_of(gradebook, week, student)[cell]
                grade.manual_score, grade.needs_manual_grade = score, False
                if comment is not None and words is not None:
                    words.manual_comment = comment or None
                update_penalty(course, gradebook, week, student)
            gradebook.db.commit()
    keep_marks(course)
    for student in group.students:
        with suppress(OSError):  # the new modification time marks the feedback as outdated
            os.utime(recorded_file(course, week, student))
    return group
