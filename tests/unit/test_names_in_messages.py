"""Test that messages name arguments, results and modules as the stub does."""

import torch

from autograder.grading.assertions.call_comparison import IN_A_ROW, BothCalls
from autograder.grading.assertions.case import CallOptions
from autograder.grading.disclosure.signatures import NamedParts, Signatures

STUB = '''
def attend(q, k, v, *, causal=False):
    """Looks up.

    Returns:
        output (..., n, d_v) and weights (..., n, m). No tensor is made on the
        way: and none (at all).
    """

def sort(buckets):
    """Sorts.

    Returns:
        order: int64,
            (..., T).
        inverse: the way back.

    Raises:
        ValueError: never.
    """

class Flash:
    def forward(ctx, q, k): ...

class Block:
    def __init__(self, width): ...

    def forward(self, x, mask=None): ...
'''
NAMES = Signatures(STUB)


def test_parts_of_a_result():
    """Name the parts in the first sentence or one per line; otherwise count them."""
    assert NAMES.result("attend", "…").part(1, 2) == "`weights`"
    assert NAMES.result("sort", "…").part(0, 2) == "`order`"
    assert NAMES.result("sort", "The result").part(1, 3) == "The second value returned"


def test_a_shape_is_no_pair_of_names():
    text = """def flash(q):
    '''Both.

    Returns:
        output (n, d) in q's dtype, and the logsumexp (n,) of each query's scores.
    '''
"""
    names = Signatures(text)
    assert [names.result("flash", "…").part(n, 2) for n in range(2)] == ["`output`", "`logsumexp`"]


def test_state():
    """Describe the state of a module as parameters."""
    assert NAMES.result("Block.state_dict", "…").item("W.weight") == "The parameter `W.weight`"
    assert NamedParts("The result of `f`").item("a") == "The result of `f`['a']"


def test_inputs():
    """Name each float tensor once, as in the stub; count the elements of a list."""
    x, y, ids = torch.ones(2), torch.ones(2), torch.tensor([1])
    assert NAMES.inputs("attend", (x, x, y), {}) == ["q", "v"]
    assert NAMES.inputs("attend", (x,), {"v": y}) == ["q", "v"]
    assert NAMES.inputs("Block", (x,), {"mask": y.bool()}) == ["x"]
    assert NAMES.inputs("Flash.apply", (ids, y), {}) == ["k"]
    assert NAMES.inputs("sort", ([x, y],), {}) == ["buckets[0]", "buckets[1]"]
    assert NAMES.inputs("unknown", (x,), {}) == ["input 1"]


def test_what_the_stub_has():
    """Omit names of the grader's own code."""
    assert "Block" in NAMES
    assert "attend" in NAMES
    assert "Watched" not in NAMES


def test_what_is_compared_is_returned_or_a_part_of_what_it_is():
    assert NamedParts("The result of `f`").part(0, 2) == "The first value returned"
    assert NamedParts("`cache.sizes`").part(1, 2) == "The second value of `cache.sizes`"


def test_an_object_that_a_function_returns_has_the_names_of_its_class():
    text = "class Block:\n    def forward(self, x): ...\ndef made(x) -> Block: ...\n"
    names = Signatures(text)
    assert [names.class_of(n) for n in ("made", "Block", "other")] == ["Block", "Block", ""]


def test_inputs_of_several_calls_say_of_which():
    """Name a tensor that two calls share after the first call."""
    x, y = torch.ones(2), torch.ones(2)
    calls = NAMES.inputs_of_calls("attend", [(x, x, y), (x, y, torch.ones(2))])
    assert calls == ["`q` of call 1", "`v` of call 1", "`v` of call 2"]
    assert NamedParts.of_calls("The result of `f`").part(1, 2) == "The result of call 2"


def test_gradients_of_brought_calls_have_the_names_of_the_graders_source():
    source = "def mixed(first, second): ..."
    options = CallOptions(brought=source)
    calls = BothCalls("mixed", ([torch.ones(2)], torch.ones(2)), {}, options, options, None)
    assert calls.inputs(NAMES, 2) == ["`first[0]`", "`second`"]


def test_several_calls_of_one_exercise_are_told_by_its_name():
    options = CallOptions(brought=IN_A_ROW)
    calls = BothCalls("in_a_row", ("sort", (torch.ones(2),)), {}, options, options, None)
    assert calls.subject == calls.owner == "`sort`"
    assert calls.inputs(NAMES, 1) == ["`buckets` of call 1"]
