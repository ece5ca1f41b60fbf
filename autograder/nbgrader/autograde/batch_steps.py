"""nbgrader's steps for one submission after another, with all that is the same made once.

nbgrader makes an exporter, a dozen preprocessors and a writer for each submission, writes the
notebook that it has sanitized, and reads and checks it again to grade it. Here they are made once,
and a notebook is read once and written once. The steps, their order and their settings are
nbgrader's, and so is what comes of them.
"""

from __future__ import annotations

import contextlib
import fnmatch
import os
import re
import shutil
from collections.abc import Callable, Iterator, Set
from functools import lru_cache
from pathlib import Path
from typing import Any, NamedTuple, cast

import msgspec
import nbformat
from nbconvert.exporters import Exporter
from nbformat.v4.rwbase import split_lines, strip_transient
from nbgrader.api import Gradebook
from nbgrader.converters import Autograde, GenerateFeedback
from nbgrader.converters.base import BaseConverter
from nbgrader.utils import capture_log, temp_attrs

from ...files.sharing import share
from ...model.errors import NbgraderError
from ..collect.cell_repair import handed_out
from ..collect.submitted import FROM_NBGRADER, read_notebook
from ..workspace import last_words
from .bulk_entry import entered
from .notebook_cells import PassedCells

Resources = Any


class _Series:
    """What nbgrader's converters make anew for each submission, made once."""

    made = False

    def start(self: Any) -> None:
        with contextlib.chdir(self.coursedir.root):
            self.init_notebooks()
            if not self.made:
                self.writer = _writer(self)
                self.exporter = self.exporter_class(parent=self, config=self.config)
                self.make_steps()
                self.made = True
            self.convert_notebooks()

    def make_steps(self: Any) -> None:
        for step in self.preprocessors:
            self.exporter.register_preprocessor(step)

    def through(self: Any, path: Path, notebook: Any) -> tuple[Any, Resources]:
        """A notebook as the steps leave it; nbconvert copies and checks it between them."""
        resources = self.exporter._init_resources(self.init_single_notebook_resources(str(path)))
        resources["metadata"].update(name=path.stem, path=str(path.parent))
        for step in self.exporter._preprocessors:
            notebook, resources = step(notebook, resources)
        return notebook, resources


class _Sharing(BaseConverter):
    """Lets large files be the ones that were collected, where nbgrader copies them.

    Nothing changes both: nbgrader removes a file before it writes it anew, and so do we.
    """

    def init_assignment(self, assignment_id: str, student_id: str) -> None:
        self.share_collected(assignment_id, student_id)

    def share_collected(
        self, assignment_id: str, student_id: str, without: Set[str] = frozenset()
    ) -> None:
        """Copy what was collected beside the notebook."""
        assert self.coursedir is not None
        source = Path(self._format_source(assignment_id, student_id))
        target = Path(self._format_dest(assignment_id, student_id))
        for name in plain_files(source, [*self.coursedir.ignore, "*.ipynb"]):
            if name not in without:
                _put(source / name, target / name, share)


class AutogradeSeries(_Series, Autograde, _Sharing):
    """nbgrader's Autograde, for one submission after another."""

    handed_out, passed = PassedCells(), PassedCells(relaxed=True)
    written = False
    laid: dict[Path, _Laid]

    def make_steps(self) -> None:
        self.exporter._preprocessors = []
        for step in (*self.sanitize_preprocessors, *self.autograde_preprocessors):
            self.exporter.register_preprocessor(step)

    def init_assignment(self, assignment_id: str, student_id: str) -> None:
        """What nbgrader does, in few statements, and each file is copied once."""
        coursedir: Any = self.coursedir
        handed_in = coursedir.get_existing_timestamp(self._format_source(assignment_id, student_id))
        names = {Path(notebook).stem for notebook in self.notebooks}
        with Gradebook(coursedir.db_url, coursedir.course_id) as gradebook:
            known = entered(gradebook.db, assignment_id, student_id, names, handed_in)
            gradebook.db.commit()
        if not known:
            super().init_assignment(assignment_id, student_id)
            return
        master = Path(coursedir.format_path(coursedir.source_directory, ".", assignment_id))
        target = Path(self._format_dest(assignment_id, student_id))
        own = set(self.exclude_overwriting.get(assignment_id, []))
        ours = set(plain_files(master, [*coursedir.ignore, "*.ipynb"])) - own
        self.share_collected(assignment_id, student_id, ours)
        for name in ours:
            self.lay(master / name, target / name)

    def lay(self, source: Path, target: Path) -> None:
        """Copy what everybody gets; the second of them has the file that the first one has."""
        laid = self.laid.get(source)
        now = _signature(source)
        if laid is not None and laid.of == now and _signature(laid.copy) == laid.as_laid:
            with contextlib.suppress(OSError):  # a disk without links, or too many of them
                _put(laid.copy, target, os.link)
                return
        _put(source, target, shutil.copyfile)
        target.chmod(int(str(self.permissions), 8))
        self.laid[source] = _Laid(now, target, _signature(target))

    def convert_single_notebook(self, notebook_filename: str) -> None:
        """Sanitize and grade at one go; what comes of it is where nbgrader would put it."""
        path, coursedir = Path(notebook_filename), cast("Any", self.coursedir)
        week = coursedir.format_path(coursedir.release_directory, ".", coursedir.assignment_id)
        with contextlib.suppress(FileNotFoundError):  # RestoreCells tells of it
            self.handed_out = handed_out(Path(week) / path.name).passed
        own = read_notebook(path, self.handed_out.check)
        notebook, resources = self.through(path, own)
        self.passed.check(notebook)
        if not self.written:
            self.passed, self.written = PassedCells(notebook, relaxed=True), True
        self.write_single_notebook(_written(notebook), resources)


class FeedbackPage(Exporter):
    """What nbgrader writes as a notebook's feedback: the page that `FinishFeedback` made."""

    def _file_extension_default(self) -> str:
        return ".html"

    def from_notebook_node(  # type: ignore[override]  # as nbconvert calls it
        self, nb: Any, resources: Any = None, **kw: Any
    ) -> tuple[str, Resources]:
        _, finished = super().from_notebook_node(nb, resources, **kw)
        return self.page(finished), finished

    @staticmethod
    def page(finished: Resources) -> str:
        page: str = finished["nbgrader"].pop("page")
        return page


class FeedbackSeries(_Series, GenerateFeedback):
    """nbgrader's GenerateFeedback, for one submission after another."""

    def init_assignment(self, assignment_id: str, student_id: str) -> None:
        """What is given back is a page: nothing of what was handed in is copied beside it."""
        source = Path(self._format_source(assignment_id, student_id))
        target = Path(self._format_dest(assignment_id, student_id))
        target.mkdir(parents=True, exist_ok=True)
        for name in FROM_NBGRADER:
            if (source / name).is_file():
                (target / name).unlink(missing_ok=True)
                shutil.copy(source / name, target / name)

    def convert_single_notebook(self, notebook_filename: str) -> None:
        if not isinstance(self.exporter, FeedbackPage):  # an instructor's own
            super().convert_single_notebook(notebook_filename)
            return
        path = Path(notebook_filename)
        _, resources = self.through(path, nbformat.read(path, as_version=4))
        self.write_single_notebook(FeedbackPage.page(resources), resources)


class _Laid(NamedTuple):
    """A file of the master version, and a copy of it in a graded folder."""

    of: tuple[int, ...]
    copy: Path
    as_laid: tuple[int, ...]


def _signature(path: Path) -> tuple[int, ...]:
    try:
        found = path.lstat()
    except OSError:
        return ()
    return found.st_dev, found.st_ino, found.st_size, found.st_mtime_ns


def _put(source: Path, target: Path, copy: Callable[[Path, Path], object]) -> None:
    """Copy a file to where another may be."""
    with contextlib.suppress(NotADirectoryError):  # mkdir tells of it
        target.unlink(missing_ok=True)
    try:
        copy(source, target)
    except FileNotFoundError:
        target.parent.mkdir(parents=True, exist_ok=True)
        copy(source, target)


def plain_files(folder: Path, ignored: list[str]) -> list[str]:
    """What nbgrader's find_all_files finds, relative to the folder, each folder read once."""
    ignores = _ignores(tuple(ignored))
    return [] if ignores(folder.name) else list(_files(folder, "", ignores))


def _files(folder: Path, below: str, ignores: Callable[[str], object]) -> Iterator[str]:
    with os.scandir(folder) as entries:
        for entry in entries:
            if ignores(entry.name):
                continue
            if not entry.is_dir():
                yield below + entry.name
            elif not entry.is_symlink():
                yield from _files(folder / entry.name, f"{below}{entry.name}/", ignores)


@lru_cache(maxsize=16)
def _ignores(kinds: tuple[str, ...]) -> Callable[[str], object]:
    """As glob has it: a star stands for no name that begins with a dot."""
    shown = ("" if kind.startswith(".") else r"(?!\.)" for kind in kinds)
    each = (before + fnmatch.translate(kind) for before, kind in zip(shown, kinds, strict=True))
    return re.compile("|".join(each) or "(?!)").match


def run_one(api: Any, series: Any, week: str, student: str) -> None:
    """Run a step for one submission; raises NbgraderError with its last words if it fails."""
    with temp_attrs(api.coursedir, assignment_id=week, student_id=student):
        result = capture_log(series)
    if not result["success"]:
        raise NbgraderError(last_words(result))


def _written(notebook: Any) -> str:
    """What nbformat writes, letter by letter, in a fifth of the time; the notebook is used up."""
    try:
        parts = split_lines(strip_transient(notebook))
        data = msgspec.json.encode(parts, order="sorted")
        return f"{msgspec.json.format(data, indent=1).decode()}\n"
    except UnicodeEncodeError:  # half a sign, which is no UTF-8
        return f"{nbformat.v4.writes_json(notebook)}\n"


def _writer(parent: Any) -> Any:
    from nbconvert.writers.files import FilesWriter

    return FilesWriter(parent=parent, config=parent.config)


def autograding(api: Any) -> AutogradeSeries:
    """nbgrader's api.autograde, for many."""
    series = AutogradeSeries(coursedir=api.coursedir, parent=api)
    series.laid = {}
    series.force, series.create_student = True, True
    return series


def giving_feedback(api: Any) -> FeedbackSeries:
    """nbgrader's api.generate_feedback, for many."""
    series = FeedbackSeries(coursedir=api.coursedir, parent=api)  # type: ignore[no-untyped-call]  # nbgrader's own
    series.force = True
    return series
