"""Hidden graders for `LlamaAttention`. injected.py defines `JoiningCache`.

Weights are drawn with a standard deviation of 0.5, so that scores differ and positions matter.
"""

import pytest
import torch

from autograder.authors import expect, same


@pytest.fixture
def attention(agree):
    """Create a pair of attention layers."""
    return lambda *sizes: agree.weights(0.5).LlamaAttention(*sizes)


@pytest.mark.weight(3)
def test_without_a_cache(attention, draw, frequencies):
    """Compute causal attention with rotated queries and keys and shared key-value heads."""
    for heads, kv_heads in ((4, 2), (6, 2), (6, 3)):
        width = 4 * heads
        attention(width, heads, kv_heads)(draw.normal(2, 5, width), frequencies(4))


def test_from_one_head_to_all(attention, draw, frequencies):
    """Support one key-value head for all query heads, or one for each."""
    for width, heads, kv_heads in ((16, 4, 1), (16, 4, 4), (6, 1, 1), (10, 5, 1)):
        module = attention(width, heads, kv_heads)
        module(draw.normal(3, 4, width), frequencies(width // heads))


def test_singleton_axes(attention, draw, frequencies):
    """Keep axes of size 1, for a single sequence or position."""
    module = attention(16, 4, 2)
    for batch, rows in ((1, 6), (3, 1), (1, 1)):
        module(draw.normal(batch, rows, 16), frequencies(4))


@pytest.mark.weight(2)
def test_frequencies(attention, draw, frequencies):
    """Rotate with the frequencies of each call."""
    module, x = attention(16, 2, 1), draw.normal(2, 6, 16)
    for base in (10.0, 5000.0):
        module(x, frequencies(8, base))
    module(x, torch.zeros(4))


def test_nothing_looks_ahead(attention, draw, frequencies):
    """Compute each output only from the positions up to its own."""
    module, x = attention(16, 4, 2), draw.normal(2, 6, 16)
    changed = torch.cat([x[:, :4], draw.normal(2, 2, 16)], dim=1)
    before, after = module(x, frequencies(4)), module(changed, frequencies(4))
    same(after[:, :4], before[:, :4], "A later token changes an earlier output.")


@pytest.mark.weight(3)
def test_prefill_and_decode(attention, injected, draw, frequencies, fed):
    """Return the same outputs for a prompt followed by single tokens as for the whole sequence."""
    module, cache, x = attention(16, 4, 2), injected.JoiningCache(), draw.normal(2, 8, 16)
    outputs = fed(module, x, (5, 1, 1, 1), frequencies(4), cache)
    whole = module(x, frequencies(4))
    same(outputs, whole, "With a cache the outputs differ from those without.")


@pytest.mark.weight(2)
def test_piece_after_piece(attention, injected, draw, frequencies, fed):
    """Support chunks of several positions, with a causal mask within each chunk."""
    module, cache, x = attention(16, 4, 2), injected.JoiningCache(), draw.normal(2, 9, 16)
    outputs = fed(module, x, (3, 4, 2), frequencies(4), cache)
    whole = module(x, frequencies(4))
    same(outputs, whole, "With a cache the outputs differ from those without.")


def test_each_cache_is_a_sequence(attention, injected, draw, frequencies):
    """Store the state of a sequence in its cache, not in the module."""
    module, one, other = attention(16, 4, 2), injected.JoiningCache(), injected.JoiningCache()
    module(draw.normal(2, 4, 16), frequencies(4), one)
    module(draw.normal(3, 2, 16), frequencies(4), cache=other)
    module(draw.normal(2, 1, 16), frequencies(4), one)
    module(draw.normal(3, 3, 16), frequencies(4), other)
    module(draw.normal(4, 5, 16), frequencies(4))


@pytest.mark.weight(4)
def test_rotated_keys_are_stored(attention, injected, draw, frequencies, fed):
    """Append rotated keys and unrotated values of n_kv_heads heads, exactly once per call."""
    module, cache = attention(16, 4, 2), injected.JoiningCache()
    fed(module, draw.normal(2, 7, 16), (4, 2, 1), frequencies(4), cache)
    cache.attribute("appended")
    cache.attribute("keys")
    cache.attribute("values")


@pytest.mark.weight(3)
def test_what_the_cache_holds(attention, injected, draw, frequencies, fed):
    """Use stored keys as they are: attend to entries that other code appended."""
    module, cache = attention(16, 4, 2), injected.JoiningCache()
    for size in (3, 1):
        cache.append(draw.normal(2, 2, size, 4), draw.normal(2, 2, size, 4))
    fed(module, draw.normal(2, 4, 16), (1, 2, 1), frequencies(4), cache)


def test_a_full_cache(attention, injected, refuses, draw, frequencies):
    """Propagate the ValueError of a full cache."""
    module, cache = attention(16, 4, 2), injected.JoiningCache(most=5)
    module(draw.normal(2, 4, 16), frequencies(4), cache)
    refuses(ValueError, mentions=7).of(module)(draw.normal(2, 3, 16), frequencies(4), cache)


@pytest.mark.weight(2)
def test_gradients(agree, draw, frequencies):
    """Propagate gradients to the input and to all parameters."""
    module = agree.LlamaAttention(16, 4, 2)
    module.within(1e-4).gradients(draw.normal(2, 5, 16), frequencies(4))


@pytest.mark.dtypes("float32", "float16", "bfloat16")
def test_every_dtype(agree, injected, draw, frequencies, fed, dtype):
    """Return the input's dtype, with and without a cache."""
    module, x = agree.LlamaAttention(16, 4, 2), draw.normal(2, 6, 16)
    module(x, frequencies(4))
    fed(module, x, (4, 1, 1), frequencies(4), injected.JoiningCache())


@pytest.mark.dtypes("float64")
def test_double_precision(agree, draw, frequencies, dtype):
    """Return float64 for a float64 layer."""
    agree.within(1e-5).LlamaAttention(16, 4, 2)(draw.normal(2, 6, 16), frequencies(4))


def test_views(attention, injected, draw, frequencies):
    """Accept transposed and expanded inputs, and leave them unchanged."""
    module, cache = attention(16, 4, 2), injected.JoiningCache()
    module(draw.normal(5, 2, 16).transpose(0, 1), frequencies(4), cache)
    module(draw.normal(1, 3, 16).expand(2, 3, 16), frequencies(4), cache)


@pytest.mark.weight(1, elsewhere=7)
def test_device(attention, injected, draw, frequencies, fed, device):
    """Create positions and mask on the device of the input."""
    module, x = attention(16, 4, 2), draw.normal(2, 6, 16)
    module(x, frequencies(4))
    fed(module, x, (3, 2, 1), frequencies(4), injected.JoiningCache())


def test_refuses_sizes_that_do_not_fit(submission, refuses, draw, frequencies):
    """Raise ValueError in the constructor if sizes do not divide; state d_model or n_heads."""
    submission.LlamaAttention(16, 4, 2)(draw.normal(2, 5, 16), frequencies(4))
    refuses(ValueError, mentions=(14, 4)).LlamaAttention(14, 4, 2)
    refuses(ValueError, mentions=(64, 16)).LlamaAttention(64, 16, 3)
    refuses(ValueError, mentions=(48, 2)).LlamaAttention(48, 2, 4)


def test_refuses_odd_heads(submission, refuses, draw, frequencies):
    """Raise ValueError in the constructor if the width of a head is odd."""
    submission.LlamaAttention(12, 2, 2)(draw.normal(2, 5, 12), frequencies(6))
    refuses(ValueError, mentions=(12, 4)).LlamaAttention(12, 4, 2)


@pytest.mark.weight(4)
def test_keys_are_not_copied_for_each_head(agree, count, injected, draw, frequencies):
    """Never copy keys or values to n_heads heads, explicitly or by broadcasting."""
    work, width = {}, 512
    for stored in (24, 72):
        module, cache = agree.LlamaAttention(width, 32, 2), injected.JoiningCache()
        cache.append(draw.normal(1, 2, stored, 16), draw.normal(1, 2, stored, 16))
        x = draw.normal(1, 1, width)
        work[stored] = count.of(module.student)(x, frequencies(16), cache.student).flops
    # Per stored position, scores and output take 4 * width operations; copies take 2 * width.
    added = (work[72] - work[24]) / (72 - 24)
    expect(added <= 5.5 * width, "Copies are made that are together as large as keys of all heads.")


def test_long_sequences(agree, draw, frequencies):
    """Attend to all previous positions, even in a sequence of more than a thousand tokens."""
    module = agree.within(2e-3).LlamaAttention(8, 2, 1)
    x = draw.normal(1, 1600, 8)
    x[:, :500] += 3  # Forgotten tokens change the average visibly in every draw.
    module(x, frequencies(4))


def test_two_objects(attention, draw, frequencies):
    """Keep two layers independent: each has its own number of heads."""
    one, other = attention(16, 4, 2), attention(16, 2, 2)
    one(draw.normal(2, 5, 16), frequencies(4))
    other(draw.normal(2, 5, 16), frequencies(8))
