"""Test that a quota of bits limits how many choices of a submission a report reveals."""

from __future__ import annotations

from traceback import walk_tb

import msgspec
import pytest

from autograder.grading.disclosure.leak_budget import (
    MOST_BITS,
    SUBMISSION_BITS,
    limit_disclosure,
    raising_lines,
)
from autograder.model.report.schema import (
    NOT_DESCRIBED,
    Deduction,
    Diagnosis,
    Ending,
    ExerciseReport,
    SubmissionReport,
    Suspect,
    Verdict,
)
from autograder.model.report.schema import TestReport as Ran

SOURCE = tuple(f"a{n} = b{n}" for n in range(1000))


def report(*exercises: ExerciseReport) -> SubmissionReport:
    return SubmissionReport("ada", Ending.GRADED, 0.0, 3.0, 0.1, "", exercises)


def exercise(*messages: str, name: str = "softmax", **found: object) -> ExerciseReport:
    tests = tuple(Ran(f"t{n}", Verdict.CRASHED, 1.0, m, line=9) for n, m in enumerate(messages))
    return msgspec.structs.replace(ExerciseReport(name, 0.0, 2.0, tests=tests), **found)


def described(found: SubmissionReport) -> set[str]:
    return {t.message for e in found.exercises for t in e.tests} - {NOT_DESCRIBED, ""}


def word(number: int) -> str:
    return "".join("abcdefghij"[int(d)] for d in f"{number:04}")


def test_a_report_with_a_few_messages_is_shown_as_it_is() -> None:
    places = (Suspect("softmax.py", 7, "softmax", "operator"),)
    one = exercise(*["the same"] * 40, *["another"] * 3, suspects=places)
    assert limit_disclosure(report(one), SOURCE) == report(one)


def test_messages_beyond_the_ration_are_not_described() -> None:
    exercises = [exercise(*map(word, range(n, n + 20)), name=word(n)) for n in range(0, 200, 20)]
    found = limit_disclosure(report(*exercises), SOURCE)
    assert len(described(found)) * MOST_BITS <= SUBMISSION_BITS
    rest = [t for e in found.exercises for t in e.tests if t.message == NOT_DESCRIBED]
    assert {(t.verdict, t.line) for t in rest} == {(Verdict.WRONG, 0)}


def test_every_exercise_has_its_first_message_before_any_has_a_second() -> None:
    exercises = [exercise(*map(word, range(n, n + 20)), name=word(n)) for n in range(0, 200, 20)]
    found = limit_disclosure(report(*exercises), SOURCE)
    assert all(e.tests[0].message != NOT_DESCRIBED for e in found.exercises)


def test_the_first_message_is_that_of_the_headline() -> None:
    exercises = [
        exercise(*map(word, range(n, n + 20)), name=word(n), headline="t7")
        for n in range(0, 200, 20)
    ]
    found = limit_disclosure(report(*exercises), SOURCE)
    assert all(e.tests[7].message != NOT_DESCRIBED for e in found.exercises)


def test_an_exercise_that_fails_in_one_way_is_described_beside_one_that_fails_in_many() -> None:
    many = exercise(*(word(n) for n in range(60)))
    one = exercise(*["not filled in"] * 40, name="logsumexp")
    found = limit_disclosure(report(many, one), SOURCE)
    assert found.exercises[1] == one


def test_an_unwritten_exercise_takes_little_of_the_budget_of_the_others() -> None:
    """The line of a stub determines its message, so 14 stubs leave enough for two mistakes."""
    stubs = [
        msgspec.structs.replace(
            exercise(name=word(n)),
            tests=(Ran("t", Verdict.UNWRITTEN, 1.0, f"`{word(n)}` is not filled in yet", line=n),),
        )
        for n in range(14)
    ]
    mistakes = [exercise(word(n), name=word(n)) for n in (20, 21)]
    many = exercise(*map(word, range(30, 60)))
    found = limit_disclosure(report(many, *stubs), SOURCE)
    assert found.exercises[1:] == tuple(stubs)
    assert limit_disclosure(report(*stubs, *mistakes), SOURCE) == report(*stubs, *mistakes)


def test_a_line_that_stops_every_exercise_is_described_in_all_of_them() -> None:
    exercises = [exercise(*[f"`{word(n)}` raised KeyError"] * 9, name=word(n)) for n in range(40)]
    assert limit_disclosure(report(*exercises), SOURCE) == report(*exercises)


def test_numbers_of_a_message_are_paid_for_in_every_exercise() -> None:
    exercises = [exercise(f"`{word(n)}` has size {n}", name=word(n)) for n in range(40)]
    found = limit_disclosure(report(*exercises), SOURCE)
    assert len(described(found)) * MOST_BITS <= SUBMISSION_BITS


def test_a_choice_among_messages_is_paid_for_each_time() -> None:
    """Use two distinguishable messages in a thousand tests: they cost a thousand bits."""
    messages = [word(n * 7919 // 64 % 2) for n in range(2000)]
    found = limit_disclosure(report(exercise(*messages)), SOURCE)
    count = sum(t.message != NOT_DESCRIBED for t in found.exercises[0].tests)
    assert count < SUBMISSION_BITS + 50


def test_lines_that_are_suspected_are_paid_from_the_same_ration() -> None:
    places = tuple(Suspect("softmax.py", n, "softmax", "operator") for n in range(1, 200))
    (found,) = limit_disclosure(report(exercise("x", suspects=places)), SOURCE).exercises
    assert 0 < len(found.suspects) < SUBMISSION_BITS / 10


def test_misconceptions_are_paid_from_the_same_ration_and_cost_what_they_cost() -> None:
    names = [word(n) for n in range(100)]
    found = exercise(
        "x",
        diagnosis=tuple(names),
        explained=tuple(Diagnosis(n, n, "", 1, 1) for n in names),
        deductions=tuple(Deduction(n, 0.1) for n in names),
    )
    (shown,) = limit_disclosure(report(found), SOURCE).exercises
    assert len(shown.explained) < SUBMISSION_BITS / 8
    assert shown.diagnosis == tuple(d.name for d in shown.explained)
    assert {d.name for d in shown.deductions} == {*shown.diagnosis, "another mistake"}
    assert [d.points for d in shown.deductions] == [0.1] * 100


def test_a_call_that_is_not_allowed_is_described_first() -> None:
    one = exercise(*map(word, range(40)))
    tests = (*one.tests, Ran("last", Verdict.FORBIDDEN, 1.0, "Write it without `softmax`."))
    (found,) = limit_disclosure(report(msgspec.structs.replace(one, tests=tests)), SOURCE).exercises
    assert found.tests[-1] == tests[-1]


def lines(text: str) -> frozenset[int]:
    return raising_lines(tuple(text.split("\n")))


def test_lines_that_can_raise_are_those_with_an_expression_or_a_statement() -> None:
    text = 'def f(x):\n    """Docs."""\n\n    # why\n    pass\n    return (x\n        .sum())\n'
    assert lines(text) == {1, 6, 7}


def test_of_a_list_of_numbers_only_the_first_line_can_raise() -> None:
    assert lines("a = [\n    1,\n    2,\n]\n") == {1}


def test_a_file_that_python_cannot_parse_has_the_line_that_the_parser_names() -> None:
    assert lines("a = 1\nb = (\n") == {2}


RAISING = (
    "a = 1\nb = (a\n     + c)",
    "a = [\n    1,\n    b,\n]",
    "'a'.upper(\n).lower(\n).nothing()",
    "('a'\n .upper()\n .index(\n     'b'))",
    "a, b = (\n    1,\n)",
    "for a in (\n    5\n):\n    pass",
    "with open(\n    'nowhere'\n) as a:\n    pass",
    "def f(\n    a=b,\n): ...",
    "@(\n    a\n)\ndef f(): ...",
    "class A(\n    B\n): ...",
    "assert (\n    1 ==\n    2\n)",
    "{\n    'a': 1,\n}[\n    'b'\n]",
    "import nothing_of_this_name",
    "raise (\n    ValueError\n)",
    "found = [\n    1 / n\n    for n in (0,)\n]",
    "del a",
)


@pytest.mark.parametrize("text", RAISING)
def test_the_line_of_an_honest_error_is_kept(text: str) -> None:
    with pytest.raises(Exception) as caught:  # noqa: PT011
        exec(compile(text, "student", "exec"), {})
    at = [line for frame, line in walk_tb(caught.tb) if frame.f_code.co_filename == "student"]
    assert at[-1] in lines(text)
