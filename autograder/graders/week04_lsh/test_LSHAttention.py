"""Hidden graders for `LSHAttention`; conftest.py makes inputs on which correct programs agree."""

import pytest
import torch

from autograder.authors import expect, generator_seed

SEED = 7

# A correct program may divide a key by its norm + 1e-8. The effect exceeds rounding errors only in
# float64, where scores near -1e5 (of the first position, if causal) have a resolution of 1.5e-11.
IN_FLOAT64 = 1e-6


def queries(pair, num_heads):
    """Return a function that maps rows of x to the vectors that the module hashes, (..., H, d)."""
    weight = pair.reference.state_dict()["W_qk.weight"].double()
    return lambda rows: (rows @ weight.T).unflatten(-1, (num_heads, -1))


def drawn(n_hashes, size, n_buckets, seed=SEED):
    """Return the rotations that a module draws from a CPU generator with this seed."""
    generator = torch.Generator().manual_seed(seed)
    return torch.randn(n_hashes, size, n_buckets // 2, generator=generator)


def test_values(agree, draw, clear):
    """Project, split heads, apply LSH attention with the given rotations, merge heads, project."""
    pair = agree.LSHAttention(12, 3, bucket_size=5, n_hashes=2)
    rotations = draw.normal(2, 4, 1)
    x = clear(rotations, 2, 10, 12, project=queries(pair, 3), bucket_size=5)
    pair(x, rotations)


def test_one_head(agree, draw, clear):
    """Use the full model width for a single head."""
    pair = agree.LSHAttention(6, 1, bucket_size=4, n_hashes=3)
    rotations = draw.normal(3, 6, 1)
    pair(clear(rotations, 2, 8, 6, project=queries(pair, 1), bucket_size=4), rotations=rotations)


def test_sizes(agree, draw, clear):
    """Support any number of heads and sequences, and a sequence of one chunk."""
    for width, heads, batch, length, size in ((8, 4, 3, 12, 3), (10, 2, 1, 4, 4)):
        pair = agree.LSHAttention(width, heads, size, 1)
        rotations = draw.normal(1, width // heads, (length // size + 1) // 2)
        pair(clear(rotations, batch, length, width, project=queries(pair, heads)), rotations)


def test_rotations_come_before_everything(agree, draw, clear):
    """Use given rotations unchanged, even if a generator is given, and draw no random numbers."""
    pair = agree.LSHAttention(12, 3, bucket_size=5, n_hashes=3)
    rotations = draw.normal(3, 4, 1)
    x = clear(rotations, 2, 10, 12, project=queries(pair, 3), bucket_size=5)
    pair(x, rotations, generator_seed(SEED))


def test_draws_from_the_generator(agree, clear):
    """Draw rotations of the documented shape from `generator` if none are given."""
    pair = agree.LSHAttention(12, 3, bucket_size=5, n_hashes=3)
    x = clear(drawn(3, 4, 4), 1, 20, 12, project=queries(pair, 3), bucket_size=5)
    pair(x, generator=generator_seed(SEED))


def test_odd_number_of_chunks(agree, clear):
    """Round an odd number of chunks up to an even number of buckets."""
    for chunks, buckets in ((3, 4), (1, 2)):
        pair = agree.LSHAttention(8, 2, bucket_size=6, n_hashes=2)
        x = clear(drawn(2, 4, buckets), 2, 6 * chunks, 8, project=queries(pair, 2), bucket_size=6)
        pair(x, generator=generator_seed(SEED))


def test_draws_in_the_default_dtype(agree, clear, dtype):
    """Draw rotations in the default dtype, for any dtype of the input."""
    lenient = agree.within(IN_FLOAT64) if dtype == torch.float64 else agree
    pair = lenient.LSHAttention(16, 2, bucket_size=6, n_hashes=1)
    # At least 16 values are needed: torch draws fewer one by one, with equal values in every dtype.
    x = clear(drawn(1, 8, 4), 3, 24, 16, project=queries(pair, 2))
    pair(x, generator=generator_seed(SEED))


@pytest.mark.weight(1, elsewhere=2)
def test_draws_where_the_input_is(agree, draw, device):
    """Draw rotations on the input's device, with or without a generator of that device."""
    # A single position attends to itself for any rotations, so calls without a seed can agree.
    pair = agree.impurely.LSHAttention(12, 3, bucket_size=1, n_hashes=1)
    pair(draw.normal(2, 1, 12))
    pair(draw.normal(2, 1, 12), generator=generator_seed(SEED))


def test_defaults(agree, clear):
    """Default to chunks of 64, four rounds and no causal mask."""
    pair = agree.LSHAttention(6, 2)
    x = clear(drawn(4, 3, 4), 1, 192, 6, project=queries(pair, 2), bucket_size=64, margin=0.01)
    pair(x, generator=generator_seed(SEED))


def test_causal(agree, draw, clear):
    """Mask later positions if `causal` is True."""
    pair = agree.LSHAttention(12, 3, bucket_size=5, n_hashes=1, causal=True)
    rotations = draw.normal(1, 4, 2)
    pair(clear(rotations, 2, 20, 12, project=queries(pair, 3)), rotations)


@pytest.mark.dtypes("float64")
def test_causal_in_several_rounds(agree, clear):
    """Apply the causal mask in every round, with rotations drawn by the module."""
    pair = agree.LSHAttention(12, 3, 5, 3, True)
    x = clear(drawn(3, 4, 4), 2, 20, 12, project=queries(pair, 3))
    pair.within(IN_FLOAT64)(x, generator=generator_seed(SEED))


def test_gradients(agree, draw, clear):
    """Propagate gradients to the input and all three projections."""
    pair = agree.LSHAttention(12, 3, bucket_size=5, n_hashes=2)
    rotations = draw.normal(2, 4, 1)
    x = clear(rotations, 2, 10, 12, project=queries(pair, 3), bucket_size=5)
    pair.gradients(x, rotations)


def test_dtypes(agree, draw, clear, dtype):
    """Return a result in the module's float dtype."""
    lenient = agree.within(IN_FLOAT64) if dtype == torch.float64 else agree
    pair = lenient.LSHAttention(12, 3, bucket_size=5, n_hashes=1)
    rotations = draw.normal(1, 4, 1)
    pair(clear(rotations, 2, 10, 12, project=queries(pair, 3), margin=0.08), rotations)


def test_views(agree, draw, clear):
    """Return the same result for transposed and expanded inputs as for copies."""
    pair = agree.LSHAttention(12, 3, bucket_size=5, n_hashes=1)
    rotations = draw.normal(1, 4, 1)
    x = clear(rotations, 10, 2, 12, project=queries(pair, 3)).transpose(0, 1)
    pair(x, rotations)
    pair(x[:1].expand(4, 10, 12), rotations)


@pytest.mark.weight(3)
def test_every_call_draws_anew(agree, clear):
    """Draw new rotations in every call: only equal seeds give equal results."""
    pair = agree.LSHAttention(12, 3, bucket_size=5, n_hashes=1)
    both = torch.cat([drawn(1, 4, 4), drawn(1, 4, 4, seed=SEED + 1)])
    x = clear(both, 1, 20, 12, project=queries(pair, 3))
    first, other, again = (pair(x, None, generator_seed(SEED + n)) for n in (0, 1, 0))
    expect(torch.equal(first, again), "The same seed should give the same result.")
    expect(not torch.equal(first, other), "Another seed should give other rotations.")


@pytest.mark.weight(1, elsewhere=2)
def test_devices(agree, draw, clear, device):
    """Return a result on the device of the input."""
    pair = agree.LSHAttention(12, 3, bucket_size=5, n_hashes=1, causal=True)
    rotations = draw.normal(1, 4, 1)
    pair(clear(rotations, 2, 10, 12, project=queries(pair, 3)), rotations)


def test_refuses_heads_that_do_not_divide(agree, refuses, draw, clear):
    """Raise a ValueError that states d_model if num_heads does not divide it."""
    pair = agree.LSHAttention(10, 5, bucket_size=3, n_hashes=1)
    rotations = draw.normal(1, 2, 1)
    pair.student(clear(rotations, 2, 3, 10, project=queries(pair, 5)), rotations)
    refuses(ValueError, mentions=10).LSHAttention(10, 4)


def test_refuses_a_length_that_leaves_a_remainder(agree, refuses, draw, clear):
    """Raise a ValueError that states the length if it is not divisible by `bucket_size`."""
    pair = agree.LSHAttention(8, 2, bucket_size=4, n_hashes=1)
    rotations = draw.normal(1, 4, 1)
    pair.student(clear(rotations, 2, 8, 8, project=queries(pair, 2)), rotations)
    refuses(ValueError, mentions=14).of(pair)(draw.normal(2, 14, 8), rotations)
    refuses(ValueError, mentions=14).of(pair)(draw.normal(2, 14, 8), generator=generator_seed(SEED))
    refuses(ValueError, mentions=3).of(pair)(draw.normal(2, 3, 8), generator=generator_seed(SEED))


def test_two_objects(agree, draw, clear):
    """Keep two modules independent: each has its own sizes, and each call its own rotations."""
    one = agree.LSHAttention(12, 3, bucket_size=5, n_hashes=2)
    other = agree.LSHAttention(12, 2, bucket_size=4, n_hashes=1, causal=True)
    for rotations in (draw.normal(2, 4, 1), draw.normal(2, 4, 1)):
        one(clear(rotations, 2, 10, 12, project=queries(one, 3), bucket_size=5), rotations)
    rotations = draw.normal(1, 6, 1)
    other(clear(rotations, 2, 8, 12, project=queries(other, 2), bucket_size=4), rotations)
