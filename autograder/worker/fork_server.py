"""Fork server that imports all libraries once and forks a child for each submission.

Theory of operation. The fork server runs in the sandbox and executes only project code; submissions
run in its children. A child cannot access the fork server, because the fork server is undumpable
and the child inherits no descriptor that refers to it.

The fork server imports NumPy and torch, calls `server.prepare(config)` to do the work that every
child would otherwise repeat, and then waits on a SOCK_SEQPACKET socket for `Spawn` packets. A
`Spawn` packet carries the child's end of a stream socket. The response is `Refused`, or `Started`
with a pidfd that lets the trusted process watch and kill the child directly. Because only a parent
can reap its children, the fork server reaps each child and reports the exit status as `Exited`.
When the socket closes or the trusted process dies, the fork server kills its children and exits.

A fork copies only the calling thread, so the fork server must be single-threaded: `prepare` must
not start threads or run a backward pass. `prepare` should register the devices that submissions
will use, because autograd starts its device threads only once, and a confined child may start none.

A child returns from the server loop before it runs a submission, so that the submission cannot find
the loop's stack frames.
"""

import contextlib
import errno
import fcntl
import gc
import os
import select
import signal
import socket
import struct
import threading
import time
import traceback

import msgspec

from .isolation import lockdown
from .isolation.enter_namespaces import Namespaces
from .isolation.large_pages import use_large_pages
from .isolation.lockdown import Boot, ChildLimits, Isolation
from .isolation.without_namespaces import ChrootIsolation, Landlock

_PACKET = 1 << 16
_SETUP_MS = 10_000
_GPU_SETUP_MS = 60_000
_GRACE_SECONDS = 10.0
_RECEIVE, _SEND = 0xC0502100, 0xC0182101  # SECCOMP_IOCTL_NOTIF_RECV and _SEND
_NOTIFICATION, _RESPONSE = struct.Struct("<QIIiIQ6Q"), struct.Struct("<QqiI")
_MAX_ANSWERS = 200  # notifications answered per child
_ISOLATIONS: dict[str, type[Isolation]] = {
    "bubblewrap": Namespaces,
    "landlock": Landlock,
    "chroot": ChrootIsolation,
}


class Spawn(msgspec.Struct, frozen=True):
    """A request to fork a child that serves the attached socket.

    program:   BPF program that refuses forbidden system calls
    notifying: BPF program that reports suspicious system calls to `Notifications`, or b"" if the
               kernel does not support this
    """

    number: int
    limits: ChildLimits
    program: bytes
    notifying: bytes = b""


class Ready(msgspec.Struct, frozen=True, tag=True):
    """Sent when the fork server has imported all libraries and is ready to fork."""


class Failed(msgspec.Struct, frozen=True, tag=True):
    """Sent before the fork server exits because of an exception, for example during start-up."""

    message: str


class Started(msgspec.Struct, frozen=True, tag=True):
    """Sent with a child's pidfd when the child is confined and its GPU, if any, is initialised."""

    number: int


class Refused(msgspec.Struct, frozen=True, tag=True):
    """Sent when a child could not be forked, or was killed because it could not be confined."""

    number: int
    message: str


class Exited(msgspec.Struct, frozen=True, tag=True):
    """Sent when a child has exited.

    status: exit code of the child, as returned by `os.waitstatus_to_exitcode`
    tried:  numbers of the suspicious system calls that the child attempted
    """

    number: int
    status: int
    tried: tuple[int, ...] = ()


Report = Ready | Failed | Started | Refused | Exited


class Notifications:
    """Counts and refuses a child's suspicious system calls, using seccomp notifications.

    The child installs the notifying program before the refusing program, sends the listener's
    descriptor to the fork server, and cannot create another listener. A child that is blocked in a
    notification can still be killed. After `_MAX_ANSWERS` notifications, the fork server closes the
    listener, and the kernel refuses further suspicious calls without notifying anyone.

    counts: number of attempts by system call number
    """

    def __init__(self, listener: int) -> None:
        self.listener = listener
        self.counts: dict[int, int] = {}

    def answer(self) -> bool:
        """Refuse the next reported system call; return False if the listener should be closed."""
        notification = bytearray(_NOTIFICATION.size)
        try:
            fcntl.ioctl(self.listener, _RECEIVE, notification)
        except OSError as error:  # the calling thread was killed, or the child has exited
            return error.errno in (errno.ENOENT, errno.EINTR)
        number, _, _, call, *_ = _NOTIFICATION.unpack(notification)
        self.counts[call] = self.counts.get(call, 0) + 1
        response = bytearray(_RESPONSE.pack(number, 0, -errno.EPERM, 0))
        with contextlib.suppress(OSError):
            fcntl.ioctl(self.listener, _SEND, response)
        return sum(self.counts.values()) < _MAX_ANSWERS


class _Child(msgspec.Struct):
    number: int
    pid: int
    pidfd: int
    notifications: Notifications | None = None


def main(control_fd: int) -> None:
    """Run the fork server on an inherited socket, serve submissions in its children, and exit."""
    control = socket.socket(fileno=control_fd)
    try:
        fork_server = _ForkServer(control)
        sock = fork_server.supervise()
    except BaseException:  # the trusted process raises SandboxFault with this traceback
        _send(control, Failed(traceback.format_exc(limit=-4)))
        os._exit(1)
    if sock is None:
        os._exit(0)
    del fork_server, control
    try:
        from . import server

        server.serve(sock)
    except BaseException:  # a submission may also raise SystemExit or KeyboardInterrupt
        os._exit(70)
    os._exit(0)


class _ForkServer:
    def __init__(self, control: socket.socket) -> None:
        packet, descriptors, *_ = socket.recv_fds(control, _PACKET, 1)
        boot = msgspec.msgpack.decode(packet, type=Boot)
        self._control = control
        self._gpu = boot.gpu
        self._children: dict[int, _Child] = {}
        self._listeners: dict[int, Notifications] = {}
        self._forks = 0
        self._poller = select.poll()
        self._poller.register(control, select.POLLIN)
        self._isolation = _ISOLATIONS[boot.backend](boot)
        _warm_up(boot.warm, descriptors[0])
        self._isolation.finish_warm_up()
        lockdown.call("prctl", lockdown.PR_SET_DUMPABLE, 0, 0, 0, 0)
        _send(control, Ready())

    def supervise(self) -> socket.socket | None:
        """Fork children until the control socket closes, then return None.

        In a forked child, return the child's socket immediately.
        """
        while True:
            for descriptor, event in self._poller.poll(self._isolation.patience_ms):
                if descriptor in self._listeners:
                    # An event without POLLIN means that the child is exiting.
                    if not (event & select.POLLIN and self._listeners[descriptor].answer()):
                        self._stop_listening(self._listeners[descriptor])
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
            overrun = self._isolation.overrun()
            for child in self._children.values():
                if child.number in overrun:
                    signal.pidfd_send_signal(child.pidfd, signal.SIGKILL)

    def _spawn(self, spawn: Spawn, sock: int) -> socket.socket | None:
        self._forks += 1
        if self._forks == 2:  # more forks are likely; large pages pay off after about a dozen
            use_large_pages()
        used = lockdown.used_memory(gpu=self._gpu)
        channel, channel_child = socket.socketpair()
        setup, setup_child = channel.detach(), channel_child.detach()
        try:
            pid = self._isolation.fork(spawn.number, spawn.limits)
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
        problem, child.notifications = _wait_for_setup(setup, patience)
        os.close(setup)
        if child.notifications is not None:
            self._listeners[child.notifications.listener] = child.notifications
            self._poller.register(child.notifications.listener, select.POLLIN)
        if problem is None:
            self._children[child.pidfd] = child
            self._poller.register(child.pidfd, select.POLLIN)
            _send(self._control, Started(spawn.number), child.pidfd)
        else:
            self._reap_now(child)
            _send(self._control, Refused(spawn.number, problem))
        return None

    def _become_child(self, spawn: Spawn, sock: int, status: int, used: int) -> socket.socket:
        self._control.detach()  # `keep_descriptors` closes the descriptor
        try:
            os.setsid()
            lockdown.keep_descriptors(sock, status)
            self._isolation.enter(spawn.number, spawn.limits)
            lockdown.lock(spawn.limits, spawn.program, spawn.notifying, used, self._isolation)
            if self._gpu:
                from . import server

                server.start_gpu()
            os.write(lockdown.STATUS_FD, b"+")
        except BaseException:  # the submission must not run unconfined
            os.write(lockdown.STATUS_FD, f"-{traceback.format_exc(limit=-3)}".encode())
            os._exit(71)
        os.close(lockdown.STATUS_FD)
        return socket.socket(fileno=lockdown.SOCKET_FD)

    def _reap(self, descriptor: int) -> None:
        self._poller.unregister(descriptor)
        child = self._children.pop(descriptor)
        status = self._reap_now(child)
        tried = tuple(child.notifications.counts) if child.notifications is not None else ()
        _send(self._control, Exited(child.number, status, tried))

    def _stop_listening(self, notifications: Notifications) -> None:
        if self._listeners.pop(notifications.listener, None) is not None:
            self._poller.unregister(notifications.listener)
            os.close(notifications.listener)

    def _reap_now(self, child: _Child) -> int:
        """Kill and reap a child, release its resources, and return its exit code."""
        with contextlib.suppress(ProcessLookupError):
            signal.pidfd_send_signal(child.pidfd, signal.SIGKILL)
        _, status = os.waitpid(child.pid, 0)
        os.close(child.pidfd)
        if child.notifications is not None:
            self._stop_listening(child.notifications)
        self._isolation.leave(child.number)
        return os.waitstatus_to_exitcode(status)

    def _end(self) -> None:
        for child in list(self._children.values()):
            self._reap_now(child)
        self._isolation.close()


def _warm_up(modules: tuple[str, ...], config_fd: int) -> None:
    """Import modules and call `server.prepare`; raise RuntimeError if threads keep running."""
    gc.disable()  # garbage collection takes a seventh of the import time and frees little
    lockdown.prepare_arena()
    for name in modules:
        __import__(name)
    from . import server

    with open(config_fd, "rb") as file:
        server.prepare(file.read())
    for thread in threading.enumerate():
        if thread is not threading.current_thread():
            thread.join(_GRACE_SECONDS)
    deadline = time.monotonic() + _GRACE_SECONDS  # an OS thread may outlive its Python thread
    while (tasks := len(os.listdir("/proc/self/task"))) > 1 and time.monotonic() < deadline:
        time.sleep(0.001)  # no event reports the end of an OS thread
    if tasks > 1:
        raise RuntimeError(f"{tasks} threads exist before the first fork, left by imports")
    lockdown.prepare_autograd()
    gc.freeze()  # otherwise garbage collection in a child would write to, and copy, shared pages
    gc.enable()


def _wait_for_setup(setup: int, milliseconds: int) -> tuple[str | None, Notifications | None]:
    """Wait for a child to confine itself; return an error message and the child's notifications.

    The message is None on success. The notifications are None if the child sent no listener.
    """
    poller = select.poll()
    poller.register(setup, select.POLLIN)
    notifications = None
    with socket.socket(fileno=os.dup(setup)) as sock:
        while poller.poll(milliseconds):
            answer, descriptors, _, _ = socket.recv_fds(sock, 4096, 1)
            if descriptors:
                notifications = Notifications(descriptors[0])
                answer = answer[1:]
            if answer == b"+":
                return None, notifications
            if answer or not descriptors:
                problem = answer[1:].decode(errors="replace")
                return problem or "the child died before it was confined", notifications
    return f"the child was not confined within {milliseconds // 1000} s", notifications


def _send(control: socket.socket, report: Report, *descriptors: int) -> None:
    """Send a report, and ignore errors because the next read detects a closed socket."""
    with contextlib.suppress(OSError):
        socket.send_fds(control, [msgspec.msgpack.encode(report)], descriptors)
