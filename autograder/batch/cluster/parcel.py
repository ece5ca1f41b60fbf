"""Pack the parts of a course that a worker needs to grade one week."""

from __future__ import annotations

import hashlib
from pathlib import Path

import msgspec

from ...model.course import REGISTRY, Course, Week, parse
from ..fingerprint import versions


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
