"""Hidden graders for `merge`."""


def test_any_lengths(agree, draw):
    """All numbers of both lists are there, in order."""
    first, second = (sorted(draw.array.normal(n).tolist()) for n in (7, 4))
    agree.merge(first, second)


def test_an_empty_list(agree):
    """Merging with nothing changes nothing."""
    agree.merge([], [1.0, 2.0])
