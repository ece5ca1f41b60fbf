"""Errors of the sandbox; none of them is ever caused by a student.

SandboxError         a KitError: one line, exit code 2
├── SandboxMissing   this host cannot run the requested sandbox; the message ends with a remedy
└── SandboxFault     a running sandbox failed: start a new template and retry
"""

from __future__ import annotations

from autograder.model.errors import KitError


class SandboxError(KitError):
    """Base class of sandbox errors."""


class SandboxMissing(SandboxError):
    """The requested sandbox cannot run on this host; the message ends with a remedy."""


class SandboxFault(SandboxError):
    """A template or a child could not start, or ended unexpectedly; retry with a new template."""
