"""Test hidden tests that pass objects to a submission and inspect its objects."""

import pytest
import torch

from autograder.grading.assertions.calls import Count
from autograder.grading.assertions.case import Case, Side
from autograder.grading.assertions.inputs import Draw
from autograder.grading.assertions.vocabulary import Agree, Refuses
from autograder.grading.outcomes import Crashed, Wrong
from autograder.grading.targets.in_process import InProcess

BROUGHT = '''
class Store:
    """Remembers what it was given; at most `most` tensors."""

    def __init__(self, most):
        self.most, self.items = most, []

    @property
    def length(self):
        return len(self.items)

    def put(self, x):
        self.items.append(x)
        return sum(self.items)


def alike(box, x):
    return torch.equal(box.add(x), box.add(x))


import torch
'''

SOLUTION = """
import torch

class Box:
    def __init__(self, room=3):
        self.room, self.total, self.count = room, 0, 0

    def add(self, x):
        if self.count == self.room:
            raise ValueError(f"{self.room} are in it, there is no room for number {self.count + 1}")
        self.total, self.count = self.total + x, self.count + 1
        return self.total * 1

def through(store, x):
    return store.put(2 * x)
"""


@pytest.fixture
def case(tmp_path):
    """Create a running test; the student's module is the solution with some text replaced."""

    def make(before="", after="", dtype="float32"):
        sides = {}
        for name, source in {
            "student": SOLUTION.replace(before, after) if before else SOLUTION,
            "reference": SOLUTION,
            "precise": SOLUTION,
        }.items():
            path = tmp_path / name / "box.py"
            path.parent.mkdir()
            path.write_text(source)
            sides[name] = Side(
                InProcess(path), "cpu", in_float64=name == "precise", is_reference=name != "student"
            )
        draw = Draw(b"secret", "t", dtype)
        return Case("t", "Box", "box.py", (), "cpu", dtype, draw, **sides)

    return make


def test_a_brought_object_lives_on_between_the_calls_it_is_passed_to(case):
    agree = Agree(case())
    store = agree.bringing(BROUGHT).Store(4)
    agree.through(store, torch.ones(2))
    assert agree.through(store, torch.ones(2)).tolist() == [4.0, 4.0]


def test_each_side_has_a_brought_object_of_its_own(case):
    agree = Agree(case("2 * x", "2 * x if store.length < 1 else x"))
    store = agree.bringing(BROUGHT).Store(4)
    agree.through(store, torch.ones(2))
    with pytest.raises(Wrong, match="differs"):
        agree.through(store, torch.ones(2))


def test_what_a_brought_object_holds_can_be_compared(case):
    agree = Agree(case("return store.put(2 * x)", "return 2 * x"))
    store = agree.bringing(BROUGHT).Store(4)
    agree.through(store, torch.ones(2))
    with pytest.raises(Wrong, match="not the right number"):
        store.attribute("length")


def test_a_brought_function_looks_at_an_object_of_the_submission(case):
    agree = Agree(case("return self.total * 1", "return self.total * 0"))
    box = agree.Box()
    with pytest.raises(Wrong, match="not the right value"):
        agree.bringing(BROUGHT).alike(box, torch.ones(2))


def test_an_object_keeps_its_state_between_compared_calls(case):
    agree = Agree(case())
    box = agree.Box()
    box.add(torch.ones(2))
    assert box.add(torch.ones(2)).tolist() == [2.0, 2.0]


def test_an_objects_method_is_counted(case):
    case = case()
    box = Agree(case).Box()
    assert Count(case).of(box.student, "add")(torch.ones(3, 5)).largest == 15


def test_an_objects_method_must_refuse(case):
    case = case()
    box = Agree(case).Box(0)
    Refuses(case)(ValueError, mentions=1).of(box, "add")(torch.ones(2))


def test_one_of_several_numbers_in_the_message_will_do(case):
    case = case()
    box = Agree(case).Box(0)
    Refuses(case)(ValueError, mentions=(77, 1)).of(box, "add")(torch.ones(2))
    with pytest.raises(Wrong, match="does not name the wrong value"):
        Refuses(case)(ValueError, mentions=(77, 78)).of(box, "add")(torch.ones(2))


@pytest.mark.parametrize(
    ("before", "after", "told"),
    [
        ("self.total * 1", "self.total + 1", "The result of this check is not the right"),
        ("self.total * 1", "self.total.nothing", "A call of your code raised AttributeError"),
        ("self.total * 1", "exit()", "A call of your code ended the program"),
    ],
)
def test_what_the_grader_calls_its_own_code_is_not_told(case, before, after, told):
    agree = Agree(case(before, after))
    box = agree.Box()
    with pytest.raises((Wrong, Crashed)) as caught:
        agree.bringing(BROUGHT.replace("torch.equal(box.add(x), box.add(x))", _PROBE)).alike(
            box, torch.ones(2)
        )
    assert told in caught.value.message
    assert "alike" not in caught.value.message


_PROBE = "torch.equal(2 * box.add(x), box.add(x))"
