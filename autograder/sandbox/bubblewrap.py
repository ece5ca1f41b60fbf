"""The bubblewrap backend: the template runs in namespaces, and each child in nested namespaces.

Theory of operation. The code that later runs in the sandbox is untrusted. bubblewrap creates user,
pid, mount, ipc, network, uts and cgroup namespaces. The only host files in the mount namespace are
those that `mounts.py` lists (with a GPU, also parts of /sys), mounted read-only under neutral
names. The template inherits no environment variables and no descriptors except its control socket.
Inside, it keeps the capability to confine each child in nested namespaces (`enter_namespaces`).

If the grader is root, each child gets a separate spare uid. If there are no spare uids, or if they
cannot read the Python installation, children keep root's uid without capabilities, and cannot start
additional processes, because RLIMIT_NPROC does not apply to root.

When the trusted process ends for any reason, the kernel kills bubblewrap, and with it the outermost
pid namespace and all processes in it (but see `processes.end_orphans`).
"""

import json
import os
import shutil
from pathlib import Path

from msgspec.structs import replace

from autograder.model.errors import SandboxFault, SandboxMissing
from autograder.worker.isolation.lockdown import SPARE_UIDS, Boot

from . import processes
from .backend import Sandbox, StartedTemplate, spare_uid
from .mounts import PACKAGE_FOLDERS, Visible
from .seccomp import Tasks

_DRIVER = "/runtime/driver"
# Folders in which the CUDA driver looks up the GPU when it starts.
_SYS_OF_A_GPU = ("/sys/devices", "/sys/bus/pci", "/sys/module/nvidia", "/sys/module/nvidia_uvm")
_CHILD_UID_INSIDE = 1000
# fmt: off
FIXED_OPTIONS = (
    "--unshare-user", "--unshare-pid", "--unshare-net", "--unshare-ipc", "--unshare-uts",
    "--unshare-cgroup-try", "--die-with-parent", "--new-session", "--hostname", "sandbox",
    "--clearenv", "--cap-drop", "ALL", "--cap-add", "CAP_SYS_ADMIN", "--cap-add", "CAP_KILL",
)
# fmt: on
_FOLDERS = ("/dev", "/submission", "/dev/shm", "/scratch")


class Bubblewrap(Sandbox):
    """Starts templates in bubblewrap."""

    name = "bubblewrap"
    namespaces = True

    def _launch(self, visible: Visible, boot: Boot, control: int) -> StartedTemplate:
        program = shutil.which("bwrap")
        if program is None:
            raise SandboxMissing("bubblewrap is not installed; run: apt-get install bubblewrap")
        processes.end_orphans()
        outer_uid = self._spare_uid(visible)
        process = _run(program, _arguments(visible, control), control, outer_uid)
        uid = None if outer_uid is None else _CHILD_UID_INSIDE
        return process.end, replace(boot, child_uid=uid)

    def _spare_uid(self, visible: Visible) -> int | None:
        return spare_uid() if os.geteuid() == 0 and visible.readable_by_others() else None

    def _max_tasks(self, child_uid: int | None) -> Tasks:
        return Tasks.NONE if os.geteuid() == 0 and child_uid is None else Tasks.PROCESSES


def _run(
    program: str, arguments: list[str], control: int, outer_uid: int | None
) -> processes.Process:
    """Start bubblewrap and map spare uids; raise SandboxFault if they cannot be mapped.

    outer_uid: first of the spare uids to map into the user namespace, or None to map none
    """
    if outer_uid is None:
        return processes.run([program, *FIXED_OPTIONS, *arguments], (control,), {})
    info, info_theirs = os.pipe()
    go_theirs, go = os.pipe()
    with open(info, "rb") as answers, open(go, "wb") as gate:
        waiting = ["--info-fd", str(info_theirs), "--userns-block-fd", str(go_theirs)]
        waiting += ["--cap-add", "CAP_SETUID", "--cap-add", "CAP_SETGID"]
        descriptors = (control, info_theirs, go_theirs)
        try:
            process = processes.run(
                [program, *FIXED_OPTIONS, *waiting, *arguments], descriptors, {}
            )
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
            printed = process.end(processes.END_SECONDS)
            raise SandboxFault(f"bubblewrap did not start: {error}\n{printed}") from error
        gate.write(b"go")
    return process


def _arguments(visible: Visible, control_fd: int) -> list[str]:
    """Return the arguments that set the environment, the mounts and the program to run."""
    arguments: list[str] = []
    libraries = f"/runtime/lib:{_DRIVER}" if visible.driver else "/runtime/lib"
    environment = {"LD_LIBRARY_PATH": libraries, **processes.environment("/cache", "/tmp")}
    for name, value in environment.items():
        arguments += ["--setenv", name, value]
    places = _places(visible)
    # bubblewrap would make intermediate folders unreadable for children with a different uid
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
    return [*arguments, "/runtime/bin/python3", *processes.python_arguments(path, control_fd)]


def _places(visible: Visible) -> list[tuple[Path, str]]:
    places = [(visible.executable, "/runtime/bin/python3")]
    places += [(visible.stdlib, f"/runtime/{visible.stdlib.relative_to(visible.prefix)}")]
    for library in visible.libraries:
        own = library.is_relative_to(visible.prefix) and visible.prefix != Path("/usr")
        places.append((library, f"/runtime/lib/{library.name}" if own else str(library)))
    places += [(library, f"{_DRIVER}/{library.name}") for library in visible.driver]
    places += [(source, f"/packages/{name}") for name, source in visible.packages.items()]
    places += [(source, f"/kit/worker/{name}") for name, source in visible.worker.items()]
    return places
