"""Messages name arguments, parts of a result and modules as the stub does."""

import torch

from autograder.grading.names import NamedParts, Names

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

def fit(model, inputs):
    """Trains.

    Returns:
        The loss of every step, before its update.
    """

class Flash:
    def forward(ctx, q, k): ...

class Block:
    def __init__(self, width): ...

    def forward(self, x, mask=None): ...
'''
NAMES = Names(STUB)


def test_parts_of_a_result():
    """The first sentence names them, or a line each; where it does not, they are counted."""
    assert NAMES.result("attend", "…").part(1, 2) == "`weights`"
    assert NAMES.result("sort", "…").part(0, 2) == "`order`"
    assert NAMES.result("sort", "…").part(1, 3) == "The second value returned"
    assert NAMES.result("fit", "…").part(1, 4) == "The loss of step 2"


def test_a_shape_is_no_pair_of_names():
    text = """def flash(q):
    '''Both.

    Returns:
        output (n, d) in q's dtype, and the logsumexp (n,) of each query's scores.
    '''
"""
    names = Names(text)
    assert [names.result("flash", "…").part(n, 2) for n in range(2)] == ["`output`", "`logsumexp`"]


def test_state():
    """What stands in a module's state is a parameter."""
    assert NAMES.result("Block.state_dict", "…").item("W.weight") == "The parameter `W.weight`"
    assert NamedParts("The result of `f`").item("a") == "The result of `f`['a']"


def test_inputs():
    """Float tensors, each once, by the names of the stub; those of a list are counted."""
    x, y, ids = torch.ones(2), torch.ones(2), torch.tensor([1])
    assert NAMES.inputs("attend", (x, x, y), {}) == ["q", "v"]
    assert NAMES.inputs("attend", (x,), {"v": y}) == ["q", "v"]
    assert NAMES.inputs("Block", (x,), {"mask": y.bool()}) == ["x"]
    assert NAMES.inputs("Flash.apply", (ids, y), {}) == ["k"]
    assert NAMES.inputs("sort", ([x, y],), {}) == ["buckets[0]", "buckets[1]"]
    assert NAMES.inputs("unknown", (x,), {}) == ["input 1"]


def test_what_the_stub_has():
    """Names of the grader's own code are not among them."""
    assert NAMES.knows("Block")
    assert NAMES.knows("attend")
    assert not NAMES.knows("Watched")
