"""Properties that a function's results may have, tried on it: what holds becomes a hidden test.

What is tried is the text of the test itself, with the vocabulary that hidden tests import.
"""

from __future__ import annotations

import contextlib
import io
import textwrap
from collections.abc import Iterator
from types import SimpleNamespace

import msgspec

from ... import authors
from .probing import Function, Sample, TooLong, bounded, call, defined, drawn

_SEEDS = range(20)
_WIDTH = 92  # of a line, before it is indented
_WORDS = ("expect", "rows_sum_to_one", "same")

# What is claimed, the test's name, and its body; `{f}` is the function, `{rest}` further arguments.
_ARRAYS = (
    (
        "rows_sum_to_one",
        "Along the last axis the results are parts of a whole.",
        "rows_sum_to_one({f}(x{rest}))",
    ),
    (
        "shift",
        "Adding a constant to all entries changes nothing.",
        'same({f}(x + 3{rest}), {f}(x{rest}), "A common shift changes the result.")',
    ),
    (
        "scale",
        "A common factor changes nothing.",
        'same({f}(2 * x{rest}), {f}(x{rest}), "A common factor changes the result.")',
    ),
    (
        "factor",
        "A common factor comes out as it went in.",
        'same({f}(2 * x{rest}), 2 * {f}(x{rest}), "Twice the input is not twice the result.")',
    ),
    (
        "odd",
        "The opposite input gives the opposite result.",
        'same({f}(-x{rest}), -{f}(x{rest}), "The opposite input gives something else.")',
    ),
    (
        "even",
        "A change of sign changes nothing.",
        'same({f}(-x{rest}), {f}(x{rest}), "A change of sign changes the result.")',
    ),
    (
        "twice",
        "Applied to its own result it changes nothing more.",
        'same({f}({f}(x{rest}){rest}), {f}(x{rest}), "A second time changes the result again.")',
    ),
    (
        "order_kept",
        "Each row is treated by itself.",
        "order = list(range(len(x)))[::-1]\n"
        'same({f}(x[order]{rest}), {f}(x{rest})[order], "A row depends on where it stands.")',
    ),
    (
        "order_lost",
        "The order of the rows does not matter.",
        "order = list(range(len(x)))[::-1]\n"
        'same({f}(x[order]{rest}), {f}(x{rest}), "The order of the rows changes the result.")',
    ),
    (
        "not_negative",
        "No entry is negative.",
        'expect(bool(({f}(x{rest}) >= 0).all()), "An entry is negative.")',
    ),
    (
        "shape",
        "The result has the shape of the input.",
        'expect({f}(x{rest}).shape == x.shape, "The result has another shape than the input.")',
    ),
)
_LISTS = (
    (
        "order_lost",
        "The order does not matter.",
        'expect({f}(x[::-1]{rest}) == {f}(x{rest}), "The order changes the result.")',
    ),
    (
        "twice",
        "Applied to its own result it changes nothing more.",
        'expect({f}({f}(x{rest}){rest}) == {f}(x{rest}), "A second time changes it again.")',
    ),
    (
        "there_and_back",
        "Applied twice it gives back what it was given.",
        'expect({f}({f}(x{rest}){rest}) == x, "Twice does not lead back.")',
    ),
    (
        "length",
        "The result is as long as the input.",
        'expect(len({f}(x{rest})) == len(x), "The result has another length than the input.")',
    ),
)
_NUMBERS = (
    (
        "even",
        "A change of sign changes nothing.",
        'expect({f}(-x{rest}) == {f}(x{rest}), "A change of sign changes the result.")',
    ),
    (
        "larger",
        "A larger number gives no smaller result.",
        'expect({f}(x + 1{rest}) >= {f}(x{rest}), "A larger number gives a smaller result.")',
    ),
    (
        "not_negative",
        "The result is not negative.",
        'expect({f}(x{rest}) >= 0, "The result is negative.")',
    ),
)


class HeldClaim(msgspec.Struct, frozen=True):
    """A property as a hidden test: its name, the words it imports, and its text."""

    name: str
    words: tuple[str, ...]
    text: str

    def holds(self, name: str, function: Function, seed: int) -> bool:
        """Run the test on a function."""
        names = defined(self.text)
        names.update({w: getattr(authors, w) for w in self.words})
        draw = drawn(seed)
        try:
            with bounded(set()), contextlib.redirect_stdout(io.StringIO()):
                names[self.name](SimpleNamespace(**{name: function}), draw)
        except (Exception, TooLong):  # a property that ends in an error does not hold
            return False
        return True


def claims(name: str, function: Function, sample: Sample) -> Iterator[HeldClaim]:
    """The properties that hold on every draw, those that say most first."""
    if not sample.positional or call(function, sample, 0).raised:
        return
    first, *others = sample.positional
    if "array" in first or first.startswith("draw."):
        kinds: tuple[tuple[str, str, str], ...] = _ARRAYS
    else:
        kinds = _LISTS if first[0] in '["t' else _NUMBERS
    rest = Sample(tuple(others), sample.keywords).text
    for what, says, body in kinds:
        filled = body.format(f=f"submission.{name}", rest=rest and f", {rest}")
        text = f'def test_{what}(submission, draw):\n    """{says}"""\n    x = {first}\n'
        if "draw." in rest:  # both sides of an equation need the same other arguments
            text, filled = _held(text, filled, rest)
        if len(filled) > _WIDTH:
            filled = filled.replace("(", "(\n    ", 1).replace(', "', ',\n    "')[:-1] + ",\n)"
        text += textwrap.indent(filled, "    ") + "\n"
        words = tuple(w for w in _WORDS if f"{w}(" in filled)
        claim = HeldClaim(f"test_{what}", words, text)
        if all(claim.holds(name, function, seed) for seed in _SEEDS):
            yield claim


def _held(text: str, filled: str, rest: str) -> tuple[str, str]:
    """Further arguments drawn once, under one name."""
    return f"{text}    rest = ({rest},)\n", filled.replace(f", {rest}", ", *rest")
