"""Build the autograder zip of a week for Gradescope.

The zip contains setup.sh, run_autograder, the kit, hidden tests and solutions, and is uploaded to
the instructor's account: everyone who can download it there can read them. In the container only
root can read them, and submissions run under a separate uid (`in_container.py`).

Formats: Gradescope's autograder specification (setup.sh, run_autograder, /autograder/source,
/autograder/submission, /autograder/results/results.json).
"""

from __future__ import annotations

import io
import stat
import zipfile
from importlib.resources import files as resources
from typing import Any

import msgspec

from ..feedback.render import escaped, exercise_fragment, exercise_text, notice_text
from ..model.course import Course, Week
from ..model.errors import KitError
from ..model.report import scoring
from ..model.report.schema import Ending, ExerciseReport, SubmissionReport, Verdict
from .kit_files import requirements, week_parts

VISIBILITIES = ("visible", "after_due_date", "after_published", "hidden")
FEEDBACK = ("html", "md")
SETTINGS = "gradescope.json"
_NEEDED = ("torch", "numpy", "scipy", "matplotlib", "msgspec", "pytest", "PyYAML", "jinja2", "rich",
           "typer", "tzdata", "packaging", "psutil", "pyseccomp", "nh3", "markdown-it-py",
           "mdit-py-plugins", "latex2mathml", "pygments")  # fmt: skip
_PROGRAM = stat.S_IFREG | 0o755
_FILE = stat.S_IFREG | 0o600


class GradescopeSettings(msgspec.Struct, frozen=True):
    """The settings stored in the zip: how Gradescope shows the results."""

    week: str
    visibility: str = "after_due_date"
    feedback: str = "html"


def autograder_zip(
    course: Course, week: Week, visibility: str = "after_due_date", feedback: str = "html"
) -> bytes:
    """Return the zip; raise KitError for a setting that Gradescope does not support."""
    if visibility not in VISIBILITIES:
        raise KitError(f"--visibility is one of {', '.join(VISIBILITIES)}, not {visibility!r}")
    if feedback not in FEEDBACK:
        raise KitError(f"--feedback is one of {', '.join(FEEDBACK)}, not {feedback!r}")
    settings = GradescopeSettings(week.name, visibility, feedback)
    files = week_parts(course, week, "gradescope")
    files |= {
        "setup.sh": _text("setup.sh"),
        "run_autograder": _text("run_autograder"),
        "requirements.txt": requirements(week, _NEEDED),
        SETTINGS: msgspec.json.encode(settings),
    }
    return _zipped(files)


def _text(name: str) -> bytes:
    return resources("autograder.channels").joinpath("templates", f"gradescope.{name}").read_bytes()


def _zipped(files: dict[str, bytes]) -> bytes:
    """Return a zip with fixed timestamps: equal files give equal bytes."""
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in sorted(files.items()):
            info = zipfile.ZipInfo(name, (1980, 1, 1, 0, 0, 0))
            mode = _PROGRAM if name in ("setup.sh", "run_autograder") else _FILE
            info.external_attr, info.compress_type = mode << 16, zipfile.ZIP_DEFLATED
            archive.writestr(info, data)
    return out.getvalue()


def results(report: SubmissionReport, week: Week, settings: GradescopeSettings) -> dict[str, Any]:
    """Return results.json: one entry per exercise, and its public tests as visible entries.

    Raise KitError for a system error, because it must never become a score of 0.
    """
    if report.verdict is Ending.GRADER_FAULT:
        raise KitError(f"system error: {report.message}")
    counted = {e.name: e.score for e in scoring.counted(week, report.exercises)}
    tests: list[dict[str, Any]] = []
    for exercise in report.exercises:
        tests += _public(exercise)
    for exercise in report.exercises:
        points = week.exercise(exercise.name).points
        tests.append(
            {
                "name": exercise.name,
                "score": counted.get(exercise.name, 0.0),
                "max_score": points,
                "output": _shown(exercise, points, settings.feedback),
                "output_format": settings.feedback,
                "visibility": settings.visibility,
            }
        )
    return {
        "score": sum(counted.values()),
        "output": notice_text(report.message, escaped),
        "output_format": "md",
        "visibility": "visible",
        "stdout_visibility": "hidden",
        "tests": tests,
    }


def _shown(exercise: ExerciseReport, points: float, form: str) -> str:
    if form == "md":
        return exercise_text(exercise, points, escaped)
    return exercise_fragment(exercise, points)


def _public(exercise: ExerciseReport) -> list[dict[str, Any]]:
    """Return an entry without points for the public tests, visible immediately."""
    ran = [t for t in exercise.tests if t.public and t.verdict is not Verdict.NOT_RUN]
    if not ran:
        return []
    passed = sum(t.verdict is Verdict.PASS for t in ran)
    return [
        {
            "name": f"{exercise.name}, public tests: {passed} of {len(ran)}",
            "status": "passed" if passed == len(ran) else "failed",
            "output": "",
            "visibility": "visible",
        }
    ]
