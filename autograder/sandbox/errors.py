"""What can go wrong with a sandbox.

    SandboxError         a KitError: one line, exit code 2
    ├── SandboxMissing   this host cannot give one (or not one as strong as asked); says what to do
    └── SandboxFault     one that ran has failed us: start a new template and try again

Neither is ever a student's fault.
"""

from __future__ import annotations

from autograder.model.errors import KitError


class SandboxError(KitError):
    """The sandbox could not do its part."""


class SandboxMissing(SandboxError):
    """No sandbox of the asked kind can run here; the message ends with the remedy."""


class SandboxFault(SandboxError):
    """A template or child could not be made, or is gone; grade again with a new template."""
