"""Simulate incidents during a course, and check that all guarantees still apply.

Guests take part in addition to the plan's students: two who work together (one submits), one with a
broken notebook, one who gets a late extension, one who requests a regrade. The first week is fixed
while it runs; the gradebook is deleted; grades are pushed to a Canvas that fails.
"""

from __future__ import annotations

import datetime as dt
import json
from pathlib import Path
from typing import TYPE_CHECKING

import nbformat
import yaml

from autograder.batch.grade import grade_batch
from autograder.channels.canvas import CanvasAssignment
from autograder.channels.http_client import Web
from autograder.channels.push import carry_out_push, comments_of, plan_push
from autograder.model.availability import axis
from autograder.model.course import Course, Week, load
from autograder.model.errors import NbgraderError
from autograder.nbgrader.autograde.recorder import record
from autograder.nbgrader.collect.collector import collect
from autograder.nbgrader.collect.submissions import collected
from autograder.nbgrader.gradebook.final_scores import final_scores, require_marked
from autograder.nbgrader.gradebook.report_store import stored_report
from autograder.nbgrader.regrade.regrade_log import REQUEST, answer_request
from autograder.nbgrader.release.publish import release
from autograder.nbgrader.status import status
from autograder.nbgrader.workspace import Workspace
from tests.channels.platform_server import TOKEN, CanvasServer, serving
from tests.simulation.plan import HandIn, Part
from tests.standings import WeekStanding, standings

if TYPE_CHECKING:
    from tests.simulation.play import Played

ANN, BEN, NOTE, LATER, ASKS = "g-ann", "g-ben", "g-note", "g-later", "g-asks"
GUESTS = (ANN, BEN, NOTE, LATER, ASKS)
DELETED_AFTER = 1  # index of the week after which the gradebook is deleted


def prepare(course: Course) -> None:
    """Define the group before the first week."""
    (course.root / "groups.csv").write_text(f"group,student\npair,{ANN}\npair,{BEN}\n")


def guests_of(course: Course, week: Week) -> list[Part]:
    """Return the guests' submissions: the solution, all but one on time."""
    source = course.solution(week).read_text("utf-8")
    found = []
    for number, guest in enumerate((ANN, NOTE, LATER, ASKS)):
        first = week.name == course.weeks[0].name
        if guest in (NOTE, ASKS) and not first:
            continue
        late = guest == LATER and first  # one day more than all slip days together
        time = week.due + dt.timedelta(hours=90 if late else -30 - number)
        one = HandIn(course.localized(time), source, (), f"{guest} explains {week.name}.", True)
        found.append(Part(guest, week, [one]))
    return found


def spoil(folder: Path, week: Week, guest: str) -> None:
    """Change files before submission: extra code, a missing answer cell, a new file name."""
    if guest != NOTE:
        return
    path = folder / f"{week.name}.ipynb"
    notebook = nbformat.read(path, as_version=4)
    last = week.questions[-1].name
    notebook.cells = [
        c for c in notebook.cells if c.metadata.get("nbgrader", {}).get("grade_id") != last
    ]
    nbformat.write(notebook, path)
    (folder / week.module).rename(folder / f"{week.stem} (1).py")


def refuses_what_nobody_read(played: Played, week: Week) -> None:
    """Check that feedback and export are refused before the answers are marked."""
    try:
        require_marked(played.course, [week])
    except NbgraderError:
        return
    played.trouble.append(f"{week.name}: unmarked answers would have been shown as 0")


def mend(played: Played, week: Week) -> None:
    """Fix a hint while the week runs and release the week again under a second name."""
    course = played.course
    hints = course.exercise_folder(week) / "hints.md"
    hints.write_text(hints.read_text("utf-8") + "\nMended while it ran.\n", "utf-8")
    now = course.localized(week.release) + dt.timedelta(days=2)
    done = release(course, week, again=True, now=now)
    second = Workspace(course).outbound(week).with_name(done.second_name)
    if not (second / "CHANGES.md").is_file():
        played.trouble.append(f"{week.name}: nothing says what is new in the mended week")


def grant_more_time(played: Played, week: Week) -> None:
    """Grant an extension after grading: the penalty is removed without a new grading run."""
    course = played.course
    before = final_scores(course, week)[LATER].points
    path = course.root / "course.yaml"
    registry = yaml.safe_load(path.read_text("utf-8"))
    until = week.due + dt.timedelta(days=5)
    more = {"student": LATER, "week": week.name, "until": until}
    registry["late"].setdefault("extensions", []).append(more)
    path.write_text(yaml.safe_dump(registry), encoding="utf-8")
    graded = stored_report(course, week, LATER)
    played.course = load(course.root)
    after = final_scores(played.course, week)[LATER].points
    same = graded is not None and stored_report(played.course, week, LATER) == graded
    held = next(s for s in standings(played.course, week) if s.student == LATER)
    if after <= before or abs(after - held.score) > 1e-6 or not same:
        played.trouble.append(f"{week.name}: more time changed {before} to {after}, {same=}")


def lose_the_gradebook(played: Played, weeks: list[Week]) -> None:
    """Delete the gradebook; `grade` restores it from the stored results, including marks."""
    course = played.course
    before = {w.name: standings(course, w) for w in weeks}
    (Workspace(course).root / "gradebook.db").unlink()
    try:
        final_scores(course, weeks[0])
        played.trouble.append("a lost gradebook was not noticed")
    except NbgraderError:
        pass
    for week in weeks:
        some = collected(course, week)
        report = grade_batch(course, week, some, devices=axis(), jobs=played.jobs)
        record(course, week, report)
        if standings(course, week) != before[week.name]:
            played.trouble.append(f"{week.name}: not all of it came back")


def ask_again(played: Played, week: Week, submit: object) -> None:
    """Request a regrade: the request is listed, costs no points and gets a reply."""
    course = played.course
    home = course.root / "students" / ASKS / week.name
    (home / REQUEST).write_text("Why did I lose a point?\n")
    part = next(p for p in guests_of(course, week) if p.student == ASKS)
    later = HandIn(
        course.localized(week.due + dt.timedelta(days=5)),
        part.last.source,
        (),
        part.last.answers,
        True,
    )
    submit(course, part, later)  # type: ignore[operator]
    before = final_scores(course, week)[ASKS]
    asking = collect(course, week, check_owner=False).asking
    shown = next(w for w in status(course) if w.week == week.name)
    if asking != [ASKS] or ASKS not in shown.asking or shown.waiting or shown.ungraded:
        played.trouble.append(f"{week.name}: a request: {asking} {shown.waiting} {shown.ungraded}")
    answer_request(course, week, ASKS, "You did not.")
    if final_scores(course, week)[ASKS] != before:
        played.trouble.append(f"{week.name}: to ask cost points")


def push_to_a_canvas_that_fails(played: Played, week: Week) -> None:
    """Push to a Canvas that drops replies and refuses one; a second push adds no duplicates."""
    course = played.course
    scores = {student: s.points for student, s in final_scores(course, week).items()}
    server = CanvasServer()
    server.users = {
        200 + n: (s, f"{s}@example.org", f"S-{n}") for n, s in enumerate(sorted(scores))
    }
    server.submissions = {
        n: {"user_id": n, "score": None, "entered_score": None, "submission_comments": []}
        for n in server.users
    }
    server.faults = {2: "lost", 4: "drop", 6: "refuse", 8: "busy"}
    with serving(server):
        web = Web(server.url, pause=0.01)
        web.authorize(TOKEN)
        canvas = CanvasAssignment(web, 7, 4411)
        said = comments_of(course, week, scores)
        for _ in range(2):
            push = plan_push(course, week, canvas, scores, said)
            carry_out_push(course, week, canvas, push)
        left = plan_push(course, week, canvas, scores, said).of("write")
    for n, (student, _, _) in server.users.items():
        held = server.submissions[n]
        points, comments = held["entered_score"], len(held["submission_comments"])
        if points is None or abs(points - scores[student]) > 1e-6 or comments != 1:
            played.trouble.append(f"{week.name}, {student}: pushed {points}, {comments} comments")
    if left:
        played.trouble.append(f"{week.name}: not pushed: {[one.student for one in left]}")


# Checks at the end


def groups_have_one_score(played: Played) -> list[str]:
    problems = []
    for week in played.weeks:
        held = {s.student: s for s in standings(played.course, week)}
        if ANN not in held or BEN not in held or held[ANN].scores != held[BEN].scores:
            problems.append(f"{week.name}: {held.get(ANN)} and {held.get(BEN)}")
        if not Workspace(played.course).feedback_page(BEN, week).is_file():
            problems.append(f"{week.name}: {BEN}, who handed in nothing, has no page")
    return problems


def a_spoilt_notebook_costs_no_code_and_is_told(played: Played) -> list[str]:
    week = played.weeks[0]
    report = stored_report(played.course, week, NOTE)
    shown = next(w for w in status(played.course) if w.week == week.name)
    kinds = {kind for kind, who in shown.noted.items() if NOTE in who}
    page = Workspace(played.course).feedback_page(NOTE, week).read_text("utf-8")
    told = "was deleted. It was restored" in page and "Keep that name" in page
    if report is None or report.score != report.max_score or not {"deleted", "module"} <= kinds:
        return [f"{report and report.score}, {kinds}"]
    return [] if told else ["the student is not told"]


def nothing_went_wrong_with_what_went_wrong(played: Played) -> list[str]:
    return list(played.trouble)


def marks_are_kept_beside_the_gradebook(played: Played) -> list[str]:
    problems = []
    for week in played.weeks:
        path = played.course.state / "marks" / f"{week.name}.json"
        kept = json.loads(path.read_bytes())["students"] if path.is_file() else {}
        for standing in standings(played.course, week):
            cells = kept.get(standing.student, {}).get("cells", {})
            for question in week.questions:
                mark = cells.get(question.name, {}).get("score")
                if mark != standing.scores[question.name] and not _unanswered(
                    standing, question.name, mark
                ):
                    problems.append(f"{week.name}, {standing.student}: {question.name}: {mark}")
    return problems


def _unanswered(standing: WeekStanding, question: str, mark: float | None) -> bool:
    """Return True if the answer is empty, so that it needs no mark."""
    return mark is None and standing.scores[question] == 0


CLAIMS = (
    groups_have_one_score,
    a_spoilt_notebook_costs_no_code_and_is_told,
    marks_are_kept_beside_the_gradebook,
    nothing_went_wrong_with_what_went_wrong,
)
