"""The class report: its numbers, its page, its command."""

from __future__ import annotations

import io
import re
import shutil
from collections.abc import Sequence
from html.parser import HTMLParser
from pathlib import Path

import msgspec
import pytest

from autograder.classreport.analysis import point_biserial, summarize
from autograder.classreport.page import course_page, read_reports, week_page
from autograder.cli.instructor.grading import print_scores
from autograder.model.course import Course, load
from autograder.model.course.bank import Bank
from autograder.model.errors import KitError
from autograder.model.report.schema import (
    Counterexample,
    Diagnosis,
    Ending,
    ExerciseReport,
    Report,
    SubmissionReport,
    Verdict,
    to_json,
)
from autograder.model.report.schema import TestReport as HiddenTest
from autograder.terminal.console import Terminal

TINY = Path(__file__).resolve().parents[1] / "golden" / "course"
EVIL = '<script>alert("x")</script>'
WHY = "no CUDA device here"


def hidden_test(name: str, verdict: Verdict, claim: str = "") -> HiddenTest:
    message = {"not_run": WHY, "wrong": "wrong"}.get(verdict, "")
    return HiddenTest(name, Verdict(verdict), 1.0, message, False, claim)


def submission(
    name: str, any_axis: bool, rest: int, said: str = "Ignores dim."
) -> SubmissionReport:
    """weigh with two tests on two axes, Scale with three of which `rest` pass."""
    weigh = (
        hidden_test("test_weigh.py::test_values[cpu]", "pass"),
        hidden_test("test_weigh.py::test_values[cuda]", "not_run"),
        hidden_test("test_weigh.py::test_any_axis[float32]", "pass"),
        hidden_test("test_weigh.py::test_any_axis[float64]", "pass" if any_axis else "wrong", said),
    )
    scale = tuple(
        hidden_test(f"test_Scale.py::test_{n}", "pass" if n < rest else "wrong") for n in range(3)
    )
    diagnosis = () if any_axis else ("ignores_dim",)
    explained = () if any_axis else (Diagnosis("ignores_dim", said, "Follow `dim`."),)
    first = ExerciseReport("weigh", 3.0 if any_axis else 2.0, 3.0, diagnosis, weigh, explained)
    second = ExerciseReport("Scale", 2.0 * rest / 3, 2.0, (), scale)
    score = first.score + second.score
    return SubmissionReport(name, Ending.GRADED, score, 5.0, 0.1, "", (first, second))


def report_of(*submissions: SubmissionReport) -> Report:
    return Report("week01_tiny", ("cpu",), submissions)


@pytest.fixture
def course() -> Course:
    return load(TINY)


@pytest.fixture
def a_class() -> Report:
    """The strong students pass test_any_axis, the weak do not; one is refused, one has a fault."""
    pupils = [submission(f"strong{n}", True, 3) for n in range(5)]
    pupils += [submission(f"weak{n}", False, n % 2) for n in range(4)]
    refused = SubmissionReport("tardy", Ending.REFUSED, 0.0, 5.0, 0.0, "It is empty.")
    fault = SubmissionReport("lost", Ending.GRADER_FAULT, 0.0, 5.0, 0.0, "Our fault.")
    return report_of(*pupils, refused, fault)


def page(course: Course, report: Report, names: bool = False) -> str:
    return week_page(course, summarize(course.weeks[0], report), names=names)


def test_a_test_passes_where_it_passes_on_every_axis_that_was_run(course: Course, a_class: Report):
    weigh = summarize(course.weeks[0], a_class).exercises[0]
    assert [(i.name, i.passed, i.ran) for i in weigh.items] == [
        ("test_weigh.py::test_values", 9, 9),
        ("test_weigh.py::test_any_axis", 5, 9),
    ]


def test_only_graded_submissions_make_the_mean(course: Course, a_class: Report):
    summary = summarize(course.weeks[0], a_class)
    expected = (5 * 1.0 + 2 * 2 / 5 + 2 * (2 + 2 / 3) / 5) / 9
    assert summary.mean == pytest.approx(expected)
    assert (len(summary.refused), len(summary.faults)) == (1, 1)


def test_a_test_that_the_strong_pass_and_the_weak_fail_tells_them_apart(
    course: Course, a_class: Report
):
    item = summarize(course.weeks[0], a_class).exercises[0].items[1]
    assert item.discrimination is not None
    assert item.discrimination > 0.9
    assert item.words == "well"


def test_a_test_that_everybody_passes_has_no_discrimination(course: Course, a_class: Report):
    item = summarize(course.weeks[0], a_class).exercises[0].items[0]
    assert (item.discrimination, item.words) == (None, "all pass")


@pytest.mark.parametrize(
    ("good", "scores", "expected"),
    [
        ([1, 1, 1, 1, 0, 0, 0, 0], [1, 1, 1, 1, 0, 0, 0, 0], 1.0),
        ([0, 0, 0, 0, 1, 1, 1, 1], [1, 1, 1, 1, 0, 0, 0, 0], -1.0),
        ([1, 0, 1, 0, 1, 0, 1, 0], [1, 1, 0, 0, 1, 1, 0, 0], 0.0),
        # numpy.corrcoef([1, 1, 1, 0, 1, 0, 0, 0], [9, 7, 8, 6, 5, 4, 2, 1])[0, 1]
        ([1, 1, 1, 0, 1, 0, 0, 0], [9, 7, 8, 6, 5, 4, 2, 1], 0.7593264),
        ([1, 1, 1, 1, 1, 1, 1, 1], [1, 2, 3, 4, 5, 6, 7, 8], None),
        ([1, 0, 1, 0, 1, 0, 1, 0], [3, 3, 3, 3, 3, 3, 3, 3], None),
        ([1, 0], [1, 0], None),
    ],
)
def test_discrimination_is_the_point_biserial_correlation(
    good: Sequence[int], scores: Sequence[float], expected: float | None
):
    found = point_biserial([(bool(g), float(s)) for g, s in zip(good, scores, strict=True)])
    assert found == (None if expected is None else pytest.approx(expected, abs=1e-6))


def test_misconceptions_are_counted_by_student_with_their_hint(course: Course, a_class: Report):
    (mistake,) = summarize(course.weeks[0], a_class).mistakes
    assert (mistake.title, mistake.hint) == ("Ignores dim.", "Follow `dim`.")
    assert mistake.students == ("weak0", "weak1", "weak2", "weak3")


def test_the_bank_tells_what_is_believed_and_what_it_looks_like(course: Course, a_class: Report):
    week = course.weeks[0]
    assert "Misconception:" not in week_page(course, summarize(week, a_class), names=False)
    told = summarize(week, a_class, bank=Bank(course, week).misconceptions)
    shown = week_page(course, told, names=False)
    assert "weights always belong to the last axis" in shown
    assert "other axes do not sum to 1" in shown


def test_what_was_not_run_is_said_with_its_reason(course: Course, a_class: Report):
    assert summarize(course.weeks[0], a_class).not_run == {WHY: 1}
    assert WHY in page(course, a_class)


def test_students_are_named_only_where_asked_for(course: Course, a_class: Report):
    anonymous, named = page(course, a_class), page(course, a_class, names=True)
    for name in ("strong0", "weak3", "tardy", "lost"):
        assert not re.search(rf"\b{name}\b", anonymous)
        assert re.search(rf"\b{name}\b", named)


def test_everything_that_a_student_wrote_is_escaped(course: Course):
    shown = page(course, report_of(submission(EVIL, False, 1, said=EVIL)), names=True)
    assert "<script" not in shown
    assert shown.count("&lt;script&gt;") >= 3


def test_an_attempt_is_shown_with_what_was_tried_where_names_are_asked_for(course: Course):
    sly = msgspec.structs.replace(submission("sly", True, 3), attempts=("kill", "ptrace"))
    one = "<strong>1</strong> looks like an attempt to get around the grading"
    anonymous, named = (page(course, report_of(sly), names) for names in (False, True))
    assert one in anonymous
    assert not re.search(r"\bsly\b|ptrace", anonymous)
    assert "<bdi>sly</bdi> (kill, ptrace)" in named


def test_an_attempt_by_a_name_that_nobody_could_read_is_shown_in_signs(course: Course):
    evil = f"eve\u202e\x1b[2J{EVIL}"
    sly = msgspec.structs.replace(submission(evil, True, 3), attempts=(evil,))
    shown = page(course, report_of(sly), names=True)
    assert not re.search("[\u202e\x1b]|<script", shown)


def test_a_name_makes_no_line_about_an_attempt_of_another(course: Course):
    out = io.StringIO()
    name = "eve\nATTEMPT  ada looks like one\x1b[2J"
    sly = msgspec.structs.replace(submission(name, True, 3), attempts=("kill\x9b",))
    print_scores(Terminal(file=out, width=200), report_of(sly))
    lines = [line for line in out.getvalue().splitlines() if line.startswith("ATTEMPT")]
    shown = "eve\\x0aATTEMPT  ada looks like one\\x1b[2J"
    assert lines == [f"ATTEMPT  {shown} looks like an attempt to get around the grading: kill\\x9b"]


class _Loads(HTMLParser):
    """Collects the URLs that a page would load."""

    def __init__(self) -> None:
        super().__init__()
        self.found: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        for name, value in attrs:
            if name in ("src", "href", "xlink:href") and not (value or "").startswith("#"):
                self.found.append(f"{tag} {name}={value}")


@pytest.mark.parametrize("names", [True, False])
def test_the_pages_load_nothing(course: Course, a_class: Report, names: bool):
    summary = summarize(course.weeks[0], a_class)
    for shown in (page(course, a_class, names), course_page(course, [summary], names=names)):
        loads = _Loads()
        loads.feed(shown)
        assert loads.found == []
        assert "default-src 'none'" in shown
        assert "url(http" not in shown


def test_students_are_counted_by_tenths_of_the_points(course: Course, a_class: Report):
    summary = summarize(course.weeks[0], a_class)
    assert summary.histogram == [0, 0, 0, 0, 2, 2, 0, 0, 0, 5]


def test_a_class_of_nobody_has_a_page(course: Course):
    assert "No known misconception" in page(course, report_of())


def test_two_reports_of_a_week_are_joined(course: Course, tmp_path: Path):
    for number, one in enumerate(("ada", "bob")):
        (tmp_path / f"{number}.json").write_bytes(to_json(report_of(submission(one, True, 3))))
    found = read_reports(course, [tmp_path / "0.json", tmp_path / "1.json"])
    assert [s.name for s in found["week01_tiny"].submissions] == ["ada", "bob"]


def test_a_file_that_is_no_report_is_named(course: Course, tmp_path: Path):
    (tmp_path / "x.json").write_text("[]")
    with pytest.raises(KitError, match=r"x\.json: not a report of `autograder grade --json`"):
        read_reports(course, [tmp_path / "x.json"])


def test_the_command_writes_the_page_of_a_week_and_of_the_course(
    a_class: Report, tmp_path: Path, in_process
):
    (tmp_path / "r.json").write_bytes(to_json(a_class))
    for week in (["week01_tiny"], []):
        out = tmp_path / f"out{len(week)}.html"
        done = in_process("report", *week, "--from", tmp_path / "r.json", "--out", out, cwd=TINY)
        assert done.returncode == 0, done.stderr
        assert "9 graded, 1 refused" in done.stdout
        assert out.read_text().startswith("<!doctype html>")


def test_the_command_takes_what_stands_behind_the_gradebook(
    a_class: Report, tmp_path: Path, in_process
):
    root = Path(shutil.copytree(TINY, tmp_path / "tiny"))
    folder = root / ".autograder" / "recorded" / "week01_tiny"
    folder.mkdir(parents=True)
    for one in a_class.submissions:
        (folder / f"{one.name}.json").write_bytes(msgspec.json.encode(one))
    done = in_process("report", "1", cwd=root)
    assert (done.returncode, (root / "report-week01_tiny.html").is_file()) == (0, True)


def test_without_results_the_command_says_what_to_do(tmp_path: Path, in_process):
    root = Path(shutil.copytree(TINY, tmp_path / "tiny", ignore=shutil.ignore_patterns(".auto*")))
    done = in_process("report", "1", cwd=root)
    assert done.returncode == 2
    assert "`autograder grade` on a week first" in done.stderr


def with_example(name: str, call: str, actual: str) -> SubmissionReport:
    report = submission(name, any_axis=False, rest=3)
    example = Counterexample(call, "[1]", actual, 1)
    weigh = msgspec.structs.replace(report.exercises[0], counterexample=example)
    return msgspec.structs.replace(report, exercises=(weigh, report.exercises[1]))


def test_students_are_grouped_by_counterexample(course):
    class_of_three = report_of(
        with_example("ada", "weigh([1000.])", "[nan]"),
        with_example("ben", "weigh([0.])", "[0]"),
        with_example("cem", "weigh([1000.])", "[inf]"),
    )
    summary = summarize(course.weeks[0], class_of_three)
    assert [(e.call, e.students) for e in summary.examples] == [
        ("weigh([1000.])", ("ada", "cem")),
        ("weigh([0.])", ("ben",)),
    ]
    page = week_page(course, summary, names=True)
    assert "2 students fail" in page
    assert "weigh([1000.])" in page
