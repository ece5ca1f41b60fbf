"""Read the credentials of other systems from the environment or from a private file."""

from __future__ import annotations

import os
import stat

from ...model.course import Course
from ...model.errors import KitError


def secret_of(course: Course, variable: str, file: str) -> str:
    """Return the value of the environment variable, or the content of `.autograder/FILE`.

    Raise KitError if both are missing, or if other users can read the file.
    """
    if value := os.environ.get(variable, "").strip():
        return value
    path = course.state / file
    shown = path.relative_to(course.root)
    try:
        status = path.stat()
        text = path.read_text(encoding="utf-8").strip()
    except FileNotFoundError:
        raise KitError(
            f"no credentials: store them in {shown} (`install -m 600 /dev/stdin {shown}`, paste, "
            f"Ctrl-D) or in the environment variable {variable}"
        ) from None
    except (OSError, UnicodeDecodeError) as error:
        raise KitError(f"{shown}: cannot be read: {type(error).__name__}") from None
    if stat.S_IMODE(status.st_mode) & 0o077 or status.st_uid != os.geteuid():
        raise KitError(f"{shown} is readable by other users: chmod 600 {shown}")
    if not text:
        raise KitError(f"{shown} is empty")
    return text
