"""Build the autograder zip of a week for Gradescope, and convert reports to results.json.

The zip contains setup.sh, run_autograder, the kit, hidden tests and solutions. The instructor
uploads the zip to Gradescope, where anyone who can download the zip can read all of these files. In
the container, only root can read them, and submissions run under a separate uid (`in_container`).

Gradescope's autograder specification defines the formats (setup.sh, run_autograder,
/autograder/source, /autograder/submission, /autograder/results/results.json).
"""

import hashlib
import stat
from importlib import metadata
from importlib.resources import files as resources
from pathlib import Path
from typing import Any, Literal

import msgspec

import autograder

from ..feedback.render import escaped, exercise_fragment, exercise_text, notice_text
from ..files import course_secret, read_folder
from ..model.availability import EXTRAS
from ..model.course import REGISTRY, Course, Week
from ..model.course.loader import one_week
from ..model.errors import KitError
from ..model.report import scoring
from ..model.report.schema import Ending, SubmissionReport, Verdict
from ..model.submission_files import packed

Visibility = Literal["visible", "after_due_date", "after_published", "hidden"]
FeedbackFormat = Literal["html", "md"]
SETTINGS = "gradescope.json"
_LIBRARIES = ("torch", "numpy", "scipy", "matplotlib", "msgspec", "pytest", "PyYAML", "jinja2",
              "rich", "typer", "tzdata", "packaging", "psutil", "pyseccomp", "nh3",
              "markdown-it-py", "mdit-py-plugins", "math-core", "pygments")  # fmt: skip
_KIT = Path(autograder.__file__).parent
_PACKAGES = (
    *("batch", "channels", "feedback", "grading", "authors", "model", "pages", "repair"),
    *("sandbox", "terminal", "worker"),
)
_KIT_MODULES = ("__init__.py", "files.py", "version.py")
_SECRET = ".autograder/secret"
_PROGRAM = stat.S_IFREG | 0o755
_FILE = stat.S_IFREG | 0o600


class GradescopeSettings(msgspec.Struct, frozen=True):
    """Settings in the zip that determine when and how Gradescope shows results."""

    week: str
    visibility: Visibility = "after_due_date"
    feedback: FeedbackFormat = "html"


def autograder_zip(course: Course, settings: GradescopeSettings) -> bytes:
    """Return the zip of the week that the settings name."""
    week = course.week(settings.week)
    templates = resources("autograder.channels") / "templates"
    files = _kit_files(course, week) | {
        "setup.sh": (templates / "gradescope.setup.sh").read_bytes(),
        "run_autograder": (templates / "gradescope.run_autograder").read_bytes(),
        "requirements.txt": requirements(week, _LIBRARIES),
        SETTINGS: msgspec.json.encode(settings),
    }
    modes = dict.fromkeys(files, _FILE) | dict.fromkeys(("setup.sh", "run_autograder"), _PROGRAM)
    return packed(files, modes)


def _kit_files(course: Course, week: Week) -> dict[str, bytes]:
    """Return the kit's grading packages and all files of a week, by relative name.

    The secret for hidden inputs is derived from the course's secret, which stays on this machine.
    """
    files = {f"autograder/{name}": (_KIT / name).read_bytes() for name in _KIT_MODULES}
    kit = [(_KIT / package, _KIT.parent) for package in _PACKAGES]
    own = (
        course.graders(week),
        course.solution_folder(week),
        course.exercise_folder(week),
        *course.test_files(week),
    )
    for folder, root in [*kit, *((folder, course.root) for folder in own)]:
        files |= read_folder(folder, root)
    files[REGISTRY] = one_week(course, week).encode()
    about = f"gradescope {week.name}".encode()
    files[_SECRET] = hashlib.blake2b(about, key=course_secret(course), digest_size=32).digest()
    return files


def requirements(week: Week, libraries: tuple[str, ...]) -> bytes:
    """Return a requirements.txt with these libraries and the libraries of the week's extras.

    Versions are pinned to the installed versions, so that results are reproducible. A library that
    is not installed here is not pinned.
    """
    lines = []
    for name in (*libraries, *(name for extra in week.extras for name in EXTRAS.get(extra, ()))):
        try:
            lines.append(f"{name}=={metadata.version(name).split('+')[0]}\n")
        except metadata.PackageNotFoundError:
            lines.append(f"{name}\n")
    return "".join(lines).encode()


def results(report: SubmissionReport, week: Week, settings: GradescopeSettings) -> dict[str, Any]:
    """Return the content of results.json, with a visible entry for each exercise's public tests.

    Raise KitError after a system error, which must never become a score of 0.
    """
    if report.verdict is Ending.GRADER_FAULT:
        raise KitError(f"system error: {report.message}")
    counted = {e.name: e.score for e in scoring.counted(week, report.exercises)}
    tests: list[dict[str, Any]] = []
    for exercise in report.exercises:
        if ran := [t for t in exercise.tests if t.public and t.verdict.ran]:
            passed = sum(t.verdict is Verdict.PASS for t in ran)
            tests.append(
                {
                    "name": f"{exercise.name}, public tests: {passed} of {len(ran)}",
                    "status": "passed" if passed == len(ran) else "failed",
                    "output": "",
                    "visibility": "visible",
                }
            )
    for exercise in report.exercises:
        points = week.exercise(exercise.name).points
        tests.append(
            {
                "name": exercise.name,
                "score": counted.get(exercise.name, 0.0),
                "max_score": points,
                "output": exercise_text(exercise, points, escaped)
                if settings.feedback == "md"
                else exercise_fragment(exercise, points),
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
