"""Parse and check the marking guides for written questions, in solutions/<week>/answers.md.

The file contains a section for each question:

    ## name_of_the_question

    ### Model answer

    Any Markdown.

    ### Rubric

    - **0.5** the achievement that earns these points

    ### Typical wrong answers

    - An answer that students give.

      > The comment to write on it.

`verify` checks that each question in course.yaml has a section, and that its rubric adds up to the
question's points. Formgrader shows the section below the student's answer. The sentences of this
file are secret until `release --solutions` publishes them.

Exam questions, in solutions/exam/<week>.md, have the same format with the points in the heading,
`## name (3 points)`, and one more part, `### Question`. These files are always secret.
"""

import re
from collections.abc import Iterator
from pathlib import Path

import msgspec

from ...model.course import Course, Week
from ...model.course.registry import Question
from ...model.errors import BuildError

FILE = "answers.md"
_PARTS = ("Model answer", "Rubric", "Typical wrong answers", "Question")
_EXAM_HEADING = re.compile(r"([a-z]\w*) \((\d+(?:\.\d+)?) points?\)")
_SECTION = re.compile(r"^## (.+)$", re.MULTILINE)
_PART = re.compile(r"^### (.+)$", re.MULTILINE)
_ITEM = re.compile(r"^- ", re.MULTILINE)
_EARNS = re.compile(r"\*\*(\d+(?:\.\d+)?)\*\*\s+(?=\S)")
_MARK = re.compile(r"^(?:[#> \t-]|\d+\. |\*\*[\d.]+\*\* )*", re.MULTILINE)
_SENTENCE = re.compile(r"(?<=[.!?:;])\s")
# Matches code blocks, in which lines that start with `#` are not headings.
_CODE = re.compile(r"^```.*?^```$", re.MULTILINE | re.DOTALL)


class RubricLine(msgspec.Struct, frozen=True):
    """A line of a rubric: points, and the achievement that earns the points, in Markdown."""

    points: float
    earned_by: str


class WrongAnswer(msgspec.Struct, frozen=True):
    """A typical wrong answer and the comment to write on it, in Markdown."""

    answer: str
    comment: str


class MarkingGuide(msgspec.Struct, frozen=True):
    """The section of answers.md about one written question."""

    question: str
    model_answer: str
    rubric: tuple[RubricLine, ...]
    wrong_answers: tuple[WrongAnswer, ...]
    prompt: str = ""  # the text of an exam question

    @property
    def points(self) -> float:
        return sum(line.points for line in self.rubric)


def answers_path(course: Course, week: Week) -> Path:
    return course.solution_folder(week) / FILE


def answers_text(course: Course, week: Week) -> str:
    """Return the text of a week's answers.md, or "" if there is no such file."""
    return _text(answers_path(course, week))


def exam_path(course: Course, week: Week) -> Path:
    return course.root / "solutions" / "exam" / f"{week.name}.md"


def exam_questions(course: Course, week: Week) -> dict[Question, MarkingGuide]:
    """Return a week's exam questions with their guides; raise BuildError if one has a mistake."""
    path, found = exam_path(course, week), dict[Question, MarkingGuide]()
    for heading, guide in parse_guides(_text(path)).items():
        named = _EXAM_HEADING.fullmatch(heading)
        question = Question(named[1], float(named[2])) if named else Question(heading, 0)
        problems = [] if named else ["write the heading as `## name (3 points)`"]
        problems += [] if guide.prompt else ["the part `### Question` is missing"]
        for problem in (*problems, *_problems(guide, question)):
            raise BuildError(f"{path.relative_to(course.root)}: {question.name}: {problem}")
        found[question] = guide
    return found


def marking_guides(course: Course, week: Week) -> dict[str, MarkingGuide]:
    """Return the marking guides of a week by question."""
    return parse_guides(answers_text(course, week))


def parse_guides(text: str) -> dict[str, MarkingGuide]:
    """Return the marking guides in a text by question. Missing parts of a guide are empty."""
    text = _CODE.sub(lambda found: re.sub("^#", "\0#", found[0], flags=re.MULTILINE), text)
    sections = _split(_SECTION, text)
    return {name: _guide(name, body) for name, body in sections.items()}


def answers_problems(course: Course, week: Week) -> Iterator[str]:
    """Yield the mistakes in a week's answers.md, for `verify`."""
    if not week.questions:
        return
    path = answers_path(course, week)
    shown = path.relative_to(course.root)
    if not path.is_file():
        yield f"{shown} is missing: write how to mark the questions"
        return
    guides = marking_guides(course, week)
    for name in guides.keys() - {q.name for q in week.questions}:
        yield f"{shown}: {week.name} has no question {name!r}"
    for question in week.questions:
        guide = guides.get(question.name)
        if guide is None:
            yield f"{shown}: the section `## {question.name}` is missing"
        else:
            yield from (f"{shown}: {question.name}: {p}" for p in _problems(guide, question))


def secret_sentences(text: str) -> Iterator[str]:
    """Yield every sentence or list item, without Markdown markup at the start of lines."""
    for paragraph in re.split(r"\n\s*\n|\n(?=- )", text):
        yield from _SENTENCE.split(_MARK.sub("", paragraph))


def _split(heading: re.Pattern[str], text: str) -> dict[str, str]:
    """Map each heading to the text below it; ignore the text before the first heading."""
    _, *parts = heading.split(text)
    return {t.strip(): body for t, body in zip(parts[::2], parts[1::2], strict=True)}


def _guide(name: str, body: str) -> MarkingGuide:
    parts = _split(_PART, body)
    texts = (parts.get(title, "").replace("\0", "").strip() for title in _PARTS)
    answer, rubric, wrong, prompt = texts
    return MarkingGuide(name, answer, tuple(_lines(rubric)), tuple(_wrong(wrong)), prompt)


def _text(path: Path) -> str:
    return path.read_text(encoding="utf-8") if path.is_file() else ""


def _items(text: str) -> list[str]:
    return [item.strip() for item in _ITEM.split(text)[1:]]


def _lines(text: str) -> Iterator[RubricLine]:
    for item in _items(text):
        found = _EARNS.match(item)
        points, text = (float(found[1]), item[found.end() :]) if found else (0.0, item)
        yield RubricLine(points, _joined(text))


def _wrong(text: str) -> Iterator[WrongAnswer]:
    for item in _items(text):
        lines = [line.strip() for line in item.split("\n")]
        said = [line for line in lines if not line.startswith(">")]
        comment = [line.lstrip("> ") for line in lines if line.startswith(">")]
        yield WrongAnswer(_joined("\n".join(said)), _joined("\n".join(comment)))


def _joined(text: str) -> str:
    return " ".join(text.split())


def _problems(guide: MarkingGuide, question: Question) -> Iterator[str]:
    if not guide.model_answer:
        yield "there is no model answer"
    for line in guide.rubric:
        if not line.points:
            yield f"start this line of the rubric with points, **0.5**: {line.earned_by!r}"
    if abs(guide.points - question.points) > 1e-9:
        yield f"the rubric adds up to {guide.points:g} points instead of {question.points:g}"
    if not guide.wrong_answers:
        yield "there is no typical wrong answer"
    for wrong in guide.wrong_answers:
        if not wrong.comment:
            yield f"the answer {wrong.answer!r} has no comment: add a line `> …`"
