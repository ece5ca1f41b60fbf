"""Hidden graders for `merge_sort`."""


def test_any_order(agree, draw):
    """The same numbers come out in order, and the list stays as it is."""
    agree.merge_sort(draw.array.normal(11).tolist())


def test_nothing(agree):
    """No numbers are sorted already."""
    agree.merge_sort([])
