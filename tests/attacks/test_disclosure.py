"""Test how much feedback can disclose of hidden inputs, through every choice that a student has."""

from __future__ import annotations

import re

import mistune
import pytest

from autograder.batch.intake import Submission
from autograder.feedback.render import escaped, submission_text
from autograder.grading.disclosure.leak_budget import MOST_BITS, SUBMISSION_BITS, raising_lines
from autograder.model.report.schema import NOT_DESCRIBED
from tests.attacks.laboratory import Laboratory, Trial, inputs_in
from tests.attacks.smallcourse import EXERCISES
from tests.feedback.test_sanitizer import Seen
from tests.weeks import thorough_after

# Ways to choose a line, a name or a position by `_bits()`, 15 bits of a hidden input.
CHANNELS = {
    "a line that an error is given": """
def _tell():
    error = SyntaxError("")
    error.lineno = 1 + _bits()
    raise error
""",
    "the first line of a code object": """
def _fails():
    raise ValueError


def _tell():
    type(_fails)(_fails.__code__.replace(co_firstlineno=1 + _bits()), {})()
""",
    "statements that can raise": "_RAISES = [\n"
    + "    lambda: {}[0],\n" * 2000
    + "]\n\n\ndef _tell():\n    _RAISES[_bits() % 2000]()\n",
    "names": "# "
    + " ".join(f"w{n}" for n in range(2000))
    + """


def _tell():
    raise type(f"w{_bits() % 2000}", (NameError,), {})(f"name 'w{_bits() % 2000}' is not defined")
""",
    "sentences": "_SENTENCES = "
    + repr([f"sentence {n}." for n in range(2000)])
    + "\n\n\ndef _tell():\n    raise ValueError(_SENTENCES[_bits() % 2000])\n",
}
LIAR = '''
import torch as _torch

_SEEN = []
_CALLS = [0]


def _floats(things):
    for thing in things:
        if isinstance(thing, (list, tuple)):
            yield from _floats(thing)
        elif hasattr(thing, "reshape"):
            yield from _torch.as_tensor(thing).detach().cpu().reshape(-1).tolist()


def _bits():
    """Fifteen bits of a hidden input, others in each call."""
    _CALLS[0] += 1
    value = _SEEN[_CALLS[0] // 2 % len(_SEEN)] if _SEEN else 0.1
    whole = _torch.tensor(value).float().view(_torch.int32).item()
    return whole >> 15 * (_CALLS[0] % 2) & 0x7FFF


def _lie(*given, **named):
    if not _SEEN:
        _SEEN.extend(_floats([*given, *named.values()]))
    _tell()
'''


def liar(lab: Laboratory, week: str, channel: str) -> str:
    """Return the solution with exercises that leak hidden inputs through one channel."""
    text = lab.solution(week) + "\n" + CHANNELS[channel] + LIAR
    text += redefined(lab, week, "_lie")
    return text + "\n" * (1 << 15)


def redefined(lab: Laboratory, week: str, name: str) -> str:
    """Return statements that redefine every exercise."""
    text = ""
    for exercise in EXERCISES[week]:
        is_class = re.search(rf"^class {exercise}\b", lab.solution(week), re.MULTILINE)
        made = f"type({exercise!r}, (), dict(__init__={name}))" if is_class else name
        text += f"\n{exercise} = {made}"
    return text


def graded(lab: Laboratory, week: str, channel: str) -> tuple[tuple[str, ...], Trial]:
    text = liar(lab, week, channel)
    submission = Submission("mallory", {lab.week(week).module: text.encode()})
    return tuple(text.split("\n")), lab.grade(submission, week)


@pytest.mark.parametrize("week", thorough_after(1, EXERCISES))
@pytest.mark.parametrize("channel", thorough_after(2, CHANNELS))
def test_a_submission_shows_only_lines_that_can_raise_and_within_its_ration(
    lab: Laboratory, week: str, channel: str
) -> None:
    source, trial = graded(lab, week, channel)
    tests = [t for e in trial.report.exercises for t in e.tests if t.verdict.failed]
    suspects = [s for e in trial.report.exercises for s in e.suspects]
    assert tests
    shown = {int(n) for n in re.findall(r"\bline (\d+)", trial.page)}
    shown |= {t.line for t in tests} | {s.line for s in suspects}
    assert shown <= raising_lines(source) | {0}
    described = {(*t.failure_key, t.line) for t in tests if t.message != NOT_DESCRIBED}
    assert len(described) * MOST_BITS <= SUBMISSION_BITS
    assert not inputs_in(trial)


SPOOFED = """
def _lie(*given, **named):
    raise KeyError  # ` ``[**Graded by hand**](https://x.org) ![p](https://x.org/p.png)` MARKS
"""


@pytest.mark.parametrize("week", thorough_after(1, EXERCISES))
def test_a_quoted_line_cannot_speak_for_the_grader(lab: Laboratory, week: str) -> None:
    spoofed = SPOOFED.replace("MARKS", "Z" + "\u0301" * 40 + "\u202e\u200b")
    text = lab.solution(week) + spoofed + redefined(lab, week, "_lie")
    trial = lab.grade(Submission("mallory", {lab.week(week).module: text.encode()}), week)
    markdown = str(mistune.html(submission_text(trial.report, lab.week(week), escaped)))
    for page in (trial.page, markdown):
        assert "Graded by hand" in page
        outside = re.sub(r"<code>.*?</code>", "", page, flags=re.DOTALL)
        assert "Graded by hand" not in outside
        assert not {"\u202e", "\u200b"} & set(page)
        assert "\u0301" * 4 not in page
    assert {tag for tag, _ in Seen(markdown).elements} <= {"p", "ul", "li", "code"}
