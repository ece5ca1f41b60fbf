"""Build a lecturer's files: slides, lecture notes with numbered equations, and an exam.

Slides are written in exercises/<week>/slides.md, separated by lines of `---`; they show figures of
the lesson, and a block quote at the end of a slide is its source. The notes are the lessons without
outputs. Exam questions are described in `marking_guide`. The leak check examines every file but the
markers' copy of the exam.
"""

import itertools
import os
import re
import shutil
import subprocess
import tempfile
from collections.abc import Collection, Iterator, Sequence
from dataclasses import replace
from pathlib import Path

import msgspec
import nbformat
from markupsafe import Markup

from ..authoring.lesson.handout import figures_used, make_notebook, week_files
from ..authoring.lesson.leak_check import check_files, secrets_of
from ..authoring.lesson.marking_guide import MarkingGuide, exam_questions, secret_sentences
from ..authoring.lesson.syllabus import read_syllabus
from ..model.course import Course, Week
from ..model.course.registry import Question
from ..model.errors import BuildError
from ..pages.environment import environment
from ..pages.markdown import code_styles, markdown
from .build import LessonPart, math_font, parts_of, pictures_in, words_of

MARKERS = "exam/answers.html"  # the only file with model answers
_BREAK = re.compile(r"^---$", re.MULTILINE)
_FORMULA = re.compile(r'<div class="scroll formula".*?</math></div>', re.DOTALL)
_BROWSERS = ("chromium", "chromium-browser", "google-chrome")


def teaching_files(
    course: Course, weeks: Sequence[Week], chosen: Collection[str]
) -> dict[str, str]:
    """Return slides, notes and exam by file name; exam and slides only if the course has them.

    chosen: names of exam questions; if empty, the exam consists of all questions of the weeks
    Raise LeakError if a file shows a secret, and BuildError if a file contains a mistake.
    """
    files, lectures = dict[str, str](), []
    for week in weeks:
        public, secrets = week_files(course, week), secrets_of(course, week)
        path = course.exercise_folder(week) / "slides.md"
        if path.is_file():
            shown, text = str(path.relative_to(course.root)), path.read_text(encoding="utf-8")
            for name in figures_used(text):
                if f"figures/{name}" not in public:
                    raise BuildError(f"{shown}: the lesson has no figure {name}")
            slides = [markdown(slide, pictures_in(public)) for slide in _BREAK.split(text)]
            check_files({path.name: text.encode()}, secrets, str(path.parent))
            files[f"slides/{week.name}.html"] = _page("slides", course, week=week, slides=slides)
        notebook = nbformat.reads(public[f"{week.name}.ipynb"].decode(), as_version=4)
        parts = parts_of(notebook, week, public, {}, read_syllabus(course, week))
        lectures.append((week, list(_numbered(parts, int(week.name[4:6])))))
        text = words_of("\n".join(str(part.text) for part in lectures[-1][1]))
        check_files({"notes.html": text.encode()}, secrets, week.name)
    files["notes.html"] = _page("notes", course, lectures=lectures, highlighting=code_styles())
    return files | _exam(course, weeks, chosen)


def _page(template: str, course: Course, **values: object) -> str:
    page = environment("site").get_template(f"{template}.html.j2")
    return page.render(course=course, math_font=math_font(), **values)


def _numbered(parts: list[LessonPart], week: int) -> Iterator[LessonPart]:
    """Number the displayed equations of a week; each number is a link to its equation."""
    count = itertools.count(1)

    def numbered(found: re.Match[str]) -> str:
        name = f"{week}.{next(count)}"
        link = f'<a href="#equation-{name}">({name})</a>'
        return f'<div class="equation" id="equation-{name}">{found[0]}{link}</div>'

    for part in parts:  # the text was sanitized before
        yield replace(part, text=Markup(_FORMULA.sub(numbered, str(part.text))))


def _exam(course: Course, weeks: Sequence[Week], chosen: Collection[str]) -> dict[str, str]:
    """Return the exam as a page and a notebook for students, and a page for markers."""
    asked: dict[Question, MarkingGuide] = {}
    for week in weeks:
        for question, guide in exam_questions(course, week).items():
            if question.name in {q.name for q in asked}:
                raise BuildError(f"two exam questions have the name {question.name!r}: rename one")
            asked[question] = guide
    if unknown := set(chosen) - {q.name for q in asked}:
        raise BuildError(f"there is no exam question {min(unknown)!r} in these weeks")
    asked = {q: g for q, g in asked.items() if not chosen or q.name in chosen}
    if not asked:
        return {}
    marks = "\n\n".join(
        f"## Question {number} ({question.points:g} points)\n\n{guide.prompt}\n\n"
        f"<!-- answer: {question.name} -->"
        for number, (question, guide) in enumerate(asked.items(), start=1)
    )
    questions = tuple(asked)
    exam = msgspec.structs.replace(weeks[0], name="exam", exercises=(), questions=questions)
    students = {
        "exam/exam.ipynb": nbformat.writes(make_notebook(marks, exam, "the exam"), version=4),
        "exam/exam.html": _page("exam", course, asked=asked, markers=False, markdown=markdown),
    }
    prompts = "\n".join(s for guide in asked.values() for s in secret_sentences(guide.prompt))
    for week in weeks:
        secrets = secrets_of(course, week, prompts)
        check_files({n: words_of(t).encode() for n, t in students.items()}, secrets, "teach")
    marked = _page("exam", course, asked=asked, markers=True, markdown=markdown)
    return students | {MARKERS: marked}


def print_to_pdf(pages: Sequence[Path]) -> str:
    """Print each page to a PDF file next to it; return the reason if this is not possible."""
    browser = next(filter(None, map(shutil.which, _BROWSERS)), None)
    if browser is None:
        return f"no PDF files: install Chromium ({', '.join(_BROWSERS)}), or print the pages"
    root = ["--no-sandbox"] if os.geteuid() == 0 else []  # Chromium's sandbox refuses root
    for page in pages:
        target = page.with_suffix(".pdf")
        with tempfile.TemporaryDirectory() as profile:
            options = [f"--user-data-dir={profile}", "--headless", "--disable-gpu", *root]
            options += ["--no-pdf-header-footer", f"--print-to-pdf={target.resolve()}"]
            command = [browser, *options, page.resolve().as_uri()]
            try:
                subprocess.run(command, capture_output=True, check=True, timeout=300)
            except (subprocess.SubprocessError, OSError) as error:
                return f"{target} could not be printed: {error}"
    return ""
