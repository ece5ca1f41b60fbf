"""A traced version behaves like the program and records the values of its expressions."""

from __future__ import annotations

import numpy as np
import torch

from autograder.grading.localization.value_rows import permuted, same
from autograder.repair.instrumentation import trace_program
from autograder.repair.trace_recorder import NODE, NOTES

SOURCE = '''
import torch

def helper(x):
    return x.exp()

def f(x, dim=-1):
    """A text."""
    top = x.amax(dim, keepdim=True)
    parts = helper(x - top)
    return parts / parts.sum(dim, keepdim=True), [t for t in range(2)]

class C:
    def forward(self, x):
        return f(x)[0].mT
'''


def run(source, name, *given):
    """Return the result of a call, the recorded rows by line, and all rows."""
    program = trace_program(source, name)
    module = {}
    exec(compile(program.source, "traced", "exec"), module)
    made = module[name]
    result = (made().forward if isinstance(made, type) else made)(*given)
    rows = module[NOTES]().numpy()
    lines = {}
    for row in rows:
        lines.setdefault(program.nodes[int(row[NODE])].line, []).append(row)
    return result, lines, rows


def test_it_answers_as_the_program_does():
    x = torch.randn(3, 4)
    (y, count), lines, _ = run(SOURCE, "f", x)
    assert torch.allclose(y, torch.softmax(x, -1))
    assert count == [0, 1]
    assert {5, 9, 10, 11} <= lines.keys()


def test_methods_are_traced_with_what_they_use():
    x = torch.randn(2, 3, 4)
    y, lines, _ = run(SOURCE, "C", x)
    assert torch.allclose(y, torch.softmax(x, -1).mT)
    assert {5, 9, 10, 11, 15} <= lines.keys()


def test_a_value_is_known_again_in_other_words():
    x = torch.randn(3, 4)
    _, _, one = run(SOURCE, "f", x)
    other = (
        "import torch\ndef f(x):\n    e = torch.exp(x - torch.max(x, -1, True)[0])\n    return e\n"
    )
    _, lines, _ = run(other, "f", x)
    assert any(same(row, one).any() for row in lines[3])
    turned = "import torch\ndef f(x):\n    return torch.exp(x - torch.max(x, -1, True)[0]).T\n"
    _, lines, _ = run(turned, "f", x)
    last = lines[3][-1]
    assert permuted(last, one).any()
    assert not same(last, one).any()


def test_numbers_arrays_and_infinities_are_noted():
    source = "import numpy as np\ndef f(x):\n    return np.where(x > 0, x, -np.inf) - len(x)\n"
    with np.errstate(all="ignore"):
        _, lines, rows = run(source, "f", np.arange(4.0))
    assert lines.keys() == {3}
    assert np.isfinite(rows).all()


def test_in_place_changes_do_not_reach_what_was_noted():
    source = "def f(x):\n    y = x + 1\n    y.zero_()\n    return y\n"
    x = torch.randn(5)
    _, lines, _ = run(source, "f", x)
    assert not same(lines[2][-1], np.stack(lines[4])).any()
