"""Notes about problems of a submission that were repaired automatically, shown to the student."""

from __future__ import annotations

from typing import Literal

import msgspec

Kind = Literal[
    "unreadable", "missing", "renamed", "deleted", "doubled", "edited", "code", "module", "taken",
    "kept", "refused",
]  # fmt: skip
# The headings of `status`, followed by students' names.
KINDS: dict[Kind, str] = {
    "unreadable": "the notebook is unreadable; replaced by an empty one",
    "missing": "the notebook is missing; replaced by an empty one",
    "renamed": "the notebook had a different name",
    "deleted": "graded cells were deleted from the notebook; restored",
    "doubled": "graded cells appear twice in the notebook; the first counts",
    "edited": "locked cells of the notebook were changed; restored",
    "code": "exercises are in the notebook instead of the module; not graded",
    "taken": "exercises were taken from the notebook",
    "module": "the module had a different name",
    "kept": "parts were kept from an earlier submission",
    "refused": "the module was rejected; the earlier one counts",
}


class Note(msgspec.Struct, frozen=True):
    """One repaired problem; `text` is for the student."""

    kind: Kind
    text: str
