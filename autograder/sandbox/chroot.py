"""The chroot backend, for containers that grant root but neither user namespaces nor Landlock.

Theory of operation ------------------- Who may be lying: the code that runs in the sandbox later.
The template is an ordinary root process with an empty environment and no descriptor except its
control socket. Each child changes its root to the folder of the Python installation (usually
`/usr`), takes a uid that owns nothing, and runs under the same seccomp filter as with Landlock; see
`worker/isolation/without_namespaces.py`.

Paths in the new root must equal the paths outside, otherwise no library could be imported. A link
inside the folder ensures this: `/usr/usr` points to `/usr`. It is created when the container is
built (`LINK` is the command) and checked here. This module creates the harmless device nodes.

Platforms that run graders in plain Docker leave only this option: Docker grants chroot and changes
of uid, but no namespaces.
"""

from __future__ import annotations

import os
import stat
from functools import partial
from pathlib import Path

from autograder.model.errors import SandboxMissing

from .backend import Sandbox, StartedTemplate, spare_uid
from .landlock import DISK_IS_WATCHED, THREADS_ARE_NOT_COUNTED, Home
from .mounts import Visible

LINK = "mkdir -p {root}{parent} && ln -s {up} {root}{root}"
_WORKDIRS = "grading"
_NEEDED = {5: "CAP_KILL", 6: "CAP_SETGID", 7: "CAP_SETUID", 8: "CAP_SETPCAP", 18: "CAP_SYS_CHROOT"}
_CAVEATS = (
    "a submission can read all world-readable files in the folder of the Python installation",
    DISK_IS_WATCHED,
    THREADS_ARE_NOT_COUNTED,
)


class Chroot(Sandbox):
    """Start templates whose children run in a chroot."""

    name = "chroot"

    @property
    def separate_uids(self) -> bool:
        return True  # `_launch` requires spare uids

    @property
    def caveats(self) -> tuple[str, ...]:
        return _CAVEATS

    def _launch(self, visible: Visible, *, cuda: bool) -> StartedTemplate:
        if cuda:
            raise SandboxMissing("no GPU can be used here: its devices are outside the new root")
        uid, root = _required_uid(), _root_of(visible)
        _make_devices(root, visible.devices)
        workdirs = root / _WORKDIRS
        workdirs.mkdir(mode=0o711, exist_ok=True)
        home = Home(visible, within=str(workdirs))
        control, process = home.start(visible)
        end = partial(home.end, process)
        return StartedTemplate(control, end, uid, scratch=home.folder, root=str(root))


def _required_uid() -> int:
    """Return the first uid for children; raise SandboxMissing if uids cannot be changed."""
    if os.geteuid() != 0:
        raise SandboxMissing("it needs root")
    if lacking := [name for bit, name in _NEEDED.items() if not _capabilities() >> bit & 1]:
        raise SandboxMissing(f"root lacks {', '.join(lacking)} here")
    uid = spare_uid()
    if uid is None:
        raise SandboxMissing("this user namespace has no spare uids for submissions")
    return uid


def _capabilities() -> int:
    with open("/proc/self/status", encoding="ascii", errors="replace") as file:
        found = [line.split()[1] for line in file if line.startswith("CapEff:")]
    return int(found[0], 16) if found else 0


def _root_of(visible: Visible) -> Path:
    """Return the folder that becomes the root; raise SandboxMissing if it is unsuitable."""
    places = [visible.stdlib, *visible.packages.values(), *visible.libraries]
    root = Path(os.path.commonpath([place.resolve() for place in places]))
    if root == Path("/"):
        raise SandboxMissing(
            "Python and its packages are in different top-level folders: for this sandbox create "
            "the virtual environment in the folder of Python, for example /usr/local/grading"
        )
    if not visible.open_to_others():
        raise SandboxMissing(f"other users cannot read the Python packages: chmod -R o+rX {root}")
    inside = Path(f"{root}{root}")
    if not (inside.exists() and inside.samefile(root)):
        raise SandboxMissing(f"{inside} is not a link to {root}: {how_to_link(root)}")
    return root


def _make_devices(root: Path, devices: tuple[str, ...]) -> None:
    """Create the harmless device nodes in the new root if this container permits it.

    The worker does not need them, but programs may open /dev/urandom themselves.
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
    """Return the command that creates the link, which makes paths equal inside and outside."""
    up = "/".join([".."] * (len(root.parts) - 2)) or "."
    return LINK.format(root=root, parent=root.parent if len(root.parts) > 2 else "", up=up)
