"""Fingerprints change with the code of an exercise."""

from __future__ import annotations

import pytest

from autograder.student.folder.source import fingerprints

from .conftest import SOLVED, STUB

NAMES = ("double", "double_all", "shout")
BEGUN = "\n\n".join([STUB, *SOLVED.values()])


@pytest.mark.parametrize(
    ("old", "new", "touched"),
    [
        ("text.upper()", "text.lower()", {"shout"}),
        ("return SCALE * x", "return x + x", {"double", "double_all"}),
        ("SCALE = 2", "SCALE = 3", {"double", "double_all"}),
        ("def helper(x):", "def helper(x):\n    # a comment", set()),
        ('"""Twice x."""', '"""Two times x."""', set()),
        ('"""The tiny week."""', "print(1)", {"double", "double_all", "shout"}),
    ],
)
def test_a_change_touches_what_uses_it(old, new, touched):
    assert old in BEGUN
    before, after = fingerprints(BEGUN, NAMES), fingerprints(BEGUN.replace(old, new), NAMES)
    assert {n for n in NAMES if before[n] != after[n]} == touched
