"""Isolation of the landlock backend, for hosts without user namespaces.

Theory of operation
-------------------
This runs in the fork server and in its child before a submission does.

Each child gets a separate Landlock domain: it may read the runtime, write in its working directory,
and open no other path. The seccomp program forbids sockets, signals, chmod and new processes. If
the fork server is root, each child also gets a separate uid, so that file permissions separate
children again and RLIMIT_NPROC counts only this child.

Unlike namespaces, this backend does not hide whether a path outside exists (stat is not
restricted), or the host's path names. Disk usage is measured a few times a second instead of
limited by the kernel, and RLIMIT_FSIZE bounds only single files exactly. Without root, all children
share the grader's uid, and their number of threads is not limited.
"""

from __future__ import annotations

import ctypes
import os
import stat
import struct
from functools import cache

from .lockdown import PR_SET_NO_NEW_PRIVS, ChildLimits, become, call, prefer_for_oom, syscall
from .workdirs import Workdirs

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
# The last file-system right of each version of the interface (see the kernel's documentation).
_LAST_FS_RIGHT = {1: 12, 2: 13, 3: 14, 4: 14, 5: 15}
_NET_RIGHTS, _SCOPES = 0b11, 0b11  # bind and connect TCP; abstract sockets and signals


def abi() -> int:
    """Return the kernel's version of Landlock; raise OSError if it lacks Landlock."""
    return syscall(_CREATE_RULESET, "landlock", 0, 0, _CREATE_RULESET_VERSION)


class Landlock(Workdirs):
    """Isolates children by Landlock."""

    def finish_warm_up(self) -> None:
        abi()  # raises OSError before the first child

    def enter(self, number: int, limits: ChildLimits) -> None:
        prefer_for_oom()
        folder, gpu = self._folder(number), self._boot.gpu
        ruleset = _create_ruleset(gpu=gpu)
        become(self.uid(number))
        for path in self._boot.readable:
            _allow(ruleset, path, _READ | (_WRITE_FILE if path.startswith("/dev/") else 0))
        _allow(ruleset, folder, _OWN)
        if gpu:  # a driver reads its memory map and names its threads when it starts
            for name in ("maps", "status"):
                _allow(ruleset, f"/proc/self/{name}", _READ)
            _allow(ruleset, "/proc/self/task", _READ_FILE | _WRITE_FILE)  # to write thread names
        call("prctl", PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0)
        syscall(_RESTRICT_SELF, "landlock_restrict_self", ruleset, 0)
        os.close(ruleset)
        self._use_as_home(folder)


@cache
def _supported_rights() -> int:
    return (2 << _LAST_FS_RIGHT.get(abi(), 15)) - 1


def _create_ruleset(*, gpu: bool) -> int:
    version = abi()
    rights = _supported_rights()
    if gpu:
        rights &= ~(1 << 15)  # a driver needs device ioctls
    fields = [rights]
    if version >= 4:
        fields.append(_NET_RIGHTS)
    if version >= 6:
        fields.append(_SCOPES)
    attributes = struct.pack(f"{len(fields)}Q", *fields)
    buffer = ctypes.create_string_buffer(attributes, len(attributes))
    return syscall(_CREATE_RULESET, "landlock_create_ruleset", buffer, len(attributes), 0)


def _allow(ruleset: int, path: str, rights: int) -> None:
    """Grant rights on a path and below it, if it still exists."""
    try:
        place = os.open(path, os.O_PATH | os.O_CLOEXEC)
    except FileNotFoundError:
        return
    rights &= _supported_rights()
    if not stat.S_ISDIR(os.fstat(place).st_mode):
        rights &= _READ_FILE | _WRITE_FILE | _TRUNCATE
    rule = ctypes.create_string_buffer(struct.pack("=Qi", rights, place), 12)
    syscall(_ADD_RULE, "landlock_add_rule", ruleset, _RULE_PATH_BENEATH, rule, 0)
    os.close(place)
