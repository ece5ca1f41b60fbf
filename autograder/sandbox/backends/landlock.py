"""The landlock backend, for hosts that grant no user namespace.

Theory of operation ------------------- Who may be lying: whatever runs in the sandbox later. The
template is an ordinary process with an empty environment and no descriptor but its control socket.
It finds its libraries through a farm of links that names only what `visible.py` lists; each child
is then confined to what those links lead to, see `worker/isolation/enter_landlock.py`, and by the
same seccomp program, with signals and changes of file metadata refused as well, since nothing else
stands between it and the grader's own files.
"""

from __future__ import annotations

import os
from functools import cached_property, partial
from pathlib import Path

from autograder.worker.fork_server import Boot
from autograder.worker.isolation.enter_landlock import abi
from autograder.worker.isolation.enter_namespaces import GPU_PROC_FILES

from .. import launch
from ..errors import SandboxMissing
from ..mounts import Visible, look
from ..seccomp import syscalls
from ..seccomp.syscalls import Tasks
from ..session import Template
from . import identity
from .template_home import Home

DISK_IS_WATCHED = (
    "disk use is watched, not bounded: a submission can exceed its budget for a moment"
)
THREADS_ARE_NOT_COUNTED = "where threads are allowed, only memory bounds their number"
CAVEATS = (
    "a submission can tell whether a path exists on this machine",
    DISK_IS_WATCHED,
    THREADS_ARE_NOT_COUNTED,
)
SHARED_UID = "submissions run under the uid of whoever grades, without its capabilities"


class LandlockSandbox:
    """Starts templates under Landlock.

    runtime: a file to stand in for `worker/server.py` (a trial's own)
    warm:    modules that the template imports before the first fork
    """

    name = "landlock"

    def __init__(self, *, runtime: Path | None = None, warm: tuple[str, ...] = launch.WARM) -> None:
        self._runtime = runtime
        self._warm = warm

    @property
    def own_uids(self) -> bool:
        """Return whether each submission has a uid of its own here."""
        return child_uid(look(self._runtime, cuda=False)) is not None

    @cached_property
    def caveats(self) -> tuple[str, ...]:
        """What this backend does not promise, here."""
        separate = child_uid(look(self._runtime, cuda=False)) is not None
        return CAVEATS if separate else (*CAVEATS, SHARED_UID)

    def start(self, config: bytes, *, cuda: bool = False) -> Template:
        """A template that warms up; SandboxMissing or SandboxFault where there can be none."""
        try:
            abi()
        except OSError as error:
            raise SandboxMissing(
                f"this kernel has no Landlock ({error}); boot Linux 5.13 or newer with lsm=landlock"
            ) from error
        visible = look(self._runtime, cuda=cuda)
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
    """The first uid for children: as root, if one that owns nothing could read what it needs."""
    return identity.spare_uid() if os.geteuid() == 0 and visible.open_to_others() else None
