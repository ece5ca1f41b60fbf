"""Build a lecturer's files: slides, lecture notes with numbered equations, and an exam.

Slides are written in exercises/<week>/slides.md, separated by lines of `---`; they show figures of
the lesson, and a block quote at the end of a slide is its source. The notes are the lessons without
outputs. `marking_guide` describes exam questions. The leak check skips only the markers' files.
"""

import os
import re
import shutil
import subprocess
import tempfile
from collections.abc import Collection, Sequence
from pathlib import Path

import msgspec
import nbformat

from ..authoring.lesson.handout import figures_used, lesson_notebook, make_notebook, week_files
from ..authoring.lesson.leak_check import check_files, secrets_of
from ..authoring.lesson.marking_guide import exam_questions, secret_sentences
from ..model.course import Course, Week
from ..model.errors import BuildError
from ..pages.environment import environment
from ..pages.markdown import code_styles, markdown
from .build import math_font, parts_of, pictures_in, words_of

_BREAK = re.compile(r"^---$", re.MULTILINE)
_BROWSERS = ("chromium", "chromium-browser", "google-chrome")


def lecture_files(course: Course, weeks: Sequence[Week]) -> dict[str, str]:
    """Return the notes, and slides of the weeks that have them; raise LeakError or BuildError."""
    files, lectures = dict[str, str](), []
    for week in weeks:
        path, public = course.exercise_folder(week) / "slides.md", week_files(course, week)
        text = path.read_text(encoding="utf-8") if path.is_file() else ""
        for name in figures_used(text):
            if f"figures/{name}" not in public:
                raise BuildError(
                    f"{path.relative_to(course.root)}: the lesson has no figure {name}"
                )
        check_files(public | {path.name: text.encode()}, secrets_of(course, week), week.name)
        slides = [markdown(slide, pictures_in(public)) for slide in _BREAK.split(text)]
        if text:
            files[f"slides/{week.name}.html"] = _page("slides", course, slides=slides)
        lectures.append((week, parts_of(lesson_notebook(course, week), week, public, {}, None)))
    page = _page("notes", course, lectures=lectures, highlighting=code_styles())
    return files | {"notes.html": page}


def exam_files(course: Course, weeks: Sequence[Week], chosen: Collection[str]) -> dict[str, str]:
    """Return the exam as a page and a notebook, and a page for markers; {} without questions.

    chosen: names of questions; if empty, all questions of the weeks
    """
    asked = [item for week in weeks for item in exam_questions(course, week).items()]
    if unknown := set(chosen) - {question.name for question, _ in asked}:
        raise BuildError(f"these weeks have no exam question {min(unknown)!r}")
    asked = [(q, guide) for q, guide in asked if not chosen or q.name in chosen]
    if not asked:
        return {}
    text = "\n\n".join(
        f"## Question {number} ({q.points:g} points)\n\n{guide.prompt}\n\n<!-- answer: {q.name} -->"
        for number, (q, guide) in enumerate(asked, start=1)
    )
    exam = msgspec.structs.replace(weeks[0], exercises=(), questions=tuple(q for q, _ in asked))
    notebook = nbformat.writes(make_notebook(text, exam, "the exam"), version=4)
    page, marked = (_page("exam", course, asked=asked, markers=m) for m in (False, True))
    prompts = "\n".join(s for _, guide in asked for s in secret_sentences(guide.prompt))
    public = {"exam.ipynb": notebook.encode(), "exam.html": words_of(page).encode()}
    for week in weeks:
        check_files(public, secrets_of(course, week, prompts), "exam")
    return {"exam/exam.ipynb": notebook, "exam/exam.html": page, "exam/answers.html": marked}


def _page(template: str, course: Course, **values: object) -> str:
    values |= {"course": course, "math_font": math_font(), "markdown": markdown}
    return environment("site").get_template(f"{template}.html.j2").render(values)


def print_to_pdf(pages: Sequence[Path]) -> str:
    """Print each page to a PDF file next to it; return the reason if this is not possible."""
    browser = next(filter(None, map(shutil.which, _BROWSERS)), None)
    if browser is None:
        return f"no PDF files: install Chromium ({', '.join(_BROWSERS)}), or print the pages"
    root = ["--no-sandbox"] if os.geteuid() == 0 else []  # Chromium's sandbox refuses root
    options = ["--headless", "--disable-gpu", "--no-pdf-header-footer", *root]
    for page in pages:
        target = page.with_suffix(".pdf").resolve()
        with tempfile.TemporaryDirectory() as profile:
            folders = [f"--user-data-dir={profile}", f"--print-to-pdf={target}"]
            command = [browser, *options, *folders, page.resolve().as_uri()]
            done = subprocess.run(command, capture_output=True, check=False)
        if done.returncode or not target.is_file():
            return f"{target}: Chromium could not print it (exit code {done.returncode})"
        target.chmod(page.stat().st_mode)
    return ""
