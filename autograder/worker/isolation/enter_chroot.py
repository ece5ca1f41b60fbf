"""The walls of the chroot backend: a root of its own, a uid of its own, and the list of calls.

Theory of operation
-------------------
Who may be lying: nobody; this runs in the template and in its fork before any submission does.

For containers that grant neither user namespaces nor Landlock, but root: plain Docker as learning
platforms run it. The child's root becomes the folder that holds the Python installation, where
everything stands under the same absolute paths as outside (`sandbox/backends/chroot.py` sees to
it). Outside of it nothing can be named: no /proc, no /etc, no hidden test. Within it the child has
a uid that owns nothing but its own folder. Seccomp refuses what would lead out: mounts, sockets,
signals, tracing, changes of ownership; no descriptor of a folder outside is left open.

What this backend does not promise, unlike the others: whatever else the installation's folder holds
and lets everybody read can be read; the disk budget is watched, not kept by the kernel.
"""

from __future__ import annotations

import os

from .lockdown import ChildLimits, be_first_to_go, become
from .workdirs import Rooms


class ChrootWalls(Rooms):
    """Raises the walls. `root` is the folder that becomes the root; `scratch` lies in it."""

    def __init__(self, child_uid: int | None, first: int, scratch: str, root: str) -> None:
        super().__init__(child_uid, first, scratch)
        self._root = root

    def finish_warm_up(self) -> None:
        """Without a uid of its own a child could leave its root again."""
        if self._child_uid is None:
            raise OSError("no uid is left for submissions")

    def enter(self, number: int, limits: ChildLimits) -> None:
        """In the child: from here on it can name only what stands in its root."""
        be_first_to_go()
        os.chroot(self._root)
        os.chdir("/")
        become(self._uid(number))
        self._settle(self._room(number))
