"""Visible results contain no values of hidden tests."""

from __future__ import annotations

import msgspec
import pytest

from autograder.model.course import Immediate
from autograder.model.report.schema import (
    Counterexample,
    Deduction,
    Diagnosis,
    Ending,
    ExerciseReport,
    SubmissionReport,
    Suspect,
    Verdict,
)
from autograder.model.report.schema import (
    TestReport as Ran,
)
from autograder.serve.attempt_feedback import rationed, redact
from autograder.serve.views.view_models import exchange_page
from tests.nbgrader.tiny_course import SOLUTION

SECRET = "expected 3.25 at [0, 7], got 6.5"
LEVELS = ("nothing", "names", "verdicts", "scores")
OF_VALUES = [v for v in Verdict if v.reported and v not in (Verdict.FORBIDDEN, Verdict.UNWRITTEN)]


def graded(verdict: Verdict = Verdict.WRONG) -> SubmissionReport:
    test = Ran(
        "test_double.py::test_values[float16-cpu]", verdict, 1.0, SECRET, claim="Twice it.", line=7
    )
    holds = Ran("test_double.py::test_zero[cpu]", Verdict.PASS, 1.0, SECRET, claim="Zero.")
    double = ExerciseReport(
        "double",
        0.75,
        2.0,
        ("squares",),
        (test, holds),
        (
            Diagnosis(
                "squares", "Squares instead of doubling.", "QueuedSubmission 3 by hand.", 1, 1
            ),
        ),
        deductions=(Deduction("squares", 1.25),),
        suspects=(Suspect("doubling.py", 9, "double", "operator"),),
    )
    halve = ExerciseReport("halve", 1.0, 1.0, (), (holds,))
    return SubmissionReport("ada", Ending.GRADED, 1.75, 3.0, 0.1, "", (double, halve))


def said(report: SubmissionReport, week, show: str) -> str:
    return msgspec.json.encode(redact(report, week, Immediate(show=show))).decode()


@pytest.mark.parametrize("show", LEVELS)
@pytest.mark.parametrize("verdict", OF_VALUES)
def test_no_message_of_a_comparison_is_told(week, show, verdict):
    for part in (SECRET, "3.25", "[0, 7]"):
        assert part not in said(graded(verdict), week, show)


def test_names_tell_the_mistake_its_hint_and_its_line_and_nothing_else(week):
    (double, halve) = redact(graded(), week, Immediate(show="names")).exercises
    assert [(n.title, n.hint) for n in double.named] == [
        ("Squares instead of doubling.", "QueuedSubmission 3 by hand.")
    ]
    assert "line 9 of doubling.py" in double.where
    nothing = type(double)("halve", 1.0)
    assert halve == nothing
    assert (double.state, double.score, double.causes, double.passing) == ("", None, (), 0)


def test_names_do_not_tell_a_mistake_without_a_name_from_none(week):
    report = graded()
    unnamed = msgspec.structs.replace(report.exercises[0], explained=(), diagnosis=())
    exercises = (unnamed, *report.exercises[1:])
    report = msgspec.structs.replace(report, exercises=exercises)
    (double, halve) = redact(report, week, Immediate(show="names")).exercises
    assert double == msgspec.structs.replace(halve, name="double", points=2.0)


def test_verdicts_tell_what_was_asked_and_no_points(week):
    result = redact(graded(), week, Immediate(show="verdicts"))
    (double, halve) = result.exercises
    assert (double.state, halve.state) == ("partly", "complete")
    assert double.causes[0].claims == ("Twice it.",)
    assert (result.score, double.score) == (None, None)


def test_scores_tell_the_points_too(week):
    result = redact(graded(), week, Immediate(show="scores"))
    assert (result.score, [e.score for e in result.exercises]) == (1.75, [0.75, 1.0])


@pytest.mark.parametrize("show", LEVELS)
def test_of_what_is_held_nothing_is_told(week, show):
    held = redact(graded(), week, Immediate(show=show), withheld=True)
    assert (held.verdict, held.exercises, held.score) == ("held", (), None)


def test_a_fault_of_ours_says_nothing_of_the_machine(week):
    fault = SubmissionReport("ada", Ending.GRADER_FAULT, 0, 3, 0, "/srv/course is full")
    assert "/srv" not in said(fault, week, "scores")


def test_what_the_exchange_brings_back_is_bound_by_the_same(course, week, service):
    one, _ = service.submissions.submit(
        "<b>ada", week, {"doubling.py": SOLUTION.encode()}, "exchange"
    )
    service.queue.finish(one, graded(), 0.1)
    page = exchange_page(course, week, service.views.submission(service.queue.find(one.receipt)))
    assert "squares instead of doubling" in page
    assert SECRET not in page
    assert "<b>ada" not in page
    assert "<script" not in page


def test_of_an_error_pythons_own_name_is_told_and_nothing_else(week):
    report = graded()
    test = Ran("t[cpu]", Verdict.CRASHED, 1.0, "TypeError: hidden 3.25 in SecretError", claim="It.")
    double = msgspec.structs.replace(report.exercises[0], tests=(test,))
    report = msgspec.structs.replace(report, exercises=(double, report.exercises[1]))
    (double, _) = redact(report, week, Immediate()).exercises
    assert [c.message for c in double.causes] == ["TypeError"]


EXAMPLE = Counterexample("double(1)", "2", "1", 1, cell="print(double(1))")
OTHER = Counterexample("double(3)", "6", "9", 1)


def with_example(example: Counterexample | None) -> SubmissionReport:
    report = graded()
    double = msgspec.structs.replace(report.exercises[0], counterexample=example)
    return msgspec.structs.replace(report, exercises=(double, report.exercises[1]))


@pytest.mark.parametrize("show", ["names", "verdicts", "scores"])
def test_a_counterexample_is_shown_only_within_the_ration(week, show):
    report, policy = with_example(EXAMPLE), Immediate(show=show)
    (double, _) = redact(report, week, policy, examples={EXAMPLE}).exercises
    assert double.counterexample == EXAMPLE
    (double, _) = redact(report, week, policy, examples={OTHER}).exercises
    assert double.counterexample is None


def test_a_ration_counts_different_counterexamples_in_the_order_of_the_results():
    day = [with_example(e) for e in (EXAMPLE, None, EXAMPLE, OTHER)]
    assert rationed(day, 0) == frozenset()
    assert rationed(day, 1) == {EXAMPLE}
    assert rationed(day, 2) == {EXAMPLE, OTHER}


def test_the_same_call_is_not_counted_again_on_another_line():
    moved = msgspec.structs.replace(EXAMPLE, line=9, wrong_value="Line 9 computes this value.")
    assert rationed([with_example(EXAMPLE), with_example(moved)], 1) == {EXAMPLE, moved}
