"""`check` reports a line if one edit of the student's code makes the checks pass."""

from __future__ import annotations

from autograder.student.commands.check import check_week
from autograder.student.show.check_text import plain

TRIPLED = "def double(x):\n    factor = 3\n    return factor * x"
HANGS = """def double(x):
    times = 3
    total = 0
    while times > 1:
        times = times - 1
        total = total + 2 * x
    return total
"""


def places(folder, name="double"):
    result = check_week(folder, [name])
    failure = result.exercises[0].first.failure
    return [p.line for p in failure.places], plain(result)


def line_of(folder, text):
    return folder.module.read_text().split("\n").index(text) + 1


def test_the_line_is_told_and_what_to_write_is_not(write):
    folder = write(TRIPLED)
    lines, said = places(folder)
    assert lines[0] == line_of(folder, "    factor = 3")
    assert f"Look at line {lines[0]} (the number)." in said.replace("\n", " ")


def test_changes_that_never_end_are_stopped(write):
    lines, _ = places(write(HANGS))
    assert lines


def test_two_mistakes_have_no_line(write):
    lines, said = places(write("def double(x):\n    return str(x)[:0] or hash(x) % 7 - 50"))
    assert (lines, "Look at" in said) == ([], False)
