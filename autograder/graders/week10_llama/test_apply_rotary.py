"""Hidden graders for `apply_rotary`.

Entries are between -1 and 1, so that the tolerance bounds the error of an angle. Correct programs
may compute angles in float32 even for float64 vectors.
"""

import pytest
import torch

from autograder.authors import same


def unit(draw, *shape):
    return draw.uniform(*shape, low=-1)


@pytest.mark.weight(3)
def test_values(agree, draw, frequencies):
    """Rotate features 2i and 2i + 1 by the angle position · frequencies[i]."""
    agree.within(1e-5).apply_rotary(unit(draw, 2, 3, 5, 6), frequencies(6))
    agree.within(1e-5).apply_rotary(unit(draw, 3, 2, 4, 8), frequencies(8, 20.0))


def test_any_frequencies(agree, draw):
    """Use the given frequencies, which may be in any order."""
    x = unit(draw, 2, 3, 5, 8)
    agree.within(1e-5).apply_rotary(x, torch.tensor([0.1, 1.3, 0.0, 0.4]))


@pytest.mark.weight(3)
def test_offset(agree, draw, frequencies):
    """Begin at the position `offset`, as after a cache."""
    x = unit(draw, 2, 3, 4, 6)
    for offset in (1, 5, 17):
        agree.within(1e-5).apply_rotary(x, frequencies(6), offset)
    agree.within(1e-5).apply_rotary(x[:, :, :1], frequencies(6), offset=9)


@pytest.mark.weight(3)
def test_offset_of_each_sequence(agree, draw, frequencies):
    """Accept an offset for each sequence of the batch, as an int tensor (B,)."""
    for batch, heads, rows in ((3, 2, 4), (2, 2, 2), (4, 1, 1), (1, 3, 5)):
        x, offset = unit(draw, batch, heads, rows, 6), draw.integers(0, 20, batch)
        agree.within(1e-5).apply_rotary(x, frequencies(6), offset)


def test_singleton_axes(agree, draw, frequencies):
    """Keep axes of size 1, and support a single pair of features."""
    agree.within(1e-5).apply_rotary(unit(draw, 1, 1, 1, 2), frequencies(2), 3)
    agree.within(1e-5).apply_rotary(unit(draw, 1, 4, 3, 2), frequencies(2))


def test_only_the_distance_counts(agree, draw, frequencies):
    """Preserve all dot products q · k if both offsets grow by the same amount."""
    q, k = unit(draw, 2, 2, 4, 6), unit(draw, 2, 2, 5, 6)
    first, moved = [
        agree.within(1e-4).apply_rotary(q, frequencies(6), start)
        @ agree.within(1e-4).apply_rotary(k, frequencies(6), start).mT
        for start in (0, 7)
    ]
    same(moved, first, "q · k should depend on the difference of the positions only.")


def test_far_positions(agree, draw, frequencies):
    """Rotate vectors at positions in the hundreds as precisely as float32 allows."""
    agree.within(2e-4).apply_rotary(unit(draw, 2, 2, 3, 6), frequencies(6), 400)
    offset = torch.tensor([257, 301])
    agree.within(2e-4).apply_rotary(unit(draw, 2, 2, 3, 6), frequencies(6), offset)


@pytest.mark.weight(2)
@pytest.mark.dtypes("float16", "bfloat16")
def test_far_positions_in_halves(agree, draw, frequencies, dtype):
    """Compute angles in at least float32 for any dtype: bfloat16 rounds position 257 to 256."""
    agree.apply_rotary(unit(draw, 2, 2, 3, 6), frequencies(6), 257)


@pytest.mark.dtypes("float16", "bfloat16")
def test_half_precision(agree, draw, frequencies, dtype):
    """Return half precision for half-precision vectors."""
    agree.apply_rotary(unit(draw, 2, 3, 5, 6), frequencies(6), 2)


@pytest.mark.dtypes("float64")
def test_double_precision(agree, draw, frequencies):
    """Return float64 for float64 vectors."""
    agree.within(1e-5).apply_rotary(unit(draw, 2, 3, 5, 6), frequencies(6), 2)


@pytest.mark.weight(2)
def test_gradients(agree, draw, frequencies):
    """Propagate gradients to the vectors and to the frequencies."""
    agree.within(1e-4).gradients.apply_rotary(unit(draw, 2, 3, 5, 6), frequencies(6))
    agree.within(1e-4).gradients.apply_rotary(unit(draw, 2, 3, 2, 4), frequencies(4), 3)


def test_views(agree, draw, frequencies):
    """Accept transposed, expanded and sliced vectors, and leave them unchanged."""
    agree.within(1e-5).apply_rotary(unit(draw, 2, 5, 3, 6).transpose(1, 2), frequencies(6))
    agree.within(1e-5).apply_rotary(unit(draw, 1, 3, 5, 6).expand(2, 3, 5, 6), frequencies(6), 1)
    agree.within(1e-5).apply_rotary(unit(draw, 2, 3, 10, 6)[:, :, ::2], frequencies(6))


@pytest.mark.weight(1, elsewhere=5)
def test_device(agree, draw, frequencies, device):
    """Create positions on the device of the vectors."""
    agree.within(1e-5).apply_rotary(unit(draw, 2, 3, 5, 6), frequencies(6), 3)
    agree.within(1e-5).apply_rotary(unit(draw, 2, 3, 5, 6), frequencies(6), draw.integers(0, 9, 2))


def test_many_positions(agree, draw):
    """Support more than a thousand positions."""
    agree.within(2e-3).apply_rotary(unit(draw, 1, 1, 1100, 4), torch.tensor([0.5, 0.01]))


def test_two_calls(agree, draw, frequencies):
    """Keep two calls independent: each uses its own frequencies and offset."""
    first = unit(draw, 2, 2, 3, 4), frequencies(4), 5
    second = unit(draw, 2, 2, 3, 4), frequencies(4, 7.0), 0
    agree.within(1e-4).gradients.in_a_row.apply_rotary(first, second)
