"""Report code that inspects the grader or takes actions that an honest submission never needs.

Theory of operation. A Python audit hook cannot be removed. Python calls the hook when code gets a
frame from a traceback or generator, searches frames or objects, opens files or sends signals. If
the submission causes such an event, the hook notifies the trusted process before the submission's
code continues, so that the submission cannot suppress the report. Libraries such as torch and NumPy
access frames for named tuples, warnings and tracebacks; the hook ignores these accesses. The hook
rejects further audit hooks, which could run the submission's code at any time.

The hook runs in the submission's process and observes only events of the interpreter. A submission
that forges reports harms only itself.
"""

import os
import signal
import sys
from collections.abc import Callable
from types import FrameType
from typing import Any

# Events in these functions of `inspect` and `traceback` are attributed to the functions' callers.
_HAND_OUT_FRAMES = {
    *("currentframe", "stack", "trace", "getouterframes", "getinnerframes", "walk_stack", "walk_tb")
}
_OPEN_FILES = ("ctypes", "os", "pathlib", "io", "codecs", "_pyio", "shutil", "glob")
_FRAMES = {"tb_frame", "gi_frame", "cr_frame", "ag_frame"}
_SEARCHES = {
    *("sys._current_frames", "sys._current_exceptions", "sys.settrace", "sys.setprofile"),
    *("gc.get_objects", "gc.get_referrers", "gc.get_referents"),
    *("ctypes.dlopen", "ctypes.dlsym", "ctypes.dlsym/handle", "ctypes.string_at"),
    *("ctypes.wstring_at", "ctypes.cdata", "ctypes.cdata/buffer"),
}
_FILES = {"open", "os.listdir", "os.scandir"}
_SIGNALS = {"os.kill", "os.killpg", "signal.pthread_kill"}
_EVENTS = {
    *("object.__getattr__", "object.__setattr__", "sys._getframe"),
    *(_SEARCHES | _FILES | _SIGNALS),
}
# Entries of /proc that libraries read. Honest code does not read the entries of other processes.
_OWN_PROC = ("self", "thread-self", "cpuinfo", "meminfo", "stat", "loadavg", "version", "driver")
_LIBRARIES = ("torch", "numpy", "scipy", "triton", "worker", "autograder")
_BEHAVIOUR = ("__code__", "__defaults__", "__kwdefaults__")
# Events that inspect the grader and count as forbidden calls. Other events are only recorded.
LOOKS = frozenset({*_FRAMES, *_SEARCHES, "sys._getframe", "__code__"})
KNOWN = LOOKS | {"/proc", "kill"}


def install(root: str, report: Callable[[str, int | None], None]) -> None:
    """Report suspicious actions by code in `root` until the process ends.

    report: called with the kind of event and the line in the submission, which is None if the code
            was compiled at run time
    """
    own = root + os.sep
    pid = os.getpid()
    looking = False

    def hook(event: str, arguments: tuple[Any, ...]) -> None:
        nonlocal looking
        if event == "sys.addaudithook" and sys._getframe(1).f_code is not install.__code__:
            raise RuntimeError("no other hook")  # Python ignores the error and the new hook
        if event not in _EVENTS or looking:
            return
        looking = True
        try:
            what = _kind_of(event, arguments, pid)
            if what:
                line = _student_line(sys._getframe(1), own, generated=what != "__code__")
                if line is not None:
                    report(what, line or None)
        except Exception:  # an error in the hook must not reach the submission
            return
        finally:
            looking = False

    _hide_frames_from_handlers()
    sys.addaudithook(hook)


def _kind_of(event: str, arguments: tuple[Any, ...], pid: int) -> str:
    """Return the kind of a suspicious event, or "" if the event is allowed."""
    if event == "object.__getattr__" or event == "object.__setattr__":
        thing, name = arguments[0], arguments[1]
        if name in _FRAMES:
            return str(name)
        module = getattr(thing, "__module__", None) if name in _BEHAVIOUR else None
        library = isinstance(module, str) and module.partition(".")[0] in _LIBRARIES
        return "__code__" if library else ""
    if event in _FILES:
        path = arguments[0]
        if isinstance(path, bytes):
            path = os.fsdecode(path)
        if not isinstance(path, str) or not path.startswith("/proc"):
            return ""
        return "" if path.split("/")[2:3] in [[name] for name in _OWN_PROC] else "/proc"
    if event in _SIGNALS:
        return "" if event == "os.kill" and arguments[0] == pid else "kill"
    return event


def _student_line(frame: FrameType | None, root: str, generated: bool) -> int | None:
    """Return the submission's line that caused an event, or None if other code caused it.

    generated: whether to return 0 for code compiled at run time, instead of None. Libraries such as
               torch compile code at run time, too
    """
    while frame is not None:
        code = frame.f_code
        if code.co_filename.startswith(root):
            return frame.f_lineno
        if code.co_filename.startswith("<") and not code.co_filename.startswith("<frozen"):
            return 0 if generated else None
        module = frame.f_globals.get("__name__")
        frames = module in ("inspect", "traceback") and code.co_name in _HAND_OUT_FRAMES
        if not frames and module not in _OPEN_FILES:
            return None
        frame = frame.f_back
    return None


def _hide_frames_from_handlers() -> None:
    """Make Python call signal handlers with None instead of the interrupted frame."""
    inner: Any = sys.modules["_signal"]  # `signal.signal` calls `_signal.signal`
    set_handler = inner.signal

    def set_checked(number: Any, handler: Any) -> Any:
        if not callable(handler) or handler in _NO_HANDLERS:
            return set_handler(number, handler)
        return set_handler(number, lambda which, frame: handler(which, None))

    inner.signal = set_checked


_NO_HANDLERS = (signal.SIG_DFL, signal.SIG_IGN, signal.default_int_handler)
