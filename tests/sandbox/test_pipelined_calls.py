"""Calls that are sent ahead of their replies, and unexpected replies to them."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from autograder.grading.outcomes import BadReply, Crashed, TimedOut
from autograder.grading.running.answer_trie import PASSED, AnswerTries, TrieTarget
from autograder.grading.targets.confined_process import Spawner
from autograder.grading.targets.sandboxed import NextCall, Sandboxed
from autograder.model.course import load
from autograder.sandbox import choose
from autograder.worker.protocol import frames as wire
from tests.imports import ROOT

MODULE = b"""
import os, time

calls = []

def f(x):
    calls.append(x)
    if x == "dies":
        os._exit(3)
    if x == "waits":
        time.sleep(60)
    return x

def asked():
    return list(calls)
"""


def call(path: str, *args: wire.Value, fresh: bool = False) -> bytes:
    return wire.pack(wire.Call("e", None, path, args, {}, "cpu", fresh=fresh), [])


def f(x: wire.Value) -> bytes:
    return call("f", x)


@pytest.fixture(scope="module")
def spawner() -> Iterator[Spawner]:
    course = load(ROOT)
    spawner = Spawner(choose(), course, course.weeks[0], ("cpu",))
    yield spawner
    spawner.end()


@pytest.fixture
def target(spawner: Spawner) -> Iterator[Sandboxed]:
    course = load(ROOT)
    limits = course.limits(course.weeks[0])
    target = Sandboxed(spawner.spawn, "m.py", {"m.py": MODULE}, limits)
    yield target
    target.close()


def ask(target: Sandboxed | TrieTarget, *frames: bytes) -> list[wire.Value]:
    return [target.request(frame)[0].value for frame in frames]


def starts(target: Sandboxed) -> int:
    return target.clocks.starts


def test_what_was_expected_is_answered_by_one_process(target: Sandboxed) -> None:
    target.begin("t", "e")
    target.expect([NextCall("t", f(1)), NextCall("t", f(2)), NextCall("u", f(3))])
    assert ask(target, f(1)) == [1]
    assert len(target.sent) == 2
    assert ask(target, f(2)) == [2]
    target.begin("u", "e")
    assert ask(target, f(3), call("asked")) == [3, wire.SeqV("list", (1, 2, 3))]
    assert starts(target) == 1


def test_a_test_that_ends_early_leaves_its_calls_behind(target: Sandboxed) -> None:
    target.begin("t", "e")
    target.expect([NextCall("t", f(1)), NextCall("t", f(2)), NextCall("u", f(3))])
    assert ask(target, f(1)) == [1]
    target.begin("u", "e")
    assert ask(target, f(3)) == [3]
    assert starts(target) == 1


def test_a_test_that_asks_otherwise_is_begun_again(target: Sandboxed) -> None:
    target.begin("t", "e")
    target.expect([NextCall("t", f(1)), NextCall("t", f(2)), NextCall("u", f(3))])
    answered = ask(target, f(1), f(7), call("asked"))
    assert answered == [1, 7, wire.SeqV("list", (1, 7))]
    assert starts(target) == 2


def test_a_test_that_goes_on_where_another_was_expected_is_begun_again(target: Sandboxed) -> None:
    target.begin("t", "e")
    target.expect([NextCall("t", f(1)), NextCall("u", f(3))])
    assert ask(target, f(1), f(2), call("asked"))[-1] == wire.SeqV("list", (1, 2))


def test_what_begins_otherwise_is_asked_as_it_comes(target: Sandboxed) -> None:
    target.begin("t", "e")
    target.expect([NextCall("t", f(1)), NextCall("t", f(2))])
    assert ask(target, f(2), call("asked")) == [2, wire.SeqV("list", (2,))]
    assert starts(target) == 1


def test_a_death_ends_its_own_call_and_no_other(target: Sandboxed) -> None:
    target.begin("t", "e")
    target.expect([NextCall("t", f(1)), NextCall("t", f("dies")), NextCall("u", f(3))])
    assert ask(target, f(1)) == [1]
    with pytest.raises(Crashed):
        target.request(f("dies"))
    assert target.expects("e"), "from here on it is asked call by call"
    target.begin("u", "e")
    assert ask(target, f(3)) == [3]


def test_what_waits_is_stopped_after_its_own_time(spawner: Spawner) -> None:
    course = load(ROOT)
    limits = course.limits(course.weeks[0])
    limits = type(limits)(call_seconds=0.5)
    target = Sandboxed(spawner.spawn, "m.py", {"m.py": MODULE}, limits)
    target.begin("t", "e")
    target.expect([NextCall("t", f(1)), NextCall("t", f("waits")), NextCall("u", f(3))])
    assert ask(target, f(1)) == [1]
    with pytest.raises(TimedOut):
        target.request(f("waits"))
    target.begin("u", "e")
    assert ask(target, f(3)) == [3]
    assert len(target.deaths["e"]) == 1
    target.close()


FORGER = b"""
import gc, os, socket, struct

def f(x):
    for number in range(3, 64):
        try:
            peer = socket.socket(fileno=os.dup(number))
            peer.send(b"12345678" + struct.pack("<4sIQ", b"AGK1", 0, 0))
            peer.detach()
        except OSError:
            pass
    return x
"""


def test_a_reply_of_its_own_making_counts_for_none_of_them(spawner: Spawner) -> None:
    course = load(ROOT)
    limits = course.limits(course.weeks[0])
    target = Sandboxed(spawner.spawn, "m.py", {"m.py": FORGER}, limits)
    target.begin("t", "e")
    target.expect([NextCall("t", f(1)), NextCall("t", f(2))])
    with pytest.raises(BadReply):
        ask(target, f(1), f(2))
    target.close()
    assert "a reply of its own making" in target.attempts


def test_what_was_asked_before_a_test_began_belongs_to_it(target: Sandboxed) -> None:
    """Calls are predicted from tests that passed; the test itself may make different ones."""
    tries = AnswerTries()
    passed = tries.target("t", target)
    passed.begin("t", "e")
    ask(passed, call("f", 0, fresh=True), f(2))
    passed.store(PASSED)
    target.close()
    other = MODULE.replace(b"return x", b"return -x - 1")  # another answer, another way
    target.swap({"m.py": other})
    target.expect([NextCall("t", call("f", 0, fresh=True)), NextCall("t", f(2))])
    replayed = tries.target("t", target)
    replayed.begin("t", "e")
    assert replayed.follow() is None
    replayed.begin("t", "e")
    first = call("f", 0, fresh=True)
    assert ask(replayed, first, f(5), call("asked")) == [-1, -6, wire.SeqV("list", (0, 5))]
