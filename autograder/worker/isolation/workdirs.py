"""Working directories and disk budgets of children without a private file system.

Theory of operation. Children may fill their folders with anything. Each child gets one writable
folder; if it has a separate uid, no other child can read the folder. The folder's size is measured
a few times a second; RLIMIT_FSIZE limits only single files, but without delay.
"""

from __future__ import annotations

import os
import stat
import tempfile

from .lockdown import Boot, ChildLimits, Isolation

_DEEPEST, _FEWEST_INODES = 64, 64


class Workdirs(Isolation):
    """Isolation with a working directory below `boot.scratch` for each child."""

    def __init__(self, boot: Boot) -> None:
        super().__init__(boot)
        self._budgets: dict[int, int] = {}
        self.count_tasks = boot.child_uid is not None
        self.parent = os.getpid()

    @property
    def patience_ms(self) -> int:
        return 200 if self._budgets else -1

    def fork(self, number: int, limits: ChildLimits) -> int:
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
        remove_tree(self._boot.scratch)

    def _folder(self, number: int) -> str:
        return f"{self._boot.scratch}/{number}"

    @staticmethod
    def _use_as_home(folder: str) -> None:
        os.chdir(f"{folder}/submission")
        os.environ.update(HOME=f"{folder}/submission", TMPDIR=f"{folder}/tmp")
        tempfile.tempdir = f"{folder}/tmp"  # `tempfile` caches the fork server's folder


def _fits(folder: str, budget: int) -> bool:
    """Return True if the files below a folder respect the budget in size, number and depth."""
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
                else:  # excludes holes in sparse files, and preallocated blocks
                    budget -= min(status.st_size, status.st_blocks * 512)
                if entries < 0 or budget < 0 or depth > _DEEPEST:
                    return False
    except (FileNotFoundError, NotADirectoryError):
        return True  # it changed during the walk; the next measurement follows soon
    except OSError:
        return False  # an unreadable folder, or a path that is too long
    return True


def remove_tree(top: str) -> None:
    """Remove a tree that a submission may have made deep, unreadable, or with long names.

    Nested folders are moved up before they are emptied, so that neither recursion nor paths grow
    with the depth.
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
                    os.chmod(inner.path, 0o700)  # moving a folder writes its ".."
                    os.rename(inner.path, f"{top}/moved-{moved}-{os.urandom(4).hex()}")
                    moved += 1
                else:
                    os.unlink(inner.path)
            os.rmdir(entry.path)
    os.rmdir(top)
