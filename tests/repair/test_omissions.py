"""Edits that add an overlooked axis, default, offset or mask."""

from __future__ import annotations

import pytest

from autograder.model.report.findings import FINDINGS, edit_name, question
from autograder.repair import (
    foreign_lines,
    generate_edits,
    shared_definitions,
    unread_parameters,
)

# A wrong program, lines that an edit must produce, its line and its kind.
CASES = {
    "one axis, written twice": (
        "def f(x, dim):\n    return x.sum(-1).unsqueeze(-1)\n",
        "    return x.sum(dim).unsqueeze(dim)\n",
        (2, "axis"),
    ),
    "the axis of one statement of several": (
        "def f(x, dim):\n    y = x.sum(-1).unsqueeze(-1)\n    return y.flatten(-1)\n",
        "    y = x.sum(dim).unsqueeze(dim)\n    return y.flatten(-1)\n",
        (2, "axis"),
    ),
    "a power upside down": (
        "def f(x):\n    return x ** 1e-4\n",
        "    return ((1e-4) ** (x))\n",
        (2, "operand order"),
    ),
    "a scale of a product whose operands are a list": (
        "def f(q, k):\n    return torch.einsum('nd,md->nm', [q, k])\n",
        "    return ((torch.einsum('nd,md->nm', [q, k])) / (q).shape[-1] ** 0.5)\n",
        (2, "scale"),
    ),
    "a loss that is added up and divided by too little": (
        "def f(x, y):\n    return F.cross_entropy(x, y, reduction='sum') / len(x)\n",
        '    return (F.cross_entropy(x, y, reduction="mean"))\n',
        (2, "factor"),
    ),
    "an unknown key": (
        "def f(kind):\n    t = {'a': 1}\n    return 2 * t[kind]\n",
        "    if kind not in t: raise ValueError(f'{kind!r}')\n    return 2 * t[kind]\n",
        (3, "refusal"),
    ),
    "a maximum that may be infinite before the exponential": (
        "def f(x):\n    return torch.exp(x)\n",
        "(torch.exp((x) - torch.nan_to_num((x).amax(-1, keepdim=True), neginf=0.0)))\n",
        (2, "overflow"),
    ),
    "one block in every place": (
        "class f:\n    def __init__(self, n, d):\n        b = Block(d)\n"
        "        self.blocks = nn.ModuleList([b] * n)\n",
        "nn.ModuleList(([Block(d) for _ in range(n)]))\n",
        (4, "shared"),
    ),
    "a place within its tile": (
        "def f(n, col):\n    local = tl.arange(0, 9)\n    row = n + local\n"
        "    return tl.where(col <= local, row, 0)\n",
        "    return tl.where(col <= (row), row, 0)\n",
        (4, "name"),
    ),
    "a layer that is never called": (
        "class f:\n    def forward(self, x):\n        k = self.k(x)\n        v = self.k(x)\n"
        "        return k * v\n    def __init__(self):\n        self.k = nn.Linear(4, 4)\n"
        "        self.v = nn.Linear(4, 4)\n",
        "        v = (self.v)(x)\n",
        (4, "name"),
    ),
    "a layer before a product": (
        "class f:\n    def forward(self, w, v):\n        y = w @ v\n        return y\n"
        "    def __init__(self):\n        self.drop = nn.Dropout(0.5)\n",
        "        y = (self.drop(w)) @ v\n",
        (3, "missing step"),
    ),
    "another count": (
        "def f(x):\n    n = x.shape[1]\n    return [x[n] + h for h in range(n)]\n",
        "[x[(h)] + h for",
        (3, "name"),
    ),
    "the parts of a list": (
        "def f(x):\n    return torch.cat([-x, x], -1)\n",
        "torch.cat(([x, -x]), -1)",
        (2, "order of values"),
    ),
    "positive values that are not normalised": (
        "def f(x):\n    y = torch.relu(x)\n    return y\n",
        "    y = ((torch.relu(x)) / ((torch.relu(x)).sum(-1, keepdim=True) + (",
        (2, "share"),
    ),
    "gradients that accumulate, with an unread loop counter": (
        "def f(model, x, steps):\n    opt = torch.optim.Adam(model.parameters())\n"
        "    for step in range(steps):\n        loss = model(x)\n        loss.backward()\n"
        "        opt.step()\n",
        "        opt.zero_grad()\n        loss.backward()\n",
        (5, "missing step"),
    ),
    "a return inside the loop": (
        "def f(x):\n    y = 0\n    for z in x:\n        y = y + z\n        return y\n",
        "        y = y + z\n        pass\n    return y\n",
        (5, "early return"),
    ),
    "a maximum that begins too high": (
        "def f(x):\n    top = 0.0\n    for z in x:\n        new = tl.maximum(top, z)\n"
        "        top = new\n    return top\n",
        '    top = (float("-inf"))\n',
        (2, "constant"),
    ),
    "the last, partial tile": (
        "def f(K, B):\n    acc = tl.zeros((9,), tl.float32)\n    for t in range(0, K // B):\n"
        "        acc += t\n",
        "    for t in range(0, (tl.cdiv(K, B))):\n",
        (3, "off by one"),
    ),
    "a grid on its side": (
        "def f(m, n):\n    grid = (triton.cdiv(n, 16), triton.cdiv(m, 16))\n    return grid\n",
        "    grid = (triton.cdiv(m, 16), triton.cdiv(n, 16))\n",
        (2, "order of values"),
    ),
}


@pytest.mark.parametrize("case", CASES)
def test_what_was_overlooked_can_be_put_in(case):
    source, wanted, place = CASES[case]
    found = generate_edits(source, "f")
    made = [c for c in found if wanted in c.applied(source.encode()).decode()]
    assert place in {(c.line, c.kind) for c in made}


@pytest.mark.parametrize("kind", sorted({place[1] for _, _, place in CASES.values()}))
def test_every_kind_has_a_question(kind):
    assert question(kind) != kind
    assert edit_name(kind) in FINDINGS


def test_definitions_that_two_modules_share():
    ours = "def a(x):\n    return x\n\n\ndef b(x):\n    return -x\n"
    theirs = "import math\n\n\ndef a(x):\n    return x\n\n\ndef b(x):\n    return x\n"
    assert shared_definitions(ours, theirs) == {"a"}
    assert shared_definitions(ours, "def (") == frozenset()


def test_lines_of_a_definition_and_of_what_it_uses():
    source = (
        "def a(x):\n    return x\n\n\ndef b(x):\n    return a(x)\n\n\ndef c(x):\n    return b(x)\n"
    )
    source += "\n\nprint(c(1))\n"
    assert foreign_lines(source, "c", frozenset({"b", "c"})) == {1, 2, 5, 6}
    assert foreign_lines(source, "b", frozenset()) == {9, 10}
    assert foreign_lines("def (", "b", frozenset()) == frozenset()


def test_what_is_taken_away_by_a_name_of_its_own_is_no_table():
    source = "def f(x):\n    pop = x.copy\n    taken = pop()\n    return taken\n"
    assert all(change.kind for change in generate_edits(source, "f", frozenset()))


def test_an_argument_that_is_only_refused_is_ignored():
    guarded = "def f(x, mask=None):\n    if mask and mask.ndim > 3:\n        raise ValueError\n"
    assert unread_parameters(f"{guarded}    return x\n", "f") == {"mask"}
    assert unread_parameters(f"{guarded}    return x * mask\n", "f") == frozenset()
    assert (
        unread_parameters("def f(x, mask):\n    if mask:\n        x = 1\n    return x\n", "f")
        == frozenset()
    )
