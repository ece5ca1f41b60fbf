"""nbgrader's autograde step, reading and writing each notebook once."""

from __future__ import annotations

from typing import Any

from nbgrader.converters import Autograde
from nbgrader.converters.base import BaseConverter
from nbgrader.utils import capture_log, temp_attrs

from ...model.errors import NbgraderError
from ..workspace import last_words


class SinglePassAutograde(Autograde):
    """Run nbgrader's sanitizing and grading preprocessors in one pass.

    Stock nbgrader writes the sanitized notebook and reads it again to grade it.
    """

    def convert_single_notebook(self, notebook_filename: str) -> None:
        self.exporter._preprocessors = []
        for step in (*self.sanitize_preprocessors, *self.autograde_preprocessors):
            self.exporter.register_preprocessor(step)
        BaseConverter.convert_single_notebook(self, notebook_filename)


def autograde_once(api: Any, week: str, student: str) -> None:
    """Autograde one submission; raise NbgraderError with nbgrader's reason if that fails."""
    with temp_attrs(api.coursedir, assignment_id=week, student_id=student):
        converter = SinglePassAutograde(coursedir=api.coursedir, parent=api)
        converter.force, converter.create_student = True, True
        result = capture_log(converter)
    if not result["success"]:
        raise NbgraderError(last_words(result))
