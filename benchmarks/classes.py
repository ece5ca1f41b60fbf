"""Create a class of any size in nbgrader's folders, with results that are already stored.

The benchmarks of all steps except grading use these classes. Only a dozen programs from the bank
are graded. Each student submits one of them with an added comment, and its report is stored under
the hash of the changed file. The release and the submissions through the exchange are real.
"""

from __future__ import annotations

import copy
import datetime as dt
import json
import shutil
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import msgspec

from autograder.batch.store import ResultStore, fingerprint
from autograder.files import course_secret
from autograder.grading.warmup import warm_engine
from autograder.model.availability import axis
from autograder.model.course import Course, Week, load
from autograder.model.report.schema import SubmissionReport
from autograder.model.submission_files import format_timestamp
from autograder.nbgrader.collect.history import read_student
from autograder.nbgrader.release.publish import release
from autograder.nbgrader.workspace import Workspace
from autograder.sandbox import choose
from tests.courses import copy_course

from .sample import SECRET, sources

_OF_BANK = 12
_START = dt.datetime(2027, 1, 11, 9, tzinfo=dt.UTC)
Graded = list[tuple[str, SubmissionReport]]  # a module and its report


def made_course(root: Path, name: str, weeks: int) -> Course:
    """Create a course that repeats one week `weeks` times under different names."""
    copy_course(root, [name], lambda registry: _again(registry, root, weeks))
    (root / ".autograder").mkdir(mode=0o700)
    (root / ".autograder" / "secret").write_bytes(SECRET)
    return load(root)


def _again(registry: dict[str, Any], root: Path, weeks: int) -> None:
    (first,) = registry["weeks"]
    for number in range(2, weeks + 1):
        week = copy.deepcopy(first)
        week["name"] = f"week{number:02}_{first['name'].partition('_')[2]}"
        for key in ("release", "due"):
            week[key] = first[key] + dt.timedelta(weeks=number - 1)
        for place in ("exercises", "solutions", "autograder/graders", "assets"):
            if (root / place / first["name"]).is_dir():
                shutil.copytree(root / place / first["name"], root / place / week["name"])
        registry["weeks"].append(week)


def graded_bank(course: Course, week: Week) -> Graded:
    """Grade a dozen programs from the bank; return each program's source and report."""
    engine = warm_engine(course, week, axis(), course_secret(course), choose())
    try:
        bank = sources(course, week)
        some = bank[:: max(1, len(bank) // _OF_BANK)][:_OF_BANK]
        return [(s, engine.grade(n, {week.module: s.encode()})) for n, s in some]
    finally:
        engine.close()


def students(count: int) -> list[str]:
    return [f"s{number:05}" for number in range(count)]


def hand_in(course: Course, week: Week, modules: Sequence[str], names: Iterable[str]) -> None:
    """Release the week, and write one submission per student into the exchange.

    modules: sources of the week's module, which are assigned to the students in turn
    """
    workspace = Workspace(course)
    release(course, week, early=True, now=_START)
    inbound = workspace.exchange / course.id / "inbound"
    handed_out = (workspace.outbound(week) / f"{week.name}.ipynb").read_text(encoding="utf-8")
    for number, student in enumerate(names):
        time = course.localized(week.due) - dt.timedelta(minutes=30 + number % 600)
        stamp = format_timestamp(time)
        folder = inbound / f"{student}+{week.name}+{stamp}+{number}"
        shutil.copytree(workspace.outbound(week), folder)
        (folder / "timestamp.txt").write_text(stamp, encoding="utf-8")
        (folder / "submission_secret.txt").write_text(student, encoding="utf-8")
        (folder / week.module).write_text(_module(modules, number), encoding="utf-8")
        notebook = folder / f"{week.name}.ipynb"
        notebook.write_text(_answered(handed_out, week, student), encoding="utf-8")


def _module(modules: Sequence[str], number: int) -> str:
    return f"{modules[number % len(modules)]}\n# {number}\n"


def _answered(handed_out: str, week: Week, student: str) -> str:
    notebook = json.loads(handed_out)
    names = {q.name for q in week.questions}
    for cell in notebook["cells"]:
        if cell["metadata"].get("nbgrader", {}).get("grade_id") in names:
            cell["source"] = f"Answer of {student}: as $d$ grows, so does **the sum**.\n" * 5
    return json.dumps(notebook, indent=1)


def store_results(course: Course, week: Week, graded: Graded, names: Iterable[str]) -> None:
    """Store a report for each collected submission, as if it had been graded before."""
    depends = fingerprint(course, week, axis(), course_secret(course), choose().name)
    store = ResultStore(course.state / "results" / week.name, depends)
    for number, student in enumerate(names):
        report = msgspec.structs.replace(graded[number % len(graded)][1], name=student)
        store.put(store.key(read_student(course, week, student).files), report)
