"""Select the files and libraries that another platform needs to check or grade one week.

The files of `week_parts` include hidden tests and solutions and go to the instructor's own account
on the platform.
"""

from __future__ import annotations

import hashlib
from importlib import metadata
from pathlib import Path

import autograder

from ..files import course_secret
from ..model.availability import EXTRAS
from ..model.course import REGISTRY, Course, Week
from ..model.course.loader import one_week

KIT = Path(autograder.__file__).parent
_PACKAGES = (
    *("batch", "channels", "feedback", "grading", "authors", "model", "pages", "repair"),
    *("sandbox", "terminal", "worker"),
)
_ALSO = ("__init__.py", "files.py", "version.py")
SECRET = ".autograder/secret"


def week_parts(course: Course, week: Week, purpose: str) -> dict[str, bytes]:
    """Return the kit's grading packages and all files of a week, by relative name.

    The secret for hidden inputs is derived from the course's secret and differs from it.
    """
    files = {f"autograder/{name}": (KIT / name).read_bytes() for name in _ALSO}
    kit = [(KIT / package, KIT.parent) for package in _PACKAGES]
    own = (course.graders(week), course.solution_folder(week), course.exercise_folder(week))
    for folder, root in [*kit, *((folder, course.root) for folder in own)]:
        for path in sorted(folder.rglob("*")):
            if path.is_file() and "__pycache__" not in path.parts:
                files[path.relative_to(root).as_posix()] = path.read_bytes()
    files[REGISTRY] = one_week(course, week).encode()
    about = f"{purpose} {week.name}".encode()
    files[SECRET] = hashlib.blake2b(about, key=course_secret(course), digest_size=32).digest()
    return files


def requirements(week: Week, libraries: tuple[str, ...]) -> bytes:
    """Return requirements.txt with these libraries and the libraries of the week's extras.

    Versions are pinned to the installed ones, so that results are equal there; a library that is
    not installed here is not pinned.
    """
    lines = []
    for name in (*libraries, *(name for extra in week.extras for name in EXTRAS.get(extra, ()))):
        try:
            lines.append(f"{name}=={metadata.version(name).split('+')[0]}\n")
        except metadata.PackageNotFoundError:
            lines.append(f"{name}\n")
    return "".join(lines).encode()
