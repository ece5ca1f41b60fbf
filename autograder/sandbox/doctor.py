"""Check the sandboxes for `autograder doctor` by running each of them."""

from __future__ import annotations

import sys

import msgspec

from autograder.model.errors import SandboxMissing

from .backends.choice import BACKENDS, REMEDIES, trial
from .seccomp import tripwire
from .seccomp.syscalls import Tasks, program


class HealthFinding(msgspec.Struct, frozen=True):
    """The result of one check.

    remedy: how to fix the problem, "" if there is none
    """

    ok: bool
    name: str
    detail: str
    remedy: str = ""


def probe() -> list[HealthFinding]:
    """Check the requirements, then each backend, then whether hidden tests can run."""
    if not sys.platform.startswith("linux"):
        remedy = "grade on Linux; `autograder check` runs on every system"
        return [HealthFinding(False, "sandbox", f"not available on {sys.platform}", remedy)]
    findings = [_system_call_filter()]
    working = []
    for name, backend in BACKENDS.items():
        problem = trial(name)
        if problem is None:
            working.append(name)
            made = backend()
            caveats = "; ".join(made.caveats)
            uids = "each submission has its own uid" if made.separate_uids else _SHARED_UID
            detail = f"works; {uids}" + (f"; not guaranteed: {caveats}" if caveats else "")
            findings.append(HealthFinding(True, name, detail))
        else:
            findings.append(HealthFinding(False, name, problem, REMEDIES[name]))
    findings += [_tripwire(), _bounds()]
    findings.append(_verdict(working))
    return findings


_SHARED_UID = "submissions run with the grader's uid"


def _tripwire() -> HealthFinding:
    _, names = tripwire.program(alone=True, gpu=False)
    if names:
        detail = f"{len(names)} system calls that honest programs never make are counted"
        return HealthFinding(True, "tripwire", detail)
    detail = "the kernel lacks seccomp user_notif: such system calls are denied but not counted"
    return HealthFinding(False, "tripwire", detail, "use Linux 5.0 or newer")


def _bounds() -> HealthFinding:
    return HealthFinding(
        True,
        "limits",
        "in force: resource limits for each process (address space, processor time, files,"
        " processes) and a watchdog for wall-clock time and the total memory of a submission;"
        " not in force: control groups (the kit does not use them)",
    )


def _system_call_filter() -> HealthFinding:
    try:
        size = len(program(Tasks.NONE, namespaces=True, gpu=False)) // 8
    except SandboxMissing as error:
        return HealthFinding(False, "libseccomp", str(error), "apt-get install libseccomp2")
    return HealthFinding(
        True, "libseccomp", f"compiles the system call filter ({size} instructions)"
    )


def _verdict(working: list[str]) -> HealthFinding:
    if not working:
        return HealthFinding(False, "sandbox", "none works: hidden tests cannot run", "see above")
    if working[0] == "bubblewrap":
        return HealthFinding(True, "sandbox", "submissions will run in bubblewrap")
    return HealthFinding(
        True,
        "sandbox",
        f"submissions will run under {working[0]}, weaker than bubblewrap",
        REMEDIES["bubblewrap"],
    )
