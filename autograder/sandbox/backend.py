"""The base class of the sandbox backends, and the choice of uids for submissions."""

import os
import secrets
import socket
from collections.abc import Callable
from functools import partial
from pathlib import Path

from autograder.worker.isolation.lockdown import SPARE_UIDS, Boot

from . import seccomp
from .mounts import Visible, visible_paths
from .processes import WARM
from .seccomp import Tasks
from .session import Template

# First uid of a range that is probably unused: systemd assigns lower uids to containers.
_PREFERRED_UID = 1_999_000_000


# The argument `end` of `Template`, and a `Boot` with the settings that depend on the backend.
StartedTemplate = tuple[Callable[[float], str], Boot]


class Sandbox:
    """Starts templates in a sandbox.

    runtime: file that replaces `worker/server.py` in a trial, or None
    warm:    modules that the template imports before the first fork

    Subclasses define:
    name:       the backend's name in `BACKENDS` and in reports
    namespaces: whether children have separate pid and mount namespaces
    caveats:    sentences about the guarantees that this backend lacks
    """

    name: str
    namespaces = False
    caveats: tuple[str, ...] = ()

    def __init__(self, *, runtime: Path | None = None, warm: tuple[str, ...] = WARM) -> None:
        self._runtime = runtime
        self._warm = warm

    @property
    def separate_uids(self) -> bool:
        """Return True if each submission gets a separate uid on this host."""
        return self._spare_uid(visible_paths(self._runtime, cuda=False)) is not None

    def start(self, config: bytes, *, cuda: bool = False) -> Template:
        """Start a template.

        config: passed to `server.prepare` before the first fork
        cuda:   whether submissions may use NVIDIA GPUs

        Raises SandboxMissing if this host lacks the backend, or SandboxFault if the start fails.
        """
        boot = Boot(self.name, self._warm, None, cuda, first=secrets.randbelow(SPARE_UIDS))
        visible = visible_paths(self._runtime, cuda=cuda)
        ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        try:
            with theirs:
                end, boot = self._launch(visible, boot, theirs.fileno())
        except BaseException:
            ours.close()
            raise
        return Template(
            ours,
            boot,
            config,
            programs=partial(seccomp.programs, namespaces=self.namespaces, gpu=cuda),
            most=self._max_tasks(boot.child_uid),
            end=end,
        )

    def _launch(self, visible: Visible, boot: Boot, control: int) -> StartedTemplate:
        """Start a template's process, which inherits the control socket's descriptor `control`."""
        raise NotImplementedError

    def _spare_uid(self, visible: Visible) -> int | None:
        return spare_uid() if os.geteuid() == 0 and visible.open_to_others() else None

    def _max_tasks(self, child_uid: int | None) -> Tasks:
        return Tasks.THREADS


def spare_uid() -> int | None:
    """Return the first of SPARE_UIDS probably unused uids, or None if too few uids are mapped."""
    with open("/proc/self/uid_map", encoding="ascii") as file:
        ranges = [tuple(map(int, line.split())) for line in file]
    for start, _, count in ranges:
        if start <= _PREFERRED_UID and start + count >= _PREFERRED_UID + SPARE_UIDS:
            return _PREFERRED_UID
    start, _, count = max(ranges, key=lambda span: span[2])
    # of the 65,536 uids in a typical container, this is above its users and below `nobody`
    return start + count * 2 // 3 if count >= 6 * SPARE_UIDS else None
