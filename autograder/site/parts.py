"""Run a week's lesson with the solution, and convert it into the parts of its page."""

from __future__ import annotations

import base64
import hashlib
import html
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import nbformat
from markupsafe import Markup

from ..authoring.lesson.syllabus import Effort, WeekSyllabus
from ..authoring.verify.public_files import cell_problems, run_lesson
from ..files.atomic import replace_file
from ..files.secret import feed
from ..model.course import Course, Week
from ..model.errors import BuildError
from ..pages.markdown import Pictures, code, embedded, markdown
from ..version import __version__


def executed_lesson(course: Course, week: Week, files: dict[str, bytes]) -> Any:
    """Return the notebook among the week's files with its outputs.

    Raises BuildError if a cell fails.
    """
    cached = course.state / "site" / f"{week.name}-{_digest(course, week, files)}.ipynb"
    if cached.is_file():
        return nbformat.read(cached, as_version=4)
    notebook = run_lesson(course, week, files)
    if complaint := next(cell_problems(notebook), None):
        raise BuildError(f"{week.name}: its lesson fails: {complaint}")
    cached.parent.mkdir(parents=True, exist_ok=True)
    for old in cached.parent.glob(f"{week.name}-*.ipynb"):
        old.unlink()
    replace_file(cached, nbformat.writes(notebook, version=4).encode(), 0o600)
    return notebook


def _digest(course: Course, week: Week, files: dict[str, bytes]) -> str:
    """Hash the week's files, its solution and the kit's version, but not the libraries."""
    digest = hashlib.blake2b(__version__.encode(), digest_size=12)
    feed(digest, course.solution(week).read_bytes())
    for name in sorted(files):
        feed(digest, name.encode())
        feed(digest, files[name])
    return digest.hexdigest()


_KINDS = {"png": "image/png", "svg": "image/svg+xml"}
_FRAME = re.compile(r'<iframe title="([^"]*)" srcdoc="([^"]*)" style="[^"]*height: (\d+)px')
_NO_TEXT = Markup()
_SCROLLING = {
    '<math display="block"': '<math tabindex="0" display="block"',
    "<table>": '<div class="scroll" tabindex="0"><table>',
    "</table>": "</table></div>",
}
_COLOURS = re.compile(r"\x1b\[[0-9;]*m")


@dataclass(frozen=True)
class Frame:
    """An interactive page, in a separate file."""

    name: str
    title: str
    height: int
    page: str


@dataclass(frozen=True)
class LessonPart:
    """A part of a lesson's page: text, code with its outputs, an exercise, or a question."""

    kind: str  # text, code, exercise or question
    text: Markup = _NO_TEXT
    outputs: tuple[Markup | Frame, ...] = ()
    name: str = ""
    points: float = 0.0
    elective: bool = False
    effort: Effort | None = None
    hints: tuple[Markup, ...] = ()


def parts_of(
    notebook: Any,
    week: Week,
    files: Mapping[str, bytes],
    hints: Mapping[str, tuple[str, ...]],
    syllabus: WeekSyllabus | None,
) -> list[LessonPart]:
    """Split a lesson into parts; `files`: the week's, by the addresses used in the lesson."""

    def picture(address: str) -> str | None:
        content, kind = files.get(address), _KINDS.get(address.rpartition(".")[2], "")
        return embedded(kind, base64.b64encode(content).decode()) if content else None

    found: list[LessonPart] = []
    frames = 0
    for cell in notebook.cells:
        name = cell.metadata.get("nbgrader", {}).get("grade_id", "")
        effort = syllabus.efforts(name) if syllabus and name else None
        if name and cell.cell_type == "code":
            task = week.exercise(name)
            stages = tuple(markdown(stage) for stage in hints.get(name, ()))
            part = LessonPart(
                "exercise", _NO_TEXT, (), name, task.points, task.elective, effort, stages
            )
            found.append(part)
        elif name:
            points = next(q.points for q in week.questions if q.name == name)
            found.append(LessonPart("question", name=name, points=points, effort=effort))
        elif cell.cell_type == "markdown":
            found.append(LessonPart("text", _prose(cell.source, picture)))
        elif cell.source.strip():
            shown = tuple(_rendered(cell.outputs, frames))
            frames += sum(isinstance(one, Frame) for one in shown)
            found.append(LessonPart("code", code(cell.source), shown))
    return found


def _rendered(outputs: list[Any], frames: int) -> Iterator[Markup | Frame]:
    """Yield a cell's outputs: framed pages, pictures and text, but not standard error.

    frames: number of framed pages in the cells before.
    """
    for output in outputs:
        data = output.get("data", {})
        frame = _FRAME.match("".join(data.get("text/html", "")))
        if output.output_type == "stream":
            if output.name == "stdout":
                yield _typed(output.text)
        elif frame:
            frames += 1
            title, page, height = html.unescape(frame[1]), html.unescape(frame[2]), int(frame[3])
            yield Frame(f"explore-{frames}.html", title, height, page)
        elif address := embedded("image/png", data.get("image/png")):
            alt = "The plot drawn by the code above; the text describes it."
            yield Markup('<img src="{}" alt="{}">').format(address, alt)
        elif "text/plain" in data:
            yield _typed("".join(data["text/plain"]))


def _typed(text: str) -> Markup:
    """Show printed text; wide text can be scrolled, also with the keyboard."""
    return Markup('<pre tabindex="0">{}</pre>').format(_COLOURS.sub("", text))


def _prose(text: str, picture: Pictures) -> Markup:
    """Render Markdown whose wide formulas and tables can be scrolled, also with the keyboard."""
    shown = str(markdown(text, picture))
    for before, after in _SCROLLING.items():
        shown = shown.replace(before, after)
    return Markup(shown)  # the sanitizer's output, with fixed attributes
