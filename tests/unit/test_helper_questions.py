"""A helper's answers are known only if another process gives the same, in another order."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from autograder.grading.asked import HelperQuestions, Question, hash_of
from autograder.grading.targets import Answer
from autograder.worker import wire

QUESTIONS: list[Question] = [(b"made", b"called", bytes([n])) for n in range(20)]
Helper = Callable[[Question], Answer | None]


def said(number: object, printed: str = "") -> Answer:
    return wire.Reply("ok", value=str(number), printed=printed), []


def by_the_question(question: Question) -> Answer:
    return said(question[-1])


def by_the_call() -> Helper:
    calls: list[Question] = []

    def helper(question: Question) -> Answer:
        calls.append(question)
        return said(len(calls))

    return helper


def noted(helper: Helper) -> HelperQuestions:
    questions = HelperQuestions()
    for question in QUESTIONS:
        questions.note(question, helper(question))
    return questions


def test_who_answers_by_the_question_is_not_asked_twice() -> None:
    questions = noted(by_the_question)
    assert questions.known(QUESTIONS[3]) is None
    assert questions.settle(by_the_question)
    answer = questions.known(QUESTIONS[3])
    assert answer is not None
    assert hash_of(answer) == hash_of(by_the_question(QUESTIONS[3]))
    assert questions.known((b"called", b"otherwise")) is None


def test_who_counts_calls_is_found_out_by_another_order() -> None:
    questions = noted(by_the_call())
    assert not questions.settle(by_the_call())
    assert questions.known(QUESTIONS[0]) is None


def test_who_answers_one_question_in_two_ways_is_asked_every_time() -> None:
    questions = noted(by_the_question)
    questions.note(QUESTIONS[0], said("something else"))
    assert not questions.settle(by_the_question)


@pytest.mark.parametrize("helper", [lambda question: None, lambda question: said("")])
def test_another_process_must_give_the_same_answers(helper: Helper) -> None:
    assert not noted(by_the_question).settle(helper)


def test_no_answer_is_nothing_to_rely_on() -> None:
    questions = noted(by_the_question)
    questions.note((b"hangs",), None)
    assert not questions.settle(by_the_question)


def test_what_is_printed_makes_no_difference() -> None:
    questions = noted(lambda question: said(question[-1], printed="here I am"))
    assert questions.settle(by_the_question)


def test_answers_that_take_too_much_room_are_not_kept() -> None:
    questions = HelperQuestions()
    for number in range(5):
        large = wire.Reply("ok"), [memoryview(bytes(4 << 20))]
        questions.note((bytes([number]),), large)
    assert not questions.settle(by_the_question)
    assert questions.size < 20 << 20


def test_the_order_is_another_one_each_time() -> None:
    questions = noted(by_the_question)
    orders = set()
    for _ in range(3):
        asked: list[Question] = []

        def helper(question: Question, asked: list[Question] = asked) -> Answer:
            asked.append(question)
            return by_the_question(question)

        assert questions.same(helper)
        orders.add(tuple(asked))
    assert len(orders) == 3
