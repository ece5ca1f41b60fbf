"""The Landlock backend, for hosts that grant no user namespaces.

Theory of operation ------------------- Who may be lying: the code that runs in the sandbox later.
The template is an ordinary process with an empty environment and no descriptor except its control
socket. It finds its libraries through links to the paths that `mounts.py` lists. Each child is
confined to these paths (see `worker/isolation/enter_landlock.py`) and runs under the same seccomp
filter, which also denies signals and changes of file metadata, because nothing else separates it
from the grader's files.
"""

from __future__ import annotations

import os
from functools import cached_property, partial
from pathlib import Path

from autograder.model.errors import SandboxMissing
from autograder.worker.fork_server import Boot
from autograder.worker.isolation.enter_landlock import abi
from autograder.worker.isolation.enter_namespaces import GPU_PROC_FILES

from .. import launch
from ..mounts import Visible, visible_paths
from ..seccomp import syscalls
from ..seccomp.syscalls import Tasks
from ..session import Template
from . import identity
from .template_home import Home

DISK_IS_WATCHED = "disk usage is monitored, not limited: a submission can briefly exceed its limit"
THREADS_ARE_NOT_COUNTED = "if threads are allowed, only memory limits their number"
CAVEATS = (
    "a submission can test whether a path exists on this machine",
    DISK_IS_WATCHED,
    THREADS_ARE_NOT_COUNTED,
)
SHARED_UID = "submissions run with the grader's uid, without its capabilities"


class LandlockSandbox:
    """Start templates under Landlock.

    runtime: a file that replaces `worker/server.py` (for trials)
    warm:    modules that the template imports before the first fork
    """

    name = "landlock"

    def __init__(self, *, runtime: Path | None = None, warm: tuple[str, ...] = launch.WARM) -> None:
        self._runtime = runtime
        self._warm = warm

    @property
    def separate_uids(self) -> bool:
        """Return True if each submission gets a separate uid on this host."""
        return child_uid(visible_paths(self._runtime, cuda=False)) is not None

    @cached_property
    def caveats(self) -> tuple[str, ...]:
        """Return the guarantees that this backend lacks on this host."""
        separate = child_uid(visible_paths(self._runtime, cuda=False)) is not None
        return CAVEATS if separate else (*CAVEATS, SHARED_UID)

    def start(self, config: bytes, *, cuda: bool = False) -> Template:
        """Start a template; raise SandboxMissing or SandboxFault if that is impossible here."""
        try:
            abi()
        except OSError as error:
            raise SandboxMissing(
                f"this kernel has no Landlock ({error}); boot Linux 5.13 or newer with lsm=landlock"
            ) from error
        visible = visible_paths(self._runtime, cuda=cuda)
        uid = child_uid(visible)
        home = Home(visible)
        ours, process = home.start(visible)
        boot = Boot(
            backend=self.name,
            warm=self._warm,
            child_uid=uid,
            first=identity.anywhere(),
            gpu=cuda,
            scratch=home.folder,
            readable=(*home.readable, *(f"/proc/{name}" for name in GPU_PROC_FILES if cuda)),
        )
        return Template(
            ours,
            boot,
            config,
            programs=partial(syscalls.programs, own_pids=False, read_only_outside=False, gpu=cuda),
            most=Tasks.THREADS,
            end=partial(home.end, process),
        )


def child_uid(visible: Visible) -> int | None:
    """Return the first uid for children if the grader is root and that uid can read enough."""
    return identity.spare_uid() if os.geteuid() == 0 and visible.open_to_others() else None
