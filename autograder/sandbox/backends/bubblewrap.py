"""The bubblewrap backend: a template in separate namespaces, each child in nested namespaces.

Theory of operation ------------------- Who may be lying: the code that runs in the sandbox later.
bubblewrap creates user, pid, mount, ipc, network, uts and cgroup namespaces. Only the files listed
by `mounts.py` exist in them, read-only and under neutral names; the environment is empty, and the
control socket is the only descriptor. The template keeps the capability (within its namespace) to
confine each child in nested namespaces; see `worker/isolation/enter_namespaces.py`.

If the grader is root, each child gets a separate uid that owns nothing on this host, provided that
this uid can read the Python installation. Otherwise children keep root's uid without capabilities,
and cannot be allowed additional processes, because RLIMIT_NPROC does not apply to root.

When the trusted process ends, for whatever reason, the kernel kills bubblewrap and with it the
outermost pid namespace and all processes in it (but see `orphans.py`).
"""

from __future__ import annotations

import json
import os
import shutil
import socket
from functools import partial
from pathlib import Path

from autograder.model.errors import SandboxFault, SandboxMissing
from autograder.worker.fork_server import Boot
from autograder.worker.isolation.lockdown import SPARE_UIDS

from .. import launch
from ..mounts import PACKAGE_FOLDERS, Visible, visible_paths
from ..orphans import end_orphans
from ..seccomp import syscalls
from ..seccomp.syscalls import Tasks
from ..session import Template
from . import identity

_DRIVER = "/runtime/driver"
# The CUDA driver looks up the GPU on its bus here and does not start without these folders.
_SYS_OF_A_GPU = ("/sys/devices", "/sys/bus/pci", "/sys/module/nvidia", "/sys/module/nvidia_uvm")
_OF_THE_SYSTEM = Path("/usr/lib/python3/dist-packages")
_CHILD_UID_INSIDE = 1000
# fmt: off
_FIXED = (
    "--unshare-user", "--unshare-pid", "--unshare-net", "--unshare-ipc", "--unshare-uts",
    "--unshare-cgroup-try", "--die-with-parent", "--new-session", "--hostname", "sandbox",
    "--clearenv", "--cap-drop", "ALL", "--cap-add", "CAP_SYS_ADMIN", "--cap-add", "CAP_KILL",
)
# fmt: on
_FOLDERS = ("/dev", "/submission", "/dev/shm", "/scratch")


class Bubblewrap:
    """Start templates in bubblewrap.

    runtime: a file that replaces `worker/server.py` (for trials)
    warm:    modules that the template imports before the first fork
    """

    name = "bubblewrap"

    def __init__(self, *, runtime: Path | None = None, warm: tuple[str, ...] = launch.WARM) -> None:
        self._runtime = runtime
        self._warm = warm

    @property
    def separate_uids(self) -> bool:
        """Return True if each submission gets a separate uid on this host."""
        return (
            os.geteuid() == 0 and _outer_uid(visible_paths(self._runtime, cuda=False)) is not None
        )

    @property
    def caveats(self) -> tuple[str, ...]:
        """Return the guarantees that are missing on this host."""
        if os.geteuid() != 0 or _outer_uid(visible_paths(self._runtime, cuda=False)) is not None:
            return ()
        return (
            "submissions keep root's uid without its capabilities, because other users cannot read"
            " the Python installation",
        )

    def start(self, config: bytes, *, cuda: bool = False) -> Template:
        """Start a template; raise SandboxMissing or SandboxFault if that is impossible here."""
        program = shutil.which("bwrap")
        if program is None:
            raise SandboxMissing("bubblewrap is not installed; run: apt-get install bubblewrap")
        end_orphans()
        visible = visible_paths(self._runtime, cuda=cuda)
        root = os.geteuid() == 0
        outer_uid = _outer_uid(visible)
        ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        try:
            process = _run(program, _arguments(visible, theirs.fileno()), theirs, outer_uid)
        except BaseException:
            ours.close()
            raise
        finally:
            theirs.close()
        boot = Boot(
            backend=self.name,
            warm=self._warm,
            child_uid=None if outer_uid is None else _CHILD_UID_INSIDE,
            first=identity.anywhere(),
            gpu=cuda,
        )
        return Template(
            ours,
            boot,
            config,
            programs=partial(syscalls.programs, own_pids=True, read_only_outside=True, gpu=cuda),
            most=Tasks.NONE if root and outer_uid is None else Tasks.PROCESSES,
            end=process.end,
        )


def _outer_uid(visible: Visible) -> int | None:
    """Return the children's uid on the host if the grader is root and that uid can read enough."""
    return identity.spare_uid() if os.geteuid() == 0 and visible.readable_by_others() else None


def _run(
    program: str, arguments: list[str], control: socket.socket, outer_uid: int | None
) -> launch.Process:
    """Start bubblewrap; as root, map spare uids into its user namespace before it continues."""
    if outer_uid is None:
        return launch.run([program, *_FIXED, *arguments], (control.fileno(),), {})
    info, info_theirs = os.pipe()
    go_theirs, go = os.pipe()
    with open(info, "rb") as answers, open(go, "wb") as gate:
        waiting = ["--info-fd", str(info_theirs), "--userns-block-fd", str(go_theirs)]
        waiting += ["--cap-add", "CAP_SETUID", "--cap-add", "CAP_SETGID"]
        descriptors = (control.fileno(), info_theirs, go_theirs)
        try:
            process = launch.run([program, *_FIXED, *waiting, *arguments], descriptors, {})
        finally:
            os.close(info_theirs)
            os.close(go_theirs)
        answer = answers.read()
        try:
            pid = json.loads(answer)["child-pid"]
            for name in ("uid_map", "gid_map"):
                with open(f"/proc/{pid}/{name}", "w", encoding="ascii") as file:
                    file.write(f"0 0 1\n{_CHILD_UID_INSIDE} {outer_uid} {SPARE_UIDS}\n")
        except (ValueError, OSError) as error:
            gate.close()
            printed = process.end(launch.END_SECONDS)
            raise SandboxFault(f"bubblewrap did not start: {error}\n{printed}") from error
        gate.write(b"go")
    return process


def _arguments(visible: Visible, control_fd: int) -> list[str]:
    """Return bubblewrap's arguments: environment, mounts and the program."""
    arguments: list[str] = []
    libraries = f"/runtime/lib:{_DRIVER}" if visible.driver else "/runtime/lib"
    environment = {"LD_LIBRARY_PATH": libraries, **launch.environment("/cache", "/tmp")}
    for name, value in environment.items():
        arguments += ["--setenv", name, value]
    places = _places(visible)
    # bubblewrap creates intermediate folders for the owner only; a child may have a different uid
    for folder in sorted({str(folder) for _, place in places for folder in Path(place).parents}):
        arguments += ["--dir", folder]
    for source, place in places:
        arguments += ["--ro-bind", str(source), place]
    stdlib = f"/runtime/{visible.stdlib.relative_to(visible.prefix)}"
    for name in PACKAGE_FOLDERS:
        if (visible.stdlib / name).is_dir():
            arguments += ["--tmpfs", f"{stdlib}/{name}", "--remount-ro", f"{stdlib}/{name}"]
    for folder in _FOLDERS:
        arguments += ["--dir", folder]
    for device in visible.devices:
        arguments += ["--dev-bind", device, device]
    if any("nvidia" in device for device in visible.devices):
        for place in filter(os.path.exists, _SYS_OF_A_GPU):
            arguments += ["--ro-bind", place, place]
    arguments += ["--tmpfs", "/cache", "--tmpfs", "/tmp", "--proc", "/proc"]
    arguments += ["--remount-ro", "/", "--chdir", "/"]
    path = [stdlib, f"{stdlib}/lib-dynload", "/packages", "/kit"]
    if any(map(_is_the_systems, visible.packages.values())):
        path.insert(3, str(_OF_THE_SYSTEM))
    return [*arguments, "/runtime/bin/python3", *launch.python_arguments(path, control_fd)]


def _is_the_systems(package: Path) -> bool:
    """Return True for Debian packages, which find their libraries by absolute path."""
    return package.is_relative_to(_OF_THE_SYSTEM)


def _places(visible: Visible) -> list[tuple[Path, str]]:
    """Return host paths and the neutral paths at which the sandbox mounts them."""
    places = [(visible.executable, "/runtime/bin/python3")]
    places += [(visible.stdlib, f"/runtime/{visible.stdlib.relative_to(visible.prefix)}")]
    for library in visible.libraries:
        own = library.is_relative_to(visible.prefix) and visible.prefix != Path("/usr")
        places.append((library, f"/runtime/lib/{library.name}" if own else str(library)))
    places += [(library, f"{_DRIVER}/{library.name}") for library in visible.driver]
    for name, source in visible.packages.items():
        places.append((source, str(source) if _is_the_systems(source) else f"/packages/{name}"))
    places += [(source, f"/kit/worker/{name}") for name, source in visible.worker.items()]
    return places
