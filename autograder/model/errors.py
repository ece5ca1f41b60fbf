"""The exceptions that the kit raises on purpose.

    KitError                     shown to the user as one line, exit code 2
    ├── CourseError              a mistake in course.yaml or a folder it names
    │   └── NoCourse             no course.yaml was found
    ├── BuildError               a stub or notebook cannot be built
    ├── LeakError                a secret line is in a file to be released
    ├── IntakeError              a submission cannot be accepted; the student is told why
    ├── BankError                a misconception or alternative is malformed
    ├── EngineError              the grading engine failed: becomes `grader_fault`
    ├── NbgraderError            a step of nbgrader failed
    └── PlatformError            a learning platform refused a request or is unreachable

Other hierarchies: autograder/sandbox/errors.py for the sandbox, autograder/grading/outcomes.py for
the verdicts that stop a hidden test, autograder/serve/views/responses.py for HTTP responses.
"""

from __future__ import annotations


class KitError(Exception):
    """An error that the user can fix; the message states the problem, the place and the fix."""


class CourseError(KitError):
    """A mistake in course.yaml or in a folder that it names."""


class NoCourse(CourseError):
    """Neither this folder nor one above it contains course.yaml."""


class BuildError(KitError):
    """A stub or notebook cannot be built from the author's files."""


class LeakError(KitError):
    """A secret line is in a file that would leave the instructor's machine."""


class IntakeError(KitError):
    """A submission cannot be accepted; the message tells the student why and how to fix it."""


class BankError(KitError):
    """A misconception or alternative file is malformed."""


class EngineError(KitError):
    """The grading engine failed; never the student's fault."""


class NbgraderError(KitError):
    """A step of nbgrader failed."""


class PlatformError(KitError):
    """A learning platform refused or is unreachable; `unsure`: a write may have arrived."""

    def __init__(self, message: str, *, unsure: bool = False) -> None:
        super().__init__(message)
        self.unsure = unsure
