"""Hidden graders for `ablate_heads`. injected.py defines the model."""

import pytest

from autograder.authors import expect, generator


@pytest.fixture
def ablated(agree):
    """Compare logits; the model itself records its runs."""
    return agree.impurely.ablate_heads


@pytest.mark.weight(3)
def test_one_head(ablated, draw, model):
    """Replace what one head adds by zeros, in any layer."""
    pair, ids = model(3, 3), draw.integers(0, 11, 2, 5)
    for head in ((0, 0), (0, 2), (1, 1), (2, 0)):
        ablated(pair, ids, [head])


@pytest.mark.weight(3)
def test_mean(ablated, draw, model):
    """Replace what a head adds by its mean over the reference sequences, at each position."""
    pair, ids = model(2, 3), draw.integers(0, 11, 2, 5)
    for head in ((0, 1), (1, 0), (1, 2)):
        ablated(pair, ids, [head], draw.integers(0, 11, 7, 5))
        ablated(pair, ids, [head], reference=draw.integers(0, 11, 1, 5))


@pytest.mark.weight(2)
def test_several_heads(ablated, draw, model):
    """Ablate several heads at once, in one layer or in several, in any order."""
    pair, ids = model(3, 4), draw.integers(0, 11, 2, 5)
    for heads in ([(0, 1), (0, 3)], [(2, 0), (0, 2)], [(1, 3), (1, 0), (2, 2), (0, 0)]):
        ablated(pair, ids, heads)


@pytest.mark.weight(2)
def test_means_of_the_unchanged_model(ablated, draw, model):
    """Compute the means of several heads in the unchanged model."""
    pair, ids = model(3, 2), draw.integers(0, 11, 2, 5)
    ablated(pair, ids, [(0, 1), (1, 0), (2, 1)], draw.integers(0, 11, 4, 5))
    ablated(pair, ids, [(0, 0), (0, 1), (1, 1)], draw.integers(0, 11, 4, 5))


@pytest.mark.weight(2)
def test_positions_keep_their_means(ablated, draw, model):
    """Average over sequences only: every position has a separate mean."""
    pair, ids = model(1, 2), draw.integers(0, 11, 3, 6)
    ablated(pair, ids, [(0, 1)], draw.integers(0, 11, 5, 6))


def test_no_heads(ablated, draw, model):
    """Return the unchanged logits if there are no heads to ablate."""
    pair, ids = model(), draw.integers(0, 11, 2, 5)
    ablated(pair, ids, [])
    ablated(pair, ids, [], draw.integers(0, 11, 3, 5))


def test_all_heads(ablated, draw, model):
    """Support the ablation of all heads, which leaves only the embedding."""
    pair, ids = model(2, 2), draw.integers(0, 11, 2, 5)
    every = [(layer, head) for layer in range(2) for head in range(2)]
    ablated(pair, ids, every)
    ablated(pair, ids, every, draw.integers(0, 11, 3, 5))


def test_any_iterable(ablated, draw, model):
    """Accept any iterable of pairs, and a pair that occurs twice."""
    pair, ids = model(2, 3), draw.integers(0, 11, 2, 5)
    ablated(pair, ids, ((0, 1), (1, 2)))
    ablated(pair, ids, [(1, 1), (1, 1)], draw.integers(0, 11, 3, 5))
    ablated(pair, ids, generator("(head for head in [(0, 2), (1, 0)])"))


def test_sizes(ablated, draw, model):
    """Support one layer, one head, one sequence and one token."""
    ablated(model(1, 1), draw.integers(0, 11, 1, 1), [(0, 0)])
    ablated(model(1, 5), draw.integers(0, 11, 4, 3), [(0, 4)])
    ablated(model(4, 1), draw.integers(0, 11, 2, 6), [(3, 0), (1, 0)])


@pytest.mark.weight(2)
def test_the_model_is_unchanged(ablated, draw, model):
    """Leave the model as it was: its weights, and what it computes afterwards."""
    pair, ids = model(), draw.integers(0, 11, 2, 5)
    ablated(pair, ids, [(0, 1), (1, 0)], draw.integers(0, 11, 3, 5))
    pair.state()
    pair(ids)
    ablated(pair, ids, [(1, 2)])


def test_runs(ablated, injected, draw, model):
    """Run the model once on the ids, and once on the reference if it is given."""
    pair, ids = model(), draw.integers(0, 11, 2, 5)
    ablated(pair, ids, [(0, 1), (1, 0)])
    runs = injected.runs(pair)
    expect(len(runs) == 1, "Without a reference, the model should run once.")
    ablated(pair, ids, [(0, 1), (1, 0)], draw.integers(0, 11, 4, 5))
    expect(len(injected.impurely.runs(pair)) == 3, "With a reference, the model should run twice.")


@pytest.mark.weight(2)
def test_refuses_other_heads(refuses, draw, model):
    """Raise a ValueError with the number if there is no such layer or head."""
    pair, ids = model(2, 3), draw.integers(0, 11, 2, 5)
    for heads, number in (([(5, 0)], 5), ([(0, 1), (1, 7)], 7), ([(0, -4)], -4), ([(-6, 0)], -6)):
        refuses(ValueError, mentions=number).ablate_heads(pair.student, ids, heads)


@pytest.mark.weight(1, elsewhere=4)
def test_device(ablated, draw, model, device):
    """Compute on the device of the model."""
    pair, ids = model(), draw.integers(0, 11, 2, 5)
    ablated(pair, ids, [(0, 1)])
    ablated(pair, ids, [(1, 2)], draw.integers(0, 11, 3, 5))


@pytest.mark.dtypes("float64")
def test_double_precision(ablated, draw, model, dtype):
    """Return float64 logits from a float64 model."""
    ablated(model(), draw.integers(0, 11, 2, 5), [(0, 1)], draw.integers(0, 11, 3, 5))


def test_provided_model(agree, draw):
    """Ablate heads of the provided `AttentionOnly`, too."""
    model = agree.impurely.weights(0.6).AttentionOnly(5, 6, 3, 2, 4)
    ablated, ids = agree.impurely.ablate_heads, draw.integers(0, 5, 2, 4)
    ablated(model, ids, [(0, 1)])
    ablated(model, ids, [(1, 0), (0, 2)], draw.integers(0, 5, 3, 4))
