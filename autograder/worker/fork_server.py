"""The template: one warm process in the sandbox, forked once for each submission.

Theory of operation
-------------------
Who may be lying: nobody here. The template runs only the kit's own code; submissions run in its
children, which cannot reach it: it is undumpable, and they hold no descriptor of it.

It imports numpy and torch once, lets `runtime.prepare(config)` do what every child
would otherwise repeat, and then waits on one SOCK_SEQPACKET socket for `Spawn`. The packet
carries the child's end of a stream socket; the answer, `Started`, carries a pidfd, so that the
trusted side watches and kills the child itself and needs no help from here. What the trusted side
cannot do is reap: the template does, and sends each status as `Exited`. When the socket closes,
or the trusted process dies, the template ends, and with it every child.

A fork copies one thread only, so none but the main one may exist. `prepare` must therefore
neither start threads nor run a backward pass; it should register the devices that submissions
will use, because autograd's thread for each of them is started before threads are forbidden.

A child leaves the loop by returning from it, so that no frame of the template is left on the
stack that a submission could walk.
"""

from __future__ import annotations

import array
import contextlib
import gc
import os
import select
import signal
import socket
import threading
import time
import traceback

import msgspec

from .isolation import lockdown
from .isolation.enter_chroot import ChrootWalls
from .isolation.enter_landlock import Landlock
from .isolation.enter_namespaces import Namespaces
from .isolation.lockdown import ChildLimits
from .isolation.seccomp_notify import Questions

_PACKET = 1 << 16
_SETUP_MS = 10_000
_GPU_SETUP_MS = 60_000
_GRACE_SECONDS = 10.0


class Boot(msgspec.Struct, frozen=True):
    """The first packet: how to set up. A descriptor with the runtime's config comes along.

    backend:   "bubblewrap", "landlock" or "chroot"
    warm:      modules to import before the first fork
    child_uid: the first of the uids that children take, each one of its own (None: keep ours)
    first:     number of the first of them, so that templates side by side seldom meet
    gpu:       whether CUDA may be used
    scratch:   not for bubblewrap: where children's working directories are made
    readable:  landlock only: the paths a child may read
    root:      chroot only: the folder that becomes a child's root
    """

    backend: str
    warm: tuple[str, ...]
    child_uid: int | None
    gpu: bool
    first: int = 0
    scratch: str = ""
    readable: tuple[str, ...] = ()
    root: str = ""


class Spawn(msgspec.Struct, frozen=True):
    """Fork a child for the attached socket, under these limits and BPF programs.

    asking: put on the child first; holds calls that are counted here (`questions.py`), or is empty
    """

    number: int
    limits: ChildLimits
    program: bytes
    asking: bytes = b""


class Ready(msgspec.Struct, frozen=True, tag=True):
    """The template is warm."""


class Failed(msgspec.Struct, frozen=True, tag=True):
    """The template could not be made; it exits."""

    message: str


class Started(msgspec.Struct, frozen=True, tag=True):
    """The child is confined, its GPU started, and it is about to serve; its pidfd is attached."""

    number: int


class Refused(msgspec.Struct, frozen=True, tag=True):
    """The child could not be confined, and is gone."""

    number: int
    message: str


class Exited(msgspec.Struct, frozen=True, tag=True):
    """The child was reaped. status: as `os.waitstatus_to_exitcode` gives it.

    tried: numbers of the calls that were counted
    """

    number: int
    status: int
    tried: tuple[int, ...] = ()


Report = Ready | Failed | Started | Refused | Exited


class _Child(msgspec.Struct):
    number: int
    pid: int
    pidfd: int
    questions: Questions | None = None


def main(control_fd: int) -> None:
    """Be the template on an inherited socket; in a child, serve one submission. Never returns."""
    control = socket.socket(fileno=control_fd)
    try:
        template = _Template(control)
        sock = template.supervise()
    except BaseException:  # whatever went wrong is reported, and the process ends
        _send(control, Failed(traceback.format_exc(limit=-4)))
        os._exit(1)
    if sock is None:
        os._exit(0)
    del template, control
    _serve(sock)


def _serve(sock: socket.socket) -> None:
    try:
        from . import server

        server.serve(sock)
    except BaseException:  # a submission's SystemExit and KeyboardInterrupt included
        os._exit(70)
    os._exit(0)


class _Template:
    def __init__(self, control: socket.socket) -> None:
        packet, descriptors, *_ = socket.recv_fds(control, _PACKET, 1)
        boot = msgspec.msgpack.decode(packet, type=Boot)
        self._control = control
        self._gpu = boot.gpu
        self._children: dict[int, _Child] = {}
        self._asking: dict[int, Questions] = {}
        self._poller = select.poll()
        self._poller.register(control, select.POLLIN)
        self._walls: Landlock | ChrootWalls | Namespaces
        if boot.backend == "landlock":
            self._walls = Landlock(
                boot.child_uid, boot.first, boot.scratch, boot.readable, boot.gpu
            )
        elif boot.backend == "chroot":
            self._walls = ChrootWalls(boot.child_uid, boot.first, boot.scratch, boot.root)
        else:
            self._walls = Namespaces(boot.child_uid, boot.first, boot.gpu)
        _warm_up(boot.warm, descriptors[0])
        self._walls.finish_warm_up()
        lockdown.call("prctl", lockdown.PR_SET_DUMPABLE, 0, 0, 0, 0)
        _send(control, Ready())

    def supervise(self) -> socket.socket | None:
        """Serve spawns until the trusted side closes. In a child: return its socket at once."""
        while True:
            for descriptor, event in self._poller.poll(self._walls.patience_ms):
                if descriptor in self._asking:
                    if event & select.POLLIN:
                        self._answer(descriptor)
                    else:  # nobody can ask any more, though the child is still being taken down
                        self._stop_listening(self._asking[descriptor])
                    continue
                if descriptor in self._children:
                    self._reap(descriptor)
                    continue
                packet, descriptors, *_ = socket.recv_fds(self._control, _PACKET, 1)
                if not packet:
                    self._end()
                    return None
                spawn = msgspec.msgpack.decode(packet, type=Spawn)
                sock = self._spawn(spawn, descriptors[0])
                if sock is not None:
                    return sock
            overrun = self._walls.overrun()
            for child in self._children.values():
                if child.number in overrun:
                    signal.pidfd_send_signal(child.pidfd, signal.SIGKILL)

    def _spawn(self, spawn: Spawn, sock: int) -> socket.socket | None:
        used = lockdown.used_memory(gpu=self._gpu)
        channel, channel_child = socket.socketpair()
        setup, setup_child = channel.detach(), channel_child.detach()
        try:
            pid = self._walls.fork(spawn.number, spawn.limits)
        except OSError as error:
            for descriptor in (setup, setup_child, sock):
                os.close(descriptor)
            _send(self._control, Refused(spawn.number, str(error)))
            return None
        if pid == 0:
            return self._become_child(spawn, sock, setup_child, used)
        os.close(setup_child)
        os.close(sock)
        child = _Child(spawn.number, pid, os.pidfd_open(pid))
        patience = _GPU_SETUP_MS if self._gpu else _SETUP_MS
        problem, child.questions = _wait_for_setup(setup, patience)
        os.close(setup)
        if child.questions is not None:
            self._asking[child.questions.listener] = child.questions
            self._poller.register(child.questions.listener, select.POLLIN)
        if problem is None:
            self._children[child.pidfd] = child
            self._poller.register(child.pidfd, select.POLLIN)
            _send(self._control, Started(spawn.number), child.pidfd)
        else:
            self._bury(child)
            _send(self._control, Refused(spawn.number, problem))
        return None

    def _become_child(self, spawn: Spawn, sock: int, status: int, used: int) -> socket.socket:
        self._control.detach()  # closed by number below; the object must not do it once more
        try:
            os.setsid()
            lockdown.keep_descriptors(sock, status)
            self._walls.enter(spawn.number, spawn.limits)
            lockdown.lock(
                spawn.limits,
                spawn.program,
                used,
                asking=spawn.asking,
                parent=self._walls.parent,
                count_tasks=self._walls.count_tasks,
                gpu=self._gpu,
            )
            if self._gpu:
                from . import server

                server.start_gpu()
            os.write(lockdown.STATUS_FD, b"+")
        except BaseException:  # nothing may run unconfined, whatever went wrong
            os.write(lockdown.STATUS_FD, f"-{traceback.format_exc(limit=-3)}".encode())
            os._exit(71)
        os.close(lockdown.STATUS_FD)
        return socket.socket(fileno=lockdown.SOCKET_FD)

    def _reap(self, descriptor: int) -> None:
        self._poller.unregister(descriptor)
        child = self._children.pop(descriptor)
        status = self._bury(child)
        tried = tuple(child.questions.counts) if child.questions is not None else ()
        _send(self._control, Exited(child.number, status, tried))

    def _answer(self, listener: int) -> None:
        if not self._asking[listener].answer():
            self._stop_listening(self._asking[listener])

    def _stop_listening(self, questions: Questions) -> None:
        if self._asking.pop(questions.listener, None) is not None:
            self._poller.unregister(questions.listener)
            questions.close()

    def _bury(self, child: _Child) -> int:
        """Make sure that the child is gone and nothing of it is left; its status."""
        with contextlib.suppress(ProcessLookupError):
            signal.pidfd_send_signal(child.pidfd, signal.SIGKILL)
        _, status = os.waitpid(child.pid, 0)
        os.close(child.pidfd)
        if child.questions is not None:
            self._stop_listening(child.questions)
        self._walls.leave(child.number)
        return os.waitstatus_to_exitcode(status)

    def _end(self) -> None:
        for child in list(self._children.values()):
            self._bury(child)
        self._walls.close()


def _warm_up(modules: tuple[str, ...], config_fd: int) -> None:
    """Import what submissions need, prepare the runtime, and be one thread again."""
    gc.disable()  # imports make hardly any garbage, and looking for it takes a seventh of the time
    lockdown.prepare_arena()
    for name in modules:
        __import__(name)
    from . import server

    with open(config_fd, "rb") as file:
        server.prepare(file.read())
    for thread in threading.enumerate():
        if thread is not threading.current_thread():
            thread.join(_GRACE_SECONDS)
    deadline = time.monotonic() + _GRACE_SECONDS  # the kernel's thread outlives Python's a moment
    while (tasks := len(os.listdir("/proc/self/task"))) > 1 and time.monotonic() < deadline:
        time.sleep(0.001)
    if tasks > 1:
        raise RuntimeError(f"{tasks} threads exist before the first fork; warming up left them")
    lockdown.prepare_autograd()
    gc.freeze()  # so that a child's collections do not copy every page they look at
    gc.enable()


def _wait_for_setup(setup: int, milliseconds: int) -> tuple[str | None, Questions | None]:
    """What the child could not do (None: it is confined), and what the kernel asks about it."""
    poller = select.poll()
    poller.register(setup, select.POLLIN)
    questions = None
    with socket.socket(fileno=os.dup(setup)) as sock:
        while poller.poll(milliseconds):
            answer, descriptors, _, _ = socket.recv_fds(sock, 4096, 1)
            if descriptors:
                questions = Questions(descriptors[0])
                answer = answer[1:]
            if answer == b"+":
                return None, questions
            if answer or not descriptors:
                problem = answer[1:].decode(errors="replace")
                return problem or "the child died before it was confined", questions
    return f"the child was not confined within {milliseconds // 1000} s", questions


def _send(control: socket.socket, report: Report, *descriptors: int) -> None:
    """Answer the trusted side; where it is gone, the end of the socket is read next."""
    rights = array.array("i", descriptors)
    ancillary = [(socket.SOL_SOCKET, socket.SCM_RIGHTS, rights)] if descriptors else []
    with contextlib.suppress(OSError):
        control.sendmsg([msgspec.msgpack.encode(report)], ancillary)
