"""Hidden graders for `fit_line`."""


def test_any_points(agree, draw):
    """No other line has a smaller sum of squared errors."""
    agree.within(1e-4).fit_line(draw.array.normal(20, mean=3.0), draw.array.normal(20, mean=5.0))


def test_points_on_a_line(agree, draw):
    """Points on a line give that line."""
    x = draw.array.normal(9)
    agree.within(1e-4).fit_line(x, 3.0 * x - 2.0)
