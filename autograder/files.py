"""Atomic writes, state files, locks, temporary folders, and the course's secret.

A process holds a lock in each of its temporary folders, and the kernel releases the locks of dead
processes. The next process that creates such a folder removes all unlocked ones, because temporary
folders contain solutions.
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
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

import msgspec

if TYPE_CHECKING:
    from .model.course import Course

_PREFIX = "autograder-work-"
_LOCK = "lock"
_Content = TypeVar("_Content")


def replace_file(path: Path, data: bytes, mode: int = 0o600, *, lasting: bool = True) -> None:
    """Replace a file atomically: write a temporary file next to `path`, then rename it.

    lasting: flush the file to disk, so that it survives a power failure. This is unnecessary for
    data that can be computed again, if readers detect an incomplete file.
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


def read_state(
    path: Path, kind: type[_Content], damaged: Exception | None = None
) -> _Content | None:
    """Return the content of a JSON file, or None if it is missing or malformed.

    damaged: raise this exception if the file exists but cannot be decoded
    """
    try:
        return msgspec.json.decode(path.read_bytes(), type=kind)
    except (OSError, msgspec.MsgspecError, UnicodeDecodeError, RecursionError) as error:
        if damaged is not None and not isinstance(error, FileNotFoundError):
            raise damaged from None
        return None


def write_state(path: Path, content: object, *, lasting: bool = True) -> None:
    """Replace a JSON file atomically. A missing folder is created for this user only."""
    path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    replace_file(path, msgspec.json.encode(content), lasting=lasting)


def write_files(folder: Path, files: Mapping[str, bytes]) -> None:
    """Write file contents to their paths relative to `folder`; create missing folders."""
    for name, content in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)


def replace_folder(folder: Path, files: Mapping[str, bytes], mode: int = 0o777) -> None:
    """Write files, given by relative path, to a new folder that then replaces `folder`.

    If a file cannot be written, `folder` stays as it is.
    """
    fresh, former = (folder.with_name(f".{folder.name}.{which}") for which in ("new", "old"))
    for stale in (fresh, former):
        shutil.rmtree(stale, ignore_errors=True)
    fresh.mkdir(parents=True, mode=mode)
    try:
        write_files(fresh, files)
    except BaseException:
        shutil.rmtree(fresh, ignore_errors=True)
        raise
    if folder.exists():
        folder.replace(former)
    fresh.replace(folder)
    shutil.rmtree(former, ignore_errors=True)


def read_folder(folder: Path, root: Path | None = None) -> dict[str, bytes]:
    """Return a file, or the files below a folder, by path relative to `root` (or the folder)."""
    places = (folder, *sorted(folder.rglob("*")))
    paths = (p for p in places if "__pycache__" not in p.parts and p.is_file())
    return {path.relative_to(root or folder).as_posix(): path.read_bytes() for path in paths}


def hash_of(parts: Iterable[bytes]) -> bytes:
    """Return a 20-byte hash of the parts and of the boundaries between them."""
    digest = hashlib.blake2b(digest_size=20)
    for part in parts:
        digest.update(len(part).to_bytes(8, "little"))
        digest.update(part)
    return digest.digest()


def course_secret(course: Course) -> bytes:
    """Return the secret that makes the inputs of hidden tests unpredictable.

    The first call creates the file .autograder/secret, readable only by its owner.
    """
    path = course.state / "secret"
    with contextlib.suppress(FileNotFoundError):
        return path.read_bytes()
    temporary = path.with_name(f"secret.{os.getpid()}")
    temporary.touch(mode=0o600)
    temporary.write_bytes(secrets.token_bytes(32))
    with contextlib.suppress(FileExistsError):  # another process has created the file
        os.link(temporary, path)
    temporary.unlink()
    return path.read_bytes()


def public_draw(name: int | str) -> bytes:
    """Return fixed bytes to draw inputs that are public: those of a proof or a counterexample."""
    return hashlib.blake2b(f"draw {name}".encode(), digest_size=32).digest()


@contextmanager
def in_turn(folder: Path) -> Iterator[None]:
    """Hold an exclusive lock on a folder, creating it if needed; wait while it is locked.

    The lock of a dead process is released. File systems without locks are not protected.
    """
    import fcntl

    folder.mkdir(parents=True, exist_ok=True, mode=0o700)
    with (folder / ".turn").open("w") as lock:
        with contextlib.suppress(OSError):
            fcntl.flock(lock, fcntl.LOCK_EX)
        yield


@contextmanager
def alone(lock_file: Path, error: Exception) -> Iterator[None]:
    """Lock a file, creating it if needed; raise `error` if another process holds the lock."""
    import fcntl

    lock_file.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    with lock_file.open("w") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            raise error from None
        yield


_Remove = Callable[[str], None]
_remove: _Remove = partial(shutil.rmtree, ignore_errors=True)


class WorkFolder:
    """A private temporary folder, removed by `close`, or by `sweep` if the process is killed.

    within: the parent folder; default: the system's temporary folder
    remove: a function that removes a folder with its contents
    """

    def __init__(
        self, prefix: str = _PREFIX, within: str | None = None, remove: _Remove = _remove
    ) -> None:
        sweep(prefix, within, remove)
        folder = Path(tempfile.mkdtemp(prefix=f"new-{prefix}", dir=within))
        self.lock, self._remove = _locked(folder / _LOCK), remove
        self.path = folder.with_name(folder.name.removeprefix("new-"))
        folder.rename(self.path)  # locked before it has the name that `sweep` looks for

    def close(self) -> None:
        with contextlib.suppress(OSError):
            self._remove(str(self.path))
        if self.lock is not None:
            os.close(self.lock)
            self.lock = None


def sweep(prefix: str = _PREFIX, within: str | None = None, remove: _Remove = _remove) -> None:
    """Remove this user's folders named `prefix*` that no running process has locked.

    See `WorkFolder` for the parameters. Without file locks (on Windows), nothing is removed.
    """
    for folder in Path(within or tempfile.gettempdir()).glob(f"{prefix}*"):
        with contextlib.suppress(OSError):
            if hasattr(os, "geteuid") and folder.lstat().st_uid != os.geteuid():
                continue
            lock = _locked(folder / _LOCK)
            if lock is not None:
                try:
                    remove(str(folder))
                finally:
                    os.close(lock)


def _locked(path: Path) -> int | None:
    """Lock a file; return its descriptor, or None if it is locked or locks are unavailable."""
    try:
        import fcntl
    except ImportError:  # Windows: `sweep` removes no folders
        return None
    descriptor = os.open(path, os.O_CREAT | os.O_RDWR | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        os.close(descriptor)
        return None
    return descriptor
