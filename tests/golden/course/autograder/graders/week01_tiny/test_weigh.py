"""Hidden graders for `weigh`."""

import pytest

from autograder.authors import rows_sum_to_one


def test_values(agree, draw):
    """Each row of scores becomes weights."""
    rows_sum_to_one(agree.weigh(draw.normal(3, 5)))


@pytest.mark.weight(2)
def test_any_axis(agree, draw):
    """Sum over the axis `dim`."""
    agree.weigh(draw.normal(3, 4, 5), dim=1)


def test_device(agree, draw, device):
    """Stay on the device of the input."""
    agree.gradients.weigh(draw.normal(2, 3))
