"""`check --json`, and the conversion of results to verdicts."""

from __future__ import annotations

import json
import typing

import pytest

from autograder.model.report.schema import Verdict
from autograder.student.checks.check_results import FailureKind
from autograder.student.show.verdict_json import VERDICTS, hidden_verdicts

from .conftest import SOLVED


def verdicts(done):
    return {e["name"]: e["verdict"] for e in json.loads(done.stdout)["exercises"]}


def test_only_one_object_is_printed(write, in_process):
    folder = write(SOLVED["double"], "def shout(text):\n    return text.upperr()")
    done = in_process("check", "--json", cwd=folder.path)
    found = json.loads(done.stdout)
    assert (done.returncode, done.stderr) == (1, "")
    assert (found["schema"], found["week"], found["tests"]) == (1, "week03_tiny", "public")
    assert verdicts(done) == {"double": "pass", "double_all": "unwritten", "shout": "crashed"}
    shout = found["exercises"][2]
    assert shout["line"] == 29
    assert shout["message"] == "AttributeError: 'str' object has no attribute 'upperr'"
    assert (shout["points"], shout["max_points"], shout["counterexample"]) == (None, 1, None)


def test_only_hints_that_were_shown_are_part_of_it(write, in_process):
    folder = write("def double(x):\n    return x")
    assert "hint" in in_process("check", "double", "--json", cwd=folder.path).stdout
    for hint in (None, "Think of a sum of two.", "There is a `helper`."):
        done = in_process("check", "double", "--json", cwd=folder.path)
        assert json.loads(done.stdout)["exercises"][0]["hint"] == hint
        in_process("hint", "double", cwd=folder.path)


def test_all_passing_exits_with_0(write, in_process):
    folder = write(*SOLVED.values())
    done = in_process("check", "--json", cwd=folder.path)
    assert done.returncode == 0
    assert set(verdicts(done).values()) == {"pass"}


def test_a_module_that_does_not_run_has_a_problem_and_refused_exercises(write, in_process):
    folder = write("def shout(")
    done = in_process("check", "--json", cwd=folder.path)
    assert done.returncode == 1
    assert json.loads(done.stdout)["problem"].startswith("tiny.py does not run: line 24")
    assert set(verdicts(done).values()) == {"refused"}


def test_what_cannot_run_prints_no_object(tmp_path, in_process):
    done = in_process("check", "--json", cwd=tmp_path)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.count("\n") == 1


def test_each_kind_of_failure_has_a_verdict():
    found = {VERDICTS.get(kind, kind) for kind in typing.get_args(FailureKind)}
    assert found | set(VERDICTS.values()) <= {verdict.value for verdict in Verdict}


@pytest.mark.parametrize(
    ("state", "cause", "verdict"),
    [
        ("complete", "", "pass"),
        ("carried", "", "pass"),
        ("open", "Not written yet", "unwritten"),
        ("wrong", "Forbidden call", "forbidden"),
        ("partly", "Fails", "wrong"),
        ("fault", "A system error, not your mistake", "grader_fault"),
        ("", "", None),
    ],
)
def test_a_services_result_gets_the_verdict_of_its_first_cause(state, cause, verdict):
    causes = [{"verdict": cause, "line": 7, "claims": ["Rows sum to 1."]}] if cause else []
    named = [{"title": "Divides by d.", "hint": "Which d?"}]
    exercise = {"name": "f", "points": 2.0, "score": None, "state": state, "causes": causes}
    exercise |= {"named": named, "where": "line 9 of a.py", "counterexample": None}
    (found,) = hidden_verdicts("week01", {"exercises": [exercise]}).exercises
    assert found.verdict == verdict
    assert (found.misconception, found.hint) == ("Divides by d.", "Which d?")
    assert found.line == (7 if cause else 9)
