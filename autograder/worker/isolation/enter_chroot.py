"""Isolation of the chroot backend: a private root and uid, and the allow-list of system calls.

Theory of operation
-------------------
This runs in the fork server and in its child before a submission does. It is for containers that
allow neither user namespaces nor Landlock but run as root: plain Docker on learning platforms.

The child's root becomes the folder of the Python installation, with the same absolute paths as
outside (`sandbox/backends/chroot.py` prepares it). Nothing outside of it can be named: no /proc, no
/etc, no hidden test. Inside, the child has a uid that owns only its working directory. Seccomp
refuses every way out: mounts, sockets, signals, tracing, changes of ownership. No descriptor of a
folder outside stays open.

Unlike the other backends, this one does not hide world-readable files in the installation's folder,
and the fork server measures disk usage instead of the kernel limiting it.
"""

from __future__ import annotations

import os

from .lockdown import ChildLimits, become, prefer_for_oom
from .workdirs import Workdirs


class ChrootIsolation(Workdirs):
    """Isolates children by chroot. `boot.root` becomes the root and contains `boot.scratch`."""

    def finish_warm_up(self) -> None:
        if self._boot.child_uid is None:  # as root, a child could leave its new root
            raise OSError("no uid is left for submissions")

    def enter(self, number: int, limits: ChildLimits) -> None:
        prefer_for_oom()
        os.chroot(self._boot.root)
        os.chdir("/")
        become(self.uid(number))
        self._use_as_home(self._folder(number))
