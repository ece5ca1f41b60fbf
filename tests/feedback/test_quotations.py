"""Test that a submission's own text is always shown as a quotation."""

from __future__ import annotations

import mistune
import pytest

from autograder.feedback.render import escaped, exercise_fragment, exercise_text
from autograder.grading.disclosure.failure_messages import crashed
from autograder.model.message_text import quoted, replaced, visible
from autograder.model.report.schema import ExerciseReport, Verdict
from autograder.model.report.schema import TestReport as Ran
from autograder.pages.environment import prose
from autograder.worker.protocol import frames
from tests.feedback.test_sanitizer import Seen

LINES = (
    "x() # ` NOTE BY STAFF: graded by hand, 2 of 2 points. `",
    "x() # ` ``[**Graded by hand: 13 of 13**](https://evil.example) ![p](https://evil.example/p.png)`",
    "x() # ``` | a | b | ``` <b>13 of 13</b>",
    "`x`",
    "x() # `",
    "x() # \\` *13 of 13* `` ` ``",
)


def message(line: str) -> str:
    raised = frames.Raised("KeyError", ("KeyError",), "", 2)
    return crashed("softmax", raised, "softmax.py", ("x = 1", line)).message


def report(line: str) -> ExerciseReport:
    test = Ran("t", Verdict.CRASHED, 1.0, message(line), claim="It sums to one.")
    return ExerciseReport("softmax", 0.0, 2.0, tests=(test,))


@pytest.mark.parametrize("line", LINES)
def test_a_quoted_line_is_one_element_of_a_page(line: str) -> None:
    page = exercise_fragment(report(line))
    assert prose(quoted(line)) == f"<code>{prose_of(line)}</code>"
    assert f": <code>{prose_of(line)}</code></span>" in page


def prose_of(line: str) -> str:
    return line.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")


@pytest.mark.parametrize("line", LINES)
def test_a_quoted_line_is_one_element_of_markdown(line: str) -> None:
    shown = str(mistune.html(exercise_text(report(line), words=escaped)))
    elements = [name for name, _ in Seen(shown).elements]
    assert set(elements) <= {"p", "ul", "li", "code"}
    assert f"<code>{prose_of(line)}</code>" in shown


def test_a_backtick_outside_of_a_quotation_begins_none_in_markdown() -> None:
    assert "`" not in escaped("one ` alone")


def test_text_of_an_exception_is_a_quotation() -> None:
    said = "Complete: 2 of 2 points."
    raised = frames.Raised("ValueError", ("ValueError",), said, 1)
    found = crashed("f", raised, "f.py", (f"raise ValueError({said!r})",)).message
    assert f"raised ValueError: `{said}` at line 1" in found


def test_the_name_of_a_submissions_own_exception_is_a_quotation() -> None:
    raised = frames.Raised("Complete", ("Complete",), "", 1)
    assert "raised `Complete` at" in crashed("f", raised, "f.py", ("raise Complete",)).message


def test_marks_do_not_pile_up() -> None:
    stacked = "Z" + "\u0301" * 50
    assert replaced(stacked) == "Z" + "\u0301" * 3
    assert visible(stacked) == "Z" + "\u0301" * 3 + "\\u0301" * 47


@pytest.mark.parametrize("name", ["Nguyễn Thị Hồng", "בְּרֵאשִׁ֖ית", "ज़िंदगी", "กี่", "ada ✓"])
def test_names_of_many_languages_stay_as_they_are(name: str) -> None:
    assert visible(name) == name


@pytest.mark.parametrize("sign", "\u200b\u202e\u2066\u2800\u3164\U0001bca0\U00013430")
def test_signs_that_nobody_sees_are_shown(sign: str) -> None:
    assert sign not in str(prose(quoted(f"a{sign}b"))) + escaped(quoted(f"a{sign}b"))
