"""The Landlock backend, for hosts that grant no user namespaces, and the folder of its template.

Theory of operation
-------------------
Who may be lying: the code that runs in the sandbox later. The template is an ordinary process with
an empty environment and no descriptor except its control socket. Its folder holds links to the
paths that `mounts.py` lists, copies of the worker's files and the working directories of children.
The template removes the folder on exit; if the template was killed, the next one removes it.

Each child is confined to these paths (see `worker/isolation/without_namespaces.py`) and runs under
the same seccomp filter, which also denies signals and changes of file metadata, because nothing
else separates it from the grader's files.
"""

from __future__ import annotations

import contextlib
import fcntl
import os
import socket
import tempfile
from functools import partial
from pathlib import Path

from autograder.model.errors import SandboxMissing
from autograder.worker.isolation.enter_namespaces import GPU_PROC_FILES
from autograder.worker.isolation.without_namespaces import abi, remove_tree

from . import launch
from .backend import Sandbox, StartedTemplate
from .mounts import Visible, stdlib_entries

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


DISK_IS_WATCHED = "disk usage is monitored, not limited: a submission can briefly exceed its limit"
THREADS_ARE_NOT_COUNTED = "if threads are allowed, only memory limits their number"
CAVEATS = (
    "a submission can test whether a path exists on this machine",
    DISK_IS_WATCHED,
    THREADS_ARE_NOT_COUNTED,
)
SHARED_UID = "submissions run with the grader's uid, without its capabilities"


class LandlockSandbox(Sandbox):
    """Start templates under Landlock."""

    name = "landlock"

    @property
    def caveats(self) -> tuple[str, ...]:
        return CAVEATS if self.separate_uids else (*CAVEATS, SHARED_UID)

    def _launch(self, visible: Visible, *, cuda: bool) -> StartedTemplate:
        try:
            abi()
        except OSError as error:
            raise SandboxMissing(
                f"this kernel has no Landlock ({error}); boot Linux 5.13 or newer with lsm=landlock"
            ) from error
        home = Home(visible)
        control, process = home.start(visible)
        proc = [f"/proc/{name}" for name in GPU_PROC_FILES] if cuda else []
        return StartedTemplate(
            control,
            partial(home.end, process),
            self._spare_uid(visible),
            scratch=home.folder,
            readable=(*home.readable, *proc),
        )
