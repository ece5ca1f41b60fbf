"""Test a random walk of submissions, marks, regrades, restores and kills: no data is lost.

A ledger records the expected state of each student for a hundred steps. The gradebook, the exchange
and the files are real; only the hidden tests run in this process. A kill ends a child process at a
random file operation.
"""

from __future__ import annotations

import datetime as dt
import json
import os
import random
import signal
import sys
from collections.abc import Callable
from dataclasses import dataclass, field

import pytest

from autograder.model.course import Course, Week, load
from autograder.model.errors import NbgraderError
from autograder.nbgrader.autograde.recorder import record, restore
from autograder.nbgrader.collect.collector import collect
from autograder.nbgrader.collect.history import read_history, stored_files
from autograder.nbgrader.collect.submissions import accept, collected, full_history, refuse
from autograder.nbgrader.gradebook.database import HandMark, read_gradebook, read_hand_marks
from autograder.nbgrader.gradebook.effective_results import results
from autograder.nbgrader.regrade.regrade import carry_out, plan_of, preview
from autograder.nbgrader.regrade.regrade_log import RegradeLog
from autograder.nbgrader.status import status
from autograder.nbgrader.workspace import Workspace, open_gradebook, prepare_process
from tests.nbgrader.grading_here import grade_here
from tests.nbgrader.tiny_course import SOLUTION, WEEK, report, write

MODULE, NOTEBOOK = "doubling.py", f"{WEEK}.ipynb"
STEPS_OF_ONE = 100
QUALITIES = (SOLUTION, SOLUTION.replace("x + x", "x"), SOLUTION.replace("0.5", "2"), "x = 1\n")
BROKEN = ("def double(x:\n", "", "\0", "\x7fELF" + "\1" * 50)
FAILING = "1 / 0\n"  # Python can parse it but not import it
KILL_WITHIN = 250  # file operations; a step has about that many


@dataclass
class Ledger:
    """The expected state of one student."""

    student: str
    module: str = ""
    answer: str = ""
    answers: set[str] = field(default_factory=set)  # all accepted submissions
    modules: set[str] = field(default_factory=set)
    mark: float | None = None
    comment: str = ""
    marked_answer: str = ""
    minute: int = 0
    late: bool = False
    said: list[str] = field(default_factory=list)  # at the last recording


class Walk:
    """The course, and its students one after the other."""

    def __init__(self, course: Course, notebook: str, seed: int) -> None:
        self.course, self.notebook = course, notebook
        self.random = random.Random(seed)
        self.lenient = False  # the graders are now more generous for all students
        self.ledger = Ledger("s0")
        self.kills = self.drops = 0
        self.steps: tuple[tuple[int, Callable[[], None]], ...] = (
            (4, self.submit_folder),
            (4, self.submit_module),
            (4, self.submit_answer),
            (2, self.submit_renamed),
            (2, self.submit_broken),
            (1, self.submit_the_same),
            (3, self.mark),
            (1, self.regrade),
            (2, self.restore),
            (1, self.be_late),
        )

    @property
    def week(self) -> Week:
        return self.course.weeks[0]

    # Steps

    def submit_folder(self) -> None:
        self._submit({MODULE: self._module(), NOTEBOOK: self._notebook(self._answer())})

    def submit_module(self) -> None:
        self._submit({MODULE: self._module()})

    def submit_answer(self) -> None:
        self._submit({NOTEBOOK: self._notebook(self._answer())})

    def submit_renamed(self) -> None:
        name = self.random.choice(("doubling_final.py", "doubling (1).py", "Doubling.py"))
        self._submit({name: self._module(exercises=True)})

    def submit_broken(self) -> None:
        if self.ledger.module:
            files = {MODULE: self.random.choice((*BROKEN, FAILING))}
            if self.random.random() < 0.5:
                files[NOTEBOOK] = self._notebook(self._answer())
            self._submit(files)

    def submit_the_same(self) -> None:
        if self.ledger.module:
            self._submit({MODULE: self.ledger.module})

    def be_late(self) -> None:
        self.ledger.late = self.ledger.late or self.random.random() < 0.2

    def mark(self) -> None:
        """Mark the answer in the gradebook, as Formgrader does."""
        if not self.ledger.answer:
            return
        points, comment = self.random.randint(0, 6) / 2, f"comment {self.random.random()}"
        with open_gradebook(self.course) as gradebook:
            about = ("why", WEEK, WEEK, self.ledger.student)
            grade, words = gradebook.find_grade(*about), gradebook.find_comment(*about)
            grade.manual_score, grade.needs_manual_grade = points, False
            words.manual_comment = comment
            gradebook.db.commit()
        self.ledger.mark, self.ledger.comment = points, comment
        self.ledger.marked_answer = self._graded_answer()

    def regrade(self) -> None:
        """Change the graders for all students."""
        if not self.ledger.module:
            return
        self.lenient = not self.lenient
        everybody = Workspace(self.course).students("submitted", self.week)
        new = report(*(self._graded(student) for student in everybody))
        plan = plan_of(self.course, self.week, new, preview(self.course, self.week, new), "changed")
        carry_out(self.course, self.week, RegradeLog(self.course, self.week), plan)

    def restore(self) -> None:
        history = read_history(self.course, self.week, self.ledger.student)
        if history.accepted:
            entry = self.random.choice(history.accepted)
            files = stored_files(self.course, self.week, self.ledger.student, entry)
            if MODULE not in files:  # answers without code cannot be graded
                with pytest.raises(NbgraderError, match="cannot be graded"):
                    restore(self.course, self.week, self.ledger.student, entry)
                return
            restore(self.course, self.week, self.ledger.student, entry)
            self.ledger.module = files.get(MODULE, b"").decode()
            self.ledger.answer = answer_in(files[NOTEBOOK])

    # Actions that steps combine

    def _module(self, *, exercises: bool = False) -> str:
        quality = self.random.choice(QUALITIES[:3] if exercises else QUALITIES)
        return f"{quality}\nMADE = {self.random.random()}\n"

    def _answer(self) -> str:
        return "" if self.random.random() < 0.4 else f"Because {self.random.random()}."

    def _notebook(self, answer: str) -> str:
        return self.notebook.replace("*Your answer here.*", answer) if answer else self.notebook

    def _graded(self, student: str) -> object:
        return grade_here(self.course, self.week, student, lenient=self.lenient)

    def _submit(self, files: dict[str, str]) -> None:
        """Submit and update the expected state."""
        ledger = self.ledger
        ledger.minute += self.random.randint(1, 30)
        encoded = {name: text.encode() for name, text in files.items()}
        channel = self.random.choice((self._by_exchange, self._by_download))
        kill = self.random.random() < 0.25
        at = self.random.randrange(KILL_WITHIN)
        time = self._time()
        if kill:
            self.kills += killed(at, lambda: channel(encoded, time))
        channel(encoded, time)
        module = next((text for name, text in files.items() if name.endswith(".py")), None)
        answer = answer_in(encoded[NOTEBOOK]) if NOTEBOOK in encoded else ""
        if module in (*BROKEN, FAILING):
            module = None
        if module is None and not ledger.module and not answer:
            return
        ledger.module, ledger.answer = module or ledger.module, answer or ledger.answer
        ledger.modules |= {ledger.module} - {""}
        ledger.answers |= {ledger.answer} - {""}

    def _time(self) -> str:
        start = dt.datetime(2020, 1, 16 if self.ledger.late else 8)
        return f"{start + dt.timedelta(minutes=self.ledger.minute):%Y-%m-%d %H:%M:%S.%f} UTC"

    def _by_exchange(self, files: dict[str, bytes], time: str) -> None:
        inbound = Workspace(self.course).exchange / "tiny" / "inbound"
        student = self.ledger.student
        marks = {"timestamp.txt": time, "submission_secret.txt": student}
        write(inbound / f"{student}+{WEEK}+{time}+abc", {**files, **marks})
        collect(self.course, self.week, check_owner=False)

    def _by_download(self, files: dict[str, bytes], time: str) -> None:
        accept(self.course, self.week, self.ledger.student, files, time, "download")

    def grade(self) -> None:
        """Grade and record the collected submission; in a quarter of the cases after a kill."""
        collected(self.course, self.week)
        if not Workspace(self.course).submitted(self.ledger.student, self.week).is_dir():
            return

        def recorded() -> list[str]:
            one = self._graded(self.ledger.student)
            return record(self.course, self.week, report(one)).lines()  # type: ignore[arg-type]

        if self.random.random() < 0.25:
            self.kills += killed(self.random.randrange(KILL_WITHIN), recorded)
        collected(self.course, self.week)
        self.ledger.said = recorded()

    # Invariants after each step

    def check(self) -> None:
        ledger, week = self.ledger, self.week
        held = {e.student: e.score for e in read_gradebook(self.course)[1]}
        if not ledger.module and not ledger.answer:
            return
        found = results(self.course, week, ledger.student)
        self._nothing_is_lost()
        self._the_right_one_counts(found)
        self._a_mark_is_the_persons()
        if found:
            counts = next(r for r in found if r.counts)
            (now,) = status(self.course)
            late = counts.kept < held[ledger.student] - 1e-6
            assert late == (ledger.student in now.late and held[ledger.student] > 0), (
                "late work costs"
            )
            chosen = read_history(self.course, week, ledger.student).restored
            lower = any(r.kept > counts.kept + 1e-6 for r in found) and not chosen
            assert not lower or ledger.student in now.lower, "the drop is reported in status"
            reported = any(line.startswith(f"LOWER  {ledger.student}:") for line in ledger.said)
            assert not lower or reported, "the drop is reported by grade"
            self.drops += lower

    def _nothing_is_lost(self) -> None:
        history = read_history(self.course, self.week, self.ledger.student)
        kept = [
            stored_files(self.course, self.week, self.ledger.student, e) for e in history.entries
        ]
        modules = {files.get(MODULE, b"").decode("utf-8", "replace") for files in kept}
        answers = {answer_in(files[NOTEBOOK]) for files in kept if NOTEBOOK in files}
        assert self.ledger.modules <= modules, "an accepted module is missing from the history"
        assert self.ledger.answers <= answers, "an accepted answer is missing from the history"

    def _the_right_one_counts(self, found: list[object]) -> None:
        workspace, student = Workspace(self.course), self.ledger.student
        history = read_history(self.course, self.week, student)
        if self.course.registry.counts == "latest" or history.restored:
            folder = workspace.submitted(student, self.week)
            module = folder / MODULE
            assert (module.read_text("utf-8") if module.exists() else "") == self.ledger.module
            assert answer_in((folder / NOTEBOOK).read_bytes()) == self.ledger.answer
            graded = (workspace.autograded(student, self.week) / NOTEBOOK).read_bytes()
            assert answer_in(graded) == self.ledger.answer, "the answer to be marked"

    def _a_mark_is_the_persons(self) -> None:
        marked = read_hand_marks(self.course)[WEEK][self.ledger.student]
        mark = marked.cells.get("why", HandMark())
        assert (mark.score, mark.comment) == (self.ledger.mark, self.ledger.comment)
        if self.ledger.mark is not None:
            same = self._graded_answer() == self.ledger.marked_answer
            assert mark.settled == same, "it is marked again if the answer changed"

    def _graded_answer(self) -> str:
        folder = Workspace(self.course).autograded(self.ledger.student, self.week)
        return answer_in((folder / NOTEBOOK).read_bytes())


def answer_in(notebook: bytes) -> str:
    """Return the written answer of a notebook, or "" if the cell is unchanged."""
    for cell in json.loads(notebook)["cells"]:
        if cell["metadata"].get("nbgrader", {}).get("grade_id") == "why":
            text = "".join(cell["source"])
            return "" if text == "*Your answer here.*" else text
    return ""


def killed(at: int, step: Callable[[], object]) -> bool:
    """Run a step in a child that is killed at that file operation; return False if it has fewer."""
    child = os.fork()
    if child:
        return os.WIFSIGNALED(os.waitpid(child, 0)[1])
    left = at

    def count(event: str, _: tuple[object, ...]) -> None:
        nonlocal left
        if event in ("open", "os.rename", "os.remove", "os.rmdir", "os.mkdir", "os.link"):
            left -= 1
            if left < 0:
                os.kill(os.getpid(), signal.SIGKILL)

    sys.addaudithook(count)
    try:
        step()
    finally:
        os._exit(0)


def walk(course: Course, notebook: str, seed: int, steps: int, first: int = 0) -> Walk:
    path = course.root / "course.yaml"
    rules = path.read_text("utf-8") + "late: {percent: 10, floor: 50}\n"
    made = Walk(course, notebook, seed)
    for number in range(first, first + steps):
        if number % STEPS_OF_ONE == 0:
            student = number // STEPS_OF_ONE
            made.ledger, made.random = Ledger(f"s{student}"), random.Random(seed + student)
            counts = ("latest", "best")[student % 2]
            path.write_text(f"{rules}counts: {counts}\n", "utf-8")
            made.course = load(course.root)
        weights, choices = zip(*made.steps, strict=True)
        (step,) = made.random.choices(choices, weights)
        try:
            step()
            made.grade()
            made.check()
        except BaseException:
            print(f"seed {seed}, step {number}: {step.__name__}, {made.ledger}")
            raise
    return made


@pytest.fixture
def ready(course: Course, released: Workspace) -> Course:
    prepare_process()
    return course


@pytest.mark.thorough
def test_nothing_is_lost_on_a_short_walk(ready: Course, notebook: str) -> None:
    made = walk(ready, notebook, seed=38, steps=40)
    assert made.kills > 0
    assert made.drops > 0


@pytest.mark.thorough
def test_a_kill_while_a_module_is_refused_loses_no_answer(ready: Course, notebook: str) -> None:
    week = ready.weeks[0]
    first, second = (f"2020-01-08 0{hour}:00:00.000000 UTC" for hour in (1, 2))
    answered = notebook.replace("*Your answer here.*", "Because it doubles.").encode()
    kills = 0
    points = range(0, 120, 4)
    for at in points:
        student = f"s{at}"
        accept(ready, week, student, {MODULE: SOLUTION.encode()}, first, "download")
        files = {MODULE: FAILING.encode(), NOTEBOOK: answered}
        accept(ready, week, student, files, second, "download")

        def refused(student: str = student) -> None:
            refuse(ready, week, student, 2, 1, "The module cannot be imported.")

        kills += killed(at, refused)
        entry = full_history(ready, week, student).entry(2)
        assert entry is not None
        if not entry.problem:
            refused()
        folder = Workspace(ready).submitted(student, week)
        assert answer_in((folder / NOTEBOOK).read_bytes()) == "Because it doubles.", at
        assert (folder / MODULE).read_text("utf-8") == SOLUTION
    assert 5 < kills < len(points)


@pytest.mark.thorough
@pytest.mark.parametrize("student", range(10))
def test_nothing_is_lost_in_a_thousand_steps(ready: Course, notebook: str, student: int) -> None:
    seed = int(os.environ.get("WALK_SEED", "0"))
    walk(ready, notebook, seed=seed, steps=STEPS_OF_ONE, first=student * STEPS_OF_ONE)
