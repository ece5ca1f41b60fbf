"""The landlock backend, for hosts that grant no user namespace.

Theory of operation
-------------------
Who may be lying: whatever runs in the sandbox later. The template is an ordinary process with an
empty environment and no descriptor but its control socket. It finds its libraries through a farm
of links that names only what `visible.py` lists; each child is then confined to what those links
lead to, see `worker/landlock.py`, and by the same seccomp program, with signals and changes of
file metadata refused as well, since nothing else stands between it and the grader's own files.

The folder that holds the farm and the children's working directories is removed by the template
when it ends. Where that was killed outright, the next start removes what it left.
"""

from __future__ import annotations

import contextlib
import fcntl
import os
import socket
import tempfile
from functools import cached_property, partial
from pathlib import Path

from autograder.worker.landlock import abi, remove_tree
from autograder.worker.namespaces import GPU_PROC_FILES
from autograder.worker.template import Boot

from . import identity, launch, syscalls
from .errors import SandboxMissing
from .session import Template
from .syscalls import Tasks
from .visible import Visible, look, stdlib_entries

_PREFIX = "grading-sandbox-"
CAVEATS = (
    "a submission can tell whether a path exists on this machine",
    "disk use is watched, not bounded: a submission can exceed its budget for a moment",
    "where threads are allowed, only memory bounds their number",
)
SHARED_UID = "submissions run under the uid of whoever grades, without its capabilities"


class LandlockSandbox:
    """Starts templates under Landlock.

    runtime: a file to stand in for `worker/runtime.py` (a trial's own)
    warm:    modules that the template imports before the first fork
    """

    name = "landlock"

    def __init__(self, *, runtime: Path | None = None, warm: tuple[str, ...] = launch.WARM) -> None:
        self._runtime = runtime
        self._warm = warm

    @property
    def own_uids(self) -> bool:
        """Return whether each submission has a uid of its own here."""
        return _child_uid(look(self._runtime, cuda=False)) is not None

    @cached_property
    def caveats(self) -> tuple[str, ...]:
        """What this backend does not promise, here."""
        separate = _child_uid(look(self._runtime, cuda=False)) is not None
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
        uid = _child_uid(visible)
        home = _Home(visible)
        ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        with theirs:
            arguments = launch.python_arguments(home.path, theirs.fileno())
            argv = [str(visible.executable), *arguments]
            env = launch.environment(f"{home.folder}/cache", f"{home.folder}/cache")
            process = launch.run(argv, (theirs.fileno(), home.lock), env)
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


def _child_uid(visible: Visible) -> int | None:
    """The first uid for children: as root, if one that owns nothing could read what it needs."""
    readable = visible.readable_by_others() and visible.reachable_by_others()
    return identity.spare_uid() if os.geteuid() == 0 and readable else None


class _Home:
    """The folder of one template: its farm of links, and room for children's folders.

    Whoever holds the lock uses the folder; the lock goes with the last process that holds it.
    """

    def __init__(self, visible: Visible) -> None:
        _sweep()
        made = tempfile.mkdtemp(prefix=f"new-{_PREFIX}")
        self.lock = os.open(f"{made}/lock", os.O_CREAT | os.O_RDWR | os.O_CLOEXEC, 0o600)
        fcntl.flock(self.lock, fcntl.LOCK_EX)
        os.chmod(made, 0o711)  # children pass through to their own folders, and cannot list it
        self.folder = os.path.join(tempfile.gettempdir(), made.rpartition("new-")[2])
        os.rename(made, self.folder)
        os.mkdir(f"{self.folder}/cache", 0o700)
        sources = [*stdlib_entries(visible.stdlib), *visible.libraries, *visible.packages.values()]
        for path in stdlib_entries(visible.stdlib):
            self._link("stdlib", path.name, path)
        for place, path in visible.packages.items():
            self._link("packages", place, path)
        for name, path in visible.worker.items():
            self._link("kit/worker", name, path)
            sources.append(path)
        farms = [f"{self.folder}/{name}" for name in ("stdlib", "packages", "kit")]
        self.path = [farms[0], f"{farms[0]}/lib-dynload", *farms[1:]]
        self.readable = (*map(str, sources), *visible.devices, *farms)

    def _link(self, farm: str, place: str, source: Path) -> None:
        link = Path(self.folder, farm, place)
        link.parent.mkdir(parents=True, exist_ok=True)
        link.symlink_to(source)

    def end(self, process: launch.Process, seconds: float) -> str:
        """End the process and leave nothing behind; what it printed."""
        printed = process.end(seconds)
        with contextlib.suppress(OSError):
            remove_tree(self.folder)
        if self.lock >= 0:
            os.close(self.lock)
            self.lock = -1
        return printed


def _sweep() -> None:
    """Remove the folders of templates that were killed before they could."""
    for folder in Path(tempfile.gettempdir()).glob(f"{_PREFIX}*"):
        with contextlib.suppress(OSError):
            if folder.lstat().st_uid != os.geteuid():
                continue
            with open(folder / "lock", "rb") as lock:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
                remove_tree(str(folder))
