"""Test that the call graph of exercises is read from the source."""

import pytest

from autograder.grading.dependencies.error_carried_forward import named_in, read_call_graph

SOURCE = """
def softmax(x):
    return x


def _scores(q):
    return softmax(q)


def attention(q):
    return _scores(q)


class Block:
    def forward(self, x):
        return attention(x)


shift = lambda x: softmax(x)
"""
EXERCISES = ("softmax", "attention", "Block", "shift")


@pytest.fixture
def found():
    return read_call_graph(SOURCE, EXERCISES)


def test_a_call_through_a_private_function_counts(found):
    assert found.calls["attention"] == {"softmax"}


def test_a_call_through_another_exercise_is_that_ones(found):
    assert found.calls["Block"] == {"attention"}


def test_all_that_runs_is_reached(found):
    assert found.reached("Block") == {"attention", "softmax"}


def test_an_assigned_lambda_calls_too(found):
    assert found.calls["shift"] == {"softmax"}


def test_exercises_that_call_each_other_come_to_an_end():
    both = read_call_graph("def a():\n    b()\n\n\ndef b():\n    a()\n", ("a", "b"))
    assert both.reached("a") == {"b"}


STYLES = [
    "if True:\n    def a():\n        b()",
    "try:\n    import numba\nexcept ImportError:\n    pass\nelse:\n    def a():\n        b()",
    "a: object = lambda: b()",
    "def a():\n    b()\n\n\na = print(a) or a",
]


@pytest.mark.parametrize("style", STYLES)
def test_a_definition_in_another_style_calls_too(style):
    found = read_call_graph(f"def b():\n    pass\n\n\n{style}\n", ("a", "b"))
    assert found.reached("a") == {"b"}


@pytest.mark.parametrize("source", ["def softmax(:", "x\n" * 30_000, "a\0b"])
def test_of_what_nobody_reads_nothing_is_known(source):
    assert read_call_graph(source, EXERCISES).reached("Block") == frozenset()


def _ask_block(agree):
    return agree.Block(3)


def test_an_exercise_that_a_test_asks_for_by_a_helper_of_its_module_counts():
    def test(agree):
        agree.attention(_ask_block(agree))

    assert named_in(test, EXERCISES) == {"attention", "Block"}


def test_what_tests_ask_for_is_reached_with_what_that_one_calls(found):
    asked = found.with_calls({"shift": frozenset({"Block"})})
    assert asked.reached("shift") == {"softmax", "Block", "attention"}
