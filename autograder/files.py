"""Files that the kit keeps on this machine: atomic writes, locks, temporary folders, the secret.

A process holds a lock in each temporary folder that it uses, and the kernel releases the locks of
dead processes. The next process that creates a folder removes the folders without a lock, because
they contain solutions.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import secrets
import shutil
import tempfile
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from .model.course import Course

_PREFIX = "autograder-work-"
_LOCK = "lock"


def replace_file(path: Path, data: bytes, mode: int = 0o600, *, lasting: bool = True) -> None:
    """Replace a file atomically: write a temporary file next to `path`, then rename it.

    lasting: flush to disk, so that the file survives a power failure. Not needed for data that can
    be computed again, if the reader detects an incomplete file.
    """
    descriptor, temporary = tempfile.mkstemp(dir=path.parent, prefix=".new-")
    try:
        with os.fdopen(descriptor, "wb") as file:
            file.write(data)
            file.flush()
            if lasting:
                os.fsync(file.fileno())
        os.chmod(temporary, mode)
        os.replace(temporary, path)
    except BaseException:
        Path(temporary).unlink(missing_ok=True)
        raise


def write_files(folder: Path, files: Mapping[str, bytes]) -> None:
    """Write files, given by their paths relative to the folder; create missing folders."""
    for name, content in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)


def hash_of(parts: Iterable[bytes]) -> bytes:
    """Return a hash of 20 bytes that depends on each part and on where it starts and ends."""
    digest = hashlib.blake2b(digest_size=20)
    for part in parts:
        digest.update(len(part).to_bytes(8, "little"))
        digest.update(part)
    return digest.digest()


def course_secret(course: Course) -> bytes:
    """Return the secret that makes hidden inputs unpredictable.

    The first call creates the file .autograder/secret, readable only by its owner.
    """
    path = course.state / "secret"
    with contextlib.suppress(FileNotFoundError):
        return path.read_bytes()
    temporary = path.with_name(f"secret.{os.getpid()}")
    temporary.touch(mode=0o600)
    temporary.write_bytes(secrets.token_bytes(32))
    with contextlib.suppress(FileExistsError):  # another process was faster
        os.link(temporary, path)
    temporary.unlink()
    return path.read_bytes()


def public_draw(number: int) -> bytes:
    """Return a substitute for the secret that is the same on every machine, for proofs."""
    return hashlib.blake2b(f"draw {number}".encode(), digest_size=32).digest()


@contextmanager
def in_turn(folder: Path) -> Iterator[None]:
    """Lock a folder, creating it if needed; the lock of a process that dies is released.

    File systems without locks are not protected.
    """
    import fcntl

    folder.mkdir(parents=True, exist_ok=True, mode=0o700)
    with (folder / ".turn").open("w") as lock:
        with contextlib.suppress(OSError):
            fcntl.flock(lock, fcntl.LOCK_EX)
        yield


@contextmanager
def alone(lock_file: Path, error: Exception) -> Iterator[None]:
    """Lock a file, creating it if needed; raise `error` if another process has locked it."""
    import fcntl

    lock_file.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    with lock_file.open("w") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            raise error from None
        yield


def _remove(folder: str) -> None:
    shutil.rmtree(folder, ignore_errors=True)


class WorkFolder:
    """A private folder at `path`. `close` removes it; otherwise the next process does.

    within: the parent folder; default: the system's temporary folder
    remove: a function that removes a folder with its contents
    """

    def __init__(
        self,
        prefix: str = _PREFIX,
        within: str | None = None,
        remove: Callable[[str], None] = _remove,
    ) -> None:
        sweep(prefix, within, remove)
        folder = Path(tempfile.mkdtemp(prefix=f"new-{prefix}", dir=within))
        self.lock, self._remove = _locked(folder / _LOCK), remove
        self.path = folder.with_name(folder.name.removeprefix("new-"))
        folder.rename(self.path)  # folders with this name are always locked before others see them

    def close(self) -> None:
        with contextlib.suppress(OSError):
            self._remove(str(self.path))
        if self.lock is not None:
            os.close(self.lock)
            self.lock = None


def sweep(
    prefix: str = _PREFIX, within: str | None = None, remove: Callable[[str], None] = _remove
) -> None:
    """Remove the folders of killed processes."""
    for folder in Path(within or tempfile.gettempdir()).glob(f"{prefix}*"):
        with contextlib.suppress(OSError):
            if folder.lstat().st_uid != os.geteuid():
                continue
            lock = _locked(folder / _LOCK)
            if lock is not None:
                try:
                    remove(str(folder))
                finally:
                    os.close(lock)


def _locked(path: Path) -> int | None:
    """Lock a file; return its descriptor, or None if another process has locked it."""
    try:
        import fcntl
    except ImportError:  # Windows: folders are not removed
        return None
    descriptor = os.open(path, os.O_CREAT | os.O_RDWR | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        os.close(descriptor)
        return None
    return descriptor
