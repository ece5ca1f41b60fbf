"""Exceptions that the kit raises on purpose.

A command shows a `KitError` as one line and exits with code 2. The exceptions that end a hidden
test are in `grading/outcomes.py`, and the service's error responses in `serve/views/responses.py`.
"""


class KitError(Exception):
    """An error that the user can fix; the message states the problem, the place and the fix."""


class CourseError(KitError):
    """The registry, a solution, a misconception or another file of the course has an error."""


class NoCourse(CourseError):
    """Neither the folder nor any folder above it contains a course.yaml."""


class BuildError(KitError):
    """A stub, a lesson, a figure or another file of a week cannot be built."""


class LeakError(KitError):
    """A file that would leave the instructor's machine contains a secret or cannot be checked."""


class IntakeError(KitError):
    """A submission cannot be accepted; the message for its sender states the reason and a fix."""


class EngineError(KitError):
    """The grading system failed. The student is never at fault."""


class NbgraderError(KitError):
    """A command cannot use or change nbgrader's data."""


class PlatformError(KitError):
    """A learning platform rejected a request, or cannot be reached.

    unsure: True if the platform may have performed a write request despite the error
    """

    def __init__(self, message: str, *, unsure: bool = False) -> None:
        super().__init__(message)
        self.unsure = unsure


class SandboxMissing(EngineError):
    """The requested sandbox cannot run on this host; the message ends with a remedy."""


class SandboxFault(EngineError):
    """A template process or its child did not start or died; retry with a new template process."""
