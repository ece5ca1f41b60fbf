"""Check the end of the simulated course. Each function returns a list of violations."""

from __future__ import annotations

import csv
import html
import io
import re
from collections.abc import Callable, Iterator

from autograder.lms.grade_files import export
from autograder.lms.roster import read_roster
from autograder.model.course import Week
from autograder.nbgrader.gradebook.final_scores import final_scores
from autograder.nbgrader.gradebook.report_store import earlier_reports, stored_report
from autograder.nbgrader.status import status
from autograder.nbgrader.workspace import Workspace
from tests.simulation.plan import Part
from tests.simulation.play import LATE, Played
from tests.simulation.trouble import CLAIMS as TROUBLE
from tests.simulation.trouble import GUESTS
from tests.standings import WeekStanding, standings

Claim = Callable[[Played], list[str]]


def shares(played: Played) -> dict[tuple[str, str], float]:
    """Return the share of each score that remains after lateness, computed from the plan only."""
    found = {}
    for student in played.plan.students:
        slip = LATE["slip_days"]
        for week in played.weeks:
            part = played.plan.of(student, week)
            if part is None:
                continue
            used = min(slip, part.days)
            slip -= used
            off = LATE["percent"] * (part.days - used)
            kept = max(100 - off, LATE["floor"]) if part.days > used else 100
            found[student, week.name] = kept / 100
    return found


def _standings(played: Played, week: Week) -> list[WeekStanding]:
    """Return the status of the plan's students; guests are checked separately."""
    return [s for s in standings(played.course, week) if s.student not in GUESTS]


def everyone_has_exactly_one_score_a_week(played: Played) -> list[str]:
    problems = []
    for week in played.weeks:
        held = [s.student for s in _standings(played, week)]
        wanted = [s for s in played.plan.students if played.plan.of(s, week)]
        if sorted(held) != sorted(wanted):
            problems.append(f"{week.name}: {sorted(held)} instead of {wanted}")
    return problems


def marks_by_hand_are_what_a_person_gave(played: Played) -> list[str]:
    problems = []
    for week in played.weeks:
        for standing in _standings(played, week):
            part = played.plan.parts[standing.student, week.name]
            if standing.to_mark:
                problems.append(f"{week.name}, {part.student}: {standing.to_mark} to mark")
            for question in week.questions:
                given = standing.scores[question.name]
                wanted = played.plan.mark(
                    part.student, question.name, question.points, part.last.answers
                )
                if given != wanted:
                    problems.append(f"{week.name}, {part.student}: {given} for {wanted}")
    return problems


def late_work_costs_what_the_policy_says(played: Played) -> list[str]:
    problems, kept = [], shares(played)
    rounding = 0.5 * 10**-played.course.registry.decimals + 1e-6
    for week in played.weeks:
        final = final_scores(played.course, week)
        for standing in _standings(played, week):
            wanted = standing.score * kept[standing.student, week.name]
            points = final[standing.student].points
            if abs(points - wanted) > rounding:
                problems.append(
                    f"{week.name}, {standing.student}: {points:.4f}, "
                    f"but {standing.score:.4f} x {kept[standing.student, week.name]} = {wanted:.4f}"
                )
    return problems


def scores_are_those_of_the_reports(played: Played) -> list[str]:
    problems = []
    for week in played.weeks:
        for standing in standings(played.course, week):
            report = stored_report(played.course, week, standing.student)
            marks = sum(standing.scores[q.name] for q in week.questions)
            if report is None or abs(standing.score - marks - report.score) > 1e-3:
                problems.append(f"{week.name}, {standing.student}: {standing.score}")
    return problems


def planted(played: Played) -> Iterator[tuple[Week, Part, str, tuple[str, ...], bool, float]]:
    """Yield each mistake in a last submission: student, name, reported name, only one?, points.

    The points of a misconception are lost only once, even if it occurs in a second exercise.
    """
    for part in played.parts:
        report = stored_report(played.course, part.week, part.student)
        if report is None:
            continue
        for mistake in part.last.mistakes:
            exercise = next(e for e in report.exercises if e.name == mistake.exercise)
            known = {mistake.name, *mistake.same_as}
            alone = len(part.last.mistakes) == 1 and part.last.plain
            found = tuple(d for d in exercise.diagnosis if d in known)
            charged = {exercise.name, *(d.counted_in for d in exercise.deductions)}
            charged |= {*exercise.inherits}  # the mistake may be in a function of another exercise
            lost = sum(e.max_score - e.score for e in report.exercises if e.name in charged)
            yield part.week, part, mistake.name, found, alone, lost


def every_mistake_costs_points(played: Played) -> list[str]:
    return [
        f"{week.name}, {part.student}: {name} cost nothing"
        for week, part, name, _, _, lost in planted(played)
        if lost <= 0
    ]


def a_mistake_alone_is_named(played: Played) -> list[str]:
    return [
        f"{week.name}, {part.student}: {name} was not diagnosed"
        for week, part, name, found, alone, _ in planted(played)
        if alone and not found
    ]


def what_is_right_gets_everything(played: Played) -> list[str]:
    problems = []
    for part in played.parts:
        report = stored_report(played.course, part.week, part.student)
        if report is not None and not part.last.mistakes and report.score < report.max_score:
            lost = [e.name for e in report.exercises if e.score < e.max_score]
            problems.append(f"{part.week.name}, {part.student}: {report.score} {lost}")
    return problems


def a_second_try_is_graded_and_the_first_is_kept(played: Played) -> list[str]:
    problems = []
    for part in played.parts:
        kept = len(earlier_reports(played.course, part.week, part.student))
        due = played.course.localized(part.week.due)
        split = any(h.time <= due for h in part.hand_ins) and part.last.time > due
        wanted = 1 if len(part.hand_ins) == 2 and split else 0
        if kept != wanted:
            problems.append(f"{part.week.name}, {part.student}: {kept} earlier, not {wanted}")
    return problems


def feedback_shows_the_arithmetic(played: Played) -> list[str]:
    problems = []
    for part in played.parts:
        path = Workspace(played.course).feedback_page(part.student, part.week)
        if not path.is_file():
            problems.append(f"{part.week.name}, {part.student}: no feedback")
            continue
        text = html.unescape(re.sub(r"<[^>]*>", "", path.read_text(encoding="utf-8")))
        says = "Submitted late." in text and ("no penalty" in text or "per day" in text)
        if says != bool(part.days or part.forgiven):
            problems.append(f"{part.week.name}, {part.student}: lateness shown: {says}")
    return problems


def exports_lose_nobody(played: Played) -> list[str]:
    course, problems = played.course, []
    roster = read_roster(course.root / "roster.csv")
    scores = {w.name: final_scores(course, w) for w in played.weeks}
    done = export("canvas", played.weeks, scores, roster)
    if set(done.unmatched) - set(GUESTS) != {played.plan.students[0]}:
        problems.append(f"unmatched: {done.unmatched}")
    rows = {r["SIS Login ID"]: r for r in csv.DictReader(io.StringIO(done.text))}
    for student in [*played.plan.students[1:], "auditor"]:
        for week in played.weeks:
            given, own = rows[student][week.title], scores[week.name].get(student)
            if (own is None) != (given == "") or (
                own is not None and abs(float(given) - own.points) > 1e-3
            ):
                problems.append(f"{week.name}, {student}: {given!r} for {own}")
    return problems


def status_has_nothing_left_to_do(played: Played) -> list[str]:
    problems = []
    done = {w.name for w in played.weeks}
    for week in (w for w in status(played.course) if w.week in done):
        left = {"to mark": week.to_mark, "ungraded": week.ungraded, "waiting": week.waiting}
        left |= {"refused": week.refused, "stale": week.stale, "foreign": week.foreign}
        problems += [f"{week.week}: {name}: {who}" for name, who in left.items() if who]
        late = {p.student for p in played.parts if p.week.name == week.week and p.days}
        if set(week.late) - set(GUESTS) != late:
            problems.append(f"{week.week}: late: {sorted(set(week.late) ^ late)} differ")
    return problems


CLAIMS: tuple[Claim, ...] = (
    everyone_has_exactly_one_score_a_week,
    marks_by_hand_are_what_a_person_gave,
    late_work_costs_what_the_policy_says,
    scores_are_those_of_the_reports,
    every_mistake_costs_points,
    a_mistake_alone_is_named,
    what_is_right_gets_everything,
    a_second_try_is_graded_and_the_first_is_kept,
    feedback_shows_the_arithmetic,
    exports_lose_nobody,
    status_has_nothing_left_to_do,
    *TROUBLE,
)
