"""Edits of several places: the edited program, and the lines that are reported."""

from __future__ import annotations

import pytest

from autograder.repair import generate_edits

# A wrong program, the program that an edit must produce, and the lines of the edit.
CASES = {
    "created again in every iteration": (
        "def f(xs):\n    for x in xs:\n        o = make()\n        o.step(x)\n    return o\n",
        "def f(xs):\n    o = make()\n    for x in xs:\n        pass\n        o.step(x)\n"
        "    return o\n",
        {3},
    ),
    "made once for all rounds": (
        "def f(xs):\n    o = make()\n    for x in xs:\n        o.step(x)\n    return o\n",
        "def f(xs):\n    pass\n    for x in xs:\n        o = make()\n        o.step(x)\n"
        "    return o\n",
        {2},
    ),
    "done once before all rounds": (
        "def f(o, xs):\n    o.clear()\n    for x in xs:\n        o.step(x)\n    return o\n",
        "def f(o, xs):\n    pass\n    for x in xs:\n        o.clear()\n        o.step(x)\n"
        "    return o\n",
        {2},
    ),
    "a layer that is set by its name": (
        "class f:\n    def __init__(self):\n        for n in ('q', 'k', 'v'):\n"
        "            setattr(self, n, make())\n\n"
        "    def forward(self, x):\n        return self.q(x), self.k(x), self.k(x)\n",
        "class f:\n    def __init__(self):\n        for n in ('q', 'k', 'v'):\n"
        "            setattr(self, n, make())\n\n"
        "    def forward(self, x):\n        return self.q(x), self.k(x), (self.v)(x)\n",
        {7},
    ),
    "another key": (
        "class f:\n    def __init__(self):\n        self.of = {'q': 1, 'k': 2}\n\n"
        "    def forward(self):\n        return self.of['q'], self.of['q']\n",
        "class f:\n    def __init__(self):\n        self.of = {'q': 1, 'k': 2}\n\n"
        "    def forward(self):\n        return self.of['q'], self.of[('k')]\n",
        {6},
    ),
}


@pytest.mark.parametrize("case", CASES)
def test_what_is_in_the_wrong_place_can_be_moved(case):
    source, wanted, lines = CASES[case]
    data = source.encode()
    made = [c for c in generate_edits(source, "f") if c.applied(data).decode() == wanted]
    assert lines in [{c.line, *c.more} for c in made]
