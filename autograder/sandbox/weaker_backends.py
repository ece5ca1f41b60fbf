"""The Landlock and chroot backends, for hosts that do not allow user namespaces.

Theory of operation. The code that later runs in the sandbox is untrusted. The template is an
ordinary process that inherits no environment variables, and no descriptors except its control
socket and the lock of its folder. The folder contains links to the standard library and to packages
(`mounts.py`), copies of the worker's files, and the children's working directories. It is removed
when the template is closed or, if the trusted process was killed, when the next template starts.

`worker/isolation/without_namespaces.py` confines each child. The seccomp filter also denies signals
and changes of file metadata, which could affect the grader if a child shares the grader's uid.

The chroot backend is for platforms that run graders in plain Docker containers, which allow chroot
and changes of uid but no namespaces. Each child changes its root to the folder of the Python
installation (usually `/usr`). Paths must be the same inside and outside the new root, otherwise
libraries could not be imported. A link in the folder ensures this: `/usr/usr` points to `/usr`. The
link is created when the container is built, and checked here (`_root_of`).
"""

import os
import stat
from pathlib import Path

from msgspec.structs import replace

from autograder.files import WorkFolder
from autograder.model.errors import SandboxMissing
from autograder.worker.isolation.enter_namespaces import GPU_PROC_FILES
from autograder.worker.isolation.lockdown import Boot
from autograder.worker.isolation.without_namespaces import abi, remove_tree

from . import processes
from .backend import Sandbox, StartedTemplate, spare_uid
from .mounts import Visible, stdlib_entries

_PREFIX = "grading-sandbox-"


class Home(WorkFolder):
    """The process of a template, and the template's folder.

    The folder stays locked until the template's last process has ended.
    """

    def __init__(self, visible: Visible, control: int, within: str | None = None) -> None:
        super().__init__(_PREFIX, within, remove_tree)
        self.path.chmod(0o711)  # children can traverse the folder but not list it
        self.folder = str(self.path)
        os.mkdir(f"{self.folder}/cache", 0o700)
        sources = [*stdlib_entries(visible.stdlib), *visible.libraries, *visible.packages.values()]
        sources += visible.driver
        for path in stdlib_entries(visible.stdlib):
            self._new_path("stdlib", path.name).symlink_to(path)
        for place, path in visible.packages.items():
            self._new_path("packages", place).symlink_to(path)
        for name, path in visible.worker.items():  # copies that a child's uid can read
            copy = self._new_path("kit/worker", name)
            copy.write_bytes(path.read_bytes())
            copy.chmod(0o644)
        farms = [f"{self.folder}/{name}" for name in ("stdlib", "packages", "kit")]
        imports = [farms[0], f"{farms[0]}/lib-dynload", *farms[1:]]
        self.readable = (*map(str, sources), *visible.devices, *farms)
        for farm in farms:
            for folder, _, _ in os.walk(farm):
                os.chmod(folder, 0o755)  # readable by children's uids, regardless of the umask
        argv = [str(visible.executable), *processes.python_arguments(imports, control)]
        env = processes.environment(f"{self.folder}/cache", f"{self.folder}/cache")
        if visible.driver:
            env["LD_LIBRARY_PATH"] = str(visible.driver[0].parent)
        assert self.lock is not None  # Linux always supports file locks
        self._process = processes.run(argv, (control, self.lock), env)

    def _new_path(self, farm: str, place: str) -> Path:
        path = Path(self.folder, farm, place)
        path.parent.mkdir(parents=True, exist_ok=True)
        return path

    def end(self, seconds: float) -> str:
        """End the template as `Process.end` does, remove its folder and return its output."""
        printed = self._process.end(seconds)
        self.close()
        return printed


_SHARED_CAVEATS = (
    "disk usage is monitored, not limited: a submission can briefly exceed its limit",
    "if threads are allowed, only memory limits their number",
)


class LandlockSandbox(Sandbox):
    """Starts templates whose children are confined by Landlock."""

    name = "landlock"
    caveats = ("a submission can test whether a path exists on this machine", *_SHARED_CAVEATS)

    def _launch(self, visible: Visible, boot: Boot, control: int) -> StartedTemplate:
        try:
            abi()
        except OSError as error:
            raise SandboxMissing(
                f"this kernel has no Landlock ({error}); boot Linux 5.13 or newer with lsm=landlock"
            ) from error
        home = Home(visible, control)
        proc = [f"/proc/{name}" for name in GPU_PROC_FILES] if boot.gpu else []
        return home.end, replace(
            boot,
            child_uid=self._spare_uid(visible),
            scratch=home.folder,
            readable=(*home.readable, *proc),
        )


_WORKDIRS = "grading"
_NEEDED = {5: "CAP_KILL", 6: "CAP_SETGID", 7: "CAP_SETUID", 8: "CAP_SETPCAP", 18: "CAP_SYS_CHROOT"}


class Chroot(Sandbox):
    """Starts templates whose children run in a chroot."""

    name = "chroot"

    caveats = (
        "a submission can read all world-readable files in the folder of the Python installation",
        *_SHARED_CAVEATS,
    )

    def _launch(self, visible: Visible, boot: Boot, control: int) -> StartedTemplate:
        if boot.gpu:
            raise SandboxMissing("no GPU can be used here: its devices are outside the new root")
        uid, root = _required_uid(), _root_of(visible)
        _make_devices(root, visible.devices)
        workdirs = root / _WORKDIRS
        workdirs.mkdir(mode=0o711, exist_ok=True)
        home = Home(visible, control, within=str(workdirs))
        boot = replace(boot, child_uid=uid, scratch=home.folder, root=str(root))
        return home.end, boot


def _required_uid() -> int:
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
    """Return the folder that becomes the children's root; raise SandboxMissing if there is none."""
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
        parent = root.parent if len(root.parts) > 2 else ""
        up = "/".join([".."] * (len(root.parts) - 2)) or "."
        link = f"mkdir -p {root}{parent} && ln -s {up} {root}{root}"
        raise SandboxMissing(f"{inside} is not a link to {root}: {link}")
    return root


def _make_devices(root: Path, devices: tuple[str, ...]) -> None:
    """Create the device nodes in the new root; skip them if this container does not permit it.

    The worker does not need device nodes, but libraries may open /dev/urandom themselves.
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
