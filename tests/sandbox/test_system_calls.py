"""A submission cannot make refused system calls, even without libc."""

from __future__ import annotations

import platform

import pytest

from autograder.sandbox import Child
from tests.sandbox.sandbox_inside import ask

pytestmark = pytest.mark.skipif(
    platform.machine() != "x86_64", reason="the call numbers below are x86-64's"
)

# name -> (number, arguments); a null pointer is fine, the filter answers before it is read
CALLS = {
    "fork": (57,),
    "vfork": (58,),
    "clone": (56, 17, 0, 0, 0, 0),
    "clone a thread": (56, 0x3D0F00, 0, 0, 0, 0),
    "clone3": (435, 0, 0),
    "execve": (59, 0, 0, 0),
    "execveat": (322, -100, 0, 0, 0, 0),
    "unshare": (272, 0x10000000),
    "setns": (308, 3, 0),
    "mount": (165, 0, 0, 0, 0, 0),
    "umount2": (166, 0, 2),
    "pivot_root": (155, 0, 0),
    "chroot": (161, 0),
    "open_tree": (428, -100, 0, 0),
    "move_mount": (429, 0, 0, 0, 0, 0),
    "fsopen": (430, 0, 0),
    "mount_setattr": (442, 0, 0, 0, 0, 0),
    "ptrace": (101, 0, 0, 0, 0),
    "process_vm_readv": (310, 1, 0, 0, 0, 0, 0),
    "process_vm_writev": (311, 1, 0, 0, 0, 0, 0),
    "pidfd_open": (434, 1, 0),
    "pidfd_getfd": (438, 0, 0, 0),
    "add_key": (248, 0, 0, 0, 0, 0),
    "keyctl": (250, 0, 0, 0, 0, 0),
    "bpf": (321, 0, 0, 0),
    "perf_event_open": (298, 0, 0, 0, 0, 0),
    "io_uring_setup": (425, 1, 0),
    "userfaultfd": (323, 1),
    "kexec_load": (246, 0, 0, 0, 0),
    "finit_module": (313, 0, 0, 0),
    "memfd_create": (319, 0, 0),
    "personality": (135, 0x0040000),
    "open_by_handle_at": (304, 3, 0, 0),
    "shmget": (29, 0, 4096, 0o1600),
    "mq_open": (240, 0, 0, 0, 0),
    "a TCP socket": (41, 2, 1, 0),
    "a UDP socket": (41, 2, 2, 0),
    "a unix socket": (41, 1, 1, 0),
    "a netlink socket": (41, 16, 3, 0),
    "a vsock socket": (41, 40, 1, 0),
    "socketpair": (53, 1, 1, 0, 0),
    "setsockopt": (54, 3, 1, 50, 0, 0),
    "a handle on the grader": (55, 3, 1, 77, 0, 0),
    "passing descriptors": (46, 3, 0, 0),
    "locking a library": (73, 0, 2),
    "typing into the terminal": (16, 0, 0x5412, 0),
    "TIOCLINUX": (16, 0, 0x541C, 0),
    "TIOCSTI with high bits set": (16, 0, 0x5412 | 1 << 32, 0),
    "owning a descriptor's signals": (72, 3, 8, 1),
    "outliving the template": (157, 1, 0, 0, 0, 0),
    "becoming dumpable": (157, 4, 1, 0, 0, 0),
    "another process's limits": (302, 12345, 7, 0, 0),
    "out-of-band data": (44, 3, 0, 0, 1, 0, 0),
    "a call of tomorrow": (999,),
}


def call(witness: Child, *arguments: int) -> int:
    """errno of a raw system call in the child; 0 where it succeeded."""
    answer = ask(
        witness,
        f"""
        import ctypes
        libc = ctypes.CDLL(None, use_errno=True)
        libc.syscall.restype = ctypes.c_long
        result = libc.syscall(*[ctypes.c_long(a) for a in {arguments!r}])
        return ctypes.get_errno() if result == -1 else 0
        """,
    )
    return int(answer)


EPERM, ENOSYS = 1, 38


@pytest.mark.parametrize("name", CALLS)
def test_refused(witness: Child, name: str) -> None:
    assert call(witness, *CALLS[name]) in (EPERM, ENOSYS)


NEVER_HONEST = ("unshare", "setns", "mount", "umount2", "pivot_root", "chroot", "ptrace", "bpf")


@pytest.mark.parametrize("name", NEVER_HONEST)
def test_what_honest_work_never_asks_for_is_counted(child: Child, name: str) -> None:
    assert call(child, *CALLS[name]) == EPERM
    child.kill()
    assert child.tried() == (name,)


def test_what_an_accident_may_ask_for_is_not_counted(child: Child) -> None:
    for name in ("fork", "execve", "a TCP socket", "setsockopt", "a call of tomorrow"):
        call(child, *CALLS[name])
    ask(child, "import os, signal\nsignal.signal(10, lambda *_: 0)\nos.kill(os.getpid(), 10)")
    child.kill()
    assert child.tried() == ()


def test_whoever_asks_without_end_is_refused_all_the_same(child: Child) -> None:
    answers = ask(
        child,
        """
        import os
        refused = 0
        for _ in range(1000):
            try:
                os.setuid(0)
            except OSError:
                refused += 1
        return refused
        """,
    )
    assert answers == 1000


def test_a_call_of_another_architecture_ends_it(child: Child) -> None:
    x32_getpid = 0x40000000 + 39
    ask(child, f"import ctypes\nctypes.CDLL(None).syscall({x32_getpid})")
    assert child.exit_status(5) == -31


def test_no_capability_is_left(witness: Child) -> None:
    held = ask(
        witness,
        """
        import ctypes, struct
        header = ctypes.create_string_buffer(struct.pack("Ii", 0x20080522, 0))
        sets = ctypes.create_string_buffer(24)
        ctypes.CDLL(None).capget(header, sets)
        return sets.raw.hex()
        """,
    )
    assert set(held) == {"0"}


def test_no_privilege_can_be_gained(witness: Child) -> None:
    assert ask(witness, "import ctypes\nreturn ctypes.CDLL(None).prctl(39, 0, 0, 0, 0)") == 1


def test_a_thread_cannot_be_started(witness: Child) -> None:
    answer = ask(witness, "import threading\nthreading.Thread(target=int).start()")
    assert answer == {"error": "RuntimeError: can't start new thread"}


def test_limits_cannot_be_raised(witness: Child) -> None:
    answer = ask(
        witness, "import resource\nresource.setrlimit(resource.RLIMIT_NOFILE, (4096, 4096))"
    )
    assert "error" in answer


def test_the_thread_of_autograd_is_confined_too(child: Child) -> None:
    outcome = ask(
        child,
        """
        import socket, threading, torch
        outcome = []
        class Reach(torch.autograd.Function):
            @staticmethod
            def forward(context, x):
                return x * 1
            @staticmethod
            def backward(context, gradient):
                outcome.append(threading.current_thread() is threading.main_thread())
                try:
                    socket.socket()
                except OSError as error:
                    outcome.append(error.errno)
                return gradient
        with torch.device("fake_gpu"):
            Reach.apply(torch.ones(2, requires_grad=True)).sum().backward()
        return outcome
        """,
    )
    assert outcome == [False, EPERM]
