"""Hidden graders for `GroupedQueryAttention`, with the caches of toys.py and injected.py."""

import pytest
import torch

from autograder.authors import expect, same


def in_pieces(module, cache, x, *sizes):
    """Feed x in chunks, compare each output, and return the student's outputs, concatenated."""
    return torch.cat([module(piece, cache) for piece in x.split(sizes, dim=1)], dim=1)


@pytest.mark.weight(2)
def test_without_a_cache(agree, draw):
    """Compute causal self-attention with shared key-value heads."""
    for heads, kv_heads in ((6, 2), (6, 3), (4, 2)):
        agree.GroupedQueryAttention(12, heads, kv_heads)(draw.normal(2, 5, 12))


def test_from_one_head_to_all(agree, draw):
    """Support one key-value head for all query heads, or one for each."""
    for width, heads, kv_heads in ((12, 4, 1), (12, 4, 4), (6, 1, 1), (5, 5, 1)):
        agree.GroupedQueryAttention(width, heads, kv_heads)(draw.normal(3, 4, width))


def test_singleton_axes(agree, draw):
    """Keep axes of size 1, for a single sequence or position."""
    module = agree.GroupedQueryAttention(d_model=8, n_heads=4, n_kv_heads=2)
    module(draw.normal(1, 6, 8))
    module(draw.normal(3, 1, 8))
    module(draw.normal(1, 1, 8))


def test_nothing_looks_ahead(agree, draw):
    """Compute each output only from the positions up to its own."""
    module = agree.GroupedQueryAttention(12, 6, 2)
    x = draw.normal(2, 6, 12)
    changed = torch.cat([x[:, :4], draw.normal(2, 2, 12)], dim=1)
    before, after = module(x), module(changed)
    same(after[:, :4], before[:, :4], "A later token changes an earlier output.")


@pytest.mark.weight(3)
def test_prefill_and_decode(agree, toys, draw):
    """Return the same outputs for a prompt followed by single tokens as for the whole sequence."""
    module, cache = agree.GroupedQueryAttention(12, 6, 2), toys.Cache()
    x = draw.normal(2, 8, 12)
    fed = in_pieces(module, cache, x, 5, 1, 1, 1)
    same(fed, module(x), "With a cache the outputs differ from those without.")


@pytest.mark.weight(2)
def test_piece_after_piece(agree, toys, draw):
    """Support chunks of several positions, with a causal mask within each chunk."""
    module, cache = agree.GroupedQueryAttention(12, 4, 2), toys.Cache()
    x = draw.normal(2, 9, 12)
    fed = in_pieces(module, cache, x, 3, 4, 2)
    same(fed, module(x), "With a cache the outputs differ from those without.")


def test_an_empty_cache_changes_nothing(agree, toys, draw):
    """Return the same outputs with an empty cache as without a cache."""
    module = agree.GroupedQueryAttention(12, 6, 3)
    for length in (1, 6):
        x = draw.normal(2, length, 12)
        same(module(x, toys.Cache()), module(x), "An empty cache changes the outputs.")


@pytest.mark.weight(3)
def test_each_cache_is_a_text_of_its_own(agree, toys, draw):
    """Store the state of a sequence in its cache, not in the module."""
    module = agree.GroupedQueryAttention(12, 6, 2)
    one, other = toys.Cache(), toys.Cache()
    module(draw.normal(2, 4, 12), one)
    module(draw.normal(3, 2, 12), cache=other)
    module(draw.normal(2, 1, 12), cache=one)
    module(draw.normal(3, 3, 12), other)
    module(draw.normal(4, 5, 12))


@pytest.mark.weight(2)
def test_what_is_appended(agree, injected, toys, draw):
    """Append the keys and values of n_kv_heads heads to the cache, exactly once per call."""
    module, x = agree.GroupedQueryAttention(12, 6, 2), draw.normal(2, 7, 12)
    recording = injected.JoiningCache()
    for cache in (toys.Cache(), recording):
        in_pieces(module, cache, x, 4, 2, 1)
        cache.attribute("keys")
        cache.attribute("values")
    recording.attribute("appended")


@pytest.mark.weight(4)
def test_what_the_cache_holds(agree, toys, draw):
    """Attend to all entries of the cache, including those that other code appended."""
    module, cache = agree.GroupedQueryAttention(24, 6, 2), toys.Cache()
    for size in (5, 1):
        cache.append(draw.normal(3, 2, size, 4), draw.normal(3, 2, size, 4))
    in_pieces(module, cache, draw.normal(3, 4, 24), 1, 2, 1)


def test_a_full_cache(agree, toys, refuses, draw):
    """Propagate the ValueError of a full cache."""
    module, cache = agree.GroupedQueryAttention(12, 6, 2), toys.Cache(most=5)
    module(draw.normal(2, 4, 12), cache)
    refuses(ValueError, mentions=7).of(module)(draw.normal(2, 3, 12), cache)


@pytest.mark.weight(2)
def test_gradients(agree, draw):
    """Propagate gradients to the input and to all parameters."""
    agree.GroupedQueryAttention(12, 6, 2).gradients(draw.normal(2, 5, 12))


def test_every_dtype(agree, toys, draw, dtype):
    """Return a result in the dtype of the input, with and without a cache."""
    module = agree.GroupedQueryAttention(12, 6, 2)
    x = draw.normal(2, 6, 12)
    module(x)
    in_pieces(module, toys.Cache(), x, 4, 1, 1)


def test_views(agree, toys, draw):
    """Accept transposed and expanded inputs, and leave them unchanged."""
    module, cache = agree.GroupedQueryAttention(12, 6, 2), toys.Cache()
    module(draw.normal(5, 2, 12).transpose(0, 1), cache)
    module(draw.normal(1, 3, 12).expand(2, 3, 12), cache)


@pytest.mark.weight(1, elsewhere=5)
def test_device(agree, toys, draw, device):
    """Create the mask on the device of the input."""
    module = agree.GroupedQueryAttention(12, 6, 2)
    x = draw.normal(2, 6, 12)
    module(x)
    in_pieces(module, toys.Cache(), x, 3, 2, 1)


def test_refuses_sizes_that_do_not_fit(submission, refuses, draw):
    """Raise ValueError in the constructor if sizes do not divide; state d_model or n_heads."""
    submission.GroupedQueryAttention(12, 4, 2)(draw.normal(2, 5, 12))
    refuses(ValueError, mentions=(14, 4)).GroupedQueryAttention(14, 4, 2)
    refuses(ValueError, mentions=(16, 3)).GroupedQueryAttention(48, 16, 3)
    refuses(ValueError, mentions=(2, 4)).GroupedQueryAttention(48, 2, 4)


@pytest.mark.weight(4)
def test_keys_are_not_copied_for_each_head(agree, count, toys, draw):
    """Never copy keys or values to n_heads heads, explicitly or by broadcasting."""
    work, width = {}, 512
    for stored in (24, 72):
        module, cache = agree.GroupedQueryAttention(width, 32, 2), toys.Cache()
        cache.append(draw.normal(1, 2, stored, 16), draw.normal(1, 2, stored, 16))
        x = draw.normal(1, 1, width)
        work[stored] = count.of(module.student)(x, cache.student).flops
    # Per stored position, scores and output take 4 * width operations; copies take 2 * width.
    added = (work[72] - work[24]) / (72 - 24)
    expect(added <= 5.5 * width, "Copies are made that are together as large as keys of all heads.")


def test_long_texts(agree, draw):
    """Attend to all previous positions, even in a sequence of more than a thousand tokens."""
    agree.GroupedQueryAttention(2, 1, 1)(draw.normal(1, 1050, 2))


def test_two_objects(agree, draw):
    """Keep two modules independent: each has its own number of heads."""
    one, other = agree.GroupedQueryAttention(12, 6, 2), agree.GroupedQueryAttention(12, 4, 4)
    one(draw.normal(2, 5, 12))
    other(draw.normal(2, 5, 12))
