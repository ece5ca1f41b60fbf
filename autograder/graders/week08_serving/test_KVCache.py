"""Hidden graders for `KVCache`. Most tests call a cache several times."""

from itertools import pairwise

import pytest
import torch

from autograder.authors import expect


def filled(cache, pieces):
    """Append the pieces one by one, and compare each result and `length`."""
    for k, v in pieces:
        cache.append(k, v)
        cache.attribute("length")


@pytest.mark.weight(2)
def test_everything_so_far(agree, pieces):
    """Return all keys and values that have been appended, in order."""
    filled(agree.exactly.KVCache(2, 3, 12, 4), pieces(3, 1, 2, 1))


@pytest.mark.weight(2)
def test_token_by_token(agree, pieces):
    """Accept a prompt in one append, then single positions."""
    filled(agree.exactly.KVCache(2, 3, 20, 4), pieces(7, *[1] * 9))


def test_length_counts_positions(agree, pieces):
    """Count the appended positions in `length`, an int that starts at 0."""
    cache = agree.KVCache(batch=2, n_kv_heads=3, max_len=9, d=4)
    cache.attribute("length")
    filled(cache, pieces(2, 4))


def test_other_sizes(agree, pieces):
    """Support sizes of 1, and sizes that are all different."""
    for batch, heads, d in ((1, 1, 1), (5, 2, 3), (3, 1, 6), (1, 4, 2)):
        filled(
            agree.exactly.KVCache(batch, heads, 7, d), pieces(1, 3, batch=batch, heads=heads, d=d)
        )


def test_filled_to_the_last_place(agree, pieces):
    """Accept up to max_len positions, in one append or several."""
    filled(agree.exactly.KVCache(2, 3, 6, 4), pieces(6))
    filled(agree.exactly.KVCache(2, 3, 6, 4), pieces(4, 1, 1))


@pytest.mark.weight(4)
def test_caches_are_apart(agree, pieces):
    """Keep two caches independent, for example one per layer."""
    one, other = agree.exactly.KVCache(2, 3, 8, 4), agree.exactly.KVCache(2, 3, 8, 4)
    for first, second in zip(pieces(2, 3), pieces(4, 1), strict=True):
        one.append(*first)
        other.append(*second)
    other.attribute("length")


@pytest.mark.weight(2)
def test_refuses_what_does_not_fit(agree, refuses, pieces):
    """Raise ValueError if positions do not fit; state how many are new or would be in the cache."""
    cache = agree.KVCache(2, 3, 7, 4)
    first, too_many, far_too_many = pieces(5, 4, 13)
    cache.append(*first)
    refuses(ValueError, mentions=(4, 9)).of(cache, "append")(*too_many)
    refuses(ValueError, mentions=(13, 18)).of(cache, "append")(*far_too_many)
    full = agree.KVCache(2, 3, 7, 4)
    refuses(ValueError, mentions=13).of(full, "append")(*far_too_many)


@pytest.mark.weight(2)
def test_refuses_one_more(agree, refuses, pieces):
    """Raise ValueError if a full cache gets a single position, and keep the length."""
    cache = agree.exactly.KVCache(2, 3, 6, 4)
    first, one_more = pieces(6, 1)
    cache.append(*first)
    refuses(ValueError).of(cache, "append")(*one_more)
    cache.attribute("length")


@pytest.mark.weight(2)
def test_goes_on_after_a_refusal(agree, refuses, pieces):
    """Keep the length after a rejected append, and accept later appends that fit."""
    cache = agree.exactly.KVCache(2, 3, 7, 4)
    first, too_many, more, last = pieces(5, 3, 1, 1)
    cache.append(*first)
    refuses(ValueError).of(cache, "append")(*too_many)
    cache.attribute("length")
    filled(cache, (more, last))


@pytest.mark.weight(2)
def test_a_refusal_writes_nothing(agree, injected, refuses, pieces):
    """Leave both buffers unchanged if an append is rejected, also beyond `length`."""
    first, too_many = pieces(3, 5)
    injected.refusal_writes_nothing(agree.KVCache(2, 3, 7, 4), first, too_many)


@pytest.mark.weight(2)
def test_views_of_the_same_buffers(agree, injected, pieces):
    """Return views of the same two buffers from every append, starting at the same addresses."""
    injected.same_buffers(agree.KVCache(2, 3, 12, 4), pieces(3, 1, 2))


def test_earlier_results_stay(agree, injected, pieces):
    """Keep the results of an append valid after later appends."""
    injected.earlier_results(agree.KVCache(2, 3, 12, 4), pieces(3, 1, 2))


def test_input_stays_the_callers(agree, injected, pieces):
    """Store copies: later changes to the appended tensors do not change the cache."""
    ((k, v),) = pieces(3)
    injected.impurely.input_stays_the_callers(agree.KVCache(2, 3, 12, 4), k, v)


@pytest.mark.weight(2)
def test_old_positions_are_not_copied(agree, count, pieces):
    """Per append, allocate at most a few times the size of the new data; do not move old data."""
    (new,), work = pieces(1, d=64), []
    for length in (20, 250):  # both caches have room for ten more positions
        cache = agree.KVCache(2, 3, length + 10, 64)
        cache.append(*pieces(length, d=64)[0])
        counted = count.of(cache.student, "append")(*new)
        made = counted.largest
        expect(made <= 4 * new[0].numel(), "An append of one position makes a far larger tensor.")
        work.append(counted.flops)
    # copying an old position costs 384 operations per buffer; the limit allows only 12
    expect(
        work[1] <= 2 * work[0] + 230 * 12,
        "An append of one position processes the whole cache.",
    )


def test_dtype_of_the_cache(agree, pieces):
    """Convert appended tensors to the cache's dtype, and return views in that dtype."""
    for dtype in (torch.float16, torch.bfloat16, torch.float64, torch.float32):
        filled(agree.exactly.KVCache(2, 3, 9, 4, dtype), pieces(3, 2))


@pytest.mark.dtypes("float64")
def test_float32_by_default(agree, pieces):
    """Default to float32, for appended tensors of any dtype."""
    filled(agree.exactly.KVCache(2, 3, 9, 4), pieces(3, 2))


def test_views_may_be_appended(agree, draw):
    """Accept transposed views as keys and values, as `split_heads` returns them."""
    cache = agree.exactly.KVCache(2, 3, 9, 4)
    for size in (4, 1):
        k, v = draw.normal(2, size, 3, 4), draw.normal(4, 3, size, 2)
        cache.append(k.transpose(1, 2), v.permute(3, 1, 2, 0))


@pytest.mark.weight(1, elsewhere=5)
def test_device(agree, pieces, device):
    """Allocate the buffers on the requested device."""
    filled(agree.KVCache(2, 3, 9, 4, device=device), pieces(4, 1))


@pytest.mark.weight(0.5)
def test_trained_layer(agree, trained_layer):
    """Return the keys and values of a layer of a trained model, fed 9 at once and then singly."""
    _, k, v = trained_layer
    ends = (0, *range(9, k.shape[2] + 1))
    parts = [(k[:, :, i:j], v[:, :, i:j]) for i, j in pairwise(ends)]
    filled(agree.exactly.KVCache(1, k.shape[1], k.shape[2], k.shape[3]), parts)
