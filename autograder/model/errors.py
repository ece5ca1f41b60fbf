"""All errors that the kit raises on purpose.

A command shows a `KitError` as one line and exits with code 2.
`grading/outcomes.py` defines the exceptions that end a hidden test, `serve/views/responses.py` the
responses of the service to requests that it refuses.
"""


class KitError(Exception):
    """An error that the user can fix; the message states the problem, the place and the fix."""


class CourseError(KitError):
    """The registry, a solution, a misconception or another file of the course has an error."""


class NoCourse(CourseError):
    """No course.yaml in this folder or above."""


class BuildError(KitError):
    """A solution cannot be turned into a stub."""


class LeakError(KitError):
    """A file that would leave the instructor's machine contains a secret."""


class IntakeError(KitError):
    """A submission cannot be accepted; the message for its sender states the reason and a fix."""


class EngineError(KitError):
    """The grading system failed; never caused by a student."""


class NbgraderError(KitError):
    """A step of nbgrader failed."""


class PlatformError(KitError):
    """A learning platform rejected a request, or cannot be reached.

    unsure: True if a write may have taken effect
    """

    def __init__(self, message: str, *, unsure: bool = False) -> None:
        super().__init__(message)
        self.unsure = unsure


class SandboxMissing(EngineError):
    """The requested sandbox cannot run on this host; the message ends with a remedy."""


class SandboxFault(EngineError):
    """A template or a child could not start, or ended unexpectedly; retry with a new template."""
