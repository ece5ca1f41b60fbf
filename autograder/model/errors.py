"""Every error that the kit raises on purpose.

    KitError                     shown to the user as one line, exit code 2
    ├── CourseError              course.yaml, or a folder it names, is wrong: says where
    │   └── NoCourse             there is none
    ├── BuildError               a solution cannot be turned into a stub
    ├── LeakError                something secret would have left
    ├── IntakeError              a hand-in that cannot be taken: the student is told why
    ├── BankError                a misconception or alternative is malformed
    ├── EngineError              the grading engine itself failed: becomes `grader_fault`
    ├── NbgraderError            a step of nbgrader failed
    └── PlatformError            a learning platform refused, or could not be reached

(The sandbox's own errors are drawn in autograder/sandbox/errors.py; the verdicts that stop a
hidden test are in autograder/grading/outcomes.py; what the service answers to a request that it
refuses is in autograder/serve/views/responses.py.)
"""

from __future__ import annotations


class KitError(Exception):
    """Something that the user can mend; the message says what, where and how."""


class CourseError(KitError):
    """The registry or a folder that it names is wrong."""


class NoCourse(CourseError):
    """There is no course.yaml here or above."""


class BuildError(KitError):
    """A solution cannot be turned into a stub."""


class LeakError(KitError):
    """A secret line stands in something that would leave the instructor's machine."""


class IntakeError(KitError):
    """A hand-in cannot be taken; its sender is told why and how to mend it."""


class BankError(KitError):
    """A misconception or alternative file does not state what it must."""


class EngineError(KitError):
    """The grading engine could not do its work; never the student's fault."""


class NbgraderError(KitError):
    """A step of nbgrader failed."""


class PlatformError(KitError):
    """A learning platform refused, or is out of reach; `unsure` if a write may have arrived."""

    def __init__(self, message: str, *, unsure: bool = False) -> None:
        super().__init__(message)
        self.unsure = unsure
