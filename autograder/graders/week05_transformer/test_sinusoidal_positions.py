"""Hidden graders for `sinusoidal_positions`.

Tables are compared with a tolerance of 1e-4: below position 512, correct programs that compute
angles in float32 and in float64 differ by less.
"""

import pytest
import torch

from autograder.authors import expect, same


@pytest.mark.weight(2)
def test_values(agree):
    """Return a sine and a cosine of one frequency in each pair of columns."""
    agree.within(atol=1e-4).sinusoidal_positions(5, 12)
    agree.within(atol=1e-4).sinusoidal_positions(seq_len=9, d_model=4)


def test_first_row(agree):
    """Alternate sines (0) and cosines (1) at position 0, beginning with a sine."""
    first = agree.within(atol=1e-4).sinusoidal_positions(4, 6)[0]
    expected = torch.tensor([0.0, 1.0] * 3)
    same(first, expected, "The row of position 0 should be 0, 1, 0, 1, …")


def test_frequencies_of_wide_tables(agree):
    """Decrease the frequency from pair to pair by a constant factor that depends on d_model."""
    for width in (8, 20, 64):
        agree.within(atol=1e-4).sinusoidal_positions(11, width)


def test_long_tables(agree):
    """Compute correct angles for hundreds of positions."""
    agree.within(atol=1e-4).sinusoidal_positions(400, 10)


def test_products_know_only_the_distance(agree):
    """Make the dot product of two rows depend only on the distance between their positions."""
    table = agree.within(atol=1e-4).sinusoidal_positions(10, 16).double()
    products = table @ table.T
    for distance in range(10):
        diagonal = products.diagonal(distance)
        steady = float((diagonal - diagonal[0]).abs().max()) < 1e-3
        expect(steady, "Two pairs of rows at the same distance have different products.")


def test_smallest_tables(agree):
    """Support one position, one pair of columns, or both."""
    for rows, width in ((1, 6), (7, 2), (1, 2)):
        agree.within(atol=1e-4).sinusoidal_positions(rows, width)


def test_refuses_an_odd_width(submission, refuses):
    """Raise a ValueError that states d_model if it is odd: a sine would lack its cosine."""
    submission.sinusoidal_positions(3, 8)
    refuses(ValueError, mentions="7").sinusoidal_positions(5, 7)
    refuses(ValueError, mentions="1").sinusoidal_positions(3, 1)


def test_more_than_a_thousand_positions(agree):
    """Support tables of more than a thousand positions."""
    # Angles up to 1500: float32 has a resolution of 1e-4 there.
    agree.within(atol=4e-3).sinusoidal_positions(1500, 6)
