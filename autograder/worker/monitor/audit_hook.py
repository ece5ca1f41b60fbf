"""Seeing a submission look into the grader, or try what honest work never does.

Theory of operation. Python tells an audit hook, which nothing can remove, when a frame is asked of
a traceback or a generator, when frames and objects are searched, and when files are opened. What
the submission's own code asks for in this way is told to the trusted side at once, before that
code can go on: nothing that it does afterwards takes the words back. The standard library asks for
frames on its own account (named tuples, warnings, tracebacks that are printed), and so do torch
and numpy: that is nobody's fault and is not told.

No other hook is taken beside it, which would run a submission's code at any time.

The hook is a fence: it sees what the interpreter tells, and shares its process with whoever it
watches. What it tells may be forged by a submission, to that one's own harm only.
"""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Callable
from types import FrameType
from typing import Any

# What is asked for through these is asked for by whoever called them.
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
# What may be read there is covered by the sandbox; others' entries are not honest work's.
_OWN_PROC = ("self", "thread-self", "cpuinfo", "meminfo", "stat", "loadavg", "version", "driver")
_LIBRARIES = ("torch", "numpy", "scipy", "triton", "worker", "autograder")
# What a function is made of, and what it is given if nobody says.
_INSIDES = ("__code__", "__defaults__", "__kwdefaults__")
# Whatever is told of these is a look into the grader; the rest is an attempt.
LOOKS = frozenset({*_FRAMES, *_SEARCHES, "sys._getframe", "__code__"})
KNOWN = LOOKS | {"/proc", "kill"}


def keep(root: str, tell: Callable[[str, int | None], None]) -> None:
    """Tell what code below `root` asks for, from now on and as long as the process lives."""
    own = root + os.sep
    pid = os.getpid()
    looking = False

    def hook(event: str, arguments: tuple[Any, ...]) -> None:
        nonlocal looking
        if event == "sys.addaudithook" and sys._getframe(1).f_code is not keep.__code__:
            raise RuntimeError("no other hook")  # which Python takes for a quiet no
        if event not in _EVENTS or looking:
            return
        looking = True
        try:
            what = _what(event, arguments, pid)
            if what:
                line = _asked_by(sys._getframe(1), own, generated=what != "__code__")
                if line is not None:
                    tell(what, line or None)
        except Exception:  # whatever it was: nothing of ours may show in a submission's code
            return
        finally:
            looking = False

    _show_no_frames_to_handlers()
    sys.addaudithook(hook)


def _what(event: str, arguments: tuple[Any, ...], pid: int) -> str:
    """What is asked for, or nothing if anybody may."""
    if event == "object.__getattr__" or event == "object.__setattr__":
        thing, name = arguments[0], arguments[1]
        if name in _FRAMES:
            return str(name)
        module = getattr(thing, "__module__", None) if name in _INSIDES else None
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


def _asked_by(frame: FrameType | None, own: str, generated: bool) -> int | None:
    """The submission's line, 0 in code made at run time; None if it was not the submission.

    generated: whether code made at run time is taken for the submission's (torch makes some too)
    """
    while frame is not None:
        code = frame.f_code
        if code.co_filename.startswith(own):
            return frame.f_lineno
        if code.co_filename.startswith("<") and not code.co_filename.startswith("<frozen"):
            return 0 if generated else None
        module = frame.f_globals.get("__name__")
        frames = module in ("inspect", "traceback") and code.co_name in _HAND_OUT_FRAMES
        if not frames and module not in _OPEN_FILES:
            return None
        frame = frame.f_back
    return None


def _show_no_frames_to_handlers() -> None:
    """A signal's handler is given the frame that it interrupts; a submission's gets none."""

    def wrapped(set_handler: Callable[..., Any]) -> Callable[..., Any]:
        def set_one(number: Any, handler: Any) -> Any:
            if not callable(handler) or handler in _NO_HANDLERS:
                return set_handler(number, handler)
            return set_handler(number, lambda which, frame: handler(which, None))

        return set_one

    inner: Any = sys.modules["_signal"]  # which signal.signal asks
    inner.signal = wrapped(inner.signal)


_NO_HANDLERS = (signal.SIG_DFL, signal.SIG_IGN, signal.default_int_handler)
