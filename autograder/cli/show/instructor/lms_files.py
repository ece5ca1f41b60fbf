"""`export`, `roster` and `collect --zip` on a terminal."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path

from ....files.atomic import replace_file
from ....lms.bulk import collect_bulk
from ....lms.grade_files import FORMATS, export
from ....lms.roster import RosterEntry, read_roster
from ....model.course.loader import Course, Week
from ....model.errors import KitError


def run_export(
    course: Course,
    weeks: Sequence[Week],
    form: str,
    roster: Path | None,
    out: Path | None,
    *,
    unmarked: bool = False,
    missing: str = "blank",
) -> bool:
    """Write the grades; whether everybody's stand in the file.

    `unmarked`: also where answers wait to be marked. `missing`: `0` for what nobody handed in.
    """
    if missing not in ("blank", "0"):
        raise KitError(f"--missing is blank or 0, and not {missing!r}")
    if form not in FORMATS:
        raise KitError(f"there is no format {form!r}; there are {', '.join(FORMATS)}")
    known = read_roster(roster) if roster else None
    from ....nbgrader.feedback.provisional import overdue, require_marked
    from ....nbgrader.gradebook.transfer import final_scores

    scores = {w.name: final_scores(course, w) for w in weeks}
    weeks = [w for w in weeks if scores[w.name]]
    if not weeks:
        raise KitError("nothing was graded yet: run `autograder grade` on a week first")
    if not unmarked:
        require_marked(course, weeks)
    if missing == "0":
        for week in weeks:
            scores[week.name] |= dict.fromkeys(overdue(course, week, scores[week.name]), 0.0)
    exported = export(form, weeks, scores, known, "" if missing == "blank" else "0")
    if out is None:
        sys.stdout.write(exported.text)
    else:
        try:
            replace_file(out, exported.text.encode())
        except OSError as error:
            raise KitError(f"{out}: cannot be written: {error.strerror}") from None
    for student in exported.unmatched:
        own = ", ".join(
            f"{name} {grades[student]:g}" for name, grades in scores.items() if student in grades
        )
        print(f"UNMATCHED  {student}: {own}", file=sys.stderr)
    return not exported.unmatched


def run_roster(course: Course, file: Path) -> None:
    entries = read_roster(file).entries
    from ....nbgrader.workspace import open_gradebook

    with open_gradebook(course) as gradebook:
        for entry in entries:
            first, last = _names(entry)
            gradebook.update_or_create_student(
                entry.student, first_name=first, last_name=last, email=entry.email or None
            )
    print(f"{len(entries)} students are in the gradebook")


def _names(entry: RosterEntry) -> tuple[str, str]:
    """First and last; Canvas writes `Lovelace, Ada`, Moodle `Ada Lovelace`."""
    last, comma, first = entry.name.partition(", ")
    if comma:
        return first, last
    first, _, last = entry.name.rpartition(" ")
    return first, last


def run_collect_bulk(course: Course, week: Week, path: Path, roster: Path | None) -> bool:
    """Collect a bulk download; return whether every file belongs to a student."""
    if roster is None:
        raise KitError("--zip needs --roster: the class list that says who is whom")
    known = read_roster(roster)
    from ....nbgrader.collect.groups import grouped_lines, spread_groups
    from ....nbgrader.collect.submissions import acceptor

    found = collect_bulk(course, week, path, known, acceptor(course, week, "download"))
    print(f"collected {len(found.collected)} of {len(known.entries)} students")
    if grouped := spread_groups(course, week):
        print(f"laid into group members' folders: {'; '.join(grouped_lines(grouped))}")
    if found.missing:
        print(f"nothing from {len(found.missing)}: {', '.join(found.missing)}")
    if found.late:
        print(f"late, says Canvas: {', '.join(sorted(found.late))}")
    if len(found.timed) < len(found.collected):
        print("the download has no submission times: the late policy is not applied to it")
    for name in found.unmatched:
        print(f"UNMATCHED  {name!r} belongs to nobody on the class list")
    for note in found.left_out:
        print(f"LOOK  {note}")
    return not (found.unmatched or found.left_out)
