"""Find the submissions in the inbound folder of nbgrader's exchange.

Every student may write anything into the inbound folder. Only folders whose names have nbgrader's
format are submissions, and a submission that the student owns takes precedence over a newer one
that another user left in the student's name.
"""

import datetime as dt
import os
import pwd
import re
from collections.abc import Container
from contextlib import suppress
from pathlib import Path

import msgspec

from ...model.course import Course, Week
from ...model.submission_files import parse_timestamp
from ..release.archive import names
from ..workspace import Workspace

_NAME = re.compile(r"\w[\w.@-]*\Z")


def is_name(name: str) -> bool:
    """Return True for at most 100 letters, digits and `.@-_`, no leading `.@-`, no `..`."""
    return len(name) <= 100 and bool(_NAME.match(name)) and ".." not in name


class ExchangeSubmission(msgspec.Struct, frozen=True):
    """A submission in the inbound folder of the exchange.

    source: name of the submission's folder
    own: the student owns the folder
    trusted: the student, the grading user or root owns the folder
    owner: name of the folder's owner
    """

    source: str
    student: str
    week: str
    submitted: dt.datetime
    own: bool
    trusted: bool
    owner: str = ""


def submissions_by_student(
    course: Course, week: Week, seen: Container[str] = (), notes: list[str] | None = None
) -> dict[str, list[ExchangeSubmission]]:
    """Return each student's submissions under any name of the week, own folders first, then newest.

    seen: names of folders to skip. notes: add a line for each folder that is not a submission
    """
    found: dict[str, list[ExchangeSubmission]] = {}
    workspace = Workspace(course)
    for name in names(workspace, week):
        for path in sorted(workspace.inbound.glob(f"*+{name}+*")):
            if path.name in seen:
                continue
            student, _, rest = path.name.partition(f"+{name}+")
            submission = _inspected(path, student, week, parse_timestamp(rest.split("+")[0]))
            if submission is not None:
                found.setdefault(student, []).append(submission)
            elif notes is not None:
                notes.append(f"{path.name!r} is not a submission: skipped")
    for submissions in found.values():
        submissions.sort(key=lambda s: (s.own, s.submitted), reverse=True)
    return found


def _inspected(
    path: Path, student: str, week: Week, submitted: dt.datetime | None
) -> ExchangeSubmission | None:
    """Return None if the folder is not a submission."""
    try:
        owner = os.lstat(path).st_uid
    except (OSError, ValueError):
        return None
    is_user = is_name(student.replace("+", ""))  # the service has no names with "+", nbgrader has
    if submitted is None or not path.name.isprintable() or not is_user:
        return None
    if path.is_symlink() or not path.is_dir():
        return None
    account, name = None, "an unknown user"
    with suppress(KeyError, ValueError):
        account = pwd.getpwnam(student).pw_uid
    with suppress(KeyError):
        name = pwd.getpwuid(owner).pw_name
    return ExchangeSubmission(
        path.name,
        student,
        week.name,
        submitted,
        own=owner == account,
        trusted=owner in (account, 0, os.geteuid()),
        owner=name,
    )
