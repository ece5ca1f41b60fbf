"""Working directories of children that have no filesystem of their own, and their budgets.

Theory of operation. Who may be lying: the children, about what their folders hold. Each child gets
one folder to write in; where it has a uid of its own, no other child can look into it. What it
writes is measured a few times a second: RLIMIT_FSIZE alone bounds one file at the instant.
"""

from __future__ import annotations

import os
import stat
import tempfile

from .lockdown import ChildLimits, uid_of

_DEEPEST, _FEWEST_INODES = 64, 64


class Rooms:
    """The folders below `scratch`. `child_uid`: the first of the children's uids (None: ours)."""

    def __init__(self, child_uid: int | None, first: int, scratch: str) -> None:
        self._child_uid, self._first = child_uid, first
        self._scratch = scratch
        self._budgets: dict[int, int] = {}
        self.count_tasks = child_uid is not None
        self.parent = os.getpid()

    @property
    def patience_ms(self) -> int:
        """How long the template may sleep: the disk budgets are watched by it."""
        return 200 if self._budgets else -1

    def fork(self, number: int, limits: ChildLimits) -> int:
        """Make the child's working directory and fork."""
        room, uid = self._room(number), self._uid(number)
        for folder in (room, f"{room}/submission", f"{room}/tmp"):
            os.mkdir(folder, 0o700)
            if uid is not None:
                os.chown(folder, uid, uid)
        self._budgets[number] = limits.disk_bytes
        try:
            return os.fork()
        except OSError:
            self.leave(number)
            raise

    def overrun(self) -> list[int]:
        """Children whose files outgrew their budget."""
        return [n for n, bound in self._budgets.items() if not _fits(self._room(n), bound)]

    def leave(self, number: int) -> None:
        """Remove the child's working directory; the child is gone."""
        del self._budgets[number]
        remove_tree(self._room(number))

    def close(self) -> None:
        """Remove what all children shared."""
        remove_tree(self._scratch)

    def _uid(self, number: int) -> int | None:
        return uid_of(number, self._child_uid, self._first)

    def _room(self, number: int) -> str:
        return f"{self._scratch}/{number}"

    @staticmethod
    def _settle(room: str) -> None:
        """In the child: make the room its home."""
        os.chdir(f"{room}/submission")
        os.environ.update(HOME=f"{room}/submission", TMPDIR=f"{room}/tmp")
        tempfile.tempdir = f"{room}/tmp"  # it remembers the template's


def _fits(room: str, budget: int) -> bool:
    """Return whether the files beneath `room` keep to the budget, in bytes, number and depth."""
    entries = max(_FEWEST_INODES, budget // 4096)
    folders = [(room, 0)]
    try:
        while folders:
            folder, depth = folders.pop()
            for entry in os.scandir(folder):
                status = entry.stat(follow_symlinks=False)
                entries -= 1
                if stat.S_ISDIR(status.st_mode):
                    folders.append((entry.path, depth + 1))
                else:  # neither a sparse file's length nor a filesystem's preallocation
                    budget -= min(status.st_size, status.st_blocks * 512)
                if entries < 0 or budget < 0 or depth > _DEEPEST:
                    return False
    except (FileNotFoundError, NotADirectoryError):
        return True  # it changed under the walk; the next one is soon
    except OSError:
        return False  # a folder made to be unreadable, or a path made too long
    return True


def remove_tree(top: str) -> None:
    """Remove a tree that a submission may have made deep, long-named or unreadable.

    Nested folders are moved up before they are emptied, so that neither the recursion nor the
    length of a path grows with the depth.
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
                    os.chmod(inner.path, 0o700)  # to move a folder is to write its ".."
                    os.rename(inner.path, f"{top}/moved-{moved}-{os.urandom(4).hex()}")
                    moved += 1
                else:
                    os.unlink(inner.path)
            os.rmdir(entry.path)
    os.rmdir(top)
