"""Manage the folder of a template that has no separate file system.

The folder holds links to the paths that `mounts.py` lists, copies of the worker's files and the
working directories of children. The template removes it on exit; if the template was killed, the
next template to start removes it.
"""

from __future__ import annotations

import contextlib
import fcntl
import os
import socket
import tempfile
from pathlib import Path

from autograder.worker.isolation.workdirs import remove_tree

from .. import launch
from ..mounts import Visible, stdlib_entries

_PREFIX = "grading-sandbox-"


class Home:
    """The folder of one template, with its links and the folders of its children.

    A lock marks the folder as in use; the kernel releases it with the last process that holds it.
    """

    def __init__(self, visible: Visible, within: str | None = None) -> None:
        within = within or tempfile.gettempdir()
        _sweep(Path(within))
        made = tempfile.mkdtemp(prefix=f"new-{_PREFIX}", dir=within)
        self.lock = os.open(f"{made}/lock", os.O_CREAT | os.O_RDWR | os.O_CLOEXEC, 0o600)
        fcntl.flock(self.lock, fcntl.LOCK_EX)
        os.chmod(made, 0o711)  # children can traverse but not list it
        self.folder = os.path.join(within, made.rpartition("new-")[2])
        os.rename(made, self.folder)
        os.mkdir(f"{self.folder}/cache", 0o700)
        sources = [*stdlib_entries(visible.stdlib), *visible.libraries, *visible.packages.values()]
        sources += visible.driver
        for path in stdlib_entries(visible.stdlib):
            self._new_path("stdlib", path.name).symlink_to(path)
        for place, path in visible.packages.items():
            self._new_path("packages", place).symlink_to(path)
        for name, path in visible.worker.items():  # others may not read the originals
            copy = self._new_path("kit/worker", name)
            copy.write_bytes(path.read_bytes())
            copy.chmod(0o644)
        farms = [f"{self.folder}/{name}" for name in ("stdlib", "packages", "kit")]
        self.path = [farms[0], f"{farms[0]}/lib-dynload", *farms[1:]]
        self.readable = (*map(str, sources), *visible.devices, *farms)
        _open_to_others(farms)

    def _new_path(self, farm: str, place: str) -> Path:
        path = Path(self.folder, farm, place)
        path.parent.mkdir(parents=True, exist_ok=True)
        return path

    def start(self, visible: Visible) -> tuple[socket.socket, launch.Process]:
        """Start a template in this folder; return our end of its control socket and its process."""
        ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        with theirs:
            arguments = launch.python_arguments(self.path, theirs.fileno())
            argv = [str(visible.executable), *arguments]
            env = launch.environment(f"{self.folder}/cache", f"{self.folder}/cache")
            if visible.driver:
                env["LD_LIBRARY_PATH"] = str(visible.driver[0].parent)
            return ours, launch.run(argv, (theirs.fileno(), self.lock), env)

    def end(self, process: launch.Process, seconds: float) -> str:
        """End the process, remove the folder and return the process's output."""
        printed = process.end(seconds)
        with contextlib.suppress(OSError):
            remove_tree(self.folder)
        if self.lock >= 0:
            os.close(self.lock)
            self.lock = -1
        return printed


def _open_to_others(farms: list[str]) -> None:
    """Let children with separate uids traverse these folders, regardless of the umask."""
    for farm in farms:
        for folder, _, _ in os.walk(farm):
            os.chmod(folder, 0o755)


def _sweep(within: Path) -> None:
    """Remove the folders of templates that were killed."""
    for folder in within.glob(f"{_PREFIX}*"):
        with contextlib.suppress(OSError):
            if folder.lstat().st_uid != os.geteuid():
                continue
            with open(folder / "lock", "rb") as lock:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
                remove_tree(str(folder))
