"""Accept uploaded files with plain names and limited size.

`lms.bulk` accepts a name only if each of its parts consists of letters, digits, spaces and
`.()+,-_`, and begins with a letter, digit, `_` or `(`. No other name is used as a path.
"""

import io
import zipfile
from collections.abc import Mapping
from pathlib import PurePosixPath

from ...batch.intake import is_wanted
from ...lms.bulk import FilesRead, content_of
from ...model.course import Limits, Week
from ...model.errors import IntakeError

_NOTEBOOK_BYTES = 8 << 20  # allowance for the notebook and its pictures, which are not graded
_MAX_ENTRIES = 2000
_ZIP_ENTRY = b"PK\x01\x02"  # signature of an entry in a zip's central directory


def max_upload_bytes(limits: Limits) -> int:
    return (limits.submission_mib << 20) + _NOTEBOOK_BYTES


def accept_files(files: Mapping[str, bytes], week: Week, limits: Limits) -> FilesRead:
    """Return the accepted files, and a line for each rejected file.

    Raise IntakeError if there are too many files, or no file that can be graded.
    """
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
    accepted = {n: d for n, d in content.items() if is_kept(n)}
    left_out += [f"{n!r}: not needed" for n in content if n not in accepted][:20]
    if len(accepted) > limits.submission_files:
        raise IntakeError(f"These are more than {limits.submission_files} files.")
    if not accepted:
        raise IntakeError(f"None of these files can be graded. Submit your {week.module}.")
    return dict(sorted(accepted.items())), left_out


def is_kept(name: str) -> bool:
    """Return True for notebooks, and for files of a type that may be graded."""
    return name.lower().endswith(".ipynb") or is_wanted(PurePosixPath(name).name)


def unpacked(data: bytes) -> dict[str, bytes]:
    """Return the files in a zip that `packed` created, by name."""
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        return {entry.filename: archive.read(entry) for entry in archive.infolist()}
