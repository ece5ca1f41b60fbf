"""Hidden graders for `online_softmax`."""

import pytest
import torch

from autograder.authors import expect, once


@pytest.mark.weight(2)
def test_values(agree, draw):
    """Return the maximum of each row and the sum of exp(entry - maximum) over all blocks."""
    agree.online_softmax([draw.normal(3, 4), draw.normal(3, 4), draw.normal(3, 4)])
    agree.online_softmax([draw.normal(3, 5, std=2.0) for _ in range(6)])


@pytest.mark.weight(2)
def test_maximum_rises(agree, draw):
    """Rescale the running sum whenever a block has a larger maximum."""
    agree.online_softmax([draw.normal(3, 4) + 2.0 * number for number in range(5)])


@pytest.mark.weight(2)
def test_maximum_comes_first(agree, draw):
    """Keep the maximum of the first block if it is the largest."""
    agree.online_softmax([draw.normal(3, 4) - 2.0 * number for number in range(5)])


def test_one_block(agree, draw):
    """Return the maximum and the sum of exponentials of a single block."""
    agree.online_softmax([draw.normal(3, 7)])
    agree.online_softmax([draw.normal(3, 1)])


def test_widths(agree, draw):
    """Support blocks of different widths, including 1."""
    agree.online_softmax([draw.normal(4, width) for width in (5, 1, 3, 1, 2)])
    agree.online_softmax([draw.normal(4, 1) for _ in range(6)])


def test_leading_dimensions(agree, draw):
    """Support zero, one or several leading dimensions, also of size 1."""
    for lead in ((), (2,), (2, 3), (2, 1, 3), (1, 1)):
        agree.online_softmax([draw.normal(*lead, 5), draw.normal(*lead, 4) + 1.0])


@pytest.mark.weight(2)
def test_below_zero(agree, draw):
    """Return a negative maximum for rows of negative numbers."""
    for level in (-5.0, -60.0, -3000.0):
        agree.online_softmax([level + draw.normal(3, 4) for _ in range(3)])


@pytest.mark.weight(2)
def test_large_numbers(agree, draw):
    """Avoid overflow and underflow, even for entries in the millions."""
    for size in (1e3, 1e4, 1e6):
        steps = (draw.permutation(12).float() - 5.0) * size
        agree.online_softmax(list(steps.split(4)))
        agree.online_softmax([size + draw.normal(3, 4) for _ in range(3)])
        agree.online_softmax([draw.normal(3, 4) - size for _ in range(3)])


@pytest.mark.weight(4)
def test_rows_of_different_magnitude(agree, draw):
    """Compute the maximum per row, however different the rows are."""
    heights = torch.tensor([0.0, -3e3, 8e3, 120.0])[:, None]
    agree.online_softmax([heights + draw.normal(4, 5) for _ in range(3)])


def test_some_minus_infinity(agree, draw):
    """Ignore entries of -inf among finite entries."""
    blocks = [draw.normal(4, 5) for _ in range(3)]
    hidden = draw.bools(4, 4, p=0.5)
    blocks[0][:, :4] = blocks[0][:, :4].masked_fill(hidden, -torch.inf)
    blocks[2][:, :4] = blocks[2][:, :4].masked_fill(~hidden, -torch.inf)
    agree.online_softmax(blocks)


@pytest.mark.weight(2)
def test_block_of_minus_infinity(agree, draw):
    """Support blocks of only -inf at the beginning, in the middle and at the end of a row."""
    for place in (0, 1, 3):
        blocks = [draw.normal(4, 5) for _ in range(4)]
        blocks[place][1:3] = -torch.inf
        agree.online_softmax(blocks)


def test_minus_infinity_before_very_negative_numbers(agree, draw):
    """Ignore blocks of only -inf, even before very negative numbers."""
    for level in (-100.0, -2000.0):
        blocks = [level + draw.normal(4, 5) for _ in range(4)]
        blocks[0][1:3] = -torch.inf
        blocks[1][2] = -torch.inf
        agree.online_softmax(blocks)


@pytest.mark.weight(2)
def test_only_minus_infinity(agree, draw):
    """Return (-inf, 0) for a row of only -inf, and correct results for the other rows."""
    blocks = [draw.normal(4, 5) for _ in range(3)]
    for block in blocks:
        block[2] = -torch.inf
    maximum, total = agree.online_softmax(blocks)
    expect(bool(maximum[2].isneginf()), "The maximum of a row of only -inf should be -inf.")
    expect(float(total[2]) == 0.0, "The sum of a row of only -inf should be 0.")
    agree.online_softmax([torch.full((3, 2), -torch.inf)])


@pytest.mark.weight(2)
def test_gradients(agree, draw):
    """Propagate gradients through both results: the sum depends on the maximum too."""
    agree.gradients.online_softmax([draw.normal(3, 4) for _ in range(3)])
    agree.gradients.online_softmax([draw.normal(2, 3, 2) + number for number in range(3)])


def test_gradients_beside_minus_infinity(agree, draw):
    """Return a gradient of 0 for entries of -inf, and no NaN for other entries."""
    blocks = [draw.normal(4, 5) for _ in range(3)]
    blocks[0][1, 2:] = -torch.inf
    blocks[0][2] = -torch.inf
    blocks[1][0] = -torch.inf
    agree.gradients.online_softmax(blocks)


@pytest.mark.weight(2)
def test_float_types(agree, draw, dtype):
    """Return results in the dtype of the blocks and with its precision."""
    agree.online_softmax([draw.normal(4, 6) for _ in range(3)])
    agree.online_softmax([draw.normal(4, 3) + number for number in range(3)])


@pytest.mark.dtypes("bfloat16")
def test_many_blocks_in_half_precision(agree, draw):
    """Include every block: a sum in bfloat16 would stop growing at 256."""
    agree.online_softmax([draw.normal(2, 1, std=0.1) for _ in range(700)])


def test_views(agree, draw):
    """Accept transposed, strided and expanded blocks, and leave them unchanged."""
    agree.online_softmax([draw.normal(5, 3).T, draw.normal(3, 8)[:, ::2]])
    agree.online_softmax(
        [draw.normal(5, 3, 2).transpose(0, 2), draw.normal(3, 2, 4).transpose(0, 1)]
    )
    row = draw.normal(1, 5).expand(3, 5)
    agree.online_softmax([row, draw.normal(3, 1).expand(3, 4), row])


@pytest.mark.weight(1, elsewhere=6)
def test_device(agree, draw, device):
    """Return results on the device of the blocks, even if a row of a block is all -inf."""
    agree.gradients.online_softmax([draw.normal(3, 4), draw.normal(3, 2)])
    blocks = [draw.normal(3, 4), draw.normal(3, 4)]
    blocks[0][1] = -torch.inf
    agree.online_softmax(blocks)


@pytest.mark.weight(8)
def test_read_once(agree, draw):
    """Accept any iterable of blocks, including one that can be read only once."""
    agree.online_softmax(once([draw.normal(3, 4) for _ in range(3)]))
    agree.online_softmax(once([draw.normal(3, 5)]))


@pytest.mark.weight(10)
def test_one_pass(agree, count, draw):
    """Process the blocks one by one: create no tensor with half as many elements as all blocks."""
    agree.online_softmax([draw.normal(3, 8) for _ in range(16)])
    counted = count.online_softmax([draw.normal(3, 8) for _ in range(64)])
    # Correct programs create no tensor larger than a few blocks. They may store a number for each
    # block and row until the end, which is an eighth of all entries.
    expect(
        counted.largest < 3 * 8 * 64 // 2,
        "A tensor contains at least half of the blocks; process one after the other.",
    )


def test_gradients_with_singleton_axes(agree, draw):
    """Compute gradients for blocks with a single entry, and for a single row."""
    agree.gradients.online_softmax([draw.normal(3, 1) for _ in range(3)])
    agree.gradients.online_softmax([draw.normal(1, 4), draw.normal(1, 1), draw.normal(1, 3)])
    agree.gradients.online_softmax([draw.normal(2), draw.normal(1)])


def test_two_calls_before_their_gradients(agree, draw):
    """Save data for backward per call: later calls must not alter the gradients of earlier ones."""
    first, second = (([draw.normal(3, 4) for _ in range(3)],) for _ in range(2))
    agree.gradients.in_a_row.online_softmax(first, second)
