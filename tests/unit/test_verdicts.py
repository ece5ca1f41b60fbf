"""Test that verdicts decide whether a test failed, whether it counts, and its description."""

import json

import msgspec
import pytest

from autograder.model.report.schema import (
    Ending,
    ExerciseReport,
    Report,
    SubmissionReport,
    Verdict,
    from_json,
    to_json,
)
from autograder.model.report.schema import TestReport as Hidden


def test_every_verdict_has_words():
    assert all(v.words for v in Verdict)


def test_what_fails_counts():
    assert all(v.counted for v in Verdict if v.failed)


def test_our_own_fault_is_told_and_does_not_count():
    assert Verdict.GRADER_FAULT.reported
    assert not Verdict.GRADER_FAULT.counted


def test_unwritten_fails():
    assert Verdict.UNWRITTEN.failed


@pytest.mark.parametrize(
    ("verdicts", "unwritten"),
    [
        (["unwritten", "unwritten", "not_run"], True),
        (["unwritten", "pass"], False),
        (["not_run"], False),
        ([], False),
    ],
)
def test_an_exercise_is_unwritten_where_all_that_ran_is(verdicts, unwritten):
    tests = tuple(Hidden(f"t{n}", Verdict(v), 1.0) for n, v in enumerate(verdicts))
    assert ExerciseReport("softmax", 0.0, 1.0, tests=tests).unwritten is unwritten


def _report(*tests: Hidden) -> Report:
    exercise = ExerciseReport("softmax", 0.0, 2.0, tests=tests)
    submission = SubmissionReport("ada", Ending.GRADED, 0.0, 2.0, 0.1, exercises=(exercise,))
    return Report("week01_softmax", ("cpu",), (submission,))


def test_a_report_is_read_back_as_it_was_written():
    report = _report(Hidden("test_softmax.py::test_x[cpu]", Verdict.WRONG, 1.0, line=3))
    assert from_json(to_json(report)) == report


@pytest.mark.parametrize("schema", [1, 3])
def test_a_report_of_a_different_schema_is_refused(schema):
    other = json.loads(to_json(_report())) | {"schema": schema}
    with pytest.raises(msgspec.DecodeError, match=f"schema {schema}: this kit reads schema 2"):
        from_json(json.dumps(other))
