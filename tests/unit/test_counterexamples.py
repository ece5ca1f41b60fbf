"""Test that a counterexample is small, that it names the difference, and that its cell shows it."""

from __future__ import annotations

import contextlib
import io
import math
import sys
import types
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from autograder.files import public_draw
from autograder.grading.counterexample import CounterexampleSearch
from autograder.grading.counterexample.answer_difference import AnswerDifference, is_style
from autograder.grading.counterexample.array_sizes import single_axes, smaller_sizes
from autograder.grading.counterexample.call_sequence import Step
from autograder.grading.counterexample.value_text import array_text
from autograder.grading.engine import Engine
from autograder.grading.warmup import warm_engine
from autograder.model.availability import installed
from autograder.model.course import Counterexamples, load
from autograder.model.report.schema import Counterexample
from autograder.sandbox import choose
from autograder.worker.protocol import frames

LONG = Counterexamples(seconds=20.0, submission=6000.0)
PROJECT = Path(__file__).resolve().parents[2]

REGISTRY = """
course: tiny
title: Tiny
timezone: Europe/Zurich
weeks:
  - name: week01_tiny
    title: Tiny
    module: tiny.py
    release: 2020-01-06T09:00:00
    due: 2020-01-13T23:59:00
    exercises:
      - {name: scale, points: 1}
      - {name: root, points: 1}
      - {name: Gain, points: 1}
      - {name: Total, points: 1}
      - {name: show, points: 1}
      - {name: greet, points: 1}
      - {name: weigh, points: 1}
    files: [boxes.py]
"""
BOXES = '''"""Boxes for experiments."""


class Box:
    def __init__(self, content):
        self.content = content
'''
SOLUTION = '''import matplotlib.pyplot as plt
import numpy as np
import torch
from torch import nn


def scale(x, by=2.0):
    """Scale x."""
    return x * by + torch.zeros(x.shape[-1], device=x.device, dtype=x.dtype)


def root(x):
    """Return the roots of non-negative numbers."""
    if (x < 0).any():
        raise ValueError(f"{x.min():g} is negative")
    return np.sqrt(x)


class Gain(nn.Module):
    """Multiply by a matrix."""

    def __init__(self, d):
        super().__init__()
        self.proj = nn.Linear(d, d, bias=False)

    def forward(self, x):
        return self.proj(x) + x


class Total:
    """Count numbers."""

    def __init__(self):
        self.sum = 0

    def add(self, n):
        self.sum += n
        return self.sum


def show(weights):
    """Draw weights."""
    ax = plt.figure().subplots()
    ax.imshow(weights, vmin=0.0, vmax=1.0)
    ax.set_xlabel("key")
    return ax


def greet(name):
    """Print a greeting."""
    print(f"Hello {name}!")


def weigh(box):
    """Return the weight of a box with its content."""
    return box.content + 1
'''
GRADERS = {
    "scale": """
def test_values(agree, draw):
    agree.scale(draw.normal(4, 6))
    agree.scale(draw.normal(4, 6), by=3.0)

def test_gradients(agree, draw):
    agree.gradients.scale(draw.normal(4, 6))

def test_device(agree, draw, device):
    agree.scale(draw.normal(4, 6))
""",
    "root": """
def test_values(agree, draw):
    agree.root(draw.array.uniform(4, 6, low=1.0, high=9.0))

def test_refuses(refuses, draw):
    refuses(ValueError).root(draw.array.uniform(3, low=-4.0, high=-2.0))
""",
    "Gain": """
def test_values(agree, draw):
    agree.Gain(6)(draw.normal(4, 6))
""",
    "Total": """
def test_values(agree):
    total, other = agree.Total(), agree.Total()
    for n in (3, 5, 9):
        total.add(n)
        other.add(n)
    total.attribute("sum")
""",
    "show": """
def test_values(agree, draw):
    agree.show(draw.array.uniform(3, 4))
""",
    "greet": """
def test_values(agree):
    agree.printing.greet("Ada Lovelace")
""",
    "weigh": """
from pathlib import Path

def test_values(agree):
    source = (Path(__file__).parents[3] / "assets" / "boxes.py").read_text()
    agree.weigh(agree.bringing(source).Box(7))
""",
}


@pytest.fixture(scope="module")
def engine(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Engine]:
    root = tmp_path_factory.mktemp("tiny")
    (root / "course.yaml").write_text(REGISTRY)
    week = root / "solutions" / "week01_tiny"
    graders = root / "autograder" / "graders" / "week01_tiny"
    (week / "alternatives").mkdir(parents=True)
    (root / "exercises" / "week01_tiny").mkdir(parents=True)
    (root / "assets").mkdir()
    (root / "assets" / "boxes.py").write_text(BOXES)
    graders.mkdir(parents=True)
    (week / "tiny.py").write_text(SOLUTION)
    (week / "alternatives" / "another_value_at_zero.py").write_text(
        '"""Return 5 for 0."""\n\ndef root(x):\n'
        '    if (x < 0).any():\n        raise ValueError(f"{x.min():g} is negative")\n'
        "    return np.where(x == 0, 5.0, np.sqrt(x))\n"
    )
    for name, text in GRADERS.items():
        (graders / f"test_{name}.py").write_text(text)
    course = load(root, unfinished=True)
    engine = Engine(course, course.weeks[0], ("cpu", "fake-gpu"), b"secret", None)
    yield engine
    engine.close()


@pytest.fixture(scope="module")
def search(engine: Engine) -> Iterator[CounterexampleSearch]:
    search = engine.counterexamples(LONG)
    yield search
    search.close()


def wrong(old: str, new: str) -> str:
    assert old in SOLUTION
    return SOLUTION.replace(old, new)


def find(search: CounterexampleSearch, *given: Any, **options: Any) -> Counterexample | None:
    shown = search.find(*given, **options)
    return None if shown is None else shown.example


# Each wrong program, with the exercise, and the kind, call and texts of its counterexample.
CASES = {
    "value": (
        wrong("x * by +", "x + by +"),
        "scale",
        ("scale(torch.tensor([0.]))", "[0]", "[2]"),
    ),
    "shape": (
        wrong("    return x * by +", "    return (x * by).flatten()\n    return x +"),
        "scale",
        ("scale(torch.tensor([[0.]]))", "[[0]], shape (1, 1)", "[0], shape (1,)"),
    ),
    "dtype": (
        wrong("return np.sqrt(x)", "return np.sqrt(x).astype(np.float16)"),
        "root",
        ("root(np.array([1.])).dtype", "float64", "float16"),
    ),
    "gradient": (
        wrong("x * by +", "(x - x.detach()) * 3 + x.detach() * by +"),
        "scale",
        ("x = torch.tensor([0.]).requires_grad_()\nresult = scale(x)\n"
         "result.sum().backward()\nx.grad", "[2]", "[3]"),
    ),
    "detached": (
        wrong("x * by +", "x.detach() * by +"),
        "scale",
        ("x = torch.tensor([0.]).requires_grad_()\nresult = scale(x)\nresult.requires_grad",
         "True", "False"),
    ),
    "argument": (
        wrong("return x * by +", "x *= by\n    return x +"),
        "scale",
        ("x = torch.tensor([1.])\nscale(x)\nx", "[1]", "[2]"),
    ),
    "exception": (
        wrong(", device=x.device, dtype", ", dtype"),
        "scale",
        ('scale(torch.tensor([0.]).to("cuda"))', "[0]", "raised RuntimeError: Expected all"),
    ),
    "refusal": (
        wrong("raise ValueError", "raise TypeError"),
        "root",
        ("root(np.array([-1.]))", "raised ValueError: -1 is negative", "raised TypeError: -1"),
    ),
    "module": (
        wrong("self.proj(x) + x", "self.proj(x)"),
        "Gain",
        ("gain = Gain(1)  # every weight is 1\ngain(torch.tensor([1.]))", "[2]", "[1]"),
    ),
    "state": (
        wrong("self.proj", "self.w"),
        "Gain",
        ("gain = Gain(1)\n{name: x.shape for", "parameters proj.weight",
         "parameters w.weight"),
    ),
    "object": (
        wrong("self.sum += n\n", "self.sum = n\n"),
        "Total",
        ("total = Total()\ntotal.add(1)\ntotal.add(1)", "2", "1"),
    ),
    "two objects": (
        wrong("    def __init__(self):\n        self.sum = 0", "    sum = [0]").replace(
            "self.sum += n\n        return self.sum", "self.sum[0] += n\n        return self.sum[0]"
        ),
        "Total",
        ("total = Total()\ntotal2 = Total()\ntotal.add(1)\ntotal2.add(1)", "1", "2"),
    ),
    "effect": (
        wrong('    print(f"Hello', '    torch.manual_seed(1)\n    print(f"Hello'),
        "greet",
        ("greet('A')", "no other effect", "torch's global random state"),
    ),
    "drawing": (
        wrong('"key"', '"query"'),
        "show",
        ("show(np.array([[0.]]))", "x label: key", "x label: query"),
    ),
    "released module": (
        wrong("box.content + 1", "box.content"),
        "weigh",
        ("box = Box(1)\nweigh(box)", "2", "1"),
    ),
    "text": (
        wrong("Hello", "Hallo"),
        "greet",
        ("greet('A')", "the second value returned: Hello A!", "Hallo A!"),
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", CASES)
def test_the_smallest_call_is_shown(search: CounterexampleSearch, name: str) -> None:
    source, exercise, (call, expected, actual) = CASES[name]
    found = find(search, {"tiny.py": source.encode()}, exercise)
    assert found is not None
    assert call in found.call
    assert expected in found.expected
    assert actual in found.actual


@pytest.mark.parametrize("name", sorted(CASES.keys() - {"drawing", "effect"}))
def test_the_cell_shows_the_difference(search: CounterexampleSearch, name: str) -> None:
    source, exercise, _ = CASES[name]
    found = find(search, {"tiny.py": source.encode()}, exercise)
    assert found is not None
    assert run(found.cell, SOLUTION) != run(found.cell, source)


def test_the_line_of_the_first_wrong_value_is_shown(search: CounterexampleSearch) -> None:
    new = "scaled = x + by\n    return scaled +"
    source = wrong("return x * by +", new).replace("torch.zeros(x.shape[-1]", "torch.zeros(1")
    found = find(search, {"tiny.py": source.encode()}, "scale")
    assert found is not None
    assert "scaled = x + by" in source.split("\n")[found.line - 1]
    assert found.wrong_value == f"Line {found.line} computes this value from `x` = [0]."


@pytest.mark.parametrize(
    ("located", "text"), [(1, "Your code computes this value from `x` = [0]."), (999, "")]
)
def test_the_line_is_left_out_if_the_mistake_is_located_elsewhere(
    search: CounterexampleSearch, located: int, text: str
) -> None:
    new = "scaled = x + by\n    return scaled +"
    source = wrong("return x * by +", new).replace("torch.zeros(x.shape[-1]", "torch.zeros(1")
    found = find(search, {"tiny.py": source.encode()}, "scale", lines=[located])
    assert found is not None
    assert (found.line, found.wrong_value) == (0, text)


def test_the_line_that_raises_is_shown(search: CounterexampleSearch) -> None:
    source = wrong("return np.sqrt(x)", "return np.sqrt(x[:, 0, 0])")
    found = find(search, {"tiny.py": source.encode()}, "root")
    assert found is not None
    assert found.wrong_value == f"Line {found.line} raises this exception."
    assert "x[:, 0, 0]" in source.split("\n")[found.line - 1]


def test_a_value_that_is_only_a_matter_of_style_is_not_shown(search: CounterexampleSearch) -> None:
    new = "half = x * by / 2\n    return 2 * half + 1 +"
    found = find(search, {"tiny.py": wrong("return x * by +", new).encode()}, "scale")
    assert found is not None
    assert "half` = " not in found.wrong_value.partition("from")[0]


def run(cell: str, source: str) -> str:
    """Return what a notebook cell prints or raises, with a program as the module."""
    printed = io.StringIO()
    for name, text in (("tiny", source), ("boxes", BOXES)):
        sys.modules[name] = types.ModuleType(name)
        exec(text, vars(sys.modules[name]))
    try:
        with contextlib.redirect_stdout(printed):
            exec(cell, {})
    except Exception as error:
        return repr(error)
    finally:
        del sys.modules["tiny"], sys.modules["boxes"]
    return printed.getvalue()


def test_a_kernel_shows_shape_and_accesses() -> None:
    course = load(PROJECT)
    week = course.week("week09_kernels")
    if not installed("triton"):
        pytest.skip("Triton is not installed")
    engine = Engine(course, week, ("cpu",), b"secret", None)
    search = engine.counterexamples(LONG)
    try:
        bank = {m.name: m.source for m in engine.bank.misconceptions}
        source = bank["stores_outputs_without_a_mask"].encode()
        tests = [t.name for t in search.recorded("flash_forward") if "::test_inside" in t.name]
        found = find(search, {week.module: source}, "flash_forward", tests[:1])
    finally:
        search.close()
        engine.close()
    assert found is not None
    assert found.kind == "memory access"
    assert found.expected == "elements outside of the tensors: 0"


@pytest.mark.thorough
def test_a_program_in_the_sandbox_that_hangs_is_shown() -> None:
    course = load(PROJECT)
    week = course.week("week01_softmax")
    engine = warm_engine(course, week, ("cpu",), b"secret", choose())
    search = engine.counterexamples(Counterexamples())
    try:
        source = f"{engine.bank.solution}\n\ndef softmax(x, dim=-1):\n    while True: pass\n"
        found = find(search, {week.module: source.encode()}, "softmax")
    finally:
        search.close()
        engine.close()
    assert found is not None
    assert found.kind == "stopped"


def test_a_correct_program_has_none(search: CounterexampleSearch) -> None:
    other = wrong("return x * by +", "return by * x -")
    assert find(search, {"tiny.py": other.encode()}, "scale") is None


def test_a_huge_number_is_halved_like_any_other() -> None:
    call = frames.Call("f", None, "f", (), {}, "cpu")
    proposals = smaller_sizes((Step(0, call, None, (2**62,)),))
    assert {step.args[0] for (step,) in proposals} == {1, 2, 2**61, 2**62 - 1}


def test_axes_of_equal_length_are_shortened_separately() -> None:
    """Pages of four positions with four features each: either number can become 1 alone."""
    made = Step(0, frames.Call("Pages", None, "Pages", (), {}, "cpu"), None, (4, 4))
    used = Step(1, frames.Call("add", None, "add", (), {}, "cpu"), None, (torch.ones(2, 4),))
    found = {(a.args, b.args[0].shape) for a, b in single_axes((made, used))}
    assert ((4, 1), (2, 1)) in found
    assert ((4, 4), (1, 4)) in found


def test_correct_programs_may_differ_in_parts_that_are_not_wrong() -> None:
    def answer(*values: float) -> frames.Answer:
        parts = frames.SeqV("tuple", values)
        return frames.Reply("ok", value=parts), []

    wrong, other = AnswerDifference("value", (0,)), AnswerDifference("value", (1,))
    right, mine = answer(1.0, 1.0), answer(2.0, 1.0)
    assert is_style(other, answer(1.0, 5.0), wrong, right, mine)
    assert not is_style(wrong, answer(1.9, 1.0), wrong, right, mine)
    assert is_style(wrong, answer(1.001, 1.0), wrong, right, mine)
    assert not is_style(AnswerDifference("exception"), answer(1.0, 5.0), wrong, right, mine)


def test_rounding_is_wrong_only_in_failed_tests(search: CounterexampleSearch) -> None:
    source = wrong("return np.sqrt(x)", "return np.sqrt(x) * (1 + 5e-5)").encode()
    assert find(search, {"tiny.py": source}, "root") is None
    assert find(search, {"tiny.py": source}, "root", ["test_root.py::test_values"]) is not None


def test_nothing_is_shown_on_which_correct_programs_differ(search: CounterexampleSearch) -> None:
    # An alternative returns 5 for 0, so 0 is not shown, although it would be simpler.
    source = wrong("return np.sqrt(x)", "return x * 1.0 + (x == 1)")
    found = find(search, {"tiny.py": source.encode()}, "root")
    assert found is not None
    assert found.call == "root(np.array([1.]))"


def test_the_secret_does_not_matter(engine: Engine, search: CounterexampleSearch) -> None:
    source = CASES["value"][0].encode()
    other = Engine(engine.course, engine.week, ("cpu", "fake-gpu"), b"other secret", None)
    try:
        again = other.counterexamples(LONG)
        assert find(again, {"tiny.py": source}, "scale") == find(
            search, {"tiny.py": source}, "scale"
        )
        again.close()
    finally:
        other.close()


def test_inputs_are_drawn_from_a_public_seed(engine: Engine, search: CounterexampleSearch) -> None:
    frames = engine.runs.recorded("scale", public_draw("week01_tiny scale "))
    assert search.recorded("scale") != []
    assert frames != engine.runs.recorded("scale")


def test_hidden_tests_keep_their_secret_draw(engine: Engine) -> None:
    before = engine.runs.recorded("scale")
    engine.runs.recorded("scale", public_draw("another"))
    assert engine.runs.plugin.secret == b"secret"
    assert engine.runs.recorded("scale") is before


@pytest.mark.parametrize(
    "x",
    [
        torch.tensor([1.5, -math.inf]),
        torch.arange(6.0).view(2, 3).T,
        torch.tensor([[1.0]]).expand(2, 3),
        torch.arange(12.0).view(3, 4)[:, ::2],
        torch.arange(20) % 3,
        torch.arange(20) % 2 > 0,
        torch.eye(9)[[3, 4]],
        torch.eye(4)[torch.tensor([[0, 1], [2, 3]])],
        torch.randn(4, 4, generator=torch.Generator().manual_seed(0)).to(torch.bfloat16),
        torch.full((2, 3), 0.1, dtype=torch.float16),
        torch.tensor(0.1, dtype=torch.float64),
        torch.zeros(0, 3),
        np.array([0.1, 2.0]),
        np.arange(20.0).reshape(4, 5) % 5,
        np.float32(0.1),
        np.arange(6.0).reshape(2, 3).T,
    ],
    ids=str,
)
def test_an_array_is_written_exactly(x: torch.Tensor) -> None:
    again = eval(array_text(x), {"torch": torch, "np": np, "math": math})
    assert type(again) is type(x)
    assert again.dtype == x.dtype
    assert np.array_equal(torch.as_tensor(again).double(), torch.as_tensor(x).double())
    assert np.shape(again) == np.shape(x)
