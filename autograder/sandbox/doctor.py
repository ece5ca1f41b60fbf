"""What `autograder doctor` says about sandboxes; each is really run."""

from __future__ import annotations

import sys

import msgspec

from .backends.choice import BACKENDS, REMEDIES, trial
from .errors import SandboxMissing
from .seccomp import tripwire
from .seccomp.syscalls import Tasks, program


class HealthFinding(msgspec.Struct, frozen=True):
    """One thing looked at. remedy: what to do about it, "" if nothing is wrong."""

    ok: bool
    name: str
    detail: str
    remedy: str = ""


def probe() -> list[HealthFinding]:
    """Each thing a sandbox needs, then each backend, then the verdict: can hidden tests run?"""
    if not sys.platform.startswith("linux"):
        remedy = "grade on Linux; public checks of one's own code run anywhere"
        return [HealthFinding(False, "sandbox", f"none exists for {sys.platform}", remedy)]
    findings = [_system_call_filter()]
    working = []
    for name, backend in BACKENDS.items():
        problem = trial(name)
        if problem is None:
            working.append(name)
            made = backend()
            caveats = "; ".join(made.caveats)
            uids = "each submission has a uid of its own" if made.own_uids else _SHARED_UID
            detail = f"works; {uids}" + (f"; not promised: {caveats}" if caveats else "")
            findings.append(HealthFinding(True, name, detail))
        else:
            findings.append(HealthFinding(False, name, problem, REMEDIES[name]))
    findings += [_tripwire(), _bounds()]
    findings.append(_verdict(working))
    return findings


_SHARED_UID = "submissions have the uid of whoever grades"


def _tripwire() -> HealthFinding:
    _, names = tripwire.program(alone=True, gpu=False)
    if names:
        detail = f"{len(names)} system calls that honest work never makes are counted from outside"
        return HealthFinding(True, "tripwire", detail)
    detail = "this kernel cannot ask (no user_notif): such system calls are refused, not counted"
    return HealthFinding(False, "tripwire", detail, "Linux 5.0 or newer")


def _bounds() -> HealthFinding:
    """What bounds memory and processor time, and what does not."""
    return HealthFinding(
        True,
        "limits",
        "in force: the kernel's limits on each process (address space, processor time, files,"
        " processes), and a watchdog on the clock and on the memory that all processes of a"
        " submission hold together; not in force: control groups (the kit does not use them)",
    )


def _system_call_filter() -> HealthFinding:
    try:
        size = len(program(Tasks.NONE, own_pids=True, read_only_outside=True, gpu=False)) // 8
    except SandboxMissing as error:
        return HealthFinding(False, "libseccomp", str(error), "apt-get install libseccomp2")
    return HealthFinding(
        True, "libseccomp", f"compiles the system call filter ({size} instructions)"
    )


def _verdict(working: list[str]) -> HealthFinding:
    if not working:
        return HealthFinding(False, "sandbox", "none works: hidden tests are refused", "see above")
    if working[0] == "bubblewrap":
        return HealthFinding(True, "sandbox", "submissions will run in bubblewrap")
    return HealthFinding(
        True,
        "sandbox",
        f"submissions will run under {working[0]}, weaker than bubblewrap",
        REMEDIES["bubblewrap"],
    )
