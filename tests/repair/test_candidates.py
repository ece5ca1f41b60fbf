"""Edits of a program: their lines, and that they stay in its own code."""

from __future__ import annotations

import pytest

from autograder.model.report.findings import FINDINGS
from autograder.repair import (
    generate_edits,
    without_unused_definitions,
)

MEAN = '''def mean(x, dim=-1):
    """The mean."""
    total = x.sum(dim=-1)
    return total / x.shape[dim]


def other(x):
    return x + 1
'''


def sources(source: str, exercise: str = "mean", **more: frozenset[str]) -> dict[str, int]:
    data = source.encode()
    return {c.applied(data).decode(): c.line for c in generate_edits(source, exercise, **more)}


def test_an_axis_can_be_the_one_that_the_parameter_names():
    assert sources(MEAN)[MEAN.replace("x.sum(dim=-1)", "(x.sum(dim=dim))")] == 3


def test_one_more_is_off_by_one_and_no_other_operation():
    edits = generate_edits("def width(n):\n    return n + 1\n", "width")
    texts = {e.replacements[0][2]: e.kind for e in edits}
    assert texts[b"(n)"] == texts[b"((n) - (1))"] == "off by one"
    assert b"((n) * (1))" not in texts


def test_the_default_of_an_argument_can_be_the_mistake():
    given = "def total(x, dim=-1, *, keepdim=True):\n    return x.sum(dim, keepdim)\n"
    found = sources(given, "total")
    assert found[given.replace("keepdim=True", "keepdim=(False)")] == 1
    assert found[given.replace("dim=-1", "dim=(0)")] == 1


def test_changes_stay_in_the_exercise_and_what_it_uses():
    assert {c.function for c in generate_edits(MEAN, "mean")} == {"mean"}


def test_a_helper_of_ones_own_is_changed_too():
    helped = MEAN.replace("x.shape[dim]", "other(x)")
    assert {c.function for c in generate_edits(helped, "mean")} == {"mean", "other"}


def test_another_exercise_is_left_alone():
    helped = MEAN.replace("x.shape[dim]", "other(x)")
    assert {c.function for c in generate_edits(helped, "mean", frozenset({"other"}))} == {"mean"}


def test_a_result_that_is_lost_can_be_kept():
    lost = "def f(x, m):\n    x.masked_fill(m, 0.0)\n    return x\n"
    assert lost.replace("    x.m", "    x = x.m") in sources(lost, "f")


@pytest.mark.parametrize("written", ["x.data.mul_(2)", "x.mul_(2)", "x[0] = 2"])
def test_an_argument_that_is_changed_in_place_is_copied_where_that_happens(written):
    source = f"def mean(x):\n    n = len(x)\n    {written}\n    return x.sum() / n\n"
    copies = [line for text, line in sources(source).items() if "x = x.clone()" in text]
    assert copies == [3]


def test_one_wrong_axis_in_two_calls_is_one_change():
    twice = "def f(x, dim):\n    y = x - x.amax(dim=-1)\n    return y.sum(dim=-1)\n"
    change = next(c for c in generate_edits(twice, "f") if c.more)
    assert (change.line, change.more) == (2, (3,))


@pytest.mark.parametrize("source", ["def f(:", "\0", "f = 1", "def f(x): " + "(" * 300])
def test_what_cannot_be_read_has_no_changes(source):
    assert generate_edits(source, "f") == []


def test_letters_beyond_ascii_do_not_shift_a_change():
    written = "def f(x):\n    é = 'ä'; return x - é\n"
    assert "def f(x):\n    é = 'ä'; return ((é) - (x))\n" in sources(written, "f")


def test_every_finding_has_a_title_and_a_hint():
    for title, hint, _ in FINDINGS.values():
        assert title[0].isupper()
        assert title.endswith(".")
        assert hint.endswith((".", "?"))


def test_what_an_exercise_does_without_is_blank_and_the_rest_stays_in_its_place():
    source = f"import math\n@decorated\ndef unused(x):\n    return 1\n\n\n{MEAN}"
    short = without_unused_definitions(source, ["mean"])
    assert (len(short), short.count(b"\n")) == (len(source.encode()), source.count("\n"))
    assert short.index(b"def mean") == source.index("def mean")
    assert short.split() == f"import math {MEAN[: MEAN.index('def other')]}".encode().split()


def test_what_is_done_on_import_keeps_what_it_uses():
    source = "def f():\n    return 1\n\n\nTABLE = f()\n\n\ndef g():\n    return TABLE\n"
    assert without_unused_definitions(source, ["g"]).decode() == source


@pytest.mark.parametrize("moved", ["x.cpu()", "x.to('cpu')", 'x.to(device="cpu")'])
def test_a_tensor_that_is_moved_to_the_cpu_is_on_another_device_and_keeps_its_gradient(moved):
    source = f"def f(x):\n    return {moved}.argmax(-1)\n"
    data, left = source.encode(), source.replace(moved, "(x)")
    kinds = {c.kind for c in generate_edits(source, "f") if c.applied(data).decode() == left}
    assert kinds == {"device"}
