"""Test that verdicts decide whether a test failed, whether it counts, and its description."""

import ast
import json
import re
from collections.abc import Iterator

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
from tests.imports import ROOT

# The meaning of these verdicts is unique: full marks, an untouched stub, and a system error.
UNIQUE = {"PASS", "UNWRITTEN", "GRADER_FAULT"}
COLLECTIONS = (ast.Compare, ast.Dict, ast.List, ast.Set, ast.Tuple)


def test_every_verdict_has_words():
    assert all(v.words for v in Verdict)


def test_what_fails_counts():
    assert all(v.counted for v in Verdict if v.failed)


def test_our_own_fault_is_told_and_does_not_count():
    assert Verdict.GRADER_FAULT.reported
    assert not Verdict.GRADER_FAULT.counted


def test_unwritten_fails():
    assert Verdict.UNWRITTEN.failed


def named_verdicts(source: str) -> Iterator[str]:
    """Yield the members of Verdict, and their values, in comparisons and collections."""
    for node in ast.walk(ast.parse(source)):
        for part in ast.iter_child_nodes(node) if isinstance(node, COLLECTIONS) else ():
            if isinstance(part, ast.Attribute) and ast.unparse(part.value) == "Verdict":
                yield part.attr
        if isinstance(node, ast.Compare) and "verdict" in ast.unparse(node):
            texts = {n.value for n in ast.walk(node) if isinstance(n, ast.Constant)}
            yield from texts & {*Verdict} - {*Ending}


@pytest.mark.parametrize("folder", ["autograder", "benchmarks"])
def test_code_uses_the_attributes_of_verdicts(folder):
    named = {p.stem: {*named_verdicts(p.read_text("utf-8"))} for p in (ROOT / folder).rglob("*.py")}
    assert {module: names for module, names in named.items() if names - UNIQUE} == {}


def test_templates_compare_only_the_endings_of_submissions():
    texts = [p.read_text(encoding="utf-8") for p in (ROOT / "autograder").rglob("*.j2")]
    named = {name for text in texts for name in re.findall(r'verdict [!=]= "(\w+)"', text)}
    assert named - {"held"} <= {*Ending}


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


@pytest.mark.parametrize("schema", [0, 4])
def test_a_report_of_an_unknown_schema_is_refused(schema):
    other = json.loads(to_json(_report())) | {"schema": schema}
    with pytest.raises(msgspec.DecodeError, match=f"schema {schema}: this kit reads schemas 1 to"):
        from_json(json.dumps(other))


def test_a_stub_in_a_report_of_schema_1_is_unwritten():
    report = _report(
        Hidden("test_softmax.py::test_x[cpu]", Verdict.CRASHED, 1.0, "is not filled in yet"),
        Hidden("test_softmax.py::test_y[cpu]", Verdict.CRASHED, 1.0, "TypeError"),
    )
    old = from_json(json.dumps(json.loads(to_json(report)) | {"schema": 1}))
    tests = old.submissions[0].exercises[0].tests
    assert [t.verdict for t in tests] == [Verdict.UNWRITTEN, Verdict.CRASHED]
