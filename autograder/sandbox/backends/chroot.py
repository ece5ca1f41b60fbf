"""The chroot backend, for containers that grant root and neither user namespaces nor Landlock.

Theory of operation
-------------------
Who may be lying: whatever runs in the sandbox later. The template is an ordinary process of root
with an empty environment and no descriptor but its control socket. Each child changes its root to
the folder that holds the Python installation (`/usr`, usually), takes a uid that owns nothing, and
is put under the same seccomp program as with Landlock; see `worker/isolation/enter_chroot.py`.

In its new root everything must stand under the path that it has outside, or no library could be
imported any more. A link inside the folder sees to it: `/usr/usr` leads to `/usr`. It is made when
the container is built (`LINK` says how) and looked for here; the device nodes that everybody may
use are made here.

This is what a platform leaves that runs graders in plain Docker: uid changes and chroot are among
the capabilities that Docker grants, namespaces are not.
"""

from __future__ import annotations

import os
import stat
from functools import cached_property, partial
from pathlib import Path

from autograder.worker.fork_server import Boot

from .. import launch
from ..errors import SandboxMissing
from ..mounts import Visible, look
from ..seccomp import syscalls
from ..seccomp.syscalls import Tasks
from ..session import Template
from . import identity
from .landlock import DISK_IS_WATCHED, THREADS_ARE_NOT_COUNTED
from .template_home import Home

LINK = "mkdir -p {root}{parent} && ln -s {up} {root}{root}"
_ROOMS = "grading"
_NEEDED = {5: "CAP_KILL", 6: "CAP_SETGID", 7: "CAP_SETUID", 8: "CAP_SETPCAP", 18: "CAP_SYS_CHROOT"}
_CAVEATS = (
    "a submission can read what the folder of the Python installation lets everybody read",
    DISK_IS_WATCHED,
    THREADS_ARE_NOT_COUNTED,
)


class Chroot:
    """Starts templates whose children have a root of their own.

    runtime: a file to stand in for `worker/server.py` (a trial's own)
    warm:    modules that the template imports before the first fork
    """

    name = "chroot"

    def __init__(self, *, runtime: Path | None = None, warm: tuple[str, ...] = launch.WARM) -> None:
        self._runtime = runtime
        self._warm = warm

    @property
    def own_uids(self) -> bool:
        """Without them this backend refuses."""
        return True

    @cached_property
    def caveats(self) -> tuple[str, ...]:
        """What this backend does not promise."""
        return _CAVEATS

    def start(self, config: bytes, *, cuda: bool = False) -> Template:
        """A template that warms up; SandboxMissing or SandboxFault if there can be none."""
        if cuda:
            raise SandboxMissing("no GPU can be used here: its devices are outside the new root")
        visible = look(self._runtime, cuda=False)
        uid, root = _spare_uid(), _root_of(visible)
        _make_devices(root, visible.devices)
        rooms = root / _ROOMS
        rooms.mkdir(mode=0o711, exist_ok=True)
        home = Home(visible, within=str(rooms))
        ours, process = home.start(visible)
        boot = Boot(
            backend=self.name,
            warm=self._warm,
            child_uid=uid,
            first=identity.anywhere(),
            gpu=False,
            scratch=home.folder,
            root=str(root),
        )
        return Template(
            ours,
            boot,
            config,
            programs=partial(syscalls.programs, own_pids=False, read_only_outside=False, gpu=False),
            most=Tasks.THREADS,
            end=partial(home.end, process),
        )


def _spare_uid() -> int:
    """The first uid for children; SandboxMissing, with what is lacking, if they cannot have one."""
    if os.geteuid() != 0:
        raise SandboxMissing("it needs root, as graders in containers have it")
    if lacking := [name for bit, name in _NEEDED.items() if not _capabilities() >> bit & 1]:
        raise SandboxMissing(f"root lacks {', '.join(lacking)} here")
    uid = identity.spare_uid()
    if uid is None:
        raise SandboxMissing("this user namespace has no uid to spare for submissions")
    return uid


def _capabilities() -> int:
    with open("/proc/self/status", encoding="ascii", errors="replace") as file:
        found = [line.split()[1] for line in file if line.startswith("CapEff:")]
    return int(found[0], 16) if found else 0


def _root_of(visible: Visible) -> Path:
    """The folder that becomes the root; SandboxMissing if the installation has no such folder."""
    places = [visible.stdlib, *visible.packages.values(), *visible.libraries]
    root = Path(os.path.commonpath([place.resolve() for place in places]))
    if root == Path("/"):
        raise SandboxMissing(
            "Python and its packages lie in different folders of the root: for this sandbox make "
            "the virtual environment in the folder that has Python, such as /usr/local/grading"
        )
    if not visible.open_to_others():
        raise SandboxMissing(f"others cannot read the Python packages: chmod -R o+rX {root}")
    inside = Path(f"{root}{root}")
    if not (inside.exists() and inside.samefile(root)):
        raise SandboxMissing(f"{inside} does not lead to {root}: {how_to_link(root)}")
    return root


def _make_devices(root: Path, devices: tuple[str, ...]) -> None:
    """The harmless device nodes in the new root too, where this root may make any.

    Not needed by the worker; code that opens /dev/urandom itself finds none without them.
    """
    (root / "dev").mkdir(mode=0o755, exist_ok=True)
    for device in devices:
        node = Path(f"{root}{device}")
        try:
            if not node.exists():
                os.mknod(node, stat.S_IFCHR | 0o666, os.stat(device).st_rdev)
                node.chmod(0o666)
        except OSError:
            return


def how_to_link(root: Path) -> str:
    """The command that makes paths in the new root what they are outside of it."""
    up = "/".join([".."] * (len(root.parts) - 2)) or "."
    return LINK.format(root=root, parent=root.parent if len(root.parts) > 2 else "", up=up)
