"""Test notices that a submission sends before its reply: few, without duplicates, stored once."""

from __future__ import annotations

import socket
from collections.abc import Iterator

import pytest

from autograder.grading.targets.confined_process import Attempts
from autograder.worker.protocol import frames
from autograder.worker.server import _Notices

STAMP = b"12345678"


@pytest.fixture
def ends() -> Iterator[tuple[socket.socket, socket.socket]]:
    ours, theirs = socket.socketpair()
    ours.setblocking(False)
    with ours, theirs:
        yield ours, theirs


def sent(ours: socket.socket) -> int:
    """Return the number of notices that were sent."""
    try:
        return ours.recv(1 << 20).count(STAMP + frames.MAGIC)
    except BlockingIOError:
        return 0


def test_nothing_is_told_before_the_first_request(ends) -> None:
    ours, theirs = ends
    _Notices(theirs)("attempt", "kill", 3)
    assert sent(ours) == 0


def test_the_same_is_told_once_for_a_request(ends) -> None:
    ours, theirs = ends
    told = _Notices(theirs)
    told.begin(STAMP)
    for _ in range(3):
        told("attempt", "kill", 3)
    assert sent(ours) == 1
    told.begin(STAMP)
    told("attempt", "kill", 3)
    assert sent(ours) == 1


def test_no_more_is_told_than_the_other_side_takes(ends) -> None:
    ours, theirs = ends
    told = _Notices(theirs)
    told.begin(STAMP)
    for number in range(100):
        told("attempt", str(number), number)
    assert sent(ours) == frames.MAX_NOTICES


@pytest.fixture
def attempts() -> Attempts:
    return Attempts()


def noticed(attempts: Attempts, *notices: frames.Notice, **reply: object) -> frames.Reply:
    answered = frames.Reply("ok", **reply)  # type: ignore[arg-type]
    return attempts.from_notices(answered, notices)


def test_what_was_told_stays_told_whatever_the_reply_says(attempts: Attempts) -> None:
    reply = noticed(attempts, frames.Notice("banned", "softmax", 7))
    assert reply.banned == (frames.Banned("softmax", 7),)


def test_what_the_reply_says_too_is_not_said_twice(attempts: Attempts) -> None:
    banned = (frames.Banned("softmax", 7),)
    assert noticed(attempts, frames.Notice("banned", "softmax", 7), banned=banned).banned == banned


def test_a_forbidden_call_is_no_attempt(attempts: Attempts) -> None:
    noticed(attempts, frames.Notice("banned", "softmax", 7))
    assert attempts.names == []


def test_a_look_into_the_grader_is_both(attempts: Attempts) -> None:
    assert noticed(attempts, frames.Notice("banned", "sys._getframe", 7)).banned
    assert attempts.names == ["sys._getframe"]


def test_an_attempt_is_known_by_one_of_our_own_words(attempts: Attempts) -> None:
    noticed(attempts, frames.Notice("attempt", "\x1b[2J<script>", None))
    assert attempts.names == ["another thing"]


def test_attempts_are_counted_up_to_a_bound(attempts: Attempts) -> None:
    for number in range(100):
        attempts.note(str(number))
    assert len(attempts.names) == 20
