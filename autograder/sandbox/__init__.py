"""Run submissions in isolated processes.

    sandbox = choose()                       # the strongest backend that works on this host
    with sandbox.start(config) as template:  # a warm process that has imported torch
        with template.spawn(ChildLimits()) as child:
            child.sock                       # the stream to the worker
            child.kill()                     # ends the child and all processes that it started

Theory of operation. The submission and all its output are untrusted. Except for its `caveats`,
every backend guarantees that a submission sees only the Python runtime, the libraries listed in
`mounts.py` and its own files, and that it has no network access, starts only as many processes as
it is allowed to, stays within `ChildLimits`, cannot gain privileges, and cannot access other
submissions, the template or the grader. After `kill`, `Template.close` or the end of the grader,
the submission and all processes that it started are terminated. No backend protects against bugs in
the kernel.
"""

from autograder.model.errors import SandboxFault, SandboxMissing
from autograder.worker.isolation.lockdown import ChildLimits

from .backend import Sandbox
from .choice import BACKENDS, HealthFinding, choose, probe
from .session import Child, Template

__all__ = [
    "BACKENDS",
    "Child",
    "ChildLimits",
    "HealthFinding",
    "Sandbox",
    "SandboxFault",
    "SandboxMissing",
    "Template",
    "choose",
    "probe",
]
