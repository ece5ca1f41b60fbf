"""Taking a parcel: plain names and bounded contents, and nothing else of what was sent.

Who may be lying: whoever sent the files. Names are kept only if every part is made of letters,
digits, spaces and `.()+,-_` and none begins with a dot; nothing else ever becomes a path.
"""

from __future__ import annotations

import io
import re
import zipfile
from collections.abc import Mapping
from pathlib import Path, PurePosixPath

from ...lms.bulk import content_of
from ...model.course.loader import Limits, Week
from ...model.errors import IntakeError

# What a week's folder may add to what is graded: the notebook with its pictures.
_NOTEBOOK = 8 << 20
_MOST_ENTRIES = 2000
_ENTRY = b"PK\x01\x02"  # what begins an entry in the list of a zip
_KEPT = re.compile(r".*\.(py|ipynb|txt|json|csv|npy)\Z", re.IGNORECASE | re.DOTALL)
_PART = re.compile(r"[\w(][\w .()+,-]*\Z")
PROBLEM = ".problem"  # in a parcel that cannot be graded: why; students cannot send this name
_NEVER = {"timestamp.txt", "submission_secret.txt", "__pycache__", ".ipynb_checkpoints"}


def most_bytes(limits: Limits) -> int:
    """How large a request with a hand-in may be."""
    return (limits.submission_mib << 20) + _NOTEBOOK


def gather(
    files: Mapping[str, bytes], week: Week, limits: Limits
) -> tuple[dict[str, bytes], list[str]]:
    """The files of a hand-in by plain names, and what was left out; raises IntakeError."""
    for name, data in files.items():
        if name.lower().endswith(".zip") and data.count(_ENTRY) > _MOST_ENTRIES:
            raise IntakeError("The zip lists too many files. Zip only your week's folder.")
    named = {name.replace("\\", "/"): data for name, data in files.items()}
    if len(named) == 1:
        ((name, data),) = named.items()
        if not name.lower().endswith((".zip", ".py", ".ipynb", ".txt")):
            kinds = f"{week.module}, your notebook, or a zip of your week's folder"
            raise IntakeError(f"This file is not part of the week. Submit {kinds}.")
    content, left_out = content_of(named, week, most_bytes(limits))
    kept = {n: d for n, d in content.items() if _KEPT.match(n) and _plain(n)}
    left_out += [f"{n!r}: not needed" for n in content if n not in kept][:20]
    if len(kept) > limits.submission_files:
        raise IntakeError(f"These are more than {limits.submission_files} files.")
    if not kept:
        raise IntakeError(f"There is nothing to grade in it. Submit your {week.module}.")
    return dict(sorted(kept.items())), left_out


def _plain(name: str) -> bool:
    parts = PurePosixPath(name).parts
    return bool(parts) and all(_PART.match(p) and p not in _NEVER for p in parts)


def unpacked(data: bytes) -> dict[str, bytes]:
    """The files of a parcel that `packed` made."""
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        return {entry.filename: archive.read(entry) for entry in archive.infolist()}


def write_files(files: Mapping[str, bytes], folder: Path) -> None:
    for name, data in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)
