"""Isolation of the landlock and chroot backends, for hosts without user namespaces.

Theory of operation. This code runs in the fork server and in its children before a submission runs.

Each child gets one writable folder, in which it may create arbitrary files. Other children cannot
read the folder. The kernel does not limit the size of a folder, so the fork server measures the
size a few times per second and kills a child that exceeds its limit. RLIMIT_FSIZE limits the size
of a single file immediately. The seccomp program forbids mounts, sockets, signals, tracing, chmod
and new processes.

Landlock: each child gets a separate Landlock domain, in which it may read the runtime, write to its
folder, and open no other path. Landlock does not hide the host's path names: `stat` still shows
whether a path exists. If `Boot.child_uid` is set, each child also gets a separate uid, so that file
permissions additionally separate children and RLIMIT_NPROC counts only the child's own tasks.
Otherwise, all children share the grader's uid, and their number of threads is not limited.

Chroot, for containers that run as root and provide neither namespaces nor Landlock: the folder of
the Python installation becomes the child's root, with the same absolute paths as outside
(`sandbox/weaker_backends.py` prepares the folder). Paths outside the folder, such as /proc, /etc
and the hidden tests, cannot be opened. The child has a uid that owns only its working directory,
and no descriptor of an outside folder stays open. World-readable files in the installation's folder
are not hidden.
"""

import ctypes
import os
import stat
import struct
import tempfile
from functools import cache

from . import lockdown

_DEEPEST, _FEWEST_INODES = 64, 64


class Workdirs(lockdown.Isolation):
    """Base class that creates a working directory below `boot.scratch` for each child."""

    def __init__(self, boot: lockdown.Boot) -> None:
        super().__init__(boot)
        self._budgets: dict[int, int] = {}
        self.count_tasks = boot.child_uid is not None
        self.parent = os.getpid()

    @property
    def patience_ms(self) -> int:
        return 200 if self._budgets else -1

    def fork(self, number: int, limits: lockdown.ChildLimits) -> int:
        folder, uid = self._folder(number), self.uid(number)
        for path in (folder, f"{folder}/submission", f"{folder}/tmp"):
            os.mkdir(path, 0o700)
            if uid is not None:
                os.chown(path, uid, uid)
        self._budgets[number] = limits.disk_bytes
        try:
            return os.fork()
        except OSError:
            self.leave(number)
            raise

    def overrun(self) -> list[int]:
        return [n for n, bound in self._budgets.items() if not _fits(self._folder(n), bound)]

    def leave(self, number: int) -> None:
        del self._budgets[number]
        remove_tree(self._folder(number))

    def close(self) -> None:
        remove_tree(self.boot.scratch)

    def _folder(self, number: int) -> str:
        return f"{self.boot.scratch}/{number}"

    @staticmethod
    def _use_as_home(folder: str) -> None:
        os.chdir(f"{folder}/submission")
        os.environ.update(HOME=f"{folder}/submission", TMPDIR=f"{folder}/tmp")
        tempfile.tempdir = f"{folder}/tmp"  # `tempfile` caches the fork server's folder


def _fits(folder: str, budget: int) -> bool:
    """Return True if the tree below `folder` respects the limits on total size, entries and depth.

    budget: limit on the total size in bytes; the limit on entries is max(64, budget // 4096)
    """
    entries = max(_FEWEST_INODES, budget // 4096)
    folders = [(folder, 0)]
    try:
        while folders:
            folder, depth = folders.pop()
            for entry in os.scandir(folder):
                status = entry.stat(follow_symlinks=False)
                entries -= 1
                if stat.S_ISDIR(status.st_mode):
                    folders.append((entry.path, depth + 1))
                else:  # the minimum ignores holes in sparse files and preallocated blocks
                    budget -= min(status.st_size, status.st_blocks * 512)
                if entries < 0 or budget < 0 or depth > _DEEPEST:
                    return False
    except (FileNotFoundError, NotADirectoryError):
        return True  # the tree changed during the walk, and will soon be measured again
    except OSError:
        return False  # a folder is unreadable, or a path is too long
    return True


def remove_tree(top: str) -> None:
    """Remove a folder, if it exists, even if its contents are unreadable or deeply nested.

    Nested folders are moved to the top level before they are emptied, so that the length of paths
    does not grow with the depth.
    """
    if not os.path.isdir(top):
        return
    os.chmod(top, 0o700)
    moved = 0
    while entries := list(os.scandir(top)):
        for entry in entries:
            if not entry.is_dir(follow_symlinks=False):
                os.unlink(entry.path)
                continue
            os.chmod(entry.path, 0o700)
            for inner in list(os.scandir(entry.path)):
                if inner.is_dir(follow_symlinks=False):
                    os.chmod(inner.path, 0o700)  # moving a folder updates its ".." entry
                    os.rename(inner.path, f"{top}/moved-{moved}-{os.urandom(4).hex()}")
                    moved += 1
                else:
                    os.unlink(inner.path)
            os.rmdir(entry.path)
    os.rmdir(top)


_CREATE_RULESET, _ADD_RULE, _RESTRICT_SELF = 444, 445, 446
_CREATE_RULESET_VERSION, _RULE_PATH_BENEATH = 1, 1

_WRITE_FILE, _READ_FILE, _READ_DIR = 1 << 1, 1 << 2, 1 << 3
_REMOVE_DIR, _REMOVE_FILE, _MAKE_DIR, _MAKE_REG = 1 << 4, 1 << 5, 1 << 7, 1 << 8
_MAKE_SYM, _REFER, _TRUNCATE = 1 << 12, 1 << 13, 1 << 14
_READ = _READ_FILE | _READ_DIR
_OWN = (
    _READ | _WRITE_FILE | _REMOVE_DIR | _REMOVE_FILE
    | _MAKE_DIR | _MAKE_REG | _MAKE_SYM | _REFER | _TRUNCATE
)  # fmt: skip
# Highest bit of the file-system rights by ABI version (see Linux's documentation of Landlock).
_LAST_FS_RIGHT = {1: 12, 2: 13, 3: 14, 4: 14, 5: 15}
_NET_RIGHTS, _SCOPES = 0b11, 0b11  # TCP bind and connect; abstract sockets and signals


def abi() -> int:
    """Return the kernel's Landlock ABI version; raise OSError if Landlock is not available."""
    return lockdown.syscall(_CREATE_RULESET, "landlock", 0, 0, _CREATE_RULESET_VERSION)


class Landlock(Workdirs):
    """Isolates each child in a separate Landlock domain."""

    def finish_warm_up(self) -> None:
        abi()  # raises OSError now rather than in the first child

    def enter(self, number: int, limits: lockdown.ChildLimits) -> None:
        lockdown.prefer_for_oom()
        folder, gpu = self._folder(number), self.boot.gpu
        ruleset = _create_ruleset(gpu=gpu)
        lockdown.become(self.uid(number))
        for path in self.boot.readable:
            _allow(ruleset, path, _READ | (_WRITE_FILE if path.startswith("/dev/") else 0))
        _allow(ruleset, folder, _OWN)
        if gpu:  # at start-up, a driver reads the memory map and writes thread names
            for name in ("maps", "status"):
                _allow(ruleset, f"/proc/self/{name}", _READ)
            _allow(ruleset, "/proc/self/task", _READ_FILE | _WRITE_FILE)
        lockdown.call("prctl", lockdown.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0)
        lockdown.syscall(_RESTRICT_SELF, "landlock_restrict_self", ruleset, 0)
        os.close(ruleset)
        self._use_as_home(folder)


@cache
def _supported_rights() -> int:
    return (2 << _LAST_FS_RIGHT.get(abi(), 15)) - 1


def _create_ruleset(*, gpu: bool) -> int:
    version = abi()
    rights = _supported_rights()
    if gpu:
        rights &= ~(1 << 15)  # leave IOCTL_DEV unrestricted, because a driver needs device ioctls
    fields = [rights]
    if version >= 4:
        fields.append(_NET_RIGHTS)
    if version >= 6:
        fields.append(_SCOPES)
    attributes = struct.pack(f"{len(fields)}Q", *fields)
    buffer = ctypes.create_string_buffer(attributes, len(attributes))
    return lockdown.syscall(_CREATE_RULESET, "landlock_create_ruleset", buffer, len(attributes), 0)


def _allow(ruleset: int, path: str, rights: int) -> None:
    """Grant rights on a path and everything below it; do nothing if the path does not exist."""
    try:
        place = os.open(path, os.O_PATH | os.O_CLOEXEC)
    except FileNotFoundError:
        return
    rights &= _supported_rights()
    if not stat.S_ISDIR(os.fstat(place).st_mode):
        rights &= _READ_FILE | _WRITE_FILE | _TRUNCATE
    rule = ctypes.create_string_buffer(struct.pack("=Qi", rights, place), 12)
    lockdown.syscall(_ADD_RULE, "landlock_add_rule", ruleset, _RULE_PATH_BENEATH, rule, 0)
    os.close(place)


class ChrootIsolation(Workdirs):
    """Isolates each child in a chroot at `boot.root`, which contains `boot.scratch`."""

    def finish_warm_up(self) -> None:
        if self.boot.child_uid is None:  # a child that runs as root could escape from the chroot
            raise OSError("no uid is left for submissions")

    def enter(self, number: int, limits: lockdown.ChildLimits) -> None:
        lockdown.prefer_for_oom()
        os.chroot(self.boot.root)
        os.chdir("/")
        lockdown.become(self.uid(number))
        self._use_as_home(self._folder(number))
