"""Functions that run on the workers of a cluster: load a parcel, grade, clean up.

They return errors instead of raising them: distributed logs exceptions together with their
arguments, which contain solutions and secrets.
"""

from __future__ import annotations

import asyncio
import atexit
import hashlib
import threading
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec

from ...files import WorkFolder
from ...model.availability import has_cuda
from ...model.course import REGISTRY, Course, Week, parse
from ...model.errors import KitError
from ...model.report.schema import SubmissionReport
from ..intake import Submission
from ..store import fingerprint, versions

if TYPE_CHECKING:
    from ...grading.engine import Engine


class Parcel(msgspec.Struct, frozen=True):
    """One week of a course; `files` maps paths below the course's root to contents."""

    week: str
    devices: tuple[str, ...]
    secret: bytes
    sandbox: str
    fingerprint: bytes
    versions: dict[str, str]
    files: dict[str, bytes]


def pack(
    course: Course,
    week: Week,
    devices: tuple[str, ...],
    secret: bytes,
    sandbox: str,
    fingerprint: bytes,
) -> bytes:
    """Pack the registry, hidden graders, solutions and bank of a week."""
    paths = [course.root / REGISTRY]
    for folder in (course.graders(week), course.solution_folder(week)):
        paths += sorted(folder.rglob("*.py"))
    files = {path.relative_to(course.root).as_posix(): path.read_bytes() for path in paths}
    parcel = Parcel(week.name, devices, secret, sandbox, fingerprint, versions(), files)
    return msgspec.msgpack.encode(parcel)


def key_of(parcel: bytes) -> str:
    return hashlib.blake2b(parcel, digest_size=16).hexdigest()


def unpack(parcel: Parcel, folder: Path) -> Course:
    """Write the files of a parcel into a private folder and load the course."""
    for name, content in parcel.files.items():
        path = folder / name
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        path.write_bytes(content)
    return Course(folder, parse((folder / REGISTRY).read_text(encoding="utf-8")))


# Loading a parcel removes courses unused for this long, because their clients may have been killed.
IDLE_SECONDS = 3600.0
RESOURCE = "autograder-"


class _Settled:
    """A course on this worker and its engine, which is created for the first submission."""

    def __init__(self, parcel: Parcel, folder: WorkFolder, course: Course) -> None:
        self.parcel, self.folder, self.course = parcel, folder, course
        self.engine: Engine | None = None
        self.used = time.monotonic()

    def grade(self, submission: Submission) -> SubmissionReport:
        if self.engine is None:
            from ...grading.warmup import warm_engine
            from ...sandbox import choose

            parcel = self.parcel
            week = self.course.week(parcel.week)
            box = choose(parcel.sandbox)
            self.engine = warm_engine(self.course, week, parcel.devices, parcel.secret, box)
            self.engine.locate_mistakes(self.course.registry.suspects)
        try:
            return self.engine.grade(submission.name, submission.files)
        finally:
            self.used = time.monotonic()

    def close(self) -> None:
        if self.engine is not None:
            self.engine.close()
        self.folder.close()


_settled: dict[str, _Settled] = {}
# One submission at a time, because the modes and seeds of torch are global to the process.
_grading = threading.Lock()


async def settle_in(data: bytes, dask_worker: Any) -> str:
    """Load a parcel; return "" if this worker can grade with it, otherwise the reason why not."""
    key = key_of(data)
    now = time.monotonic()
    for idle in [k for k, s in _settled.items() if now - s.used > IDLE_SECONDS and k != key]:
        await leave(idle, dask_worker)
    reason = await asyncio.to_thread(_settle_in, key, data)
    if not reason:
        await dask_worker.set_resources(**{RESOURCE + key: 1})
    return reason


def _settle_in(key: str, data: bytes) -> str:
    if key in _settled:
        return ""
    folder = WorkFolder()
    try:
        parcel = msgspec.msgpack.decode(data, type=Parcel)
        _settled[key] = _Settled(parcel, folder, _load(parcel, folder.path))
    except KitError as error:
        folder.close()
        return str(error)
    except Exception as error:
        folder.close()
        return f"it could not load the course: {type(error).__name__}: {error}"
    return ""


def _load(parcel: Parcel, folder: Path) -> Course:
    """Load the course; raise KitError if this worker's reports could differ from local ones."""
    from ...sandbox import choose

    here = versions()
    for name, wanted in parcel.versions.items():
        if here.get(name) != wanted:
            raise KitError(f"it has {name} {here.get(name)}, and this machine {wanted}")
    if "cuda" in parcel.devices and not has_cuda():
        raise KitError("it has no CUDA device")
    choose(parcel.sandbox)
    course = unpack(parcel, folder)
    week = course.week(parcel.week)
    own = fingerprint(course, week, parcel.devices, parcel.secret, parcel.sandbox)
    if own != parcel.fingerprint:
        raise KitError("its kit has the same version as on this machine but different code")
    return course


def grade(key: str, submission: Submission) -> SubmissionReport | str:
    """Return the report of one submission, or the reason why there is none."""
    with _grading:
        settled = _settled.get(key)
        if settled is None:
            return "the course was removed from this worker"
        try:
            return settled.grade(submission)
        except Exception as error:
            return f"{type(error).__name__}: {error}"


async def leave(key: str, dask_worker: Any) -> None:
    """Remove a course from this worker."""
    await dask_worker.set_resources(**{RESOURCE + key: 0})
    await asyncio.to_thread(_leave, key)


def _leave(key: str) -> None:
    with _grading:
        settled = _settled.pop(key, None)
        if settled is not None:
            settled.close()


def _leave_all() -> None:
    for key in list(_settled):
        _settled.pop(key).close()


atexit.register(_leave_all)
