"""Store reports under a hash of the submission and of everything else that determines them.

A stored report is used only as long as this hash is unchanged. Its `fingerprint` covers the kit's
grading code, the graders, solution and bank of the week, the versions of libraries, the settings of
course.yaml, the secret, the devices and the sandbox. Settings that change no verdict are excluded
by name, so a new setting is included by default.

Each file is written under a temporary name and renamed, so a killed process never leaves a partial
report, and processes that grade the same submission write the same file.
"""

import sys
from collections.abc import Iterable, Iterator, Mapping
from importlib import metadata
from pathlib import Path
from typing import Any

import msgspec

from ..files import hash_of, replace_file
from ..model.availability import EXTRAS
from ..model.course import Course, Limits, Scoring, Suspects, Week
from ..model.report.schema import SubmissionReport
from ..version import __version__

# Packages and modules that take part in grading.
PACKAGES = ("model", "files.py", "batch", "grading", "repair", "worker", "sandbox")
# Packages that affect the outputs of the course's own programs, which run in the trusted process.
_PACKAGES_OF_A_RUN = ("model", "grading", "worker")
# Settings of a week and of the course that do not affect reports.
_OF_A_WEEK = ("title", "release", "due", "questions", "files", "folders", "lms")
_OF_THE_COURSE = (
    "course",
    "title",
    "timezone",
    "weeks",
    "late",
    "nbgrader",
    "immediate",
    "canvas",
    "lti",
    "decimals",
    "counts",
    "handouts",
)
_LIBRARIES = ("torch", "numpy", "scipy", "pytest", "matplotlib", "msgspec")


def fingerprint(
    course: Course, week: Week, devices: Iterable[str], secret: bytes, sandbox: str
) -> bytes:
    """Return a hash of everything that a report depends on, except the submission."""
    kit = Path(__file__).parents[1]
    own = course.graders(week), course.solution_folder(week)
    files = _sources_in(*own, *(kit / package for package in PACKAGES))
    return _hashed(course, week, (*devices, sandbox), secret, files)


def _hashed(
    course: Course,
    week: Week,
    names: Iterable[str],
    secret: bytes,
    files: Iterable[tuple[Path, Path]],
) -> bytes:
    """Return a hash of settings, libraries, names, the secret and files (folder, path)."""
    parts = [*(name.encode() for name in names), secret]
    for facts in (settings(course, week), versions()):
        parts.append(msgspec.json.encode(facts, order="deterministic"))
    for folder, path in files:
        parts += (path.relative_to(folder).as_posix().encode(), path.read_bytes())
    return hash_of(parts)


def _sources_in(*folders: Path) -> Iterator[tuple[Path, Path]]:
    for folder in folders:
        paths = (p for p in (folder, *folder.rglob("*")) if p.suffix in (".py", ".toml"))
        yield from ((folder, path) for path in sorted(paths))


def trusted_fingerprint(course: Course, week: Week, devices: Iterable[str], secret: bytes) -> bytes:
    """Return a hash for the cached outputs of the course's own programs on the hidden tests.

    Settings of scoring and localization are excluded, because outputs do not depend on them, and
    limits, because trusted programs run unlimited. The individual program and the test files are
    excluded too, so that a change of one program or test leaves the other cached outputs valid.
    """
    trusted = msgspec.structs.replace(
        course.registry, scoring=Scoring(), suspects=Suspects(), limits=Limits()
    )
    kit, graders = Path(__file__).parents[1], course.graders(week)
    tests = set(graders.glob("test_*.py"))
    files = [
        *_sources_in(*(kit / package for package in _PACKAGES_OF_A_RUN)),
        *((folder, path) for folder, path in _sources_in(graders) if path not in tests),
        (course.solution_folder(week), course.solution(week)),
    ]
    return _hashed(Course(course.root, trusted), week, devices, secret, files)


def settings(course: Course, week: Week) -> dict[str, Any]:
    """Return the settings of course.yaml that a report of the week depends on."""
    of_course = _without(course.registry, _OF_THE_COURSE)
    return {"week": _without(week, _OF_A_WEEK), "course": of_course}


def versions() -> dict[str, str]:
    """Return the versions of Python, the kit, the grading libraries and the installed extras."""
    own = {"autograder": __version__, "Python": "{}.{}".format(*sys.version_info)}
    extras = sorted({library for libraries in EXTRAS.values() for library in libraries})
    return own | {name: _version(name) for name in (*_LIBRARIES, *extras)}


def _version(name: str) -> str:
    try:
        return metadata.version(name)
    except metadata.PackageNotFoundError:
        return "none"


def _without(settings: msgspec.Struct, left_out: tuple[str, ...]) -> dict[str, Any]:
    return {k: v for k, v in msgspec.structs.asdict(settings).items() if k not in left_out}


class ResultStore:
    """The stored reports of one week, as files below `folder`."""

    def __init__(self, folder: Path, fingerprint: bytes) -> None:
        self.folder, self.fingerprint = folder, fingerprint
        folder.mkdir(parents=True, exist_ok=True, mode=0o700)

    def key(self, files: Mapping[str, bytes]) -> str:
        return content_hash(files, self.fingerprint)

    def get(self, key: str) -> SubmissionReport | None:
        """Return the stored report, or None if it is missing or damaged."""
        try:
            return msgspec.json.decode(self._path(key).read_bytes(), type=SubmissionReport)
        except (OSError, msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
            return None

    def put(self, key: str, report: SubmissionReport) -> None:
        path = self._path(key)
        path.parent.mkdir(exist_ok=True)
        replace_file(path, msgspec.json.encode(report), lasting=False)

    def _path(self, key: str) -> Path:
        return self.folder / key[:2] / f"{key}.json"


def content_hash(files: Mapping[str, bytes], start: bytes) -> str:
    """Return a hash of `start` and a submission's files."""
    parts = [start]
    for name in sorted(files):
        parts += (name.encode("utf-8", "surrogatepass"), files[name])
    return hash_of(parts).hex()
