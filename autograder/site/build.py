"""Build the students' site: an index and a page for each released week."""

import base64
import datetime as dt
import html
import os
import platform
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cache
from importlib.metadata import version
from importlib.resources import files as resources
from itertools import zip_longest
from pathlib import Path
from typing import Any

import msgspec
import nbformat
from markupsafe import Markup

from ..authoring.lesson.handout import week_files
from ..authoring.lesson.leak_check import check_files, secrets_of
from ..authoring.lesson.syllabus import (
    Effort,
    WeekSyllabus,
    read_syllabus,
    rough_hours,
    total_minutes,
)
from ..authoring.verify.public_files import cell_problems, imported_modules, run_lesson
from ..batch.store import content_hash
from ..files import replace_file, replace_folder
from ..model.course import Course, Week
from ..model.errors import BuildError
from ..model.submission_files import Files
from ..pages.environment import environment
from ..pages.markdown import Pictures, code, code_styles, embedded, markdown
from ..student.folder.lessons import parse_hints
from ..version import __version__
from .course_map import course_overview
from .search_index import search_page

_MARK = ".autograder-site"
_KINDS = {"png": "image/png", "svg": "image/svg+xml"}
_FRAME = re.compile(r'<iframe title="([^"]*)" srcdoc="([^"]*)" style="[^"]*height: (\d+)px')
_NO_TEXT = Markup()
_SCROLLING = {
    r'(<math display="block".*?</math>)': r'<div class="scroll formula" tabindex="0">\1</div>',
    r"(<table>.*?</table>)": r'<div class="scroll" tabindex="0">\1</div>',
    r"<pre>": '<pre tabindex="0">',
}
_SECTION = re.compile(r"<(h[23])>(.*?)</\1>", re.DOTALL)
_FIGURE_FIRST = re.compile(r"\s*!\[[^\]]*\]\(figures/")
_COLOURS = re.compile(r"\x1b\[[0-9;]*m")


class BuiltSite(msgspec.Struct, frozen=True):
    """The site's folder, the weeks on it, and the weeks that are not released yet."""

    folder: Path
    weeks: list[str]
    waiting: list[str]


def build_site(
    course: Course,
    folder: Path,
    *,
    now: dt.datetime,
    on_week: Callable[[str], None] = lambda _: None,
) -> BuiltSite:
    """Build the site in `folder`, replacing a previous one.

    now: weeks released by this time are built
    on_week: called with the name of each week before the week is built

    Raise LeakError if a page shows a secret, and BuildError if the folder contains other files or a
    lesson fails. No page is written in these cases.
    """
    _require_site_folder(folder)
    released = [w for w in course.weeks if course.localized(w.release) <= now]
    entries = [(w, course.localized(w.due), read_syllabus(course, w)) for w in released]
    template = environment("site").get_template("index.html.j2")
    pages = {"index.html": template.render(course=course, weeks=entries)}
    if released:
        due = [w for w in released if course.localized(w.due) <= now]
        overview = course_overview(course, released, "{}/index.html", due)
        template = environment("site").get_template("overview_page.html.j2")
        pages["syllabus.html"] = template.render(course=course, overview=overview)
    for week in released:
        on_week(week.name)
        files = week_files(course, week)
        notebook = executed_lesson(course, week, files)
        pages |= week_pages(course, week, files, notebook, released)
    if released:
        lessons = {week: pages[f"{week.name}/index.html"] for week in released}
        pages["search.html"] = search_page(course, lessons)
    replace_folder(folder, {_MARK: b""} | {name: text.encode() for name, text in pages.items()})
    waiting = [w.name for w in course.weeks if w not in released]
    return BuiltSite(folder, [w.name for w in released], waiting)


def week_pages(
    course: Course, week: Week, files: Files, notebook: Any, released: Sequence[Week] = ()
) -> dict[str, str]:
    """Return a week's pages by file name; raise LeakError if a page shows a secret.

    files: the week's released files. notebook: the week's lesson with outputs. released: the weeks
    that the page may link to, in order.
    """
    secrets = secrets_of(course, week)
    ran = {f"{week.name}.ipynb": nbformat.writes(notebook, version=4).encode()}
    check_files(ran, secrets, "site")
    syllabus = read_syllabus(course, week)
    parts = parts_of(notebook, week, files, parse_hints(files["hints.md"].decode()), syllabus)
    template = environment("site").get_template("week.html.j2")
    page = template.render(
        course=course,
        week=week,
        parts=parts,
        syllabus=syllabus,
        hours=rough_hours(total_minutes(week, syllabus)) if syllabus else "",
        due=course.localized(week.due),
        highlighting=code_styles(),
        recorded=notebook.metadata.get("recorded", ""),
        math_font=math_font(),
        released=released,
    )
    frames = [shown for part in parts for shown in part.outputs if isinstance(shown, Frame)]
    pages = {f"{week.name}/index.html": page}
    pages |= {f"{week.name}/{frame.name}": frame.page for frame in frames}
    check_files({name: words_of(text).encode() for name, text in pages.items()}, secrets, "site")
    return pages


def words_of(page: str) -> str:
    """Return the text of a page without markup."""
    return html.unescape(re.sub(r"<[^>]*>", "", page))


def _require_site_folder(folder: Path) -> None:
    empty = folder.is_dir() and not any(folder.iterdir())
    if folder.exists() and not empty and not (folder / _MARK).is_file():
        raise BuildError(f"{folder} contains files that are not a site: use a different --out")


def executed_lesson(course: Course, week: Week, files: dict[str, bytes]) -> Any:
    """Return the week's notebook with outputs, from the cache if its inputs are unchanged.

    Raise BuildError if a cell fails or prints to standard error.
    """
    inputs = files | imported_modules(course, week, files)
    inputs[""] = course.solution(week).read_bytes()
    digest = content_hash(inputs, __version__.encode())  # library versions are ignored
    cached = course.state / "site" / f"{week.name}-{digest}.ipynb"
    if cached.is_file():
        return nbformat.read(cached, as_version=4)
    notebook = run_lesson(course, week, files)
    notebook.metadata["recorded"] = _machine(week)
    if complaint := next(cell_problems(notebook), None):
        raise BuildError(f"{week.name}: its lesson fails: {complaint}")
    cached.parent.mkdir(parents=True, exist_ok=True)
    for old in cached.parent.glob(f"{week.name}-*.ipynb"):
        old.unlink()
    replace_file(cached, nbformat.writes(notebook, version=4).encode(), 0o600)
    return notebook


def _machine(week: Week) -> str:
    """Describe the date, libraries and machine of a lesson's run, whose output contains timings."""
    versions = [
        f"Python {platform.python_version()}",
        *(f"{n} {version(n)}" for n in week.libraries),
    ]
    return (
        f"{dt.datetime.now(dt.UTC):%d %B %Y} with {', '.join(versions)}, "
        f"on a machine with {os.cpu_count()} processors ({platform.machine()})"
    )


@cache
def math_font() -> Markup:
    """Return the math font as a data: URL: browsers need one to stretch parentheses."""
    data = (resources(__package__) / "templates" / "math.woff2").read_bytes()
    return Markup("data:font/woff2;base64,{}").format(base64.b64encode(data).decode())


class Frame(msgspec.Struct, frozen=True):
    """An interactive page that is stored in a separate file."""

    name: str
    title: str
    height: int
    page: str


class LessonPart(msgspec.Struct, frozen=True):
    """A part of a lesson's page: text, code with its outputs, an exercise, or a question."""

    kind: str  # text, code, exercise or question
    text: Markup = _NO_TEXT
    outputs: tuple[Markup | Frame, ...] = ()
    name: str = ""
    points: float = 0.0
    elective: bool = False
    effort: Effort | None = None
    hints: tuple[Markup, ...] = ()
    sections: tuple[tuple[str, str, Markup], ...] = ()


def pictures_in(files: Mapping[str, bytes]) -> Pictures:
    """Return a function from the address of a figure in `files` to a data: URL."""

    def picture(address: str) -> str | None:
        content, kind = files.get(address), _KINDS.get(address.rpartition(".")[2], "")
        return embedded(kind, base64.b64encode(content).decode()) if content else None

    return picture


def parts_of(
    notebook: Any,
    week: Week,
    files: Files,
    hints: Mapping[str, tuple[str, ...]],
    syllabus: WeekSyllabus | None,
) -> list[LessonPart]:
    """Split a lesson into parts. `files`: the week's files by the address used in the lesson."""
    picture = pictures_in(files)
    found: list[LessonPart] = []
    frames = 0
    for cell, following in zip_longest(notebook.cells, notebook.cells[1:]):
        name = cell.metadata.get("nbgrader", {}).get("grade_id", "")
        effort = {**syllabus.exercises, **syllabus.questions}.get(name) if syllabus else None
        if name and cell.cell_type == "code":
            task = week.exercise(name)
            stages = tuple(markdown(stage) for stage in hints.get(name, ()))
            facts = name, task.points, task.elective, effort, stages
            found.append(LessonPart("exercise", _NO_TEXT, (), *facts))
        elif name:
            points = next(q.points for q in week.questions if q.name == name)
            found.append(LessonPart("question", name=name, points=points, effort=effort))
        elif cell.cell_type == "markdown":
            text, sections = _with_anchors(_scrolling(markdown(cell.source, picture)), len(found))
            found.append(LessonPart("text", text, sections=sections))
        elif cell.source.strip():
            # the figure of the lesson follows, with a text alternative
            drawn = following is not None and _FIGURE_FIRST.match(following.source)
            shown = tuple(_rendered(cell.outputs, frames, plots=not drawn))
            frames += sum(isinstance(one, Frame) for one in shown)
            found.append(LessonPart("code", _scrolling(code(cell.source)), shown))
    return found


def _with_anchors(text: Markup, number: int) -> tuple[Markup, tuple[tuple[str, str, Markup], ...]]:
    """Give headings an id; return the text, and the level, id and title of each heading."""
    sections: list[tuple[str, str, Markup]] = []

    def anchored(heading: re.Match[str]) -> str:
        level, title = heading.groups()
        anchor = f"section-{number}-{len(sections) + 1}"
        sections.append((level, anchor, Markup(title)))  # sanitized
        return f'<{level} id="{anchor}">{title}</{level}>'

    return Markup(_SECTION.sub(anchored, str(text))), tuple(sections)  # sanitized before


def _rendered(outputs: list[Any], frames: int, *, plots: bool = True) -> Iterator[Markup | Frame]:
    """Yield a cell's outputs: framed pages, pictures and text, but not standard error.

    frames: number of framed pages in earlier cells. plots: whether to show pictures.
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
            if not plots:
                continue
            alt = "The plot drawn by the code above; the text describes it."
            yield Markup('<img src="{}" alt="{}">').format(address, alt)
        elif "text/plain" in data:
            yield _typed("".join(data["text/plain"]))


def _typed(text: str) -> Markup:
    """Render printed text without colours; wide text can be scrolled with the keyboard too."""
    return Markup('<pre tabindex="0">{}</pre>').format(_COLOURS.sub("", text))


def _scrolling(rendered: Markup) -> Markup:
    """Make wide formulas, tables and code scroll with the keyboard too."""
    shown = str(rendered)
    for pattern, replacement in _SCROLLING.items():
        shown = re.sub(pattern, replacement, shown, flags=re.DOTALL)
    return Markup(shown)  # safe: sanitized, then fixed markup added
