"""Isolation of the bubblewrap backend: separate namespaces for each child.

Theory of operation. This code runs in the fork server and in its children before a submission runs.

bubblewrap runs the fork server in separate namespaces with read-only mounts of the runtime. Each
child enters nested pid, user, mount, ipc, network, uts and cgroup namespaces. A small tmpfs
contains the child's working directory, /tmp and /dev/shm, so that one size limit applies to all
files that the child writes. Another tmpfs, empty except for what a GPU driver reads, hides /proc,
which would show the fork server and other children. The child is process 1 of its pid namespace, so
when it dies, the kernel kills all processes that it started.

The kernel ignores signals to process 1 that have no handler, including the one that abort() sends.
glibc then executes an instruction that faults, so an abort is reported as SIGSEGV. SIGKILL from
outside always works.
"""

import os
from pathlib import Path

from .lockdown import PR_SET_DUMPABLE, Boot, ChildLimits, Isolation, become, call, prefer_for_oom

_CLONE_NEWPID = 0x20000000
_NAMESPACES = (
    0x10000000  # user
    | (_CLONE_NEWNS := 0x00020000)
    | 0x08000000  # ipc
    | 0x40000000  # network
    | 0x04000000  # uts
    | 0x02000000  # cgroup
)
_MS_RDONLY, _MS_NOSUID, _MS_NODEV, _MS_NOEXEC = 1, 2, 4, 8
_MS_REMOUNT, _MS_BIND, _MS_MOVE, _MS_REC, _MS_PRIVATE = 32, 4096, 8192, 16384, 1 << 18
_PRIVATE = _MS_NOSUID | _MS_NODEV | _MS_NOEXEC
_READ_ONLY = _PRIVATE | _MS_REMOUNT | _MS_BIND | _MS_RDONLY
_MNT_DETACH = 2
_UID_INSIDE = 1000
_FEWEST_INODES = 64
# Files in /proc that a CUDA driver reads. They are hidden from children without a GPU.
GPU_PROC_FILES = (
    *("driver/nvidia", "driver/nvidia-uvm", "devices", "cpuinfo", "meminfo", "modules"),
    "sys/vm/mmap_min_addr",
)
_OWN_PROCESS = "1"


class Namespaces(Isolation):
    """Isolates each child in separate namespaces."""

    def __init__(self, boot: Boot) -> None:
        super().__init__(boot)
        self._own = os.open("/proc/self/ns/pid", os.O_RDONLY | os.O_CLOEXEC)

    def finish_warm_up(self) -> None:
        """Make the folders that the fork server wrote to during start-up read-only."""
        for folder in (b"/cache", b"/tmp"):
            call("mount", None, folder, None, _READ_ONLY, None)

    def fork(self, number: int, limits: ChildLimits) -> int:
        """Fork a child as PID 1 of a new PID namespace.

        `unshare` affects only children that are forked later, and `setns` undoes it. One fork
        instead of two is therefore enough, and the fork server remains the child's parent.
        """
        call("unshare", _CLONE_NEWPID)
        try:
            pid = os.fork()
        except OSError:
            call("setns", self._own, _CLONE_NEWPID)
            raise
        if pid:
            call("setns", self._own, _CLONE_NEWPID)
        return pid

    def enter(self, number: int, limits: ChildLimits) -> None:
        gpu = self.boot.gpu
        prefer_for_oom()
        if gpu:
            _mount_private_proc()
        become(self.uid(number))
        _enter_namespaces()
        _mount_private_disk(limits.disk_bytes)
        _cover_proc((_OWN_PROCESS, *GPU_PROC_FILES) if gpu else ())
        os.chdir("/submission")


def _mount_private_proc() -> None:
    """Mount a /proc that shows only the child, because a GPU driver writes thread names there.

    This must happen before the child enters its other namespaces, where existing mounts are locked.
    """
    call("unshare", _CLONE_NEWNS)
    call("mount", None, b"/", None, _MS_REC | _MS_PRIVATE, None)
    call("mount", b"proc", b"/proc", b"proc", _PRIVATE, None)


def _enter_namespaces() -> None:
    uid, gid = os.geteuid(), os.getegid()
    # a change of uid makes the process undumpable, and root owns an undumpable process's uid map
    call("prctl", PR_SET_DUMPABLE, 1, 0, 0, 0)
    call("unshare", _NAMESPACES)
    Path("/proc/self/setgroups").write_text("deny")
    Path("/proc/self/uid_map").write_text(f"{_UID_INSIDE} {uid} 1")
    Path("/proc/self/gid_map").write_text(f"{_UID_INSIDE} {gid} 1")
    call("mount", None, b"/", None, _MS_REC | _MS_PRIVATE, None)


def _mount_private_disk(disk_bytes: int) -> None:
    inodes = max(_FEWEST_INODES, disk_bytes // 4096)
    options = f"size={disk_bytes},nr_inodes={inodes},mode=700".encode()
    call("mount", b"disk", b"/scratch", b"tmpfs", _PRIVATE, options)
    for name, place in (("submission", "/submission"), ("tmp", "/tmp"), ("shm", "/dev/shm")):
        os.mkdir(f"/scratch/{name}", 0o700)
        call("mount", f"/scratch/{name}".encode(), place.encode(), None, _MS_BIND, None)
    call("umount2", b"/scratch", _MNT_DETACH)


def _cover_proc(keep: tuple[str, ...]) -> None:
    call("mount", b"none", b"/scratch", b"tmpfs", _PRIVATE, b"size=4k,nr_inodes=32,mode=755")
    for name in keep:
        _keep_proc_file(f"/proc/{name}", f"/scratch/{name}")
    if _OWN_PROCESS in keep:
        os.symlink(_OWN_PROCESS, "/scratch/self")
    call("mount", None, b"/scratch", None, _READ_ONLY, None)
    call("mount", b"/scratch", b"/proc", None, _MS_MOVE, None)


def _keep_proc_file(source: str, target: str) -> None:
    if os.path.isdir(source):
        os.makedirs(target)
    elif os.path.exists(source):
        os.makedirs(os.path.dirname(target), exist_ok=True)
        os.close(os.open(target, os.O_CREAT | os.O_WRONLY, 0o444))
    else:
        return
    call("mount", source.encode(), target.encode(), None, _MS_BIND, None)
