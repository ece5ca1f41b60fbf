"""Hidden graders for `predict`."""


def test_any_line(agree, draw):
    """Each height is slope times place, plus the intercept."""
    agree.predict(draw.array.normal(7), 2.5, -1.25)


def test_any_shape(agree, draw):
    """The result has the shape of the places."""
    agree.predict(draw.array.normal(2, 3), -0.5, 4.0)
