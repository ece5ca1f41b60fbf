"""What is remembered of how tests ended, and what is not."""

import pytest

from autograder.grading.disclosure.allowed_words import Echo
from autograder.grading.outcomes import Crashed, GraderFault, LimitExceeded
from autograder.grading.running.answer_trie import PASSED, End, Memory, process_of
from autograder.grading.targets.byte_quota import Room
from autograder.grading.targets.sandboxed import Sandboxed
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
    """A target that gives these replies in turn, and notes what it was asked."""

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


def ask(meeting, *frames):
    return [meeting.request(frame) for frame in frames]


@pytest.fixture
def memory():
    """A memory in which `t` has passed once: asked a, answered 1; asked b, answered 2."""
    memory = Memory()
    meeting = memory.meeting("t", Answers(answer(1), answer(2, b"xy")))
    assert meeting.known() is None
    ask(meeting, b"a", b"b")
    meeting.remember(PASSED)
    return memory


def test_the_same_answers_pass_without_the_test(memory):
    assert memory.meeting("t", Answers(answer(1), answer(2, b"xy"))).known() is PASSED


def test_every_call_is_made_all_the_same(memory):
    student = Answers(answer(1), answer(2, b"xy"))
    memory.meeting("t", student).known()
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
def test_another_answer_does_not_pass_unseen(memory, other):
    assert memory.meeting("t", Answers(answer(1), other)).known() is None


def test_another_test_knows_nothing_of_it(memory):
    assert memory.meeting("u", Answers(answer(1), answer(2, b"xy"))).known() is None


def test_the_test_gets_the_answers_that_are_there_and_asks_for_the_rest(memory):
    student = Answers(answer(1), answer(9), answer(10))
    meeting = memory.meeting("t", student)
    meeting.known()
    assert [a[0].value for a in ask(meeting, b"a", b"b", b"c")] == [1, 9, 10]


def test_nothing_is_asked_twice(memory):
    student = Answers(answer(1), answer(9), answer(10))
    meeting = memory.meeting("t", student)
    meeting.known()
    ask(meeting, b"a", b"b", b"c")
    assert student.asked == [b"a", b"b", b"c"]


def test_a_call_that_ended_badly_ends_so_in_the_test(memory):
    meeting = memory.meeting("t", Answers(Crashed("it died")))
    meeting.known()
    with pytest.raises(Crashed, match="it died"):
        ask(meeting, b"a")


def test_a_test_that_asks_otherwise_after_the_same_answers_is_at_fault(memory):
    meeting = memory.meeting("t", Answers(answer(1), answer(9)))
    meeting.known()
    with pytest.raises(GraderFault, match="seeded"):
        ask(meeting, b"another")


def test_a_second_way_to_pass_is_kept_beside_the_first(memory):
    meeting = memory.meeting("t", Answers(answer(5), answer(6)))
    meeting.known()
    ask(meeting, b"a", b"b2")
    meeting.remember(PASSED)
    assert memory.meeting("t", Answers(answer(5), answer(6))).known() is PASSED
    assert memory.meeting("t", Answers(answer(1), answer(2, b"xy"))).known() is PASSED


def test_output_and_the_line_of_an_exception_make_no_difference():
    memory = Memory()
    meeting = memory.meeting("t", Answers(answer(1, printed="hello"), raised(line=3)))
    ask(meeting, b"a", b"b")
    meeting.remember(PASSED)
    assert memory.meeting("t", Answers(answer(1), raised(line=8))).known() is PASSED
    assert memory.meeting("t", Answers(answer(1), raised(line=3, message="worse"))).known() is None


def test_a_test_that_looks_at_the_process_itself_is_run_every_time():
    memory = Memory()
    meeting = memory.meeting("t", Answers(answer(1)))
    ask(meeting, b"a")
    process_of(meeting)
    meeting.remember(PASSED)
    assert memory.meeting("t", Answers(answer(1))).known() is None


def test_the_process_of_a_submission_is_found_behind_a_meeting():
    process = object.__new__(Sandboxed)
    assert process_of(Memory().meeting("t", process)) is process


def test_what_is_kept_of_one_test_is_bounded():
    memory = Memory()
    for number in range(1000):
        meeting = memory.meeting("t", Answers(answer(number)))
        meeting.known()
        ask(meeting, b"a")
        meeting.remember(PASSED)
    assert len(memory.meeting("t", Answers())._tree.steps) < 300


WRONG = End("The result is off.")


def wrong_once(*replies, source=("def f(): pass",)):
    """A memory in which `t` has ended wrong on these answers."""
    memory = Memory()
    meeting = memory.meeting("t", Answers(*replies), Echo(source))
    ask(meeting, *(b"a" for _ in replies))
    meeting.remember(WRONG)
    return memory


def test_the_same_wrong_answers_are_as_wrong_without_the_test():
    student = Answers(answer(1), answer(7, b"xy", side_effects=(SideEffect(Effect.TENSOR, 1),)))
    meeting = wrong_once(*student.replies).meeting("t", student)
    assert meeting.known() == WRONG
    assert [a[0].value for a in meeting.answers] == [1, 7]


@pytest.mark.parametrize(
    "reply",
    [raised(line=3), answer(1, banned=(Banned("softmax", 3),))],
    ids=["an exception", "a call that is not allowed"],
)
def test_a_message_that_may_quote_the_source_is_made_anew(reply):
    assert wrong_once(reply).meeting("t", Answers(reply)).known() is None


def test_a_name_is_judged_by_the_source_that_it_comes_from():
    reply = answer(SeqV("tuple", (HandleV(0, "Mine", None),)))
    own, other = ("class Mine: pass",), ("class Other: pass",)
    memory = wrong_once(reply, source=own)
    assert memory.meeting("t", Answers(reply), Echo(own)).known() == WRONG
    assert memory.meeting("t", Answers(reply), Echo(other)).known() is None
    assert wrong_once(reply, source=other).meeting("t", Answers(reply), own).known() is None


def test_a_call_that_ended_badly_is_not_remembered():
    memory = Memory()
    meeting = memory.meeting("t", Answers(answer(1), Crashed("it died")))
    with pytest.raises(Crashed):
        ask(meeting, b"a", b"b")
    meeting.remember(WRONG)
    assert memory.meeting("t", Answers(answer(1), answer(2))).known() is None


def met(memory, *replies, kept):
    """The answers that are kept of a test with these replies."""
    meeting = memory.meeting("t", Answers(*replies), kept=kept)
    ask(meeting, *(b"%d" % n for n in range(len(replies))))
    return meeting


def test_answers_are_kept_while_there_is_room():
    kept = Room(10_000)
    assert len(met(Memory(), answer(1), answer(2), kept=kept).answers) == 2
    assert kept.left < 10_000


def test_answers_that_find_no_room_are_not_kept_and_take_none():
    kept = Room(10_000)
    meeting = met(Memory(), answer(1), answer(2, bytes(20_000)), answer(3), kept=kept)
    assert [type(a) for a in meeting.answers] == [LimitExceeded]
    assert kept.left == 10_000


def test_a_large_header_takes_more_room_than_its_length():
    reply = answer("x" * 1000)
    kept = Room(30_000)
    assert [type(a) for a in met(Memory(), reply, kept=kept).answers] == [LimitExceeded]


def test_room_of_a_passed_test_is_given_back():
    kept = Room(10_000)
    met(Memory(), answer(1), kept=kept).release()
    assert kept.left == 10_000


def test_no_more_is_remembered_of_requests_than_there_is_room():
    memory = Memory()
    large = bytes(9 << 20)
    for test in "ab":
        meeting = memory.meeting(test, Answers(answer(1)))
        ask(meeting, test.encode() + large)
        meeting.remember(PASSED)
    assert memory.meeting("a", Answers(answer(1))).known() is PASSED
    assert memory.meeting("b", Answers(answer(1))).known() is None


def passed(memory, test, *frames, passed=True):
    meeting = memory.meeting(test, Answers(*(answer(1) for _ in frames)))
    ask(meeting, *frames)
    meeting.end(passed)


def expected(memory, *tests):
    return [tuple(call) for call in memory.expected(tests)]


def test_what_was_asked_of_one_who_passed_is_expected_to_be_asked_again():
    memory = Memory()
    passed(memory, "t", b"a", b"b")
    passed(memory, "u", b"c")
    assert expected(memory, "t", "u") == [("t", b"a"), ("t", b"b"), ("u", b"c")]
    assert expected(memory, "t", "new", "u") == [("t", b"a"), ("t", b"b")]


def test_what_was_asked_of_one_who_failed_is_not_the_whole():
    memory = Memory()
    passed(memory, "t", b"a", passed=False)
    assert expected(memory, "t") == []
    passed(memory, "t", b"a", b"b")
    passed(memory, "t", b"a", passed=False)
    assert expected(memory, "t") == [("t", b"a"), ("t", b"b")]


def test_where_a_test_parts_ways_nothing_is_expected_after():
    memory = Memory()
    passed(memory, "t", b"a", b"b")
    passed(memory, "u", b"d")
    memory._tests["t"].learn([b"a", b"c"], whole=True)
    assert expected(memory, "t", "u") == [("t", b"a")]


def test_a_test_that_looks_at_the_process_is_not_expected():
    memory = Memory()
    meeting = memory.meeting("t", Answers(answer(1)))
    ask(meeting, b"a")
    process_of(meeting)
    meeting.end(passed=True)
    assert expected(memory, "t") == []
