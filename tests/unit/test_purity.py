"""What a call changed beside its result is noticed, by reading states where they lie."""

from __future__ import annotations

import random

import matplotlib.pyplot as plt
import numpy as np
import pytest
import torch

from autograder.worker import devices
from autograder.worker.purity import Before
from autograder.worker.wire import Effect, SideEffect


@pytest.mark.parametrize(
    ("change", "effect"),
    [
        (lambda: random.random(), Effect.PYTHON_RANDOM),
        (lambda: random.gauss(0.0, 1.0), Effect.PYTHON_RANDOM),
        (lambda: random.seed(3), Effect.PYTHON_RANDOM),
        (lambda: np.random.rand(), Effect.NUMPY_RANDOM),
        (lambda: torch.rand(1), Effect.TORCH_RANDOM),
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
