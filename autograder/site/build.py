"""Build the students' site: an index, and a page for each released week."""

from __future__ import annotations

import datetime as dt
import html
import re
import shutil
import tempfile
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import nbformat

from ..authoring.lesson.handout import week_files
from ..authoring.lesson.leak_check import check_files, secrets_of
from ..authoring.lesson.syllabus import read_syllabus, rough_hours, total_minutes
from ..model.course import Course, Week
from ..model.errors import BuildError
from ..pages.environment import environment
from ..pages.markdown import code_styles
from ..student.show.hints import parse_hints
from .parts import Frame, executed_lesson, parts_of

_MARK = ".autograder-site"


@dataclass(frozen=True)
class BuiltSite:
    """The site's folder, the weeks on it, and the weeks that are not released yet."""

    folder: Path
    weeks: list[str]
    waiting: list[str]


def build_site(
    course: Course,
    folder: Path,
    *,
    now: dt.datetime | None = None,
    on_week: Callable[[str], None] = lambda _: None,
) -> BuiltSite:
    """Build the site in `folder`, replacing a previous one.

    now: the date to build it for. on_week: called with the name of each week.
    Raises LeakError before a page is written, and BuildError if the folder contains other files or
    a lesson fails.
    """
    now = now or dt.datetime.now(dt.UTC)
    _require_site_folder(folder)
    released = [w for w in course.weeks if course.localized(w.release) <= now]
    pages = {"index.html": _index(course, released)}
    for week in released:
        on_week(week.name)
        files = week_files(course, week)
        pages |= week_pages(course, week, files, executed_lesson(course, week, files))
    _write(folder, pages)
    waiting = [w.name for w in course.weeks if w not in released]
    return BuiltSite(folder, [w.name for w in released], waiting)


def week_pages(
    course: Course, week: Week, files: Mapping[str, bytes], notebook: Any
) -> dict[str, str]:
    """Return a week's pages by file name; raise LeakError if one shows a secret.

    files: the week's released files. notebook: its lesson with outputs.
    """
    secrets = secrets_of(course, week)
    ran = {f"{week.name}.ipynb": nbformat.writes(notebook, version=4).encode()}
    check_files(ran, secrets, "site")
    syllabus = read_syllabus(course, week)
    parts = parts_of(notebook, week, files, parse_hints(files["hints.md"].decode()), syllabus)
    page = (
        environment("site")
        .get_template("week.html.j2")
        .render(
            course=course,
            week=week,
            parts=parts,
            syllabus=syllabus,
            hours=rough_hours(total_minutes(week, syllabus)) if syllabus else "",
            due=course.localized(week.due),
            highlighting=code_styles(),
        )
    )
    frames = [shown for part in parts for shown in part.outputs if isinstance(shown, Frame)]
    pages = {f"{week.name}/index.html": page}
    pages |= {f"{week.name}/{frame.name}": frame.page for frame in frames}
    check_files({name: words_of(text).encode() for name, text in pages.items()}, secrets, "site")
    return pages


def words_of(page: str) -> str:
    """Return the text of a page without markup."""
    return html.unescape(re.sub(r"<[^>]*>", "", page))


def _index(course: Course, weeks: list[Week]) -> str:
    entries = [(week, course.localized(week.due)) for week in weeks]
    return environment("site").get_template("index.html.j2").render(course=course, weeks=entries)


def _require_site_folder(folder: Path) -> None:
    empty = folder.is_dir() and not any(folder.iterdir())
    if folder.exists() and not empty and not (folder / _MARK).is_file():
        raise BuildError(
            f"{folder} contains files that are not a site: name a different folder with --out"
        )


def _write(folder: Path, pages: Mapping[str, str]) -> None:
    """Replace the folder by these pages once all of them are written."""
    folder.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=folder.parent, prefix=".site-") as place:
        fresh = Path(place) / folder.name
        for name, text in {**pages, _MARK: ""}.items():
            path = fresh / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, encoding="utf-8")
        shutil.rmtree(folder, ignore_errors=True)
        fresh.replace(folder)
