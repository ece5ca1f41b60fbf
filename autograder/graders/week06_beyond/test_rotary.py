"""Hidden graders for `rotary`.

Entries are between -1 and 1, so that the tolerance bounds the error of an angle. Correct programs
may compute angles in float32 even for float64 vectors.
"""

import pytest
import torch

from autograder.authors import same


@pytest.mark.weight(2)
def test_values(agree, draw):
    """Rotate entries 2i and 2i + 1 of a vector by the angle position · base^(-2i/d)."""
    agree.within(1e-5).rotary(draw.uniform(2, 5, 6, low=-1))
    agree.within(1e-5).rotary(draw.uniform(3, 7, 4, low=-1))


def test_heads(agree, draw):
    """Count positions along the second-to-last axis, for any leading axes."""
    agree.within(1e-5).rotary(draw.uniform(5, 4, low=-1))
    agree.within(1e-5).rotary(draw.uniform(2, 3, 5, 4, low=-1))
    agree.within(1e-5).rotary(draw.uniform(2, 3, 1, 5, 8, low=-1))


def test_base(agree, draw):
    """Use the given `base` in the angles position · base^(-2i/d)."""
    x = draw.uniform(2, 3, 6, 8, low=-1)
    agree.within(1e-5).rotary(x, base=100.0)
    agree.within(1e-5).rotary(x, None, 7.0)


@pytest.mark.weight(2)
def test_given_positions(agree, draw):
    """Use the given positions, which may be in any order, with gaps and repetitions."""
    x = draw.uniform(2, 6, 4, low=-1)
    agree.within(1e-5).rotary(x, draw.permutation(6))
    agree.within(1e-5).rotary(x, torch.tensor([3, 3, 0, 9, 4, 1]))
    agree.within(1e-5).rotary(x, positions=torch.arange(5, 11))


def test_positions_of_each_sequence(agree, draw):
    """Broadcast positions, which may differ between sequences and be shared by heads or tokens."""
    agree.within(1e-5).rotary(draw.uniform(3, 5, 4, low=-1), draw.integers(0, 9, 3, 5))
    agree.within(1e-5).rotary(draw.uniform(3, 2, 5, 4, low=-1), draw.integers(0, 9, 3, 1, 5))
    agree.within(1e-5).rotary(draw.uniform(3, 5, 4, low=-1), draw.integers(0, 9, 3, 1))


def test_distance_alone_counts(agree, draw):
    """Preserve all dot products q · k if every position is shifted by the same amount."""
    q, k = draw.uniform(4, 6, low=-1), draw.uniform(5, 6, low=-1)
    first, moved = [
        agree.within(1e-4).rotary(q, torch.arange(4) + start)
        @ agree.within(1e-4).rotary(k, torch.arange(5) + start).T
        for start in (0, 3)
    ]
    same(moved, first, "q·k should depend on the difference of the positions alone.")


def test_far_positions(agree, draw):
    """Rotate vectors at positions in the hundreds as precisely as float32 allows."""
    agree.within(2e-4).rotary(draw.uniform(3, 6, low=-1), torch.tensor([120, 257, 300]))


@pytest.mark.dtypes("float16", "bfloat16")
def test_far_positions_in_halves(agree, draw, dtype):
    """Compute angles in at least float32 for any dtype: bfloat16 rounds position 257 to 256."""
    agree.rotary(draw.uniform(3, 6, low=-1), torch.tensor([120, 257, 300]))


@pytest.mark.weight(2)
def test_gradients(agree, draw):
    """Rotate the gradient back by the same angles."""
    agree.within(1e-5).gradients.rotary(draw.uniform(2, 5, 6, low=-1))
    agree.within(1e-5).gradients.rotary(draw.uniform(3, 5, 4, low=-1), torch.arange(2, 7))


@pytest.mark.dtypes("float16", "bfloat16")
def test_half_precision(agree, draw, dtype):
    """Return a result in the dtype of half-precision vectors."""
    agree.rotary(draw.uniform(2, 3, 5, 6, low=-1))


@pytest.mark.dtypes("float64")
def test_double_precision(agree, draw, dtype):
    """Return a float64 result for float64 vectors."""
    agree.within(1e-5).rotary(draw.uniform(2, 5, 6, low=-1))


def test_singleton_axes(agree, draw):
    """Support a single token or pair of entries, and leave vectors at position 0 unchanged."""
    agree.within(1e-5).rotary(draw.uniform(2, 1, 6, low=-1))
    agree.within(1e-5).rotary(draw.uniform(1, 4, 2, low=-1))
    agree.within(1e-5).rotary(draw.uniform(2, 1, 6, low=-1), torch.tensor([4]))


def test_inputs_that_are_views(agree, draw):
    """Accept transposed, strided and expanded inputs, and leave them unchanged."""
    agree.within(1e-5).rotary(draw.uniform(5, 2, 6, low=-1).transpose(0, 1))
    agree.within(1e-5).rotary(draw.uniform(4, 12, low=-1)[:, ::2])
    agree.within(1e-5).rotary(draw.uniform(1, 5, 4, low=-1).expand(3, 5, 4))


@pytest.mark.weight(1, elsewhere=4)
def test_device(agree, draw, device):
    """Create positions and angles on the device of x."""
    x = draw.uniform(2, 3, 5, 6, low=-1)
    agree.within(1e-5).rotary(x)
    agree.within(1e-5).rotary(x, torch.arange(3, 8))


def test_refuses_an_odd_size(submission, refuses, draw):
    """Raise a ValueError that states d if d is odd."""
    submission.rotary(draw.uniform(2, 4, 6, low=-1))
    refuses(ValueError, mentions="7").rotary(draw.uniform(2, 4, 7, low=-1))
    refuses(ValueError, mentions="1").rotary(draw.uniform(2, 4, 1, low=-1))


def test_positions_beyond_a_thousand(agree, draw):
    """Support positions above a thousand, whether given or default."""
    # float32 angles in the thousands have rounding errors of about 1e-4.
    agree.within(3e-3).rotary(draw.uniform(3, 6, low=-1), torch.tensor([1023, 1500, 2300]))
    agree.within(3e-3).rotary(draw.uniform(1300, 4, low=-1))


def test_gradients_with_singleton_axes(agree, draw):
    """Compute gradients for a single token or pair of entries."""
    agree.within(1e-5).gradients.rotary(draw.uniform(2, 1, 6, low=-1), torch.tensor([3]))
    agree.within(1e-5).gradients.rotary(draw.uniform(1, 5, 2, low=-1))


def test_two_calls_before_their_gradients(agree, draw):
    """Save data for backward per call: later calls must not alter the gradients of earlier ones."""
    first, second = ((draw.uniform(3, 5, 4, low=-1), torch.arange(5) + start) for start in (2, 4))
    agree.within(1e-5).gradients.in_a_row.rotary(first, second)
