"""Edits that complete an idiom that is only half there."""

from __future__ import annotations

import pytest

from autograder.repair import generate_edits

# A wrong program, a line that some change must make of one of its lines, and where.
CASES = {
    "the mean of a product": (
        "def f(x, y):\n    return (x * y).mean(-1)\n",
        "return ((x * y).sum)(-1)",
        2,
    ),
    "every axis of one entry dropped": (
        "def f(x, dim):\n    return x.sum(dim, keepdim=True).squeeze()\n",
        "return ((x.sum(dim, keepdim=True)).squeeze(dim))",
        2,
    ),
    "a sum without its new maximum": (
        "def f(m, s, b):\n    for x in b:\n        n = torch.maximum(m, x)\n        s = s + x\n"
        "        m = n\n    return s\n",
        "s = (s * torch.exp(torch.nan_to_num(m - n, nan=0.0)) + (x))",
        4,
    ),
    "a sum without its new maximum, after the first round": (
        "def f(m, s, b):\n    for x in b:\n        n = x if m is None else m.maximum(x)\n"
        "        s = s + x\n        m = n\n    return s\n",
        "s = (s * torch.exp(torch.nan_to_num(m - n, nan=0.0)) + (x))",
        4,
    ),
    "a sum in a kernel": (
        "def f(m, s, b):\n    for x in b:\n        n = tl.maximum(m, x)\n        s += x\n"
        "        m = n\n    return s\n",
        "s = s * tl.where(m == n, 1.0, tl.exp(m - n)) + (x)",
        4,
    ),
    "memory that is shared": (
        "def f(w):\n    return nn.Parameter(w)\n",
        "return nn.Parameter(((w).detach().clone()))",
        2,
    ),
    "colours that end at the largest": (
        "def f(ax, w):\n    ax.imshow(w, vmin=0, vmax=w.max())\n",
        "(ax.imshow(w, vmin=0.0, vmax=1.0))",
        2,
    ),
    "a layer around the sum": (
        "class f:\n    def forward(self, x):\n        return self.norm(x + self.work(x))\n",
        "return (x + self.work(self.norm(x)))",
        3,
    ),
    "shares of which some were hidden": (
        "def f(w, seen):\n    w = w * seen\n    return w\n",
        "w = ((w * seen) / ((w * seen).sum(-1, keepdim=True)"
        " + ((w * seen).sum(-1, keepdim=True) == 0)))",
        2,
    ),
    "a table that is saved with the model": (
        "class f:\n    def __init__(self, t):\n        self.register_buffer('t', t)\n",
        "(self.register_buffer('t', t, persistent=False))",
        3,
    ),
    "a layer for another": (
        "class f:\n    def __init__(self):\n        self.bend = nn.ReLU()\n",
        "self.bend = (nn.GELU)()",
        3,
    ),
    "a mean that is not required": (
        "def f(w):\n    return w.mean(dim=1)\n",
        "return (w)",
        2,
    ),
    "a negative argument": (
        "def f(n, top):\n    if n > top:\n        raise ValueError(n)\n    return n\n",
        "if (n > top) or bool((torch.as_tensor(n) < 0).any()): raise ValueError(f'{n!r} {top!r}')",
        2,
    ),
}


@pytest.mark.parametrize("case", CASES)
def test_what_is_missing_can_be_put_in(case):
    source, wanted, line = CASES[case]
    data = source.encode()
    made = {
        (text.strip(), c.line)
        for c in generate_edits(source, "f")
        for text in c.applied(data).decode().split("\n")
    }
    assert (wanted, line) in made
