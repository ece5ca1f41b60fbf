"""Hidden graders for `Llama`.

Angles are computed from float32 frequencies, so float64 models are compared with a tolerance.
"""

import pytest
import torch

from autograder.authors import same

SIZES = {"vocab_size": 13, "d_model": 12, "n_heads": 3, "n_kv_heads": 1, "d_ff": 20, "n_layers": 2}


@pytest.fixture
def model(agree):
    """Create a pair of models; arguments replace entries of SIZES."""
    return lambda **sizes: agree.Llama(**(SIZES | sizes))


@pytest.mark.weight(3)
def test_values(agree, draw, model):
    """Embed the ids, apply the blocks, normalise, and multiply by the embedding."""
    pair = model()
    pair(draw.integers(0, 13, 2, 7))
    pair(draw.integers(0, 13, 4, 5))
    agree.Llama(11, 16, 4, 2, 10, 1)(draw.integers(0, 11, 2, 6))


def test_any_number_of_blocks(draw, model):
    """Apply any number of blocks in order, each with separate weights, even none."""
    for layers in (1, 3, 0):
        model(n_layers=layers)(draw.integers(0, 13, 2, 5))


def test_sizes(agree, draw):
    """Use the requested vocabulary, widths and numbers of heads."""
    for vocabulary, width, heads, kv_heads, hidden in ((5, 8, 1, 1, 6), (29, 24, 6, 3, 7)):
        pair = agree.Llama(vocabulary, width, heads, kv_heads, hidden, 1)
        pair(draw.integers(0, vocabulary, 3, 4))


@pytest.mark.weight(2)
def test_parameters(model):
    """Store the embedding, the blocks and the last norm: no output layer and no frequencies."""
    model().state()
    model(n_layers=1).state()


@pytest.mark.weight(2)
def test_base(draw, injected, model):
    """Rotate with the frequencies of the given base."""
    for base in (10.0, 5e5):
        pair = model(base=base)
        pair(draw.integers(0, 13, 2, 9))
        injected.own_frequencies(pair)


@pytest.mark.weight(2)
def test_other_frequencies(draw, injected, model):
    """Use the attribute `frequencies`, so that it can be replaced by scaled ones."""
    pair = model()
    injected.with_frequencies(pair, torch.tensor([0.9, 0.2]), draw.integers(0, 13, 2, 8))
    injected.with_frequencies(pair, torch.zeros(2), draw.integers(0, 13, 2, 8))


def test_nothing_looks_ahead(draw, model):
    """Keep earlier logits unchanged if the last tokens change."""
    pair, ids = model(), draw.integers(0, 13, 2, 8)
    changed = torch.cat([ids[:, :5], 12 - ids[:, 5:]], dim=1)
    before, after = pair(ids), pair(changed)
    same(after[:, :5], before[:, :5], "Logits should not depend on tokens that come later.")


@pytest.mark.weight(3)
def test_pieces(draw, injected, model):
    """Return the same logits for ids fed in chunks, each layer with its own cache."""
    pair, ids = model(), draw.integers(0, 13, 2, 8)
    outputs = injected.joined_logits(pair, ids, (4, 1, 2, 1))
    same(outputs, pair(ids), "With caches the logits differ from those without.")


@pytest.mark.weight(2)
def test_own_caches(draw, injected, model):
    """Create caches with `new_caches` that the model can use, for any batch."""
    for batch, sizes in ((2, (5, 1, 1)), (1, (2, 3, 2)), (3, (7,))):
        pair, ids = model(n_heads=6, n_kv_heads=3), draw.integers(0, 13, batch, 7)
        same(
            injected.cached_logits(pair, ids, sizes),
            pair(ids),
            "With the model's own caches the logits differ from those without.",
        )


@pytest.mark.weight(2)
@pytest.mark.dtypes("float32", "float16")
def test_new_caches(injected, model, dtype):
    """Return an empty cache per layer, with n_kv_heads heads and room for max_len positions."""
    injected.described_caches(model(n_layers=3, n_heads=2, n_kv_heads=2), 2, 5, (2, 6))
    injected.described_caches(model(), 1, 3, (1, 4))


def test_every_length(draw, model):
    """Accept a single token, a single sequence, and views of ids."""
    pair = model()
    for batch, tokens in ((2, 1), (1, 4), (1, 1)):
        pair(draw.integers(0, 13, batch, tokens))
    pair(draw.integers(0, 13, 6, 2).T)
    pair(draw.integers(0, 13, 3, 14)[:, ::2])


@pytest.mark.weight(2)
def test_gradients(draw, model):
    """Propagate gradients to every parameter; the embedding gets those of its two uses."""
    model().within(1e-4).gradients(draw.integers(0, 13, 2, 6))


@pytest.mark.dtypes("float16", "bfloat16")
def test_half_precision(agree, draw, dtype):
    """Return half-precision logits from a half-precision model."""
    agree.weights(0.2).Llama(**SIZES)(draw.integers(0, 13, 2, 6))


@pytest.mark.weight(3)
@pytest.mark.dtypes("float16", "bfloat16")
def test_frequencies_stay_float32(injected, model, dtype):
    """Keep the frequencies in float32 if the model is converted to half precision."""
    injected.own_frequencies(model(d_model=24, n_heads=2))


@pytest.mark.dtypes("float64")
def test_double_precision(agree, draw):
    """Return float64 logits from a float64 model."""
    agree.within(1e-5).Llama(**SIZES)(draw.integers(0, 13, 2, 6))


@pytest.mark.weight(1, elsewhere=6)
def test_device(draw, injected, model, device):
    """Use frequencies and caches on the device of the model."""
    pair, ids = model(), draw.integers(0, 13, 2, 6)
    pair(ids)
    injected.cached_logits(pair, ids, (4, 1, 1))


def test_long_sequences(agree, draw):
    """Support sequences of more than a thousand tokens."""
    agree.within(2e-2).Llama(5, 2, 1, 1, 2, 1)(draw.integers(0, 5, 1, 1050))


def test_two_objects(draw, model):
    """Keep two models independent, each with its own layers and base."""
    one, other = model(base=20.0), model(n_layers=1, d_model=6)
    one(draw.integers(0, 13, 2, 7))
    other(draw.integers(0, 13, 2, 4))
