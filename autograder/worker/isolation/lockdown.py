"""Limit the process that is about to run a submission.

Theory of operation. This module runs in a newly forked child of the fork server, before a line of
the submission is read. Every step must succeed before the submission starts: a failing step raises
`OSError`, the child exits, and the spawn is refused.

The steps can run only in this order:

1. descriptors: close all except the submission's socket (3) and /dev/null on 0, 1 and 2;
2. identity: switch to a uid without files, if the fork server may do so;
3. file system: `enter_namespaces` or `without_namespaces`;
4. resource limits, in addition to the memory of the fork server;
5. privileges: drop every capability, the bounding set, and the right to gain any (no_new_privs);
6. system calls: install an allow-list, compiled outside as a BPF program, on all threads at once.
   torch's autograd starts one thread per device; these must exist before threads are forbidden.

Address randomisation does not separate submissions, because each child shares the memory layout of
the fork server. CPU caches and the kernel are shared as well.
"""

import contextlib
import ctypes
import fcntl
import os
import resource
import signal
import socket
import struct
import sys
import threading
from typing import Any

import msgspec

SOCKET_FD = 3
STATUS_FD = 4
TASKS_FD = 5

PR_SET_PDEATHSIG, PR_SET_DUMPABLE, _PR_CAPBSET_DROP = 1, 4, 24
PR_SET_NO_NEW_PRIVS, _PR_CAP_AMBIENT, _PR_CAP_AMBIENT_CLEAR_ALL = 38, 47, 4
_CAPABILITY_VERSION_3 = 0x20080522
_SYS_SECCOMP = {"x86_64": 317, "aarch64": 277}
_SECCOMP_SET_MODE_FILTER, _SECCOMP_FILTER_FLAG_TSYNC = 1, 1
_SECCOMP_FILTER_FLAGS_ASKING = 8 | 16  # new listener; fail if a thread cannot be filtered
_MIB = 1 << 20
_FEWEST_FILES = 8
DRIVERS_BYTES = 2 << 30  # writable memory of a GPU's driver and libraries
# Number of uids for children if the fork server runs as root. Far fewer children run at a time.
SPARE_UIDS = 10_000

_libc = ctypes.CDLL(None, use_errno=True)
_libc.syscall.restype = ctypes.c_long


class ChildLimits(msgspec.Struct, frozen=True):
    """The resource limits of one submission.

    memory_bytes: address space in addition to the fork server's. With a GPU, this limits writable
                  private memory instead, in addition to the driver's memory
    processes:    number of processes and threads that the submission may start
    disk_bytes:   size of the child's tmpfs for its working directory, /tmp and /dev/shm together
    open_files:   number of descriptors, including the three standard ones and the socket
    cpu_seconds:  processor time until SIGKILL; the caller limits wall-clock time
    """

    memory_bytes: int = 1 << 30
    processes: int = 0
    disk_bytes: int = 16 << 20
    open_files: int = 64
    cpu_seconds: int = 120

    def __post_init__(self) -> None:
        if min(self.memory_bytes, self.disk_bytes, self.cpu_seconds) < 1:
            raise ValueError(f"memory, disk and processor time must be above 0: {self}")
        if self.processes < 0 or self.open_files < _FEWEST_FILES:
            raise ValueError(f"processes must be >= 0 and open_files >= {_FEWEST_FILES}: {self}")


class Boot(msgspec.Struct, frozen=True):
    """The fork server's first packet, with a descriptor for the configuration of `server.prepare`.

    backend:   "bubblewrap", "landlock" or "chroot"
    warm:      modules to import before the first fork
    child_uid: first uid of the range for children, or None to keep the current uid
    gpu:       whether CUDA may be used
    first:     number of the first child, so that parallel fork servers rarely use the same uid
    scratch:   folder for children's working directories (not for bubblewrap)
    readable:  paths that a child may read (landlock only)
    root:      the folder that becomes a child's root (chroot only)
    """

    backend: str
    warm: tuple[str, ...]
    child_uid: int | None
    gpu: bool
    first: int = 0
    scratch: str = ""
    readable: tuple[str, ...] = ()
    root: str = ""


class Isolation:
    """Isolates the children of a fork server; each backend has a subclass.

    parent:      pid of the fork server in the child's pid namespace, or 0 if it is outside
    count_tasks: whether RLIMIT_NPROC counts only the tasks of one child, and can therefore limit it
    patience_ms: time until the fork server calls `overrun` if there are no events, or -1 for never
    """

    parent = 0
    count_tasks = True

    def __init__(self, boot: Boot) -> None:
        self.boot = boot

    @property
    def patience_ms(self) -> int:
        return -1

    def finish_warm_up(self) -> None:
        """Prepare the fork server before its first fork; raise OSError if that fails."""

    def fork(self, number: int, limits: ChildLimits) -> int:
        """Fork a child; return the pid, or 0 in the child."""
        raise NotImplementedError

    def enter(self, number: int, limits: ChildLimits) -> None:
        """Restrict the file system and switch the uid, in the child."""
        raise NotImplementedError

    def overrun(self) -> list[int]:
        """Return the numbers of children whose files exceed their budget."""
        return []

    def leave(self, number: int) -> None:
        """Remove the resources of a child that has ended."""

    def close(self) -> None:
        """Remove the resources of all children."""

    def uid(self, number: int) -> int | None:
        """Return the uid of a child, or None to keep the current uid.

        Children that run at the same time have different uids.
        """
        first = self.boot.child_uid
        return None if first is None else first + (self.boot.first + number) % SPARE_UIDS


def call(name: str, *arguments: object) -> int:
    """Call a libc function; raise OSError with its name if it returns -1."""
    return _checked(name, getattr(_libc, name)(*arguments))


def syscall(number: int, name: str, *arguments: object) -> int:
    """Make a raw system call; raise OSError with its name if it fails."""
    padded = [ctypes.c_long(a) if isinstance(a, int) else a for a in arguments]
    return _checked(name, _libc.syscall(ctypes.c_long(number), *padded))


def _checked(name: str, result: int) -> int:
    if result == -1:
        code = ctypes.get_errno()
        raise OSError(code, f"{name}: {os.strerror(code)}")
    return result


def keep_descriptors(sock: int, status: int) -> None:
    """Close all descriptors except the socket, the status socket and the list of the child's tasks.

    Descriptors 0 to 2 become /dev/null. `lock` and its caller close the last two descriptors.
    """
    sock = fcntl.fcntl(sock, fcntl.F_DUPFD, TASKS_FD + 1)
    status = fcntl.fcntl(status, fcntl.F_DUPFD, TASKS_FD + 1)
    tasks = fcntl.fcntl(os.open("/proc/self/task", os.O_RDONLY), fcntl.F_DUPFD, TASKS_FD + 1)
    nothing = os.open(os.devnull, os.O_RDWR)
    for standard in range(3):
        os.dup2(nothing, standard)
    os.dup2(sock, SOCKET_FD, inheritable=False)
    os.dup2(status, STATUS_FD, inheritable=False)
    os.dup2(tasks, TASKS_FD, inheritable=False)
    os.closerange(TASKS_FD + 1, resource.getrlimit(resource.RLIMIT_NOFILE)[1])


def used_memory(*, gpu: bool) -> int:
    """Return the size of the address space, or of writable memory if a GPU is used, in bytes."""
    with open("/proc/self/statm", "rb") as file:
        return int(file.read().split()[5 if gpu else 0]) * resource.getpagesize()


def prefer_for_oom() -> None:
    """Make the kernel kill this process instead of the grader if memory runs out."""
    # /proc/self belongs to root while the process is undumpable
    call("prctl", PR_SET_DUMPABLE, 1, 0, 0, 0)
    with contextlib.suppress(OSError), open("/proc/self/oom_score_adj", "w") as file:
        file.write("1000")


def become(uid: int | None) -> None:
    """Switch to a uid and gid that own no files. None keeps the current uid and gid."""
    if uid is not None:
        os.setgroups([])
        os.setresgid(uid, uid, uid)
        os.setresuid(uid, uid, uid)


def lock(
    limits: ChildLimits, program: bytes, notifying: bytes, used_bytes: int, isolation: Isolation
) -> None:
    """Set limits, drop privileges and restrict system calls, after the file system is restricted.

    notifying:  a BPF program to install first; the fork server answers its notifications
    used_bytes: the fork server's `used_memory`, to which `memory_bytes` is added

    With a GPU, the limit applies to writable memory instead of address space, because a GPU driver
    reserves far more addresses than it uses.
    """
    gpu = isolation.boot.gpu
    _drop_privileges()
    _start_autograd_threads()
    tasks = len(os.listdir(TASKS_FD))
    os.close(TASKS_FD)
    _apply_limits(
        limits,
        memory=used_bytes + limits.memory_bytes + (DRIVERS_BYTES if gpu else 0),
        kind=resource.RLIMIT_DATA if gpu else resource.RLIMIT_AS,
        tasks=tasks + limits.processes if isolation.count_tasks else None,
    )
    call("prctl", PR_SET_DUMPABLE, 0, 0, 0, 0)
    # must follow the last change of credentials, which resets this setting
    call("prctl", PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)
    if os.getppid() != isolation.parent:
        raise OSError("the fork server died")
    if notifying:
        _send_listener(_install_filter(notifying, notifies=True), STATUS_FD)
    _install_filter(program)


def _apply_limits(limits: ChildLimits, memory: int, kind: int, tasks: int | None) -> None:
    bounds = {
        resource.RLIMIT_NOFILE: limits.open_files,
        resource.RLIMIT_FSIZE: limits.disk_bytes,
        resource.RLIMIT_CPU: limits.cpu_seconds,
        resource.RLIMIT_STACK: 8 * _MIB,
        resource.RLIMIT_CORE: 0,
        resource.RLIMIT_MEMLOCK: 0,
        resource.RLIMIT_MSGQUEUE: 0,
        resource.RLIMIT_SIGPENDING: 64,
        resource.RLIMIT_NICE: 0,
        resource.RLIMIT_RTPRIO: 0,
        kind: memory,
    }
    if tasks is not None:
        bounds[resource.RLIMIT_NPROC] = tasks
    for which, wanted in bounds.items():
        hard = resource.getrlimit(which)[1]
        bound = wanted if hard == resource.RLIM_INFINITY else min(wanted, hard)
        resource.setrlimit(which, (bound, bound))


def _drop_privileges() -> None:
    call("prctl", PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0)
    call("prctl", _PR_CAP_AMBIENT, _PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0)
    capability = 0
    while _libc.prctl(_PR_CAPBSET_DROP, capability, 0, 0, 0) == 0:
        capability += 1
    header = ctypes.create_string_buffer(struct.pack("Ii", _CAPABILITY_VERSION_3, 0))
    nothing = ctypes.create_string_buffer(24)
    call("capset", header, nothing)


_autograd_graph: list[Any] = []


def prepare_arena() -> None:
    """Create a malloc arena in the fork server, which the next thread of a child reuses.

    Otherwise that thread's new arena would take 64 MiB of the child's address space.
    """
    thread = threading.Thread(target=bytearray, args=(1 << 16,))
    thread.start()
    thread.join()


def prepare_autograd() -> None:
    """Build a small autograd graph in the fork server; a child runs its backward pass."""
    torch = sys.modules.get("torch")
    if torch is not None:
        _autograd_graph.append(torch.ones(1, requires_grad=True).sum())


def _start_autograd_threads() -> None:
    """Run a backward pass, in which autograd starts a thread for each device except the CPU."""
    while _autograd_graph:
        _autograd_graph.pop().backward()


def _send_listener(listener: int, channel: int) -> None:
    """Send the listener from the child to the fork server, and close the child's copy."""
    with socket.socket(fileno=os.dup(channel)) as sock:
        socket.send_fds(sock, [b"?"], [listener])
    os.close(listener)


class _FilterProgram(ctypes.Structure):
    _fields_ = (("length", ctypes.c_ushort), ("instructions", ctypes.c_char_p))


def _install_filter(program: bytes, notifies: bool = False) -> int:
    """Install a seccomp program on all threads; return its listener if `notifies`, otherwise 0."""
    loaded = _FilterProgram(len(program) // 8, program)
    flags = _SECCOMP_FILTER_FLAG_TSYNC | (_SECCOMP_FILTER_FLAGS_ASKING if notifies else 0)
    result = syscall(
        _SYS_SECCOMP[os.uname().machine],
        "seccomp",
        _SECCOMP_SET_MODE_FILTER,
        flags,
        ctypes.byref(loaded),
    )
    if result and not notifies:
        raise OSError(f"seccomp: thread {result} could not be filtered")
    return result
