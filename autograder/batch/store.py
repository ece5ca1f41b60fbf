"""Store reports under a hash of the submission and everything else that affects a report.

A stored report is reused only while this hash is unchanged. `fingerprint` hashes everything except
the submission: the kit's grading code, the week's graders, solution and bank, library versions,
settings in course.yaml, the secret, the devices and the sandbox. Settings that do not affect
reports are excluded by name, so a new setting is included by default.

Each file is written under a temporary name and renamed. A killed process therefore never leaves a
partial report, and several processes can safely store reports of the same submission.
"""

import contextlib
import sys
from collections.abc import Iterable, Iterator, Mapping
from importlib import metadata
from pathlib import Path
from typing import Any

import msgspec
from msgspec.structs import replace

from ..files import hash_of, read_state, write_state
from ..model.availability import EXTRAS
from ..model.course import Counterexamples, Course, Limits, Scoring, Suspects, Week
from ..model.report.schema import SubmissionReport
from ..version import __version__

# Packages and modules of the kit that affect reports.
PACKAGES = ("model", "files.py", "batch", "grading", "repair", "worker", "sandbox")
# Packages that affect the outputs of the course's own programs, which run in the trusted process.
_PACKAGES_OF_A_RUN = ("model", "grading", "worker")
# Settings of a week and of the course that do not affect reports.
_OF_A_WEEK = ("title", "release", "due", "questions", "files", "folders", "lms")
_OF_THE_COURSE = (
    *("course", "title", "timezone", "weeks", "late", "nbgrader", "immediate", "canvas", "lti"),
    *("decimals", "counts", "handouts"),
)
_Located = tuple[Path, Path]  # a folder and the path of a file in it
_LIBRARIES = ("torch", "numpy", "scipy", "pytest", "matplotlib", "msgspec")


def fingerprint(
    course: Course, week: Week, devices: Iterable[str], secret: bytes, sandbox: str
) -> bytes:
    """Return a hash of everything that a report depends on, except the submission."""
    kit = Path(__file__).parents[1]
    own = course.graders(week), course.solution_folder(week), *course.test_files(week)
    files = sources_in(*own, *(kit / package for package in PACKAGES))
    return _hashed(course, week, (*devices, sandbox), secret, files)


def _hashed(
    course: Course, week: Week, names: Iterable[str], secret: bytes, files: Iterable[_Located]
) -> bytes:
    parts = [*(name.encode() for name in names), secret]
    for facts in (settings(course, week), versions()):
        parts.append(msgspec.json.encode(facts, order="deterministic"))
    for folder, path in files:
        parts += (path.relative_to(folder).as_posix().encode(), path.read_bytes())
    return hash_of(parts)


def sources_in(*folders: Path) -> Iterator[_Located]:
    """Yield each folder with each of its programs, settings and data files."""
    for folder in folders:
        paths = (p for p in (folder, *folder.rglob("*")) if p.suffix in (".py", ".toml", ".npz"))
        yield from ((folder, path) for path in sorted(paths))


def trusted_fingerprint(course: Course, week: Week, devices: Iterable[str], secret: bytes) -> bytes:
    """Return a hash that identifies cached outputs of the course's own programs in hidden tests.

    Scoring and localization settings are excluded because they do not affect outputs, and limits
    are excluded because trusted programs run without limits. The bank's programs and the test files
    are excluded so that changing one of them keeps the cached outputs of the others valid.
    """
    left_out = {"suspects": Suspects(), "counterexamples": Counterexamples(), "limits": Limits()}
    trusted = replace(course.registry, scoring=Scoring(), **left_out)
    kit, graders = Path(__file__).parents[1], course.graders(week)
    tests = set(graders.glob("test_*.py"))
    files = [
        *sources_in(*course.test_files(week), *(kit / p for p in _PACKAGES_OF_A_RUN)),
        *((folder, path) for folder, path in sources_in(graders) if path not in tests),
        (course.solution_folder(week), course.solution(week)),
    ]
    return _hashed(Course(course.root, trusted), week, devices, secret, files)


def settings(course: Course, week: Week) -> dict[str, Any]:
    """Return the settings in course.yaml that affect reports of the week."""
    of_course = _without(course.registry, _OF_THE_COURSE)
    return {"week": _without(week, _OF_A_WEEK), "course": of_course}


def versions() -> dict[str, str]:
    """Return the versions of Python, the kit and its libraries ("none" if not installed)."""
    own = {"autograder": __version__, "Python": "{}.{}".format(*sys.version_info)}
    extras = sorted({library for libraries in EXTRAS.values() for library in libraries})
    found = dict.fromkeys((*_LIBRARIES, *extras), "none")
    for name in found:
        with contextlib.suppress(metadata.PackageNotFoundError):
            found[name] = metadata.version(name)
    return own | found


def _without(settings: msgspec.Struct, names: tuple[str, ...]) -> dict[str, Any]:
    return {k: v for k, v in msgspec.structs.asdict(settings).items() if k not in names}


def read_result(folder: Path, key: str) -> SubmissionReport | None:
    """Return the stored report, or None if it is missing or damaged."""
    return read_state(_file(folder, key), SubmissionReport)


def store_result(folder: Path, key: str, report: SubmissionReport) -> None:
    """Store a report; it may be lost in a power cut, because it can be computed again."""
    write_state(_file(folder, key), report, lasting=False)


def _file(folder: Path, key: str) -> Path:
    return folder / key[:2] / f"{key}.json"


def content_hash(files: Mapping[str, bytes], start: bytes) -> str:
    """Return a hash (hex) of `start` and the names and contents of a submission's files."""
    parts = [start]
    for name in sorted(files):
        parts += (name.encode("utf-8", "surrogatepass"), files[name])
    return hash_of(parts).hex()
