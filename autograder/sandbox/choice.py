"""Choose the strongest sandbox backend that works here, and check every backend for `doctor`.

A backend works if a trial process in its sandbox starts and fails to escape (`trial_runtime`).
"""

import os
import sys
import tomllib
from functools import cache
from pathlib import Path

import msgspec

from autograder.model.errors import SandboxFault, SandboxMissing
from autograder.worker.isolation.lockdown import ChildLimits

from . import trial_runtime
from .backend import Sandbox
from .bubblewrap import Bubblewrap
from .seccomp import Tasks, allow_list, tripwire
from .weaker_backends import Chroot, LandlockSandbox

_TRIAL_RUNTIME = Path(trial_runtime.__file__)
_TRIAL_SECONDS = 10.0
_TEXTS = tomllib.loads(Path(__file__).with_suffix(".toml").read_text(encoding="utf-8"))
REMEDIES: dict[str, str] = _TEXTS["remedies"]

BACKENDS: dict[str, type[Sandbox]] = {
    backend.name: backend for backend in (Bubblewrap, LandlockSandbox, Chroot)
}


def choose(prefer: str | None = None) -> Sandbox:
    """Return the strongest sandbox that works on this host.

    prefer: name of the only backend to try, or None to try all backends

    Raise SandboxMissing if `prefer` is unknown or none of the tried backends works.
    """
    if prefer is not None and prefer not in BACKENDS:
        raise SandboxMissing(f"unknown sandbox {prefer!r}: choose from {', '.join(BACKENDS)}")
    failures = []
    for name in [prefer] if prefer else BACKENDS:
        try:
            trial(name)
        except SandboxMissing as problem:
            failures.append(f"{name}: {problem}; to fix it, {REMEDIES[name]}")
        else:
            return BACKENDS[name]()
    raise SandboxMissing("no sandbox works here. " + " | ".join(failures))


@cache
def trial(name: str) -> None:
    """Run a process that tries to escape; raise SandboxMissing if it escapes or cannot run.

    Success is cached. Failures are not cached, because they may be temporary.
    """
    if not sys.platform.startswith("linux"):
        raise SandboxMissing(f"it needs Linux, and this is {sys.platform}")
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
                    raise SandboxMissing("the trial process ended unexpectedly")
                answer += received
    except (SandboxFault, OSError) as error:
        raise SandboxMissing(str(error).strip()) from error
    if escaped := answer[:-1].decode(errors="replace"):
        raise SandboxMissing(f"the trial process could access: {escaped}")


class HealthFinding(msgspec.Struct, frozen=True):
    """The result of one check. `remedy`: how to fix a problem or improve the setup, or ""."""

    ok: bool
    name: str
    detail: str
    remedy: str = ""


def probe() -> list[HealthFinding]:
    """Return findings on the system call filters, each backend, and whether tests can run."""
    if not sys.platform.startswith("linux"):
        remedy = "grade on Linux; `autograder check` runs on every system"
        return [HealthFinding(False, "sandbox", f"not available on {sys.platform}", remedy)]
    findings = [_system_call_filter()]
    working = []
    for name, backend in BACKENDS.items():
        try:
            trial(name)
        except SandboxMissing as problem:
            findings.append(HealthFinding(False, name, str(problem), REMEDIES[name]))
            continue
        working.append(name)
        uids = "each submission has its own uid"
        if not backend().separate_uids:
            uids = "submissions run with the grader's uid, without its capabilities"
            if os.geteuid() == 0:
                uids += ", because other users cannot read the Python installation"
        caveats = "; ".join(backend.caveats)
        detail = f"works; {uids}" + (f"; not guaranteed: {caveats}" if caveats else "")
        findings.append(HealthFinding(True, name, detail))
    limits = HealthFinding(True, "limits", _TEXTS["limits"])
    return [*findings, _tripwire(), limits, _verdict(working)]


def _tripwire() -> HealthFinding:
    _, names = tripwire(alone=True, gpu=False)
    if names:
        detail = f"{len(names)} system calls that honest programs never make are counted"
        return HealthFinding(True, "tripwire", detail)
    detail = "the kernel lacks seccomp user_notif: such system calls are denied but not counted"
    return HealthFinding(False, "tripwire", detail, "use Linux 5.0 or newer")


def _system_call_filter() -> HealthFinding:
    try:
        size = len(allow_list(Tasks.NONE, namespaces=True, gpu=False)) // 8
    except SandboxMissing as error:
        return HealthFinding(False, "libseccomp", str(error), "apt-get install libseccomp2")
    return HealthFinding(True, "libseccomp", f"compiles the filter ({size} instructions)")


def _verdict(working: list[str]) -> HealthFinding:
    if not working:
        return HealthFinding(False, "sandbox", "none works: hidden tests cannot run", "see above")
    if working[0] == "bubblewrap":
        return HealthFinding(True, "sandbox", "submissions will run in bubblewrap")
    found = f"submissions will run under {working[0]}, weaker than bubblewrap"
    return HealthFinding(True, "sandbox", found, REMEDIES["bubblewrap"])
