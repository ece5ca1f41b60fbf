"""Draw the simulated course from a seed: mistakes, lateness and repeated attempts.

Modules come from the banks: a solution or an alternative in which misconceptions replace some
functions. The plan does not depend on the grading code.
"""

from __future__ import annotations

import ast
import datetime as dt
import random
from collections.abc import Sequence
from dataclasses import dataclass, field

from autograder.model.course import Course, Week
from autograder.model.course.bank import Bank, Misconception

DROPOUT_WEEK = 4  # after that many weeks, one student stops submitting
COPIED_WEEK = 1  # index of the week in which two students submit one solution


@dataclass(frozen=True)
class HandIn:
    """One submission of a student: time, contents and mistakes."""

    time: dt.datetime  # in the course's time zone
    source: str
    mistakes: tuple[Misconception, ...]
    answers: str  # text of the written answers
    plain: bool  # the solution in its own style, so that each mistake appears as verified


@dataclass
class Part:
    """A student's part in one week. `days`: started days by which the last submission is late."""

    student: str
    week: Week
    hand_ins: list[HandIn] = field(default_factory=list)
    days: int = 0
    forgiven: bool = False
    extended: bool = False

    @property
    def last(self) -> HandIn:
        return self.hand_ins[-1]


@dataclass
class Plan:
    students: list[str]
    dropout: str
    copied: tuple[str, str]
    extensions: list[dict[str, str]]
    parts: dict[tuple[str, str], Part]

    def of(self, student: str, week: Week) -> Part | None:
        return self.parts.get((student, week.name))

    def mark(self, student: str, question: str, points: float, answer: str) -> float:
        """Return the instructor's mark for an answer; equal answers get equal marks."""
        draw = random.Random(f"{student} {question} {answer}")
        return draw.choice([0.0, 0.5, 1.0, 1.0]) * points


def make_plan(course: Course, count: int, seed: int) -> Plan:
    draw = random.Random(seed)
    students = [f"s{number:02}" for number in range(1, count + 1)]
    strength = {s: draw.betavariate(4, 2) for s in students}
    first, second = draw.sample(students, 2)
    dropout = next(s for s in students if s not in (first, second))
    extended = [s for s in students if s not in (first, second, dropout)][:: max(3, count // 3)]
    parts: dict[tuple[str, str], Part] = {}
    extensions = []
    for number, week in enumerate(course.weeks):
        bank = Bank(course, week)
        for student in students:
            if student == dropout and number >= DROPOUT_WEEK:
                continue
            part = Part(student, week)
            if student in extended and number % 3 == 1:
                part.extended = True
                until = week.due + dt.timedelta(days=2)
                extensions.append(
                    {"student": student, "week": week.name, "until": until.isoformat()}
                )
            _fill(part, course, bank, strength[student], draw)
            parts[student, week.name] = part
    if len(course.weeks) > COPIED_WEEK:
        week = course.weeks[COPIED_WEEK]
        origin, copy = parts[first, week.name], parts[second, week.name]
        last, own = origin.last, copy.last
        copy.hand_ins[-1] = HandIn(
            own.time, disguised(last.source), last.mistakes, own.answers, plain=False
        )
    return Plan(students, dropout, (first, second), extensions, parts)


def _fill(part: Part, course: Course, bank: Bank, strength: float, draw: random.Random) -> None:
    """Choose times, attempts and mistakes, and write the modules."""
    due = part.week.due + dt.timedelta(days=2 if part.extended else 0)
    fate = draw.random()
    early = dt.timedelta(hours=draw.uniform(2, 60))
    late = dt.timedelta(hours=draw.uniform(1, 20))
    if fate < 0.72 or part.extended:
        time = due - early
    elif fate < 0.80:
        time, part.forgiven = due + dt.timedelta(minutes=9), True
    else:
        part.days = 9 if fate > 0.98 else draw.choice([1, 1, 2, 3])
        time = due + dt.timedelta(days=part.days) - late
    again = draw.random() < 0.15
    mistakes = _mistakes(bank, strength, draw)
    answers = f"{part.student} explains {part.week.name}."
    if again:
        before = part.week.due - dt.timedelta(days=3, hours=draw.uniform(0, 20))
        worse = mistakes or _mistakes(bank, 0.0, draw)
        part.hand_ins.append(_hand_in(course, bank, before, worse, answers, draw))
        mistakes = mistakes[1:]
        # two submissions without a difference count as one
        answers += " Better now." if draw.random() < 0.5 or not worse else ""
    part.hand_ins.append(_hand_in(course, bank, time, mistakes, answers, draw))


def _mistakes(bank: Bank, strength: float, draw: random.Random) -> tuple[Misconception, ...]:
    """Choose at most three mistakes in different exercises; weak students make more of them."""
    found = []
    for exercise in draw.sample(bank.week.exercises, len(bank.week.exercises)):
        known = bank.of_exercise(exercise.name)
        if known and len(found) < 3 and draw.random() < 0.05 + 0.4 * (1 - strength):
            found.append(draw.choice(known))
    return tuple(found)


def _hand_in(
    course: Course,
    bank: Bank,
    time: dt.datetime,
    mistakes: Sequence[Misconception],
    answers: str,
    draw: random.Random,
) -> HandIn:
    plain = draw.random() < 0.5 or not bank.alternatives
    plain = plain or any(_leans_on_the_solution(m, bank) for m in mistakes)
    source = bank.solution if plain else draw.choice([*bank.alternatives.values()])
    if any(m.rejected_by == "test_device" for m in mistakes):
        # a tensor on the CPU is not always wrong in other styles: a mask may be an index
        plain, source = True, bank.solution
    # a mistake that stores an earlier definition must follow it
    for mistake in sorted(mistakes, key=lambda m: _leans_on_the_solution(m, bank)):
        source += mistake.source.removeprefix(bank.solution)
    return HandIn(course.localized(time), source, tuple(mistakes), answers, plain)


def _leans_on_the_solution(mistake: Misconception, bank: Bank) -> bool:
    """Return True if it replaces a helper or part of a class, which other styles do not call."""
    tree = ast.parse(mistake.source.removeprefix(bank.solution))
    known = (ast.FunctionDef, ast.ClassDef)
    others = [n for n in tree.body if not isinstance(n, ast.Import | ast.ImportFrom | ast.Expr)]
    return any(
        not isinstance(n, known) or n.name != mistake.exercise or _extends_itself(n) for n in others
    )


def _extends_itself(node: ast.FunctionDef | ast.ClassDef) -> bool:
    """Return True if a class extends its earlier definition with some methods."""
    bases = node.bases if isinstance(node, ast.ClassDef) else []
    return any(isinstance(base, ast.Name) and base.id == node.name for base in bases)


class _Renamed(ast.NodeTransformer):
    """Renames local variables of functions; arguments keep their names."""

    def visit_FunctionDef(self, node: ast.FunctionDef) -> ast.FunctionDef:
        arguments = {a.arg for a in ast.walk(node.args) if isinstance(a, ast.arg)}
        outer = {
            n for s in ast.walk(node) if isinstance(s, (ast.Global, ast.Nonlocal)) for n in s.names
        }
        inner = {s.name for s in ast.walk(node) if isinstance(s, (ast.FunctionDef, ast.ClassDef))}
        if any(
            isinstance(s, (ast.FunctionDef, ast.Lambda)) for s in ast.walk(node) if s is not node
        ):
            return node  # a closure may use a name of the outer scope
        stored = sorted(
            {
                s.id
                for s in ast.walk(node)
                if isinstance(s, ast.Name) and isinstance(s.ctx, ast.Store)
            }
            - arguments
            - outer
            - inner
        )
        names = {name: f"my_{number}" for number, name in enumerate(stored)}
        for part in ast.walk(node):
            if isinstance(part, ast.Name) and part.id in names:
                part.id = names[part.id]
        return node


def disguised(source: str) -> str:
    """Return the same program with renamed variables, reordered functions and no comments."""
    tree = _Renamed().visit(ast.parse(source))
    last = {n.name: n for n in tree.body if isinstance(n, ast.FunctionDef)}
    functions = [n for n in tree.body if isinstance(n, ast.FunctionDef) and last[n.name] is n]
    rest = [n for n in tree.body if not isinstance(n, ast.FunctionDef)]
    imports = [n for n in rest if isinstance(n, (ast.Import, ast.ImportFrom, ast.Expr))]
    others = [n for n in rest if n not in imports]
    tree.body = [*imports, *reversed(functions), *others]
    return ast.unparse(tree) + "\n"
