"""Hidden graders for `sort_by_bucket`."""

import pytest
import torch

from autograder.authors import expect


def test_order(agree, draw):
    """Return the positions sorted from the smallest bucket to the largest."""
    agree.exactly.sort_by_bucket(torch.tensor([2, 0, 3, 1, 4]))
    agree.exactly.sort_by_bucket(draw.permutation(11))


def test_ties_keep_their_order(agree, draw):
    """Keep the positions of a bucket in the order of the sequence."""
    agree.exactly.sort_by_bucket(torch.tensor([1, 1, 0, 1, 0, 0]))
    agree.exactly.sort_by_bucket(draw.integers(0, 3, 12))
    agree.exactly.sort_by_bucket(torch.zeros(50, dtype=torch.long))


def test_inverse_leads_back(agree, draw):
    """Return an inverse for which order.gather(-1, inverse) is 0, 1, ..., T-1."""
    buckets = torch.stack([draw.permutation(8) for _ in range(5)])
    order, inverse = agree.exactly.sort_by_bucket(buckets)
    counted = torch.arange(8).expand(5, 8)
    expect(torch.equal(order.gather(-1, inverse), counted), "The inverse does not lead back.")


def test_every_row_on_its_own(agree, draw):
    """Sort every sequence and round separately."""
    agree.exactly.sort_by_bucket(draw.integers(0, 4, 3, 10))
    agree.exactly.sort_by_bucket(draw.integers(0, 4, 2, 3, 10))
    agree.exactly.sort_by_bucket(draw.integers(0, 4, 2, 1, 3, 7))


def test_long_rows(agree, draw):
    """Support many positions in few buckets, and few positions in many buckets."""
    agree.exactly.sort_by_bucket(draw.integers(0, 4, 2, 300))
    agree.exactly.sort_by_bucket(draw.integers(0, 1000, 3, 20))


def test_one_position(agree):
    """Return the only position of a sequence of length one."""
    agree.exactly.sort_by_bucket(torch.tensor([[3], [0]]))


def test_views(agree, draw):
    """Sort transposed and expanded inputs like their copies."""
    buckets = draw.integers(0, 5, 9, 4)
    agree.exactly.sort_by_bucket(buckets.transpose(0, 1))
    agree.exactly.sort_by_bucket(buckets[:, 0].expand(3, 9))


@pytest.mark.weight(1, elsewhere=2)
def test_devices(agree, draw, device):
    """Return order and inverse on the device of the buckets."""
    agree.exactly.sort_by_bucket(draw.integers(0, 4, 2, 3, 10))


def test_more_than_a_thousand_positions(agree, draw):
    """Sort thousands of positions by bucket, and keep their order within each bucket."""
    agree.exactly.sort_by_bucket(draw.integers(0, 6, 2, 2500))
