"""Choose the strongest sandbox that works on this host, by running a trial in each."""

from __future__ import annotations

import sys
from pathlib import Path

from autograder.model.errors import SandboxFault, SandboxMissing
from autograder.worker.isolation.lockdown import ChildLimits

from . import trial_runtime
from .backend import Sandbox
from .bubblewrap import Bubblewrap
from .chroot import Chroot
from .landlock import LandlockSandbox

_TRIAL_RUNTIME = Path(trial_runtime.__file__)
_TRIAL_SECONDS = 10.0
_proven: set[str] = set()
REMEDIES = {
    "bubblewrap": (
        "install bubblewrap and allow user namespaces: apt-get install bubblewrap; on Ubuntu"
        " sysctl kernel.apparmor_restrict_unprivileged_userns=0; in Docker run with"
        " --security-opt seccomp=unconfined --security-opt apparmor=unconfined"
        " --security-opt systempaths=unconfined"
    ),
    "landlock": "use Linux 5.13 or newer with Landlock enabled (lsm=landlock on its command line)",
    "chroot": (
        'for containers that run as root: docs/containers.md, "In a container that grants nothing"'
    ),
}


BACKENDS: dict[str, type[Sandbox]] = {
    backend.name: backend for backend in (Bubblewrap, LandlockSandbox, Chroot)
}


def choose(prefer: str | None = None) -> Sandbox:
    """Return the strongest sandbox that works on this host, or the preferred one.

    Raise SandboxMissing if none works.
    """
    if prefer is not None and prefer not in BACKENDS:
        raise SandboxMissing(f"unknown sandbox {prefer!r}: choose from {', '.join(BACKENDS)}")
    failures = []
    for name in [prefer] if prefer else BACKENDS:
        problem = trial(name)
        if problem is None:
            return BACKENDS[name]()
        failures.append(f"{name}: {problem}; to fix it, {REMEDIES[name]}")
    raise SandboxMissing("no sandbox works here. " + " | ".join(failures))


def trial(name: str) -> str | None:
    """Run a trial that tries to escape; return None if it could not, otherwise the problem.

    Success is cached. A failure may be temporary and is not cached.
    """
    if name in _proven:
        return None
    problem = _try(name)
    if problem is None:
        _proven.add(name)
    return problem


def _try(name: str) -> str | None:
    if not sys.platform.startswith("linux"):
        return f"it needs Linux, and this is {sys.platform}"
    try:
        with (
            BACKENDS[name](runtime=_TRIAL_RUNTIME, warm=()).start(b"") as template,
            template.spawn(ChildLimits()) as child,
        ):
            child.sock.settimeout(_TRIAL_SECONDS)
            answer = b""
            while not answer.endswith(b"."):
                received = child.sock.recv(1024)
                if not received:
                    return "the trial process ended unexpectedly"
                answer += received
    except (SandboxMissing, SandboxFault, OSError) as error:
        return str(error).strip()
    escaped = answer[:-1].decode(errors="replace")
    return f"the trial process could access: {escaped}" if escaped else None
