"""Everything beside a submission that its report depends on, as one hash.

A stored report is taken again only if nothing of this changed: the kit's code that takes part in
grading, the week's graders, solution and bank, the libraries and their versions, what course.yaml
says of the week, the secret, the devices and the sandbox. What changes no verdict is left out by
name, so that a new setting counts until somebody says that it does not.
"""

from __future__ import annotations

import hashlib
import sys
from collections.abc import Iterable, Iterator
from importlib import metadata
from pathlib import Path
from typing import Any

import msgspec

from ..files.hashing import feed
from ..model.course.loader import Course, Limits, Scoring, Suspects, Week
from ..model.extras import EXTRAS
from ..version import __version__

# Rooms whose code takes part in grading. The others show, hand out or return what was graded.
ROOMS = ("model", "files", "batch", "grading", "repair", "worker", "sandbox")
# What runs our own code, in the trusted process: no sandbox, no store, no search for a line.
_ROOMS_OF_A_RUN = ("model", "grading", "worker")
# Settings of a week and of the course that change no verdict and no score of a submission.
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
    "groups",
    "lti",
)
_SHOWN = ("decimals", "modules_from_notebook")  # what is done before and after grading
_LIBRARIES = ("torch", "numpy", "scipy", "pytest", "matplotlib", "msgspec")


def fingerprint(
    course: Course, week: Week, devices: Iterable[str], secret: bytes, sandbox: str
) -> bytes:
    """A hash of everything beside the submission that a report depends on."""
    kit = Path(__file__).parents[1]
    own = course.graders(week), course.solution_folder(week)
    files = _python_in(*own, *(kit / room for room in ROOMS))
    return _hashed(course, week, (*devices, sandbox), secret, files)


def _hashed(
    course: Course,
    week: Week,
    names: Iterable[str],
    secret: bytes,
    files: Iterable[tuple[Path, Path]],
) -> bytes:
    """A hash of settings, libraries, names, the secret, and files, each with its folder."""
    digest = hashlib.blake2b(digest_size=20)
    for name in names:
        feed(digest, name.encode())
    feed(digest, secret)
    for facts in (settings(course, week), versions()):
        feed(digest, msgspec.json.encode(facts, order="deterministic"))
    for folder, path in files:
        feed(digest, path.relative_to(folder).as_posix().encode())
        feed(digest, path.read_bytes())
    return digest.digest()


def _python_in(*folders: Path) -> Iterator[tuple[Path, Path]]:
    return ((folder, path) for folder in folders for path in sorted(folder.rglob("*.py")))


def of_our_own(
    course: Course, week: Week, devices: Iterable[str], secret: bytes, sandbox: str
) -> tuple[bytes, bytes]:
    """Hashes of what our own code answers to a week's tests depends on: all of it, and one run.

    How points are counted and how long a line is looked for changes none of it. Of one run a part
    is left out: the program that is run and the tests that it is run through. So where one wrong
    program or one test was mended, the others need not run again.
    """
    devices = tuple(devices)
    registry = msgspec.structs.replace(course.registry, scoring=Scoring(), suspects=Suspects())
    whole = fingerprint(Course(course.root, registry), week, devices, secret, sandbox)
    trusted = msgspec.structs.replace(registry, limits=Limits())  # our own code has none
    kit, graders = Path(__file__).parents[1], course.graders(week)
    tests = set(graders.glob("test_*.py"))
    files = [
        *_python_in(*(kit / room for room in _ROOMS_OF_A_RUN)),
        *((folder, path) for folder, path in _python_in(graders) if path not in tests),
        (course.solution_folder(week), course.solution(week)),
    ]
    return whole, _hashed(Course(course.root, trusted), week, devices, secret, files)


def settings(course: Course, week: Week) -> dict[str, Any]:
    """What course.yaml says that a report of the week depends on."""
    of_course = _without(course.registry, _OF_THE_COURSE + _SHOWN)
    return {"week": _without(week, _OF_A_WEEK), "course": of_course}


def versions() -> dict[str, str]:
    """Python, the kit and the libraries of grading, with those of the extras that are there."""
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
