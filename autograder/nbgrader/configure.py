"""nbgrader's settings, derived from course.yaml.

The workspace's nbgrader_config.py calls `configure`, so that every door (our commands, `nbgrader
autograde` on a command line, the buttons of Formgrader) works in the same way:

- submissions are graded by `GradeInSandbox`, in the place where stock nbgrader runs the student's
  code with the instructor's rights (`Execute`);
- what students may have done to a notebook's cells is mended first (`RestoreCells`);
- collecting takes ordinary files only (`CollectOrdinaryFiles`);
- marks given by hand stay settled when a submission is graded again (`SaveScores`);
- late work costs what course.yaml says (`LateByCourse`, and `CountLateness` before feedback);
- feedback shows the lesson's pictures and needs no network (`FinishFeedback`, the template).
"""

from __future__ import annotations

from importlib.util import find_spec
from pathlib import Path
from typing import Any

from ..authoring.lesson import ANSWER
from ..model.course import load
from .workspace import Workspace, prepare_process

_OURS = "autograder.nbgrader"
_SANITIZE = [
    f"{_OURS}.restore.RestoreCells",
    "nbgrader.preprocessors.ClearOutput",
    "nbgrader.preprocessors.DeduplicateIds",
    "nbgrader.preprocessors.OverwriteKernelspec",
    "nbgrader.preprocessors.OverwriteCells",
    "nbgrader.preprocessors.CheckCellMetadata",
]
_AUTOGRADE = [
    f"{_OURS}.preprocessor.GradeInSandbox",
    f"{_OURS}.marks.SaveScores",
    "nbgrader.preprocessors.AssignLatePenalties",
    "nbgrader.preprocessors.CheckCellMetadata",
]
_FEEDBACK = [
    f"{_OURS}.penalty.CountLateness",
    "nbgrader.preprocessors.GetGrades",
    f"{_OURS}.feedback.FinishFeedback",
    "nbconvert.preprocessors.CSSHTMLHeaderPreprocessor",
]


def configure(c: Any, config_file: str, project: str = "..") -> None:
    """Fill nbgrader's config; `project` is relative to the folder of the config file."""
    prepare_process()
    folder = Path(config_file).resolve().parent
    course = load(folder / project)
    workspace = Workspace(course)
    c.CourseDirectory.course_id = course.id
    c.CourseDirectory.root = str(folder)
    c.CourseDirectory.db_url = workspace.db_url
    c.Exchange.root = str(workspace.exchange)
    c.ExchangeFactory.collect = f"{_OURS}.exchange.CollectOrdinaryFiles"
    c.CoursePreprocessor.project = str(course.root)
    c.CollectOrdinaryFiles.project = str(course.root)
    c.ClearSolutions.text_stub = ANSWER
    c.AssignLatePenalties.plugin_class = f"{_OURS}.penalty.LateByCourse"
    c.LateByCourse.project = str(course.root)
    c.Autograde.sanitize_preprocessors = _SANITIZE
    c.Autograde.autograde_preprocessors = _AUTOGRADE
    c.Autograde.exclude_overwriting = {week.name: [week.module] for week in course.weeks}
    c.GenerateFeedback.preprocessors = _FEEDBACK
    c.HTMLExporter.extra_template_basedirs = [
        str(Path(__file__).parent / "templates"),
        str(_nbgrader() / "server_extensions" / "formgrader" / "templates"),
    ]


def _nbgrader() -> Path:
    """Where nbgrader is installed, without importing its server."""
    spec = find_spec("nbgrader")
    assert spec is not None
    assert spec.origin is not None
    return Path(spec.origin).parent
