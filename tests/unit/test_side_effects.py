"""Test that side effects of a call on its arguments and on global state are detected."""

from __future__ import annotations

import random

import matplotlib.pyplot as plt
import numpy as np
import pytest
import torch

from autograder.worker.monitor import side_effects
from autograder.worker.monitor.side_effects import SEED, Before
from autograder.worker.protocol.frames import Effect, SideEffect
from autograder.worker.protocol.values import Decoder, Encoder
from autograder.worker.torch_support import devices


@pytest.mark.parametrize(
    ("change", "effect"),
    [
        (lambda: random.random(), Effect.PYTHON_RANDOM),
        (lambda: random.gauss(0.0, 1.0), Effect.PYTHON_RANDOM),
        (lambda: random.seed(3), Effect.PYTHON_RANDOM),
        (lambda: np.random.rand(), Effect.NUMPY_RANDOM),
        (lambda: np.random.seed(1), Effect.NUMPY_RANDOM),
        (lambda: torch.rand(1), Effect.TORCH_RANDOM),
        (lambda: torch.randn(1, dtype=torch.float64), Effect.TORCH_RANDOM),
        (lambda: torch.randperm(5), Effect.TORCH_RANDOM),
        (lambda: torch.nn.functional.dropout(torch.ones(2)), Effect.TORCH_RANDOM),
        (lambda: torch.manual_seed(5), Effect.TORCH_RANDOM),
        (lambda: [torch.rand(1) for _ in range(624)], Effect.TORCH_RANDOM),
    ],
)
def test_a_draw_from_a_global_generator_is_seen(change, effect) -> None:
    before = Before([], [], {})
    change()
    assert before.compare() == (SideEffect(effect),)


SETTINGS = {
    Effect.PRINTING: lambda: torch.set_printoptions(precision=2),
    Effect.NUMPY_ERRORS: lambda: np.seterr(over="ignore", divide="raise"),
    Effect.THREADS: lambda: torch.set_num_threads(torch.get_num_threads() + 1),
    Effect.DEFAULT_DEVICE: lambda: torch.set_default_device("meta"),
    Effect.DEFAULT_DTYPE: lambda: torch.set_default_dtype(torch.float64),
}


@pytest.mark.parametrize("effect", SETTINGS)
def test_a_setting_of_the_whole_process_is_seen_and_put_back(effect) -> None:
    before = Before([], [], {})
    SETTINGS[effect]()
    assert before.compare() == (SideEffect(effect),)
    assert Before([], [], {}).settings == before.settings
    assert before.compare() == ()


def test_how_numpy_prints_is_seen_and_put_back() -> None:
    before = Before([], [], {})
    np.set_printoptions(precision=3, suppress=True)
    assert before.compare() == (SideEffect(Effect.PRINTING),)
    assert before.compare() == ()


def test_a_setting_that_holds_for_a_block_is_no_change() -> None:
    before = Before([], [], {})
    with np.errstate(all="ignore"), np.printoptions(precision=2):
        np.exp(np.float64(1000))
    assert before.compare() == ()


def test_a_second_gauss_is_seen_though_it_draws_nothing() -> None:
    random.seed(1)
    random.gauss(0.0, 1.0)
    before = Before([], [], {})
    random.gauss(0.0, 1.0)
    assert before.compare() == (SideEffect(Effect.PYTHON_RANDOM),)


@pytest.mark.parametrize(
    ("draw", "effect"),
    [
        (lambda: np.random.randn(), Effect.NUMPY_RANDOM),
        (lambda: torch.randn(1), Effect.TORCH_RANDOM),
        (lambda: torch.randn(1, dtype=torch.float64), Effect.TORCH_RANDOM),
    ],
    ids=["numpy", "torch", "torch in double"],
)
def test_the_second_of_a_pair_of_normal_numbers_is_seen_though_it_draws_nothing(draw, effect):
    np.random.seed(1)
    torch.manual_seed(1)
    draw()
    before = Before([], [], {})
    draw()
    assert before.compare() == (SideEffect(effect),)


def test_a_generator_that_is_put_back_as_it_was_has_not_changed() -> None:
    torch.randn(1)
    np.random.binomial(20, 0.3), np.random.randn()
    before = Before([], [], {})
    states = torch.get_rng_state(), np.random.get_state(), random.getstate()
    torch.randn(3), np.random.binomial(50, 0.4), np.random.randn(), random.gauss(0.0, 1.0)
    torch.set_rng_state(states[0])
    np.random.set_state(states[1])
    random.setstate(states[2])
    assert before.compare() == ()


def test_another_generator_of_numpys_in_the_place_of_the_global_one_is_seen() -> None:
    usual, before = np.random.get_bit_generator(), Before([], [], {})
    try:
        np.random.set_bit_generator(np.random.MT19937(0))
        assert before.compare() == (SideEffect(Effect.NUMPY_RANDOM),)
    finally:
        np.random.set_bit_generator(usual)


DRAWS = {
    "numpy": lambda: np.random.rand(),
    "the first of a pair of numpy's": lambda: np.random.randn(),
    "python": lambda: random.random(),
    "the first of a pair": lambda: random.gauss(0.0, 1.0),
    "torch": lambda: torch.rand(1),
    "the first of a pair of torch's": lambda: torch.randn(1),
}


@pytest.mark.parametrize("way", DRAWS)
def test_every_test_begins_with_the_same_numbers(way) -> None:
    def numbers():
        side_effects.seed_random()
        torches = torch.randn(1).item(), torch.randn(1).item(), torch.rand(2).tolist()
        numpys = np.random.randn(), np.random.randn(), np.random.rand()
        return *torches, *numpys, random.gauss(0.0, 1.0), random.random()

    first = numbers()
    side_effects.seed_random()
    DRAWS[way]()
    assert numbers() == first
    torch.manual_seed(SEED), np.random.seed(SEED), random.seed(SEED)
    assert torch.randn(1).item() == first[0]
    assert (np.random.randn(), random.gauss(0.0, 1.0)) == (first[3], first[6])


@pytest.mark.parametrize("seed", [0, 1, 42, 1234])
def test_a_common_seed_is_a_side_effect(seed: int) -> None:
    side_effects.seed_random()
    before = Before([], [], {})
    torch.manual_seed(seed), np.random.seed(seed), random.seed(seed)
    found = {e.effect for e in before.compare()}
    assert found == {Effect.TORCH_RANDOM, Effect.NUMPY_RANDOM, Effect.PYTHON_RANDOM}


def test_nothing_is_seen_where_nothing_was_drawn() -> None:
    assert Before([], [], {}).compare() == ()


CHANGES = {
    "added to": lambda x: x.add_(1),
    "one entry": lambda x: x.__setitem__((0, 1), 7.0),
    "through a view": lambda x: x[1:].zero_(),
    "through its data": lambda x: x.data.mul_(2),
    "by out=": lambda x: torch.exp(x, out=x),
    "turned": lambda x: x.t_(),
}


@pytest.mark.parametrize("device", ["cpu", "fake-gpu"])
@pytest.mark.parametrize("way", CHANGES)
def test_an_argument_that_is_changed_in_place_is_seen_on_both_devices(device, way) -> None:
    x = devices.place(torch.ones(2, 3), device)
    before = Before([x], [x], {})
    CHANGES[way](x)
    assert before.compare()


def decoded(tensor, device):
    """Return a call's argument and the state recorded before the call."""
    encoder = Encoder()
    value = encoder(tensor)
    decoder = Decoder([memoryview(b) for b in encoder.buffers])
    x = devices.place(decoder(value).detach(), device)
    return x, Before([x], [x], {})


SENT = {
    "plain": lambda: torch.arange(6.0).reshape(2, 3),
    "a view": lambda: torch.arange(12.0).reshape(2, 6)[:, ::2],
    "expanded": lambda: torch.tensor([[0.0], [1.0]]).expand(2, 3),
    "bool": lambda: torch.tensor([[True, False, True], [False, False, True]]),
    "integers": lambda: torch.arange(6).reshape(2, 3),
    "bfloat16": lambda: torch.arange(6.0).reshape(2, 3).bfloat16(),
}
WAYS = {
    "one entry": lambda x: x[1:].zero_(),
    "through its data": lambda x: x.data.zero_(),
    "other memory": lambda x: setattr(x, "data", torch.zeros_like(x)),
    "turned": lambda x: x.t_(),
    "through numpy": lambda x: x.numpy().fill(0),
    "negated by a bit": lambda x: setattr(x, "data", torch._neg_view(x.data)),
    "read as another type": lambda x: setattr(x, "data", x.data.view(torch.int32)),
}
ON_EACH_DEVICE = ("one entry", "through its data", "turned")
CASES = [
    *(
        (kind, way, device)
        for kind in SENT
        for way in ON_EACH_DEVICE
        for device in ("cpu", "fake-gpu")
    ),
    *((kind, "other memory", "cpu") for kind in SENT),
    *(
        ("plain", way, "cpu")
        for way in ("through numpy", "negated by a bit", "read as another type")
    ),
]


@pytest.mark.parametrize(("kind", "way", "device"), CASES)
def test_a_decoded_argument_that_is_changed_is_seen(kind, way, device) -> None:
    x, before = decoded(SENT[kind](), device)
    WAYS[way](x)
    assert before.compare()


@pytest.mark.parametrize("device", ["cpu", "fake-gpu"])
@pytest.mark.parametrize("kind", SENT)
def test_a_decoded_argument_that_is_read_is_not_changed(kind, device) -> None:
    x, before = decoded(SENT[kind](), device)
    (x * 2).sum(), x.T.contiguous(), x.clone().zero_()
    assert before.compare() == ()


def test_a_change_of_dtype_in_place_is_seen() -> None:
    x = torch.ones(2)
    before = Before([x], [], {})
    x.data = x.data.double()
    assert before.compare() == (SideEffect(Effect.TENSOR, 1),)


def test_other_memory_with_the_same_numbers_is_no_change() -> None:
    x, before = decoded(torch.tensor([0.0, torch.nan, 2.0]), "cpu")
    x.data = x.data.clone()
    x[0] = -0.0
    assert before.compare() == ()


@pytest.mark.parametrize("device", ["cpu", "fake-gpu"])
def test_an_argument_that_is_read_is_not_changed(device) -> None:
    x = devices.place(torch.tensor([[1.0, torch.nan, -torch.inf]]), device)
    before = Before([x], [x], {})
    (x * 2).sum(), x[0, 1].item(), x.T.contiguous(), x.clone().zero_()
    assert before.compare() == ()


@pytest.mark.parametrize(
    ("act", "effect"),
    [
        (lambda plt: plt.show(), Effect.WINDOW),
        (lambda plt: plt.ion(), Effect.WINDOW),
        (lambda plt: plt.rcParams.update({"font.size": 5}), Effect.DRAWING_SETTINGS),
        (lambda plt: plt.style.use("ggplot"), Effect.DRAWING_SETTINGS),
        (lambda plt: plt.figure(), Effect.OTHER_FIGURES),
    ],
    ids=["show", "ion", "rcParams", "style", "figure"],
)
def test_what_a_call_does_to_matplotlib_is_noticed_and_put_back(act, effect):
    settings = dict(plt.rcParams)
    before = Before([], [], {})
    act(plt)
    assert before.compare() == (SideEffect(effect),)
    plt.close("all")
    assert (dict(plt.rcParams), plt.isinteractive()) == (settings, False)


def test_settings_that_are_put_back_by_the_call_itself_are_no_side_effect():
    before = Before([], [], {})
    kept = dict(dict.items(plt.rcParams))
    plt.rcParams.clear()
    dict.update(plt.rcParams, reversed(kept.items()))
    assert before.compare() == ()


def test_a_figure_that_is_returned_is_no_side_effect():
    before = Before([], [], {})
    assert before.compare(plt.subplots()[1]) == ()
    plt.close("all")


def test_a_setting_of_matplotlib_that_was_taken_away_is_put_back() -> None:
    before, size = Before([], [], {}), plt.rcParams["font.size"]
    dict.pop(plt.rcParams, "font.size")
    assert before.compare() == (SideEffect(Effect.DRAWING_SETTINGS),)
    assert plt.rcParams["font.size"] == size
