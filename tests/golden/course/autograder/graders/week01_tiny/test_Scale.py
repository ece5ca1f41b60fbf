"""Hidden graders for `Scale`."""


def test_values(agree, draw):
    """Every entry is multiplied by its own factor, with gradients for both."""
    agree.Scale(4).gradients(draw.normal(3, 4))


def test_device(agree, draw, device):
    """The module works wherever it was moved to."""
    agree.Scale(4)(draw.normal(3, 4))


def test_refuses_no_size(refuses):
    """A size below 1 is refused, and named."""
    refuses(ValueError, mentions=-2).Scale(-2)
