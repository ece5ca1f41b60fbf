"""Create parcels on the client, and load them, grade with them and remove them on workers.

Functions on workers return errors instead of raising them, because distributed logs an exception
together with the call's arguments, which contain solutions and secrets.
"""

import asyncio
import atexit
import hashlib
import threading
import time
from pathlib import Path
from typing import Any

import msgspec

from ...files import WorkFolder, write_files
from ...model.availability import has_cuda
from ...model.course import REGISTRY, Course, Week
from ...model.errors import KitError
from ...model.report.schema import SubmissionReport
from ...model.report.scoring import fault
from ..intake import Submission
from ..pool import Job, discard_engine, grade_job
from ..store import fingerprint, sources_in, versions


class Parcel(msgspec.Struct, frozen=True):
    """A week as sent to workers. `files`: contents by path relative to the course's root."""

    job: Job
    versions: dict[str, str]
    files: dict[str, bytes]


def pack(course: Course, week: Week, job: Job) -> bytes:
    """Return an encoded parcel with a week's registry, hidden graders, solutions and bank."""
    paths = [course.root / REGISTRY]
    paths += [p for _, p in sources_in(course.graders(week), course.solution_folder(week))]
    files = {path.relative_to(course.root).as_posix(): path.read_bytes() for path in paths}
    return msgspec.msgpack.encode(Parcel(job, versions(), files))


def key_of(parcel: bytes) -> str:
    return hashlib.blake2b(parcel, digest_size=16).hexdigest()


# When a parcel arrives, remove courses unused for this long: their client may have been killed.
IDLE_SECONDS = 3600.0
RESOURCE = "autograder-"


class _Settled(msgspec.Struct):
    """A course that this worker has loaded. `job.root` is the course's folder on this worker."""

    job: Job
    folder: WorkFolder
    used: float  # `time.monotonic()` when last used

    def close(self) -> None:
        discard_engine(self.job)
        self.folder.close()


_settled: dict[str, _Settled] = {}
# Grade one submission at a time, because torch's modes and seeds are global to the process.
_grading = threading.Lock()


async def settle_in(data: bytes, dask_worker: Any) -> str:
    """Load a parcel; return "" if this worker can grade it, otherwise the reason for refusing."""
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
        job = msgspec.structs.replace(parcel.job, root=str(folder.path))
        _unpack(parcel, job)
    except Exception as error:
        folder.close()
        if isinstance(error, KitError):
            return str(error)
        return f"it could not load the course: {type(error).__name__}: {error}"
    _settled[key] = _Settled(job, folder, time.monotonic())
    return ""


def _unpack(parcel: Parcel, job: Job) -> None:
    """Write a parcel's files to the job's folder.

    Raise KitError if this worker lacks the sandbox or CUDA, or if its versions or code differ.
    """
    from ...sandbox import choose

    here = versions()
    for name, wanted in parcel.versions.items():
        if here.get(name) != wanted:
            raise KitError(f"it has {name} {here.get(name)}, and this machine {wanted}")
    if "cuda" in job.devices and not has_cuda():
        raise KitError("it has no CUDA device")
    choose(job.sandbox)
    write_files(Path(job.root), parcel.files)
    course = job.course()
    week = course.week(job.week)
    if fingerprint(course, week, job.devices, job.secret, job.sandbox) != job.depends:
        raise KitError("its kit has the same version as on this machine but different code")


def grade(key: str, submission: Submission) -> SubmissionReport:
    """Grade a submission with a loaded parcel; report a system error if the parcel was removed."""
    with _grading:
        settled = _settled.get(key)
        if settled is None:
            return fault(submission.name, "the course was removed from this worker")
        try:
            return grade_job(settled.job, submission)
        finally:
            settled.used = time.monotonic()


async def leave(key: str, dask_worker: Any) -> None:
    """Remove a course from this worker."""
    await dask_worker.set_resources(**{RESOURCE + key: 0})
    await asyncio.to_thread(_leave, key)


def _leave(key: str) -> None:
    with _grading:
        settled = _settled.pop(key, None)
        if settled is not None:
            settled.close()


@atexit.register
def _leave_all() -> None:
    for key in list(_settled):
        _settled.pop(key).close()
