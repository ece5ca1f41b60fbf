"""Test stubs that replace exercises by correct ones, and hostile calls of them."""

from __future__ import annotations

import copy
import types
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import torch
from torch import nn
from torch.nn import functional

from autograder.grading.dependencies.reference_stubs import (
    AnswerCounts,
    ReferenceHelpers,
    Solution,
    TimeBudget,
)
from autograder.grading.targets.resource_limits import ceiling
from autograder.worker.protocol import frames
from autograder.worker.protocol.frames import split_reply
from autograder.worker.protocol.values import Encoder
from autograder.worker.remote_stub import install_stubs
from autograder.worker.torch_support import fake_device

RIGHT = '''
import numpy as np
import torch
from torch import nn


def twice(x, times=2):
    """Text of the solution."""
    if times < 0:
        raise ValueError(f"{times} times")
    return x * times, x.argsort(-1)


def not_lent(x):
    return x


def rows(count, width=2):
    return torch.ones(count, width)


def halves(x):
    return x / 2


def squares(x):
    return torch.einsum("i,i->i", x, x)


def waits(rounds):
    x = torch.ones(2)
    for _ in range(rounds):
        x = x + x
    return x


def outer(x):
    return (x[:, None] * x).sum()


def waves(x):
    return x.sin().sin()


class Layer(nn.Module):
    def __init__(self, size, drop=0.0):
        super().__init__()
        self.size = size
        self.inner = nn.Linear(size, size)
        self.norm = nn.LayerNorm(size)
        self.register_buffer("table", torch.arange(float(size)), persistent=True)
        self.drop = nn.Dropout(drop)

    def forward(self, x):
        return self.drop(self.norm(self.inner(x)) + self.table)
'''
NAMES = ("twice", "rows", "halves", "squares", "waits", "outer", "waves", "Layer")


@pytest.fixture(scope="module")
def right(tmp_path_factory: pytest.TempPathFactory) -> Solution:
    fake_device.device()  # as an engine does, because a later test may need it
    path = tmp_path_factory.mktemp("solution") / "week.py"
    path.write_text(RIGHT, encoding="utf-8")
    return Solution(path)


@pytest.fixture
def helpers(right: Solution) -> ReferenceHelpers:
    return ReferenceHelpers(right, NAMES, TimeBudget(10.0))


def lent_to(source: str, helpers: ReferenceHelpers) -> Any:
    """Return a submission's module with stubs for wrong exercises."""
    module = types.ModuleType("mine")
    exec(f"import functools, torch\nfrom torch import nn\n{source}", module.__dict__)

    def asks(
        question: frames.StubCall, buffers: list[bytes]
    ) -> tuple[frames.Reply, list[memoryview]]:
        return split_reply(helpers.answer(question, [memoryview(b) for b in buffers]))

    install_stubs(module, helpers.stubs, asks)
    return module


OWN = "def twice(x, times=2):\n    return None\n"
STYLES = {
    "by its name": f"{OWN}def f(x):\n    return twice(x, 3)",
    "by another name": f"{OWN}g = twice\ndef f(x):\n    return g(x, 3)",
    "as a default": f"{OWN}def f(x, g=twice):\n    return g(x, 3)",
    "in part": f"{OWN}g = functools.partial(twice, times=3)\ndef f(x):\n    return g(x)",
    "from a table": f"{OWN}table = {{'f': twice}}\ndef f(x):\n    return table['f'](x, 3)",
    "by own names": "def twice(data, by=2):\n    return None\n"
    "def f(x):\n    return twice(by=3, data=x)",
    "a lambda": "twice = lambda x, times=2: None\ndef f(x):\n    return twice(x, 3)",
    "decorated": f"@functools.lru_cache\n{OWN}def f(x):\n    return twice(x, 3)",
    "with more than a right one has": "def twice(x, times=2, stable=True):\n    return None\n"
    "def f(x):\n    return twice(x, times=3, stable=False)",
    "with more by place": "def twice(x, times=2, stable=True):\n    return None\n"
    "def f(x):\n    return twice(x, 3, False)",
    "decorated, by another name": f"@functools.lru_cache\n{OWN}g = twice\n"
    "def f(x):\n    return g(x, 3)",
    "decorated, as a default": f"@functools.lru_cache\n{OWN}def f(x, g=twice):\n    return g(x, 3)",
    "decorated, from a table": f"@functools.lru_cache\n{OWN}table = [twice]\n"
    "def f(x):\n    return table[0](x, 3)",
    "a class": "class twice:\n    def __init__(self, x, times=2):\n        pass\n"
    "def f(x):\n    return twice(x, 3)",
    "not there": "def f(x):\n    return twice(x, 3)",
}


@pytest.mark.parametrize("style", STYLES)
def test_a_right_one_answers_however_it_is_called(style: str, helpers: ReferenceHelpers) -> None:
    x = torch.tensor([[3.0, 1.0, 2.0]], requires_grad=True)
    value, order = lent_to(STYLES[style], helpers).f(x)
    assert torch.equal(value, x * 3)
    assert torch.equal(order, torch.tensor([[1, 2, 0]]))
    (gradient,) = torch.autograd.grad(value.sum(), x)
    assert torch.equal(gradient, torch.full((1, 3), 3.0))


def test_what_is_a_librarys_stays_as_it_is(right: Solution, helpers: ReferenceHelpers) -> None:
    code, init = functional.softmax.__code__, nn.Linear.__init__
    source = "from torch.nn.functional import softmax as twice\nLayer = nn.Linear\n"
    module = lent_to(f"{source}def f(x):\n    return twice(x, 3)", helpers)
    assert functional.softmax.__code__ is code
    assert nn.Linear.__init__ is init
    assert torch.equal(module.f(torch.ones(2))[0], torch.full((2,), 3.0))
    assert sorted(module.Layer(3).state_dict()) == sorted(right.module.Layer(3).state_dict())


def test_what_it_refuses_is_refused(helpers: ReferenceHelpers) -> None:
    module = lent_to("def twice(x, times=2):\n    return x", helpers)
    with pytest.raises(ValueError, match="-1 times"):
        module.twice(torch.ones(2), times=-1)
    with pytest.raises(TypeError):
        module.twice(torch.ones(2), 1, 2, 3)
    assert helpers.take_counts() == AnswerCounts(answers=2, raised=2)  # an error counts


WIDER = """
def twice(x, stable=True, times=2):
    return None
def by_name(x):
    return twice(x, stable=False, times=3)
def by_place(x):
    return twice(x, False, 3)
def by_default(x):
    return twice(x, True, times=3)
"""


@pytest.mark.parametrize(("call", "dropped"), [("by_name", 1), ("by_place", 1), ("by_default", 0)])
def test_an_argument_that_only_the_own_helper_takes_is_reported(
    call: str, dropped: int, helpers: ReferenceHelpers
) -> None:
    value, _ = getattr(lent_to(WIDER, helpers), call)(torch.ones(2))
    assert torch.equal(value, torch.full((2,), 3.0))
    assert helpers.take_counts() == AnswerCounts(answers=1, dropped=dropped)


def test_numbers_and_arrays_come_as_they_are(helpers: ReferenceHelpers) -> None:
    module = lent_to("", helpers)
    assert torch.equal(module.rows(3), torch.ones(3, 2))
    halves = module.halves(np.arange(4.0))
    assert isinstance(halves, np.ndarray)
    assert halves.tolist() == [0.0, 0.5, 1.0, 1.5]


def test_views_and_shared_inputs_have_their_gradients(helpers: ReferenceHelpers) -> None:
    module = lent_to("", helpers)
    x = torch.randn(3, 4, requires_grad=True)
    value, _ = module.twice(x.mT.expand(2, 4, 3), 5)
    assert torch.allclose(torch.autograd.grad(value.sum(), x)[0], torch.full((3, 4), 10.0))


def test_gradients_are_of_what_was_sent(helpers: ReferenceHelpers) -> None:
    """Change the arguments after the call: the correct exercise does not store them."""
    module = lent_to("", helpers)
    x = torch.tensor([3.0, 2.0], requires_grad=True)
    y = x * 1
    value = module.squares(y)
    with torch.no_grad():
        y.zero_()
    assert torch.autograd.grad(value.sum(), x)[0].tolist() == [6.0, 4.0]


def test_without_a_graph_none_is_made(helpers: ReferenceHelpers) -> None:
    module = lent_to("", helpers)
    with torch.no_grad():
        value, _ = module.twice(torch.ones(2, requires_grad=True))
    assert not value.requires_grad
    assert not module.twice(torch.ones(2))[0].requires_grad


WRONG = """
class Layer(nn.Module):
    def __init__(self, size, drop=0.0, more=1):
        super().__init__()
        self.other = nn.Linear(size, size + more)

    def forward(self, x):
        return x
"""
MODULES = {
    "itself": f"{WRONG}\nmade = Layer",
    "a subclass": f"{WRONG}\nclass made(Layer):\n    pass",
    "a subclass of its own making": f"{WRONG}\nclass made(Layer):\n"
    "    def __init__(self, size, drop=0.0):\n        super().__init__(size, drop)",
    "its layers": f"{WRONG}\nclass made(Layer):\n    def forward(self, x):\n"
    "        return nn.functional.dropout(\n"
    "            self.norm(self.inner(x)) + self.table, 0.0, self.training)",
    "a function": "def Layer(size):\n    return None\ndef made(size, drop=0.0):\n"
    "    return Layer(size, drop)",
}


@pytest.mark.parametrize("style", MODULES)
def test_a_module_is_lent_with_its_weights(
    style: str, right: Solution, helpers: ReferenceHelpers
) -> None:
    made = lent_to(MODULES[style], helpers).made(3)
    direct = right.module.Layer(3)
    assert {n: v.shape for n, v in made.state_dict().items()} == {
        n: v.shape for n, v in direct.state_dict().items()
    }
    direct.load_state_dict(made.state_dict())
    made.double(), direct.double()
    x = torch.randn(2, 3, dtype=torch.float64, requires_grad=True)
    value, wanted = made(x), direct(x)
    assert torch.allclose(value, wanted)
    mine = torch.autograd.grad(value.square().sum(), [x, *made.parameters()])
    theirs = torch.autograd.grad(wanted.square().sum(), [x, *direct.parameters()])
    assert all(map(torch.allclose, mine, theirs))


def test_each_weight_keeps_its_dtype(right: Solution, helpers: ReferenceHelpers) -> None:
    told = list[str]()
    for layer in (lent_to(WRONG, helpers).Layer(3), right.module.Layer(3)):
        layer.double().inner.bias = nn.Parameter(torch.zeros(3))
        with pytest.raises(RuntimeError) as error:
            layer(torch.ones(2, 3, dtype=torch.float64))
        told.append(str(error.value))
    assert told[0] == told[1] != ""


WITH_MORE = """
class Layer(nn.Module):
    def __init__(self, width, drop=0.0, bias=True):
        super().__init__()
        self.width, self.scale = width, width**-0.5
        self.q_proj = nn.Linear(width, width, bias=bias)

    def forward(self, x, mask=None):
        return None

def made():
    return Layer(width=4, bias=False)

def called(layer, x):
    return layer(x, mask=None)
"""


def test_a_module_may_be_made_as_ones_own_is(helpers: ReferenceHelpers) -> None:
    module = lent_to(WITH_MORE, helpers)
    before = torch.random.get_rng_state()
    with torch.random.fork_rng(devices=()):
        made = module.made()
    assert torch.equal(before, torch.random.get_rng_state())
    assert (made.width, made.scale, made.size, made.training) == (4, 0.5, 4, True)
    assert sorted(n for n, _ in made.named_children()) == ["inner", "norm"]
    assert module.called(made, torch.ones(1, 4)).shape == (1, 4)


def test_copies_and_weights_that_changed_are_taken_as_they_are(
    right: Solution, helpers: ReferenceHelpers
) -> None:
    made = lent_to(WRONG, helpers).Layer(3)
    copied = copy.deepcopy(made)
    with torch.no_grad():
        copied.inner.weight.zero_()
        copied.inner.bias.fill_(2.0)
    x = torch.randn(1, 3)
    assert torch.allclose(copied(x), torch.arange(3.0)[None], atol=1e-6)
    assert not torch.allclose(made(x), copied(x))


def test_where_nothing_is_drawn_nothing_is_drawn(helpers: ReferenceHelpers) -> None:
    module = lent_to(WRONG, helpers)
    before = torch.random.get_rng_state()
    with torch.device("meta"):
        made = module.Layer(3)
    assert all(value.is_meta for value in made.state_dict().values())
    assert torch.equal(before, torch.random.get_rng_state())
    state = {n: torch.ones(v.shape) for n, v in made.state_dict().items()}
    made.load_state_dict(state, assign=True)
    assert made(torch.randn(1, 3)).tolist() == [[2.0] * 3]


@pytest.mark.parametrize("training", [True, False])
def test_it_draws_as_if_it_were_here(
    training: bool, right: Solution, helpers: ReferenceHelpers
) -> None:
    module = lent_to(WRONG, helpers)
    drawn = list[Any]()
    for kind in (module.Layer, right.module.Layer):
        torch.manual_seed(3)
        made = kind(4, 0.5).train(training)
        x = torch.randn(2, 4, requires_grad=True)
        value = made(x)
        drawn.append((value, torch.autograd.grad(value.sum(), x)[0], torch.randn(3)))
    for mine, theirs in zip(*drawn, strict=True):
        assert torch.allclose(mine, theirs)


def question(**given: Any) -> tuple[frames.StubCall, list[memoryview]]:
    encoder = Encoder()
    helper = given.pop("helper", "halves")
    args = tuple(encoder(a) for a in given.pop("args", ()))
    made = frames.StubCall(helper, args, **given)
    return made, [memoryview(b) for b in encoder.buffers]


def expanded() -> tuple[frames.StubCall, list[memoryview]]:
    _, buffers = question(args=(torch.ones(1),))
    return frames.StubCall(
        "halves", (frames.TensorV("float32", (1 << 12, 1 << 12), (0, 0), "cpu", 0),)
    ), buffers


HOSTILE: dict[str, Callable[[], tuple[frames.StubCall, list[memoryview]]]] = {
    "another exercise": lambda: question(helper="not_lent", args=(torch.ones(2),)),
    "a part of one": lambda: question(helper="twice.__code__"),
    "what the module imports": lambda: question(helper="torch.save"),
    "a huge number": lambda: question(helper="rows", args=(1 << 40,)),
    "a long integer": lambda: question(helper="rows", args=(10**100,)),
    "a huge view": expanded,
    "a buffer that is not there": lambda: (
        frames.StubCall("halves", (frames.TensorV("float32", (2,), None, "cpu", 7),)),
        [],
    ),
    "a tensor without data": lambda: question(args=(torch.ones(2, device="meta"),)),
    "an object of somebody's": lambda: (
        frames.StubCall("halves", (frames.HandleV(0, "Layer", None),)),
        [],
    ),
    "what only a worker makes": lambda: (
        frames.StubCall("halves", (frames.SpecialV("hf_encoder", None),)),
        [],
    ),
    "no state of a generator": lambda: question(
        args=(torch.ones(2),), random=frames.SeqV("list", ())
    ),
    "a large layer": lambda: question(helper="Layer", making=((1 << 16,), {}), called=False),
}


@pytest.mark.parametrize("what", HOSTILE)
def test_nothing_else_is_answered(what: str, helpers: ReferenceHelpers) -> None:
    asked, buffers = HOSTILE[what]()
    with ceiling(256 << 20):
        reply, _ = split_reply(helpers.answer(asked, buffers))
    assert reply.status == "raised"
    assert reply.value is None
    text = reply.raised.message if reply.raised else ""
    assert "Text of the solution" not in text


def test_a_product_that_takes_minutes_is_not_made(right: Solution) -> None:
    helpers = ReferenceHelpers(right, NAMES, TimeBudget(10.0))
    _, buffers = question(args=(torch.ones(1, dtype=torch.float16),))
    wide = frames.TensorV("float16", (2500, 3000), (0, 0), "cpu", 0)
    reply, _ = split_reply(helpers.answer(frames.StubCall("twice", (wide,)), buffers))
    assert (reply.status, helpers.take_counts().answers) == ("raised", 0)


def test_axes_that_broadcast_to_minutes_of_work_are_refused(helpers: ReferenceHelpers) -> None:
    module = lent_to("", helpers)
    with pytest.raises(RuntimeError):
        module.twice(torch.zeros(300, 300, 1, 1), torch.zeros(1, 1, 40, 600))


def test_an_answer_that_takes_too_long_is_stopped(right: Solution) -> None:
    helpers = ReferenceHelpers(right, NAMES, TimeBudget(10.0, call=0.05))
    with pytest.raises(RuntimeError):
        lent_to("", helpers).waits(1 << 16)
    assert helpers.take_counts() == AnswerCounts(refusals=1)


def test_a_large_tensor_on_the_way_to_an_answer_is_refused(helpers: ReferenceHelpers) -> None:
    with pytest.raises(RuntimeError):
        lent_to("", helpers).outer(torch.ones(5000))


def test_what_an_answer_took_counts_as_the_callers(helpers: ReferenceHelpers) -> None:
    x = torch.ones(8, requires_grad=True)
    lent_to("", helpers).waves(x)
    reply, _ = helpers.with_costs((frames.Reply("ok", counts=frames.Counts(5, 2, 1)), []))
    assert reply.counts == frames.Counts(flops=5 + 2 * 8, largest=8, ops=1 + 2, kept=8)


def test_nothing_is_kept_for_a_caller_without_gradients(helpers: ReferenceHelpers) -> None:
    with torch.no_grad():
        lent_to("", helpers).waves(torch.ones(8, requires_grad=True))
    reply, _ = helpers.with_costs((frames.Reply("ok", counts=frames.Counts(0, 0, 0)), []))
    assert reply.counts is not None
    assert reply.counts.kept == 0


def test_a_forward_pass_that_is_repeated_for_gradients_counts_once(
    helpers: ReferenceHelpers,
) -> None:
    x = torch.ones(8, requires_grad=True)
    lent_to("", helpers).halves(x).sum().backward()
    reply, _ = helpers.with_costs((frames.Reply("ok", counts=frames.Counts(0, 0, 0)), []))
    assert reply.counts is not None
    assert reply.counts.flops < 3 * 8


def test_nothing_that_was_made_is_kept(helpers: ReferenceHelpers, right: Solution) -> None:
    module = lent_to("", helpers)
    module.Layer(64)(torch.randn(2, 64))
    assert not right.executor.objects


def test_what_went_wrong_within_is_not_told(helpers: ReferenceHelpers) -> None:
    module = lent_to("", helpers)
    with pytest.raises(AttributeError) as caught:
        module.twice([1, 2])
    assert str(caught.value) == ""


def test_all_of_a_submission_have_one_time(right: Solution) -> None:
    left = TimeBudget(0.05)
    first, second = (ReferenceHelpers(right, NAMES, left) for _ in range(2))
    asked, buffers = question(args=(torch.ones(1 << 15),))
    for _ in range(1000):
        first.answer(asked, buffers)
        if left.seconds <= 0:
            break
    assert left.seconds <= 0
    assert split_reply(second.answer(asked, buffers))[0].status == "raised"


def test_its_time_is_bounded(right: Solution) -> None:
    helpers = ReferenceHelpers(right, NAMES, TimeBudget(0.0))
    asked, buffers = question(args=(torch.ones(2),))
    assert split_reply(helpers.answer(asked, buffers))[0].status == "raised"
    assert helpers.take_counts() == AnswerCounts(refusals=1)


def test_only_functions_and_modules_are_lent(right: Solution) -> None:
    right.module.Plain = type("Plain", (), {})
    assert ReferenceHelpers(right, ("Plain", "twice", "nowhere"), TimeBudget(1.0)).names == (
        "twice",
    )


def test_a_question_is_no_reply() -> None:
    frame = frames.pack(frames.StubCall("halves"), [])
    header, body = frame[frames.PREFIX.size :], b""
    with pytest.raises(frames.BadFrame):
        frames.unpack_reply(header, body)


def test_tensors_of_two_devices_are_refused_as_torch_does(helpers: ReferenceHelpers) -> None:
    module = lent_to("", helpers)
    with pytest.raises(RuntimeError, match="on the same device"):
        module.twice(torch.ones(2), times=torch.ones(2, device="meta"))
