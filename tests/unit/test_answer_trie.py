"""Test the cache of test outcomes and its limits."""

import pytest

from autograder.grading.disclosure.allowed_words import AllowedWords
from autograder.grading.outcomes import Crashed, GraderFault, LimitExceeded
from autograder.grading.running.answer_trie import PASSED, AnswerTries, End, process_of
from autograder.grading.targets.resource_limits import ByteQuota
from autograder.grading.targets.sandboxed import Sandboxed
from autograder.model.report.schema import Verdict
from autograder.worker.protocol.frames import (
    Banned,
    Effect,
    HandleV,
    Raised,
    Reply,
    SeqV,
    SideEffect,
)


class Answers:
    """A target that returns these replies in turn and records its requests."""

    def __init__(self, *replies):
        self.replies, self.asked = list(replies), []

    def begin(self, test, exercise):
        pass

    def request(self, frame):
        self.asked.append(frame)
        reply = self.replies[len(self.asked) - 1]
        if isinstance(reply, Exception):
            raise reply
        return reply

    def close(self):
        pass


def answer(value, raw=b"", **fields):
    return Reply("ok", value=value, buffers=(len(raw),), **fields), [memoryview(raw)]


def raised(line, message="bad"):
    what = Raised("ValueError", ("ValueError",), message, line)
    return Reply("raised", raised=what), []


def ask(target, *frames):
    return [target.request(frame) for frame in frames]


@pytest.fixture
def tries():
    """Return a cache in which `t` has passed once: 1 is the reply to a, 2 the reply to b."""
    tries = AnswerTries()
    target = tries.target("t", Answers(answer(1), answer(2, b"xy")))
    assert target.follow() is None
    ask(target, b"a", b"b")
    target.store(PASSED)
    return tries


def test_the_same_answers_pass_without_the_test(tries):
    assert tries.target("t", Answers(answer(1), answer(2, b"xy"))).follow() is PASSED


def test_every_call_is_made_all_the_same(tries):
    student = Answers(answer(1), answer(2, b"xy"))
    tries.target("t", student).follow()
    assert student.asked == [b"a", b"b"]


@pytest.mark.parametrize(
    "other",
    [
        answer(3, b"xy"),
        answer(2.0, b"xy"),
        answer(2, b"xz"),
        answer(2, b"xy", side_effects=(SideEffect(Effect.TENSOR, 1),)),
    ],
    ids=["value", "type", "buffer", "effect"],
)
def test_another_answer_does_not_pass_unseen(tries, other):
    assert tries.target("t", Answers(answer(1), other)).follow() is None


def test_another_test_knows_nothing_of_it(tries):
    assert tries.target("u", Answers(answer(1), answer(2, b"xy"))).follow() is None


def test_the_test_gets_the_answers_that_are_there_and_asks_for_the_rest(tries):
    student = Answers(answer(1), answer(9), answer(10))
    target = tries.target("t", student)
    target.follow()
    assert [a[0].value for a in ask(target, b"a", b"b", b"c")] == [1, 9, 10]


def test_nothing_is_asked_twice(tries):
    student = Answers(answer(1), answer(9), answer(10))
    target = tries.target("t", student)
    target.follow()
    ask(target, b"a", b"b", b"c")
    assert student.asked == [b"a", b"b", b"c"]


def test_a_call_that_ended_badly_ends_so_in_the_test(tries):
    target = tries.target("t", Answers(Crashed("it died")))
    target.follow()
    with pytest.raises(Crashed, match="it died"):
        ask(target, b"a")


def test_a_test_that_asks_otherwise_after_the_same_answers_is_at_fault(tries):
    target = tries.target("t", Answers(answer(1), answer(9)))
    target.follow()
    with pytest.raises(GraderFault, match="seeded"):
        ask(target, b"another")


def test_a_second_way_to_pass_is_kept_beside_the_first(tries):
    target = tries.target("t", Answers(answer(5), answer(6)))
    target.follow()
    ask(target, b"a", b"b2")
    target.store(PASSED)
    assert tries.target("t", Answers(answer(5), answer(6))).follow() is PASSED
    assert tries.target("t", Answers(answer(1), answer(2, b"xy"))).follow() is PASSED


def test_output_and_the_line_of_an_exception_make_no_difference():
    tries = AnswerTries()
    target = tries.target("t", Answers(answer(1, printed="hello"), raised(line=3)))
    ask(target, b"a", b"b")
    target.store(PASSED)
    assert tries.target("t", Answers(answer(1), raised(line=8))).follow() is PASSED
    assert tries.target("t", Answers(answer(1), raised(line=3, message="worse"))).follow() is None


def test_a_test_that_looks_at_the_process_itself_is_run_every_time():
    tries = AnswerTries()
    target = tries.target("t", Answers(answer(1)))
    ask(target, b"a")
    process_of(target)
    target.store(PASSED)
    assert tries.target("t", Answers(answer(1))).follow() is None


def test_the_process_of_a_submission_is_found_behind_a_meeting():
    process = object.__new__(Sandboxed)
    assert process_of(AnswerTries().target("t", process)) is process


def test_what_is_kept_of_one_test_is_bounded():
    tries = AnswerTries()
    for number in range(1000):
        target = tries.target("t", Answers(answer(number)))
        target.follow()
        ask(target, b"a")
        target.store(PASSED)
    assert len(tries.target("t", Answers()).trie.steps) < 300


WRONG = End(Verdict.WRONG, "The result is off.")


def wrong_once(*replies, source=("def f(): pass",)):
    """Return a cache in which `t` has failed once with these answers."""
    tries = AnswerTries()
    target = tries.target("t", Answers(*replies), AllowedWords(source))
    ask(target, *(b"a" for _ in replies))
    target.store(WRONG)
    return tries


def test_the_same_wrong_answers_are_as_wrong_without_the_test():
    student = Answers(answer(1), answer(7, b"xy", side_effects=(SideEffect(Effect.TENSOR, 1),)))
    target = wrong_once(*student.replies).target("t", student)
    assert target.follow() == WRONG
    assert [a[0].value for a in target.answers] == [1, 7]


@pytest.mark.parametrize(
    "reply",
    [raised(line=3), answer(1, banned=(Banned("softmax", 3),))],
    ids=["an exception", "a call that is not allowed"],
)
def test_a_message_that_may_quote_the_source_is_made_anew(reply):
    assert wrong_once(reply).target("t", Answers(reply)).follow() is None


def test_a_name_is_judged_by_the_source_that_it_comes_from():
    reply = answer(SeqV("tuple", (HandleV(0, "Mine", None),)))
    own, other = ("class Mine: pass",), ("class Other: pass",)
    tries = wrong_once(reply, source=own)
    assert tries.target("t", Answers(reply), AllowedWords(own)).follow() == WRONG
    assert tries.target("t", Answers(reply), AllowedWords(other)).follow() is None
    assert wrong_once(reply, source=other).target("t", Answers(reply), own).follow() is None


def test_a_call_that_ended_badly_is_not_remembered():
    tries = AnswerTries()
    target = tries.target("t", Answers(answer(1), Crashed("it died")))
    with pytest.raises(Crashed):
        ask(target, b"a", b"b")
    target.store(WRONG)
    assert tries.target("t", Answers(answer(1), answer(2))).follow() is None


def met(tries, *replies, quota):
    """Return the stored answers of a test with these replies."""
    target = tries.target("t", Answers(*replies), quota=quota)
    ask(target, *(b"%d" % n for n in range(len(replies))))
    return target


def test_answers_are_kept_while_there_is_room():
    kept = ByteQuota(10_000)
    assert len(met(AnswerTries(), answer(1), answer(2), quota=kept).answers) == 2
    assert kept.left < 10_000


def test_answers_that_find_no_room_are_not_kept_and_take_none():
    kept = ByteQuota(10_000)
    target = met(AnswerTries(), answer(1), answer(2, bytes(20_000)), answer(3), quota=kept)
    assert [type(a) for a in target.answers] == [LimitExceeded]
    assert kept.left == 10_000


def test_a_large_header_takes_more_room_than_its_length():
    reply = answer("x" * 1000)
    kept = ByteQuota(30_000)
    assert [type(a) for a in met(AnswerTries(), reply, quota=kept).answers] == [LimitExceeded]


def test_room_of_a_passed_test_is_given_back():
    kept = ByteQuota(10_000)
    met(AnswerTries(), answer(1), quota=kept).release()
    assert kept.left == 10_000


def test_no_more_is_remembered_of_requests_than_there_is_room():
    tries = AnswerTries()
    large = bytes(9 << 20)
    for test in "ab":
        target = tries.target(test, Answers(answer(1)))
        ask(target, test.encode() + large)
        target.store(PASSED)
    assert tries.target("a", Answers(answer(1))).follow() is PASSED
    assert tries.target("b", Answers(answer(1))).follow() is None
