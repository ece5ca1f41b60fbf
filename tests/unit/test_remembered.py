"""What is remembered of passing tests, and what is not."""

import pytest

from autograder.grading.outcomes import Crashed, GraderFault
from autograder.grading.remembered import Memory, process_of
from autograder.grading.targets import Sandboxed
from autograder.worker.wire import Raised, Reply


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
    what = Raised("ValueError", ("ValueError",), message, line, "f", None)
    return Reply("raised", raised=what), []


def ask(meeting, *frames):
    return [meeting.request(frame) for frame in frames]


@pytest.fixture
def memory():
    """A memory in which `t` has passed once: asked a, answered 1; asked b, answered 2."""
    memory = Memory()
    meeting = memory.meeting("t", Answers(answer(1), answer(2, b"xy")))
    assert not meeting.passes()
    ask(meeting, b"a", b"b")
    meeting.remember()
    return memory


def test_the_same_answers_pass_without_the_test(memory):
    assert memory.meeting("t", Answers(answer(1), answer(2, b"xy"))).passes()


def test_every_call_is_made_all_the_same(memory):
    student = Answers(answer(1), answer(2, b"xy"))
    memory.meeting("t", student).passes()
    assert student.asked == [b"a", b"b"]


@pytest.mark.parametrize(
    "other",
    [answer(3, b"xy"), answer(2.0, b"xy"), answer(2, b"xz"), answer(2, b"xy", mutated=("t",))],
    ids=["value", "type", "buffer", "effect"],
)
def test_another_answer_does_not_pass_unseen(memory, other):
    assert not memory.meeting("t", Answers(answer(1), other)).passes()


def test_another_test_knows_nothing_of_it(memory):
    assert not memory.meeting("u", Answers(answer(1), answer(2, b"xy"))).passes()


def test_the_test_gets_the_answers_that_are_there_and_asks_for_the_rest(memory):
    student = Answers(answer(1), answer(9), answer(10))
    meeting = memory.meeting("t", student)
    meeting.passes()
    assert [a[0].value for a in ask(meeting, b"a", b"b", b"c")] == [1, 9, 10]


def test_nothing_is_asked_twice(memory):
    student = Answers(answer(1), answer(9), answer(10))
    meeting = memory.meeting("t", student)
    meeting.passes()
    ask(meeting, b"a", b"b", b"c")
    assert student.asked == [b"a", b"b", b"c"]


def test_a_call_that_ended_badly_ends_so_in_the_test(memory):
    meeting = memory.meeting("t", Answers(Crashed("it died")))
    meeting.passes()
    with pytest.raises(Crashed, match="it died"):
        ask(meeting, b"a")


def test_a_test_that_asks_otherwise_after_the_same_answers_is_at_fault(memory):
    meeting = memory.meeting("t", Answers(answer(1), answer(9)))
    meeting.passes()
    with pytest.raises(GraderFault, match="seeded"):
        ask(meeting, b"another")


def test_a_second_way_to_pass_is_kept_beside_the_first(memory):
    meeting = memory.meeting("t", Answers(answer(5), answer(6)))
    meeting.passes()
    ask(meeting, b"a", b"b2")
    meeting.remember()
    assert memory.meeting("t", Answers(answer(5), answer(6))).passes()
    assert memory.meeting("t", Answers(answer(1), answer(2, b"xy"))).passes()


def test_output_and_the_line_of_an_exception_make_no_difference():
    memory = Memory()
    meeting = memory.meeting("t", Answers(answer(1, printed="hello"), raised(line=3)))
    ask(meeting, b"a", b"b")
    meeting.remember()
    assert memory.meeting("t", Answers(answer(1), raised(line=8))).passes()
    assert not memory.meeting("t", Answers(answer(1), raised(line=3, message="worse"))).passes()


def test_a_test_that_looks_at_the_process_itself_is_run_every_time():
    memory = Memory()
    meeting = memory.meeting("t", Answers(answer(1)))
    ask(meeting, b"a")
    process_of(meeting)
    meeting.remember()
    assert not memory.meeting("t", Answers(answer(1))).passes()


def test_the_process_of_a_submission_is_found_behind_a_meeting():
    process = object.__new__(Sandboxed)
    assert process_of(Memory().meeting("t", process)) is process


def test_what_is_kept_of_one_test_is_bounded():
    memory = Memory()
    for number in range(1000):
        meeting = memory.meeting("t", Answers(answer(number)))
        meeting.passes()
        ask(meeting, b"a")
        meeting.remember()
    assert len(memory.meeting("t", Answers())._tree.steps) < 300
