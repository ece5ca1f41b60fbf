"""Accept uploaded files: plain names and bounded contents only.

The sender may be lying. A name is accepted only if each of its parts consists of letters, digits,
spaces and `.()+,-_` and does not begin with a dot. No other name ever becomes a path.
"""

from __future__ import annotations

import io
import re
import zipfile
from collections.abc import Mapping
from pathlib import Path, PurePosixPath

from ...lms.bulk import content_of
from ...model.course import Limits, Week
from ...model.errors import IntakeError

_NOTEBOOK_BYTES = 8 << 20  # for the notebook and its pictures, which are not graded
_MAX_ENTRIES = 2000
_ZIP_ENTRY = b"PK\x01\x02"  # the signature of an entry in a zip's directory
_ACCEPTED = re.compile(r".*\.(py|ipynb|txt|json|csv|npy)\Z", re.IGNORECASE | re.DOTALL)
_PART = re.compile(r"[\w(][\w .()+,-]*\Z")
PROBLEM = ".problem"  # why a stored submission cannot be graded; students cannot send this name
_RESERVED = {"timestamp.txt", "submission_secret.txt", "__pycache__", ".ipynb_checkpoints"}


def max_upload_bytes(limits: Limits) -> int:
    return (limits.submission_mib << 20) + _NOTEBOOK_BYTES


def accept_files(
    files: Mapping[str, bytes], week: Week, limits: Limits
) -> tuple[dict[str, bytes], list[str]]:
    """Return the accepted files and a line for each rejected one; raise IntakeError."""
    for name, data in files.items():
        if name.lower().endswith(".zip") and data.count(_ZIP_ENTRY) > _MAX_ENTRIES:
            raise IntakeError("The zip contains too many files. Zip only your week's folder.")
    uploaded = {name.replace("\\", "/"): data for name, data in files.items()}
    if len(uploaded) == 1:
        ((name, data),) = uploaded.items()
        if not name.lower().endswith((".zip", ".py", ".ipynb", ".txt")):
            kinds = f"{week.module}, your notebook, or a zip of your week's folder"
            raise IntakeError(f"This file is not part of the week. Submit {kinds}.")
    content, left_out = content_of(uploaded, week, max_upload_bytes(limits))
    accepted = {n: d for n, d in content.items() if _ACCEPTED.match(n) and _is_plain(n)}
    left_out += [f"{n!r}: not needed" for n in content if n not in accepted][:20]
    if len(accepted) > limits.submission_files:
        raise IntakeError(f"These are more than {limits.submission_files} files.")
    if not accepted:
        raise IntakeError(
            f"This submission contains no file that can be graded. Submit your {week.module}."
        )
    return dict(sorted(accepted.items())), left_out


def _is_plain(name: str) -> bool:
    parts = PurePosixPath(name).parts
    return bool(parts) and all(_PART.match(p) and p not in _RESERVED for p in parts)


def unpacked(data: bytes) -> dict[str, bytes]:
    """Return the files of a zip that `packed` made."""
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        return {entry.filename: archive.read(entry) for entry in archive.infolist()}


def write_files(files: Mapping[str, bytes], folder: Path) -> None:
    for name, data in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)
