"""Where submissions run.

The seam between the grading engine and the operating system:

    sandbox = choose()                       # the strongest that works on this host
    with sandbox.start(config) as template:  # one warm process, torch imported
        with template.spawn(ChildLimits()) as child:
            child.sock                       # speak to the worker; then
            child.kill()                     # ends it and all it started

Theory of operation
-------------------
Who may be lying: the submission, in everything it says and does. What is promised of a sandbox,
whichever backend: it sees the Python runtime, the libraries of `visible.py` and its own files; it
has no network, starts no process that it was not allowed, keeps to `ChildLimits`, cannot gain
power, cannot reach another submission, the template or the grader, and is gone, with all it
started, after `kill`, `Template.close`, or the death of the grader. What a weaker backend does not
promise it lists in `caveats`. Not promised by any: a defence against bugs of the kernel itself.
"""

from autograder.worker.isolation.lockdown import ChildLimits

from .backends.choice import BACKENDS, Sandbox, choose
from .doctor import HealthFinding, probe
from .errors import SandboxError, SandboxFault, SandboxMissing
from .session import Child, Template

__all__ = [
    "BACKENDS",
    "Child",
    "ChildLimits",
    "HealthFinding",
    "Sandbox",
    "SandboxError",
    "SandboxFault",
    "SandboxMissing",
    "Template",
    "choose",
    "probe",
]
