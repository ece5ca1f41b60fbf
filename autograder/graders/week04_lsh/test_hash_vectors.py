"""Hidden graders for `hash_vectors`; conftest.py makes inputs on which correct programs agree."""

import pytest
import torch

from autograder.authors import expect


def test_values(agree, draw, clear):
    """Return the index of the largest entry of [xR ; -xR] as the bucket."""
    rotations = draw.normal(1, 5, 4)
    agree.exactly.hash_vectors(clear(rotations, 2, 30, 5), rotations)


def test_every_round_has_its_own_rotation(agree, draw, clear):
    """Hash each round with a separate matrix; the axis of rounds precedes that of positions."""
    rotations = draw.normal(3, 5, 4)
    agree.exactly.hash_vectors(clear(rotations, 2, 4, 7, 5), rotations)


def test_any_leading_dimensions(agree, draw, clear):
    """Support any number of leading dimensions, including none."""
    rotations = draw.normal(3, 6, 4)
    for lead in ((), (5,), (2, 4), (2, 1, 3)):
        agree.exactly.hash_vectors(clear(rotations, *lead, 7, 6), rotations)


def test_opposite_vectors_get_opposite_buckets(agree, draw, clear):
    """Return buckets for x and -x that are n_buckets / 2 apart."""
    rotations = draw.normal(2, 5, 3)
    x = clear(rotations, 40, 5)
    here, there = (
        agree.exactly.hash_vectors(x, rotations),
        agree.exactly.hash_vectors(-x, rotations),
    )
    expect(torch.equal((here + 3) % 6, there), "x and -x should lie half of all buckets apart.")


def test_length_does_not_matter(agree, draw, clear):
    """Return the same bucket for vectors with the same direction, however short or long."""
    rotations = draw.normal(2, 5, 3)
    x = clear(rotations, 40, 5)
    near = agree.exactly.hash_vectors(x * 1e-4, rotations)
    far = agree.exactly.hash_vectors(x * 1e4, rotations)
    expect(
        torch.equal(near, far),
        "Vectors of the same direction should share a bucket, for any length.",
    )


def test_two_buckets(agree, draw, clear):
    """Use two buckets, one per sign, if the rotations have a single column."""
    rotations = draw.normal(3, 4, 1)
    agree.exactly.hash_vectors(clear(rotations, 9, 4), rotations)


def test_more_columns_than_features(agree, draw, clear):
    """Support rotations with more columns than features, and a single position."""
    rotations = draw.normal(2, 2, 5)
    agree.exactly.hash_vectors(clear(rotations, 3, 8, 2, margin=0.02), rotations)
    agree.exactly.hash_vectors(clear(rotations, 1, 2, margin=0.02), rotations)


def test_dtypes(agree, draw, clear, dtype):
    """Hash vectors of any float dtype, with rotations in that dtype or in float32."""
    rotations = draw.normal(3, 5, 4)
    x = clear(rotations, 2, 9, 5)
    agree.exactly.hash_vectors(x, rotations)
    agree.exactly.hash_vectors(x, rotations.float())


@pytest.mark.dtypes("float16")
def test_large_half_precision_vectors(agree, draw, clear, dtype):
    """Hash half-precision vectors in float32, where large entries do not overflow."""
    rotations = (1000 * draw.normal(2, 6, 4)).float()
    agree.exactly.hash_vectors(500 * clear(rotations, 3, 9, 6), rotations)


def test_views(agree, draw, clear):
    """Hash transposed, expanded and sliced inputs like their copies."""
    rotations = draw.normal(4, 5, 3)
    x = clear(rotations, 2, 9, 5)
    agree.exactly.hash_vectors(x.transpose(0, 1), rotations[::2])
    heads = clear(rotations, 2, 6, 3, 5).transpose(1, 2)
    agree.exactly.hash_vectors(heads, rotations)
    agree.exactly.hash_vectors(
        x[:1].expand(3, 9, 5), rotations.transpose(1, 2).contiguous().transpose(1, 2)
    )


@pytest.mark.weight(1, elsewhere=3)
def test_devices(agree, draw, clear, device):
    """Return buckets on the device of the vectors."""
    rotations = draw.normal(3, 5, 4)
    agree.exactly.hash_vectors(clear(rotations, 2, 4, 7, 5), rotations)


def test_many_buckets(agree, draw, clear):
    """Support more than a thousand buckets."""
    rotations = draw.normal(1, 5, 600)
    agree.exactly.hash_vectors(clear(rotations, 12, 5, margin=1e-3), rotations)
