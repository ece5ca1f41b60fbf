"""What was odd about something handed in and was put right: told to the student, and kept."""

from __future__ import annotations

from typing import Literal

import msgspec

Kind = Literal[
    "unreadable", "missing", "renamed", "deleted", "doubled", "edited", "code", "module", "taken",
    "kept", "refused",
]  # fmt: skip
# What stands before the students' names in `status`.
KINDS: dict[Kind, str] = {
    "unreadable": "the notebook cannot be read; an empty one takes its place",
    "missing": "the notebook is missing; an empty one takes its place",
    "renamed": "the notebook had another name",
    "deleted": "graded cells were deleted from the notebook, and put back",
    "doubled": "graded cells are in the notebook twice; the first counts",
    "edited": "locked cells of the notebook were changed, and put back",
    "code": "exercises are written in the notebook and not in the module: not graded",
    "taken": "exercises were taken from the notebook",
    "module": "the module had another name",
    "kept": "parts were kept from an earlier submission",
    "refused": "the module was not accepted; the earlier one stays",
}


class Note(msgspec.Struct, frozen=True):
    """One thing; `text` is for the student."""

    kind: Kind
    text: str
