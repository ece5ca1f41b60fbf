"""What of the project goes along where a week is graded elsewhere: the kit, and one week's secrets.

It goes to the instructor's own account of a platform and holds hidden tests and solutions.
"""

from __future__ import annotations

import hashlib
from pathlib import Path

import autograder

from ..files.secret import course_secret
from ..model.course.loader import REGISTRY, Course, Week
from ..model.course.single_week import one_week

KIT = Path(autograder.__file__).parent
_ROOMS = (
    *("batch", "channels", "feedback", "files", "grading", "authors", "model", "pages", "repair"),
    *("sandbox", "terminal", "worker"),
)
_ALSO = ("__init__.py", "version.py")
SECRET = ".autograder/secret"


def week_parts(course: Course, week: Week, purpose: str) -> dict[str, bytes]:
    """Files by relative name: the kit's rooms that grade, and all that belongs to the week.

    The secret of hidden inputs is another one than the course's, derived from it.
    """
    files = {f"autograder/{name}": (KIT / name).read_bytes() for name in _ALSO}
    for room in _ROOMS:
        for path in sorted((KIT / room).rglob("*")):
            if path.is_file() and "__pycache__" not in path.parts:
                files[f"autograder/{path.relative_to(KIT).as_posix()}"] = path.read_bytes()
    for folder in (
        course.graders(week),
        course.solution_folder(week),
        course.exercise_folder(week),
    ):
        for path in sorted(folder.rglob("*")):
            if path.is_file() and "__pycache__" not in path.parts:
                files[path.relative_to(course.root).as_posix()] = path.read_bytes()
    files[REGISTRY] = one_week(course, week).encode()
    about = f"{purpose} {week.name}".encode()
    files[SECRET] = hashlib.blake2b(about, key=course_secret(course), digest_size=32).digest()
    return files
